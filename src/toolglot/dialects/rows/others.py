"""Formats that fit no other family."""

from collections.abc import Iterator

from toolglot.dialects.channels import ChannelForm
from toolglot.dialects.elements import ElementForm
from toolglot.dialects.gemma import GemmaForm
from toolglot.dialects.named_json import NamedForm
from toolglot.dialects.namespaced import NamespacedForm
from toolglot.dialects.reader import Dialect
from toolglot.dialects.rows.shared import TOOL_CALL


def others() -> Iterator[Dialect]:
    """The rows of this family."""
    yield Dialect(
        name="gemma4",
        models="Gemma 4",
        example='<|tool_call>call:get_weather{city:<|"|>Oslo<|"|>}<tool_call|>',
        forms=(
            GemmaForm(
                openers=("<|tool_call>",),
                special=True,
                closers=("<tool_call|>", "<|tool_response>"),
                quote='<|"|>',
            ),
        ),
        reasoning=(("<|channel>thought\n", "<channel|>"), ("<|channel>", "<channel|>")),
        strays=("<tool_call|>", "<|tool_response>"),
        drops=("<turn|>", "<channel|>"),
    )
    mark = "]<]minimax[>["
    yield Dialect(
        name="minimax_m3",
        models="MiniMax M3",
        example=f'{mark}<tool_call>{mark}<invoke name="get_weather">{mark}<city>Oslo{mark}</city>'
        f"{mark}</invoke>{mark}</tool_call>",
        forms=(NamespacedForm(openers=(f"{mark}<tool_call>",), special=True, token=mark),),
        reasoning=(("<mm:think>", "</mm:think>"),),
        strays=(f"{mark}</tool_call>",),
    )
    yield Dialect(
        name="functiongemma",
        models="FunctionGemma",
        example="<start_function_call>call:get_weather{city:<escape>Oslo<escape>}"
        "<end_function_call>",
        forms=(
            GemmaForm(
                openers=("<start_function_call>",),
                special=True,
                closers=("<end_function_call>", "<start_function_response>"),
                quote="<escape>",
            ),
        ),
        strays=("<end_function_call>", "<start_function_response>"),
    )
    yield Dialect(
        name="harmony",
        models="gpt-oss",
        example="<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>"
        '{"city": "Oslo"}<|call|>',
        forms=(
            ChannelForm(
                openers=("<|channel|>", "<|start|>assistant", " to=functions."),
                special=True,
                ends=("<|end|>", "<|call|>", "<|return|>"),
                starts=("<|start|>assistant", "<|channel|>"),
                reasoning=frozenset({"analysis"}),
                words=frozenset({"user", "assistant"}),
            ),
        ),
        reasoning=(),
        drops=("<|end|>", "<|return|>"),
        strays=("<|call|>",),
    )
    yield Dialect(
        name="xml_id_name_args",
        models="Grok and DeepSeek when prompted so",
        example="<tool_call><id>a1</id><name>get_weather</name>"
        '<arguments>{"city": "Oslo"}</arguments></tool_call>',
        forms=(ElementForm(openers=("<tool_call>",), closers=TOOL_CALL),),
        strays=TOOL_CALL,
    )
    yield Dialect(
        name="langchain_xml",
        models="LangChain's XML agent",
        example="<tool>get_weather</tool>\n<tool_input>Oslo</tool_input>",
        forms=(ElementForm(openers=("<tool>",), closers=("</tool>",), input="tool_input"),),
        drops=("<final_answer>", "</final_answer>"),
        strays=("</tool_input>",),
        auto=False,
    )
    yield Dialect(
        name="generic_tool_xml",
        models="DeepSeek and small models when prompted so",
        example='<tool name="get_weather" city="Oslo"/>',
        forms=(
            ElementForm(
                openers=("<tool>", "<tool"),
                closers=("</tool>",),
                attributes=True,
                command=True,
                escaped=True,
            ),
        ),
    )
    yield Dialect(
        name="bracket_calling",
        models="models that copy a rendered history",
        example='[Calling tool: get_weather({"city": "Oslo"})]',
        forms=(
            NamedForm(
                openers=("[Calling tool:", "[Tool call:"),
                separators=("(",),
                end=(")]", "]"),
                empty=True,
                must_end=True,
            ),
        ),
    )
    yield Dialect(
        name="qwen_agent",
        models="Qwen1.5 and Qwen2 with Qwen-Agent",
        example='✿FUNCTION✿: get_weather\n✿ARGS✿: {"city": "Oslo"}\n✿RESULT✿',
        forms=(
            NamedForm(openers=("✿FUNCTION✿:",), separators=("✿ARGS✿:",), special=True, many=True),
        ),
        drops=("✿RESULT✿", "✿RETURN✿:"),
    )
