# ruff: noqa: RUF001 - the bars are what the models write
"""The cases of calls inside text, from a chat provider to an Anthropic client, however cut."""

import json
import random

import pytest
from tests.laws.streams import decode

from toolglot import StreamTranslator, ir, translate_response
from toolglot.events import fold
from toolglot.lint import lint_stream

ANY = {"type": "object"}
N = {"type": "object", "properties": {"a": {"type": "string"}, "n": {"type": "array"}}}
CMD = {"type": "object", "properties": {"cmd": {"type": "string"}}, "required": ["cmd"]}
TOOLS = {"exec_command": CMD, "f": N, "N": ANY, "bash": ANY}
ASK = {
    "model": "m",
    "max_tokens": 9,
    "messages": [{"role": "user", "content": "hi"}],
    "tools": [{"name": name, "input_schema": schema} for name, schema in TOOLS.items()],
}
ECHO = "<function=exec_command>\n<parameter=cmd>\necho X\n</parameter>\n</function>"
RAN = [("exec_command", {"cmd": "echo X"})]


def dsml(bars, word="tool_calls"):
    inner = (
        '<|invoke name="f"><|parameter name="a" string="true">x</|parameter>'
        '<|parameter name="n" string="false">[1]</|parameter></|invoke>'
    )
    text = f"<|{word}>{inner}</|{word}>" if word else inner
    return text.replace("|", bars)


DSML = [("f", {"a": "x", "n": [1]})]
BASH = [("bash", {"command": "ls -la"})]
INVOKE = '<invoke name="bash"><parameter name="command">ls -la</parameter></invoke>'
XAI = (
    '<xai:function_call name="bash"><parameter name="command">ls -la</parameter>'
    "</xai:function_call>"
)
HERMES = '<tool_call>{"name":"N","arguments":{"K":"V"}}</tool_call>'
N_CALL = [("N", {"K": "V"})]

CASES = [
    ("case-45 stray closer", f"{ECHO}\n</tool_call>", RAN, ""),
    ("case-45 in a sentence", f"Now:\n{ECHO}\n</tool_call>\nDone.", RAN, "Now:\n\nDone."),
    (
        "case-45 value not closed",
        "<function=exec_command>\n<parameter=cmd>\necho X\n</function>\n</tool_call>",
        RAN,
        "",
    ),
    ("case-45 unknown tool", ECHO.replace("exec_command", "other"), [], None),
    ("case-45 never closed", "<function=exec_command>\n<parameter=cmd>\necho X", [], None),
    ("case-46 v4", dsml("｜DSML｜"), DSML, ""),
    ("case-46 v3.2", dsml("｜DSML｜", "function_calls"), DSML, ""),
    ("case-46 ASCII bars", f"hello{dsml('|DSML|')}", DSML, "hello"),
    ("case-46 double bars", f"hello{dsml('‖DSML‖')}", DSML, "hello"),
    ("case-46 two bars", dsml("｜｜DSML｜｜"), DSML, ""),
    ("case-46 no section", dsml("｜DSML｜", ""), DSML, ""),
    ("case-46 open section", dsml("｜DSML｜").removesuffix("</｜DSML｜tool_calls>"), DSML, ""),
    ("case-47 hermes", HERMES, N_CALL, ""),
    (
        "case-47 glm",
        "<tool_call>N<arg_key>K</arg_key><arg_value>V</arg_value></tool_call>",
        N_CALL,
        "",
    ),
    (
        "case-47 qwen",
        "<tool_call><function=N><parameter=K>V</parameter></function></tool_call>",
        N_CALL,
        "",
    ),
    ("case-47 prose", "Put it in <tool_call> and </tool_call>, please.", [], None),
    ("case-48 minimax", f"<minimax:tool_call>{INVOKE}</minimax:tool_call>", BASH, ""),
    ("case-48 claude", f"Hm.<function_calls>\n{INVOKE}\n</function_calls>", BASH, "Hm."),
    ("case-48 xai", f"{XAI}</xai:function_call>", BASH, ""),
    ("case-48 xai twice", XAI + XAI, BASH * 2, ""),
    ("case-49 after prose", f"Some words, then:\n\n{HERMES}", N_CALL, "Some words, then:\n\n"),
    (
        "case-49 markup in a value",
        ECHO.replace("echo X", "a </parameter> b <parameter=x> c"),
        [("exec_command", {"cmd": "a </parameter> b <parameter=x> c"})],
        "",
    ),
]  # fmt: skip


def stream(text, pieces, key="content"):
    chunks = [{"role": "assistant"}, *({key: piece} for piece in pieces(text)), {}]
    for number, delta in enumerate(chunks):
        stop = "stop" if number == len(chunks) - 1 else None
        choice = {"index": 0, "delta": delta, "finish_reason": stop}
        chunk = {"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}
        yield b"data: " + json.dumps(chunk).encode() + b"\n\n"
    yield b"data: [DONE]\n\n"


def at_once(text):
    return [text]


def in_pieces(text):
    rng = random.Random(len(text))
    while text:
        size = rng.randint(1, 9)
        yield text[:size]
        text = text[size:]


def seen(response):
    """The calls, the words and the stop of an answer."""
    (choice,) = response.choices
    calls = [part for part in choice.parts if isinstance(part, ir.ToolCall)]
    words = "".join(part.text for part in choice.parts if isinstance(part, ir.Text))
    return [(call.name, json.loads(call.arguments)) for call in calls], words, choice.stop.kind


def streamed(text, pieces, **how):
    translator = StreamTranslator("openai-chat", "anthropic", request=ASK, dialect="auto")
    written = b"".join(map(translator.feed, stream(text, pieces, **how))) + translator.close()
    assert lint_stream(written, "anthropic") == []
    return fold(decode("anthropic", [written]))


@pytest.mark.parametrize(
    ("text", "calls", "words"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_case(text, calls, words):
    """case-45, case-46, case-47, case-48, case-49: whole, in any pieces and by the character."""
    expected = (calls, text if words is None else words, "tool_calls" if calls else "end")
    for pieces in (at_once, list, in_pieces):
        assert seen(streamed(text, pieces)) == expected
    body = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
    wire, _ = translate_response(
        body, source="openai-chat", target="anthropic", request=ASK, dialect="auto"
    )
    names = [(each["name"], each["input"]) for each in wire.body["content"] if "input" in each]
    assert names == calls


def test_a_call_in_thinking_with_a_stray_closer_case_48():
    """case-48: the call is a call, and what was thought around it stays thought."""
    response = streamed(f"I must look. {XAI}</xai:function_call>", list, key="reasoning_content")
    calls, words, stop = seen(response)
    assert (calls, words, stop) == (BASH, "", "tool_calls")
    thoughts = [p.text for p in response.choices[0].parts if isinstance(p, ir.Reasoning)]
    assert "I must look. " in thoughts


def test_a_marker_that_is_split_case_46():
    """case-46: `hello<‖DS` and then `ML‖tool_calls>`."""
    text = f"hello{dsml('‖DSML‖')}"

    def pieces(text):
        return [text[:9], text[9:]]

    assert seen(streamed(text, pieces)) == (DSML, "hello", "tool_calls")
