"""Requests of OpenAI Responses clients for Anthropic and the other protocols."""

from typing import Any

import pytest
from tests.wires import NAMES, PAIRS, across, asking, codes, parts_of, user, words

import toolglot
from toolglot import ir, translate_request, translate_response

SCHEMA = {"type": "object", "properties": {"expression": {"type": "string"}}}
CALCULATE = {
    "type": "function",
    "name": "calculate",
    "description": "Perform calculation",
    "parameters": SCHEMA,
}
ASKED = {
    "model": "gpt-4o-mini",
    "input": [{"role": "user", "content": "What is 5+6?"}],
    "tools": [CALCULATE],
    "stream": True,
}
OTHERS = [name for name in NAMES if name != "openai-responses"]


def to(target: str, body: Any, **options: Any) -> tuple[ir.Request, toolglot.Receipt]:
    """A request for a target, as the provider reads it."""
    wire, receipt = translate_request(body, source="openai-responses", target=target, **options)
    return toolglot.decode_request(wire.body, source=target, path=wire.path), receipt


def test_the_whole_request_for_anthropic():
    """S1-08, S1-09, S1-11, S1-12, S1-13"""
    wire, receipt = translate_request(
        ASKED,
        source="openai-responses",
        target="anthropic",
        model="claude-3-5-sonnet-20241022",
        max_tokens=4096,
        prompt_cache="off",
    )
    [calculate] = wire.body.pop("tools")
    assert calculate == {
        "name": "calculate",
        "description": "Perform calculation",
        "input_schema": SCHEMA,
    }
    assert wire.body == {
        "model": "claude-3-5-sonnet-20241022",
        "max_tokens": 4096,
        "messages": [{"role": "user", "content": "What is 5+6?"}],
        "stream": True,
    }
    assert wire.path == "/v1/messages"
    assert "default-added" in codes(receipt)


def test_the_whole_request_for_chat():
    """S1-09: the step between, and from there to Anthropic the same definition."""
    wire, _ = translate_request(ASKED, source="openai-responses", target="openai-chat")
    [calculate] = wire.body["tools"]
    function = calculate["function"]
    assert calculate["type"] == "function"
    assert {key: function[key] for key in ("name", "description", "parameters")} == {
        "name": "calculate",
        "description": "Perform calculation",
        "parameters": SCHEMA,
    }
    assert wire.body["messages"] == [{"role": "user", "content": "What is 5+6?"}]
    assert wire.body["stream"] is True
    further, _ = translate_request(wire.body, source="openai-chat", target="anthropic")
    direct, _ = translate_request(ASKED, source="openai-responses", target="anthropic")
    [tool] = further.body["tools"]
    assert tool.pop("strict") is False, "Chat was told so"
    assert [tool] == direct.body["tools"]


@pytest.mark.parametrize("target", OTHERS)
@pytest.mark.parametrize(
    "given",
    [
        "What is 5+6?",
        [{"role": "user", "content": "What is 5+6?"}],
        [{"type": "message", "role": "user", "content": "What is 5+6?"}],
        [{"role": "user", "content": [{"type": "input_text", "text": "What is 5+6?"}]}],
    ],
    ids=["string", "bare", "typed", "parts"],
)
def test_every_form_of_input_is_messages(target, given):
    """S1-08"""
    request, _ = to(target, {"model": "m", "input": given})
    assert [message.role for message in request.messages] == ["user"]
    assert words(request) == "What is 5+6?"


@pytest.mark.parametrize("target", OTHERS)
def test_a_definition_keeps_name_description_and_schema(target):
    """S1-09"""
    request, _ = to(target, ASKED)
    [found] = request.tools
    assert isinstance(found, ir.FunctionTool)
    assert (found.name, found.description, found.parameters) == (
        "calculate",
        "Perform calculation",
        SCHEMA,
    )


OTHER_TOOLS = [
    {"type": "web_search"},
    {"type": "computer_use_preview", "display_width": 800, "display_height": 600},
    {"type": "image_generation"},
    {"type": "mcp", "server_label": "docs", "server_url": "https://tools.example/mcp"},
    {"type": "not_invented_yet", "name": "x"},
]


@pytest.mark.parametrize("other", OTHER_TOOLS, ids=lambda each: each["type"])
@pytest.mark.parametrize("target", OTHERS)
def test_tools_of_the_provider_are_reported_and_harm_no_others(target, other):
    """S1-10, D-12: mapped, or named with its path; the request goes on."""
    request, receipt = to(target, {**ASKED, "tools": [other, CALCULATE]})
    own = [each for each in request.tools if isinstance(each, ir.ProviderTool)]
    assert [each.name for each in request.tools if each not in own] == ["calculate"]
    code = "tool-mapped" if own else "tool-dropped"
    assert (code, "tools[0]") in {(note.code, note.path) for note in receipt}


@pytest.mark.parametrize("other", OTHER_TOOLS, ids=lambda each: each["type"])
def test_tools_of_the_provider_stay_with_their_provider(other):
    """S1-10, D-12: nothing is filtered unless a rule says so."""
    body = {**ASKED, "tools": [other, CALCULATE]}
    wire, _ = translate_request(
        body, source="openai-responses", target="openai-responses", model="another"
    )
    assert wire.body == {**body, "model": "another"}


@pytest.mark.parametrize("target", OTHERS)
def test_tools_of_agents_pass_unchanged(target):
    """S1-10, D-12: tools that an agent runs itself are only functions."""
    names = ["apply_patch", "update_plan", "cat", "grep", "ls", "edit_file"]
    request, receipt = to(target, {**ASKED, "tools": [{**CALCULATE, "name": n} for n in names]})
    assert [each.name for each in request.tools] == names
    assert "tool-dropped" not in codes(receipt)
    assert request.system is None


@pytest.mark.parametrize("target", ["anthropic", "gemini", "ollama"])
def test_a_freeform_tool_becomes_a_function_of_one_string(target):
    """D-12"""
    patch = {"type": "custom", "name": "apply_patch", "description": "Edits files"}
    request, _ = to(target, {**ASKED, "tools": [patch]})
    [found] = request.tools
    assert isinstance(found, ir.FunctionTool)
    assert found.name == "apply_patch"
    [kind] = [each["type"] for each in found.parameters["properties"].values()]
    assert kind == "string"


@pytest.mark.parametrize("target", OTHERS)
def test_a_namespace_is_flattened(target):
    """D-12"""
    space = {"type": "namespace", "name": "files", "description": "", "tools": [CALCULATE]}
    request, _ = to(target, {**ASKED, "tools": [space]})
    [found] = request.tools
    assert isinstance(found, ir.FunctionTool)
    assert "calculate" in found.name
    assert found.parameters == SCHEMA


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_the_model_is_the_one_that_is_configured(source, target):
    """S1-11"""
    request = asking(user("hi"))
    assert across(request, source, target, model="other/model-2").model == "other/model-2"
    assert across(request, source, target).model == "some-model"


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_streaming_is_asked_for_as_it_was(source, target, stream):
    """S1-12"""
    assert across(asking(user("hi"), stream=stream), source, target).stream is stream


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_silence_about_streaming_means_the_same(source, target):
    """S1-12: protocols differ in what they do by default."""
    body = toolglot.encode_request(asking(user("hi")), target=source).body
    wire, _ = translate_request(body | {"model": "some-model"}, source=source, target=target)
    streams = toolglot.decode_request(wire.body, source=target, path=wire.path).stream
    usual = {"ollama": True}
    silent = usual.get(target, False)
    assert (silent if streams is None else streams) is usual.get(source, False)


@pytest.mark.parametrize("source", [name for name in NAMES if name != "anthropic"])
def test_a_limit_is_added_where_it_is_required(source):
    """S1-13"""
    request = asking(user("hi"))
    assert across(request, source, "anthropic").max_tokens == 8192
    assert across(request, source, "anthropic", max_tokens=77).max_tokens == 77
    limited = asking(user("hi"), max_tokens=5)
    assert across(limited, source, "anthropic", max_tokens=77).max_tokens == 5


@pytest.mark.parametrize("target", [name for name in NAMES if name != "anthropic"])
def test_no_limit_is_invented_elsewhere(target):
    """S1-13"""
    source = "ollama" if target != "ollama" else "gemini"
    assert across(asking(user("hi")), source, target).max_tokens is None


@pytest.mark.parametrize("role", ["system", "developer"])
@pytest.mark.parametrize("target", ["anthropic", "gemini"])
def test_system_text_stands_in_its_slot(target, role):
    """S1-14"""
    body = {
        "model": "m",
        "instructions": "Be brief.",
        "input": [{"role": role, "content": "Be kind."}, {"role": "user", "content": "hi"}],
    }
    request, _ = to(target, body)
    assert request.system is not None
    assert [part.text for part in parts_of(request.system, ir.Text)] == ["Be brief.", "Be kind."]
    assert [message.role for message in request.messages] == ["user"]


@pytest.mark.parametrize("target", ["openai-chat", "ollama"])
def test_instructions_are_the_first_message_elsewhere(target):
    """S1-14"""
    body = {"model": "m", "instructions": "Be brief.", "input": "hi"}
    request, _ = to(target, body)
    assert [message.role for message in request.messages] == ["system", "user"]
    assert words(request.messages[0]) == "Be brief."


@pytest.mark.parametrize("target", OTHERS)
def test_calls_completed_are_completed(target):
    """D-13: an answer with calls is complete; nothing else is required of the client's protocol."""
    item = {"type": "function_call", "call_id": "call_1", "name": "calculate", "arguments": "{}"}
    there, _ = translate_response(
        {"status": "completed", "output": [item]}, source="openai-responses", target=target
    )
    back, _ = translate_response(there.body, source=target, target="openai-responses")
    assert back.body["status"] == "completed"
    assert back.body["incomplete_details"] is None
    assert "required_action" not in back.body
    [call] = [each for each in back.body["output"] if each["type"] != "reasoning"]
    assert (call["type"], call["status"]) == ("function_call", "completed")


def test_the_tools_are_echoed_to_the_client():
    """D-13: as the client gave them."""
    wire, _ = translate_response(
        {"content": [{"type": "text", "text": "11"}], "stop_reason": "end_turn"},
        source="anthropic",
        target="openai-responses",
        request=ASKED,
    )
    [echoed] = wire.body["tools"]
    assert {key: echoed[key] for key in CALCULATE} == CALCULATE
    assert wire.body["id"].startswith("resp_")


def test_a_choice_of_a_tool_survives():
    """S1-09"""
    choice = {"type": "function", "name": "calculate"}
    request, _ = to("anthropic", {**ASKED, "tool_choice": choice})
    assert request.tool_choice is not None
    assert request.tool_choice.names == ("calculate",)
