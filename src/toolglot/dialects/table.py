# ruff: noqa: RUF001 - the bars and gaps are what the models write
"""The dialects: one row each, over the engines of this package.

The order settles which dialect a text is in when several could have written it.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from toolglot.dialects.channels import ChannelForm, SkipForm
from toolglot.dialects.elements import ElementForm, NameTagForm
from toolglot.dialects.gemma import GemmaForm
from toolglot.dialects.json_calls import JsonForm
from toolglot.dialects.named_json import NamedForm
from toolglot.dialects.namespaced import NamespacedForm
from toolglot.dialects.pairs import PairForm
from toolglot.dialects.parameters import ParameterForm
from toolglot.dialects.pythonic import PythonForm
from toolglot.dialects.react import ReactForm
from toolglot.dialects.scan import Dialect

_TOOL_CALL: Final = ("</tool_call>",)

# --- forms that several dialects share ------------------------------------------------------------

_HERMES: Final = JsonForm(openers=("<tool_call>",), closers=_TOOL_CALL, between=",\n ")
_QWEN: Final = ParameterForm(
    openers=("<tool_call>", "<function=", "<function name="),
    call=("<function",),
    call_end=("</function>",),
    parameter=("<parameter",),
    parameter_end=("</parameter>",),
    closers=_TOOL_CALL,
    before=("<tool_call>",),
)
_GLM: Final = PairForm(openers=("<tool_call>",))
_FUNCTION_JSON: Final = NamedForm(
    openers=("<function=",), separators=(">",), end=("</function>", "<|eom_id|>", "<|eot_id|>")
)
_ARRAY_TAG: Final = JsonForm(openers=("<tool_calls>",), closers=("</tool_calls>",), between="\n,")
_PYTHON_LIST: Final = PythonForm(openers=("[",), at="loose", bare=True)
_BARE_OBJECT: Final = JsonForm(
    openers=("{",), at="start", bare=True, keeps_opener=True, needs_arguments=True, between=";,\n"
)
_BARE_ANYWHERE: Final = JsonForm(
    openers=("{",), at="loose", bare=True, keeps_opener=True, needs_arguments=True, between=";,\n"
)
_BARE_ARRAY: Final = JsonForm(
    openers=("[",), at="start", bare=True, keeps_opener=True, needs_arguments=True
)
_FENCE: Final = JsonForm(
    openers=("```json", "```tool_call", "```tool_calls", "```"),
    at="line",
    bare=True,
    special=True,
    closers=("```",),
    needs_arguments=True,
    must_close=True,
)


def _invoke(prefix: str, *wrappers: str, plain: bool = True) -> ParameterForm:
    return ParameterForm(
        openers=(*(f"<{each}>" for each in wrappers), f"<{prefix}invoke name="),
        call=(f"<{prefix}invoke",),
        call_end=(f"</{prefix}invoke>",),
        parameter=(f"<{prefix}parameter",),
        parameter_end=(f"</{prefix}parameter>",),
        closers=tuple(f"</{each}>" for each in wrappers),
        before=tuple(f"<{each}>" for each in wrappers),
        plain=plain,
        special="｜" in prefix,
    )


_ATEM: Final = replace(_invoke("atem:", "atem:function_calls", plain=False), noise=("<|message|>",))
_BARS: Final = ("｜DSML｜", "|DSML|", "‖DSML‖", "｜｜DSML｜｜")
_DSML: Final = tuple(_invoke(bars, f"{bars}function_calls", f"{bars}tool_calls") for bars in _BARS)
_DSML_STRAYS: Final = tuple(
    f"</{bars}{word}>" for bars in _BARS for word in ("invoke", "function_calls", "tool_calls")
)
_END_OF_SENTENCE: Final = ("<｜end▁of▁sentence｜>", "<|end▁of▁sentence|>")


def _deepseek(begin: str, call: str, sep: str, call_end: str, end: str) -> NamedForm:
    return NamedForm(
        openers=(begin, call),
        special=True,
        begin=(call,),
        separators=(sep,),
        end=(call_end,),
        close=(end,),
        headed=True,
        must_end=True,
    )


_DEEPSEEK: Final = tuple(
    _deepseek(
        *(
            f"<{bar}tool{gap}{word}{bar}>"
            for word in (
                f"calls{gap}begin",
                f"call{gap}begin",
                "sep",
                f"call{gap}end",
                f"calls{gap}end",
            )
        )
    )
    for bar in "｜|"
    for gap in "▁_ "
)
_DEEPSEEK_STRAYS: Final = ("<｜tool▁calls▁end｜>", "<｜tool▁call▁end｜>")
_MISTRAL_NAMED: Final = NamedForm(
    openers=("[TOOL_CALLS]",),
    separators=("[ARGS]",),
    ids=("[CALL_ID]",),
    object_ends_name=True,
    special=True,
    empty=True,
)
_MISTRAL_ARRAY: Final = JsonForm(
    openers=("[TOOL_CALLS]",), closers=("[/TOOL_CALLS]",), special=True, between="\n,"
)
_ACTION: Final = JsonForm(
    openers=("Action:",), at="line", before=("```json", "```"), closers=("```",), must_close=True
)


def _rows() -> Iterator[Dialect]:
    yield from _tagged()
    yield from _elements()
    yield from _tokens()
    yield from _python()
    yield from _others()
    yield from _bare()


def _tagged() -> Iterator[Dialect]:
    weather = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
    yield Dialect(
        name="hermes",
        models="Hermes, Qwen2.5, Qwen3, SmolLM3 and many fine-tunes",
        example=f"<tool_call>\n{weather}\n</tool_call>",
        forms=(_HERMES,),
        strays=_TOOL_CALL,
        drops=("<|im_end|>",),
    )
    for name, models in (("granite4", "Granite 4"), ("trinity", "Arcee Trinity")):
        yield Dialect(
            name=name,
            models=models,
            example=f"<tool_call>{weather}</tool_call>",
            forms=(_HERMES,),
            strays=_TOOL_CALL,
            auto=False,
        )
    yield Dialect(
        name="ernie45",
        models="ERNIE 4.5 Thinking",
        example=f"<tool_call>\n{weather}\n</tool_call>\n",
        forms=(_HERMES,),
        strays=_TOOL_CALL,
        drops=("<response>", "</response>"),
        auto=False,
    )
    loose = (("<tools>", "</tools>"), ("<response>", "</response>"), ("<json>", "</json>"))
    yield Dialect(
        name="hermes_lenient",
        models="small Qwen2.5 and Hermes fine-tunes",
        example='<function name="get_weather">{"city": "Oslo"}</function>',
        forms=(
            _HERMES,
            _QWEN,
            *(
                JsonForm(openers=(opener,), closers=(closer,), needs_arguments=True)
                for opener, closer in (*loose, ("<JSON>", "</JSON>"), ("<xml>", "</xml>"))
            ),
            _FENCE,
            _BARE_OBJECT,
        ),
        strays=_TOOL_CALL,
        auto=False,
    )
    yield Dialect(
        name="qwen_agent_code",
        models="Qwen3 with the code interpreter of Qwen-Agent",
        example='<tool_call>\n{"name": "code_interpreter", "arguments": {"code": ""}}\n<code>\n'
        "1 + 1\n</code>\n</tool_call>",
        forms=(_HERMES,),
        strays=_TOOL_CALL,
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
        forms=(_ARRAY_TAG,),
        strays=("</tool_calls>",),
    )
    yield Dialect(
        name="hunyuan_a13b",
        models="Hunyuan A13B",
        example=f"<tool_calls>[{weather}]</tool_calls>",
        forms=(_ARRAY_TAG,),
        strays=("</tool_calls>",),
        drops=("<answer>", "</answer>"),
        interrupts=False,
        auto=False,
    )
    yield Dialect(
        name="minimax_m1",
        models="MiniMax M1",
        example=f"<tool_calls>\n{weather}\n</tool_calls>",
        forms=(_ARRAY_TAG,),
        strays=("</tool_calls>",),
        interrupts=False,
        auto=False,
    )
    yield Dialect(
        name="apriel",
        models="Apriel Thinker",
        example=f"<tool_calls>[{weather}]</tool_calls>",
        forms=(_ARRAY_TAG,),
        strays=("</tool_calls>",),
        reasoning=(("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"),),
        drops=("<|end|>",),
        auto=False,
    )


def _elements() -> Iterator[Dialect]:
    body = "<parameter=city>\nOslo\n</parameter>\n</function>\n"
    qwen = f"<tool_call>\n<function=get_weather>\n{body}</tool_call>"
    yield Dialect(
        name="llama3_custom",
        models="Llama 3.1 with custom tools in its prompt",
        example='<function=get_weather>{"city": "Oslo"}</function>',
        forms=(_FUNCTION_JSON,),
        drops=("<|eom_id|>", "<|eot_id|>"),
        strays=("</function>",),
    )
    yield Dialect(
        name="qwen3_coder",
        models="Qwen3-Coder, Qwen3.5 and later",
        example=qwen,
        forms=(_QWEN, _HERMES),
        strays=("</tool_call>", "</function>"),
        drops=("<|im_end|>",),
    )
    for name, models in (("nemotron_v3", "Nemotron 3 Nano"), ("step3p5", "Step-3.5-Flash")):
        yield Dialect(
            name=name,
            models=models,
            example=qwen,
            forms=(_QWEN,),
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
                openers=_QWEN.openers,
                call=_QWEN.call,
                call_end=_QWEN.call_end,
                parameter=_QWEN.parameter,
                parameter_end=_QWEN.parameter_end,
                closers=_TOOL_CALL,
                before=_QWEN.before,
                escaped=True,
            ),
        ),
        strays=_TOOL_CALL,
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
        forms=(_FUNCTION_JSON,),
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
            forms=(_GLM, _HERMES),
            strays=_TOOL_CALL,
            auto=name == "glm45",
        )
    yield Dialect(
        name="poolside_v1",
        models="Poolside Laguna",
        example=f"<tool_call>get_weather\n{glm.format(chr(10))}",
        forms=(
            _GLM,
            _HERMES,
            PairForm(openers=("<user>",), call="user"),
            JsonForm(openers=("<user>",), closers=("</user>",), must_close=True),
        ),
        strays=_TOOL_CALL,
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
    yield from _invokes()


def _invokes() -> Iterator[Dialect]:
    body = (
        '<{0}invoke name="get_weather">\n<{0}parameter name="city">Oslo</{0}parameter>\n'
        "</{0}invoke>"
    )
    yield Dialect(
        name="anthropic_invoke",
        models="Claude's own, and models that imitate it",
        example=f"<function_calls>\n{body.format('')}\n</function_calls>",
        forms=(
            _invoke("", "function_calls"),
            _invoke("antml:", "antml:function_calls"),
        ),
        reasoning=(("<think>", "</think>"), ("<thinking>", "</thinking>")),
        strays=("</function_calls>", "</function_calls>", "</invoke>"),
    )
    yield Dialect(
        name="anthropic_legacy",
        models="Claude 2.1",
        example="<function_calls>\n<invoke>\n<tool_name>get_weather</tool_name>\n<parameters>\n"
        "<city>Oslo</city>\n</parameters>\n</invoke>\n</function_calls>",
        forms=(
            ElementForm(
                openers=("<function_calls>",), closers=("</function_calls>",), inner="invoke"
            ),
        ),
        strays=("</function_calls>",),
    )
    yield Dialect(
        name="minimax_m2",
        models="MiniMax M2",
        example=f"<minimax:tool_call>\n{body.format('')}\n</minimax:tool_call>",
        forms=(_invoke("", "minimax:tool_call"),),
        strays=("</minimax:tool_call>", "</invoke>"),
        drops=("[e~[",),
    )
    for name, models, word in (
        ("deepseek_v32", "DeepSeek V3.2", "function_calls"),
        ("deepseek_v4", "DeepSeek V4", "tool_calls"),
    ):
        inner = body.format("｜DSML｜").replace('"city"', '"city" string="true"')
        yield Dialect(
            name=name,
            models=models,
            example=f"<｜DSML｜{word}>\n{inner}\n</｜DSML｜{word}>",
            forms=_DSML,
            strays=_DSML_STRAYS,
            drops=_END_OF_SENTENCE,
            auto=name == "deepseek_v32",
        )
    yield Dialect(
        name="dots",
        models="rednote dots",
        example=f"<dots_function_call>{body.format('')}</dots_function_call>",
        forms=(
            _invoke("", "dots_function_call"),
            JsonForm(openers=("<dots_function_call>",), closers=("</dots_function_call>",)),
        ),
        drops=("</dots_function_call>",),
    )
    yield Dialect(
        name="step3",
        models="Step-3",
        example="<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜>"
        f"{body.format('steptml:')}<｜tool_call_end｜><｜tool_calls_end｜>",
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
        strays=("<｜tool_calls_end｜>", "<｜tool_call_end｜>"),
    )
    yield Dialect(
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
    )
    yield Dialect(
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
        strays=("</function>",),
    )
    atem = body.format("atem:")
    yield Dialect(
        name="muse_glimmer",
        models="Muse Glimmer",
        example=f" to=get_weather<|message|><atem:function_calls>\n{atem}\n"
        "</atem:function_calls><|eom|>",
        forms=tuple(
            ChannelForm(
                openers=openers,
                at=at,
                special=True,
                ends=("<|eom|>", "<|eot|>"),
                reasoning=frozenset({"self"}),
                words=frozenset({"user"}),
                body=(_ATEM,),
            )
            for openers, at in (
                (("<|start|>assistant",), "any"),
                (("to=", " to=", "<|message|>"), "start"),
            )
        ),
        reasoning=(),
        drops=("<|eom|>", "<|eot|>"),
    )
    yield Dialect(
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
        reasoning=(("<|open|>think<|sep|>", "<|close|>think<|sep|>"),),
        drops=(
            "<|open|>response<|sep|>",
            "<|close|>response<|sep|>",
            "<|end_of_msg|>",
            "<|close|>message<|sep|>",
        ),
    )


def _tokens() -> Iterator[Dialect]:
    weather = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
    city = '{"city": "Oslo"}'
    yield Dialect(
        name="deepseek_v31",
        models="DeepSeek V3.1",
        example="<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>"
        f"{city}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        forms=_DEEPSEEK,
        drops=_END_OF_SENTENCE,
        strays=_DEEPSEEK_STRAYS,
    )
    yield Dialect(
        name="deepseek_v3",
        models="DeepSeek V2.5, V3, R1",
        example="<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n"
        f"```json\n{city}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        forms=_DEEPSEEK,
        drops=_END_OF_SENTENCE,
        strays=_DEEPSEEK_STRAYS,
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
        forms=(_MISTRAL_ARRAY, _MISTRAL_NAMED),
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
            _BARE_ARRAY,
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
        forms=(JsonForm(openers=("<|tool_calls|>",), special=True), _BARE_ARRAY),
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
        forms=(_ACTION,),
        drops=("<|END_OF_TURN_TOKEN|>", "<|CHATBOT_TOKEN|>", "<|START_OF_TURN_TOKEN|>"),
        auto=False,
    )


def _python() -> Iterator[Dialect]:
    call = "get_weather(city='Oslo')"
    yield Dialect(
        name="lfm2",
        models="LFM2, LFM2.5",
        example=f"<|tool_call_start|>[{call}]<|tool_call_end|>",
        forms=(
            PythonForm(
                openers=("<|tool_call_start|>",),
                special=True,
                closers=("<|tool_call_end|>",),
                fenced=True,
            ),
            JsonForm(
                openers=("<|tool_call_start|>",), special=True, closers=("<|tool_call_end|>",)
            ),
            PythonForm(openers=("[",), at="start", bare=True),
        ),
        drops=("<|im_end|>",),
        strays=("<|tool_call_end|>",),
    )
    yield Dialect(
        name="minicpm3",
        models="MiniCPM3",
        example=f"<|tool_call_start|>\n```python\n{call}\n```\n<|tool_call_end|>",
        forms=(
            PythonForm(
                openers=("<|tool_call_start|>",),
                special=True,
                closers=("<|tool_call_end|>",),
                fenced=True,
            ),
        ),
        reasoning=(("<|thought_start|>", "<|thought_end|>"),),
        auto=False,
    )
    yield Dialect(
        name="olmo3",
        models="OLMo 3",
        example=f"<function_calls>{call}</function_calls>",
        forms=(PythonForm(openers=("<function_calls>",), closers=("</function_calls>",)),),
        strays=("</function_calls>",),
    )
    yield Dialect(
        name="llama4_pythonic",
        models="Llama 4",
        example=f"<|python_start|>[{call}]<|python_end|>",
        forms=(
            PythonForm(openers=("<|python_start|>",), special=True, closers=("<|python_end|>",)),
            JsonForm(openers=("<|python_start|>",), special=True, closers=("<|python_end|>",)),
            _PYTHON_LIST,
            _BARE_OBJECT,
        ),
        drops=("<|eom_id|>", "<|eot_id|>"),
        strays=("<|python_end|>",),
    )
    yield Dialect(
        name="tool_code",
        models="Gemma 2 and 3, Gemini",
        example=f"```tool_code\n{call}\n```",
        forms=(
            PythonForm(
                openers=("```tool_code",),
                at="line",
                special=True,
                bare=True,
                closers=("```",),
                prints=True,
            ),
        ),
    )
    yield Dialect(
        name="nexus_raven",
        models="NexusRaven v2",
        example=f"Call: {call}<bot_end>",
        forms=(PythonForm(openers=("Call:",), at="line", closers=("<bot_end>",)),),
        auto=False,
    )
    yield Dialect(
        name="gorilla_openfunctions",
        models="Gorilla OpenFunctions",
        example=f"<<function>>{call}",
        forms=(PythonForm(openers=("<<function>>",), closers=("<<function>>", "\n\n")),),
        auto=False,
    )


def _others() -> Iterator[Dialect]:
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
        forms=(ElementForm(openers=("<tool_call>",), closers=_TOOL_CALL),),
        strays=_TOOL_CALL,
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


def _bare() -> Iterator[Dialect]:
    yield Dialect(
        name="openai_json",
        models="models that copy API payloads",
        example='{"tool_calls": [{"id": "a1", "type": "function", "function": '
        '{"name": "get_weather", "arguments": "{}"}}]}',
        forms=(JsonForm(openers=("{",), at="start", keeps_opener=True, envelope=True),),
    )
    yield Dialect(
        name="llama3_json",
        models="Llama 3.1 to 3.3",
        example='<|python_tag|>{"name": "get_weather", "parameters": {"city": "Oslo"}}',
        forms=(
            JsonForm(openers=("<|python_tag|>",), special=True, starts="{", between=";,\n"),
            JsonForm(
                openers=("<|python_start|>",),
                special=True,
                starts="{",
                between=";,\n",
                closers=("<|python_end|>",),
            ),
            PythonForm(
                openers=("<|python_tag|>",),
                special=True,
                closers=("<|eom_id|>", "<|eot_id|>"),
                suffix=".call",
            ),
            _BARE_ANYWHERE,
        ),
        drops=("<|eom_id|>", "<|eot_id|>"),
    )
    yield Dialect(
        name="functionary_v32",
        models="Functionary v3.2",
        example='get_weather\n{"city": "Oslo"}',
        forms=tuple(
            NamedForm(
                openers=(opener,),
                at=at,
                separators=("\n",),
                end=("<|eot_id|>",),
                nobody="all",
                code="python",
            )
            for opener, at in ((">>>", "any"), ("", "begin"))
        ),
        drops=(">>>all\n", "<|eot_id|>"),
        auto=False,
    )
    yield Dialect(
        name="glm4_legacy",
        models="GLM-4 of 2024",
        example='get_weather\n{"city": "Oslo"}',
        forms=tuple(
            NamedForm(openers=(opener,), at=at, separators=("\n",), special=True)
            for opener, at in (("<|assistant|>", "any"), ("", "begin"))
        ),
        auto=False,
    )
    yield Dialect(
        name="json_bare",
        models="small models",
        example='{"name": "get_weather", "arguments": {"city": "Oslo"}}',
        forms=(_BARE_OBJECT,),
    )
    yield Dialect(
        name="json_array_bare",
        models="small models",
        example='[{"name": "get_weather", "arguments": {"city": "Oslo"}}]',
        forms=(_BARE_ARRAY,),
    )
    yield Dialect(
        name="xlam",
        models="xLAM",
        example='[{"name": "get_weather", "arguments": {"city": "Oslo"}}]',
        forms=(_BARE_ARRAY, _FENCE, _MISTRAL_ARRAY, _HERMES),
        auto=False,
    )
    yield Dialect(
        name="pythonic",
        models="Llama 3.2, ToolACE",
        example="[get_weather(city='Oslo')]",
        forms=(_PYTHON_LIST,),
        drops=("<|eom_id|>", "<|eot_id|>"),
    )
    yield Dialect(
        name="json_fence",
        models="any model when prompted so",
        example='```json\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n```',
        forms=(_FENCE,),
        auto=False,
    )
    yield Dialect(
        name="cline_xml",
        models="any model in Cline, Roo and Kilo",
        example="<get_weather>\n<city>Oslo</city>\n</get_weather>",
        forms=(NameTagForm(),),
        reasoning=(("<thinking>", "</thinking>"),),
        auto=False,
    )
    yield Dialect(
        name="react",
        models="any model in ReAct agents",
        example='Thought: look\nAction: get_weather\nAction Input: {"city": "Oslo"}\nObservation:',
        forms=(
            ReactForm(openers=("Action",), at="line"),
            _ACTION,
        ),
        reasoning=(("Thought:", "\n"),),
        drops=("Final Answer:",),
        auto=False,
    )


DIALECTS: Final = {row.name: row for row in _rows()}
