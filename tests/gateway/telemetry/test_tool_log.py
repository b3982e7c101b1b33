"""S1-54: with debug on, the log tells what became of tools and calls."""

import io
import json

import pytest

from toolglot import ir
from toolglot.gateway.telemetry import logs
from toolglot.gateway.telemetry.logs import LOGGER
from toolglot.gateway.telemetry.tool_log import (
    LoggedRequest,
    call_differences,
    log_lines,
    read_calls,
    tool_differences,
)
from toolglot.translate import translate_request

WEATHER = {
    "name": "get weather",
    "description": "The weather",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}},
}
ASK = {
    "model": "claude-x",
    "max_tokens": 9,
    "tools": [WEATHER, {**WEATHER, "name": "read"}],
    "messages": [
        {"role": "user", "content": "Weather?"},
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "toolu_1", "name": "get weather", "input": {"city": "X"}}
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "sunny"}],
        },
    ],
}


@pytest.fixture
def log():
    stream = io.StringIO()
    logs.set_up("debug", stream=stream)
    return stream


def sides(body: dict, target: str) -> tuple[LoggedRequest, LoggedRequest]:
    wire, _ = translate_request(body, source="anthropic", target=target)
    return LoggedRequest("anthropic", json.dumps(body).encode()), LoggedRequest(
        target, wire.data(), wire.path
    )


def test_tools_are_shown_as_received_and_as_sent():
    """S1-54"""
    lines = list(tool_differences(*sides(ASK, "openai-chat")))
    alias = "get_weather_FMIhY7WG"
    assert lines[0] == "converted 2 tools"
    received = [json.loads(line[15:]) for line in lines if line.startswith("tool received: ")]
    sent = [json.loads(line[11:]) for line in lines if line.startswith("tool sent: ")]
    assert [tool["name"] for tool in received] == ["get weather", "read"]
    assert [tool["function"]["name"] for tool in sent] == [alias, "read"]
    assert f"call toolu_1: name 'get weather' became {alias!r}" in lines


def test_tools_are_found_where_a_protocol_has_them():
    lines = list(tool_differences(*sides(ASK, "bedrock-converse")))
    sent = [json.loads(line[11:]) for line in lines if line.startswith("tool sent: ")]
    assert [tool["toolSpec"]["name"] for tool in sent][1:] == ["read"]


def test_one_tool_is_one_tool():
    one = {**ASK, "tools": [WEATHER], "messages": ASK["messages"][:1]}
    assert next(tool_differences(*sides(one, "gemini"))) == "converted 1 tool"


def test_no_tools_are_no_tools():
    none = {**ASK, "tools": [], "messages": ASK["messages"][:1]}
    assert list(tool_differences(*sides(none, "ollama"))) == ["converted 0 tools"]


FUNCTION = {"name": "f", "arguments": {"a": 1}}


def call(name: str = "f", arguments: str = "{}", id: str = "c1") -> ir.ToolCall:  # noqa: A002
    return ir.ToolCall(id=id, name=name, arguments=arguments)


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ([call()], [call()], []),
        ([call(arguments='{"a": 1}')], [call(arguments='{"a":1}')], []),
        ([call("f")], [call("g")], ["call c1: name 'f' became 'g'"]),
        (
            [call(arguments="{}")],
            [call(arguments='{"a":1}', id="c2")],
            ["call c1: id 'c1' became 'c2'", "call c1: arguments '{}' became '{\"a\":1}'"],
        ),
        ([call(arguments="{")], [call(arguments="{}")], ["call c1: arguments '{' became '{}'"]),
        ([call()], [], ["call only received: f c1"]),
        ([], [call()], ["call only sent: f c1"]),
    ],
)
def test_differences_of_calls_are_told(before, after, lines):
    """S1-54"""
    assert list(call_differences(before, after)) == lines


def test_calls_are_found_in_answers():
    message = {"role": "assistant", "content": "", "tool_calls": [{"function": FUNCTION}]}
    answer = {"model": "x", "message": message, "done": True, "done_reason": "stop"}
    body = json.dumps(answer).encode()
    for stream in (True, False):
        (found,) = read_calls(body + b"\n", "ollama", stream=stream)
        assert (found.name, found.arguments) == ("f", '{"a":1}')
    assert read_calls(b'{"error":"no"}', "ollama", stream=False) == ()


def test_lines_are_logged_at_debug_only(log):
    """S1-54"""
    log_lines("req_1", ["converted 2 tools"])
    assert json.loads(log.getvalue())["message"] == "req_1: converted 2 tools"
    LOGGER.setLevel("INFO")

    def never():
        raise AssertionError
        yield

    log_lines("req_1", never())
    assert log.getvalue().count("\n") == 1
