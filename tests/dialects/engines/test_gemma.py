"""Values with a quote token of their own."""

import json

import pytest

from toolglot.dialects.text import parse_text

SCHEMA = {"type": "object", "properties": {"zip": {"type": "string"}}}


def only(body: str, tools: list | None = None) -> dict:
    parsed = parse_text(
        f"<|tool_call>call:f{body}<tool_call|>".replace("@", '<|"|>'), tools, "gemma4"
    )
    (call,) = parsed.calls
    return json.loads(call.arguments)


@pytest.mark.parametrize(
    ("body", "arguments"),
    [
        ("{}", {}),
        ("{a:1,b:true,c:null,d:-2.5}", {"a": 1, "b": True, "c": None, "d": -2.5}),
        ("{a:@1@,b:@x,y}{<tool_call|>@}", {"a": "1", "b": "x,y}{<tool_call|>"}),
        ("{a:[@x@,2,{b:@y@}],c:{d:[]}}", {"a": ["x", 2, {"b": "y"}], "c": {"d": []}}),
        ("{@a@:1}", {"a": 1}),
        ("{a:'x',b:\"y\"}", {"a": "x", "b": "y"}),
        ("{a:@ls}", {"a": "ls"}),
        ("{a:plain words}", {"a": "plain words"}),
    ],
)
def test_values(body, arguments):
    assert only(body) == arguments


def test_schema_keeps_digits_a_string():
    assert only("{zip:01230}", [{"name": "f", "parameters": SCHEMA}]) == {"zip": "01230"}


def test_one_string_without_quotes_and_brace():
    text = "{zip:\n# Title, with {braces\nend"
    assert only(text, [{"name": "f", "parameters": SCHEMA}]) == {
        "zip": "\n# Title, with {braces\nend"
    }


@pytest.mark.parametrize(
    "body", ["call:f{a:1", "call:f", "call:{a:1}<tool_call|>", "x y{}<tool_call|>"]
)
def test_no_call(body):
    assert parse_text("<|tool_call>" + body, None, "gemma4").content == "<|tool_call>" + body
