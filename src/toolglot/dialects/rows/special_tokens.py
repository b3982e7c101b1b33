# ruff: noqa: RUF001 - the bars and gaps are what the models write
"""Sections of special tokens: DeepSeek, Kimi, Mistral, Cohere and others."""

from dataclasses import replace
from typing import Final

from toolglot.dialects.dialect import Dialect, ResultTemplate
from toolglot.dialects.engines.channels import SkipForm
from toolglot.dialects.engines.json_calls import JsonForm
from toolglot.dialects.engines.named_json import NamedForm
from toolglot.dialects.rows.shared import (
    ACTION,
    BARE_ARRAY,
    CITY,
    DEEPSEEK,
    DEEPSEEK_STRAYS,
    END_OF_SENTENCE,
    MISTRAL_ARRAY,
    MISTRAL_NAMED,
    NAME_LINE,
    WEATHER,
)
from toolglot.dialects.writers import JsonWriter, NamedWriter, json_array

FUNCTOOLS: Final = (
    JsonForm(openers=("functools",), starts="["),
    JsonForm(
        openers=("<|tool_call|>",), special=True, closers=("<|/tool_call|>", "</|tool_call|>")
    ),
)
COHERE: Final = (
    JsonForm(openers=("<|START_ACTION|>",), special=True, closers=("<|END_ACTION|>",)),
    SkipForm(openers=("</co:",), special=True),
)
COHERE_EXAMPLE: Final = (
    '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "get_weather", '
    '"parameters": {"city": "Oslo"}}]<|END_ACTION|>'
)
COHERE_WRITER: Final = replace(
    json_array("<|START_ACTION|>", "<|END_ACTION|>"),
    id="tool_call_id",
    name="tool_name",
    arguments="parameters",
)
COHERE_RESULT: Final = ResultTemplate(
    open="<|START_TOOL_RESULT|>", close="<|END_TOOL_RESULT|>", raw=False
)
COHERE_BEGINS: Final = (
    "<|START_RESPONSE|>",
    "<|START_TEXT|>",
    "<|CHATBOT_TOKEN|>",
    "<|START_OF_TURN_TOKEN|>",
)
COHERE_DROPS: Final = (
    "<co>",
    "<|START_RESPONSE|>",
    "<|END_RESPONSE|>",
    "<|START_TEXT|>",
    "<|END_TEXT|>",
    "<|END_OF_TURN_TOKEN|>",
    "<|CHATBOT_TOKEN|>",
    "<|START_OF_TURN_TOKEN|>",
    "<|END_THINKING|>",
)

ROWS: Final = (
    Dialect(
        name="deepseek_v31",
        models="DeepSeek V3.1",
        example="<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>"
        f"{CITY}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        forms=DEEPSEEK,
        drops=END_OF_SENTENCE,
        strays=DEEPSEEK_STRAYS,
    ),
    Dialect(
        name="deepseek_v3",
        models="DeepSeek V2.5, V3, R1",
        example="<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n"
        f"```json\n{CITY}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        forms=DEEPSEEK,
        write=NamedWriter(
            open="<｜tool▁calls▁begin｜>",
            template="<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{arguments}\n```"
            "<｜tool▁call▁end｜>",
            close="<｜tool▁calls▁end｜>",
        ),
        drops=END_OF_SENTENCE,
        strays=DEEPSEEK_STRAYS,
        auto=False,
    ),
    Dialect(
        name="kimi_k2",
        models="Kimi K2",
        example="<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
        f"<|tool_call_argument_begin|>{CITY}<|tool_call_end|><|tool_calls_section_end|>",
        forms=(
            NamedForm(
                openers=(
                    "<|tool_calls_section_begin|>",
                    "<|tool_call_section_begin|>",
                    "<|tool_call_begin|>",
                ),
                special=True,
                begin=("<|tool_call_begin|>",),
                separators=("<|tool_call_argument_begin|>",),
                end=("<|tool_call_end|>",),
                close=("<|tool_calls_section_end|>", "<|tool_call_section_end|>"),
                numbered=True,
                noisy=True,
                empty=True,
            ),
        ),
        result=ResultTemplate(open="## Return of functions.{name}\n"),
        drops=("<|im_end|>", "<|tool_call_argument_begin|>"),
        strays=(
            "<|tool_calls_section_end|>",
            "<|tool_call_section_end|>",
            "<|tool_call_end|>",
        ),
    ),
    Dialect(
        name="mistral",
        models="Mistral, Magistral, Devstral, Ministral",
        example=f"[TOOL_CALLS]get_weather[ARGS]{CITY}",
        forms=(MISTRAL_ARRAY, MISTRAL_NAMED),
        write=NamedWriter(template="[TOOL_CALLS]{name}[ARGS]{arguments}", between=""),
        result=ResultTemplate(open="[TOOL_RESULTS]", close="[/TOOL_RESULTS]", raw=False),
        reasoning=(("[THINK]", "[/THINK]"),),
        interrupts=False,
        drops=("</s>",),
        strays=("[/TOOL_CALLS]",),
    ),
    Dialect(
        name="inkling",
        models="Inkling",
        example='<|content_invoke_tool_json|>{"name":"get_weather","args":{"city":"Oslo"}}'
        "<|end_message|>",
        forms=(
            JsonForm(
                openers=("<|content_invoke_tool_json|>",),
                special=True,
                closers=("<|end_message|>",),
                starts="{",
            ),
            JsonForm(
                openers=("<|message_model|>",),
                special=True,
                lead=(
                    "<|content_invoke_tool_json|>",
                    "<|content_text|>",
                    "<|content_thinking|>",
                ),
                closers=("<|end_message|>",),
                starts="{",
            ),
        ),
        write=JsonWriter(
            begin="<|content_invoke_tool_json|>",
            end="<|end_message|>",
            between="<|message_model|>",
            arguments="args",
        ),
        reasoning=(("<|content_thinking|>", "<|end_message|>"),),
        begins=("<|content_text|>", "<|message_model|><|content_text|>"),
        drops=("<|content_text|>", "<|end_message|>", "<|message_model|><|content_text|>"),
    ),
    Dialect(
        name="internlm2",
        models="InternLM 2 to 3, Intern-S1",
        example='<|action_start|><|plugin|>{"name": "get_weather", "parameters": {"city": "Oslo"}}'
        "<|action_end|>",
        forms=(
            JsonForm(
                openers=("<|action_start|>",),
                special=True,
                before=("<|plugin|>",),
                closers=("<|action_end|>",),
            ),
        ),
        write=JsonWriter(
            begin="<|action_start|><|plugin|>", end="<|action_end|>", arguments="parameters"
        ),
        strays=("<|action_end|>",),
    ),
    Dialect(
        name="phi4_mini",
        models="Phi-4-mini",
        example=f"functools[{WEATHER}]",
        forms=FUNCTOOLS,
    ),
    Dialect(
        name="firefunction_v2",
        models="FireFunction v2",
        example=f"functools[{WEATHER}]",
        forms=FUNCTOOLS,
        auto=False,
    ),
    Dialect(
        name="granite",
        models="Granite 3",
        example=f"<|tool_call|> [{WEATHER}]",
        forms=(
            JsonForm(openers=("<|tool_call|>", "<tool_call>"), starts="[", special=True),
            BARE_ARRAY,
        ),
        write=json_array("<|tool_call|> "),
        drops=("<response>", "</response>"),
        auto=False,
    ),
    Dialect(
        name="apertus",
        models="Apertus",
        example='<|tools_prefix|>[{"get_weather": {"city": "Oslo"}}]<|tools_suffix|>',
        forms=(
            JsonForm(
                openers=("<|tools_prefix|>",),
                special=True,
                closers=("<|tools_suffix|>",),
                keyed=True,
            ),
        ),
        write=json_array("<|tools_prefix|>", "<|tools_suffix|>", keyed=True),
        reasoning=(("<|inner_prefix|>", "<|inner_suffix|>"),),
        strays=("<|tools_suffix|>",),
    ),
    Dialect(
        name="cohere_command3",
        models="Command R7B, Command A",
        example=COHERE_EXAMPLE,
        forms=COHERE,
        write=COHERE_WRITER,
        result=COHERE_RESULT,
        reasoning=(("<|START_THINKING|>", "<|END_THINKING|>"),),
        begins=COHERE_BEGINS,
        drops=COHERE_DROPS,
        strays=("<|END_ACTION|>",),
    ),
    Dialect(
        name="cohere_command4",
        models="Command v4",
        example=COHERE_EXAMPLE,
        forms=COHERE,
        write=COHERE_WRITER,
        result=COHERE_RESULT,
        reasoning=(("<|START_THINKING|>", "<|END_THINKING|>"),),
        drops=COHERE_DROPS,
        strays=("<|END_ACTION|>",),
        auto=False,
    ),
    Dialect(
        name="command_r_plus",
        models="Command R, R+",
        example='Action:\n```json\n[{"tool_name": "get_weather", '
        '"parameters": {"city": "Oslo"}}]\n```',
        forms=(ACTION,),
        write=replace(
            json_array("Action:\n```json\n", "\n```"), name="tool_name", arguments="parameters"
        ),
        drops=("<|END_OF_TURN_TOKEN|>", "<|CHATBOT_TOKEN|>", "<|START_OF_TURN_TOKEN|>"),
        begins=("<|CHATBOT_TOKEN|>", "<|START_OF_TURN_TOKEN|>"),
        needs_tools=True,
    ),
    Dialect(
        name="gigachat3",
        models="GigaChat 3",
        example=f"<|function_call|>{WEATHER}",
        forms=(
            JsonForm(
                openers=("<|function_call|>",), special=True, starts="{", needs_arguments=True
            ),
            JsonForm(
                openers=("<|message_sep|>", "function call<|role_sep|>"),
                special=True,
                before=("function call<|role_sep|>",),
                starts="{",
                needs_arguments=True,
            ),
        ),
        drops=("</s>",),
    ),
    Dialect(
        name="functionary_v2",
        models="Functionary v2",
        example=f"get_weather\n<|content|>{CITY}<|stop|>",
        forms=tuple(
            NamedForm(
                openers=(opener,),
                at=at,
                follows=NAME_LINE,
                special=True,
                separators=("<|content|>",),
                end=("<|stop|>", "\n<|from|>assistant\n", "<|from|>assistant\n"),
                nobody="all",
            )
            for opener, at in (("<|recipient|>", "any"), ("", "begin"))
        ),
        write=NamedWriter(
            template="{name}\n<|content|>{arguments}",
            between="\n<|from|>assistant\n<|recipient|>",
            close="<|stop|>",
        ),
        drops=(
            "all\n<|content|>",
            "<|from|>assistant\n",
            "<|stop|>",
            "<|recipient|>all\n<|content|>",
        ),
        needs_tools=True,
        begins=("<|recipient|>all\n<|content|>",),
    ),
    Dialect(
        name="sarashina",
        models="Sarashina",
        example="<|tool_calls|>[{'name': 'get_weather', 'arguments': {'city': 'Oslo'}}]",
        forms=(JsonForm(openers=("<|tool_calls|>",), special=True), BARE_ARRAY),
        write=json_array("<|tool_calls|>"),
    ),
)
