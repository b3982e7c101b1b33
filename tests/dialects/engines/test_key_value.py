"""Keys and values in elements of their own."""

import json

import pytest

from toolglot.dialects.text import parse_text

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}, "n": {"type": "integer"}}}
TOOLS = [{"name": "f", "parameters": SCHEMA}]


@pytest.mark.parametrize(
    ("body", "arguments"),
    [
        ("f<arg_key>a</arg_key><arg_value>1</arg_value>", {"a": "1"}),
        ("f\n<arg_key>n</arg_key>\n<arg_value>1</arg_value>\n", {"n": 1}),
        ("f<arg_key>x</arg_key><arg_value>[1]</arg_value>", {"x": [1]}),
        (
            "f<arg_key>a</arg_key><arg_value> <b></arg_value> </arg_value>",
            {"a": " <b></arg_value> "},
        ),
        ("f<arg_key>a</arg_key><arg_key>n</arg_key><arg_value>1</arg_value>", {"n": 1}),
        ("f<arg_key>a</arg_key><arg_value>x<arg_key>n</arg_key><arg_value>1", {"a": "x", "n": 1}),
        ('f\n{"n": 1}', {"n": 1}),
        ("f", {}),
    ],
)
def test_bodies(body, arguments):
    parsed = parse_text(f"<tool_call>{body}</tool_call>", TOOLS, "glm47")
    assert [json.loads(call.arguments) for call in parsed.calls] == [arguments]
    assert parsed.content == ""


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>f g h</tool_call>",
        "<tool_call>f<arg_value>1</arg_value></tool_call>",
        "<tool_call>f<arg_key>a",
        "<tool_call>f<arg_key>a</arg_key><arg_value>1",
    ],
)
def test_no_call(text):
    assert parse_text(text, TOOLS, "glm47").content == text
