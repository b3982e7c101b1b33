# ruff: noqa: RUF001 - the bars and gaps are what the models write
"""How each dialect is written: a writer for calls, and a template for results."""

from dataclasses import dataclass, replace
from typing import Final

from toolglot.dialects.writers import (
    GemmaWriter,
    JsonWriter,
    NamedWriter,
    PythonWriter,
    TaggedWriter,
    TreeWriter,
    Writer,
)

# --- calls ----------------------------------------------------------------------------------------

_HERMES: Final = JsonWriter(begin="<tool_call>\n", end="\n</tool_call>")
_TOOL_CALL: Final = JsonWriter(begin="<tool_call>", end="</tool_call>")
_QWEN: Final = TaggedWriter(
    begin="<tool_call>\n",
    head="<function={name}>\n",
    parameter="<parameter={key}>\n{value}\n</parameter>\n",
    tail="</function>",
    end="\n</tool_call>",
)
_GLM45: Final = TaggedWriter(
    begin="<tool_call>",
    head="{name}\n",
    parameter="<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n",
    end="</tool_call>",
    plain=False,
    trimmed=False,
)
_GLM47: Final = replace(
    _GLM45, head="{name}", parameter="<arg_key>{key}</arg_key><arg_value>{value}</arg_value>"
)
_FUNCTION: Final = NamedWriter(template="<function={name}>{arguments}</function>")


def _array(opener: str, closer: str) -> JsonWriter:
    return JsonWriter(open=f"{opener}[", between=", ", close=f"]{closer}")


def _invoke(wrapper: str = "", prefix: str = "", said: str = "") -> TaggedWriter:
    return TaggedWriter(
        open=f"<{wrapper}>\n" if wrapper else "",
        head=f'<{prefix}invoke name="{{name}}">\n',
        parameter=f'<{prefix}parameter name="{{key}}"{said}>{{value}}</{prefix}parameter>\n',
        tail=f"</{prefix}invoke>",
        close=f"\n</{wrapper}>" if wrapper else "",
    )


def _dsml(word: str) -> TaggedWriter:
    return _invoke(f"｜DSML｜{word}", "｜DSML｜", ' string="{string}"')


def _python(opener: str = "", closer: str = "", between: str = ", ") -> PythonWriter:
    return PythonWriter(open=opener, between=between, close=closer)


_COHERE: Final = replace(
    _array("<|START_ACTION|>", "<|END_ACTION|>"),
    id="tool_call_id",
    name="tool_name",
    arguments="parameters",
)
_NAMESPACE: Final = "]<]minimax[>["

WRITERS: Final[dict[str, Writer]] = {
    "hermes": _HERMES,
    "granite4": _TOOL_CALL,
    "trinity": _TOOL_CALL,
    "ernie45": _HERMES,
    "hermes_lenient": _HERMES,
    "qwen_agent_code": _HERMES,
    "longcat": JsonWriter(begin="<longcat_tool_call>", end="</longcat_tool_call>"),
    "lmstudio": JsonWriter(begin="[TOOL_REQUEST]", end="[END_TOOL_REQUEST]"),
    "xai_tool_call": JsonWriter(begin="<x.ai:tool_call>", end="</x.ai:tool_call>"),
    "nemotron_deci": _array("<TOOLCALL>", "</TOOLCALL>"),
    "granite_20b_fc": JsonWriter(begin="<function_call> "),
    "jamba": _array("<tool_calls>", "</tool_calls>"),
    "hunyuan_a13b": _array("<tool_calls>", "</tool_calls>"),
    "minimax_m1": JsonWriter(open="<tool_calls>\n", close="\n</tool_calls>"),
    "apriel": _array("<tool_calls>", "</tool_calls>"),
    "llama3_custom": _FUNCTION,
    "qwen3_coder": _QWEN,
    "nemotron_v3": _QWEN,
    "step3p5": _QWEN,
    "mimo": replace(_QWEN, escaped=True),
    "seed_oss": replace(_QWEN, begin="<seed:tool_call>\n", end="\n</seed:tool_call>"),
    "functionary_v31": replace(_FUNCTION, close="<|eom_id|>"),
    "glm45": _GLM45,
    "glm47": _GLM47,
    "ling3": _GLM47,
    "poolside_v1": _GLM45,
    "hy_v3": replace(
        _GLM47, open="<tool_calls>", head="{name}<tool_sep>", between="", close="</tool_calls>"
    ),
    "anthropic_invoke": _invoke("function_calls"),
    "anthropic_legacy": TaggedWriter(
        open="<function_calls>\n",
        head="<invoke>\n<tool_name>{name}</tool_name>\n<parameters>\n",
        parameter="<{key}>{value}</{key}>\n",
        tail="</parameters>\n</invoke>",
        close="\n</function_calls>",
    ),
    "minimax_m2": _invoke("minimax:tool_call"),
    "deepseek_v32": _dsml("function_calls"),
    "deepseek_v4": _dsml("tool_calls"),
    "dots": _invoke("dots_function_call"),
    "step3": replace(
        _invoke(prefix="steptml:"),
        open="<｜tool_calls_begin｜>",
        begin="<｜tool_call_begin｜>function<｜tool_sep｜>",
        between="",
        end="<｜tool_call_end｜>",
        close="<｜tool_calls_end｜>",
    ),
    "xai_function_call": replace(
        _invoke(), head='<xai:function_call name="{name}">\n', tail="</xai:function_call>"
    ),
    "minicpm5": replace(
        _invoke(),
        head='<function name="{name}">',
        parameter='<param name="{key}">{value}</param>',
        tail="</function>",
    ),
    "muse_glimmer": replace(
        _invoke("atem:function_calls", "atem:"),
        open=" to={name}<|message|><atem:function_calls>\n",
        close="\n</atem:function_calls><|eom|>",
        plain=False,
    ),
    "kimi_k3": TaggedWriter(
        open="<|open|>tools<|sep|>",
        head='<|open|>call tool="{name}" index="{index}"<|sep|>',
        parameter='<|open|>argument key="{key}" type="{type}"<|sep|>{value}'
        "<|close|>argument<|sep|>",
        tail="<|close|>call<|sep|>",
        between="",
        close="<|close|>tools<|sep|>",
    ),
    "deepseek_v31": NamedWriter(
        open="<｜tool▁calls▁begin｜>",
        template="<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{arguments}<｜tool▁call▁end｜>",
        between="",
        close="<｜tool▁calls▁end｜>",
    ),
    "deepseek_v3": NamedWriter(
        open="<｜tool▁calls▁begin｜>",
        template="<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{arguments}\n```"
        "<｜tool▁call▁end｜>",
        close="<｜tool▁calls▁end｜>",
    ),
    "kimi_k2": NamedWriter(
        open="<|tool_calls_section_begin|>",
        template="<|tool_call_begin|>{number}<|tool_call_argument_begin|>{arguments}"
        "<|tool_call_end|>",
        between="",
        close="<|tool_calls_section_end|>",
    ),
    "mistral": NamedWriter(template="[TOOL_CALLS]{name}[ARGS]{arguments}", between=""),
    "inkling": JsonWriter(
        begin="<|content_invoke_tool_json|>",
        end="<|end_message|>",
        between="<|message_model|>",
        arguments="args",
    ),
    "internlm2": JsonWriter(
        begin="<|action_start|><|plugin|>", end="<|action_end|>", arguments="parameters"
    ),
    "phi4_mini": _array("functools", ""),
    "firefunction_v2": _array("functools", ""),
    "granite": _array("<|tool_call|> ", ""),
    "apertus": replace(_array("<|tools_prefix|>", "<|tools_suffix|>"), keyed=True),
    "cohere_command3": _COHERE,
    "cohere_command4": _COHERE,
    "command_r_plus": replace(
        _array("Action:\n```json\n", "\n```"), name="tool_name", arguments="parameters"
    ),
    "gigachat3": JsonWriter(begin="<|function_call|>"),
    "functionary_v2": NamedWriter(
        template="{name}\n<|content|>{arguments}",
        between="\n<|from|>assistant\n<|recipient|>",
        close="<|stop|>",
    ),
    "sarashina": _array("<|tool_calls|>", ""),
    "lfm2": _python("<|tool_call_start|>[", "]<|tool_call_end|>"),
    "minicpm3": _python("<|tool_call_start|>\n```python\n", "\n```\n<|tool_call_end|>", "\n"),
    "olmo3": _python("<function_calls>", "</function_calls>", "\n"),
    "llama4_pythonic": _python("<|python_start|>[", "]<|python_end|>"),
    "tool_code": _python("```tool_code\n", "\n```", "\n"),
    "nexus_raven": _python("Call: ", "<bot_end>", "; "),
    "gorilla_openfunctions": PythonWriter(begin="<<function>>", between="\n\n"),
    "gemma4": GemmaWriter(begin="<|tool_call>", end="<tool_call|>", quote='<|"|>', between=""),
    "minimax_m3": TreeWriter(
        open=f"{_NAMESPACE}<tool_call>",
        between="",
        close=f"{_NAMESPACE}</tool_call>",
        token=_NAMESPACE,
    ),
    "functiongemma": GemmaWriter(
        begin="<start_function_call>", end="<end_function_call>", quote="<escape>", between=""
    ),
    "harmony": NamedWriter(
        template="<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>"
        "{arguments}<|call|>",
        between="<|start|>assistant",
    ),
    "xml_id_name_args": NamedWriter(
        template="<tool_call><id>{id}</id><name>{name}</name>"
        "<arguments>{arguments}</arguments></tool_call>"
    ),
    "langchain_xml": NamedWriter(
        template="<tool>{name}</tool>\n<tool_input>{arguments}</tool_input>"
    ),
    "generic_tool_xml": TaggedWriter(
        head='<tool name="{name}">\n',
        parameter="<{key}>{value}</{key}>\n",
        tail="</tool>",
        escaped=True,
    ),
    "bracket_calling": NamedWriter(template="[Calling tool: {name}({arguments})]"),
    "qwen_agent": NamedWriter(
        template="✿FUNCTION✿: {name}\n✿ARGS✿: {arguments}", close="\n✿RESULT✿"
    ),
    "openai_json": replace(_array('{"tool_calls": ', "}"), nested=True, id="id"),
    "llama3_json": JsonWriter(open="<|python_tag|>", between="; ", arguments="parameters"),
    "functionary_v32": NamedWriter(template="{name}\n{arguments}", between=">>>"),
    "glm4_legacy": NamedWriter(template="{name}\n{arguments}", between="<|assistant|>"),
    "json_bare": JsonWriter(),
    "json_array_bare": _array("", ""),
    "xlam": _array("", ""),
    "pythonic": _python("[", "]"),
    "json_fence": JsonWriter(begin="```json\n", end="\n```"),
    "cline_xml": TaggedWriter(
        head="<{name}>\n", parameter="<{key}>{value}</{key}>\n", tail="</{name}>", whole=False
    ),
    "react": NamedWriter(template="Action: {name}\nAction Input: {arguments}"),
}

# --- results --------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ResultRow:
    """How a result is told: what stands before and after it, with `{name}` and `{id}`."""

    open: str
    close: str = ""
    raw: bool = True
    """Whether the text stands as it is; otherwise in a JSON object with the name of the tool."""
    mark: str = ""
    """What would end the text; by default what stands after it."""


_RESPONSE: Final = ResultRow(open="<tool_response>\n", close="\n</tool_response>", raw=False)
_RESULTS: Final = ResultRow(
    open="<function_results>\n<result>\n<tool_name>{name}</tool_name>\n<stdout>\n",
    close="\n</stdout>\n</result>\n</function_results>",
)

RESULTS: Final[dict[str, ResultRow]] = {
    "anthropic_invoke": _RESULTS,
    "anthropic_legacy": _RESULTS,
    "bracket_calling": ResultRow(open="[Result of tool: {name}]\n", close="\n[End of result]"),
    "cohere_command3": ResultRow(
        open="<|START_TOOL_RESULT|>", close="<|END_TOOL_RESULT|>", raw=False
    ),
    "cohere_command4": ResultRow(
        open="<|START_TOOL_RESULT|>", close="<|END_TOOL_RESULT|>", raw=False
    ),
    "functiongemma": ResultRow(
        open="<start_function_response>response:{name}{{output:<escape>",
        close="<escape>}}<end_function_response>",
        mark="<escape>",
    ),
    "gemma4": ResultRow(
        open='<|tool_response>response:{name}{{output:<|"|>',
        close='<|"|>}}<tool_response|>',
        mark='<|"|>',
    ),
    "kimi_k2": ResultRow(open="## Return of functions.{name}\n"),
    "langchain_xml": ResultRow(open="<observation>", close="</observation>"),
    "mistral": ResultRow(open="[TOOL_RESULTS]", close="[/TOOL_RESULTS]", raw=False),
    "qwen_agent": ResultRow(open="✿RESULT✿: ", close="\n✿RETURN✿"),
    "react": ResultRow(open="Observation: "),
    "tool_code": ResultRow(open="```tool_output\n", close="\n```"),
}
"""The dialects that tell results in their own way; all others as Hermes does."""


def result_row(dialect: str) -> ResultRow:
    """How results are told in a dialect."""
    return RESULTS.get(dialect, _RESPONSE)
