"""Requests of Anthropic Messages."""

import json

import pytest
from msgspec.structs import replace
from tests.protocols.anthropic.helpers import (
    answer,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    foreign,
    load,
    user,
)
from tests.protocols.harness import codes

from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.ir import (
    Audio,
    Citation,
    CustomTool,
    Document,
    FileRef,
    FunctionTool,
    Image,
    Inline,
    Message,
    Opaque,
    OutputFormat,
    ProviderTool,
    Reasoning,
    ReasoningSettings,
    Refusal,
    Text,
    ToolCall,
    ToolChoice,
    ToolResult,
)
from toolglot.protocols import anthropic

# --- requests -------------------------------------------------------------------------------------


def test_settings():
    request = decode_request(load("request", "settings"))
    assert (request.max_tokens, request.temperature, request.top_p, request.top_k) == (
        64,
        0.3,
        0.9,
        12,
    )
    assert request.stop == ("\n\nBaker:", "FIN")
    assert (request.stream, request.user, request.service_tier) == (True, "oven-17", "default")
    assert request.extras == {}


def test_every_setting_of_the_surface_is_read():
    wire = {"model": "m", "messages": []}
    values = {
        "stop_sequences": ["x"],
        "system": "s",
        "tool_choice.disable_parallel_tool_use": True,
        "thinking": {"type": "disabled"},
        "output_config.format": {"type": "json_schema", "schema": {}},
        "metadata.user_id": "u",
        "service_tier": "auto",
        "stream": True,
    }
    for field, path in anthropic.SURFACE.settings.items():
        if field in ("tools", "tool_choice"):
            continue
        *outer, key = path.split(".")
        inside = wire.setdefault(outer[0], {}) if outer else wire
        inside[key] = values.get(path, 3)
    wire["tool_choice"]["type"] = "auto"
    request = decode_request(wire)
    unread = [
        field
        for field in anthropic.SURFACE.settings
        if field != "tools" and getattr(request, field) is None
    ]
    assert unread == []
    assert encode_request(request) == wire


def test_a_definition_without_description_has_none():
    """S0-11: what is not there is left out, not null and not empty."""
    tools = decode_request(load("request", "tools")).tools
    assert tools[1].description is None
    written = encode_request(replace(user(), tools=(FunctionTool(name="f"),)), foreign())["tools"]
    assert written == [{"name": "f"}]


def test_a_definition_without_schema_is_told_apart_from_an_empty_one():
    """S0-12, the reading side: nothing is filled in here."""
    assert decode_request(load("request", "unknown")).tools[1].parameters is None
    assert decode_request(load("request", "tools")).tools[2].parameters == {}


def test_tools():
    tools = decode_request(load("request", "tools")).tools
    assert [type(tool) for tool in tools] == [FunctionTool] * 4 + [ProviderTool] * 3
    assert tools[3].strict is True
    assert tools[3].cache is not None
    assert tools[5].type == "web_search_20250305"


def test_tools_that_are_not_here():
    ctx = foreign()
    tools = (CustomTool(name="patch"), ProviderTool(protocol="other", type="x", value={}))
    assert "tools" not in encode_request(replace(user(), tools=tools), ctx)
    assert codes(ctx) == {"tool-dropped"}


@pytest.mark.parametrize(
    ("wire", "choice", "parallel"),
    [
        ({"type": "auto"}, ToolChoice(mode="auto"), None),
        ({"type": "any", "disable_parallel_tool_use": True}, ToolChoice(mode="required"), False),
        ({"type": "tool", "name": "f"}, ToolChoice(mode="tool", names=("f",)), None),
        ({"type": "none"}, ToolChoice(mode="none"), None),
    ],
)
def test_tool_choice(wire, choice, parallel):
    body = {"model": "m", "messages": [], "tool_choice": wire}
    request = decode_request(body)
    assert (request.tool_choice, request.parallel_tool_calls) == (choice, parallel)
    assert encode_request(request) == body


def test_parallel_calls_switched_off_without_a_choice():
    request = replace(user(), parallel_tool_calls=False)
    wire = encode_request(request, foreign())["tool_choice"]
    assert wire == {"type": "auto", "disable_parallel_tool_use": True}
    none = replace(request, tool_choice=ToolChoice(mode="none"))
    assert encode_request(none, foreign())["tool_choice"] == {"type": "none"}


@pytest.mark.parametrize(
    ("fixture", "settings"),
    [
        ("thinking", ReasoningSettings(enabled=True, budget=31999)),
        ("adaptive", ReasoningSettings(enabled=True, adaptive=True, show=True, effort="xhigh")),
        ("disabled", ReasoningSettings(enabled=False, effort="low")),
        ("between_tools", None),
        ("empties", None),
    ],
)
def test_thinking(fixture, settings):
    assert decode_request(load("request", fixture)).reasoning == settings


def test_thinking_of_others():
    request = user(Text(text="x"))
    on = replace(request, reasoning=ReasoningSettings(enabled=True, show=False))
    assert encode_request(on)["thinking"] == {"type": "adaptive", "display": "omitted"}
    effort = replace(request, reasoning=ReasoningSettings(effort="low"))
    assert encode_request(effort)["output_config"] == {"effort": "low"}
    assert "thinking" not in encode_request(effort)


def test_structured_output():
    output = decode_request(load("request", "adaptive")).output
    assert output.kind == "schema"
    assert output.schema["required"] == ["hours"]
    text = replace(user(), output=OutputFormat(kind="text"))
    assert "output_config" not in encode_request(text)


@pytest.mark.parametrize("word", [{"type": "yaml"}, {"type": "json_schema"}, {"schema": {}}])
def test_an_unknown_format_stays_where_it_is(word):
    body = {"model": "m", "messages": [], "output_config": {"format": word}}
    assert decode_request(body).output is None
    assert encode_request(decode_request(body)) == body


def test_service_tiers_of_others():
    ctx = foreign()
    assert "service_tier" not in encode_request(replace(user(), service_tier="flex"), ctx)
    assert codes(ctx) == {"field-dropped"}


def test_system_messages_keep_their_place():
    request = decode_request(load("request", "system"))
    assert [part.text for part in request.system.parts] == [
        "You run a bakery.",
        "Never mention gluten jokes.",
    ]
    assert request.system.parts[1].cache.ttl == "1h"
    assert [message.role for message in request.messages] == ["user", "system", "user", "system"]
    developer = Message(role="developer", parts=(Text(text="x"),))
    wire = encode_request(replace(user(), messages=(developer,)))["messages"]
    assert wire == [{"role": "system", "content": "x"}]


def test_results():
    parts = [
        part for m in decode_request(load("request", "tool_loop")).messages for part in m.parts
    ]
    results = [part for part in parts if isinstance(part, ToolResult)]
    assert [(each.id, each.is_error) for each in results[:3]] == [
        ("toolu_01B", None),
        ("toolu_01A", False),
        ("toolu_01C", True),
    ]
    assert [type(part) for part in results[1].parts] == [Text, Image]
    assert [type(part) for part in results[-1].parts] == [Opaque, Opaque, Document]


def test_arguments_are_kept_as_text():
    parts = [
        part for m in decode_request(load("request", "tool_loop")).messages for part in m.parts
    ]
    arguments = [part.arguments for part in parts if isinstance(part, ToolCall)]
    assert arguments[2] == '{"celsius":12345678901234567890,"fan":false,"ratio":1.0}'
    assert arguments[3:] == ["{}", "[1]", '{"$value":{"x":1}}', "{oops"]


@pytest.mark.parametrize(("given", "text"), [('{"a": 1}', '{"a": 1}'), (None, "{}"), ("", "{}")])
def test_input_that_is_no_object_is_read_with_a_note(given, text):
    ctx = Context()
    block = {"type": "tool_use", "id": "t", "name": "f", "input": given}
    response = decode_response({"content": [block]}, ctx)
    assert response.choices[0].parts[0].arguments == text
    assert codes(ctx) == {"arguments-normalised"}


def test_what_cannot_be_carried_is_left_out_with_a_note():
    ctx = foreign()
    parts = (
        Image(source=FileRef(id="f", issuer="other")),
        Document(source=FileRef(id="f", issuer="other")),
        Audio(source=Inline(media_type="audio/wav", data="AA==")),
        Opaque(protocol="other", type="x", value={}),
        Text(text="seen", citations=(Citation(url="https://x.example"),)),
        Refusal(text="no"),
    )
    assert encode_request(user(*parts), ctx)["messages"][0]["content"] == [
        {"type": "text", "text": "seen"},
        {"type": "text", "text": "no"},
    ]
    assert ctx.receipt().codes() == {"part-dropped": 4, "citation-dropped": 1}


def test_reasoning_is_written_as_it_was_read():
    parts = decode_request(load("request", "thinking")).messages[1].parts
    assert parts[:2] == (
        Reasoning(text="Steam matters more.", signature="EqQBCkYIBxgCKkBz"),
        Reasoning(redacted=True, signature="EmwKAhgBEgy3va3p"),
    )
    response = answer(Reasoning(summary=("One.", "Two.")), Reasoning(redacted=True))
    assert encode_response(response, foreign())["content"] == [
        {"type": "thinking", "thinking": "One.\n\nTwo.", "signature": ""},
        {"type": "redacted_thinking", "data": ""},
    ]


# --- totality -------------------------------------------------------------------------------------


HELLO = {"role": "user", "content": "hi"}


NASTY = [
    {},
    {"model": 5},
    {"model": "m"},
    {"model": "m", "messages": None},
    {"model": "m", "messages": {}},
    {"model": "m", "messages": [None]},
    {"model": "m", "messages": [{}]},
    {"model": "m", "messages": [{"role": "robot", "content": ""}]},
    {"model": "m", "messages": [{"role": "user"}]},
    {"model": "m", "messages": [{"role": "user", "content": None}]},
    {"model": "m", "messages": [{"role": "user", "content": 5}]},
    {"model": "m", "messages": [{"role": "user", "content": [5]}]},
    {"model": "m", "messages": [{"role": "user", "content": [{}]}]},
    {"model": "m", "messages": [{"role": "user", "content": [{"type": []}]}]},
    {"model": "m", "messages": [{"role": "user", "content": [{"type": "text"}]}]},
    {"model": "m", "messages": [{"role": "user", "content": [{"type": "image"}]}]},
    {"model": "m", "messages": [{"role": "user", "content": [{"type": "image", "source": 5}]}]},
    {
        "model": "m",
        "messages": [
            {
                "role": "user",
                "content": [{"type": "image", "source": {"type": "url", "url": 5}}],
            }
        ],
    },
    {"model": "m", "messages": [{"role": "user", "content": [{"type": "thinking"}]}]},
    {"model": "m", "messages": [{"role": "user", "content": [{"type": "tool_use", "id": "x"}]}]},
    {
        "model": "m",
        "messages": [
            {
                "role": "user",
                "content": [{"type": "tool_use", "id": "x", "name": [1], "input": {}}],
            }
        ],
    },
    {"model": "m", "messages": [{"role": "user", "content": [{"type": "tool_result"}]}]},
    {
        "model": "m",
        "messages": [
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "x", "is_error": "yes"}],
            }
        ],
    },
    {
        "model": "m",
        "messages": [{"role": "user", "content": [{"type": "text", "text": "", "citations": [1]}]}],
    },
    {
        "model": "m",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "", "cache_control": 1}]}
        ],
    },
    {"model": "m", "messages": [HELLO], "system": 5},
    {"model": "m", "messages": [HELLO], "tools": {}},
    {"model": "m", "messages": [HELLO], "tools": [{}]},
    {"model": "m", "messages": [HELLO], "tools": [{"type": []}]},
    {"model": "m", "messages": [HELLO], "tools": [{"name": "f", "input_schema": []}]},
    {"model": "m", "messages": [HELLO], "tool_choice": "auto"},
    {"model": "m", "messages": [HELLO], "tool_choice": {}},
    {"model": "m", "messages": [HELLO], "tool_choice": {"type": "maybe"}},
    {"model": "m", "messages": [HELLO], "tool_choice": {"type": "tool"}},
    {"model": "m", "messages": [HELLO], "thinking": True},
    {
        "model": "m",
        "messages": [HELLO],
        "thinking": {"type": "enabled", "budget_tokens": "all"},
    },
    {"model": "m", "messages": [HELLO], "output_config": []},
    {"model": "m", "messages": [HELLO], "output_config": {"effort": 5}},
    {"model": "m", "messages": [HELLO], "output_config": {"format": "json"}},
    {"model": "m", "messages": [HELLO], "metadata": {"user_id": 5}},
    {"model": "m", "messages": [HELLO], "max_tokens": "5"},
    {"model": "m", "messages": [HELLO], "max_tokens": 5.5},
    {"model": "m", "messages": [HELLO], "stop_sequences": [5]},
    {"model": "m", "messages": [HELLO], "stream": 1},
]


@pytest.mark.parametrize("body", NASTY, ids=json.dumps)
def test_wrong_requests_are_refused_with_a_path(body):
    with pytest.raises(DecodeError) as caught:
        decode_request(body)
    assert caught.value.path


def test_the_path_says_where():
    content = [{"type": "text", "text": "ok"}, {"type": "text", "text": 5}]
    body = {"model": "m", "messages": [HELLO, {"role": "user", "content": content}]}
    message = r"^messages\[1\]\.content\[1\]\.text: expected string, got int$"
    with pytest.raises(DecodeError, match=message):
        decode_request(body)


@pytest.mark.parametrize(
    "odd", [{"type": []}, {"type": {}}, {"display": []}, {"type": "enabled"}, {"type": "wild"}]
)
def test_odd_types_that_are_no_words_stay_where_they_are(odd):
    body = {"model": "m", "messages": [HELLO], "thinking": odd, "service_tier": ["x"]}
    assert encode_request(decode_request(body)) == body


def test_results_in_results_are_not_followed():
    block = {"type": "text", "text": "core"}
    for _ in range(400):
        block = {"type": "tool_result", "tool_use_id": "x", "content": [block]}
    body = {"model": "m", "messages": [{"role": "user", "content": [block]}]}
    assert encode_request(decode_request(body)) == body
