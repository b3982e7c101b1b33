"""The text of a model in the error of a provider that could not read it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.exchange import Exchange
from toolglot.mending import failed_text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b'{"error":{"code":"tool_use_failed","failed_generation":"<a>"}}', "<a>"),
        (b'{"failed_generation":"<a>","message":"no"}', "<a>"),
        (b'{"error":{"failed_generation":" "}}', None),
        (b'{"error":{"failed_generation":null}}', None),
        (b'{"error":{"message":"see failed_generation"}}', None),
        (b'{"error":"failed_generation', None),
        (b"[]", None),
        (b'["failed_generation"]', None),
    ],
)
def test_the_text(body, text):
    assert failed_text(body) == text


PARAMETERS = {"type": "object", "properties": {"at": {"type": "string"}}}
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": PARAMETERS}}]
ASKED = {"model": "m", "messages": [{"role": "user", "content": "Look."}], "tools": TOOLS}


def recovered(text):
    """The calls that a client gets for an error with this text, and what else is said."""
    exchange = Exchange("openai-chat", "openai-chat")
    exchange.request(json.dumps(ASKED).encode())
    error = {"code": "tool_use_failed", "failed_generation": text}
    answer = exchange.recovered(json.dumps({"error": error}).encode())
    if answer is None:
        return None
    message = json.loads(answer.data)["choices"][0]["message"]
    calls = [
        (call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in message["tool_calls"]
    ]
    return calls, message["content"]


ONE = [("look", {"at": "x"})]
LISTED = '{"tool_calls":[{"id":"pending","type":"function","function":{"name":"look"},'


@pytest.mark.parametrize(
    ("text", "calls", "said"),
    [
        ('<function=look>{"at": "x"}</function>', ONE, None),
        ('<function=look{"at": "x"}</function>', ONE, None),
        ('<function=look {"at": "x"} </function>\n', ONE, None),
        ('<function=look={"at": "x"}</function>', ONE, None),
        ('<function=look({"at": "x"})</function>', ONE, None),
        ('<function(look){"at": "x"}</function>', ONE, None),
        ('<function=look {"at": "x"}></function>', ONE, None),
        ('<function=look>{"at": "x"}', ONE, None),
        ('<function=look>{"at": "x"}}', ONE, None),
        ('<function=look>{"at": "x"}<function>', ONE, None),
        ("<function=look/>", [("look", {})], None),
        ('<function=look{"at": "x"}</function>\n<function=look{"at": "x"}', ONE * 2, None),
        ('I look. <function=look{"at": "x"}</function>', ONE, "I look. "),
        ('[{"name": "look", "parameters": {"at": "x"}}]', ONE, None),
        ('{"name": "look", "arguments": {"at": "x"}}', ONE, None),
        ('<tool_call>\n{"name": "look", "arguments": {"at": "x"}}\n</tool_call>', ONE, None),
        (LISTED + '"parameters":{"at":"x"}}]}', ONE, None),
        ("```\n" + LISTED + '"parameters":{"at":"x"}}]}\n```', ONE, None),
        ("```json\n" + LISTED + '"arguments":"{\\"at\\":\\"x\\"}"}]}\n```', ONE, None),
        ("<tool-use>\n" + LISTED + '"parameters":{"at":"x"}}]}\n</tool-use>', ONE, None),
    ],
)
def test_calls_that_are_almost_written_as_such(text, calls, said):
    assert recovered(text) == (calls, said)


@pytest.mark.parametrize(
    "text",
    [
        "maybe",
        '<function=jump{"at": "x"}</function>',
        '<function=look{"at": "th',
        "<function=look{bad}</function>",
        "<function=look>",
        '{"tool_calls":[]}',
        '{"tool_calls":[7,{"function":7},{"function":{"name":7}}]}',
        '{"tool_calls": oh',
        "<function=" * 500,
        "{" * 500,
    ],
)
def test_what_is_no_call_of_a_declared_tool(text):
    assert recovered(text) is None


@given(st.lists(st.sampled_from(["<function=", "look", "{", '"at"', ":", '"x"', "}", ">", "/>"])))
def test_any_text_is_read_or_left(pieces):
    found = recovered("".join(pieces))
    assert found is None or all(name == "look" for name, _ in found[0])
