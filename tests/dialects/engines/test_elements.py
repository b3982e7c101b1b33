"""`<tool>` in all its forms, and declared names as tags."""

import json

import pytest

from toolglot.dialects.text import parse_text

SCHEMA = {"type": "object", "properties": {"id": {"type": "string"}, "n": {"type": "integer"}}}
TOOLS = [{"name": "x", "parameters": SCHEMA}]


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('<tool name="x" id="00123" n="1"/>', {"id": "00123", "n": 1}),
        ('<tool name="x" id="a &amp; b"></tool>', None),
        ("<tool><name>x</name><id>00123</id><n>1</n></tool>", {"id": "00123", "n": 1}),
        ("<tool><name>x</name><id>a &lt; b</id></tool>", {"id": "a < b"}),
        ("<tool><name>x</name><id><![CDATA[</n> & <n>]]></id></tool>", {"id": "</n> & <n>"}),
        ('<tool><name>x</name><parameters>{"n": 1}</parameters></tool>', {"n": 1}),
        ("<tool><name>x</name><parameters><n>1</n></parameters></tool>", {"n": 1}),
        ('<tool>{"name": "x", "arguments": {"n": 1}}</tool>', {"n": 1}),
        ('<tool>x {"n": 1}</tool>', {"n": 1}),
    ],
)
def test_attribute_nested_and_json_forms_s3_50(text, arguments):
    """S3-50, S3-49: attributes or nested tags, entities and CDATA, typed by the schema."""
    parsed = parse_text(text, TOOLS)
    assert [call.name for call in parsed.calls] == ["x"]
    if arguments is not None:
        assert json.loads(parsed.calls[0].arguments) == arguments


def test_plain_text_is_a_command_s3_49():
    """S3-49: `<tool>ls -la</tool>` is a command for the shell, if there is one."""
    text = "<tool>ls -la</tool>"
    shell = {"properties": {"command": {"type": "string"}}, "required": ["command"]}
    for tools in (None, [{"name": "bash", "input_schema": shell}]):
        (call,) = parse_text(text, tools).calls
        assert (call.name, json.loads(call.arguments)) == ("bash", {"command": "ls -la"})
    assert parse_text(text, TOOLS).content == text


@pytest.mark.parametrize(
    "text",
    [
        "<tool>",
        "<tools>x</tools>",
        "<tool x",
        "<tool>a <b> c</tool>",
        "<tool></tool>",
        "<toolbox/>",
    ],
)
def test_no_call(text):
    assert parse_text(text, TOOLS).content == text


def test_declared_names_as_tags():
    tools = [{"name": "write", "parameters": {"properties": {"content": {"type": "string"}}}}]
    text = "<write>\n<content>\n<div>\n<p>1</p>\n</div>\n</content>\n</write>"
    (call,) = parse_text(text, tools, "cline_xml").calls
    assert json.loads(call.arguments) == {"content": "<div>\n<p>1</p>\n</div>"}
    (call,) = parse_text("<write></write>", tools, "cline_xml").calls
    assert call.arguments == "{}"
    prose = "Use <write> to write, and <content> in it."
    assert parse_text(prose, tools, "cline_xml").content == prose


def test_legacy_calls_and_native_ids():
    text = "<function_calls><invoke><tool_name>x</tool_name><parameters><n>1</n></parameters>"
    text += "</invoke></function_calls>"
    parsed = parse_text(text, TOOLS)
    assert parsed.dialect == "anthropic_legacy"
    assert [json.loads(call.arguments) for call in parsed.calls] == [{"n": 1}]
