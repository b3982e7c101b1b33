"""JSON between tags: Hermes and its kin."""

from typing import Final

from toolglot.dialects.dialect import Dialect
from toolglot.dialects.engines.elements import ElementForm
from toolglot.dialects.engines.json_calls import JsonForm
from toolglot.dialects.engines.key_value import PairForm
from toolglot.dialects.rows.shared import (
    ARRAY_TAG,
    BARE_OBJECT,
    FENCE,
    HERMES,
    HERMES_WRITER,
    QWEN,
    TOOL_CALL,
    WEATHER,
)
from toolglot.dialects.writers import JsonWriter, json_array

LOOSE: Final = (
    ("<tools>", "</tools>"),
    ("<response>", "</response>"),
    ("<json>", "</json>"),
    ("<JSON>", "</JSON>"),
    ("<xml>", "</xml>"),
)

ROWS: Final = (
    Dialect(
        name="hermes",
        models="Hermes, Qwen2.5, Qwen3, SmolLM3 and many fine-tunes",
        example=f"<tool_call>\n{WEATHER}\n</tool_call>",
        forms=(HERMES,),
        write=HERMES_WRITER,
        strays=TOOL_CALL,
        drops=("<|im_end|>",),
    ),
    Dialect(
        name="granite4",
        models="Granite 4",
        example=f"<tool_call>{WEATHER}</tool_call>",
        forms=(HERMES,),
        strays=TOOL_CALL,
        auto=False,
    ),
    Dialect(
        name="trinity",
        models="Arcee Trinity",
        example=f"<tool_call>{WEATHER}</tool_call>",
        forms=(HERMES,),
        strays=TOOL_CALL,
        calls_in_thought=True,
        auto=False,
    ),
    Dialect(
        name="ernie45",
        models="ERNIE 4.5 Thinking",
        example=f"<tool_call>\n{WEATHER}\n</tool_call>\n",
        forms=(HERMES,),
        write=HERMES_WRITER,
        strays=TOOL_CALL,
        drops=("<response>", "</response>"),
        auto=False,
    ),
    Dialect(
        name="hermes_lenient",
        models="small Qwen2.5 and Hermes fine-tunes",
        example='<function name="get_weather">{"city": "Oslo"}</function>',
        forms=(
            HERMES,
            QWEN,
            *(
                JsonForm(openers=(opener,), closers=(closer,), needs_arguments=True)
                for opener, closer in LOOSE
            ),
            FENCE,
            BARE_OBJECT,
        ),
        write=HERMES_WRITER,
        strays=TOOL_CALL,
        auto=False,
    ),
    Dialect(
        name="qwen_agent_code",
        models="Qwen3 with the code interpreter of Qwen-Agent",
        example='<tool_call>\n{"name": "code_interpreter", "arguments": {"code": ""}}\n<code>\n'
        "1 + 1\n</code>\n</tool_call>",
        forms=(HERMES,),
        write=HERMES_WRITER,
        strays=TOOL_CALL,
        auto=False,
    ),
    Dialect(
        name="longcat",
        models="LongCat-Flash",
        example=f"<longcat_tool_call>{WEATHER}</longcat_tool_call>",
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
    ),
    Dialect(
        name="lmstudio",
        models="any model in LM Studio without tools of its own",
        example=f"[TOOL_REQUEST]{WEATHER}[END_TOOL_REQUEST]",
        forms=(JsonForm(openers=("[TOOL_REQUEST]",), closers=("[END_TOOL_REQUEST]",)),),
        strays=("[END_TOOL_REQUEST]",),
    ),
    Dialect(
        name="xai_tool_call",
        models="Grok, as described by others",
        example=f"<x.ai:tool_call>{WEATHER}</x.ai:tool_call>",
        forms=(
            JsonForm(openers=("<x.ai:tool_call>",), closers=("</x.ai:tool_call>",), between=","),
            ElementForm(
                openers=("<x.ai:tool_call>",), closers=("</x.ai:tool_call>",), escaped=True
            ),
        ),
    ),
    Dialect(
        name="nemotron_deci",
        models="Nemotron Nano v2, Llama-Nemotron",
        example=f"<TOOLCALL>[{WEATHER}]</TOOLCALL>",
        forms=(JsonForm(openers=("<TOOLCALL>",), closers=("</TOOLCALL>",), starts="[{"),),
        write=json_array("<TOOLCALL>", "</TOOLCALL>"),
        strays=("</TOOLCALL>",),
        drops=("<SPECIAL_12>",),
    ),
    Dialect(
        name="granite_20b_fc",
        models="Granite 20B function calling",
        example=f"<function_call> {WEATHER}",
        forms=(JsonForm(openers=("<function_call>",), closers=("</function_call>",), starts="{"),),
        write=JsonWriter(begin="<function_call> "),
        strays=("</function_call>",),
    ),
    Dialect(
        name="jamba",
        models="Jamba 1.5 to 1.7",
        example=f"<tool_calls>[{WEATHER}]</tool_calls>",
        forms=(ARRAY_TAG,),
        write=json_array("<tool_calls>", "</tool_calls>"),
        strays=("</tool_calls>",),
    ),
    Dialect(
        name="hunyuan_a13b",
        models="Hunyuan A13B",
        example=f"<tool_calls>[{WEATHER}]</tool_calls>",
        forms=(ARRAY_TAG,),
        write=json_array("<tool_calls>", "</tool_calls>"),
        strays=("</tool_calls>",),
        drops=("<answer>", "</answer>"),
        interrupts=False,
        auto=False,
    ),
    Dialect(
        name="minimax_m1",
        models="MiniMax M1",
        example=f"<tool_calls>\n{WEATHER}\n</tool_calls>",
        forms=(ARRAY_TAG,),
        write=JsonWriter(open="<tool_calls>\n", close="\n</tool_calls>"),
        strays=("</tool_calls>",),
        interrupts=False,
        auto=False,
    ),
    Dialect(
        name="apriel",
        models="Apriel Thinker",
        example=f"<tool_calls>[{WEATHER}]</tool_calls>",
        forms=(ARRAY_TAG,),
        write=json_array("<tool_calls>", "</tool_calls>"),
        strays=("</tool_calls>",),
        reasoning=(("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"),),
        drops=("<|end|>",),
        auto=False,
    ),
)
