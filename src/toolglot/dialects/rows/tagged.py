"""JSON between tags: Hermes and its kin."""

from collections.abc import Iterator

from toolglot.dialects.elements import ElementForm
from toolglot.dialects.json_calls import JsonForm
from toolglot.dialects.key_value import PairForm
from toolglot.dialects.reader import Dialect
from toolglot.dialects.rows.shared import ARRAY_TAG, BARE_OBJECT, FENCE, HERMES, QWEN, TOOL_CALL


def tagged() -> Iterator[Dialect]:
    """The rows of this family."""
    weather = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
    yield Dialect(
        name="hermes",
        models="Hermes, Qwen2.5, Qwen3, SmolLM3 and many fine-tunes",
        example=f"<tool_call>\n{weather}\n</tool_call>",
        forms=(HERMES,),
        strays=TOOL_CALL,
        drops=("<|im_end|>",),
    )
    for name, models in (("granite4", "Granite 4"), ("trinity", "Arcee Trinity")):
        yield Dialect(
            name=name,
            models=models,
            example=f"<tool_call>{weather}</tool_call>",
            forms=(HERMES,),
            strays=TOOL_CALL,
            auto=False,
        )
    yield Dialect(
        name="ernie45",
        models="ERNIE 4.5 Thinking",
        example=f"<tool_call>\n{weather}\n</tool_call>\n",
        forms=(HERMES,),
        strays=TOOL_CALL,
        drops=("<response>", "</response>"),
        auto=False,
    )
    loose = (("<tools>", "</tools>"), ("<response>", "</response>"), ("<json>", "</json>"))
    yield Dialect(
        name="hermes_lenient",
        models="small Qwen2.5 and Hermes fine-tunes",
        example='<function name="get_weather">{"city": "Oslo"}</function>',
        forms=(
            HERMES,
            QWEN,
            *(
                JsonForm(openers=(opener,), closers=(closer,), needs_arguments=True)
                for opener, closer in (*loose, ("<JSON>", "</JSON>"), ("<xml>", "</xml>"))
            ),
            FENCE,
            BARE_OBJECT,
        ),
        strays=TOOL_CALL,
        auto=False,
    )
    yield Dialect(
        name="qwen_agent_code",
        models="Qwen3 with the code interpreter of Qwen-Agent",
        example='<tool_call>\n{"name": "code_interpreter", "arguments": {"code": ""}}\n<code>\n'
        "1 + 1\n</code>\n</tool_call>",
        forms=(HERMES,),
        strays=TOOL_CALL,
        auto=False,
    )
    yield Dialect(
        name="longcat",
        models="LongCat-Flash",
        example=f"<longcat_tool_call>{weather}</longcat_tool_call>",
        forms=(
            JsonForm(openers=("<longcat_tool_call>",), closers=("</longcat_tool_call>",)),
            PairForm(
                openers=("<longcat_tool_call>",),
                call="longcat_tool_call",
                key="longcat_arg_key",
                value="longcat_arg_value",
            ),
        ),
        reasoning=(("<longcat_think>", "</longcat_think>"),),
        strays=("</longcat_tool_call>",),
    )
    yield Dialect(
        name="lmstudio",
        models="any model in LM Studio without tools of its own",
        example=f"[TOOL_REQUEST]{weather}[END_TOOL_REQUEST]",
        forms=(JsonForm(openers=("[TOOL_REQUEST]",), closers=("[END_TOOL_REQUEST]",)),),
        strays=("[END_TOOL_REQUEST]",),
    )
    yield Dialect(
        name="xai_tool_call",
        models="Grok, as described by others",
        example=f"<x.ai:tool_call>{weather}</x.ai:tool_call>",
        forms=(
            JsonForm(openers=("<x.ai:tool_call>",), closers=("</x.ai:tool_call>",), between=","),
            ElementForm(
                openers=("<x.ai:tool_call>",), closers=("</x.ai:tool_call>",), escaped=True
            ),
        ),
    )
    for name, models, opener, closer in (
        ("nemotron_deci", "Nemotron Nano v2, Llama-Nemotron", "<TOOLCALL>", "</TOOLCALL>"),
        ("granite_20b_fc", "Granite 20B function calling", "<function_call>", "</function_call>"),
    ):
        array = name == "nemotron_deci"
        yield Dialect(
            name=name,
            models=models,
            example=f"{opener}[{weather}]{closer}" if array else f"{opener} {weather}",
            forms=(JsonForm(openers=(opener,), closers=(closer,), starts="[{" if array else "{"),),
            strays=(closer,),
            drops=("<SPECIAL_12>",) if array else (),
        )
    yield Dialect(
        name="jamba",
        models="Jamba 1.5 to 1.7",
        example=f"<tool_calls>[{weather}]</tool_calls>",
        forms=(ARRAY_TAG,),
        strays=("</tool_calls>",),
    )
    yield Dialect(
        name="hunyuan_a13b",
        models="Hunyuan A13B",
        example=f"<tool_calls>[{weather}]</tool_calls>",
        forms=(ARRAY_TAG,),
        strays=("</tool_calls>",),
        drops=("<answer>", "</answer>"),
        interrupts=False,
        auto=False,
    )
    yield Dialect(
        name="minimax_m1",
        models="MiniMax M1",
        example=f"<tool_calls>\n{weather}\n</tool_calls>",
        forms=(ARRAY_TAG,),
        strays=("</tool_calls>",),
        interrupts=False,
        auto=False,
    )
    yield Dialect(
        name="apriel",
        models="Apriel Thinker",
        example=f"<tool_calls>[{weather}]</tool_calls>",
        forms=(ARRAY_TAG,),
        strays=("</tool_calls>",),
        reasoning=(("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"),),
        drops=("<|end|>",),
        auto=False,
    )
