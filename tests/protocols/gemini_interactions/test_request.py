"""What is particular to requests of Gemini Interactions."""

import pytest
from tests.protocols.gemini_interactions.helpers import codes, decode, encode, foreign, load, said
from tests.wires import pair

from toolglot import ir, translate_request
from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.protocols.gemini_interactions._offsets import Offsets

WORDS = "Is the ford deep?"
CONTENT = {"type": "text", "text": WORDS}
STEP = {"type": "user_input", "content": [CONTENT]}


@pytest.mark.parametrize("given", [WORDS, CONTENT, [CONTENT], [STEP], STEP])
def test_all_forms_of_the_input_mean_the_same(given):
    body = {"model": "m", "input": given}
    request = decode(body)
    assert request.messages == (ir.Message(role="user", parts=(ir.Text(text=WORDS),)),)
    assert encode(request) == body
    assert encode(request, foreign())["input"] == [STEP]


@pytest.mark.parametrize(
    ("given", "path"),
    [
        (7, "input"),
        ({}, "input.type"),
        ([7], "input[0]"),
        ([{"content": []}], "input[0].type"),
        ([{"type": "text"}], "input[0].text"),
        ([{"role": "system", "content": "x"}], "input[0].role"),
        ([{"type": "user_input", "content": "x"}], "input[0].content"),
        ([{"type": "user_input", "content": [{}]}], "input[0].content[0].type"),
        ([{"type": "function_call", "id": "c"}], "input[0].name"),
        ([{"type": "function_result", "call_id": 7}], "input[0].call_id"),
        ([{"type": "thought", "summary": "x"}], "input[0].summary"),
    ],
)
def test_bad_input_is_refused_with_its_path(given, path):
    with pytest.raises(DecodeError) as error:
        decode({"model": "m", "input": given})
    assert error.value.path == path


def test_turns_are_read_as_steps():
    ctx = pair("gemini-interactions", "anthropic")
    request = decode(load("request", "turns"), ctx)
    assert [message.role for message in request.messages] == ["user", "assistant", "user"]
    assert codes(ctx) == ["legacy-upgraded"] * 3


@pytest.mark.parametrize(
    ("result", "parts"),
    [
        ("low", [ir.Text(text="low")]),
        ([{"type": "text", "text": "low"}], [ir.Text(text="low")]),
        ({"content": [{"type": "text", "text": "low"}]}, [ir.Text(text="low")]),
        ({"metres": 1}, [ir.Text(text='{"metres":1}')]),
        ([{"page": 1}], [ir.Text(text='[{"page":1}]')]),
        (7, [ir.Text(text="7")]),
        (None, []),
    ],
)
def test_all_forms_of_a_result_are_read_and_written_back(result, parts):
    step = {"type": "function_result", "call_id": "c", "result": result}
    body = {"model": "m", "input": [step]}
    request = decode(body)
    (found,) = request.messages[0].parts
    assert [*found.parts] == parts
    assert request.messages[0].role == "user"
    assert encode(request) == body


def test_a_result_from_elsewhere_is_a_string_and_says_that_it_failed():
    failed = ir.ToolResult(id="c", parts=(ir.Text(text="no"),), is_error=True, name="tide")
    (step,) = encode(said(failed), foreign())["input"]
    assert step == {
        "type": "function_result",
        "call_id": "c",
        "name": "tide",
        "result": "no",
        "is_error": True,
    }


def test_state_that_stood_on_a_call_stands_before_it():
    call = ir.ToolCall(id="c", name="tide", arguments='{"a":1}', signature="c2ln")
    steps = encode(said(call, role="assistant"), foreign())["input"]
    assert steps == [
        {"type": "thought", "signature": "c2ln"},
        {"type": "function_call", "id": "c", "name": "tide", "arguments": {"a": 1}},
    ]


def test_contents_that_stand_together_are_one_step_and_results_come_first():
    request = said(
        ir.Text(text="See:"), ir.ToolResult(id="c", parts=(ir.Text(text="x"),)), ir.Text(text="!")
    )
    steps = encode(request, foreign())["input"]
    assert [step["type"] for step in steps] == ["function_result", "user_input"]
    assert [each["text"] for each in steps[1]["content"]] == ["See:", "!"]


@pytest.mark.parametrize(
    ("choice", "mode", "names"),
    [
        ("auto", "auto", ()),
        ("validated", "auto", ()),
        ("any", "required", ()),
        ("none", "none", ()),
        ({"allowed_tools": {"mode": "any", "tools": ["a"]}}, "tool", ("a",)),
        ({"allowed_tools": {"mode": "any", "tools": ["a", "b"]}}, "required", ("a", "b")),
        ({"allowed_tools": {"mode": "auto", "tools": ["a"]}}, "auto", ("a",)),
        ({"allowed_tools": {"tools": ["a"]}}, "auto", ("a",)),
        ({"allowed_tools": {"mode": "none", "tools": []}}, "none", ()),
    ],
)
def test_tool_choices(choice, mode, names):
    body = {"model": "m", "input": "x", "generation_config": {"tool_choice": choice}}
    request = decode(body)
    assert request.tool_choice is not None
    assert (request.tool_choice.mode, request.tool_choice.names) == (mode, names)
    assert encode(request) == body


@pytest.mark.parametrize("choice", ["often", {"allowed_tools": {"mode": "often"}}, {"x": 1}, 7])
def test_a_choice_that_is_not_known_is_kept(choice):
    body = {"model": "m", "input": "x", "generation_config": {"tool_choice": choice}}
    request = decode(body)
    assert request.tool_choice is None
    assert encode(request) == body


def test_names_beside_auto_are_validated():
    choice = ir.ToolChoice(mode="auto", names=("a",))
    body = encode(said(ir.Text(text="x"), tool_choice=choice), foreign())
    allowed = {"mode": "validated", "tools": ["a"]}
    assert body["generation_config"]["tool_choice"] == {"allowed_tools": allowed}


def test_only_metadata_that_labels_take_becomes_labels():
    ctx = foreign()
    metadata = {"team": "north", "User": "x", "long": "y" * 64, "count": 7, "empty": ""}
    body = encode(said(ir.Text(text="x"), metadata=metadata), ctx)
    assert body["labels"] == {"team": "north", "empty": ""}
    assert codes(ctx).count("field-dropped") == 3


def test_a_request_from_elsewhere_is_not_stored_unless_it_says_so():
    assert encode(said(ir.Text(text="x")), foreign())["store"] is False
    assert encode(said(ir.Text(text="x"), store=True), foreign())["store"] is True
    assert "store" not in encode(said(ir.Text(text="x")), Context())


@pytest.mark.parametrize(
    ("settings", "config"),
    [
        ({"effort": "high"}, {"thinking_level": "high"}),
        ({"effort": "max"}, {"thinking_level": "high"}),
        ({"budget": 9000, "enabled": True}, {"thinking_level": "high"}),
    ],
)
def test_efforts_and_budgets_become_levels(settings, config):
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}], "max_tokens": 20_000}
    if "budget" in settings:
        body["thinking"] = {"type": "enabled", "budget_tokens": settings["budget"]}
    else:
        body["output_config"] = {"effort": settings["effort"]}
    wire, _ = translate_request(body, source="anthropic", target="gemini-interactions")
    found = wire.body["generation_config"]
    assert {key: found.get(key) for key in config} == config


@pytest.mark.parametrize("name", ["schema", "schema-listed", "schema-bare"])
def test_a_schema_is_found_in_all_its_forms(name):
    output = decode(load("request", name)).output
    assert output is not None
    assert output.kind == "schema"
    assert list(output.schema["properties"]) == ["metres", "gauge"]


def test_formats_of_other_media_are_kept_and_named():
    body = load("request", "picture")
    _, receipt = translate_request(body, source="gemini-interactions", target="openai-chat")
    assert "response_format" in [note.path for note in receipt]


def test_what_the_provider_keeps_is_named_when_it_is_left_behind():
    body = load("request", "continued")
    _, receipt = translate_request(body, source="gemini-interactions", target="anthropic")
    assert {"previous_interaction_id", "background"} <= {note.path for note in receipt.losses}


def test_an_agent_is_asked_in_place_of_a_model_and_is_named():
    body = load("request", "agent")
    assert decode(body).model == body["agent"]
    _, receipt = translate_request(body, source="gemini-interactions", target="openai-chat")
    assert {"agent", "agent_config"} <= {note.path for note in receipt.losses}


@pytest.mark.parametrize("text", ["", "ford", "Fähre", "渡し船", "⛴️ ahoi"])
def test_places_in_a_text_are_bytes_there_and_characters_here(text):
    offsets = Offsets(text)
    for at in range(len(text) + 1):
        place = len(text[:at].encode())
        assert offsets.bytes(at) == place
        assert offsets.characters(place) == at
    inside = set(range(len(text.encode()) + 3)) - {len(text[:at].encode()) for at in range(99)}
    assert [offsets.characters(each) for each in inside] == [None] * len(inside)
    assert offsets.bytes(999) == len(text.encode())


def test_hosted_tools_are_those_of_others():
    body = load("request", "provider-tools")
    wire, _ = translate_request(body, source="gemini-interactions", target="anthropic")
    kinds = [tool.get("type", "") for tool in wire.body["tools"]]
    assert any(kind.startswith("web_search") for kind in kinds)
    there, _ = translate_request(wire.body, source="anthropic", target="gemini-interactions")
    assert {"type": "google_search"} in there.body["tools"]
