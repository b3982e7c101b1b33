"""The `anthropic` protocol: identity, the official types, tables, totality and streams."""

import json
from itertools import pairwise
from pathlib import Path

import anthropic as sdk
import msgspec
import pytest
from anthropic.lib.streaming._messages import accumulate_event
from anthropic.types.message_create_params import MessageCreateParamsBase
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from pydantic import TypeAdapter

from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.events import (
    Failed,
    Finished,
    Grammar,
    OpaqueEvent,
    PartDelta,
    PartEnded,
    PartStarted,
    Started,
    UsageSeen,
    fold,
    unfold,
)
from toolglot.ir import (
    ApiError,
    Audio,
    Choice,
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
    Request,
    Response,
    StopReason,
    Text,
    ToolCall,
    ToolChoice,
    ToolResult,
    Usage,
)
from toolglot.protocols import anthropic
from toolglot.surface import Surface
from toolglot.wire.message import WireRequest, WireResponse

FIXTURES = Path(__file__).parents[1] / "fixtures" / "anthropic"
REQUESTS = sorted(FIXTURES.glob("*.request.json"))
RESPONSES = sorted(FIXTURES.glob("*.response.json"))
ERRORS = sorted(FIXTURES.glob("*.error.json"))
STREAMS = sorted(FIXTURES.glob("*.stream.txt"))
OTHER = Surface(name="other", path="/", settings={}, messages="messages", media={})


def name(path):
    return path.name.split(".")[0]


def load(kind, fixture):
    return json.loads((FIXTURES / f"{fixture}.{kind}.json").read_text(encoding="utf-8"))


def stream_of(fixture):
    return (FIXTURES / f"{fixture}.stream.txt").read_bytes()


def decode_request(body, ctx=None):
    return anthropic.decode_request(WireRequest(body=body), ctx or Context())


def encode_request(request, ctx=None):
    return anthropic.encode_request(request, ctx or Context()).body


def decode_response(body, ctx=None, status=200, headers=None):
    wire = WireResponse(body=body, status=status, headers=headers or {})
    return anthropic.decode_response(wire, ctx or Context())


def encode_response(response, ctx=None):
    return anthropic.encode_response(response, ctx or Context()).body


def decode_stream(data, ctx=None, cuts=()):
    decoder, grammar = anthropic.StreamDecoder(ctx or Context()), Grammar()
    edges = [0, *cuts, len(data)]
    events = [event for start, end in pairwise(edges) for event in decoder.feed(data[start:end])]
    events += decoder.close()
    for event in events:
        grammar.check(event)
    assert grammar.complete
    return events


def encode_stream(events, ctx=None):
    encoder, grammar = anthropic.StreamEncoder(ctx or Context()), Grammar()
    written = b""
    for event in events:
        grammar.check(event)
        written += encoder.encode(event)
    return written + encoder.close()


def frames(data):
    """The events of a written stream: for each its type, one line of data, a blank line."""
    events = []
    for each in data.decode().split("\n\n")[:-1]:
        first, second = each.split("\n")
        event = json.loads(second.removeprefix("data: "))
        assert first == f"event: {event['type']}"
        events.append(event)
    return events


def foreign():
    return Context(source=OTHER, target=anthropic.SURFACE, now=1_800_000_000)


def codes(ctx):
    return set(ctx.receipt().codes())


def user(*parts):
    return Request(model="m", messages=(Message(role="user", parts=parts),), max_tokens=5)


def answer(*parts, **more):
    return Response(id="msg_1", model="m", choices=(Choice(parts=parts, **more),))


def call(function="f", arguments="{}", id_="toolu_1", **more):
    return ToolCall(id=id_, name=function, arguments=arguments, **more)


# --- identity and the official types --------------------------------------------------------------


@pytest.mark.parametrize("path", REQUESTS, ids=name)
def test_request_identity(path):
    body = json.loads(path.read_text(encoding="utf-8"))
    before = json.dumps(body)
    wire = anthropic.encode_request(decode_request(body), Context())
    assert wire.body == body
    assert wire.path == "/v1/messages"
    assert json.dumps(body) == before, "the input was changed"


@pytest.mark.parametrize("path", RESPONSES, ids=name)
def test_response_identity(path):
    body = json.loads(path.read_text(encoding="utf-8"))
    assert encode_response(decode_response(body)) == body


@pytest.mark.parametrize("path", ERRORS, ids=name)
def test_error_identity(path):
    error = json.loads(path.read_text(encoding="utf-8"))
    decoded = decode_response(error["body"], status=error["status"], headers=error["headers"])
    assert isinstance(decoded, ApiError)
    wire = anthropic.encode_response(decoded, Context())
    assert (wire.status, wire.body) == (error["status"], error["body"])
    assert wire.headers == error["headers"]


@pytest.mark.parametrize(
    "path", [path for path in REQUESTS if name(path) not in ("unknown", "empties")], ids=name
)
def test_requests_are_the_sdks(path):
    body = encode_request(decode_request(json.loads(path.read_text(encoding="utf-8"))))
    TypeAdapter(MessageCreateParamsBase).validate_python(body)
    for message in body["messages"]:
        TypeAdapter(sdk.types.MessageParam).validate_python(message)
        for block in message["content"] if isinstance(message["content"], list) else ():
            TypeAdapter(sdk.types.ContentBlockParam).validate_python(block)
    for tool in body.get("tools", ()):
        TypeAdapter(sdk.types.ToolUnionParam).validate_python(tool)


@pytest.mark.parametrize("path", [path for path in RESPONSES if name(path) != "unknown"], ids=name)
def test_responses_are_the_sdks(path):
    body = encode_response(decode_response(json.loads(path.read_text(encoding="utf-8"))))
    sdk.types.Message.model_validate(body)


@pytest.mark.parametrize("fixture", ["tool_loop", "media", "thinking", "adaptive", "unknown"])
def test_requests_read_as_they_should(fixture, golden):
    request = decode_request(load("request", fixture))
    golden(f"anthropic/{fixture}.request.ir.json", msgspec.to_builtins(request))


@pytest.mark.parametrize("fixture", ["calls", "thinking", "citations", "unknown"])
def test_responses_read_as_they_should(fixture, golden):
    response = decode_response(load("response", fixture))
    golden(f"anthropic/{fixture}.response.ir.json", msgspec.to_builtins(response))


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


def test_a_definition_without_description_has_none_s0_11():
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


# --- responses ------------------------------------------------------------------------------------


def test_a_call_of_another_protocol_s0_29_s0_30():
    """S0-29, S0-30 and S0-31: whoever said it, a call is a block with its input as an object."""
    arguments = '{"room":"cellar"}'
    response = answer(
        call("read_thermometer", arguments, "call_1"), stop=StopReason(kind="tool_calls")
    )
    body = encode_response(response, foreign())
    assert body["content"] == [
        {
            "type": "tool_use",
            "id": "call_1",
            "name": "read_thermometer",
            "input": {"room": "cellar"},
        }
    ]
    assert body["stop_reason"] == "tool_use"
    sdk.types.Message.model_validate(body)


def test_a_call_is_read_with_its_input_as_text_s0_32():
    """S0-32: the reverse, as far as this protocol goes."""
    response = decode_response(load("response", "one_call"))
    assert response.choices[0].parts == (
        call("read_thermometer", '{"room":"cellar"}', "toolu_01W"),
    )
    assert response.choices[0].stop == StopReason(kind="tool_calls", raw="tool_use")


def test_text_before_a_call_stays_before_it_s0_33():
    """S0-33 and S0-34: the text stays in its place, and no text makes no block."""
    response = decode_response(load("response", "calls"))
    assert [type(part) for part in response.choices[0].parts] == [Text, ToolCall, ToolCall]
    assert [block["type"] for block in encode_response(answer(call()), foreign())["content"]] == [
        "tool_use"
    ]


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("end_turn", "end"),
        ("stop_sequence", "stop_sequence"),
        ("max_tokens", "length"),
        ("tool_use", "tool_calls"),
        ("refusal", "refusal"),
        ("pause_turn", "pause"),
        ("model_context_window_exceeded", "context_window"),
        ("too_hot", "other"),
    ],
)
def test_stop_reasons_s1_21(word, kind):
    """S1-21, the reading side."""
    body = load("response", "text") | {"stop_reason": word}
    response = decode_response(body)
    assert response.choices[0].stop == StopReason(kind=kind, raw=word)
    assert encode_response(response) == body


@pytest.mark.parametrize(
    ("kind", "word", "exact"),
    [
        ("end", "end_turn", True),
        ("content_filter", "refusal", False),
        ("malformed_call", "end_turn", False),
        ("other", "end_turn", False),
    ],
)
def test_stop_reasons_of_others(kind, word, exact):
    ctx = foreign()
    body = encode_response(answer(stop=StopReason(kind=kind, raw="weird")), ctx)
    assert body["stop_reason"] == word
    assert ("stop-mapped" in codes(ctx)) is not exact


def test_usage():
    response = decode_response(load("response", "thinking"))
    assert replace(response.usage, extras={}) == Usage(
        input=21, cache_write=4, cache_read=300, output=57, reasoning=40
    )
    assert encode_response(answer(), foreign())["usage"] == {"input_tokens": 0, "output_tokens": 0}
    partial = replace(answer(), usage=Usage(cache_read=3))
    assert encode_response(partial, foreign())["usage"] == {
        "input_tokens": 0,
        "output_tokens": 0,
        "cache_read_input_tokens": 3,
    }


@pytest.mark.parametrize(
    ("fixture", "kind"),
    [
        ("too_long", "context_length"),
        ("overloaded", "overloaded"),
        ("rate_limit", "rate_limit"),
        ("auth", "authentication"),
        ("too_large", "too_large"),
        ("unknown", "invalid_request"),
    ],
)
def test_error_kinds(fixture, kind):
    error = load("error", fixture)
    decoded = decode_response(error["body"], status=error["status"], headers=error["headers"])
    assert decoded.kind == kind
    assert decoded.request_id == error["headers"].get("request-id")
    assert decoded.retry_after == error["headers"].get("retry-after")


@pytest.mark.parametrize(
    ("kind", "word", "status"),
    [
        ("invalid_request", "invalid_request_error", 400),
        ("authentication", "authentication_error", 401),
        ("billing", "billing_error", 402),
        ("permission", "permission_error", 403),
        ("not_found", "not_found_error", 404),
        ("conflict", "conflict_error", 409),
        ("too_large", "request_too_large", 413),
        ("context_length", "invalid_request_error", 400),
        ("content_policy", "invalid_request_error", 400),
        ("rate_limit", "rate_limit_error", 429),
        ("quota", "rate_limit_error", 429),
        ("overloaded", "overloaded_error", 529),
        ("timeout", "timeout_error", 504),
        ("server", "api_error", 500),
    ],
)
def test_errors_of_others(kind, word, status):
    ctx = foreign()
    error = ApiError(
        kind=kind, message="Oh no.", status=418, raw="x", request_id="r", retry_after="4"
    )
    wire = anthropic.encode_response(error, ctx)
    assert wire.status == status
    assert wire.body["error"]["type"] == word
    assert wire.body["request_id"] == "r"
    waiting = {"x-should-retry": "false"} if kind == "quota" else {}
    assert wire.headers == {"request-id": "r", "retry-after": "4", **waiting}
    assert codes(ctx) == {"status-changed"}


@pytest.mark.parametrize(
    ("message", "written"),
    [
        (
            "This model's maximum context length is 8192 tokens. You asked for 9001 tokens.",
            (
                "prompt is too long: 9001 tokens > 8192 maximum: This model's maximum context "
                "length is 8192 tokens. You asked for 9001 tokens."
            ),
        ),
        ("exceeds the context window", "prompt is too long: exceeds the context window"),
        ("Prompt is too long", "Prompt is too long"),
    ],
)
def test_a_prompt_too_long_is_told_in_words_that_are_known(message, written):
    error = ApiError(kind="context_length", message=message)
    body = encode_response(error, foreign())
    assert body["error"] == {"type": "invalid_request_error", "message": written}
    assert decode_response(body, status=400).kind == "context_length"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": {"message": "no", "type": "invalid_request_error", "code": None}}, "no"),
        ({"error": "plain"}, "plain"),
        ({"message": "outside"}, "outside"),
        ({"error": {"message": 5, "type": []}}, ""),
        ({"error": {}, "request_id": 7}, ""),
        ({}, ""),
        ({"detail": "Not Found"}, "Not Found"),
        ({"detail": [{"loc": []}]}, ""),
    ],
)
def test_errors_in_other_shapes_are_read(body, message):
    error = decode_response(body, status=400)
    assert (error.kind, error.message, error.status) == ("invalid_request", message, 400)
    assert anthropic.encode_response(error, Context()).status == 400


def test_an_error_in_a_good_response_is_an_error():
    error = decode_response(
        {"type": "error", "error": {"type": "overloaded_error", "message": "x"}}
    )
    assert (error.kind, error.status) == ("overloaded", 529)


@pytest.mark.parametrize(
    "body",
    [{}, {"content": None, "usage": None, "id": None}, {"content": "text"}, {"stop_reason": None}],
)
def test_poor_responses_are_read(body):
    assert isinstance(decode_response(body), Response)
    assert encode_response(Response(id="r", model="m", choices=()))["content"] == []


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
                "content": [{"type": "tool_use", "id": "x", "name": "f", "input": [1]}],
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


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


def places(value, path=()):
    yield path
    if isinstance(value, (dict, list)):
        members = value.items() if isinstance(value, dict) else enumerate(value)
        for key, child in members:
            yield from places(child, (*path, key))


def put(value, path, new):
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = put(value[path[0]], path[1:], new)
    return copy


@st.composite
def mutated(draw, values):
    value = draw(st.sampled_from(values))
    for _ in range(draw(st.integers(1, 2))):
        value = put(value, draw(st.sampled_from(list(places(value)))), draw(JSON))
    return value


REQUEST_BODIES = [json.loads(path.read_text(encoding="utf-8")) for path in REQUESTS]
RESPONSE_BODIES = [json.loads(path.read_text(encoding="utf-8")) for path in RESPONSES]
EVENTS = [
    json.loads(line.removeprefix(b"data: "))
    for path in STREAMS
    for line in path.read_bytes().splitlines()
    if line.startswith(b'data: {"type"') and line.endswith(b"}")
]
NORMALISED = {"arguments-normalised", "citation-dropped"}


@given(mutated(REQUEST_BODIES))
def test_any_request_decodes_or_is_refused(body):
    ctx = Context(target=OTHER)
    try:
        request = decode_request(body, ctx) if isinstance(body, dict) else None
    except DecodeError:
        return
    if request is not None:
        again = encode_request(request, ctx)
        assert again == body or codes(ctx) & NORMALISED


@given(mutated(RESPONSE_BODIES), st.sampled_from([200, 400, 503]))
def test_any_response_decodes_or_is_refused(body, status):
    try:
        response = decode_response(body, status=status) if isinstance(body, dict) else None
    except DecodeError:
        return
    if response is not None:
        encode_response(response)


@given(
    st.lists(mutated(EVENTS) | st.sampled_from(EVENTS) | JSON, max_size=8),
    st.binary(max_size=20),
)
def test_any_stream_gives_legal_events(values, junk):
    data = b"".join(b"data: " + json.dumps(value).encode() + b"\n\n" for value in values)
    encode_stream(decode_stream(data + junk))


# --- streams --------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", STREAMS, ids=name)
def test_streams_cut_anywhere(path):
    """case-10: the same events however the bytes are cut, inside characters and line ends too."""
    data = path.read_bytes()
    whole = decode_stream(data)
    assert decode_stream(data, cuts=range(1, len(data))) == whole
    for middle in range(1, len(data), 7):
        assert decode_stream(data, cuts=[middle]) == whole


@pytest.mark.parametrize("fixture", ["text", "calls"])
def test_every_byte_split(fixture):
    """case-10: every single cut."""
    data = stream_of(fixture)
    whole = decode_stream(data)
    for middle in range(1, len(data)):
        assert decode_stream(data, cuts=[middle]) == whole


def bare(response):
    """A response without what streams and bodies may tell differently."""
    parts = tuple(
        replace(part, arguments=json.dumps(json.loads(part.arguments)))
        if isinstance(part, ToolCall)
        else part
        for part in response.choices[0].parts
    )
    usage = response.usage and replace(response.usage, extras={})
    choice = replace(response.choices[0], parts=parts)
    return replace(response, choices=(choice,), usage=usage, extras={})


@pytest.mark.parametrize(
    "fixture",
    sorted(({name(path) for path in STREAMS} & {name(path) for path in RESPONSES}) - {"length"}),
)
def test_stream_equals_body(fixture):
    body = decode_response(load("response", fixture))
    assert bare(fold(decode_stream(stream_of(fixture)))) == bare(body)


def test_what_ends_a_stream_is_kept():
    folded = fold(decode_stream(stream_of("refusal")))
    assert folded.extras["anthropic"]["stop_details"]["category"] == "bio"
    written = frames(encode_stream(decode_stream(stream_of("refusal"))))
    assert written[-2]["delta"]["stop_details"]["category"] == "bio"


@pytest.mark.parametrize("path", STREAMS, ids=name)
def test_written_streams_are_the_sdks(path):
    """X-14: official events only, with nothing like `[DONE]` among them."""
    odd = {"hologram", "weather"}
    for event in frames(encode_stream(decode_stream(path.read_bytes()))):
        if event["type"] == "error":
            sdk.types.ErrorResponse.model_validate(event)
        elif event["type"] not in odd and event.get("content_block", {}).get("type") not in odd:
            TypeAdapter(sdk.types.RawMessageStreamEvent).validate_python(event)


@pytest.mark.parametrize("path", STREAMS, ids=name)
def test_written_streams_read_the_same(path):
    first = decode_stream(path.read_bytes())
    again = decode_stream(encode_stream(first))
    if isinstance(first[-1], Failed):
        assert again[-1].error.kind == first[-1].error.kind
        assert again[-1].error.message == first[-1].error.message
    elif name(path) == "length":
        assert fold(again).choices == fold(first).choices
    else:
        assert bare(fold(again)).choices[0].parts == bare(fold(first)).choices[0].parts


@pytest.mark.parametrize("path", RESPONSES, ids=name)
def test_whole_responses_as_streams(path):
    response = decode_response(json.loads(path.read_text(encoding="utf-8")))
    assert bare(fold(decode_stream(encode_stream(unfold(response))))) == bare(response)


@pytest.mark.parametrize("path", [path for path in RESPONSES if name(path) != "unknown"], ids=name)
def test_the_official_client_puts_written_streams_together(path):
    body = json.loads(path.read_text(encoding="utf-8"))
    snapshot, buffers = None, {}
    for event in frames(encode_stream(unfold(decode_response(body)))):
        snapshot = accumulate_event(event=event, current_snapshot=snapshot, json_bufs=buffers)
    built = sdk.types.Message.model_validate(body)
    assert [block.to_dict() for block in snapshot.content] == [
        block.to_dict() for block in built.content
    ]
    assert snapshot.stop_reason == body["stop_reason"]
    assert snapshot.usage.output_tokens == body["usage"]["output_tokens"]


def test_a_call_is_streamed_s0_56():
    """S0-56, S0-57, S0-58 and S0-60: start with an empty input, fragments as they came, the end."""
    fragments = ['{"ex', 'pression":', ' "5 + 6"}']
    written = frames(
        encode_stream(
            [
                Started(id="msg_1", model="m"),
                PartStarted(0, call("calc", "", "call_1")),
                *(PartDelta(0, each) for each in fragments),
                PartEnded(0),
                Finished((StopReason(kind="tool_calls"),)),
            ],
            foreign(),
        )
    )
    assert [event["type"] for event in written] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert written[1]["content_block"] == {
        "type": "tool_use",
        "id": "call_1",
        "name": "calc",
        "input": {},
    }
    assert [event["delta"]["partial_json"] for event in written[2:5]] == fragments
    assert written[6]["delta"] == {"stop_reason": "tool_use", "stop_sequence": None}


def test_a_stream_that_starts_with_a_call_case_01():
    """case-01: one `message_start` with `content` and `usage` before any block."""
    written = frames(
        encode_stream(
            [
                Started(id="msg_1", model="m"),
                PartStarted(0, call(arguments="")),
                PartEnded(0),
                Finished((StopReason(kind="tool_calls"),)),
            ],
            foreign(),
        )
    )
    assert [event["type"] for event in written].index("message_start") == 0
    assert written[0]["message"]["content"] == []
    assert written[0]["message"]["usage"] == {"input_tokens": 0, "output_tokens": 0}


def test_block_numbers_case_02_x_03():
    """case-02 and X-03: blocks are numbered as they start, each closed before the next opens."""
    written = frames(
        encode_stream(
            [
                Started(id="msg_1", model="m"),
                PartStarted(0, Reasoning()),
                PartDelta(0, "Hm."),
                PartEnded(0),
                PartStarted(1, Audio(source=Inline(media_type="audio/wav", data=""))),
                PartEnded(1),
                PartStarted(2, call(arguments="")),
                PartDelta(2, "{}"),
                PartEnded(2),
                Finished((StopReason(kind="tool_calls"),)),
            ],
            foreign(),
        )
    )
    assert [(event["type"][14:], event["index"]) for event in written if "index" in event] == [
        ("start", 0),
        ("delta", 0),
        ("stop", 0),
        ("start", 1),
        ("delta", 1),
        ("stop", 1),
    ]


def test_deltas_fit_their_block_case_04():
    """case-04: words of a part that was announced as sealed get a block that takes them."""
    written = frames(
        encode_stream(
            [
                Started(id="msg_1", model="m"),
                PartStarted(0, Reasoning(redacted=True)),
                PartDelta(0, "Readable ", "summary"),
                PartDelta(0, "after all.", "summary", 1),
                PartDelta(0, "si", "signature"),
                PartDelta(0, "g", "signature"),
                PartEnded(0),
                PartStarted(1, Reasoning(redacted=True, signature="da")),
                PartDelta(1, "ta", "signature"),
                PartEnded(1),
                PartStarted(2, Reasoning(redacted=True)),
                PartEnded(2),
                PartStarted(3, Text(text="")),
                PartDelta(3, "sig", "signature"),
                PartDelta(3, "x"),
                PartEnded(3),
                Finished((StopReason(kind="end"),)),
            ],
            foreign(),
        )
    )
    assert [event.get("content_block") or event.get("delta") for event in written[1:-2]] == [
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "Readable "},
        {"type": "thinking_delta", "thinking": "\n\nafter all."},
        {"type": "signature_delta", "signature": "sig"},
        None,
        {"type": "redacted_thinking", "data": "data"},
        None,
        {"type": "text", "text": ""},
        {"type": "text_delta", "text": "x"},
        None,
    ]


def test_deltas_of_the_wrong_kind_are_passed_over_case_04():
    """case-04, the reading side."""
    ctx = Context()
    response = fold(decode_stream(stream_of("broken"), ctx))
    assert response.choices[0].parts == (Text(text="one two"),)
    assert codes(ctx) == {"event-skipped"}


def test_signatures_travel_whole_case_05():
    """case-05: one `signature_delta` right before the end of the block, none for a broken block."""
    written = frames(encode_stream(decode_stream(stream_of("thinking"))))
    kinds = [event.get("delta", {}).get("type", event["type"]) for event in written]
    assert kinds[2:6] == [
        "thinking_delta",
        "thinking_delta",
        "signature_delta",
        "content_block_stop",
    ]
    broken = [
        Started(id="msg_1", model="m"),
        PartStarted(0, Reasoning()),
        PartDelta(0, "Hm."),
        PartDelta(0, "half a sig", "signature"),
        PartEnded(0, incomplete=True),
        PartStarted(1, Reasoning(redacted=True, signature="half")),
        PartEnded(1, incomplete=True),
        Failed(ApiError(kind="server", message="cut")),
    ]
    assert b"half" not in encode_stream(broken)


@pytest.mark.parametrize("fixture", ["cut_text", "cut_call", "cut_server_tool"])
def test_a_stream_that_is_cut_is_an_error_case_09(fixture):
    """case-09: what was delivered stays, blocks are closed, and an error follows."""
    events = decode_stream(stream_of(fixture))
    assert events[-1].error.kind == "server"
    written = frames(encode_stream(events))
    assert written[-1]["type"] == "error"
    assert written[-1]["error"]["type"] == "api_error"
    started = [event for event in written if event["type"] == "content_block_start"]
    stopped = [event for event in written if event["type"] == "content_block_stop"]
    assert len(started) == len(stopped)
    assert all(event["type"] != "message_stop" for event in written)


def test_nothing_at_all_is_an_error():
    assert [type(event) for event in decode_stream(b"")] == [Failed]


def test_a_broken_line_does_not_end_a_stream_case_09():
    """case-09: one bad line in the middle is passed over."""
    events = decode_stream(stream_of("broken"))
    assert isinstance(events[-1], Finished)
    assert [event for event in events if isinstance(event, OpaqueEvent)] == [
        OpaqueEvent("anthropic", "weather", {"type": "weather", "sky": "clear"})
    ]


def test_deltas_of_blocks_never_opened_s1_19():
    """S1-19: ignored with a note."""
    ctx = Context()
    response = fold(decode_stream(stream_of("never_opened"), ctx))
    assert response.choices[0].parts == (Text(text="kept"),)
    assert ctx.receipt().codes() == {"event-skipped": 3}


def test_fragments_join_s1_20():
    """S1-20: fragments of arguments join to the text that was sent."""
    data = stream_of("calls")
    parts = fold(decode_stream(data)).choices[0].parts
    assert parts[1].arguments == '{"celsius": 230, "fan": true, "deep": {"π": [1, 2.5, "北"]}}'
    assert parts[2].arguments == "{}"


def test_white_space_is_kept_x_12():
    """X-12: deltas of nothing but white space survive."""
    deltas = [e.text for e in decode_stream(stream_of("text")) if isinstance(e, PartDelta)]
    assert deltas == ["Around", " ten hours,", "\n\n", "  ", "maybe eleven. ☺"]


def test_input_in_the_start_of_a_block():
    ctx = Context()
    calls = fold(decode_stream(stream_of("whole_input"), ctx)).choices[0].parts
    assert [each.arguments for each in calls] == ["{}", '{"zone":"UTC"}', '{"zone":"Y"}', "{}"]
    assert calls[3].id.startswith("toolu_")


def test_text_in_the_start_of_a_block():
    events = decode_stream(stream_of("prefilled_blocks"))
    assert fold(events).choices[0].parts == (
        Text(text="prefix"),
        Reasoning(text="pre", signature="sig"),
        Text(text="bare"),
        Reasoning(),
    )
    assert all(not event.part.text for event in events if isinstance(event, PartStarted))


def test_errors_in_streams():
    error = ApiError(kind="overloaded", message="Overloaded", status=529, raw="overloaded_error")
    assert decode_stream(stream_of("error_first")) == [Failed(error)]
    events = decode_stream(stream_of("error_mid"))
    assert events[-3:-1] == [PartEnded(0, incomplete=True), PartEnded(1, incomplete=True)]
    assert (events[-1].error.message, events[-1].error.request_id) == ("boom", "req_9")
    assert decode_stream(stream_of("error_openai"))[-1].error.kind == "context_length"


def test_streams_without_their_ends():
    assert isinstance(decode_stream(stream_of("no_stop"))[-1], Finished)
    headless = fold(decode_stream(stream_of("no_start")))
    assert headless.id.startswith("msg_")
    assert headless.choices[0].parts == (Text(text="headless"),)
    counted = decode_stream(stream_of("usage_only"))
    assert [type(event) for event in counted] == [Started, UsageSeen, Finished]
    poor = b'data: {"type":"message_delta"}\n\ndata: {"type":"message_stop"}\n\n'
    assert decode_stream(poor)[-1] == Finished((StopReason(kind="other"),))
    assert decode_stream(poor[32:])[-1] == Finished((StopReason(kind="other"),))


def test_blocks_that_are_never_closed():
    events = decode_stream(stream_of("no_block_stop"))
    parts = fold(events).choices[0].parts
    assert parts[:2] == (Text(text="a"), call("clock"))
    assert parts[2].value["input"] == {"query": "x"}
    assert events[-1].stops == (StopReason(kind="tool_calls"),)
    parts = fold(decode_stream(stream_of("same_index"))).choices[0].parts
    assert parts == (Text(text="one"), Text(text="two"))


def test_blocks_without_a_number():
    parts = fold(decode_stream(stream_of("no_index"))).choices[0].parts
    assert parts == (Text(text="first"), Text(text="second"))


def test_broken_input_of_a_server_tool_is_kept():
    ctx = Context()
    events = decode_stream(stream_of("broken_server_tool"), ctx)
    parts = fold(events).choices[0].parts
    assert parts[0].value["input"] == {"$invalid": '{"que'}
    assert parts[1] == Opaque(
        protocol="anthropic", type="hologram", value={"type": "hologram", "z": 1}
    )
    assert codes(ctx) == {"arguments-invalid", "event-skipped"}


def test_input_of_a_server_tool_is_written_in_deltas():
    written = frames(encode_stream(decode_stream(stream_of("server_tools"))))
    assert written[1]["content_block"]["input"] == {}
    assert json.loads(written[2]["delta"]["partial_json"]) == {"query": "flour price"}


def test_what_comes_before_the_message_is_passed_over():
    ctx = Context()
    events = decode_stream(stream_of("early"), ctx)
    assert [event.id for event in events if isinstance(event, Started)] == ["msg_01x"]
    assert codes(ctx) == {"event-skipped"}


def test_a_limit_inside_a_call():
    response = fold(decode_stream(stream_of("length")))
    assert response.choices[0].parts[1].arguments == '{"celsius": 2'
    assert response.choices[0].stop.kind == "length"


def test_encoder_leaves_out_what_is_not_its_own():
    ctx = foreign()
    written = encode_stream(
        [
            Started(id="r", model="m", usage=Usage(input=5)),
            PartStarted(0, Text(text="whole", citations=(Citation(url="https://x.example"),))),
            PartEnded(0),
            PartStarted(1, Text(text=""), 1),
            PartDelta(1, "second choice"),
            PartEnded(1),
            OpaqueEvent("other", "x", {}),
            UsageSeen(Usage(output=3)),
            Finished(()),
        ],
        ctx,
    )
    events = frames(written)
    assert [event["delta"] for event in events if "delta" in event] == [
        {"type": "text_delta", "text": "whole"},
        {"stop_reason": None, "stop_sequence": None},
    ]
    assert events[-2]["usage"] == {"input_tokens": 5, "output_tokens": 3}
    assert codes(ctx) == {"citation-dropped"}


def test_hot_path_is_valid_json():
    text = 'quote " backslash \\ newline \n line separator \u2028 北'
    started = [Started(id="r", model="m"), PartStarted(0, Text(text="")), PartDelta(0, text)]
    written = encode_stream(started)
    assert frames(written)[-1]["delta"]["text"] == text
