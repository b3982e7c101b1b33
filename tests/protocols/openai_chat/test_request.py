"""Requests of OpenAI Chat Completions."""

import json

import pytest
from msgspec.structs import replace
from tests.protocols.openai_chat.helpers import (
    ask,
    call,
    call_message,
    codes,
    decode,
    encode,
    fixture,
    foreign,
    tool,
)

from toolglot.errors import DecodeError
from toolglot.ir import (
    Message,
    OutputFormat,
    ReasoningSettings,
    Request,
    Text,
    ToolResult,
)

# --- settings -------------------------------------------------------------------------------------


def test_max_tokens_keeps_its_spelling():
    assert "max_completion_tokens" in encode(decode(ask(max_completion_tokens=5)))
    assert decode(ask(max_completion_tokens=5)).max_tokens == 5
    assert encode(Request(model="m", messages=(), max_tokens=5))["max_tokens"] == 5


def test_stop_keeps_its_spelling():
    assert decode(ask(stop="x")).stop == ("x",)
    assert encode(decode(ask(stop="x")))["stop"] == "x"
    assert encode(replace(decode(ask(stop="x")), stop=("x", "y")))["stop"] == ["x", "y"]


@pytest.mark.parametrize("effort", ["minimal", "low", "medium", "high", "xhigh", "max"])
def test_reasoning_effort(effort):
    assert decode(ask(reasoning_effort=effort)).reasoning == ReasoningSettings(effort=effort)


def test_no_reasoning():
    assert decode(ask(reasoning_effort="none")).reasoning == ReasoningSettings(enabled=False)
    request = Request(model="m", messages=(), reasoning=ReasoningSettings(enabled=True))
    assert "reasoning_effort" not in encode(request)


def test_output_formats():
    schema = {"name": "n", "description": "d", "schema": {"type": "object"}, "strict": True}
    output = decode(ask(response_format={"type": "json_schema", "json_schema": schema})).output
    assert output == OutputFormat(
        kind="schema", name="n", description="d", schema={"type": "object"}, strict=True
    )
    assert decode(ask(response_format={"type": "json_object"})).output == OutputFormat(kind="json")
    assert decode(ask(response_format={"type": "text"})).output == OutputFormat(kind="text")
    assert decode(ask(response_format={"type": "grammar", "x": 1})).output is None


def test_service_tiers_that_others_know():
    assert decode(ask(service_tier="priority")).service_tier == "priority"
    assert decode(ask(service_tier="scale")).service_tier is None


def test_a_foreign_stream_asks_for_its_usage():
    ctx = foreign()
    body = encode(Request(model="m", messages=(), stream=True), ctx)
    assert body["stream_options"] == {"include_usage": True}
    assert codes(ctx) == ["default-added"]
    assert "stream_options" not in encode(decode(ask(stream=True)))


def test_request_system_becomes_the_first_message():
    system = Message(role="system", parts=(Text(text="Be brief."),))
    body = encode(Request(model="m", messages=(), system=system), foreign())
    assert body["messages"] == [{"role": "system", "content": "Be brief."}]


def test_roles_and_content_forms():
    """S2-08: system, developer, user, assistant and tool, content as string or parts."""
    messages = decode(fixture("request", "settings")).messages
    assert [m.role for m in messages][:4] == ["system", "developer", "user", "assistant"]
    assert messages[2].name == "harbour_master"
    assert len(messages[1].parts) == 2
    result = decode(ask(call_message(call()), tool("c1", "x"))).messages[1]
    assert result == Message(role="user", parts=(ToolResult(id="c1", parts=(Text(text="x"),)),))


@pytest.mark.parametrize(
    "body",
    [
        ask({"role": "user"}, {"role": "user", "content": None}, {"role": "assistant"}),
        ask({"role": "tool", "tool_call_id": "a", "content": None}),
        ask(response_format={"type": "json_schema"}),
        ask(response_format={"type": ["json_schema"]}),
        ask(
            tool_choice={
                "type": "allowed_tools",
                "allowed_tools": {"mode": "auto", "tools": [{}, 1]},
            }
        ),
        ask(stop=[], tools=[], stream_options=None),
    ],
)
def test_bare_and_empty_members_are_kept(body):
    assert encode(decode(body)) == body


# --- totality -------------------------------------------------------------------------------------


NASTY_REQUESTS = [
    {},
    {"model": 1},
    {"model": "m"},
    {"model": "m", "messages": None},
    {"model": "m", "messages": {}},
    ask(1),
    ask({}),
    ask({"role": "owl"}),
    ask({"role": "user", "content": 1}),
    ask({"role": "user", "content": [1]}),
    ask({"role": "user", "content": [{}]}),
    ask({"role": "user", "content": [{"type": "text"}]}),
    ask({"role": "user", "content": [{"type": "image_url"}]}),
    ask({"role": "user", "content": [{"type": "image_url", "image_url": {"url": 1}}]}),
    ask({"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]}),
    ask({"role": "user", "content": [{"type": "file", "file": {"file_data": 1}}]}),
    ask({"role": "assistant", "tool_calls": [1]}),
    ask({"role": "assistant", "tool_calls": [{}]}),
    ask({"role": "assistant", "tool_calls": [{"type": "function"}]}),
    ask({"role": "assistant", "tool_calls": [{"type": "function", "function": {}}]}),
    ask({"role": "assistant", "tool_calls": [{"type": "custom"}]}),
    ask({"role": "assistant", "refusal": 1}),
    ask({"role": "assistant", "content": "x", "annotations": [1]}),
    ask({"role": "tool", "tool_call_id": 1}),
    ask({"role": "assistant", "function_call": {}}),
    ask(tools={}),
    ask(tools=[1]),
    ask(tools=[{"type": []}]),
    ask(tools=[{"type": "function"}]),
    ask(tools=[{"type": "function", "function": {"name": "f", "parameters": []}}]),
    ask(functions=[{}]),
    ask(tool_choice=1),
    ask(tool_choice="banana"),
    ask(tool_choice={}),
    ask(tool_choice={"type": "banana"}),
    ask(tool_choice={"type": "function"}),
    ask(tool_choice={"type": "allowed_tools", "allowed_tools": {"mode": "auto"}}),
    ask(function_call=1),
    ask(response_format="json"),
    ask(stop=[1]),
    ask(temperature="hot"),
    ask(stream_options=1),
    ask(reasoning_effort=3),
]


@pytest.mark.parametrize("body", NASTY_REQUESTS, ids=lambda body: json.dumps(body)[:60])
def test_wrong_requests_are_refused_with_a_path(body):
    with pytest.raises(DecodeError) as caught:
        decode(body)
    assert caught.value.path
