"""Formats that fit no other family."""

from typing import Final

from toolglot.dialects.dialect import Dialect, ResultTemplate
from toolglot.dialects.engines.channels import ChannelForm
from toolglot.dialects.engines.elements import ElementForm
from toolglot.dialects.engines.gemma import GemmaForm
from toolglot.dialects.engines.named_json import NamedForm
from toolglot.dialects.engines.namespaced import NamespacedForm
from toolglot.dialects.rows.shared import TOOL_CALL
from toolglot.dialects.writers import NamedWriter, TaggedWriter

NS: Final = "]<]minimax[>["

ROWS: Final = (
    Dialect(
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
        result=ResultTemplate(
            open='<|tool_response>response:{name}{{output:<|"|>',
            close='<|"|>}}<tool_response|>',
            mark='<|"|>',
        ),
        reasoning=(("<|channel>thought\n", "<channel|>"), ("<|channel>", "<channel|>")),
        strays=("<tool_call|>", "<|tool_response>"),
        drops=("<turn|>", "<channel|>"),
    ),
    Dialect(
        name="minimax_m3",
        models="MiniMax M3",
        example=f'{NS}<tool_call>{NS}<invoke name="get_weather">{NS}<city>Oslo{NS}</city>'
        f"{NS}</invoke>{NS}</tool_call>",
        forms=(NamespacedForm(openers=(f"{NS}<tool_call>",), special=True, token=NS),),
        reasoning=(("<mm:think>", "</mm:think>"),),
        strays=(f"{NS}</tool_call>",),
    ),
    Dialect(
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
        result=ResultTemplate(
            open="<start_function_response>response:{name}{{output:<escape>",
            close="<escape>}}<end_function_response>",
            mark="<escape>",
        ),
        strays=("<end_function_call>", "<start_function_response>"),
    ),
    Dialect(
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
        write=NamedWriter(
            template="<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>"
            "{arguments}<|call|>",
            between="<|start|>assistant",
        ),
        reasoning=(),
        drops=("<|end|>", "<|return|>"),
        strays=("<|call|>",),
    ),
    Dialect(
        name="xml_id_name_args",
        models="Grok and DeepSeek when prompted so",
        example="<tool_call><id>a1</id><name>get_weather</name>"
        '<arguments>{"city": "Oslo"}</arguments></tool_call>',
        forms=(ElementForm(openers=("<tool_call>",), closers=TOOL_CALL),),
        strays=TOOL_CALL,
    ),
    Dialect(
        name="langchain_xml",
        models="LangChain's XML agent",
        example="<tool>get_weather</tool>\n<tool_input>Oslo</tool_input>",
        forms=(ElementForm(openers=("<tool>",), closers=("</tool>",), input="tool_input"),),
        write=NamedWriter(template="<tool>{name}</tool>\n<tool_input>{arguments}</tool_input>"),
        result=ResultTemplate(open="<observation>", close="</observation>"),
        drops=("<final_answer>", "</final_answer>"),
        strays=("</tool_input>",),
    ),
    Dialect(
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
        write=TaggedWriter(
            head='<tool name="{name}">\n',
            parameter="<{key}>{value}</{key}>\n",
            tail="</tool>",
            escaped=True,
        ),
    ),
    Dialect(
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
        write=NamedWriter(template="[Calling tool: {name}({arguments})]"),
        result=ResultTemplate(open="[Result of tool: {name}]\n", close="\n[End of result]"),
    ),
    Dialect(
        name="qwen_agent",
        models="Qwen1.5 and Qwen2 with Qwen-Agent",
        example='✿FUNCTION✿: get_weather\n✿ARGS✿: {"city": "Oslo"}\n✿RESULT✿',
        forms=(
            NamedForm(openers=("✿FUNCTION✿:",), separators=("✿ARGS✿:",), special=True, many=True),
        ),
        write=NamedWriter(template="✿FUNCTION✿: {name}\n✿ARGS✿: {arguments}", close="\n✿RESULT✿"),
        result=ResultTemplate(open="✿RESULT✿: ", close="\n✿RETURN✿"),
        drops=("✿RESULT✿", "✿RETURN✿:"),
    ),
)
