"""Calls as elements of raw text: typing by schema, closers in values, missing closers."""

import json

import pytest

from toolglot.dialects.text import parse_text

SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "ratio": {"type": "number"},
        "flag": {"type": "boolean"},
        "items": {"type": "array"},
        "thing": {"type": "object"},
        "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "either": {"type": ["integer", "null"]},
    },
}
TOOLS = [{"name": "f", "input_schema": SCHEMA}, {"name": "g"}]


def only(text: str, dialect: str = "qwen3_coder") -> dict:
    parsed = parse_text(text, TOOLS, dialect)
    assert parsed.content.strip() == ""
    (call,) = parsed.calls
    return json.loads(call.arguments)


@pytest.mark.parametrize(
    ("key", "raw", "value"),
    [
        ("text", "00123", "00123"),
        ("text", "null", "null"),
        ("text", '{"a": 1}', '{"a": 1}'),
        ("text", "a <b>bold</b> & <parameter", "a <b>bold</b> & <parameter"),
        ("count", "9007199254740993", 9007199254740993),
        ("count", "-7", -7),
        ("count", "many", "many"),
        ("ratio", "1.5", 1.5),
        ("ratio", "inf", "inf"),
        ("flag", "True", True),
        ("flag", "perhaps", "perhaps"),
        ("items", "[1, 'two', None]", [1, "two", None]),
        ("thing", '{"a": {"b": 1}}', {"a": {"b": 1}}),
        ("maybe", "null", None),
        ("maybe", "12", "12"),
        ("either", "12", 12),
        ("unknown", "12", "12"),
    ],
)
def test_schema_decides_the_type_s3_50(key, raw, value):
    """S3-50: a string stays a string whatever it looks like; the rest is what the schema says."""
    assert only(f"<function=f>\n<parameter={key}>\n{raw}\n</parameter>\n</function>") == {
        key: value
    }


def test_closer_counts_only_before_more_markup_case_49():
    """case-49: a value may hold the closer of its own element."""
    value = 'x = "</parameter>" + y, or <parameter=no>'
    text = f"<function=f><parameter=text>\n{value}\n</parameter><parameter=count>1</parameter>"
    assert only(text + "</function>") == {"text": value, "count": 1}


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call><function=f><parameter=count>1</parameter></function></tool_call></tool_call>",
        "<function=f><parameter=count>1</parameter></function></tool_call>",
        "<function=f><parameter=count>1</parameter>",
        "<function=f>\n<parameter=count>\n1\n</function>",
        "<function=f>\n<parameter=text>x\n<parameter=count>1</parameter></function>",
        '<function name="f"><parameter name="count">1</parameter></function>',
        '<function=f>{"count": 1}</function>',
        '<tool_call>{"name": "f", "arguments": {"count": 1}}</tool_call>',
    ],
)
def test_missing_and_doubled_closers(text):
    assert only(text)["count"] == 1


def test_call_cut_inside_a_value_is_text():
    text = "<function=f><parameter=text>half"
    assert parse_text(text, TOOLS, "qwen3_coder").content == text


def test_call_without_parameters():
    parsed = parse_text("<function=g></function>", TOOLS, "qwen3_coder")
    assert [(call.name, call.arguments) for call in parsed.calls] == [("g", "{}")]
    parsed = parse_text('<function_calls><invoke name="g"/></function_calls>', TOOLS)
    assert [(call.name, call.arguments) for call in parsed.calls] == [("g", "{}")]


def dsml(key: str, flag: str, value: str) -> str:
    bars = "\uff5cDSML\uff5c"
    return (
        f'<{bars}invoke name="f"><{bars}parameter name="{key}" string="{flag}">{value}'
        f"</{bars}parameter></{bars}invoke>"
    )


@pytest.mark.parametrize(
    ("key", "flag", "raw", "value"),
    [
        ("other", "true", "12", "12"),
        ("other", "false", "12", 12),
        ("count", "true", "12", 12),
        ("text", "false", "12", "12"),
        ("text", "true", "line\n", "line\n"),
    ],
)
def test_tag_says_the_type_unless_the_schema_knows_better(key, flag, raw, value):
    assert only(dsml(key, flag, raw), "deepseek_v32") == {key: value}


def test_one_parameter_that_holds_all_is_unwrapped():
    assert only(dsml("arguments", "false", '{"count": 1}'), "deepseek_v32") == {"count": 1}
    inside = {"arguments": {"nope": 1}}
    assert only(dsml("arguments", "false", '{"nope": 1}'), "deepseek_v32") == inside


@pytest.mark.parametrize("bars", ["|DSML|", "\u2016DSML\u2016", "\uff5c\uff5cDSML\uff5c\uff5c"])
def test_other_bars(bars):
    text = dsml("count", "false", "1").replace("\uff5cDSML\uff5c", bars)
    assert only(text, "deepseek_v32") == {"count": 1}
