"""The small functions: calls out of responses, definitions and results into requests."""

import json

import pytest
from tests.wires import NAMES, answer, call

from toolglot import (
    DecodeError,
    ToolCall,
    ToolglotError,
    ToolOutput,
    UnknownProtocolError,
    build_tool_result_messages,
    decode_request,
    encode_response,
    format_tool_result,
    format_tools,
    get_protocol,
    ir,
    parse_tool_calls,
)
from toolglot.calls import PROVIDERS, UnmatchedOutputError

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}
DEFINITIONS = {
    "anthropic": [{"name": "f", "description": "d", "input_schema": SCHEMA}],
    "openai-chat": [
        {"type": "function", "function": {"name": "f", "description": "d", "parameters": SCHEMA}}
    ],
    "openai-responses": [
        {"type": "function", "name": "f", "description": "d", "parameters": SCHEMA}
    ],
    "gemini-interactions": [
        {"type": "function", "name": "f", "description": "d", "parameters": SCHEMA}
    ],
    "gemini": [
        {
            "functionDeclarations": [
                {"name": "f", "description": "d", "parametersJsonSchema": SCHEMA}
            ]
        }
    ],
}


# --- parse_tool_calls -----------------------------------------------------------------------------


@pytest.mark.parametrize("provider", [*NAMES, *PROVIDERS])
def test_every_provider_is_read(provider):
    name = PROVIDERS.get(provider, provider)
    body = encode_response(answer("hm", call("f", '{"a":1}'), call("g", id="c2")), target=name).body
    first, second = parse_tool_calls(body, provider)
    assert (first.name, first.arguments, first.input) == ("f", '{"a":1}', {"a": 1})
    assert (second.name, second.arguments) == ("g", "{}")
    assert first.id != second.id


def test_calls_of_all_choices_are_read():
    choice = encode_response(answer(call("f")), target="openai-chat").body["choices"][0]
    assert len(parse_tool_calls({"choices": [choice, {**choice, "index": 1}]}, "openai")) == 2


def test_an_unknown_provider_is_refused():
    with pytest.raises(UnknownProtocolError, match="no protocol named 'nobody'; known: anthropic"):
        parse_tool_calls({}, "nobody")


def test_an_error_is_no_response():
    body = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    with pytest.raises(DecodeError, match="error: busy"):
        parse_tool_calls(body, "anthropic")
    with pytest.raises(DecodeError, match="error: busy"):
        build_tool_result_messages([], [], "anthropic", response=body)


def test_a_freeform_call_keeps_its_text():
    item = {"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "*** Begin"}
    [found] = parse_tool_calls({"output": [item]}, "responses")
    assert (found.type, found.arguments) == ("custom", "*** Begin")


@pytest.mark.parametrize("body", ["", "[]", "{", b"\xff", "null"])
def test_what_is_no_response_is_refused(body):
    with pytest.raises(DecodeError):
        parse_tool_calls(body, "openai")


# --- ToolCall -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ('{"a":1}', {"a": 1}),
        ("{}", {}),
        ("null", {}),
        ("[1]", {"$value": [1]}),
        ("7", {"$value": 7}),
        ('{"cut', {"$invalid": '{"cut'}),
    ],
)
def test_the_value_of_arguments(arguments, value):
    assert ToolCall(id="1", name="f", arguments=arguments).input == value


def test_calls_are_values():
    one = ToolCall(id="1", name="f")
    assert one == ToolCall(id="1", name="f", arguments="{}", type="function", raw_input="")
    with pytest.raises(AttributeError):
        one.name = "g"


# --- format_tools ---------------------------------------------------------------------------------


@pytest.mark.parametrize("target", DEFINITIONS)
@pytest.mark.parametrize("source", DEFINITIONS)
def test_definitions_from_any_to_any(source, target):
    expected = DEFINITIONS[target]
    if target == "openai-responses" and source not in (target, "gemini-interactions"):
        # There, silence means that a tool is strict; and tools of interactions look the same.
        expected = [{**each, "strict": False} for each in expected]
    assert format_tools(DEFINITIONS[source], target) == expected


@pytest.mark.parametrize("source", DEFINITIONS)
def test_definitions_for_ollama(source):
    assert format_tools(DEFINITIONS[source], "ollama") == DEFINITIONS["openai-chat"]


@pytest.mark.parametrize("provider", NAMES)
def test_no_definitions_are_none(provider):
    assert format_tools([], provider) == []


def test_definitions_are_not_touched():
    before = json.dumps(DEFINITIONS)
    given = format_tools(DEFINITIONS["openai-chat"], "openai")
    assert given is not DEFINITIONS["openai-chat"]
    format_tools(DEFINITIONS["openai-chat"], "anthropic")
    assert json.dumps(DEFINITIONS) == before


# --- results --------------------------------------------------------------------------------------


def test_a_result_for_gemini_and_responses():
    assert format_tool_result("c1", "f", "done", "google") == {
        "role": "user",
        "parts": [{"functionResponse": {"id": "c1", "name": "f", "response": {"output": "done"}}}],
    }
    assert format_tool_result("c1", "f", "done", "responses") == {
        "type": "function_call_output",
        "call_id": "c1",
        "output": "done",
    }


@pytest.mark.parametrize("provider", NAMES)
@pytest.mark.parametrize(("value", "text"), [("x", "x"), ({"a": 1}, '{"a":1}'), (None, "null")])
def test_values_are_written_as_json_once(provider, value, text):
    message = format_tool_result("c1", "f", value, provider)
    key = get_protocol(provider).SURFACE.messages.path
    body = {"model": "m", "max_tokens": 9, key: [message]}
    request = decode_request(body, source=provider, path="/models/m:generateContent")
    [given] = request.messages[0].parts
    assert given.parts == (ir.Text(text=text),)


@pytest.mark.parametrize("provider", NAMES)
def test_a_failure_can_be_read_back(provider):
    message = format_tool_result("c1", "f", "boom", provider, is_error=True)
    key = get_protocol(provider).SURFACE.messages.path
    body = {"model": "m", "max_tokens": 9, key: [message]}
    request = decode_request(body, source=provider, path="/models/m:generateContent")
    [given] = request.messages[0].parts
    assert given.is_error is True
    assert given.parts == (ir.Text(text="boom"),)


@pytest.mark.parametrize("provider", NAMES)
def test_a_turn_is_repeated_as_it_was_written(provider):
    body = encode_response(answer("Hm.", call("f", '{"a":1}')), target=provider).body
    body = json.loads(json.dumps(body))
    calls = parse_tool_calls(body, provider)
    outputs = [ToolOutput(each.id, "done") for each in calls]
    added = build_tool_result_messages(calls, outputs, provider, response=body)
    alone = build_tool_result_messages(calls, outputs, provider)
    assert added[-len(alone) :] == alone
    turn = added[: -len(alone)]
    written = json.dumps(body)
    for message in turn:
        if provider == "anthropic":
            assert message == {"role": "assistant", "content": body["content"]}
        else:
            assert json.dumps(message) in written
    assert json.dumps(body) == written


@pytest.mark.parametrize(
    ("provider", "body"),
    [
        ("openai", {"choices": []}),
        ("gemini", {"candidates": []}),
        ("gemini", {"promptFeedback": {}}),
        ("responses", {"output": []}),
        ("ollama", {"message": {}, "done": True}),
    ],
)
def test_an_empty_answer_is_no_turn(provider, body):
    assert build_tool_result_messages([], [], provider, response=body) in (
        [],
        build_tool_result_messages([], [], provider),
    )


def test_a_bare_message_is_a_turn():
    message = {"role": "assistant", "content": "hi"}
    added = build_tool_result_messages([], [], "openai", response=message)
    assert added[0] == message


def test_an_output_without_a_call_is_an_error_of_ours():
    with pytest.raises(UnmatchedOutputError, match="there is no call 'x'; calls: none") as caught:
        build_tool_result_messages([], [ToolOutput("x", "")], "openai")
    assert isinstance(caught.value, ToolglotError)
    assert isinstance(caught.value, ValueError)
