# ruff: noqa: RUF001 - the bars and gaps are what the models write
"""Sections of special tokens: DeepSeek, Kimi, Mistral, Cohere and others."""

from collections.abc import Iterator

from toolglot.dialects.channels import SkipForm
from toolglot.dialects.json_calls import JsonForm
from toolglot.dialects.named_json import NamedForm
from toolglot.dialects.reader import Dialect
from toolglot.dialects.rows.shared import (
    ACTION,
    BARE_ARRAY,
    DEEPSEEK,
    DEEPSEEK_STRAYS,
    END_OF_SENTENCE,
    MISTRAL_ARRAY,
    MISTRAL_NAMED,
)


def tokens() -> Iterator[Dialect]:
    """The rows of this family."""
    weather = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
    city = '{"city": "Oslo"}'
    yield Dialect(
        name="deepseek_v31",
        models="DeepSeek V3.1",
        example="<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>"
        f"{city}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        forms=DEEPSEEK,
        drops=END_OF_SENTENCE,
        strays=DEEPSEEK_STRAYS,
    )
    yield Dialect(
        name="deepseek_v3",
        models="DeepSeek V2.5, V3, R1",
        example="<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n"
        f"```json\n{city}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        forms=DEEPSEEK,
        drops=END_OF_SENTENCE,
        strays=DEEPSEEK_STRAYS,
        auto=False,
    )
    yield Dialect(
        name="kimi_k2",
        models="Kimi K2",
        example="<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
        f"<|tool_call_argument_begin|>{city}<|tool_call_end|><|tool_calls_section_end|>",
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
        drops=("<|im_end|>", "<|tool_call_argument_begin|>"),
        strays=(
            "<|tool_calls_section_end|>",
            "<|tool_call_section_end|>",
            "<|tool_call_end|>",
        ),
    )
    yield Dialect(
        name="mistral",
        models="Mistral, Magistral, Devstral, Ministral",
        example=f"[TOOL_CALLS]get_weather[ARGS]{city}",
        forms=(MISTRAL_ARRAY, MISTRAL_NAMED),
        reasoning=(("[THINK]", "[/THINK]"),),
        interrupts=False,
        drops=("</s>",),
        strays=("[/TOOL_CALLS]",),
    )
    yield Dialect(
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
        reasoning=(("<|content_thinking|>", "<|end_message|>"),),
        drops=("<|content_text|>", "<|end_message|>", "<|message_model|><|content_text|>"),
    )
    yield Dialect(
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
        strays=("<|action_end|>",),
    )
    for name, models in (
        ("phi4_mini", "Phi-4-mini"),
        ("firefunction_v2", "FireFunction v2"),
    ):
        yield Dialect(
            name=name,
            models=models,
            example=f"functools[{weather}]",
            forms=(
                JsonForm(openers=("functools",), starts="["),
                JsonForm(
                    openers=("<|tool_call|>",),
                    special=True,
                    closers=("<|/tool_call|>", "</|tool_call|>"),
                ),
            ),
            auto=name == "phi4_mini",
        )
    yield Dialect(
        name="granite",
        models="Granite 3",
        example=f"<|tool_call|> [{weather}]",
        forms=(
            JsonForm(openers=("<|tool_call|>", "<tool_call>"), starts="[", special=True),
            BARE_ARRAY,
        ),
        drops=("<response>", "</response>"),
        auto=False,
    )
    yield Dialect(
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
        reasoning=(("<|inner_prefix|>", "<|inner_suffix|>"),),
        strays=("<|tools_suffix|>",),
    )
    yield from _cohere()
    yield Dialect(
        name="gigachat3",
        models="GigaChat 3",
        example=f"<|function_call|>{weather}",
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
    )
    yield Dialect(
        name="functionary_v2",
        models="Functionary v2",
        example=f"get_weather\n<|content|>{city}<|stop|>",
        forms=tuple(
            NamedForm(
                openers=(opener,),
                at=at,
                special=True,
                separators=("<|content|>",),
                end=("<|stop|>", "\n<|from|>assistant\n", "<|from|>assistant\n"),
                nobody="all",
            )
            for opener, at in (("<|recipient|>", "any"), ("", "begin"))
        ),
        drops=(
            "all\n<|content|>",
            "<|from|>assistant\n",
            "<|stop|>",
            "<|recipient|>all\n<|content|>",
        ),
        auto=False,
    )
    yield Dialect(
        name="sarashina",
        models="Sarashina",
        example="<|tool_calls|>[{'name': 'get_weather', 'arguments': {'city': 'Oslo'}}]",
        forms=(JsonForm(openers=("<|tool_calls|>",), special=True), BARE_ARRAY),
    )


def _cohere() -> Iterator[Dialect]:
    for name, models in (
        ("cohere_command3", "Command R7B, Command A"),
        ("cohere_command4", "Command v4"),
    ):
        yield Dialect(
            name=name,
            models=models,
            example='<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "get_weather", '
            '"parameters": {"city": "Oslo"}}]<|END_ACTION|>',
            forms=(
                JsonForm(openers=("<|START_ACTION|>",), special=True, closers=("<|END_ACTION|>",)),
                SkipForm(openers=("</co:",), special=True),
            ),
            reasoning=(("<|START_THINKING|>", "<|END_THINKING|>"),),
            drops=(
                "<co>",
                "<|START_RESPONSE|>",
                "<|END_RESPONSE|>",
                "<|START_TEXT|>",
                "<|END_TEXT|>",
                "<|END_OF_TURN_TOKEN|>",
                "<|CHATBOT_TOKEN|>",
                "<|START_OF_TURN_TOKEN|>",
                "<|END_THINKING|>",
            ),
            strays=("<|END_ACTION|>",),
            auto=name == "cohere_command3",
        )
    yield Dialect(
        name="command_r_plus",
        models="Command R, R+",
        example='Action:\n```json\n[{"tool_name": "get_weather", '
        '"parameters": {"city": "Oslo"}}]\n```',
        forms=(ACTION,),
        drops=("<|END_OF_TURN_TOKEN|>", "<|CHATBOT_TOKEN|>", "<|START_OF_TURN_TOKEN|>"),
        auto=False,
    )
