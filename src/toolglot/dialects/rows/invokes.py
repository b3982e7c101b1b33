# ruff: noqa: RUF001 - the bars and gaps are what the models write
"""Elements named `invoke`: Claude, MiniMax, DSML and what imitates them."""

from dataclasses import replace
from typing import Final

from toolglot.dialects.dialect import Dialect, ResultTemplate
from toolglot.dialects.engines.channels import ChannelForm
from toolglot.dialects.engines.elements import ElementForm
from toolglot.dialects.engines.json_calls import JsonForm
from toolglot.dialects.engines.parameters import ParameterForm
from toolglot.dialects.rows.shared import (
    ATEM,
    DSML,
    DSML_STRAYS,
    END_OF_SENTENCE,
    dsml_writer,
    invoke,
)
from toolglot.dialects.writers import TaggedWriter

INVOKE: Final = (
    '<{0}invoke name="get_weather">\n<{0}parameter name="city">Oslo</{0}parameter>\n</{0}invoke>'
)
DSML_INVOKE: Final = INVOKE.format("｜DSML｜").replace('"city"', '"city" string="true"')
FUNCTION_RESULTS: Final = ResultTemplate(
    open="<function_results>\n<result>\n<tool_name>{name}</tool_name>\n<stdout>\n",
    close="\n</stdout>\n</result>\n</function_results>",
)

ROWS: Final = (
    Dialect(
        name="anthropic_invoke",
        models="Claude's own, and models that imitate it",
        example=f"<function_calls>\n{INVOKE.format('')}\n</function_calls>",
        forms=(
            invoke("", "function_calls"),
            invoke("antml:", "antml:function_calls"),
        ),
        result=FUNCTION_RESULTS,
        reasoning=(("<think>", "</think>"), ("<thinking>", "</thinking>")),
        strays=("</function_calls>", "</function_calls>", "</invoke>"),
    ),
    Dialect(
        name="anthropic_legacy",
        models="Claude 2.1",
        example="<function_calls>\n<invoke>\n<tool_name>get_weather</tool_name>\n<parameters>\n"
        "<city>Oslo</city>\n</parameters>\n</invoke>\n</function_calls>",
        forms=(
            ElementForm(
                openers=("<function_calls>",), closers=("</function_calls>",), inner="invoke"
            ),
        ),
        write=TaggedWriter(
            open="<function_calls>\n",
            head="<invoke>\n<tool_name>{name}</tool_name>\n<parameters>\n",
            parameter="<{key}>{value}</{key}>\n",
            tail="</parameters>\n</invoke>",
            close="\n</function_calls>",
        ),
        result=FUNCTION_RESULTS,
        strays=("</function_calls>",),
    ),
    Dialect(
        name="minimax_m2",
        models="MiniMax M2",
        example=f"<minimax:tool_call>\n{INVOKE.format('')}\n</minimax:tool_call>",
        forms=(invoke("", "minimax:tool_call"),),
        strays=("</minimax:tool_call>", "</invoke>"),
        drops=("[e~[",),
    ),
    Dialect(
        name="deepseek_v32",
        models="DeepSeek V3.2",
        example=f"<｜DSML｜function_calls>\n{DSML_INVOKE}\n</｜DSML｜function_calls>",
        forms=DSML,
        write=dsml_writer("function_calls"),
        strays=DSML_STRAYS,
        drops=END_OF_SENTENCE,
    ),
    Dialect(
        name="deepseek_v4",
        models="DeepSeek V4",
        example=f"<｜DSML｜tool_calls>\n{DSML_INVOKE}\n</｜DSML｜tool_calls>",
        forms=DSML,
        write=dsml_writer("tool_calls"),
        strays=DSML_STRAYS,
        drops=END_OF_SENTENCE,
        auto=False,
    ),
    Dialect(
        name="dots",
        models="rednote dots",
        example=f"<dots_function_call>{INVOKE.format('')}</dots_function_call>",
        forms=(
            invoke("", "dots_function_call"),
            JsonForm(openers=("<dots_function_call>",), closers=("</dots_function_call>",)),
        ),
        drops=("</dots_function_call>",),
    ),
    Dialect(
        name="step3",
        models="Step-3",
        example="<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜>"
        f"{INVOKE.format('steptml:')}<｜tool_call_end｜><｜tool_calls_end｜>",
        forms=(
            ParameterForm(
                openers=(
                    "<｜tool_calls_begin｜>",
                    "<｜tool_call_begin｜>",
                    "<steptml:invoke name=",
                ),
                call=("<steptml:invoke",),
                call_end=("</steptml:invoke>",),
                parameter=("<steptml:parameter",),
                parameter_end=("</steptml:parameter>",),
                closers=("<｜tool_calls_end｜>",),
                before=("<｜tool_call_begin｜>", "function<｜tool_sep｜>"),
                after=("<｜tool_call_end｜>",),
                special=True,
            ),
        ),
        write=replace(
            invoke("steptml:").writer(),
            open="<｜tool_calls_begin｜>",
            begin="<｜tool_call_begin｜>function<｜tool_sep｜>",
            between="",
            end="<｜tool_call_end｜>",
            close="<｜tool_calls_end｜>",
        ),
        strays=("<｜tool_calls_end｜>", "<｜tool_call_end｜>"),
    ),
    Dialect(
        name="xai_function_call",
        models="Grok 3, Grok 4",
        example='<xai:function_call name="get_weather">\n<parameter name="city">Oslo</parameter>\n'
        "</xai:function_call>",
        forms=(
            ParameterForm(
                openers=("<xai:function_call",),
                call=("<xai:function_call",),
                call_end=("</xai:function_call>",),
                parameter=("<parameter",),
                parameter_end=("</parameter>",),
            ),
        ),
        strays=("</xai:function_call>",),
    ),
    Dialect(
        name="minicpm5",
        models="MiniCPM 4.1 and 5",
        example='<function name="get_weather"><param name="city">Oslo</param></function>',
        forms=(
            ParameterForm(
                openers=("<function name=", "<functionname="),
                call=("<function",),
                call_end=("</function>",),
                parameter=("<param",),
                parameter_end=("</param>",),
            ),
        ),
        write=TaggedWriter(
            head='<function name="{name}">',
            parameter='<param name="{key}">{value}</param>',
            tail="</function>",
        ),
        strays=("</function>",),
    ),
    Dialect(
        name="muse_glimmer",
        models="Muse Glimmer",
        example=f" to=get_weather<|message|><atem:function_calls>\n{INVOKE.format('atem:')}\n"
        "</atem:function_calls><|eom|>",
        forms=tuple(
            ChannelForm(
                openers=openers,
                at=at,
                special=True,
                ends=("<|eom|>", "<|eot|>"),
                starts=("<|start|>assistant",),
                quotes=True,
                reasoning=frozenset({"self"}),
                words=frozenset({"user"}),
                body=(ATEM,),
            )
            for openers, at in (
                (("<|start|>assistant",), "any"),
                (("to=", " to=", "<|message|>"), "start"),
            )
        ),
        write=replace(
            ATEM.writer(),
            open=" to={name}<|message|><atem:function_calls>\n",
            close="\n</atem:function_calls><|eom|>",
        ),
        reasoning=(),
        drops=("<|eom|>", "<|eot|>"),
    ),
    Dialect(
        name="kimi_k3",
        models="Kimi K3",
        example='<|open|>tools<|sep|><|open|>call tool="get_weather" index="1"<|sep|>'
        '<|open|>argument key="city" type="string"<|sep|>Oslo<|close|>argument<|sep|>'
        "<|close|>call<|sep|><|close|>tools<|sep|>",
        forms=(
            ParameterForm(
                openers=("<|open|>tools<|sep|>",),
                special=True,
                call=("<|open|>call",),
                call_end=("<|close|>call<|sep|>",),
                parameter=("<|open|>argument",),
                parameter_end=("<|close|>argument<|sep|>",),
                closers=("<|close|>tools<|sep|>",),
                head_end="<|sep|>",
                implicit=False,
            ),
        ),
        write=TaggedWriter(
            open="<|open|>tools<|sep|>",
            head='<|open|>call tool="{name}" index="{index}"<|sep|>',
            parameter='<|open|>argument key="{key}" type="{type}"<|sep|>{value}'
            "<|close|>argument<|sep|>",
            tail="<|close|>call<|sep|>",
            between="",
            close="<|close|>tools<|sep|>",
        ),
        reasoning=(("<|open|>think<|sep|>", "<|close|>think<|sep|>"),),
        begins=("<|open|>response<|sep|>", "<|close|>response<|sep|>"),
        drops=(
            "<|open|>response<|sep|>",
            "<|close|>response<|sep|>",
            "<|end_of_msg|>",
            "<|close|>message<|sep|>",
        ),
    ),
)
