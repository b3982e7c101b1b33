"""Elements for functions and their parameters, or for pairs of key and value."""

from collections.abc import Iterator

from toolglot.dialects.json_calls import JsonForm
from toolglot.dialects.key_value import PairForm
from toolglot.dialects.parameters import ParameterForm
from toolglot.dialects.reader import Dialect
from toolglot.dialects.rows.shared import FUNCTION_JSON, GLM, HERMES, QWEN, TOOL_CALL


def elements() -> Iterator[Dialect]:
    """The rows of this family."""
    body = "<parameter=city>\nOslo\n</parameter>\n</function>\n"
    qwen = f"<tool_call>\n<function=get_weather>\n{body}</tool_call>"
    yield Dialect(
        name="llama3_custom",
        models="Llama 3.1 with custom tools in its prompt",
        example='<function=get_weather>{"city": "Oslo"}</function>',
        forms=(FUNCTION_JSON,),
        drops=("<|eom_id|>", "<|eot_id|>"),
        strays=("</function>",),
    )
    yield Dialect(
        name="qwen3_coder",
        models="Qwen3-Coder, Qwen3.5 and later",
        example=qwen,
        forms=(QWEN, HERMES),
        strays=("</tool_call>", "</function>"),
        drops=("<|im_end|>",),
    )
    for name, models in (("nemotron_v3", "Nemotron 3 Nano"), ("step3p5", "Step-3.5-Flash")):
        yield Dialect(
            name=name,
            models=models,
            example=qwen,
            forms=(QWEN,),
            strays=("</tool_call>", "</function>"),
            drops=("<|im_end|>",),
            auto=False,
        )
    yield Dialect(
        name="mimo",
        models="Xiaomi MiMo",
        example=qwen.replace("Oslo", "A &amp; B"),
        forms=(
            ParameterForm(
                openers=QWEN.openers,
                call=QWEN.call,
                call_end=QWEN.call_end,
                parameter=QWEN.parameter,
                parameter_end=QWEN.parameter_end,
                closers=TOOL_CALL,
                before=QWEN.before,
                escaped=True,
            ),
        ),
        strays=TOOL_CALL,
        auto=False,
    )
    yield Dialect(
        name="seed_oss",
        models="Seed-OSS",
        example=qwen.replace("tool_call>", "seed:tool_call>"),
        forms=(
            ParameterForm(
                openers=("<seed:tool_call>",),
                call=("<function",),
                call_end=("</function>",),
                parameter=("<parameter",),
                parameter_end=("</parameter>",),
                closers=("</seed:tool_call>",),
            ),
        ),
        reasoning=(("<seed:think>", "</seed:think>"),),
        interrupts=False,
        strays=("</seed:tool_call>",),
    )
    yield Dialect(
        name="functionary_v31",
        models="Functionary v3.1",
        example='<function=get_weather>{"city": "Oslo"}</function><|eom_id|>',
        forms=(FUNCTION_JSON,),
        drops=("<|eom_id|>", "<|eot_id|>"),
        strays=("</function>",),
        auto=False,
    )
    glm = "<arg_key>city</arg_key>{0}<arg_value>Oslo</arg_value>{0}</tool_call>"
    for name, models, gap in (
        ("glm45", "GLM-4.5 and 4.6", "\n"),
        ("glm47", "GLM-4.7 and GLM-5", ""),
        ("ling3", "Ling 3", ""),
    ):
        yield Dialect(
            name=name,
            models=models,
            example=f"<tool_call>get_weather{gap}{glm.format(gap)}",
            forms=(GLM, HERMES),
            strays=TOOL_CALL,
            auto=name == "glm45",
        )
    yield Dialect(
        name="poolside_v1",
        models="Poolside Laguna",
        example=f"<tool_call>get_weather\n{glm.format(chr(10))}",
        forms=(
            GLM,
            HERMES,
            PairForm(openers=("<user>",), call="user"),
            JsonForm(openers=("<user>",), closers=("</user>",), must_close=True),
        ),
        strays=TOOL_CALL,
        auto=False,
    )
    yield Dialect(
        name="hy_v3",
        models="Hunyuan 3",
        example="<tool_calls><tool_call>get_weather<tool_sep>"
        "<arg_key>city</arg_key><arg_value>Oslo</arg_value></tool_call></tool_calls>",
        forms=(PairForm(openers=("<tool_calls",), wrapper="tool_calls", separator="tool_sep"),),
        strays=("</tool_calls>", "</tool_call>"),
    )
