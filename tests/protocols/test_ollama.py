"""The `ollama` protocol: identity, the official types, tables, totality and streams."""

import json
from itertools import pairwise
from pathlib import Path

import msgspec
import ollama as sdk
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

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
    FunctionTool,
    Image,
    Inline,
    Message,
    Opaque,
    OutputFormat,
    PlainText,
    ProviderTool,
    Reasoning,
    ReasoningSettings,
    Refusal,
    Remote,
    Request,
    Response,
    StopReason,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from toolglot.protocols import ollama
from toolglot.surface import Surface
from toolglot.wire.message import WireRequest, WireResponse

FIXTURES = Path(__file__).parents[1] / "fixtures" / "ollama"
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
    return ollama.decode_request(WireRequest(body=body), ctx or Context())


def encode_request(request, ctx=None):
    return ollama.encode_request(request, ctx or Context()).body


def decode_response(body, ctx=None, status=200, headers=None):
    wire = WireResponse(body=body, status=status, headers=headers or {})
    return ollama.decode_response(wire, ctx or Context())


def encode_response(response, ctx=None):
    return ollama.encode_response(response, ctx or Context()).body


def decode_stream(data, ctx=None, cuts=()):
    decoder, grammar = ollama.StreamDecoder(ctx or Context()), Grammar()
    edges = [0, *cuts, len(data)]
    events = [event for start, end in pairwise(edges) for event in decoder.feed(data[start:end])]
    events += decoder.close()
    for event in events:
        grammar.check(event)
    assert grammar.complete
    return events


def encode_stream(events, ctx=None):
    encoder, grammar = ollama.StreamEncoder(ctx or Context()), Grammar()
    written = b""
    for event in events:
        grammar.check(event)
        written += encoder.encode(event)
    return written + encoder.close()


def lines(data):
    return [json.loads(line) for line in data.splitlines()]


def foreign():
    return Context(source=OTHER, target=ollama.SURFACE, now=1_800_000_000)


def codes(ctx):
    return set(ctx.receipt().codes())


def user(*parts):
    return Request(model="m", messages=(Message(role="user", parts=parts),))


def call(function="f", arguments="{}", id_="c1", **more):
    return ToolCall(id=id_, name=function, arguments=arguments, **more)


# --- identity and the official types --------------------------------------------------------------


@pytest.mark.parametrize("path", REQUESTS, ids=name)
def test_request_identity(path):
    body = json.loads(path.read_text(encoding="utf-8"))
    before = json.dumps(body)
    wire = ollama.encode_request(decode_request(body), Context())
    assert wire.body == body
    assert wire.path == "/api/chat"
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
    wire = ollama.encode_response(decoded, Context())
    assert (wire.status, wire.headers, wire.body) == (
        error["status"],
        error["headers"],
        error["body"],
    )


def for_sdk(message):
    """A message as the SDK holds it: its pictures are objects until they are sent."""
    images = message.get("images") or ()
    return message | {"images": [{"value": image} for image in images]}


@pytest.mark.parametrize("path", REQUESTS, ids=name)
def test_requests_are_the_sdks(path):
    body = encode_request(decode_request(json.loads(path.read_text(encoding="utf-8"))))
    request = sdk._types.ChatRequest.model_validate(body)
    for message in request.messages or ():
        sdk.Message.model_validate(for_sdk(message))


@pytest.mark.parametrize("path", RESPONSES, ids=name)
def test_responses_are_the_sdks(path):
    body = encode_response(decode_response(json.loads(path.read_text(encoding="utf-8"))))
    sdk.ChatResponse.model_validate(body | {"message": for_sdk(body["message"])})


@pytest.mark.parametrize("fixture", ["tool_loop", "tool_ids", "thinking", "vision", "unknown"])
def test_requests_read_as_they_should(fixture, golden):
    request = decode_request(load("request", fixture))
    golden(f"ollama/{fixture}.request.ir.json", msgspec.to_builtins(request))


@pytest.mark.parametrize("fixture", ["calls", "carried", "unknown"])
def test_responses_read_as_they_should(fixture, golden):
    response = decode_response(load("response", fixture))
    golden(f"ollama/{fixture}.response.ir.json", msgspec.to_builtins(response))


# --- requests -------------------------------------------------------------------------------------


def test_settings_under_options():
    request = decode_request(load("request", "turns"))
    assert (request.temperature, request.top_p, request.top_k) == (0, 0.95, 40)
    assert (request.max_tokens, request.stop, request.seed) == (256, ("###", "END"), 7)
    assert (request.presence_penalty, request.frequency_penalty) == (0.5, -0.25)
    assert request.stream is False
    assert request.extras == {}


def test_every_setting_of_the_surface_is_read():
    wire = {"model": "m", "messages": [], "options": {}}
    values = {"tools": [], "think": True, "format": "json", "options.stop": ["x"]}
    for field, path in ollama.SURFACE.settings.items():
        if field == "tools":
            continue
        value = values.get(path, True if field in ("stream", "logprobs") else 3)
        *outer, key = path.split(".")
        (wire[outer[0]] if outer else wire)[key] = value
    request = decode_request(wire)
    unread = [
        field
        for field in ollama.SURFACE.settings
        if field != "tools" and getattr(request, field) is None
    ]
    assert unread == []
    assert encode_request(request) == wire


def test_streaming_is_not_made_up():
    assert decode_request(load("request", "plain")).stream is None


def test_no_limit_is_no_limit_of_tokens():
    request = decode_request(load("request", "odd_options"))
    assert request.max_tokens is None
    assert request.stop == ("\n",)
    assert decode_request({"model": "m", "options": {"num_predict": -2.0}}).max_tokens is None


@pytest.mark.parametrize(
    ("think", "settings"),
    [
        (True, ReasoningSettings(enabled=True)),
        (False, ReasoningSettings(enabled=False)),
        ("low", ReasoningSettings(effort="low")),
        (None, None),
    ],
)
def test_think(think, settings):
    assert decode_request({"model": "m", "think": think}).reasoning == settings


def test_think_of_others():
    request = user(Text(text="x"))
    both = replace(request, reasoning=ReasoningSettings(enabled=True, effort="high"))
    off = replace(request, reasoning=ReasoningSettings(enabled=False, effort="high"))
    nothing = replace(request, reasoning=ReasoningSettings(budget=9))
    assert encode_request(both)["think"] == "high"
    assert encode_request(off)["think"] is False
    assert "think" not in encode_request(nothing)


@pytest.mark.parametrize(
    ("wire", "output"),
    [
        ("json", OutputFormat(kind="json")),
        ("", OutputFormat(kind="text")),
        ({"type": "object"}, OutputFormat(kind="schema", schema={"type": "object"})),
        ({}, OutputFormat(kind="schema", schema={})),
    ],
)
def test_format(wire, output):
    body = {"model": "m", "format": wire}
    assert decode_request(body).output == output
    assert encode_request(decode_request(body)) == body


def test_a_schema_without_a_schema_is_any_json():
    request = replace(user(), output=OutputFormat(kind="schema"))
    assert encode_request(request)["format"] == "json"


def test_tools_s4_11_s4_16():
    """S4-11 and S4-16: tools in the shape that OpenAI has, the order of their keys kept."""
    request = decode_request(load("request", "tools"))
    tide = request.tools[0]
    assert isinstance(tide, FunctionTool)
    assert list(tide.parameters) == ["type", "required", "properties"]
    written = encode_request(request)["tools"][0]
    assert json.dumps(written) == json.dumps(load("request", "tools")["tools"][0])
    assert isinstance(request.tools[4], ProviderTool)
    assert request.tools[3].strict is None, "no such field here"
    assert request.tools[3].extras == {"ollama": {"function": {"strict": True}, "cached": 1}}


def test_a_tool_without_type_is_a_function():
    ctx = Context()
    body = {"model": "m", "tools": [{"function": {"name": "f"}}]}
    request = decode_request(body, ctx)
    assert request.tools == (FunctionTool(name="f"),)
    assert codes(ctx) == {"spelling-normalised"}
    assert encode_request(request)["tools"] == [{"type": "function", "function": {"name": "f"}}]


def test_tools_that_are_not_here():
    ctx = foreign()
    tools = (CustomTool(name="patch"), ProviderTool(protocol="other", type="x", value={}))
    assert "tools" not in encode_request(replace(user(), tools=tools), ctx)
    assert codes(ctx) == {"tool-dropped"}


def test_system_text_outside_the_messages_comes_first():
    system = Message(role="system", parts=(Text(text="Be brief."),))
    later = Message(role="developer", parts=(Text(text="Briefer."),))
    request = Request(model="m", system=system, messages=(later,))
    assert encode_request(request)["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "system", "content": "Briefer."},
    ]


def test_results_come_before_the_rest_of_their_message():
    """X-09: tool results stand apart and first."""
    request = user(
        Text(text="Look."),
        ToolResult(id="c1", name="f", parts=(Text(text="1"),)),
        ToolResult(id="c2", name="g"),
    )
    assert encode_request(request, foreign())["messages"] == [
        {"role": "tool", "content": "1", "tool_name": "f"},
        {"role": "tool", "content": "", "tool_name": "g"},
        {"role": "user", "content": "Look."},
    ]


def test_image_types_by_their_first_bytes():
    images = [
        part.source.media_type
        for message in decode_request(load("request", "vision")).messages[:2]
        for part in message.parts
        if isinstance(part, Image)
    ]
    assert images == ["image/png", "image/jpeg", "image/gif", "image/webp", "image/png"]


def test_texts_are_joined_with_a_note():
    ctx = foreign()
    parts = (Text(text="a"), Text(text="b"), Refusal(text="no"))
    assert encode_request(user(*parts), ctx)["messages"][0]["content"] == "a\nb\nno"
    assert codes(ctx) == {"text-joined"}


def test_what_cannot_be_carried_is_left_out_with_a_note():
    ctx = foreign()
    parts = (
        Image(source=Remote(url="https://x.example/a.png")),
        Document(source=PlainText(text="t")),
        Audio(source=Inline(media_type="audio/wav", data="AA==")),
        Opaque(protocol="other", type="x", value={}),
        Text(text="seen", citations=(Citation(url="https://x.example"),)),
    )
    assert encode_request(user(*parts), ctx)["messages"] == [{"role": "user", "content": "seen"}]
    assert ctx.receipt().codes() == {"part-dropped": 4, "citation-dropped": 1}


# --- calls, ids and results -----------------------------------------------------------------------


def test_calls_without_ids_are_numbered_and_their_results_find_them():
    """S4-17: results pair with the unanswered calls of their name, in order."""
    request = decode_request(load("request", "tool_loop"))
    calls = [part for m in request.messages for part in m.parts if isinstance(part, ToolCall)]
    results = [part for m in request.messages for part in m.parts if isinstance(part, ToolResult)]
    assert [each.id for each in calls] == ["call_0", "call_1", "call_2", "call_3"]
    assert [(each.id, each.name) for each in results] == [
        ("call_0", "tide_times"),
        ("call_2", "add"),
        ("call_1", "tide_times"),
        ("call_3", "tide_times"),
    ]
    assert all(each.id_made for each in (*calls, *results))


def test_ids_on_the_wire_are_kept():
    """S4-18: newer servers write ids; made ones keep clear of them."""
    request = decode_request(load("request", "tool_ids"))
    ids = [
        (part.id, part.id_made)
        for message in request.messages
        for part in message.parts
        if isinstance(part, (ToolCall, ToolResult))
    ]
    assert ids == [
        ("call_8fk2", False),
        ("call_1", False),
        ("call_1", False),
        ("call_8fk2", False),
        ("call_0", True),
        ("call_2", True),
        ("call_0", True),
        ("call_2", True),
    ]


def test_results_without_a_name_or_a_call():
    request = decode_request(load("request", "results"))
    results = [part for m in request.messages for part in m.parts if isinstance(part, ToolResult)]
    assert [each.id for each in results] == [
        "call_0",  # nobody called
        "call_1",
        "call_2",
        "call_3",  # no name: the first call that waits
        "call_4",
        "call_6",  # no call of that name waits any more
        "call_5",
    ]


def test_a_new_turn_forgets_unanswered_calls():
    f = {"function": {"name": "f", "arguments": {}}}
    messages = [
        {"role": "assistant", "content": "", "tool_calls": [f]},
        {"role": "user", "content": "never mind"},
        {"role": "assistant", "content": "", "tool_calls": [f]},
        {"role": "assistant", "content": "", "tool_calls": [f]},
        {"role": "tool", "content": "1", "tool_name": "f"},
        {"role": "tool", "content": "2", "tool_name": "f"},
    ]
    request = decode_request({"model": "m", "messages": messages})
    assert [message.parts[0].id for message in request.messages[4:]] == ["call_1", "call_2"]


def test_foreign_ids_are_not_written_s4_15():
    """S4-15: a result names its tool, not its call."""
    request = Request(
        model="m",
        messages=(
            Message(role="assistant", parts=(call("add", '{"a":1}', "toolu_1"),)),
            Message(
                role="user",
                parts=(ToolResult(id="toolu_1", name="add", parts=(Text(text="23775"),)),),
            ),
        ),
    )
    assert encode_request(request, foreign())["messages"] == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"function": {"name": "add", "arguments": {"a": 1}}}],
        },
        {"role": "tool", "content": "23775", "tool_name": "add"},
    ]
    own = encode_request(request)["messages"]
    assert own[0]["tool_calls"][0]["id"] == own[1]["tool_call_id"] == "toolu_1"


def test_calls_of_a_response():
    """S4-12, S4-13 and S4-14: calls beside an empty text, each with an id, arguments as text."""
    choice = decode_response(load("response", "calls")).choices[0]
    first, second = choice.parts
    assert isinstance(first, ToolCall)
    assert first.id != second.id
    assert first.id.startswith("call_")
    assert first.id_made
    assert first.arguments == '{"harbour":"Faro"}'
    assert choice.stop == StopReason(kind="tool_calls", raw="stop")


@pytest.mark.parametrize(
    ("given", "text"),
    [('{"a": 1}', '{"a": 1}'), (None, "{}"), ("", "{}"), ("not json", "not json")],
)
def test_arguments_that_are_no_object_are_read_with_a_note(given, text):
    ctx = Context()
    calls = [{"function": {"name": "f", "arguments": given}}]
    body = {"message": {"role": "assistant", "content": "", "tool_calls": calls}, "done": True}
    assert decode_response(body, ctx).choices[0].parts[0].arguments == text
    assert codes(ctx) == {"arguments-normalised"}


def test_arguments_are_written_as_objects():
    request = Request(
        model="m",
        messages=(
            Message(
                role="assistant",
                parts=(call(arguments='{"n":12345678901234567890}'), call(arguments="[1]")),
            ),
        ),
    )
    calls = encode_request(request, foreign())["messages"][0]["tool_calls"]
    assert [each["function"]["arguments"] for each in calls] == [
        {"n": 12345678901234567890},
        {"$value": [1]},
    ]


def test_failed_results_are_marked_in_their_text():
    ctx = foreign()
    request = user(ToolResult(id="c", name="f", parts=(Text(text="no"),), is_error=True))
    wire = encode_request(request, ctx)["messages"]
    assert wire == [{"role": "tool", "content": "[tool error] no", "tool_name": "f"}]
    assert codes(ctx) == {"error-marked"}
    back = decode_request({"model": "m", "messages": wire}).messages[0].parts[0]
    assert (back.is_error, back.parts) == (True, (Text(text="no"),))


def test_an_empty_text_beside_something_is_no_part():
    request = decode_request(load("request", "tool_loop"))
    assert [type(part) for part in request.messages[1].parts] == [ToolCall] * 3
    assert decode_request(load("request", "turns")).messages[-1].parts == (Text(text=""),)


# --- reasoning ------------------------------------------------------------------------------------


def test_reasoning_state_is_carried():
    parts = (
        Reasoning(text="One.", signature="tg1.a"),
        Reasoning(redacted=True, signature="tg1.b"),
        Reasoning(summary=("Two.", "Three.")),
        Text(text="So."),
    )
    ctx = foreign()
    response = Response(id="r", model="m", choices=(Choice(parts=parts),))
    message = encode_response(response, ctx)["message"]
    assert message["thinking"] == "One.\n\nTwo.\n\nThree."
    assert [each["data"] for each in message["reasoning_details"]] == ["tg1.a", "tg1.b"]
    assert codes(ctx) == {"text-joined"}
    request = decode_request({"model": "m", "messages": [message]})
    assert request.messages[0].parts == (
        Reasoning(text="One.\n\nTwo.\n\nThree."),
        Reasoning(redacted=True, signature="tg1.a"),
        Reasoning(redacted=True, signature="tg1.b"),
        Text(text="So."),
    )


def test_other_details_stay_where_they_are():
    message = decode_request(load("request", "thinking")).messages[-1]
    assert message.parts == (Text(text="Both are."),)
    assert set(message.extras["ollama"]) == {"thinking", "reasoning_details"}


# --- responses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "calls", "stop"),
    [
        ("stop", False, StopReason(kind="end", raw="stop")),
        ("stop", True, StopReason(kind="tool_calls", raw="stop")),
        ("length", False, StopReason(kind="length", raw="length")),
        ("length", True, StopReason(kind="length", raw="length")),
        ("load", False, StopReason(kind="other", raw="load")),
        ("unload", False, StopReason(kind="other", raw="unload")),
        (None, False, StopReason(kind="end", raw="")),
        ("", True, StopReason(kind="tool_calls", raw="")),
    ],
)
def test_stop_reasons(word, calls, stop):
    message = {"role": "assistant", "content": ""}
    if calls:
        message["tool_calls"] = [{"function": {"name": "f", "arguments": {}}}]
    body = {"model": "m", "message": message, "done": True, "done_reason": word}
    response = decode_response(body)
    assert response.choices[0].stop == stop
    assert encode_response(response) == body


@pytest.mark.parametrize(
    ("kind", "word", "exact"),
    [
        ("end", "stop", True),
        ("tool_calls", "stop", True),
        ("stop_sequence", "stop", False),
        ("length", "length", True),
        ("context_window", "length", False),
        ("content_filter", "stop", False),
        ("refusal", "stop", False),
        ("pause", "stop", False),
        ("malformed_call", "stop", False),
        ("other", "stop", False),
    ],
)
def test_stop_reasons_of_others(kind, word, exact):
    ctx = foreign()
    choice = Choice(parts=(), stop=StopReason(kind=kind, raw="weird"))
    body = encode_response(Response(id="r", model="m", choices=(choice,)), ctx)
    assert body["done_reason"] == word
    assert ("stop-mapped" in codes(ctx)) is not exact


def test_usage():
    usage = decode_response(load("response", "text")).usage
    assert usage == Usage(input=26, output=298)
    assert decode_response(load("response", "load")).usage is None
    ctx = foreign()
    usage = Usage(input=86, cache_read=1920, cache_write=4, output=300, reasoning=7)
    body = encode_response(Response(id="r", model="m", choices=(), usage=usage), ctx)
    assert (body["prompt_eval_count"], body["eval_count"]) == (2010, 300)
    assert codes(ctx) == {"usage-dropped"}
    body = encode_response(Response(id="r", model="m", choices=(), usage=Usage()), foreign())
    assert "prompt_eval_count" not in body


@pytest.mark.parametrize(
    ("created", "written"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1_700_000_000.5, "2023-11-14T22:13:20.500000Z"),
        ("2026-11-15T00:00:00Z", "2026-11-15T00:00:00Z"),
        (None, "2027-01-15T08:00:00Z"),
        (10**20, "2027-01-15T08:00:00Z"),
    ],
)
def test_time_as_text(created, written):
    response = Response(id="r", model="m", choices=(), created=created)
    assert encode_response(response, foreign())["created_at"] == written


def test_logprobs_of_another_shape_are_dropped_with_a_note():
    ctx = foreign()
    response = Response(id="r", model="m", choices=(Choice(parts=(), logprobs={"content": []}),))
    assert "logprobs" not in encode_response(response, ctx)
    assert codes(ctx) == {"logprobs-dropped"}


def test_foreign_responses_are_the_sdks():
    choice = Choice(parts=(Text(text="x"), call()), stop=StopReason(kind="tool_calls"))
    body = encode_response(Response(id="r", model="m", choices=(choice,)), foreign())
    assert "id" not in body
    assert body["message"]["tool_calls"][0]["id"] == "c1"
    assert sdk.ChatResponse.model_validate(body).done_reason == "stop"


@pytest.mark.parametrize(
    ("fixture", "kind"),
    [
        ("not_found", "not_found"),
        ("no_tools", "invalid_request"),
        ("busy", "overloaded"),
        ("unauthorized", "authentication"),
        ("overflow", "context_length"),
        ("limit", "quota"),
        ("nested", "server"),
        ("memory", "server"),
        ("wordless", "server"),
    ],
)
def test_error_kinds(fixture, kind):
    error = load("error", fixture)
    assert decode_response(error["body"], status=error["status"]).kind == kind


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("invalid_request", 400),
        ("authentication", 401),
        ("billing", 402),
        ("permission", 403),
        ("not_found", 404),
        ("conflict", 409),
        ("too_large", 413),
        ("context_length", 400),
        ("content_policy", 400),
        ("rate_limit", 429),
        ("quota", 429),
        ("overloaded", 503),
        ("timeout", 504),
        ("server", 500),
    ],
)
def test_errors_of_others(kind, status):
    ctx = foreign()
    wire = ollama.encode_response(ApiError(kind=kind, message="Oh no.", status=418), ctx)
    assert wire.status == status
    assert wire.body["error"].endswith("Oh no.")
    assert codes(ctx) == {"status-changed"}
    again = decode_response(wire.body, status=status).kind
    assert again == ("invalid_request" if kind == "content_policy" else again)


def test_a_prompt_too_long_is_told_in_words_that_are_known():
    error = ApiError(kind="context_length", message="too many tokens", request_id="req_1")
    wire = ollama.encode_response(error, foreign())
    assert wire.body == {"error": "the input length exceeds the context length: too many tokens"}
    assert wire.headers == {"x-request-id": "req_1"}
    assert decode_response(wire.body, status=wire.status).kind == "context_length"
    known = ApiError(kind="context_length", message="prompt is too long: 9 > 8")
    assert encode_response(known, foreign()) == {"error": known.message}


def test_an_error_in_a_good_response_is_an_error():
    error = decode_response({"error": "model 'x' not found"})
    assert error == ApiError(kind="server", message="model 'x' not found")
    assert ollama.encode_response(error, Context()).status == 500


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"message": None, "done": None},
        {"message": {}, "model": None},
        {"message": {"content": None, "tool_calls": None, "thinking": None}},
        {"created_at": 5, "done": True},
        {"model": "m", "prompt_eval_count": None, "eval_count": 3.0},
    ],
)
def test_poor_responses_are_read(body):
    assert isinstance(decode_response(body), Response)


# --- totality -------------------------------------------------------------------------------------

NASTY = [
    {},
    {"model": None},
    {"model": 5},
    {"model": "m", "messages": {}},
    {"model": "m", "messages": [5]},
    {"model": "m", "messages": [{}]},
    {"model": "m", "messages": [{"role": "robot"}]},
    {"model": "m", "messages": [{"role": "user", "content": []}]},
    {"model": "m", "messages": [{"role": "user", "content": "x", "images": [5]}]},
    {"model": "m", "messages": [{"role": "user", "content": "x", "images": "x"}]},
    {"model": "m", "messages": [{"role": "assistant", "thinking": 5}]},
    {"model": "m", "messages": [{"role": "assistant", "tool_calls": {}}]},
    {"model": "m", "messages": [{"role": "assistant", "tool_calls": [None]}]},
    {"model": "m", "messages": [{"role": "assistant", "tool_calls": [{}]}]},
    {"model": "m", "messages": [{"role": "assistant", "tool_calls": [{"function": {}}]}]},
    {"model": "m", "messages": [{"role": "assistant", "tool_calls": [{"id": 1}]}]},
    {
        "model": "m",
        "messages": [
            {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": 5}}]}
        ],
    },
    {"model": "m", "messages": [{"role": "tool", "content": {}}]},
    {"model": "m", "messages": [{"role": "tool", "tool_name": 1}]},
    {"model": "m", "messages": [{"role": "tool"}, 5]},
    {"model": "m", "messages": [{"role": "tool"}, {"tool_calls": [5, {"id": []}]}]},
    {"model": "m", "messages": [{"role": "tool", "tool_call_id": 7}]},
    {"model": "m", "tools": 1},
    {"model": "m", "tools": [1]},
    {"model": "m", "tools": [{}]},
    {"model": "m", "tools": [{"type": 7}]},
    {"model": "m", "tools": [{"type": "function"}]},
    {"model": "m", "tools": [{"function": {"name": 5}}]},
    {"model": "m", "tools": [{"function": {"name": "f", "parameters": []}}]},
    {"model": "m", "options": []},
    {"model": "m", "options": {"temperature": "hot"}},
    {"model": "m", "options": {"stop": 5}},
    {"model": "m", "options": {"stop": [5]}},
    {"model": "m", "options": {"num_predict": "many"}},
    {"model": "m", "options": {"num_predict": 1.5}},
    {"model": "m", "stream": "yes"},
    {"model": "m", "think": 5},
    {"model": "m", "format": "yaml"},
    {"model": "m", "format": 5},
    {"model": "m", "format": []},
]


@pytest.mark.parametrize("body", NASTY, ids=json.dumps)
def test_wrong_requests_are_refused_with_a_path(body):
    with pytest.raises(DecodeError) as caught:
        decode_request(body)
    assert caught.value.path


def test_the_path_says_where():
    calls = [{"function": {"name": "f", "arguments": {}}}, {"function": {"arguments": {}}}]
    body = {"model": "m", "messages": [{"role": "assistant", "tool_calls": calls}]}
    with pytest.raises(DecodeError, match=r"^messages\[0\]\.tool_calls\[1\]\.function\.name: "):
        decode_request(body)


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
def mutated(draw, paths):
    value = json.loads(draw(st.sampled_from(paths)).read_text(encoding="utf-8"))
    for _ in range(draw(st.integers(1, 2))):
        value = put(value, draw(st.sampled_from(list(places(value)))), draw(JSON))
    return value


@given(mutated(REQUESTS))
def test_any_request_decodes_or_is_refused(body):
    ctx = Context(target=OTHER)
    try:
        request = decode_request(body, ctx) if isinstance(body, dict) else None
    except DecodeError:
        return
    if request is not None:
        again = encode_request(request)
        assert decode_request(again) == request
        assert again == body or codes(ctx) & {"arguments-normalised", "spelling-normalised"}


@given(mutated(RESPONSES), st.sampled_from([200, 400, 503]))
def test_any_response_decodes_or_is_refused(body, status):
    try:
        response = decode_response(body, status=status) if isinstance(body, dict) else None
    except DecodeError:
        return
    if response is not None:
        encode_response(response)


@given(st.lists(mutated(RESPONSES) | JSON, max_size=4), st.binary(max_size=20))
def test_any_stream_gives_legal_events(values, junk):
    data = b"\n".join([*(json.dumps(value).encode() for value in values), junk])
    encode_stream(decode_stream(data))


# --- streams --------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", STREAMS, ids=name)
def test_streams_cut_anywhere(path):
    """case-10: the same events however the bytes are cut."""
    data = path.read_bytes()
    whole = decode_stream(data)
    assert decode_stream(data, cuts=range(1, len(data))) == whole
    for middle in range(1, len(data), 7):
        assert decode_stream(data, cuts=[middle]) == whole


def bare(response):
    """A response without what streams and bodies may tell differently."""
    parts = tuple(
        replace(part, id="", extras={}) if isinstance(part, ToolCall) else part
        for part in response.choices[0].parts
    )
    choice = replace(response.choices[0], parts=parts, extras={}, wire_form="")
    return replace(response, id="", choices=(choice,), extras={})


@pytest.mark.parametrize(
    "fixture",
    sorted({name(path) for path in STREAMS} & {name(path) for path in RESPONSES}),
)
def test_stream_equals_body(fixture):
    body = decode_response(load("response", fixture))
    assert bare(fold(decode_stream(stream_of(fixture)))) == bare(body)


@pytest.mark.parametrize("path", STREAMS, ids=name)
def test_written_streams_are_the_sdks(path):
    written = encode_stream(decode_stream(path.read_bytes()))
    for line in lines(written):
        if "error" in line:
            assert isinstance(line["error"], str)
        else:
            chunk = sdk.ChatResponse.model_validate(line | {"message": for_sdk(line["message"])})
            assert chunk.message.role == "assistant"
            assert chunk.message.content is not None
            assert chunk.created_at is not None
    assert sum(line.get("done", True) for line in lines(written)) == 1


@pytest.mark.parametrize("path", STREAMS, ids=name)
def test_written_streams_read_the_same(path):
    first = decode_stream(path.read_bytes())
    again = decode_stream(encode_stream(first))
    assert type(again[-1]) is type(first[-1])
    if isinstance(first[-1], Finished) and name(path) not in ("mixed", "broken_line"):
        assert bare(fold(again)) == replace(bare(fold(first)), created=again[0].created)


def test_texts_of_one_stream_run_on_and_thoughts_are_set_off():
    again = fold(decode_stream(encode_stream(decode_stream(stream_of("broken_line")))))
    assert again.choices[0].parts == (Text(text="One two."),)
    again = fold(decode_stream(encode_stream(decode_stream(stream_of("mixed")))))
    assert again.choices[0].parts[5:] == (Reasoning(text="\n\nAgain."), Text(text="Then done."))


@pytest.mark.parametrize("path", RESPONSES, ids=name)
def test_whole_responses_as_streams(path):
    response = decode_response(json.loads(path.read_text(encoding="utf-8")))
    folded = fold(decode_stream(encode_stream(unfold(response))))
    choice = replace(response.choices[0], logprobs=None)
    assert bare(folded) == bare(replace(response, choices=(choice,)))


def test_stream_of_calls_case_17():
    """case-17: calls end in `tool_calls`, arguments are text, ids are made, one per stream."""
    events = decode_stream(stream_of("case17"))
    assert [type(event) for event in events] == [
        Started,
        PartStarted,
        PartDelta,
        PartEnded,
        Finished,
    ]
    assert events[0].id.startswith("msg_")
    assert events[1].part.id.startswith("call_")
    assert events[2].text == '{"a":1}'
    assert events[-1].stops == (StopReason(kind="tool_calls", raw="stop"),)
    cut = stream_of("case17").replace(b'"stop"', b'"length"')
    assert decode_stream(cut)[-1].stops == (StopReason(kind="length", raw="length"),)


def test_two_calls_have_two_ids():
    """S4-13 in a stream."""
    started = [e.part for e in decode_stream(stream_of("calls")) if isinstance(e, PartStarted)]
    assert len({part.id for part in started}) == 2


def test_mixed_stream_keeps_the_order():
    response = fold(decode_stream(stream_of("mixed")))
    assert [type(part).__name__ for part in response.choices[0].parts] == [
        "Text",
        "Reasoning",
        "Text",
        "ToolCall",
        "ToolCall",
        "Reasoning",
        "Text",
    ]
    assert response.choices[0].parts[3].arguments == '{"at":"北"}'
    assert response.choices[0].stop.kind == "length"


def test_a_stream_that_is_cut_is_an_error():
    """case-09: what was delivered stays, and an error follows."""
    events = decode_stream(stream_of("cut"))
    assert events[-2] == PartEnded(1, incomplete=True)
    assert events[-1].error.kind == "server"
    assert decode_stream(b"") == [events[-1]]
    assert lines(encode_stream(events))[-1] == {"error": events[-1].error.message}


def test_a_broken_line_does_not_end_a_stream():
    """case-09: one bad line in the middle is passed over with a note."""
    ctx = Context()
    response = fold(decode_stream(stream_of("broken_line"), ctx))
    assert response.choices[0].parts == (Text(text="One "), Text(text="two."))
    assert ctx.receipt().codes() == {"event-skipped": 4}


def test_errors_in_streams():
    assert decode_stream(stream_of("error_first")) == [
        Failed(
            ApiError(
                kind="not_found", message='model "atlantis:7b" not found, try pulling it first'
            )
        )
    ]
    events = decode_stream(stream_of("error_mid"))
    assert events[-2] == PartEnded(0, incomplete=True)
    assert events[-1].error.kind == "server"
    assert lines(encode_stream(events))[-1]["status_code"] == 500


def test_counts_of_the_wrong_type_do_not_end_a_stream():
    ctx = Context()
    events = decode_stream(b'{"done":true,"eval_count":"many"}', ctx)
    assert events[-1] == Finished((StopReason(kind="end", raw=""),))
    assert codes(ctx) == {"event-skipped"}


def test_probabilities_in_streams_are_noted_once():
    ctx = Context()
    line = b'{"message":{"content":"x"},"logprobs":[{"token":"x","logprob":-1}]}\n'
    decode_stream(line * 3 + b'{"done":true}', ctx)
    assert ctx.receipt().codes() == {"logprobs-dropped": 1}


def test_last_line_has_the_counts_and_durations():
    last = lines(encode_stream(decode_stream(stream_of("text"))))[-1]
    assert last == json.loads(stream_of("text").splitlines()[-1])


def test_encoder_holds_calls_and_joins_texts():
    ctx = foreign()
    written = encode_stream(
        [
            Started(id="r", model="m", created=0, usage=Usage(input=5)),
            PartStarted(0, Reasoning(summary=("Zero.",))),
            PartDelta(0, "One.", "summary", 1),
            PartDelta(0, "Two.", "summary", 2),
            PartDelta(0, "", "summary", 2),
            PartDelta(0, "sig", "signature"),
            PartEnded(0),
            PartStarted(1, Reasoning(redacted=True, signature="more")),
            PartEnded(1),
            PartStarted(2, Text(text="a")),
            PartDelta(2, "", "citation", citation=Citation(url="https://x.example")),
            PartEnded(2),
            PartStarted(3, call(arguments="")),
            PartDelta(3, '{"x"'),
            PartStarted(4, Refusal(text="")),
            PartDelta(4, "no"),
            PartDelta(3, ":1}"),
            PartEnded(3),
            PartEnded(4),
            PartStarted(5, Reasoning()),
            PartDelta(5, "Late."),
            PartEnded(5),
            PartStarted(6, call("cut")),
            PartEnded(6, incomplete=True),
            PartStarted(7, Image(source=Inline(media_type="image/png", data="iVBOR"))),
            PartEnded(7),
            PartStarted(8, Image(source=Remote(url="https://x.example"))),
            PartEnded(8),
            PartStarted(9, Opaque(protocol="other", type="x", value={})),
            PartEnded(9),
            PartStarted(10, Text(text="second choice"), 1),
            PartDelta(10, "unseen"),
            PartEnded(10),
            OpaqueEvent("other", "x", {}),
            OpaqueEvent("ollama", "x", {"status": "loading"}),
            UsageSeen(Usage(output=3)),
            Finished((StopReason(kind="tool_calls"),)),
        ],
        ctx,
    )
    head = {"model": "m", "created_at": "1970-01-01T00:00:00Z"}
    every = lines(written)
    opaque = every.pop(-2)
    assert opaque == {"status": "loading"}
    assert all(line | head == line for line in every)
    detail = {"type": "reasoning.encrypted", "format": "toolglot-v1"}
    assert [
        {k: v for k, v in line["message"].items() if k != "role" and v != ""} for line in every
    ] == [
        {"thinking": "Zero."},
        {"thinking": "\n\nOne."},
        {"thinking": "\n\nTwo."},
        {"reasoning_details": [{**detail, "data": "sig", "index": 0}]},
        {"reasoning_details": [{**detail, "data": "more", "index": 1}]},
        {"content": "a"},
        {"content": "no"},
        {"tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": {"x": 1}}}]},
        {"thinking": "\n\nLate."},
        {"images": ["iVBOR"]},
        {},
    ]
    assert (every[-1]["prompt_eval_count"], every[-1]["eval_count"]) == (5, 3)
    assert codes(ctx) == {"text-joined", "citation-dropped", "part-dropped"}


def test_hot_path_is_valid_json():
    text = 'quote " backslash \\ newline \n line separator \u2028 北'
    written = encode_stream(
        [
            Started(id="r", model='m"x', created=0),
            PartStarted(0, Text(text="")),
            PartDelta(0, text),
            PartEnded(0),
            Finished((StopReason(kind="end"),)),
        ],
        foreign(),
    )
    first = json.loads(written.split(b"\n")[0])
    assert first["message"]["content"] == text
    assert first["model"] == 'm"x'


def test_finished_without_a_reason():
    written = encode_stream([Started(id="r", model="m"), Finished(())])
    assert lines(written)[-1]["done"] is True
