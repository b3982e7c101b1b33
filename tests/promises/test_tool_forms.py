"""Definitions, calls, results and tool choice between Anthropic and the two OpenAI protocols."""

import json
from typing import Any

import pytest
from tests.wires import (
    NAMES,
    PAIRS,
    TRIO,
    TRIO_PAIRS,
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
    shown,
    tool,
    user,
    words,
)

import toolglot
from toolglot import ir, translate_request, translate_response

UNITS = {
    "type": "string",
    "enum": ["celsius", "fahrenheit"],
    "description": "Temperature units (optional, defaults to fahrenheit)",
}
PROPERTIES = {"location": {"type": "string", "description": "City name"}, "units": UNITS}
WEATHER = {
    "name": "get_weather",
    "description": "Get current weather for a location",
    "input_schema": {
        "type": "object",
        "properties": PROPERTIES,
        "required": ["location", "units"],
    },
}
PARAMETERS = {"type": "object", "properties": PROPERTIES, "required": ["location"]}
ASKED = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Weather?"}]}


def to(target: str, **more: Any) -> Any:
    """The body for a target of an Anthropic request."""
    wire, _ = translate_request({**ASKED, **more}, source="anthropic", target=target)
    return wire.body


# --- definitions ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("source", "target"), TRIO_PAIRS)
def test_definitions_stand_under_tools(source, target):
    """S0-01"""
    request = asking(user("hi"), tools=(tool("one"), tool("two")))
    assert len(said(request, source)["tools"]) == 2
    wire, _ = carried(request, source, target)
    assert len(wire.body["tools"]) == 2
    assert [each.name for each in across(request, source, target).tools] == ["one", "two"]


def test_a_definition_for_chat_is_exact():
    """S0-05, S0-07"""
    assert to("openai-chat", tools=[WEATHER])["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "get_weather",
                "description": "Get current weather for a location",
                "parameters": PARAMETERS,
                "strict": False,
            },
        }
    ]


def test_a_definition_for_responses_is_flat():
    """S0-08, D-07: the fields of the tool stand at the top, `strict` with them."""
    assert to("openai-responses", tools=[WEATHER])["tools"] == [
        {
            "type": "function",
            "name": "get_weather",
            "description": "Get current weather for a location",
            "parameters": PARAMETERS,
            "strict": False,
        }
    ]


def test_the_nested_copy_is_there_when_asked_for():
    """S0-09, D-07"""
    wire, _ = translate_request(
        {**ASKED, "tools": [WEATHER]},
        source="anthropic",
        target="openai-responses",
        nested_function=True,
    )
    flat = {
        "name": "get_weather",
        "description": "Get current weather for a location",
        "parameters": PARAMETERS,
        "strict": False,
    }
    assert wire.body["tools"] == [{"type": "function", **flat, "function": flat}]


@pytest.mark.parametrize("target", [name for name in NAMES if name != "openai-responses"])
def test_a_nested_definition_is_accepted_from_responses_clients(target):
    """D-07"""
    schema = {"type": "object", "properties": {}}
    nested = {"type": "function", "function": {"name": "f", "parameters": schema}}
    wire, receipt = translate_request(
        {"model": "m", "input": "hi", "tools": [nested]}, source="openai-responses", target=target
    )
    [found] = toolglot.decode_request(wire.body, source=target, path=wire.path).tools
    assert isinstance(found, ir.FunctionTool)
    assert (found.name, found.parameters) == ("f", schema)
    assert "spelling-normalised" in codes(receipt)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_keywords_of_properties_survive_in_their_order(source, target):
    """S0-06: not only type, description and enum, and not only between three protocols."""
    schema = {
        "type": "object",
        "properties": {
            "z": {"minLength": 1, "type": "string", "pattern": "^a", "examples": ["a"]},
            "a": {"enum": [3, 1, 2], "description": "Wörter", "type": "integer", "x-own": {}},
        },
        "additionalProperties": False,
        "required": ["z", "a"],
    }
    request = asking(user("hi"), tools=(ir.FunctionTool(name="f", parameters=schema),))
    [found] = across(request, source, target).tools
    if target not in ("gemini", "gemini-interactions"):
        assert json.dumps(found.parameters) == json.dumps(schema)
        return
    # They take some keywords only; those survive, and so do the names in their order.
    told = found.parameters["properties"]
    assert list(told) == ["z", "a"]
    assert told["z"]["type"] == "string"
    assert [told["a"][key] for key in ("enum", "description")] == [[3, 1, 2], "Wörter"]


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses"])
def test_strict_is_false_on_every_function_from_anthropic(target):
    """S0-10, D-06: where the source says nothing."""
    tools = [WEATHER, {"name": "two", "input_schema": {"type": "object"}}]
    request = toolglot.decode_request(to(target, tools=tools), source=target)
    assert [each.strict for each in request.tools] == [False, False]


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(("source", "target"), TRIO_PAIRS)
def test_a_given_strict_wins(source, target, strict):
    """D-06, S2-08"""
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    given = ir.FunctionTool(name="f", parameters=schema, strict=strict)
    [found] = across(asking(user("hi"), tools=(given,)), source, target).tools
    assert (found.strict, found.parameters) == (strict, schema)


@pytest.mark.parametrize("target", ["gemini", "ollama"])
def test_a_strict_that_cannot_be_said_is_named(target):
    """D-06, case-21"""
    request = asking(user("hi"), tools=(tool("f", strict=True),))
    _, receipt = carried(request, "openai-chat", target)
    assert ("field-dropped", "tools[0].function.strict") in {(n.code, n.path) for n in receipt}


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_no_description_is_no_key(source, target):
    """S0-11"""
    wire, _ = carried(asking(user("hi"), tools=(tool("f"),)), source, target)
    assert "description" not in json.dumps(wire.body.get("tools") or wire.body["toolConfig"])


@pytest.mark.parametrize("schema", [None, {}])
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_no_parameters_are_an_empty_object_schema(source, target, schema):
    """S0-12"""
    request = asking(user("hi"), tools=(ir.FunctionTool(name="f", parameters=schema),))
    wire, receipt = carried(request, source, target)
    [found] = toolglot.decode_request(wire.body, source=target, path=wire.path).tools
    assert found.parameters == {"type": "object", "properties": {}}
    assert "schema-default" in codes(receipt)


# --- calls ----------------------------------------------------------------------------------------

LOCATION = '{"location":"San Francisco"}'
CHAT_CALL = {
    "id": "call_abc123",
    "type": "function",
    "function": {"name": "get_weather", "arguments": LOCATION},
}
CHAT = {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]}}]}
RESPONSES = {
    "output": [
        {
            "type": "function_call",
            "id": "fc_abc123",
            "call_id": "fc_abc123",
            "name": "get_weather",
            "arguments": LOCATION,
        }
    ]
}


def block(call_id: str) -> Any:
    """The block of the call above."""
    return {
        "type": "tool_use",
        "id": call_id,
        "name": "get_weather",
        "input": {"location": "San Francisco"},
    }


@pytest.mark.parametrize("finish", [{}, {"finish_reason": "tool_calls"}, {"finish_reason": "stop"}])
def test_a_chat_call_is_a_tool_use_block(finish):
    """S0-29, S0-30, S0-34, D-01, D-11: whatever the server says about why it stopped."""
    [choice] = CHAT["choices"]
    wire, _ = translate_response(
        {"choices": [{**choice, **finish}]}, source="openai-chat", target="anthropic"
    )
    assert wire.body["content"] == [block("call_abc123")]
    assert wire.body["stop_reason"] == "tool_use"


def test_a_responses_call_is_a_tool_use_block():
    """S0-31, D-01"""
    wire, _ = translate_response(RESPONSES, source="openai-responses", target="anthropic")
    assert wire.body["content"] == [block("fc_abc123")]
    assert wire.body["stop_reason"] == "tool_use"


def test_a_tool_use_block_is_a_chat_call():
    """S0-32"""
    body = {"content": [block("toolu_abc123")], "stop_reason": "tool_use"}
    wire, _ = translate_response(body, source="anthropic", target="openai-chat")
    [choice] = wire.body["choices"]
    assert choice["message"]["tool_calls"] == [{**CHAT_CALL, "id": "toolu_abc123"}]
    assert choice["message"]["content"] is None
    assert choice["finish_reason"] == "tool_calls"


def test_a_tool_use_block_is_a_function_call_item():
    """S0-32, S0-04, D-02: two ids, of which only the item's is invented."""
    body = {"content": [block("toolu_abc123")], "stop_reason": "tool_use"}
    wire, _ = translate_response(body, source="anthropic", target="openai-responses")
    [item] = wire.body["output"]
    assert item.pop("id").startswith("fc_")
    assert item == {
        "type": "function_call",
        "call_id": "toolu_abc123",
        "name": "get_weather",
        "arguments": LOCATION,
        "status": "completed",
    }
    assert wire.body["status"] == "completed"


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_call_of_a_response_is_a_call_everywhere(source, target):
    """S0-02"""
    response = seen(answer(call("f", '{"a":1}')), source, target)
    [found] = parts_of(response, ir.ToolCall)
    assert (found.name, found.arguments, found.kind) == ("f", '{"a":1}', "function")
    stop = response.choices[0].stop
    assert stop is not None
    assert stop.kind == "tool_calls"


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_call_of_the_history_is_a_call_everywhere(source, target):
    """S0-02, S0-03"""
    request = asking(user("hi"), assistant(call("f", '{"a":1}')), user(result("done")))
    there = across(request, source, target)
    [made], [given] = parts_of(there, ir.ToolCall), parts_of(there, ir.ToolResult)
    assert (made.name, made.arguments) == ("f", '{"a":1}')
    assert given.id == made.id
    assert given.parts == (ir.Text(text="done"),)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_text_before_a_call_is_kept_before_it(source, target):
    """S0-33"""
    response = seen(answer("I look.", call("f")), source, target)
    kinds = [type(part) for part in response.choices[0].parts if type(part) is not ir.Reasoning]
    assert kinds == [ir.Text, ir.ToolCall]
    assert words(response) == "I look."


@pytest.mark.parametrize("content", [None, ""])
@pytest.mark.parametrize("target", [name for name in NAMES if name != "openai-chat"])
def test_no_content_is_no_empty_text(target, content):
    """S0-34"""
    message = {"role": "assistant", "content": content, "tool_calls": [CHAT_CALL]}
    wire, _ = translate_response(
        {"choices": [{"message": message, "finish_reason": "tool_calls"}]},
        source="openai-chat",
        target=target,
    )
    response = toolglot.decode_response(wire.body, source=target)
    assert isinstance(response, ir.Response)
    assert parts_of(response, ir.Text) == []
    assert len(parts_of(response, ir.ToolCall)) == 1


@pytest.mark.parametrize(("source", "target"), [p for p in PAIRS if p[0] in ("gemini", "ollama")])
def test_invented_ids_begin_as_those_of_the_client_do(source, target):
    """S0-04, S4-13: unique, deterministic, and no id is invented where the protocol has none."""
    made = {"id_made": True}
    calls = [ir.ToolCall(id=f"x{n}", name="f", arguments="{}", **made) for n in range(2)]
    first, _ = shown(answer(*calls), source, target)
    again, _ = shown(answer(*calls), source, target)
    assert first.data() == again.data()
    found = [part.id for part in parts_of(seen(answer(*calls), source, target), ir.ToolCall)]
    assert len(set(found)) == 2
    prefix = {"anthropic": "toolu_", "bedrock-converse": "tooluse_"}.get(target, "call_")
    assert all(each.startswith(prefix) for each in found)


# --- results --------------------------------------------------------------------------------------

USED = {"role": "assistant", "content": [block("toolu_abc123")]}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_abc123", "content": "72°F, sunny"}


def results(target: str, *blocks: Any) -> Any:
    """The messages for a target of an Anthropic call and its results."""
    messages = [USED, {"role": "user", "content": list(blocks)}]
    body = to(target, messages=messages)
    return body["input" if target == "openai-responses" else "messages"][1:]


def test_a_result_for_chat_is_one_tool_message():
    """S0-35"""
    assert results("openai-chat", RESULT) == [
        {"role": "tool", "tool_call_id": "toolu_abc123", "content": "72°F, sunny"}
    ]


def test_a_result_for_responses_is_one_item():
    """S0-36"""
    assert results("openai-responses", RESULT) == [
        {"type": "function_call_output", "call_id": "toolu_abc123", "output": "72°F, sunny"}
    ]


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses"])
def test_letters_are_not_escaped_away(target):
    """S0-35"""
    body = {**ASKED, "messages": [USED, {"role": "user", "content": [RESULT]}]}
    wire, _ = translate_request(body, source="anthropic", target=target)
    assert "72°F, sunny".encode() in wire.data()


@pytest.mark.parametrize("content", [{}, {"content": ""}, {"content": []}])
def test_an_empty_result_is_an_empty_text(content):
    """S0-37"""
    empty = {"type": "tool_result", "tool_use_id": "toolu_abc123", **content}
    [message] = results("openai-chat", empty)
    assert message == {"role": "tool", "tool_call_id": "toolu_abc123", "content": ""}
    [item] = results("openai-responses", empty)
    assert item == {"type": "function_call_output", "call_id": "toolu_abc123", "output": ""}


def test_texts_of_a_result_are_joined():
    """S0-38, D-16: in chat one string, in Responses as they are; none is lost."""
    texts = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    [message] = results("openai-chat", {**RESULT, "content": texts})
    assert message["content"] == "one\ntwo"
    [item] = results("openai-responses", {**RESULT, "content": texts})
    assert [each["text"] for each in item["output"]] == ["one", "two"]


PIXEL = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}


def test_pictures_in_results_are_not_dropped():
    """S0-38, D-16, case-29: native in Responses, after the results in chat."""
    picture = [{"type": "text", "text": "see"}, {"type": "image", "source": PIXEL}]
    message, after = results("openai-chat", {**RESULT, "content": picture})
    assert message["content"] == "see"
    assert after["role"] == "user"
    url = "data:image/png;base64,iVBORw0KGgo="
    assert {"type": "image_url", "image_url": {"url": url}} in after["content"]
    [item] = results("openai-responses", {**RESULT, "content": picture})
    assert item["output"][1]["type"] == "input_image"
    assert item["output"][1]["image_url"] == url


@pytest.mark.parametrize(("source", "target"), [p for p in PAIRS if p[0] in TRIO])
def test_a_failed_result_stays_failed(source, target):
    """S0-38, D-15, case-31: there and back, with the text as it was."""
    request = asking(user("hi"), assistant(call("f")), user(result("boom", is_error=True)))
    [given] = parts_of(across(request, source, target), ir.ToolResult)
    assert given.is_error is True
    assert given.parts == (ir.Text(text="boom"),)


# --- tool choice ----------------------------------------------------------------------------------

CHOICES = [
    pytest.param({"type": "auto"}, "auto", "auto", id="S0-49"),
    pytest.param({"type": "any"}, "required", "required", id="S0-50"),
    pytest.param({"type": "none"}, "none", "none", id="S0-51"),
    pytest.param(
        {"type": "tool", "name": "X"},
        {"type": "function", "function": {"name": "X"}},
        {"type": "function", "name": "X"},
        id="S0-52 S0-53 D-05",
    ),
]
X = tool("X")


@pytest.mark.parametrize(("anthropic", "chat", "responses"), CHOICES)
def test_tool_choice_by_the_table(anthropic, chat, responses):
    """S0-49, S0-50, S0-51, S0-52, S0-53, D-05"""
    tools = said(asking(user("hi"), tools=(X,)), "anthropic")["tools"]
    assert to("openai-chat", tools=tools, tool_choice=anthropic)["tool_choice"] == chat
    assert to("openai-responses", tools=tools, tool_choice=anthropic)["tool_choice"] == responses


@pytest.mark.parametrize(("anthropic", "chat", "responses"), CHOICES)
@pytest.mark.parametrize("source", TRIO)
@pytest.mark.parametrize("target", TRIO)
def test_tool_choice_back_by_the_table(source, target, anthropic, chat, responses):
    """S0-54: every direction, a protocol's own form included."""
    forms = dict(zip(TRIO, (anthropic, chat, responses), strict=True))
    body = said(asking(user("hi"), tools=(X,), max_tokens=9), source)
    wire, _ = translate_request(
        {**body, "tool_choice": forms[source]}, source=source, target=target
    )
    assert wire.body["tool_choice"] == forms[target]


@pytest.mark.parametrize("target", ["anthropic", "openai-chat", "gemini"])
def test_a_nested_tool_choice_is_accepted_from_responses_clients(target):
    """S0-53, D-05"""
    body = said(asking(user("hi"), tools=(X,)), "openai-responses")
    body["tool_choice"] = {"type": "function", "function": {"name": "X"}}
    wire, _ = translate_request(body, source="openai-responses", target=target)
    choice = toolglot.decode_request(wire.body, source=target, path=wire.path).tool_choice
    assert choice is not None
    assert (choice.mode, choice.names) == ("tool", ("X",))


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses"])
def test_one_call_at_a_time(target):
    """S0-55: and back."""
    choice = {"type": "auto", "disable_parallel_tool_use": True}
    body = to(target, tools=[WEATHER], tool_choice=choice)
    assert body["parallel_tool_calls"] is False
    assert body["tool_choice"] == "auto"
    back, _ = translate_request(body, source=target, target="anthropic")
    assert back.body["tool_choice"] == choice


# --- arguments ------------------------------------------------------------------------------------

TWICE = json.dumps('{"a":1}')


@pytest.mark.parametrize("arguments", [TWICE, {"a": 1}], ids=["twice", "object"])
@pytest.mark.parametrize("target", [name for name in NAMES if name != "openai-chat"])
def test_arguments_become_one_json_text(target, arguments):
    """S0-63: in calls and in the history, from chat."""
    function = {"name": "f", "arguments": arguments}
    made = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
    }
    wire, receipt = translate_response(
        {"choices": [{"message": made, "finish_reason": "tool_calls"}]},
        source="openai-chat",
        target=target,
    )
    response = toolglot.decode_response(wire.body, source=target)
    assert isinstance(response, ir.Response)
    assert [part.arguments for part in parts_of(response, ir.ToolCall)] == ['{"a":1}']
    assert "arguments-normalised" in codes(receipt)
    history = [made, {"role": "tool", "tool_call_id": "call_1", "content": "done"}]
    there, receipt = translate_request(
        {"model": "m", "messages": history}, source="openai-chat", target=target
    )
    request = toolglot.decode_request(there.body, source=target, path=there.path)
    assert [part.arguments for part in parts_of(request, ir.ToolCall)] == ['{"a":1}']
    assert "arguments-normalised" in codes(receipt)


@pytest.mark.parametrize("arguments", [TWICE, {"a": 1}], ids=["twice", "object"])
@pytest.mark.parametrize("target", [name for name in NAMES if name != "openai-responses"])
def test_arguments_of_items_become_one_json_text(target, arguments):
    """S0-63: in calls and in the history, from Responses."""
    item = {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": arguments}
    wire, _ = translate_response(
        {"status": "completed", "output": [item]}, source="openai-responses", target=target
    )
    response = toolglot.decode_response(wire.body, source=target)
    assert isinstance(response, ir.Response)
    assert [part.arguments for part in parts_of(response, ir.ToolCall)] == ['{"a":1}']
    there, _ = translate_request(
        {"model": "m", "input": [item]}, source="openai-responses", target=target
    )
    request = toolglot.decode_request(there.body, source=target, path=there.path)
    assert [part.arguments for part in parts_of(request, ir.ToolCall)] == ['{"a":1}']


@pytest.mark.parametrize("target", [name for name in NAMES if name != "anthropic"])
def test_input_that_is_json_text_is_read(target):
    """S0-63: from Anthropic, where arguments are an object."""
    body = {
        "content": [{"type": "tool_use", "id": "toolu_1", "name": "f", "input": '{"a":1}'}],
        "stop_reason": "tool_use",
    }
    wire, _ = translate_response(body, source="anthropic", target=target)
    response = toolglot.decode_response(wire.body, source=target)
    assert isinstance(response, ir.Response)
    assert [part.arguments for part in parts_of(response, ir.ToolCall)] == ['{"a":1}']
