"""The adapter contract: calls out of a response, and the continuation that answers them."""

import json
from typing import Any

import pytest
from tests.wires import TRIO, TRIO_PAIRS, across, asking, home, parts_of, user, words

import toolglot
from toolglot import (
    DecodeError,
    ToolCall,
    ToolOutput,
    build_tool_result_messages,
    ir,
    parse_tool_calls,
    translate_request,
)
from toolglot.calls import UnmatchedOutputError

PARIS = '{"location":"Paris"}'
CHAT_MESSAGE = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {
            "id": "call_xxx",
            "type": "function",
            "function": {"name": "get_weather", "arguments": PARIS},
        }
    ],
}
CHAT = {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": CHAT_MESSAGE}]}
ITEM = {
    "type": "function_call",
    "call_id": "call_123",
    "name": "get_weather",
    "arguments": PARIS,
}
RESPONSES = {"status": "completed", "output": [ITEM]}
BLOCK = {"type": "tool_use", "id": "toolu_abc", "name": "get_weather", "input": json.loads(PARIS)}
CLAUDE = {"role": "assistant", "content": [BLOCK], "stop_reason": "tool_use"}

CASES = [
    pytest.param("chat", CHAT, "call_xxx", id="chat"),
    pytest.param("responses", RESPONSES, "call_123", id="responses"),
    pytest.param("claude", CLAUDE, "toolu_abc", id="claude"),
]
OUTPUT = '{"temperature":25}'
RESULTS = {
    "chat": {"role": "tool", "tool_call_id": "call_xxx", "content": OUTPUT},
    "responses": {"type": "function_call_output", "call_id": "call_123", "output": OUTPUT},
    "claude": {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "toolu_abc", "content": OUTPUT}],
    },
}


@pytest.mark.parametrize(("protocol", "response", "call_id"), CASES)
def test_calls_are_parsed(protocol, response, call_id):
    """S2-01, S2-03, S2-06, S2-10, S2-13, S2-16, D-04: text and value of the arguments, both."""
    [call] = parse_tool_calls(response, protocol)
    assert call == ToolCall(id=call_id, name="get_weather", arguments=PARIS)
    assert call.input == {"location": "Paris"}


@pytest.mark.parametrize(("protocol", "response", "call_id"), CASES)
@pytest.mark.parametrize("form", [json.dumps, lambda body: json.dumps(body).encode()])
def test_calls_are_parsed_from_text_and_bytes(protocol, response, call_id, form):
    """S2-01"""
    assert [call.id for call in parse_tool_calls(form(response), protocol)] == [call_id]


@pytest.mark.parametrize(("protocol", "response", "call_id"), CASES)
def test_results_are_built(protocol, response, call_id):
    """S2-02, S2-05, S2-07, S2-11, S2-20, D-01: exactly as each protocol wants them."""
    calls = parse_tool_calls(response, protocol)
    outputs = [ToolOutput(call_id, OUTPUT)]
    assert build_tool_result_messages(calls, outputs, protocol) == [RESULTS[protocol]]


@pytest.mark.parametrize(("protocol", "response", "call_id"), CASES)
def test_an_output_without_its_call_is_refused(protocol, response, call_id):
    """S2-04"""
    calls = parse_tool_calls(response, protocol)
    with pytest.raises(UnmatchedOutputError, match="there is no call 'call_other'; calls: "):
        build_tool_result_messages(calls, [ToolOutput("call_other", "x")], protocol)


@pytest.mark.parametrize(("protocol", "response", "call_id"), CASES)
def test_a_failed_output_says_so(protocol, response, call_id):
    """S2-04, D-15"""
    calls = parse_tool_calls(response, protocol)
    outputs = [ToolOutput(call_id, "boom", is_error=True)]
    [message] = build_tool_result_messages(calls, outputs, protocol)
    found = {
        "chat": message.get("content"),
        "responses": message.get("status"),
        "claude": message["content"][0]["is_error"] if protocol == "claude" else None,
    }
    wanted = {"chat": "[tool error] boom", "responses": "incomplete", "claude": True}
    assert found[protocol] == wanted[protocol]


@pytest.mark.parametrize(("protocol", "response", "call_id"), CASES)
@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("plain", "plain"),
        ({"temperature": 25}, OUTPUT),
        ([1, "zwölf"], '[1,"zwölf"]'),
        (12345678901234567890, "12345678901234567890"),
        (None, "null"),
        ('{"already": "text"}', '{"already": "text"}'),
    ],
)
def test_outputs_are_one_string(protocol, response, call_id, output, text):
    """S2-19: JSON once, and never twice."""
    calls = parse_tool_calls(response, protocol)
    [message] = build_tool_result_messages(calls, [ToolOutput(call_id, output)], protocol)
    key = "output" if protocol == "responses" else "content"
    value = message[key] if protocol != "claude" else message["content"][0]["content"]
    assert value == text


# --- requests -------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["anthropic", "openai-responses", "gemini", "ollama"])
def test_chat_roles_and_forms_of_content(target):
    """S2-08"""
    body = {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "one"},
            {"role": "user", "content": [{"type": "text", "text": "two"}]},
            CHAT_MESSAGE,
            {"role": "tool", "tool_call_id": "call_xxx", "content": OUTPUT},
            {"role": "assistant", "content": "three"},
            {"role": "user", "content": "four"},
        ],
    }
    wire, _ = translate_request(body, source="openai-chat", target=target)
    request = toolglot.decode_request(wire.body, source=target, path=wire.path)
    system = words(request.system) if request.system else ""
    assert system + words(request) == "Be brief.onetwothreefour"
    [call], [result] = parts_of(request, ir.ToolCall), parts_of(request, ir.ToolResult)
    assert call.id == result.id
    assert words(result) == OUTPUT


@pytest.mark.parametrize(
    ("choice", "mode", "names"),
    [("auto", "auto", ()), ({"type": "function", "function": {"name": "f"}}, "tool", ("f",))],
)
def test_chat_tool_choice(choice, mode, names):
    """S2-09"""
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [{"type": "function", "function": {"name": "f", "strict": True}}],
        "tool_choice": choice,
    }
    request = toolglot.decode_request(body, source="openai-chat")
    assert request.tool_choice is not None
    assert (request.tool_choice.mode, request.tool_choice.names) == (mode, names)
    [found] = request.tools
    assert isinstance(found, ir.FunctionTool)
    assert found.strict is True


@pytest.mark.parametrize("given", ["Weather in Paris?", [{"role": "user", "content": "W"}]])
def test_responses_input_and_flat_tools(given):
    """S2-12: and `required` stays when another protocol's client says it."""
    schema = {
        "type": "object",
        "properties": {"location": {"type": "string"}},
        "required": ["location"],
    }
    tool = {"type": "function", "name": "get_weather", "parameters": schema}
    body = {"model": "gpt-5", "tools": [tool], "input": given}
    for target in ("anthropic", "openai-chat"):
        wire, _ = translate_request(body, source="openai-responses", target=target)
        [found] = toolglot.decode_request(wire.body, source=target).tools
        assert isinstance(found, ir.FunctionTool)
        assert found.parameters == schema
        assert len(wire.body["messages"]) == 1


# --- strict and lenient ---------------------------------------------------------------------------


def test_the_item_id_is_not_the_call_id():
    """S2-13, D-02"""
    both = {**ITEM, "id": "fc_999"}
    [call] = parse_tool_calls({"output": [both]}, "responses")
    assert call.id == "call_123"
    alone = {key: value for key, value in both.items() if key != "call_id"}
    [call] = parse_tool_calls({"output": [alone]}, "responses")
    assert call.id == "fc_999"


@pytest.mark.parametrize(
    ("protocol", "response"),
    [
        ("chat", {"choices": [{"finish_reason": "stop", "message": CHAT_MESSAGE}]}),
        ("claude", {**CLAUDE, "stop_reason": "end_turn"}),
    ],
)
def test_calls_count_whatever_the_stop_reason_unless_strict(protocol, response):
    """S2-10, S2-18, D-11"""
    assert len(parse_tool_calls(response, protocol)) == 1
    with pytest.raises(DecodeError, match="did not stop for them"):
        parse_tool_calls(response, protocol, strict=True)


@pytest.mark.parametrize(("protocol", "response", "call_id"), CASES)
def test_a_sound_response_is_good_enough_for_strict(protocol, response, call_id):
    """S2-18"""
    calls = parse_tool_calls(response, protocol, strict=True)
    assert [call.id for call in calls] == [call_id]


def test_one_bad_call_harms_no_other():
    """S2-18, D-11: it is delivered as it is; strict says which one it was."""
    good = CHAT_MESSAGE["tool_calls"][0]
    bad = {**good, "id": "call_2", "function": {"name": "f", "arguments": '{"cut'}}
    message = {**CHAT_MESSAGE, "tool_calls": [good, bad]}
    response = {"choices": [{"finish_reason": "tool_calls", "message": message}]}
    first, second = parse_tool_calls(response, "chat")
    assert first.input == {"location": "Paris"}
    assert second.arguments == '{"cut'
    assert second.input == {"$invalid": '{"cut'}
    with pytest.raises(DecodeError) as caught:
        parse_tool_calls(response, "chat", strict=True)
    assert caught.value.path == "tool_calls[1].arguments"


@pytest.mark.parametrize(
    ("protocol", "response", "path"),
    [
        (
            "chat",
            {"choices": [{"message": {"tool_calls": [7]}}]},
            "choices[0].message.tool_calls[0]",
        ),
        ("chat", {"choices": "none"}, "choices"),
        ("responses", {"output": [{**ITEM, "name": 5}]}, "output[0].name"),
        ("claude", {"content": [{**BLOCK, "id": None}]}, "content[0].id"),
        ("claude", {"content": [{**BLOCK, "name": 5}]}, "content[0].name"),
    ],
)
def test_what_is_malformed_is_refused_with_its_path(protocol, response, path):
    """S2-18"""
    with pytest.raises(DecodeError) as caught:
        parse_tool_calls(response, protocol)
    assert caught.value.path == path


@pytest.mark.parametrize(("value", "text"), [(5, "5"), ("plain", '"plain"'), ([1], "[1]")])
def test_strict_refuses_arguments_that_are_no_object(value, text):
    """S2-18, case-50: otherwise they are given as they are."""
    response = {"content": [{**BLOCK, "input": value}], "stop_reason": "tool_use"}
    [call] = parse_tool_calls(response, "claude")
    assert (call.arguments, call.input, call.invalid) == (text, {"$value": value}, "")
    with pytest.raises(DecodeError, match="no JSON object") as caught:
        parse_tool_calls(response, "claude", strict=True)
    assert caught.value.path == "tool_calls[0].arguments"


# --- continuity -----------------------------------------------------------------------------------

REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "Paris, then."}],
    "encrypted_content": "gAAAA==",
}


def test_a_responses_continuation_repeats_the_output():
    """S2-14, S2-15: reasoning items too, as they were and where they were."""
    output = [REASONING, {**ITEM, "id": "fc_1", "status": "completed"}]
    response = {"status": "completed", "output": output}
    calls = parse_tool_calls(response, "responses")
    outputs = [ToolOutput("call_123", OUTPUT)]
    appended = build_tool_result_messages(calls, outputs, "responses", response=response)
    assert appended == [*output, RESULTS["responses"]]


def test_a_claude_continuation_repeats_the_blocks():
    """S2-17: text, thinking and calls, then one message with all results."""
    content = [
        {"type": "thinking", "thinking": "Paris.", "signature": "c2ln"},
        {"type": "text", "text": "I'll look."},
        BLOCK,
        {**BLOCK, "id": "toolu_2"},
    ]
    response = {**CLAUDE, "content": content}
    calls = parse_tool_calls(response, "claude")
    outputs = [ToolOutput(call.id, OUTPUT) for call in calls]
    appended = build_tool_result_messages(calls, outputs, "claude", response=response)
    results = [
        {"type": "tool_result", "tool_use_id": call_id, "content": OUTPUT}
        for call_id in ("toolu_abc", "toolu_2")
    ]
    assert appended == [
        {"role": "assistant", "content": content},
        {"role": "user", "content": results},
    ]


def test_a_chat_continuation_repeats_the_message():
    """S2-07, S2-21"""
    message = {**CHAT_MESSAGE, "content": "I'll look.", "reasoning_content": "Paris."}
    response = {"choices": [{"finish_reason": "tool_calls", "message": message}]}
    calls = parse_tool_calls(response, "chat")
    outputs = [ToolOutput("call_xxx", OUTPUT)]
    appended = build_tool_result_messages(calls, outputs, "chat", response=response)
    assert appended == [message, RESULTS["chat"]]


@pytest.mark.parametrize(("protocol", "response", "call_id"), CASES)
def test_a_conversation_goes_on(protocol, response, call_id):
    """S2-21: what was there before stays, and the next request is sound."""
    source = {"chat": "openai-chat", "responses": "openai-responses", "claude": "anthropic"}[
        protocol
    ]
    key = "input" if protocol == "responses" else "messages"
    before: list[Any] = [{"role": "user", "content": "Weather in Paris?"}]
    calls = parse_tool_calls(response, protocol)
    outputs = [ToolOutput(call_id, OUTPUT)]
    added = build_tool_result_messages(calls, outputs, protocol, response=response)
    body = {"model": "m", "max_tokens": 9, key: [*before, *added]}
    if protocol == "responses":
        del body["max_tokens"]
    request = toolglot.decode_request(body, source=source)
    assert words(request.messages[0]) == "Weather in Paris?"
    [call], [result] = parts_of(request, ir.ToolCall), parts_of(request, ir.ToolResult)
    assert call.id == result.id == call_id
    assert call.arguments == PARIS


@pytest.mark.parametrize("call_id", ["call_1", "toolu_01ABC", "fc_9", "odd-id-7", "x" * 40])
@pytest.mark.parametrize(("source", "target"), TRIO_PAIRS)
def test_ids_are_preserved(source, target, call_id):
    """S2-20, D-01: exactly, there and back."""
    call = ir.ToolCall(id=call_id, name="f", arguments="{}")
    result = ir.ToolResult(id=call_id, parts=(ir.Text(text="done"),))
    request = asking(
        user("hi"),
        ir.Message(role="assistant", parts=(call,)),
        ir.Message(role="user", parts=(result,)),
    )
    for there in (across(request, source, target), home(request, source, target)):
        [made], [given] = parts_of(there, ir.ToolCall), parts_of(there, ir.ToolResult)
        assert made.id == given.id == call_id


@pytest.mark.parametrize("source", [name for name in TRIO if name != "openai-responses"])
def test_no_item_id_is_sent_for_another_protocols_call(source):
    """D-02: the id of the item is the provider's to give."""
    call = ir.ToolCall(id="toolu_1", name="f", arguments="{}")
    request = asking(
        user("hi"),
        ir.Message(role="assistant", parts=(call,)),
        ir.Message(role="user", parts=(ir.ToolResult(id="toolu_1"),)),
    )
    body = toolglot.encode_request(request, target=source).body
    wire, _ = translate_request(body, source=source, target="openai-responses")
    items = [item for item in wire.body["input"] if item["type"] != "message"]
    assert [(item["call_id"], item.get("id")) for item in items] == [("toolu_1", None)] * 2
