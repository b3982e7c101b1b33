"""Calls that are JSON objects: what is forgiven and what is not."""

import json

import pytest

from toolglot.dialects.text import parse_text

CALL = '{"name": "f", "arguments": {"a": 1}}'


def calls(text: str, dialect: str = "hermes", tools: list | None = None) -> list:
    parsed = parse_text(text, tools, dialect)
    return [(call.name, json.loads(call.arguments)) for call in parsed.calls]


@pytest.mark.parametrize(
    "body",
    [
        CALL,
        '{"arguments": {"a": 1}, "name": "f"}',
        '{"name": "f", "parameters": {"a": 1}}',
        '{"name": "f", "arguments": "{\\"a\\": 1}"}',
        '{"type": "function", "function": {"name": "f", "arguments": {"a": 1}}}',
        '{"function": "f", "parameters": {"a": 1}}',
        "{'name': 'f', 'arguments': {'a': 1}}",
        '{"name": "f", "arguments": {"a": 1,}}',
        '{"name": "f", "arguments": {"a": 1}',
        '{"name": "f", "arguments": {"a": 1}}}',
        f"[{CALL}]",
        f"<tool_call>{CALL}",
    ],
)
def test_one_call_however_it_is_put(body):
    parsed = parse_text(f"<tool_call>\n{body}\n</tool_call>", None, "hermes")
    assert [(call.name, json.loads(call.arguments)) for call in parsed.calls] == [("f", {"a": 1})]
    assert parsed.content == ""


@pytest.mark.parametrize(
    "body",
    [
        "",
        "word",
        '{"arguments": {}}',
        '{"name": "f", "arguments": [1]}',
        '{"name": "f", "arguments": 1}',
        '{"name": "f", "arguments": "no object"}',
        '{"name": 1, "arguments": {}}',
        '{"name": "f" "arguments": {}}',
        "[1, 2]",
    ],
)
def test_what_is_no_call(body):
    assert calls(f"<tool_call>{body}</tool_call> x") == []


def test_raw_line_breaks_in_strings_are_forgiven():
    text = '<tool_call>{"name": "f", "arguments": {"a": "1\n\t2"}}</tool_call>'
    assert calls(text) == [("f", {"a": "1\n\t2"})]


def test_closer_inside_a_string_is_text_case_49():
    """case-49: markup inside arguments ends nothing."""
    text = '<tool_call>{"name": "f", "arguments": {"a": "</tool_call>{}"}}</tool_call>'
    assert calls(text) == [("f", {"a": "</tool_call>{}"})]


@pytest.mark.parametrize("end", ['{"a": "cut', '{"a": 12', '{"a": tr', '{"a'])
def test_call_cut_inside_a_value_is_text(end):
    text = f'<tool_call>{{"name": "f", "arguments": {end}'
    assert parse_text(text, None, "hermes").content == text


def test_only_closers_missing_at_the_end_is_a_call():
    assert calls('<tool_call>{"name": "f", "arguments": {"a": "b"') == [("f", {"a": "b"})]


def test_empty_block_is_nothing():
    assert parse_text("<tool_call></tool_call>x", None, "hermes").content == "x"


def test_broken_element_does_not_take_the_others_along():
    text = '<|START_ACTION|>[{"tool_name": "f", "parameters": {"t": 15:30}}, '
    text += '{"tool_call_id": "1", "tool_name": "g", "parameters": {}}]<|END_ACTION|>'
    assert calls(text, "cohere_command3") == [("g", {})]


def test_bare_object_needs_a_declared_name_or_is_all_of_the_answer():
    assert calls(CALL, "auto", ["f"]) == [("f", {"a": 1})]
    assert calls(CALL, "auto", ["g"]) == []
    assert calls(CALL, "auto") == [("f", {"a": 1})]
    assert calls(f"{CALL} is one", "auto") == []
    assert calls(f"See: {CALL}", "auto") == []
    assert calls('{"name": "f"}', "auto", ["f"]) == []


def test_name_as_the_only_key():
    assert calls('<|tools_prefix|>[{"f": {"a": 1}', "apertus") == [("f", {"a": 1})]
