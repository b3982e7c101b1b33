"""Four providers side by side: definitions, calls and results in the form of each."""

import json
from typing import Any

import pytest
from tests.wires import (
    NAMES,
    PAIRS,
    across,
    answer,
    asking,
    assistant,
    call,
    carried,
    codes,
    parts_of,
    result,
    said,
    seen,
    tool,
    user,
)

import toolglot
from toolglot import (
    ToolCall,
    format_tool_result,
    format_tools,
    ir,
    parse_tool_calls,
    translate_request,
    translate_response,
)

SCHEMA = {
    "type": "object",
    "properties": {"location": {"type": "string"}},
    "required": ["location"],
}
WEATHER = {"name": "get_weather", "description": "Get current weather"}
STANDARD = [{"type": "function", "function": {**WEATHER, "parameters": SCHEMA}}]
ARGUMENTS = '{"location": "Paris"}'
MESSAGE = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {
            "id": "call_abc123",
            "type": "function",
            "function": {"name": "get_weather", "arguments": ARGUMENTS},
        }
    ],
}
CLAUDE = {
    "role": "assistant",
    "content": [
        {"type": "text", "text": "I'll check the weather for you."},
        {
            "type": "tool_use",
            "id": "toolu_01ABC123",
            "name": "get_weather",
            "input": {"location": "Paris"},
        },
    ],
}
ADD = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Add two numbers",
        "parameters": {
            "type": "object",
            "required": ["a", "b"],
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        },
    },
}
ADDS = {"function": {"name": "add", "arguments": {"a": 11434, "b": 12341}}}
OLLAMA = {"message": {"role": "assistant", "content": "", "tool_calls": [ADDS]}}
CHAT_REQUEST = {
    "model": "gpt-4o",
    "messages": [{"role": "user", "content": "Weather?"}],
    "tools": STANDARD,
    "tool_choice": "auto",
}


# --- definitions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", ["openai", "ollama", "openrouter"])
def test_the_standard_form_passes(provider):
    """S4-01, S4-20, S4-22, S4-23: for the providers that have it too."""
    assert format_tools(STANDARD, provider) == STANDARD


def test_the_standard_form_for_anthropic():
    """S4-01, S4-21: unwrapped, with `input_schema`."""
    assert format_tools(STANDARD, "anthropic") == [{**WEATHER, "input_schema": SCHEMA}]


@pytest.mark.parametrize("source", [name for name in NAMES if name != "openai-chat"])
def test_a_chat_request_says_tools_and_tool_choice(source):
    """S4-03: never the words of old."""
    request = asking(user("hi"), tools=(tool("f"),), tool_choice=ir.ToolChoice(mode="auto"))
    wire, _ = carried(request, source, "openai-chat")
    assert wire.body["tools"][0]["function"]["name"] == "f"
    assert not {"functions", "function_call"} & wire.body.keys()
    if source != "ollama":
        assert wire.body["tool_choice"] == "auto"


def test_an_anthropic_request():
    """S4-07"""
    wire, _ = translate_request(
        {**CHAT_REQUEST, "max_tokens": 4096, "model": "claude-3-5-sonnet-20241022"},
        source="openai-chat",
        target="anthropic",
    )
    [weather] = wire.body["tools"]
    assert wire.body["max_tokens"] == 4096
    assert {key: weather[key] for key in ("name", "description", "input_schema")} == {
        **WEATHER,
        "input_schema": SCHEMA,
    }
    assert "parameters" not in weather
    assert "type" not in weather


def test_an_ollama_request():
    """S4-11, S4-16: tools as OpenAI has them, key order kept, and streaming said."""
    body = {**CHAT_REQUEST, "model": "qwen3", "tools": [ADD], "stream": False}
    wire, _ = translate_request(body, source="openai-chat", target="ollama")
    assert json.dumps(wire.body["tools"]) == json.dumps([ADD])
    assert wire.body["stream"] is False
    assert wire.path == "/api/chat"


# --- calls ----------------------------------------------------------------------------------------


def test_calls_of_openai():
    """S4-02, S4-04, S4-24, D-04: the text of the arguments as it came."""
    wanted = [ToolCall(id="call_abc123", name="get_weather", arguments=ARGUMENTS)]
    assert parse_tool_calls({"choices": [{"message": MESSAGE}]}, "openai") == wanted
    assert parse_tool_calls(MESSAGE, "openai") == wanted


def test_calls_of_anthropic():
    """S4-08, S4-25: after the text, which stays too."""
    wanted = [ToolCall(id="toolu_01ABC123", name="get_weather", arguments='{"location":"Paris"}')]
    assert parse_tool_calls(CLAUDE, "anthropic") == wanted
    wire, _ = translate_response(CLAUDE, source="anthropic", target="openai-chat")
    [choice] = wire.body["choices"]
    assert choice["message"]["content"] == "I'll check the weather for you."
    assert [each["id"] for each in choice["message"]["tool_calls"]] == ["toolu_01ABC123"]


def test_calls_of_ollama():
    """S4-12, S4-13, S4-14, S4-26: ids are made, arguments become text."""
    [made] = parse_tool_calls(OLLAMA, "ollama")
    assert made.id.startswith("call_")
    assert (made.name, made.arguments) == ("add", '{"a":11434,"b":12341}')
    assert parse_tool_calls(OLLAMA["message"], "ollama")[0].name == "add"


def test_calls_of_openrouter():
    """S4-19, S4-27: as those of OpenAI."""
    response = {"id": "gen-1", "provider": "Someone", "choices": [{"message": MESSAGE}]}
    assert parse_tool_calls(response, "openrouter") == parse_tool_calls(response, "openai")


def test_calls_without_ids_get_different_ones():
    """S4-13: two of one name in one response, and two responses; the same one twice is equal."""
    two = {"message": {"role": "assistant", "content": "", "tool_calls": [ADDS, ADDS]}}
    first, second = (made.id for made in parse_tool_calls(two, "ollama"))
    assert first != second
    assert first != parse_tool_calls(OLLAMA, "ollama")[0].id
    assert [made.id for made in parse_tool_calls(two, "ollama")] == [first, second]


def test_ids_that_ollama_gives_are_kept():
    """S4-18"""
    given = {**ADDS, "id": "call_k3x"}
    response = {"message": {"role": "assistant", "content": "", "tool_calls": [given]}}
    assert [made.id for made in parse_tool_calls(response, "ollama")] == ["call_k3x"]
    wire, _ = translate_response(response, source="ollama", target="anthropic")
    assert wire.body["content"][0]["id"] == "call_k3x"
    messages = [
        response["message"],
        {"role": "tool", "tool_name": "add", "tool_call_id": "call_k3x", "content": "23775"},
    ]
    there, _ = translate_request(
        {"model": "m", "messages": messages}, source="ollama", target="openai-chat"
    )
    assert there.body["messages"][1]["tool_call_id"] == "call_k3x"


@pytest.mark.parametrize("provider", [*NAMES, "openai", "claude", "openrouter", "google"])
def test_no_calls_are_no_error(provider):
    """S4-32"""
    name = toolglot.calls.PROVIDERS.get(provider, provider)
    body = toolglot.encode_response(answer("Hello."), target=name).body
    assert parse_tool_calls(body, provider) == []


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_several_calls_at_once(source, target):
    """S4-06, S4-34: each with its own id, name and arguments, in their order."""
    calls = [call("f", f'{{"n":{n}}}', id=f"call_{n}") for n in range(3)]
    found = parts_of(seen(answer(*calls), source, target), ir.ToolCall)
    assert [(each.name, each.arguments) for each in found] == [
        ("f", f'{{"n":{n}}}') for n in range(3)
    ]
    assert len({each.id for each in found}) == 3


# --- results --------------------------------------------------------------------------------------

TEMPERATURE = "Current temperature in Paris is 25°C"


@pytest.mark.parametrize(
    ("provider", "wanted"),
    [
        pytest.param(
            "openai",
            {"role": "tool", "tool_call_id": "call_1", "content": TEMPERATURE},
            id="S4-28",
        ),
        pytest.param(
            "anthropic",
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "call_1", "content": TEMPERATURE}
                ],
            },
            id="S4-29",
        ),
        pytest.param(
            "ollama",
            {"role": "tool", "tool_name": "add", "content": TEMPERATURE},
            id="S4-30",
        ),
        pytest.param(
            "openrouter",
            {"role": "tool", "tool_call_id": "call_1", "content": TEMPERATURE},
            id="S4-31",
        ),
    ],
)
def test_results_in_the_form_of_each(provider, wanted):
    """S4-05, S4-09, S4-10, S4-15, S4-28, S4-29, S4-30, S4-31"""
    assert format_tool_result("call_1", "add", TEMPERATURE, provider) == wanted


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_the_words_of_a_result_are_intact(source, target):
    """S4-10"""
    request = asking(user("hi"), assistant(call("f")), user(result(TEMPERATURE)))
    [given] = parts_of(across(request, source, target), ir.ToolResult)
    assert given.parts == (ir.Text(text=TEMPERATURE),)


@pytest.mark.parametrize("source", ["anthropic", "openai-chat", "openai-responses"])
def test_ollama_hears_the_name_of_the_tool(source):
    """S4-15, S4-17: over several turns, from clients that say only the id."""
    request = asking(
        user("one"),
        assistant(call("add", id="call_1")),
        user(result("3", id="call_1")),
        assistant("three"),
        user("two"),
        assistant(call("sub", id="call_2"), call("add", id="call_3")),
        user(result("5", id="call_3"), result("4", id="call_2")),
    )
    wire, _ = carried(request, source, "ollama")
    results = [each for each in wire.body["messages"] if each["role"] == "tool"]
    assert [(each["tool_name"], each["content"]) for each in results] == [
        ("add", "3"),
        ("sub", "4"),
        ("add", "5"),
    ]
    assert not any("tool_call_id" in each for each in results)


@pytest.mark.parametrize("source", ["anthropic", "openai-chat", "openai-responses"])
def test_two_calls_of_one_name_are_answered_in_their_order(source):
    """S4-17: only the order tells them apart for Ollama."""
    request = asking(
        user("hi"),
        assistant(call("add", '{"n":1}', id="a_1"), call("add", '{"n":2}', id="a_2")),
        user(result("two", id="a_2"), result("one", id="a_1")),
    )
    wire, receipt = carried(request, source, "ollama")
    results = [each["content"] for each in wire.body["messages"] if each["role"] == "tool"]
    assert results == ["one", "two"]
    assert "results-reordered" in codes(receipt)


@pytest.mark.parametrize("target", ["anthropic", "openai-chat", "openai-responses"])
def test_results_of_ollama_clients_find_their_calls(target):
    """S4-17, S4-34: by name, and in order among calls of one name."""
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "", "tool_calls": [ADDS, ADDS]},
        {"role": "tool", "tool_name": "add", "content": "one"},
        {"role": "tool", "tool_name": "add", "content": "two"},
    ]
    wire, _ = translate_request(
        {"model": "m", "messages": messages}, source="ollama", target=target
    )
    request = toolglot.decode_request(wire.body, source=target)
    calls = [each.id for each in parts_of(request, ir.ToolCall)]
    results = [(each.id, each.parts[0].text) for each in parts_of(request, ir.ToolResult)]
    assert len(set(calls)) == 2
    assert results == list(zip(calls, ["one", "two"], strict=True))


# --- OpenRouter -----------------------------------------------------------------------------------


def test_openrouter_speaks_chat():
    """S4-19: its own fields stay, and nothing is converted for whoever is behind it."""
    body = {**CHAT_REQUEST, "model": "anthropic/claude-sonnet-5", "provider": {"order": ["x"]}}
    wire, receipt = translate_request(body, source="openai-chat", target="openai-chat")
    assert wire.body == body
    assert not receipt
    assert toolglot.get_protocol(toolglot.calls.PROVIDERS["openrouter"]).NAME == "openai-chat"


# --- the form before tools ------------------------------------------------------------------------

LEGACY: dict[str, Any] = {
    "model": "m",
    "messages": [
        {"role": "user", "content": "Weather?"},
        {
            "role": "assistant",
            "content": None,
            "function_call": {"name": "get_weather", "arguments": ARGUMENTS},
        },
        {"role": "function", "name": "get_weather", "content": "25"},
    ],
    "functions": [{**WEATHER, "parameters": SCHEMA}],
    "function_call": {"name": "get_weather"},
}


@pytest.mark.parametrize("target", [name for name in NAMES if name != "openai-chat"])
def test_the_form_before_tools_is_upgraded(target):
    """S4-33, S4-34"""
    wire, receipt = translate_request(LEGACY, source="openai-chat", target=target)
    request = toolglot.decode_request(wire.body, source=target, path=wire.path)
    [made], [given] = parts_of(request, ir.ToolCall), parts_of(request, ir.ToolResult)
    assert made.id
    assert made.id == given.id
    assert (made.name, json.loads(made.arguments)) == ("get_weather", {"location": "Paris"})
    assert [each.name for each in request.tools] == ["get_weather"]
    assert "legacy-upgraded" in codes(receipt)
    if target != "ollama":
        assert request.tool_choice is not None
        assert request.tool_choice.names == ("get_weather",)


def test_the_form_before_tools_is_upgraded_for_chat():
    """S4-33"""
    wire, _ = translate_request(LEGACY, source="openai-chat", target="openai-chat", model="new")
    assert wire.body["tools"] == STANDARD
    assert wire.body["tool_choice"] == {"type": "function", "function": {"name": "get_weather"}}
    assert not {"functions", "function_call"} & wire.body.keys()
    _, made, given = wire.body["messages"]
    assert given["role"] == "tool"
    assert given["tool_call_id"] == made["tool_calls"][0]["id"]


def test_a_call_before_tools_is_read():
    """S4-33, S4-34"""
    message = {
        "role": "assistant",
        "content": None,
        "function_call": {"name": "f", "arguments": "{}"},
    }
    response = {"choices": [{"message": message, "finish_reason": "function_call"}]}
    wire, receipt = translate_response(response, source="openai-chat", target="anthropic")
    [used] = wire.body["content"]
    assert (used["type"], used["name"], used["input"]) == ("tool_use", "f", {})
    assert wire.body["stop_reason"] == "tool_use"
    assert "legacy-upgraded" in codes(receipt)


@pytest.mark.parametrize("source", [name for name in NAMES if name != "openai-chat"])
def test_the_form_before_tools_is_written_when_asked_for(source):
    """S4-33"""
    request = asking(
        user("Weather?"),
        assistant(call("get_weather", '{"location":"Paris"}')),
        user(result("25")),
        tools=(ir.FunctionTool(**WEATHER, parameters=SCHEMA),),
    )
    wire, _ = carried(request, source, "openai-chat", legacy_functions=True)
    legacy = wire.body
    assert legacy["functions"] == LEGACY["functions"]
    assert not {"tools", "tool_choice", "parallel_tool_calls"} & legacy.keys()
    _, made, given = legacy["messages"]
    assert made["function_call"] == {"name": "get_weather", "arguments": '{"location":"Paris"}'}
    assert given == {"role": "function", "name": "get_weather", "content": "25"}


# --- what was broken ------------------------------------------------------------------------------


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_results_say_which_call_they_answer(source, target):
    """S4-34: and Anthropic is no exception."""
    request = asking(
        user("hi"),
        assistant(call("one", id="call_a"), call("two", id="call_b")),
        user(result("1", id="call_a"), result("2", id="call_b")),
        tools=(tool("one"), tool("two")),
    )
    there = across(request, source, target)
    calls = {each.id: each.name for each in parts_of(there, ir.ToolCall)}
    answers = {calls[each.id]: each.parts[0].text for each in parts_of(there, ir.ToolResult)}
    assert answers == {"one": "1", "two": "2"}
    assert [each.name for each in there.tools] == ["one", "two"]
    assert said(request, target).keys() & {"tools", "toolConfig"}
