# ruff: noqa: RUF001 - the bars and gaps are what the models write
"""Texts for every dialect and what is in them: hand-made where there are any, else rendered."""

import json
from typing import Any, NamedTuple

from toolglot.dialects.rendering import render_calls
from toolglot.dialects.table import DIALECTS
from toolglot.dialects.text import parse_text

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "note_tide",
            "parameters": {
                "type": "object",
                "properties": {
                    "port": {"type": "string"},
                    "hours": {"type": "integer"},
                    "loud": {"type": "boolean"},
                },
                "required": ["port"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "ring_bell",
            "parameters": {"type": "object", "properties": {"times": {"type": "integer"}}},
        },
    },
    {
        "type": "function",
        "function": {
            "name": "look_up",
            "parameters": {
                "type": "object",
                "properties": {"query": {"type": "string"}},
                "required": ["query"],
            },
        },
    },
]

TIDE = ("note_tide", {"port": '00123 <b> & "q"', "hours": 12345678901234567890, "loud": True})
BELL = ("ring_bell", {"times": 2})
LOOK = ("look_up", {"query": "moon phase"})
BOTH = [TIDE, BELL]


class Sample(NamedTuple):
    """A text, and what is in it."""

    text: str
    calls: list[tuple[str, dict[str, Any]]]
    content: str = ""
    reasoning: str = ""
    ids: list[str] | None = None
    thinking: bool = False


def _json(call: tuple[str, dict[str, Any]], name: str = "name", args: str = "arguments") -> str:
    return json.dumps({name: call[0], args: call[1]})


def _args(call: tuple[str, dict[str, Any]]) -> str:
    return json.dumps(call[1])


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _array(*calls: tuple[str, dict[str, Any]], **words: str) -> str:
    return "[" + ", ".join(_json(call, **words) for call in calls) + "]"


def _python(call: tuple[str, dict[str, Any]]) -> str:
    return f"{call[0]}({', '.join(f'{key}={value!r}' for key, value in call[1].items())})"


def _tags(call: tuple[str, dict[str, Any]], head: str, parameter: str, tail: str) -> str:
    """A call with a template for each of its parameters."""
    body = "".join(parameter.format(key=k, value=_text(v)) for k, v in call[1].items())
    return head.format(name=call[0]) + body + tail


def _each(opener: str, closer: str, *, before: str = "Here goes.\n", after: str = "") -> Sample:
    text = f"{opener}{_json(TIDE)}{closer}\n{opener}{_json(BELL)}{closer}{after}"
    return Sample(before + text, BOTH, f"{before}\n{after}")


def _list(opener: str, closer: str, **words: str) -> Sample:
    return Sample(f"Both.{opener}{_array(*BOTH, **words)}{closer}", BOTH, "Both.")


HERMES = _each("<tool_call>\n", "\n</tool_call>", after="\nDone.")
THOUGHT = "<think>They want <b>two</b> things.</think>"
QWEN = ("<function={name}>\n", "<parameter={key}>\n{value}\n</parameter>\n", "</function>\n")
QWEN_TEXT = "".join(f"<tool_call>\n{_tags(call, *QWEN)}</tool_call>\n" for call in BOTH)
GLM = ("{name}\n", "<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n", "")
GLM_FLAT = ("{name}", "<arg_key>{key}</arg_key><arg_value>{value}</arg_value>", "")


def _invoke(prefix: str, flag: str = "") -> tuple[str, str, str]:
    return (
        f'<{prefix}invoke name="{{name}}">\n',
        f'<{prefix}parameter name="{{key}}"{flag}>{{value}}</{prefix}parameter>\n',
        f"</{prefix}invoke>\n",
    )


def _invokes(prefix: str, wrapper: str) -> Sample:
    body = "".join(_tags(call, *_invoke(prefix)) for call in BOTH)
    return Sample(f"I will.\n<{wrapper}>\n{body}</{wrapper}>", BOTH, "I will.\n")


def _dsml(wrapper: str) -> Sample:
    def one(call: tuple[str, dict[str, Any]]) -> str:
        head, parameter, tail = _invoke("｜DSML｜")
        body = "".join(
            parameter.replace(
                '">{value}', f'" string="{"true" if isinstance(v, str) else "false"}">{{value}}'
            ).format(key=k, value=_text(v))
            for k, v in call[1].items()
        )
        return head.format(name=call[0]) + body + tail

    body = one(TIDE) + one(BELL)
    return Sample(
        f"{THOUGHT}Ok <｜DSML｜{wrapper}>\n{body}</｜DSML｜{wrapper}>",
        BOTH,
        "Ok ",
        "They want <b>two</b> things.",
    )


def _gemma(quote: str, call: tuple[str, dict[str, Any]]) -> str:
    members = ",".join(
        f"{k}:{quote}{v}{quote}" if isinstance(v, str) else f"{k}:{_text(v)}"
        for k, v in call[1].items()
    )
    return f"call:{call[0]}{{{members}}}"


def _m3() -> Sample:
    mark = "]<]minimax[>["
    head = f'{mark}<invoke name="{{name}}">'
    parameter = f"{mark}<{{key}}>{{value}}{mark}</{{key}}>"
    body = "".join(_tags(call, head, parameter, f"{mark}</invoke>") for call in BOTH)
    return Sample(f"Yes.{mark}<tool_call>{body}{mark}</tool_call>", BOTH, "Yes.")


def _k3() -> Sample:
    def one(call: tuple[str, dict[str, Any]]) -> str:
        kinds = {str: "string", int: "number", bool: "boolean"}
        body = "".join(
            f'<|open|>argument key="{k}" type="{kinds[type(v)]}"<|sep|>{_text(v)}'
            "<|close|>argument<|sep|>"
            for k, v in call[1].items()
        )
        return f'<|open|>call tool="{call[0]}" index="1"<|sep|>{body}<|close|>call<|sep|>'

    return Sample(
        "<|open|>think<|sep|>hm<|close|>think<|sep|><|open|>response<|sep|>Sure."
        f"<|close|>response<|sep|><|open|>tools<|sep|>{one(TIDE)}{one(BELL)}<|close|>tools<|sep|>",
        BOTH,
        "Sure.",
        "hm",
    )


def _deepseek(head: str, name_end: str, tail: str) -> Sample:
    body = "".join(
        f"<｜tool▁call▁begin｜>{head}{call[0]}{name_end}{_args(call)}{tail}<｜tool▁call▁end｜>"
        for call in BOTH
    )
    return Sample(
        f"{THOUGHT}Look:<｜tool▁calls▁begin｜>{body}<｜tool▁calls▁end｜><｜end▁of▁sentence｜>",
        BOTH,
        "Look:",
        "They want <b>two</b> things.",
    )


def _kimi() -> Sample:
    body = "".join(
        f"<|tool_call_begin|>functions.{call[0]}:{n}<|tool_call_argument_begin|>{_args(call)}"
        "<|tool_call_end|>"
        for n, call in enumerate(BOTH, 3)
    )
    return Sample(
        f"So. <|tool_calls_section_begin|>{body}<|tool_calls_section_end|>",
        BOTH,
        "So. ",
        ids=["functions.note_tide:3", "functions.ring_bell:4"],
    )


def _muse() -> Sample:
    body = "".join(
        f"<|start|>assistant to={call[0]}<|message|><atem:function_calls>\n"
        f"{_tags(call, *_invoke('atem:'))}</atem:function_calls><|eom|>"
        for call in BOTH
    )
    return Sample(
        f" to=self<|message|>hm<|eom|><|start|>assistant to=user<|message|>Wait.<|eom|>{body}",
        BOTH,
        "Wait.",
        "hm",
    )


def _harmony() -> Sample:
    body = "".join(
        f"<|start|>assistant<|channel|>commentary to=functions.{call[0]} <|constrain|>json"
        f"<|message|>{_args(call)}<|call|>"
        for call in BOTH
    )
    return Sample(
        "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>"
        f"Wait.<|end|>{body}",
        BOTH,
        "Wait.",
        "hm",
    )


def _elements(call: tuple[str, dict[str, Any]]) -> str:
    return "".join(f"<{k}>{_text(v)}</{k}>\n" for k, v in call[1].items())


GEMMA_QUOTE = '<|"|>'
PLAIN = ("note_tide", {"port": "Oslo", "hours": 3, "loud": False})
PYTHON = f"[{_python(TIDE)}, {_python(BELL)}]"

HAND_MADE: dict[str, list[Sample]] = {
    "hermes": [
        HERMES,
        Sample(f"{THOUGHT}\n{HERMES.text}", BOTH, f"\n{HERMES.content}", THOUGHT[7:-8]),
        Sample(f"hm</think>{HERMES.text}", BOTH, HERMES.content, "hm", thinking=True),
    ],
    "granite4": [
        Sample(
            '<tool_call> {"name": "ring_bell", "arguments": "{\\"times\\": 2}"} </tool_call>',
            [BELL],
        )
    ],
    "trinity": [
        Sample(
            f"<think>I call <tool_call>{_json(BELL)}</tool_call></think>Ok",
            [BELL],
            "Ok",
            "I call ",
        )
    ],
    "ernie45": [HERMES, Sample("<response>Hi.</response>", [], "Hi.")],
    "hermes_lenient": [
        Sample(f'<function name="ring_bell">{_args(BELL)}</function>', [BELL]),
        Sample(f"<tools>{_json(BELL)}</tools>", [BELL]),
    ],
    "qwen_agent_code": [
        Sample(
            '<tool_call>\n{"name": "look_up", "arguments": {"query": "q", "code": ""}}\n<code>\n'
            'print("<b>")\n</code>\n</tool_call>',
            [("look_up", {"query": "q", "code": 'print("<b>")'})],
        )
    ],
    "longcat": [
        _each("<longcat_tool_call>", "</longcat_tool_call>"),
        Sample(
            "<longcat_tool_call>ring_bell\n<longcat_arg_key>times</longcat_arg_key>\n"
            "<longcat_arg_value>2</longcat_arg_value>\n</longcat_tool_call>",
            [BELL],
        ),
    ],
    "lmstudio": [_each("[TOOL_REQUEST]", "[END_TOOL_REQUEST]")],
    "xai_tool_call": [
        _each("<x.ai:tool_call>", "</x.ai:tool_call>"),
        Sample(
            f"<x.ai:tool_call><name>ring_bell</name><arguments>{_args(BELL)}</arguments>"
            "</x.ai:tool_call>",
            [BELL],
        ),
    ],
    "nemotron_deci": [_list("<TOOLCALL>", "</TOOLCALL>")],
    "granite_20b_fc": [_each("<function_call> ", "")],
    "jamba": [_list("<tool_calls>", "</tool_calls>")],
    "hunyuan_a13b": [
        Sample(
            f"<think>Not <tool_calls>{_array(BELL)}</tool_calls> yet</think>"
            f"<tool_calls>{_array(TIDE)}</tool_calls>",
            [TIDE],
            reasoning=f"Not <tool_calls>{_array(BELL)}</tool_calls> yet",
        )
    ],
    "minimax_m1": [
        Sample(f"Ok.<tool_calls>\n{_json(TIDE)}\n{_json(BELL)}\n</tool_calls>", BOTH, "Ok.")
    ],
    "apriel": [
        Sample(
            f"hm [BEGIN FINAL RESPONSE]<tool_calls>{_array(*BOTH)}</tool_calls>",
            BOTH,
            reasoning="hm ",
            thinking=True,
        )
    ],
    "qwen3_coder": [
        Sample(f"First.\n{QWEN_TEXT}", BOTH, "First.\n\n\n"),
        Sample(f"{_tags(BELL, *QWEN)}</tool_call>", [BELL]),
        HERMES,
    ],
    "nemotron_v3": [Sample(f"hm</think>{QWEN_TEXT}", BOTH, "\n\n", "hm", thinking=True)],
    "step3p5": [
        Sample(f"<tool_call>\n{_tags(TIDE, *QWEN)}{_tags(BELL, *QWEN)}</tool_call>", BOTH)
    ],
    "mimo": [
        Sample(
            "<tool_call><function=look_up><parameter=query>a &amp; b &lt; c</parameter></function>"
            "</tool_call>",
            [("look_up", {"query": "a & b < c"})],
        )
    ],
    "seed_oss": [
        Sample(
            "<seed:think>hm</seed:think>"
            f"<seed:tool_call>\n{_tags(TIDE, *QWEN)}</seed:tool_call>",
            [TIDE],
            reasoning="hm",
        )
    ],
    "llama3_custom": [
        Sample(f"So: <function=note_tide>{_args(TIDE)}</function><|eom_id|>", [TIDE], "So: ")
    ],
    "functionary_v31": [
        Sample(
            f"<function=note_tide>{_args(TIDE)}</function><function=ring_bell>{_args(BELL)}"
            "</function><|eom_id|>",
            BOTH,
        )
    ],
    "glm45": [
        Sample(
            f"<think>hm</think>A\n<tool_call>{_tags(TIDE, *GLM)}</tool_call>\n"
            f"<tool_call>{_tags(BELL, *GLM)}</tool_call>",
            BOTH,
            "A\n\n",
            "hm",
        )
    ],
    "glm47": [
        Sample(
            f"<tool_call>{_tags(TIDE, *GLM_FLAT)}</tool_call>"
            f"<tool_call>{_tags(BELL, *GLM_FLAT)}</tool_call>",
            BOTH,
        ),
        Sample("<tool_call>ring_bell</tool_call>", [("ring_bell", {})]),
    ],
    "ling3": [Sample(f"<tool_call>{_tags(TIDE, *GLM_FLAT)}</tool_call>", [TIDE])],
    "poolside_v1": [
        Sample(f"B <tool_call>{_tags(TIDE, *GLM)}</tool_call>", [TIDE], "B "),
        Sample(f"<user>{_tags(BELL, *GLM)}</user>", [BELL]),
        Sample("<user>hello</user>", [], "<user>hello</user>"),
    ],
    "hy_v3": [
        Sample(
            "<tool_calls:x><tool_call:x>ring_bell<tool_sep:x><arg_key:x>times</arg_key:x>"
            "<arg_value:x>2</arg_value:x></tool_call:x></tool_calls:x>",
            [BELL],
        ),
        Sample(
            "<tool_calls>"
            + "".join(
                f"<tool_call>{_tags(c, '{name}<tool_sep>', *GLM_FLAT[1:])}</tool_call>"
                for c in BOTH
            )
            + "</tool_calls>",
            BOTH,
        ),
    ],
    "anthropic_invoke": [
        _invokes("", "function_calls"),
        _invokes("antml:", "antml:function_calls"),
        Sample(_tags(BELL, *_invoke("")), [BELL], "\n"),
    ],
    "anthropic_legacy": [
        Sample(
            "<function_calls>\n<invoke>\n<tool_name>note_tide</tool_name>\n<parameters>\n"
            f"{_elements(PLAIN)}</parameters>\n</invoke>\n<invoke>\n<tool_name>ring_bell"
            f"</tool_name>\n<parameters>\n{_elements(BELL)}</parameters>\n</invoke>\n"
            "</function_calls>",
            [PLAIN, BELL],
        )
    ],
    "minimax_m2": [_invokes("", "minimax:tool_call")],
    "minimax_m3": [_m3()],
    "deepseek_v32": [_dsml("function_calls"), _dsml("tool_calls")],
    "deepseek_v4": [_dsml("tool_calls")],
    "dots": [
        _invokes("", "dots_function_call"),
        _each("<dots_function_call>", "</dots_function_call>"),
    ],
    "step3": [
        Sample(
            "C<｜tool_calls_begin｜>"
            + "".join(
                f"<｜tool_call_begin｜>function<｜tool_sep｜>{_tags(c, *_invoke('steptml:'))}"
                "<｜tool_call_end｜>"
                for c in BOTH
            )
            + "<｜tool_calls_end｜>",
            BOTH,
            "C",
        )
    ],
    "xai_function_call": [
        Sample(
            "D\n"
            + _tags(
                TIDE,
                '<xai:function_call name="{name}">\n',
                '<parameter name="{key}">{value}</parameter>\n',
                "</xai:function_call>",
            ),
            [TIDE],
            "D\n",
        )
    ],
    "minicpm5": [
        Sample(
            _tags(
                TIDE,
                '<function name="{name}">',
                '<param name="{key}">{value}</param>',
                "</function>",
            )
            + " ok",
            [TIDE],
            " ok",
        ),
        Sample(
            '<function name="look_up"><param name="query"><![CDATA[</param>]]></param></function>',
            [("look_up", {"query": "</param>"})],
        ),
    ],
    "muse_glimmer": [_muse()],
    "kimi_k3": [_k3()],
    "deepseek_v31": [_deepseek("", "<｜tool▁sep｜>", "")],
    "deepseek_v3": [_deepseek("function<｜tool▁sep｜>", "\n```json\n", "\n```")],
    "kimi_k2": [_kimi()],
    "mistral": [
        Sample(f"E [TOOL_CALLS]{_array(*BOTH)}", BOTH, "E "),
        Sample(
            f"[THINK]no [TOOL_CALLS][/THINK][TOOL_CALLS]note_tide{_args(TIDE)}"
            f"[TOOL_CALLS]ring_bell[CALL_ID]abcdef123[ARGS]{_args(BELL)}</s>",
            BOTH,
            reasoning="no [TOOL_CALLS]",
            ids=["call_0", "abcdef123"],
        ),
    ],
    "inkling": [
        Sample(
            "<|message_model|><|content_text|>F<|end_message|>"
            f"<|message_model|>x<|content_invoke_tool_json|>{_json(TIDE, args='args')}"
            "<|end_message|>",
            [TIDE],
            "F",
        )
    ],
    "internlm2": [
        Sample(
            f"G<|action_start|> <|plugin|>\n{_json(TIDE, args='parameters')}<|action_end|>",
            [TIDE],
            "G",
        )
    ],
    "phi4_mini": [
        Sample(f"H functools{_array(*BOTH)} end", BOTH, "H  end"),
        _list("<|tool_call|>", "<|/tool_call|>"),
    ],
    "firefunction_v2": [Sample(f" functools{_array(*BOTH)}", BOTH, " ")],
    "granite": [Sample(f"<|tool_call|> {_array(*BOTH)}", BOTH), Sample(_array(*BOTH), BOTH)],
    "apertus": [
        Sample(
            "<|inner_prefix|>hm<|inner_suffix|><|tools_prefix|>"
            + json.dumps([{name: args} for name, args in BOTH])
            + "<|tools_suffix|>",
            BOTH,
            reasoning="hm",
        )
    ],
    **{
        name: [
            Sample(
                "<|START_THINKING|>hm<|END_THINKING|><|START_ACTION|>"
                + json.dumps(
                    [
                        {"tool_call_id": str(n), "tool_name": call[0], "parameters": call[1]}
                        for n, call in enumerate(BOTH)
                    ]
                )
                + "<|END_ACTION|>",
                BOTH,
                reasoning="hm",
                ids=["0", "1"],
            ),
            Sample(
                "<|START_RESPONSE|>see <co>this</co: 0:[1]>.<|END_RESPONSE|>", [], "see this."
            ),
        ]
        for name in ("cohere_command3", "cohere_command4")
    },
    "command_r_plus": [
        Sample(
            "Plan.\nAction:\n```json\n"
            f"{_array(*BOTH, name='tool_name', args='parameters')}\n```",
            BOTH,
            "Plan.\n",
        )
    ],
    "gigachat3": [
        Sample(f"I<|function_call|>{_json(TIDE)}", [TIDE], "I"),
        Sample(f"J<|message_sep|>\n\nfunction call<|role_sep|>\n{_json(TIDE)}", [TIDE], "J"),
    ],
    "functionary_v2": [
        Sample(
            f"all\n<|content|>K\n<|from|>assistant\n<|recipient|>note_tide\n<|content|>"
            f"{_args(TIDE)}\n<|from|>assistant\n<|recipient|>ring_bell\n<|content|>{_args(BELL)}"
            "<|stop|>",
            BOTH,
            "K\n",
        )
    ],
    "functionary_v32": [
        Sample(
            f"all\nL>>>note_tide\n{_args(TIDE)}>>>ring_bell\n{_args(BELL)}<|eot_id|>", BOTH, "L"
        )
    ],
    "glm4_legacy": [
        Sample(f"note_tide\n{_args(TIDE)}<|assistant|>ring_bell\n{_args(BELL)}", BOTH)
    ],
    "sarashina": [
        Sample("<|tool_calls|>[{'name': 'ring_bell', 'arguments': {'times': 2}}]", [BELL])
    ],
    "lfm2": [
        Sample(f"M<|tool_call_start|>{PYTHON}<|tool_call_end|>N", BOTH, "MN"),
        Sample(f"<|tool_call_start|>{_array(*BOTH)}<|tool_call_end|>", BOTH),
    ],
    "minicpm3": [
        Sample(
            "<|thought_start|>hm<|thought_end|><|tool_call_start|>\n```python\n"
            f"{_python(PLAIN)}\n{_python(BELL)}\n```\n<|tool_call_end|>",
            [PLAIN, BELL],
            reasoning="hm",
        )
    ],
    "olmo3": [
        Sample(
            f"O<function_calls>{_python(TIDE)}\n{_python(BELL)}</function_calls>", BOTH, "O"
        )
    ],
    "llama4_pythonic": [
        Sample(f"<|python_start|>{PYTHON}<|python_end|>", BOTH),
        Sample(PYTHON, BOTH),
    ],
    "pythonic": [Sample(PYTHON, BOTH)],
    "tool_code": [
        Sample(f"P\n```tool_code\nprint(default_api.{_python(PLAIN)})\n```", [PLAIN], "P\n")
    ],
    "nexus_raven": [Sample(f"Call: {_python(TIDE)}; {_python(BELL)}<bot_end>", BOTH)],
    "gorilla_openfunctions": [Sample(f"<<function>>{_python(TIDE)}", [TIDE])],
    "gemma4": [
        Sample(
            "<|channel>thought\nhm<channel|>Q"
            + "".join(f"<|tool_call>{_gemma(GEMMA_QUOTE, call)}<tool_call|>" for call in BOTH),
            BOTH,
            "Q",
            "hm",
        )
    ],
    "functiongemma": [
        Sample(
            "".join(
                f"<start_function_call>{_gemma('<escape>', call)}<end_function_call>"
                for call in BOTH
            ),
            BOTH,
        )
    ],
    "harmony": [_harmony()],
    "xml_id_name_args": [
        Sample(
            f"R<tool_call><id>x7</id><name>note_tide</name><arguments>{_args(TIDE)}</arguments>"
            "</tool_call>S",
            [TIDE],
            "RS",
            ids=["x7"],
        )
    ],
    "langchain_xml": [
        Sample("T <tool>look_up</tool>\n<tool_input>moon phase</tool_input>", [LOOK], "T "),
        Sample("<tool>look_up</tool><tool_input>moon phase", [LOOK]),
    ],
    "generic_tool_xml": [
        Sample('U <tool name="look_up" query="moon phase"/> V', [LOOK], "U  V"),
        Sample(
            "<tool><name>note_tide</name><port>a &amp; b</port><hours>3</hours></tool>",
            [("note_tide", {"port": "a & b", "hours": 3})],
        ),
        Sample(f"<tool>{_json(BELL)}</tool>", [BELL]),
    ],
    "bracket_calling": [
        Sample(f"W [Calling tool: note_tide({_args(TIDE)})]", [TIDE], "W "),
        Sample("[Tool call: ring_bell]", [("ring_bell", {})]),
    ],
    "qwen_agent": [
        Sample(
            f"X\n✿FUNCTION✿: note_tide\n✿ARGS✿: {_args(TIDE)}\n✿FUNCTION✿: ring_bell\n"
            f"✿ARGS✿: {_args(BELL)}\n✿RESULT✿",
            BOTH,
            "X\n\n\n",
        )
    ],
    "llama3_json": [
        Sample(f"<|python_tag|>{_json(TIDE)}; {_json(BELL)}<|eom_id|>", BOTH),
        Sample('<|python_tag|>look_up.call(query="moon phase")', [LOOK]),
        Sample(_json(TIDE, args="parameters"), [TIDE]),
    ],
    "openai_json": [
        Sample(
            json.dumps(
                {
                    "tool_calls": [
                        {
                            "id": "c1",
                            "type": "function",
                            "function": {"name": "note_tide", "arguments": _args(TIDE)},
                        }
                    ]
                }
            ),
            [TIDE],
            ids=["c1"],
        ),
        Sample(
            json.dumps(
                {
                    "content": [
                        {"type": "text", "text": "x"},
                        {"type": "tool_use", "id": "t1", "name": "ring_bell", "input": BELL[1]},
                    ]
                }
            ),
            [BELL],
            ids=["t1"],
        ),
    ],
    "json_bare": [Sample(f"{_json(TIDE)}\n{_json(BELL)}", BOTH)],
    "json_array_bare": [Sample(_array(*BOTH), BOTH)],
    "xlam": [
        Sample(f"<think>hm</think>{_array(*BOTH)}", BOTH, reasoning="hm"),
        Sample(f"Y\n```json\n{_array(*BOTH)}\n```", BOTH, "Y\n"),
    ],
    "json_fence": [Sample(f"Z\n```json\n{_json(TIDE)}\n```", [TIDE], "Z\n")],
    "cline_xml": [
        Sample(f"Ok\n<note_tide>\n{_elements(PLAIN)}</note_tide>\n", [PLAIN], "Ok\n\n"),
    ],
    "react": [
        Sample(
            f"Thought: hm\nAction: note_tide\nAction Input: {_args(TIDE)}\nObservation: made up",
            [TIDE],
            reasoning=" hm",
        ),
        Sample("Action: look_up\nAction Input: moon phase", [LOOK]),
        Sample("Final Answer: 42", [], " 42"),
    ],
}  # fmt: skip


def rendered(dialect: str) -> list[Sample]:
    """One call and two as the row itself writes them."""
    samples = []
    for wanted in (BOTH[:1], BOTH):
        calls = [{"name": name, "arguments": arguments} for name, arguments in wanted]
        text = render_calls(calls, dialect, TOOLS)
        samples.append(Sample(text, wanted, parse_text(text, TOOLS, dialect).content))
        assert samples[-1].content.strip() == ""
    return samples


SAMPLES = {name: HAND_MADE.get(name) or rendered(name) for name in DIALECTS}
