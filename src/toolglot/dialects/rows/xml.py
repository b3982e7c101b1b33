"""Elements for functions and their parameters, or for pairs of key and value."""

from dataclasses import replace
from typing import Final

from toolglot.dialects.dialect import Dialect
from toolglot.dialects.engines.json_calls import JsonForm
from toolglot.dialects.engines.key_value import PairForm
from toolglot.dialects.engines.parameters import ParameterForm
from toolglot.dialects.rows.shared import (
    FUNCTION_JSON,
    GLM,
    GLM47_WRITER,
    HERMES,
    QWEN,
    QWEN_WRITER,
    TOOL_CALL,
)

QWEN_EXAMPLE: Final = (
    "<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</function>\n"
    "</tool_call>"
)
GLM45_EXAMPLE: Final = (
    "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n</tool_call>"
)
GLM47_EXAMPLE: Final = GLM45_EXAMPLE.replace("\n", "")

ROWS: Final = (
    Dialect(
        name="llama3_custom",
        models="Llama 3.1 with custom tools in its prompt",
        example='<function=get_weather>{"city": "Oslo"}</function>',
        forms=(FUNCTION_JSON,),
        drops=("<|eom_id|>", "<|eot_id|>"),
        strays=("</function>",),
    ),
    Dialect(
        name="qwen3_coder",
        models="Qwen3-Coder, Qwen3.5 and later",
        example=QWEN_EXAMPLE,
        forms=(QWEN, HERMES),
        write=QWEN_WRITER,
        strays=("</tool_call>", "</function>"),
        drops=("<|im_end|>",),
    ),
    Dialect(
        name="nemotron_v3",
        models="Nemotron 3 Nano",
        example=QWEN_EXAMPLE,
        forms=(QWEN,),
        write=QWEN_WRITER,
        strays=("</tool_call>", "</function>"),
        drops=("<|im_end|>",),
        auto=False,
    ),
    Dialect(
        name="step3p5",
        models="Step-3.5-Flash",
        example=QWEN_EXAMPLE,
        forms=(QWEN,),
        write=QWEN_WRITER,
        strays=("</tool_call>", "</function>"),
        drops=("<|im_end|>",),
        auto=False,
    ),
    Dialect(
        name="mimo",
        models="Xiaomi MiMo",
        example=QWEN_EXAMPLE.replace("Oslo", "A &amp; B"),
        forms=(replace(QWEN, escaped=True),),
        write=replace(QWEN_WRITER, escaped=True),
        strays=TOOL_CALL,
        auto=False,
    ),
    Dialect(
        name="seed_oss",
        models="Seed-OSS",
        example=QWEN_EXAMPLE.replace("tool_call>", "seed:tool_call>"),
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
        write=replace(QWEN_WRITER, begin="<seed:tool_call>\n", end="\n</seed:tool_call>"),
        reasoning=(("<seed:think>", "</seed:think>"),),
        interrupts=False,
        strays=("</seed:tool_call>",),
    ),
    Dialect(
        name="functionary_v31",
        models="Functionary v3.1",
        example='<function=get_weather>{"city": "Oslo"}</function><|eom_id|>',
        forms=(FUNCTION_JSON,),
        write=replace(FUNCTION_JSON.writer(), close="<|eom_id|>"),
        drops=("<|eom_id|>", "<|eot_id|>"),
        strays=("</function>",),
        auto=False,
    ),
    Dialect(
        name="glm45",
        models="GLM-4.5 and 4.6",
        example=GLM45_EXAMPLE,
        forms=(GLM, HERMES),
        strays=TOOL_CALL,
    ),
    Dialect(
        name="glm47",
        models="GLM-4.7 and GLM-5",
        example=GLM47_EXAMPLE,
        forms=(GLM, HERMES),
        write=GLM47_WRITER,
        strays=TOOL_CALL,
        auto=False,
    ),
    Dialect(
        name="ling3",
        models="Ling 3",
        example=GLM47_EXAMPLE,
        forms=(GLM, HERMES),
        write=GLM47_WRITER,
        strays=TOOL_CALL,
        auto=False,
    ),
    Dialect(
        name="poolside_v1",
        models="Poolside Laguna",
        example=GLM45_EXAMPLE,
        forms=(
            GLM,
            HERMES,
            PairForm(openers=("<user>",), call="user"),
            JsonForm(openers=("<user>",), closers=("</user>",), must_close=True),
        ),
        strays=TOOL_CALL,
        needs_tools=True,
    ),
    Dialect(
        name="hy_v3",
        models="Hunyuan 3",
        example="<tool_calls><tool_call>get_weather<tool_sep>"
        "<arg_key>city</arg_key><arg_value>Oslo</arg_value></tool_call></tool_calls>",
        forms=(PairForm(openers=("<tool_calls",), wrapper="tool_calls", separator="tool_sep"),),
        write=replace(
            GLM47_WRITER,
            open="<tool_calls>",
            head="{name}<tool_sep>",
            between="",
            close="</tool_calls>",
        ),
        strays=("</tool_calls>", "</tool_call>"),
    ),
)
