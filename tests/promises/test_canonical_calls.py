"""One canonical call, given out in the forms of several providers."""

import json

import pytest

from toolglot import ToolCall, format_tools, parse_tool_calls

CALL = ToolCall(id="1", name="test", arguments='{"x":5}')
SCHEMA = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
ANTHROPIC = {"name": "calc", "description": "Calculates", "input_schema": SCHEMA}


def test_one_parse_gives_both_forms():
    """S3-03"""
    body = {"content": [{"type": "tool_use", "id": "toolu_1", "name": "calc", "input": {"x": 5}}]}
    [call] = parse_tool_calls(body, "anthropic")
    assert call.to_anthropic() == body["content"][0]
    assert call.to_openai() == {
        "id": "toolu_1",
        "type": "function",
        "function": {"name": "calc", "arguments": '{"x":5}'},
    }


def test_the_canonical_form():
    """S3-07: arguments as an object; the raw input only where there is one."""
    assert CALL.to_canonical() == {
        "id": "1",
        "name": "test",
        "arguments": {"x": 5},
        "type": "function",
    }
    raw = ToolCall(id="2", name="bash", arguments="{}", type="bash", raw_input="<tool>ls</tool>")
    assert raw.to_canonical()["raw_input"] == "<tool>ls</tool>"
    assert raw.to_canonical()["type"] == "bash"


def test_the_form_of_anthropic():
    """S3-14"""
    assert CALL.to_anthropic() == {
        "type": "tool_use",
        "id": "1",
        "name": "test",
        "input": {"x": 5},
    }


def test_the_form_of_openai():
    """S3-15"""
    assert CALL.to_openai() == {
        "id": "1",
        "type": "function",
        "function": {"name": "test", "arguments": '{"x":5}'},
    }


def test_the_form_of_no_standard():
    """S3-16"""
    assert CALL.to_generic() == {
        "tool_call_id": "1",
        "tool_name": "test",
        "parameters": {"x": 5},
    }


def test_definitions_from_anthropic_to_openai():
    """S3-21"""
    [tool] = format_tools([ANTHROPIC], "openai")
    assert tool == {
        "type": "function",
        "function": {"name": "calc", "description": "Calculates", "parameters": SCHEMA},
    }


def test_definitions_from_openai_to_anthropic():
    """S3-22: and every one of several."""
    function = {"name": "calc", "description": "Calculates", "parameters": SCHEMA}
    tools = [{"type": "function", "function": {**function, "name": n}} for n in ("calc", "two")]
    assert format_tools(tools, "anthropic") == [ANTHROPIC, {**ANTHROPIC, "name": "two"}]


def test_the_parser_for_anthropic():
    """S3-47"""
    text = '{"content": [{"type": "tool_use", "id": "123", "name": "calc", "input": {"x": 5}}]}'
    [call] = parse_tool_calls(text, "anthropic")
    assert call.name == "calc"
    assert call.input["x"] == 5


@pytest.mark.parametrize(
    "arguments",
    ['{"x":5}', '{"x":5.0}', '{"x":12345678901234567890}', '{"b":1,"a":[null,"ä"]}', "{}"],
)
def test_the_round_trip_is_equality(arguments):
    """S3-48, D-19: integers stay integers, and numbers with a point stay so."""
    call = ToolCall(id="1", name="test", arguments=arguments)
    anthropic = {"content": [call.to_anthropic()], "stop_reason": "tool_use"}
    assert parse_tool_calls(anthropic, "anthropic") == [call]
    message = {"role": "assistant", "content": None, "tool_calls": [call.to_openai()]}
    assert parse_tool_calls(message, "openai") == [call]
    assert json.dumps(call.input) == json.dumps(json.loads(arguments))


def test_whole_numbers_are_of_their_type():
    """D-19"""
    assert type(CALL.input["x"]) is int
    [again] = parse_tool_calls({"content": [CALL.to_anthropic()]}, "anthropic")
    assert type(again.input["x"]) is int
