"""OpenAI Responses: identity, totality, tables, streams, and what the official types say of it."""

import json
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import openresponses_types.types as open_responses
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openai.types.responses import Response as SdkResponse
from openai.types.responses import ResponseStreamEvent
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
from pydantic import TypeAdapter, ValidationError

from toolglot import ir
from toolglot.context import Context, Options
from toolglot.errors import DecodeError
from toolglot.events import (
    Event,
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
from toolglot.protocols import openai_responses as codec
from toolglot.protocols.openai_responses.surface import ERROR_FROM, FAILED_CODE, STOP_FROM
from toolglot.surface import Surface
from toolglot.wire.message import WireRequest, WireResponse

NAME = "openai-responses"
FIXTURES = Path(__file__).parent.parent / "fixtures" / NAME
REQUESTS = sorted(FIXTURES.glob("*.request.json"))
RESPONSES = sorted(FIXTURES.glob("*.response.json"))
ERRORS = sorted(FIXTURES.glob("*.error.json"))
STREAMS = sorted(FIXTURES.glob("*.stream.txt"))
ELSEWHERE = Surface(name="elsewhere", path="", settings={}, messages="messages", media={})


def stem(path: Any) -> str:
    return path.name.split(".")[0] if isinstance(path, Path) else str(path)


def load(path: Path | str) -> Any:
    return json.loads((FIXTURES / path).read_text())


def decode(body: Any, ctx: Context | None = None) -> ir.Request:
    return codec.decode_request(WireRequest(body=body), ctx or Context())


def encode(request: ir.Request, ctx: Context | None = None) -> Any:
    return codec.encode_request(request, ctx or Context()).body


def foreign(**options: Any) -> Context:
    return Context(Options(**options), source=ELSEWHERE, target=codec.SURFACE, seed=b"seed", now=99)


def decode_body(body: Any, status: int = 200, ctx: Context | None = None) -> Any:
    return codec.decode_response(WireResponse(body=body, status=status), ctx or Context())


def encode_body(response: Any, ctx: Context | None = None) -> Any:
    return codec.encode_response(response, ctx or Context()).body


def items(*messages: ir.Message, ctx: Context | None = None) -> Any:
    return encode(ir.Request(model="m", messages=messages), ctx or foreign())["input"]


def user(*parts: ir.Part) -> ir.Message:
    return ir.Message(role="user", parts=parts)


def assistant(*parts: ir.Part) -> ir.Message:
    return ir.Message(role="assistant", parts=parts)


def answer(*parts: ir.Part, stop: ir.StopKind = "end", **more: Any) -> ir.Response:
    choice = ir.Choice(
        parts=parts, stop=ir.StopReason(kind=stop), logprobs=more.pop("logprobs", None)
    )
    return ir.Response(id="msg_7", model="m", choices=(choice,), **more)


# --- law 1: identity ------------------------------------------------------------------------------


@pytest.mark.parametrize("file", REQUESTS, ids=stem)
def test_request_identity(file):
    body = load(file)
    assert encode(decode(body)) == body
    ctx = Context(source=codec.SURFACE, target=codec.SURFACE)
    assert codec.encode_request(decode(body, ctx), ctx).path == "/v1/responses"
    assert ctx.receipt().losses == ()


@pytest.mark.parametrize("file", RESPONSES, ids=stem)
def test_response_identity(file):
    body = load(file)
    assert encode_body(decode_body(body)) == body


@pytest.mark.parametrize("file", ERRORS, ids=stem)
def test_error_identity(file):
    value = load(file)
    wire = WireResponse(**value)
    error = codec.decode_response(wire, Context())
    assert isinstance(error, ir.ApiError)
    again = codec.encode_response(error, Context())
    assert (again.body, again.status, again.headers) == (wire.body, wire.status, wire.headers)


@pytest.mark.parametrize(
    "item",
    [
        {"role": "user", "content": None},
        {"role": "user"},
        {"type": None, "role": "user", "content": "typed null"},
        {"type": "message", "role": "user", "content": "", "id": None},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "", "id": None},
        {"type": "function_call", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": None, "output": "x", "name": "f"},
        {"type": "function_call_output", "call_id": "c", "output": None},
        {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": ""}]},
        {"type": "reasoning", "summary": [], "content": [{"type": "text", "text": "other"}]},
    ],
)
def test_request_identity_of_odd_items(item):
    assert encode(decode({"model": "m", "input": [item]})) == {"model": "m", "input": [item]}


@pytest.mark.parametrize(
    "part",
    [
        {"type": "input_image", "image_url": {"url": "https://a.example"}},
        {"type": "input_image", "image_url": "data:;base64,AAAA"},
        {"type": "input_file", "file_data": "data:;base64,AAAA"},
        {"type": "input_file", "filename": "empty.txt"},
        {"type": "input_audio", "input_audio": {"data": 7, "format": "wav"}},
        {"type": "input_audio", "input_audio": None},
    ],
)
def test_request_identity_of_odd_parts(part):
    body = {"model": "m", "input": [{"role": "user", "content": [part]}]}
    assert encode(decode(body)) == body


def test_model_may_be_left_to_a_prompt_template():
    body = {"prompt": {"id": "pmpt_1"}, "input": "go"}
    assert decode(body).model == ""
    assert encode(decode(body)) == body
    assert encode(decode({**body, "model": ""})) == {**body, "model": ""}


# --- law 2: totality ------------------------------------------------------------------------------

NASTY: list[Any] = [
    {"model": 3},
    {"model": "m", "input": 3},
    {"model": "m", "input": {}},
    {"model": "m", "input": [3]},
    {"model": "m", "input": [{}]},
    {"model": "m", "input": [{"type": 3}]},
    {"model": "m", "input": [{"type": ["message"]}]},
    {"model": "m", "input": [{"role": 3}]},
    {"model": "m", "input": [{"role": "tool", "content": ""}]},
    {"model": "m", "input": [{"role": "user", "content": 3}]},
    {"model": "m", "input": [{"role": "user", "content": {}}]},
    {"model": "m", "input": [{"role": "user", "content": [3]}]},
    {"model": "m", "input": [{"role": "user", "content": [{}]}]},
    {"model": "m", "input": [{"role": "user", "content": [{"type": []}]}]},
    {"model": "m", "input": [{"role": "user", "content": [{"type": "input_text"}]}]},
    {"model": "m", "input": [{"role": "user", "content": [{"type": "input_text", "text": 3}]}]},
    {"model": "m", "input": [{"role": "user", "content": [{"type": "refusal"}]}]},
    {"model": "m", "input": [{"type": "function_call", "call_id": 3, "name": "f"}]},
    {"model": "m", "input": [{"type": "function_call", "call_id": "c"}]},
    {"model": "m", "input": [{"type": "custom_tool_call", "call_id": "c", "name": 3}]},
    {"model": "m", "input": [{"type": "function_call_output", "call_id": "c", "output": 3}]},
    {"model": "m", "input": [{"type": "function_call_output", "call_id": "c", "output": [3]}]},
    {"model": "m", "input": [{"type": "reasoning", "summary": "s"}]},
    {"model": "m", "input": [{"type": "reasoning", "id": 3}]},
    {"model": "m", "instructions": 3},
    {"model": "m", "tools": 3},
    {"model": "m", "tools": [3]},
    {"model": "m", "tools": [{}]},
    {"model": "m", "tools": [{"type": 3}]},
    {"model": "m", "tools": [{"type": "function"}]},
    {"model": "m", "tools": [{"type": "function", "name": "f", "parameters": 3}]},
    {"model": "m", "tools": [{"type": "custom", "name": 3}]},
    {"model": "m", "tools": [{"type": "namespace", "name": "n", "tools": [3]}]},
    {"model": "m", "tool_choice": "any"},
    {"model": "m", "tool_choice": 3},
    {"model": "m", "tool_choice": {}},
    {"model": "m", "tool_choice": {"type": 3}},
    {"model": "m", "tool_choice": {"type": "function"}},
    {"model": "m", "tool_choice": {"type": "allowed_tools", "mode": "none", "tools": []}},
    {"model": "m", "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": 3}},
    {"model": "m", "reasoning": 3},
    {"model": "m", "reasoning": {"effort": 3}},
    {"model": "m", "text": 3},
    {"model": "m", "text": {"format": 3}},
    {"model": "m", "text": {"format": {"type": "json_schema", "schema": 3}}},
    {"model": "m", "temperature": "hot"},
    {"model": "m", "max_output_tokens": 0.5},
]


@pytest.mark.parametrize("body", NASTY, ids=json.dumps)
def test_requests_are_read_strictly(body):
    with pytest.raises(DecodeError) as caught:
        decode(body)
    assert caught.value.path


def test_a_path_tells_the_place():
    body = load("media.request.json")
    body["input"][0]["content"][3]["detail"] = 7
    with pytest.raises(DecodeError) as caught:
        decode(body)
    assert caught.value.path == "input[0].content[3].detail"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"output": None},
        {"id": None, "model": None, "usage": None, "status": None},
        {"output": [], "usage": {}},
        {"usage": {"input_tokens": 5, "input_tokens_details": {"cached_tokens": 9}}},
        {"usage": {"input_tokens": None, "input_tokens_details": {"cached_tokens": 9}}},
        {"usage": {"input_tokens": 5, "input_tokens_details": {"cached_tokens": "many"}}},
        {"status": "incomplete"},
        {"status": "incomplete", "incomplete_details": {}},
        {"status": "in_progress", "incomplete_details": {"reason": "steered"}},
        {"status": "incomplete", "incomplete_details": {"reason": "steered"}},
        {"output": [{"type": "message", "content": None}]},
        {"output": [{"type": "message", "role": "tool", "content": [{"type": "zz"}]}]},
        {"output": [{"type": None}, {}, {"type": []}]},
    ],
    ids=json.dumps,
)
def test_responses_are_read_leniently(body):
    response = decode_body(body)
    assert isinstance(response, ir.Response)
    again = encode_body(response)
    assert {key: again[key] for key in body if key != "output"} == {
        key: body[key] for key in body if key not in ("output", "id")
    } | ({"id": response.id} if "id" in body else {})


JUNK: list[Any] = [None, True, -1, 2**70, 0.5, "", "x", [], [None], {}, {"type": 7}, [[]]]


def places(node: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    stack = [node]
    while stack:
        here = stack.pop()
        keys = (
            here if isinstance(here, dict) else range(len(here)) if isinstance(here, list) else ()
        )
        found.extend((here, key) for key in keys)
        stack.extend(here[key] for key in keys)
    return found


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_anything_decodes_or_is_refused(data):
    file = data.draw(st.sampled_from([*REQUESTS, *RESPONSES, *ERRORS]))
    holder = [load(file)]
    where = places(holder)
    for node, key in data.draw(st.lists(st.sampled_from(where), min_size=1, max_size=3)):
        node[key] = data.draw(st.sampled_from(JUNK))
    body = holder[0]
    try:
        if file in REQUESTS:
            decode(body)
        elif isinstance(body, dict):
            decode_body(body)
    except DecodeError as error:
        assert error.message


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_any_stream_gives_legal_events(data):
    file = data.draw(st.sampled_from(STREAMS))
    lines = file.read_text().split("\n\n")
    values = [
        json.loads(line[line.index("{") :])
        for line in lines
        if '"type"' in line and "}" in line[-9:]
    ]
    where = places(values)
    for node, key in data.draw(st.lists(st.sampled_from(where), max_size=4)):
        node[key] = data.draw(st.sampled_from(JUNK))
    order = (
        data.draw(st.permutations(range(len(values))))
        if data.draw(st.booleans())
        else range(len(values))
    )
    raw = "".join(f"data: {json.dumps(values[index])}\n\n" for index in order)
    events = read(raw.encode())
    encoder = codec.StreamEncoder(foreign())
    assert all(isinstance(encoder.encode(event), bytes) for event in events)


# --- the official types ---------------------------------------------------------------------------

PARAMS: TypeAdapter[Any] = TypeAdapter(ResponseCreateParamsNonStreaming)
EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
OPEN_EVENTS: TypeAdapter[Any] = TypeAdapter(
    open_responses.ResponseCreatedStreamingEvent
    | open_responses.ResponseInProgressStreamingEvent
    | open_responses.ResponseCompletedStreamingEvent
    | open_responses.ResponseIncompleteStreamingEvent
    | open_responses.ResponseFailedStreamingEvent
    | open_responses.ResponseOutputItemAddedStreamingEvent
    | open_responses.ResponseOutputItemDoneStreamingEvent
    | open_responses.ResponseContentPartAddedStreamingEvent
    | open_responses.ResponseContentPartDoneStreamingEvent
    | open_responses.ResponseOutputTextDeltaStreamingEvent
    | open_responses.ResponseOutputTextDoneStreamingEvent
    | open_responses.ResponseOutputTextAnnotationAddedStreamingEvent
    | open_responses.ResponseRefusalDeltaStreamingEvent
    | open_responses.ResponseRefusalDoneStreamingEvent
    | open_responses.ResponseFunctionCallArgumentsDeltaStreamingEvent
    | open_responses.ResponseFunctionCallArgumentsDoneStreamingEvent
    | open_responses.ResponseReasoningSummaryPartAddedStreamingEvent
    | open_responses.ResponseReasoningSummaryPartDoneStreamingEvent
    | open_responses.ResponseReasoningSummaryDeltaStreamingEvent
    | open_responses.ResponseReasoningSummaryDoneStreamingEvent
)
BEYOND_SDK = {
    "hosted-items",  # items that the official type does not know
    "instruction-items",
    "media",
    "messages",  # clients leave out ids and annotations that it wants
    "nulls-and-empties",
    "reasoning-forms",
    "tool-history",
    "unknown-everywhere",
}


@pytest.mark.parametrize("file", [f for f in REQUESTS if stem(f) not in BEYOND_SDK], ids=stem)
def test_requests_are_what_the_sdk_sends(file):
    PARAMS.validate_python({**encode(decode(load(file))), "stream": False})


@pytest.mark.parametrize("file", RESPONSES, ids=stem)
def test_responses_are_what_the_sdk_reads(file):
    body = encode_body(decode_body(load(file)))
    if stem(file) not in {"bare-server", "several"}:
        SdkResponse.model_validate(body)
    response = SdkResponse.construct(**body)
    assert response.id == body["id"]


HISTORY = (
    user(
        ir.Text(text="Is the gate open?"),
        ir.Image(source=ir.Inline(media_type="image/png", data="AA==")),
    ),
    assistant(
        ir.Reasoning(text="Look.", signature="sealed", id="rs_1"),
        ir.Text(text="One moment."),
        ir.ToolCall(id="toolu_1", name="gate", arguments='{"n": 1}'),
        ir.ToolCall(id="toolu_2", name="gate", arguments=""),
    ),
    user(
        ir.Text(text="and hurry"),
        ir.ToolResult(id="toolu_1", parts=(ir.Text(text="open"),)),
        ir.ToolResult(id="toolu_2", parts=(), is_error=True),
    ),
    assistant(ir.Text(text="It is open.")),
    ir.Message(role="developer", parts=(ir.Text(text="Be brief."),)),
    user(ir.Text(text="Thanks.")),
)
TOOL = ir.FunctionTool(
    name="gate", description="A gate.", parameters={"type": "object"}, strict=False
)


def test_foreign_history_is_what_open_responses_takes():
    request = ir.Request(
        model="m", messages=HISTORY, tools=(TOOL,), system=user(ir.Text(text="Guard."))
    )
    body = encode(request, foreign())
    open_responses.CreateResponseBody.model_validate(body)
    assert body["instructions"] == "Guard."


# --- requests: rows of the tables -----------------------------------------------------------------


def test_settings():
    request = decode(load("settings.request.json"))
    told = {
        "max_tokens": 2048,
        "temperature": 0.3,
        "top_p": 0.95,
        "top_logprobs": 4,
        "logprobs": True,
        "stream": True,
        "metadata": {"desk": "poetry"},
        "user": "u-77",
        "safety_identifier": "sha-1b2c",
        "service_tier": "flex",
        "cache_key": "sonnets",
        "cache_retention": "24h",
        "store": False,
        "parallel_tool_calls": False,
        "verbosity": "low",
        "reasoning": ir.ReasoningSettings(effort="high", summary="detailed"),
    }
    assert {field: getattr(request, field) for field in told} == told


def test_what_only_this_protocol_has_is_named():
    ctx = Context(source=codec.SURFACE, target=ELSEWHERE)
    decode(load("settings.request.json"), ctx)
    found = {note.path: note.code for note in ctx.receipt()}
    assert found == {
        "reasoning.context": "field-unknown",
        "stream_options": "field-minor",
        "previous_response_id": "field-unknown",
        "truncation": "field-unknown",
        "background": "field-unknown",
        "max_tool_calls": "field-unknown",
        "client_metadata": "field-minor",
        "context_management": "field-unknown",
        "prompt_cache_options": "field-minor",
    }


def test_effort_none_is_reasoning_off():
    settings_ = decode(load("no-reasoning.request.json")).reasoning
    assert settings_ == ir.ReasoningSettings(enabled=False, effort="none")
    off = ir.Request(model="m", messages=(), reasoning=ir.ReasoningSettings(enabled=False))
    assert encode(off)["reasoning"] == {"effort": "none"}


def test_bare_input_is_one_user_message():
    """S1-08."""
    request = decode(load("bare-string.request.json"))
    assert request.messages == (user(ir.Text(text="When does the ferry to Föhr leave?")),)
    assert encode(msgspec.structs.replace(request, wire_form=""))["input"] == [
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "When does the ferry to Föhr leave?"}],
        }
    ]


def test_instructions_are_the_system_text():
    """S1-14."""
    system = decode(load("bare-string.request.json")).system
    assert system == ir.Message(
        role="system", parts=(ir.Text(text="Answer like a lighthouse keeper."),)
    )


def test_several_system_texts_are_joined():
    ctx = foreign()
    system = ir.Message(role="system", parts=(ir.Text(text="a"), ir.Text(text="b"), TOOL_IMAGE))
    body = encode(ir.Request(model="m", messages=(), system=system), ctx)
    assert body["instructions"] == "a\n\nb"
    assert ctx.receipt().codes() == {"part-dropped": 1, "text-joined": 1, "default-added": 1}


TOOL_IMAGE = ir.Image(source=ir.Remote(url="https://a.example/x.png"))


def test_one_item_is_one_message():
    body = load("tool-history.request.json")
    request = decode(body)
    assert len(request.messages) == len(body["input"])
    assert [message.role for message in request.messages][:8] == [
        *("user", "assistant", "assistant", "assistant", "assistant", "assistant", "user", "user")
    ]


def test_calls_are_read():
    """S0-02, S0-32, S2-13: the call id is `call_id`, the arguments keep their text."""
    call = decode(load("tool-history.request.json")).messages[4].parts[0]
    assert call == ir.ToolCall(
        id="call_h",
        name="tides",
        namespace="sea",
        arguments='{"harbour":"Husum","seq":12345678901234567890}',
        extras={NAME: {"id": "fc_72"}},
    )
    wire = items(assistant(ir.ToolCall(id="toolu_9", name="f", arguments='{"b": 1.0}')))
    assert wire == [
        {"type": "function_call", "call_id": "toolu_9", "name": "f", "arguments": '{"b": 1.0}'}
    ]


def test_item_ids_are_not_invented_for_history():
    """D-02, S0-62: foreign history has no item ids; a missing call id is the item's."""
    ctx = foreign()
    assert all("id" not in item for item in items(*HISTORY[2:], ctx=ctx))
    ctx = Context()
    call = {"type": "function_call", "id": "fc_8", "name": "f", "arguments": "{}"}
    part = decode({"model": "m", "input": [call]}, ctx).messages[0].parts[0]
    assert isinstance(part, ir.ToolCall)
    assert part.id == "fc_8"
    assert ctx.receipt().codes() == {"spelling-normalised": 1}


def test_custom_calls_are_read():
    """case-25."""
    messages = decode(load("tool-history.request.json")).messages
    call, result = messages[9].parts[0], messages[10].parts[0]
    assert isinstance(call, ir.ToolCall)
    assert (call.kind, call.arguments) == ("custom", 'line 04:12 10:31\nlabel "Büsum"')
    assert isinstance(result, ir.ToolResult)
    assert result.kind == "custom"
    assert [type(part) for part in result.parts] == [ir.Text, ir.Image, ir.Document]
    foreign_call = ir.ToolCall(id="c", name="plot", arguments="x {", type="custom", namespace="n")
    assert items(assistant(foreign_call), user(ir.ToolResult(id="c", kind="custom"))) == [
        {
            "type": "custom_tool_call",
            "call_id": "c",
            "name": "plot",
            "namespace": "n",
            "input": "x {",
        },
        {"type": "custom_tool_call_output", "call_id": "c", "output": ""},
    ]


def test_results():
    """S0-03, S0-36, S0-37, S2-07: results are items, an empty one has an empty output."""
    message = user(
        ir.ToolResult(id="t1", parts=(ir.Text(text="72°F, sunny"),)),
        ir.ToolResult(id="t2", parts=()),
    )
    assert items(message) == [
        {"type": "function_call_output", "call_id": "t1", "output": "72°F, sunny"},
        {"type": "function_call_output", "call_id": "t2", "output": ""},
    ]


def test_failed_results():
    """case-31: `status` is the flag, both ways."""
    results = [m.parts[0] for m in decode(load("tool-history.request.json")).messages[6:9]]
    assert [part.is_error for part in results] == [None, True, False]
    failed = ir.ToolResult(id="t", parts=(ir.Text(text="boom"),), is_error=True)
    assert items(user(failed))[0]["status"] == "incomplete"


def test_media_in_results():
    """case-29, case-30: pictures and documents stand in the output, documents with a name."""
    image = ir.Image(source=ir.Inline(media_type="image/png", data="AA=="))
    document = ir.Document(source=ir.Inline(media_type="application/pdf", data="JVBE"))
    wire = items(user(ir.ToolResult(id="t", parts=(image, document))))
    assert wire[0]["output"] == [
        {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "auto"},
        {
            "type": "input_file",
            "file_data": "data:application/pdf;base64,JVBE",
            "filename": "document.pdf",
        },
    ]


def test_results_come_before_other_content():
    """X-09."""
    assert [item.get("role", item["type"]) for item in items(HISTORY[2])] == [
        "function_call_output",
        "function_call_output",
        "user",
    ]


def test_a_message_is_split_into_items_in_order():
    assert [item["type"] for item in items(HISTORY[1])] == [
        "reasoning",
        "message",
        "function_call",
        "function_call",
    ]
    assert items(HISTORY[1])[1] == {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "One moment.", "annotations": []}],
    }


def test_a_message_with_nothing_to_say_is_no_item():
    ctx = foreign()
    opaque = ir.Opaque(protocol="elsewhere", type="odd", value={})
    assert items(user(), user(opaque), assistant(), ctx=ctx) == []
    assert ctx.receipt().codes() == {"part-dropped": 1, "default-added": 1}


def test_names_of_messages_are_noted():
    ctx = foreign()
    items(ir.Message(role="user", name="ada", parts=(ir.Text(text="hi"),)), ctx=ctx)
    assert "messages[0].name" in {note.path for note in ctx.receipt()}


@pytest.mark.parametrize(
    ("part", "wire"),
    [
        (
            ir.Document(source=ir.PlainText(text="words")),
            {"type": "input_text", "text": "words"},
        ),
        (
            ir.Document(source=ir.Remote(url="https://a.example/a.pdf"), name="a.pdf"),
            {"type": "input_file", "file_url": "https://a.example/a.pdf", "filename": "a.pdf"},
        ),
        (
            ir.Document(source=ir.FileRef(id="file-1", issuer=NAME)),
            {"type": "input_file", "file_id": "file-1"},
        ),
        (ir.Document(source=ir.FileRef(id="file-1", issuer="elsewhere")), None),
        (
            ir.Image(source=ir.FileRef(id="file-2", issuer=NAME), detail="low"),
            {"type": "input_image", "file_id": "file-2", "detail": "low"},
        ),
        (ir.Image(source=ir.FileRef(id="file-2", issuer="elsewhere")), None),
        (
            ir.Image(source=ir.Inline(media_type="", data="AA==")),
            {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "auto"},
        ),
        (
            ir.Audio(source=ir.Inline(media_type="audio/mpeg", data="AA==")),
            {"type": "input_audio", "input_audio": {"data": "AA==", "format": "mp3"}},
        ),
        (ir.Audio(source=ir.Remote(url="https://a.example/a.wav")), None),
        (ir.Refusal(text="No."), {"type": "refusal", "refusal": "No."}),
    ],
)
def test_media_of_other_protocols(part, wire):
    found = items(user(part))
    assert found == ([{"type": "message", "role": "user", "content": [wire]}] if wire else [])


def test_media_are_read():
    parts = decode(load("media.request.json")).messages[0].parts
    sources = [type(getattr(part, "source", part)).__name__ for part in parts]
    assert sources == [
        *("Text", "Inline", "Remote", "FileRef", "Remote", "Inline", "Inline", "Remote", "FileRef"),
        *("Inline", "Opaque", "Opaque"),
    ]


def test_unknown_items_are_kept_whole():
    """case-27: an item or tool that is unknown here does not end the request."""
    body = load("hosted-items.request.json")
    request = decode(body)
    opaque = [message for message in request.messages if isinstance(message.parts[0], ir.Opaque)]
    assert len(opaque) == len(body["input"]) - 2
    roles = {message.parts[0].type: message.role for message in opaque}
    assert {kind for kind, role in roles.items() if role == "user"} == {
        "computer_call_output",
        "local_shell_call_output",
        "apply_patch_call_output",
        "tool_search_output",
        "mcp_approval_response",
    }
    assert decode(load("agent-turn.request.json")).messages[0].role == "developer"


def test_additional_tools_reach_other_protocols():
    """case-28: tools declared in the input reach others once, first come first served."""
    body = load("agent-turn.request.json")
    body["tools"].append({"type": "namespace", "name": "functions", "tools": []})
    ctx = Context(source=codec.SURFACE, target=ELSEWHERE)
    request = decode(body, ctx)
    assert [getattr(tool, "name", "") for tool in request.tools].count("functions") == 1
    del body["tools"]
    request = decode(body, Context(source=codec.SURFACE, target=ELSEWHERE))
    assert [tool.name for tool in request.tools] == ["functions"]
    assert request.messages[0].parts == ()
    assert decode(body).tools == ()


def test_reasoning_forms():
    """case-36: id, summary and state come and go unchanged."""
    parts = [m.parts[0] for m in decode(load("reasoning-forms.request.json")).messages[1:6]]
    assert [(p.id, p.text, p.summary, p.signature) for p in parts] == [
        ("rs_a", "Assume p/q in lowest terms.", (), None),
        ("rs_b", "Then p is even.\n\nSo is q.", (), None),
        (None, "", ("Contradiction.",), "opaque-without-id"),
        ("rs_c", "", ("odd piece",), None),
        ("rs_d", "", (), "gAAA-only"),
    ]
    sealed = ir.Reasoning(text="thought", signature="tg1.x")
    redacted = ir.Reasoning(redacted=True, signature="tg1.y")
    assert items(assistant(sealed, redacted)) == [
        {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "thought"}],
            "encrypted_content": "tg1.x",
        },
        {"type": "reasoning", "summary": [], "encrypted_content": "tg1.y"},
    ]


def test_foreign_requests_are_stateless_and_ask_for_state():
    request = ir.Request(model="m", messages=(), reasoning=ir.ReasoningSettings(effort="low"))
    ctx = foreign()
    body = encode(request, ctx)
    assert (body["store"], body["include"]) == (False, ["reasoning.encrypted_content"])
    assert ctx.receipt().codes() == {"default-added": 1}
    plain = ir.Request(model="m", messages=(), logprobs=True, store=True)
    body = encode(plain, foreign())
    assert (body["store"], body["include"]) == (True, ["message.output_text.logprobs"])
    assert "include" not in encode(ir.Request(model="m", messages=()), foreign())


def test_tools():
    """S0-01, S0-08, S1-09, D-06: tools are flat, `strict` stands at the top."""
    assert encode(ir.Request(model="m", messages=(), tools=(TOOL,)), foreign())["tools"] == [
        {
            "type": "function",
            "name": "gate",
            "description": "A gate.",
            "parameters": {"type": "object"},
            "strict": False,
        }
    ]


def test_nested_functions():
    """S0-09, D-07: a nested copy is written on request and read if that is all there is."""
    body = encode(ir.Request(model="m", messages=(), tools=(TOOL,)), foreign(nested_function=True))
    nested = body["tools"][0]["function"]
    assert nested == {
        "name": "gate",
        "description": "A gate.",
        "parameters": {"type": "object"},
        "strict": False,
    }
    ctx = Context()
    tool = decode({"model": "m", "tools": [{"type": "function", "function": nested}]}, ctx).tools[0]
    assert tool == TOOL
    assert ctx.receipt().codes() == {"spelling-normalised": 1}


def test_tool_kinds():
    tools = decode(load("unknown-everywhere.request.json")).tools
    assert [type(tool).__name__ for tool in tools] == [
        *("FunctionTool", "FunctionTool", "CustomTool", "NamespaceTool")
    ]
    assert isinstance(tools[2], ir.CustomTool)
    assert (tools[2].syntax, tools[2].definition) == ("regex", "[a-z]+")
    ctx = foreign()
    custom = ir.CustomTool(name="c", definition="start: /x/", syntax="lark")
    space = ir.NamespaceTool(name="n", tools=(custom, TOOL))
    odd = ir.ProviderTool(protocol="elsewhere", type="web", value={"type": "web"})
    wire = encode(ir.Request(model="m", messages=(), tools=(space, odd)), ctx)["tools"]
    assert [tool["type"] for tool in wire] == ["namespace"]
    assert wire[0]["tools"][0] == {
        "type": "custom",
        "name": "c",
        "format": {"type": "grammar", "syntax": "lark", "definition": "start: /x/"},
    }
    assert ctx.receipt().codes()["tool-dropped"] == 1


@pytest.mark.parametrize(
    ("file", "choice"),
    [
        ("choice-required", ir.ToolChoice(mode="required")),
        ("choice-function", ir.ToolChoice(mode="tool", names=("tides",))),
        ("choice-custom", ir.ToolChoice(mode="tool", names=("plot",), kind="custom")),
        ("choice-allowed", ir.ToolChoice(mode="required", names=("tides", "plot"))),
        ("choice-allowed-mixed", ir.ToolChoice(mode="auto", names=("tides",))),
        (
            "choice-hosted",
            ir.ToolChoice(mode="tool", names=("web_search_preview",), kind="provider"),
        ),
        ("choice-mcp", ir.ToolChoice(mode="tool", names=("mcp",), kind="provider")),
    ],
)
def test_tool_choice(file, choice):
    """S0-49 and its neighbours."""
    found = decode(load(f"{file}.request.json")).tool_choice
    assert found is not None
    assert msgspec.structs.replace(found, extras={}) == choice


def test_named_choice_is_flat():
    """S0-53, D-05."""
    choice = ir.ToolChoice(mode="tool", names=("gate",))
    body = encode(ir.Request(model="m", messages=(), tools=(TOOL,), tool_choice=choice))
    assert body["tool_choice"] == {"type": "function", "name": "gate"}
    ctx = Context()
    nested = {"model": "m", "tool_choice": {"type": "function", "function": {"name": "gate"}}}
    assert decode(nested, ctx).tool_choice == choice
    assert ctx.receipt().codes() == {"spelling-normalised": 1}
    nameless = ir.ToolChoice(mode="tool")
    assert (
        encode(ir.Request(model="m", messages=(), tool_choice=nameless))["tool_choice"]
        == "required"
    )


def test_parallel_tool_calls():
    """case-20: absent stays absent, false stays false."""
    assert "parallel_tool_calls" not in encode(ir.Request(model="m", messages=()), foreign())
    request = ir.Request(model="m", messages=(), parallel_tool_calls=False)
    assert encode(request, foreign())["parallel_tool_calls"] is False


def test_structured_output():
    request = decode(load("schema.request.json"))
    assert request.output is not None
    assert (request.output.kind, request.output.name, request.output.strict) == (
        "schema",
        "rivers",
        True,
    )
    assert list(request.output.schema["properties"]) == ["zulu", "names"]
    assert decode(load("json-object.request.json")).output == ir.OutputFormat(kind="json")
    nameless = ir.OutputFormat(kind="schema", schema={"type": "object"})
    body = encode(ir.Request(model="m", messages=(), output=nameless), foreign())
    assert body["text"]["format"]["name"] == "response"
    odd = {"model": "m", "text": {"format": {"type": "yaml"}}}
    assert decode(odd).output is None
    assert encode(decode(odd)) == odd


@pytest.mark.parametrize(
    "part",
    [
        {
            "tools": [
                {"type": "custom", "name": "c", "format": {"type": "grammar", "definition": "x"}}
            ]
        },
        {"tools": [{"type": "namespace", "name": "n"}]},
        {"text": {"format": {"type": "json_schema", "schema": {}}}},
        {"service_tier": "fast", "reasoning": {"effort": None}, "include": "x"},
    ],
)
def test_what_a_client_leaves_out_stays_out(part):
    body = {"model": "m", "input": "x", **part}
    assert encode(decode(body)) == body


def test_nothing_to_say_is_not_said():
    budget = ir.ReasoningSettings(budget=5)
    system = ir.Message(role="system", parts=())
    body = encode(ir.Request(model="m", messages=(), reasoning=budget, system=system))
    assert body == {"model": "m"}
    on = ir.Request(model="m", messages=(), reasoning=ir.ReasoningSettings(enabled=True))
    assert encode(on)["reasoning"] == {"effort": "medium"}


def test_arguments_given_as_an_object_are_read():
    ctx = Context()
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": {"a": 1}}
    part = decode({"model": "m", "input": [call]}, ctx).messages[0].parts[0]
    assert part.arguments == '{"a":1}'
    assert ctx.receipt().codes() == {"arguments-normalised": 1}


def test_a_result_of_which_nothing_is_left_is_empty():
    odd = ir.Opaque(protocol="elsewhere", type="x", value={})
    assert items(user(ir.ToolResult(id="t", parts=(odd,))))[0]["output"] == ""


def test_unknown_service_tier_is_noted():
    ctx = foreign()
    assert "service_tier" not in encode(
        ir.Request(model="m", messages=(), service_tier="slow"), ctx
    )
    assert "field-dropped" in ctx.receipt().codes()


# --- responses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "kind", "raw"),
    [
        ("text", "end", "completed"),
        ("calls", "tool_calls", "completed"),
        ("custom", "tool_calls", "completed"),
        ("length", "length", "max_output_tokens"),
        ("filtered", "content_filter", "content_filter"),
        ("refusal", "end", "completed"),
        ("background", "other", "queued"),
        ("minimal", "end", None),
    ],
)
def test_stop_reasons(file, kind, raw):
    """S1-31, D-13: a response with calls is completed; the kind tells them."""
    assert decode_body(load(f"{file}.response.json")).choices[0].stop == ir.StopReason(
        kind=kind, raw=raw
    )


@pytest.mark.parametrize("kind", STOP_FROM)
def test_stop_reasons_of_other_protocols(kind):
    """case-44: inexact ones are noted."""
    ctx = foreign()
    body = encode_body(answer(ir.Text(text="x"), stop=kind), ctx)
    status, reason, exact = STOP_FROM[kind]
    assert body["status"] == status
    assert body["incomplete_details"] == ({"reason": reason} if reason else None)
    assert ("stop-mapped" in ctx.receipt().codes()) is not exact


def test_a_refusal_in_words_is_a_completed_response():
    body = encode_body(answer(ir.Refusal(text="No."), stop="refusal"), foreign())
    assert (body["status"], body["incomplete_details"]) == ("completed", None)
    assert body["output"][0]["content"] == [{"type": "refusal", "refusal": "No."}]


def test_text_and_calls_together():
    """case-13: both, in order."""
    kinds = [type(part) for part in decode_body(load("calls.response.json")).choices[0].parts]
    assert kinds == [ir.Reasoning, ir.Text, ir.ToolCall, ir.ToolCall]


def test_usage():
    """case-08: input is fresh input; the prompt is the sum."""
    usage = decode_body(load("text.response.json")).usage
    assert (usage.input, usage.cache_read, usage.cache_write) == (40, 64, 16)
    assert (usage.output, usage.reasoning) == (40, 12)
    wire = encode_body(answer(usage=ir.Usage(input=86, cache_read=1920, output=300)), foreign())[
        "usage"
    ]
    assert wire == {
        "input_tokens": 2006,
        "input_tokens_details": {"cached_tokens": 1920, "cache_write_tokens": 0},
        "output_tokens": 300,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 2306,
    }


def test_citations():
    text = decode_body(load("cited.response.json")).choices[0].parts[1]
    assert isinstance(text, ir.Text)
    citation = text.citations[0]
    assert (citation.url, citation.title, citation.start, citation.end) == (
        *("https://birds.example/storks", "Storks"),
        *(23, 26),
    )
    ctx = foreign()
    cited = ir.Text(
        text="seen",
        citations=(
            ir.Citation(url="https://a.example", quote="so"),
            ir.Citation(title="a book"),
        ),
    )
    annotations = encode_body(answer(cited), ctx)["output"][0]["content"][0]["annotations"]
    assert annotations == [
        {
            "type": "url_citation",
            "url": "https://a.example",
            "title": "https://a.example",
            "start_index": 0,
            "end_index": 4,
        }
    ]
    assert {"citation-mapped", "citation-dropped"} <= ctx.receipt().codes().keys()
    ctx = foreign()
    assert "annotations" not in items(user(cited), ctx=ctx)[0]["content"][0]
    assert "citation-dropped" in ctx.receipt().codes()


def test_logprobs():
    choice = decode_body(load("logprobs.response.json")).choices[0]
    assert choice.logprobs["content"][0]["token"] == "Aye"
    body = encode_body(answer(ir.Text(text="Aye"), logprobs=choice.logprobs), foreign())
    assert body["output"][0]["content"][0]["logprobs"] == choice.logprobs["content"]
    SdkResponse.model_validate(body)
    ctx = foreign()
    encode_body(answer(logprobs={"content": [{"token": "a"}]}), ctx)
    assert "logprobs-dropped" in ctx.receipt().codes()


def test_a_foreign_response_is_complete():
    request = decode(
        {
            "model": "m",
            "input": "hi",
            "instructions": "Be kind.",
            "tools": [{"type": "function", "name": "gate"}, {"type": "custom", "name": "plot"}],
            "tool_choice": {"type": "function", "name": "gate"},
            "temperature": 0.5,
            "max_output_tokens": 9,
            "metadata": {"a": "b"},
            "truncation": "auto",
            "reasoning": {"effort": "low"},
        }
    )
    ctx = Context(source=ELSEWHERE, target=codec.SURFACE, request=request, now=1234)
    parts = (
        ir.Reasoning(text="Hm."),
        ir.Text(text="Ahoy"),
        ir.ToolCall(id="toolu_1", name="gate", arguments=""),
        ir.ToolCall(id="toolu_2", name="plot", arguments="x", type="custom"),
    )
    body = encode_body(answer(*parts, stop="tool_calls", created="2026-11-15T00:00:00Z"), ctx)
    SdkResponse.model_validate(body)
    assert body["instructions"] == "Be kind."
    assert (body["temperature"], body["top_p"], body["truncation"]) == (0.5, 1.0, "auto")
    assert (body["created_at"], body["completed_at"], body["id"]) == (1234, 1234, "resp_msg_7")
    assert body["tools"][0] == {
        "type": "function",
        "name": "gate",
        **dict.fromkeys(("description", "parameters", "strict")),
    }
    assert [item["id"][:3] for item in body["output"]] == ["rs_", "msg", "fc_", "ctc"]
    assert body["output"][2]["arguments"] == "{}"
    assert all(item.get("status", "completed") == "completed" for item in body["output"])
    notes = ctx.receipt().codes()
    assert notes == {"value-respelled": 1}
    alike = Context(source=ELSEWHERE, target=codec.SURFACE, request=request, now=1234)
    again = answer(*parts, stop="tool_calls", created="2026-11-15T00:00:00Z")
    assert encode_body(again, alike) == body


def test_a_foreign_response_is_what_open_responses_reads():
    request = decode({"model": "m", "input": "hi", "tools": [{"type": "function", "name": "gate"}]})
    ctx = Context(source=ELSEWHERE, target=codec.SURFACE, request=request, now=1234)
    parts = (
        ir.Reasoning(text="Hm."),
        ir.Text(text="Ahoy"),
        ir.ToolCall(id="c", name="gate", arguments="{}"),
    )
    open_responses.ResponseResource.model_validate(encode_body(answer(*parts), ctx))
    ctx = Context(source=ELSEWHERE, target=codec.SURFACE)
    body = encode_body(msgspec.structs.replace(answer(created=5.5), id=""), ctx)
    open_responses.ResponseResource.model_validate(body)
    assert body["id"].startswith("resp_")
    assert body["created_at"] == 5


def test_the_cut_item_is_incomplete():
    """X-07, case-15: a call cut by the limit is not told as complete."""
    call = ir.ToolCall(id="c", name="f", arguments='{"command":"rm')
    body = encode_body(answer(ir.Text(text="x"), call, stop="length"), foreign())
    assert body["incomplete_details"] == {"reason": "max_output_tokens"}
    assert [item["status"] for item in body["output"]] == ["completed", "incomplete"]


def test_what_has_no_form_in_an_answer_is_noted():
    ctx = foreign()
    odd = ir.Opaque(protocol="elsewhere", type="x", value={})
    result = ir.ToolResult(id="t", parts=(ir.Text(text="r"),))
    body = encode_body(answer(odd, ir.Audio(source=ir.Remote(url="u")), result), ctx)
    assert [item["type"] for item in body["output"]] == ["function_call_output"]
    assert ctx.receipt().codes()["part-dropped"] == 2


def test_format_text_says_nothing_new():
    ctx = Context(source=codec.SURFACE, target=ELSEWHERE)
    decode(
        {"model": "m", "tools": [{"type": "custom", "name": "c", "format": {"type": "text"}}]}, ctx
    )
    assert not ctx.receipt()


def test_little_is_enough_for_an_answer():
    choice = ir.Choice(parts=(ir.Reasoning(id="rs_9", summary=("so",)),))
    body = encode_body(ir.Response(id="resp_1", model="m", choices=(choice,)), foreign())
    assert (body["status"], body["id"]) == ("completed", "resp_1")
    assert body["output"][0]["id"] == "rs_9"
    annotation = {"type": "url_citation", "url": "https://a.example"}
    text = {"type": "output_text", "text": "x", "annotations": [annotation]}
    given = {"id": "r", "object": "response", "output": [{"type": "message", "role": "assistant"}]}
    given["output"][0]["content"] = [text]
    assert encode_body(decode_body(given)) == given


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("rate-limit", "rate_limit"),
        ("quota", "quota"),
        ("context-length", "context_length"),
        ("bad-key", "authentication"),
        ("no-model", "not_found"),
        ("number-code", "invalid_request"),
        ("overloaded", "overloaded"),
        ("odd", "not_found"),
        ("proxy", "server"),
        ("failed", "server"),
    ],
)
def test_error_kinds(file, kind):
    error = codec.decode_response(WireResponse(**load(f"{file}.error.json")), Context())
    assert isinstance(error, ir.ApiError)
    assert error.kind == kind
    assert error.message
    assert error.status is not None
    assert error.status >= 400


@pytest.mark.parametrize("kind", ERROR_FROM)
def test_errors_of_other_protocols_come_back(kind):
    error = ir.ApiError(kind=kind, message="No.", status=418, retry_after="2", request_id="r")
    ctx = foreign()
    wire = codec.encode_response(error, ctx)
    assert wire.body["error"].keys() == {"message", "type", "param", "code"}
    assert wire.headers == {"retry-after": "2", "x-request-id": "r"}
    assert ctx.receipt().codes() == {"status-changed": 1}
    again = codec.decode_response(wire, Context())
    assert isinstance(again, ir.ApiError)
    assert (again.kind, again.message, again.retry_after) == (kind, "No.", "2")


def test_an_error_in_a_good_response():
    error = decode_body({"error": {"message": "The prompt is too long", "code": "odd"}})
    assert isinstance(error, ir.ApiError)
    assert error.kind == "server"


# --- streams: in ----------------------------------------------------------------------------------


def read(data: bytes, *cuts: int, ctx: Context | None = None) -> list[Event]:
    """The events of a stream, each of them legal, and the last one an end."""
    decoder, grammar, events = codec.StreamDecoder(ctx or Context()), Grammar(), []
    edges = [0, *sorted(cuts), len(data)]
    for start, end in pairwise(edges):
        for event in decoder.feed(data[start:end]):
            grammar.check(event)
            events.append(event)
    for event in decoder.close():
        grammar.check(event)
        events.append(event)
    assert grammar.complete
    assert list(decoder.close()) == []
    return events


def sse(*values: Any) -> bytes:
    return b"".join(b"data: " + json.dumps(value).encode() + b"\n\n" for value in values)


def bare(value: Any) -> Any:
    """A value as JSON, without what only decorates it."""
    if isinstance(value, dict):
        decoration = ("extras", "$item", "id_made")
        return {key: bare(each) for key, each in value.items() if key not in decoration}
    if isinstance(value, (list, tuple)):
        return [bare(each) for each in value]
    return bare(msgspec.to_builtins(value)) if isinstance(value, msgspec.Struct) else value


@pytest.mark.parametrize("file", STREAMS, ids=stem)
def test_streams_are_cut_anywhere(file):
    """case-10: whole, byte by byte and at random cuts."""
    data = file.read_bytes()
    whole = read(data)
    assert read(data, *range(1, len(data))) == whole
    chance = random.Random(7)
    for _ in range(5):
        assert read(data, *chance.sample(range(len(data)), 20)) == whole


@pytest.mark.parametrize(
    "name",
    [stem(f) for f in STREAMS if (FIXTURES / f"{stem(f)}.response.json").exists()],
)
def test_streams_equal_bodies(name):
    body = decode_body(load(f"{name}.response.json"))
    assert bare(fold(read((FIXTURES / f"{name}.stream.txt").read_bytes()))) == bare(body)


@pytest.mark.parametrize("name", ["text", "calls", "thoughts"])
def test_streams_decode_as_written_down(name, golden):
    events = read((FIXTURES / f"{name}.stream.txt").read_bytes())
    golden(f"{NAME}/{name}.events.json", [msgspec.to_builtins(event) for event in events])


@pytest.mark.parametrize("name", ["tool-history", "unknown-everywhere", "choice-allowed"])
def test_requests_decode_as_written_down(name, golden):
    golden(f"{NAME}/{name}.request.json", msgspec.to_builtins(decode(load(f"{name}.request.json"))))


@pytest.mark.parametrize("name", ["several", "length"])
def test_responses_decode_as_written_down(name, golden):
    golden(
        f"{NAME}/{name}.response.json",
        msgspec.to_builtins(decode_body(load(f"{name}.response.json"))),
    )


def stream(name: str) -> list[Event]:
    return read((FIXTURES / f"{name}.stream.txt").read_bytes())


def called(events: list[Event]) -> list[tuple[str, str, str]]:
    response = fold(events)
    assert isinstance(response, ir.Response)
    return [
        (p.id, p.name, p.arguments) for p in response.choices[0].parts if isinstance(p, ir.ToolCall)
    ]


def test_interleaved_calls():
    """X-01, case-07: routed by item, never joined."""
    assert called(stream("parallel")) == [
        ("call_1", "tides", '{"harbour": "Wyk"}'),
        ("call_2", "tides", '{"harbour": "List"}'),
    ]


@pytest.mark.parametrize("key", ["item_id", "output_index"])
def test_interleaved_calls_by_one_key_alone(key):
    """X-01: either key is enough."""
    values = [
        {name: each for name, each in json.loads(line[6:]).items() if name != key}
        for line in (FIXTURES / "parallel.stream.txt").read_text().split("\n")
        if line.startswith("data: ")
    ]
    assert called(read(sse(*values))) == called(stream("parallel"))


def test_done_without_deltas():
    """case-11, case-12: what `.done` says once is said once; an empty delta is nothing."""
    events = stream("done-only")
    assert called(events) == [("call_d", "probe", '{"x":1}')]
    assert sum(isinstance(event, PartDelta) for event in events) == 2


def test_only_the_last_event_tells():
    assert bare(fold(stream("completed-only"))) == bare(decode_body(load("calls.response.json")))


def test_a_server_without_indices():
    assert called(stream("bare-indices")) == [("call_b1", "signal", '{"horn": 2}')]


def test_junk_is_passed_over():
    """case-09: a broken line does not end a stream that ends well."""
    ctx = Context()
    events = read((FIXTURES / "junk.stream.txt").read_bytes(), ctx=ctx)
    assert bare(fold(events)) == bare(decode_body(load("text.response.json")))
    assert ctx.receipt().codes()["event-skipped"] == 2
    assert [e.type for e in events if isinstance(e, OpaqueEvent)] == ["codex.rate_limits"]


def test_a_cut_is_an_error():
    """case-09: open parts are incomplete, the end is an error."""
    events = stream("cut")
    assert isinstance(events[-1], Failed)
    assert events[-2] == PartEnded(3, incomplete=True)
    assert isinstance(read(b"")[-1], Failed)


def test_a_cut_call_is_incomplete():
    """case-15."""
    events = stream("length")
    assert PartEnded(1, incomplete=True) in events
    assert PartEnded(0) in events
    last = events[-1]
    assert isinstance(last, Finished)
    assert last.stops[0].kind == "length"


def test_failures():
    failed, broken = stream("failed")[-1], stream("error-event")[-1]
    assert isinstance(failed, Failed)
    assert (failed.error.kind, failed.error.code) == ("rate_limit", "rate_limit_exceeded")
    assert isinstance(broken, Failed)
    assert broken.error.message == "The pump broke."
    bare_error = read(sse({"error": {"message": "no", "code": "context_length_exceeded"}}))[-1]
    assert isinstance(bare_error, Failed)
    assert bare_error.error.kind == "context_length"
    assert isinstance(read(sse({"type": "response.failed"}))[-1], Failed)


def test_a_call_without_a_name():
    """case-06: arguments that came are not lost."""
    ((call_id, name, arguments),) = called(stream("nameless"))
    assert (name, arguments) == ("tool_0", '{"a":1}')
    assert call_id


CALL = {"type": "function_call", "id": "fc", "call_id": "c", "name": "f", "arguments": "{}"}
DONE = {"type": "response.completed", "response": {"id": "r"}}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        # the item is announced after its first delta
        (
            [
                {"type": "response.function_call_arguments.delta", "item_id": "fc", "delta": "{"},
                {"type": "response.output_item.added", "item": {**CALL, "arguments": ""}},
                {"type": "response.function_call_arguments.delta", "item_id": "fc", "delta": "}"},
                {"type": "response.output_item.done", "item": CALL},
            ],
            [("c", "f", "{}")],
        ),
        # the announcement has no name, `.done` does
        (
            [
                {
                    "type": "response.output_item.added",
                    "item": {**CALL, "name": "", "arguments": ""},
                },
                {"type": "response.function_call_arguments.delta", "item_id": "fc", "delta": "{}"},
                {
                    "type": "response.function_call_arguments.done",
                    "item_id": "fc",
                    "name": "late",
                    "arguments": "{}",
                },
            ],
            [("c", "late", "{}")],
        ),
        # never announced, held until the item is done
        (
            [
                {
                    "type": "response.function_call_arguments.done",
                    "item_id": "fc",
                    "arguments": "{}",
                },
                {"type": "response.output_item.done", "item": CALL},
            ],
            [("c", "f", "{}")],
        ),
        # whole in its announcement
        ([{"type": "response.output_item.added", "item": CALL}], [("c", "f", "{}")]),
        # something else after it is done
        (
            [
                {"type": "response.output_item.done", "item": CALL},
                {"type": "response.output_item.done", "item": CALL},
                {"type": "response.function_call_arguments.delta", "item_id": "fc", "delta": "x"},
                {
                    "type": "response.function_call_arguments.done",
                    "item_id": "fc",
                    "arguments": "x",
                },
            ],
            [("c", "f", "{}")],
        ),
        # `.done` says something else than the deltas did
        (
            [
                {"type": "response.output_item.added", "item": {**CALL, "arguments": ""}},
                {
                    "type": "response.function_call_arguments.delta",
                    "item_id": "fc",
                    "delta": '{"a":1}',
                },
                {"type": "response.output_item.done", "item": {**CALL, "arguments": '{"a": 1}'}},
            ],
            [("c", "f", '{"a":1}')],
        ),
    ],
)
def test_odd_calls(values, expected):
    """X-02: arguments are never lost, whatever comes first."""
    assert called(read(sse(*values, DONE))) == expected


@pytest.mark.parametrize(
    "value",
    [
        {"type": "response.created"},
        {"type": "response.created", "response": {"id": 3, "model": [], "created_at": "x"}},
        {"type": "response.output_item.added"},
        {"type": "response.output_item.done", "item": 7},
        {
            "type": "response.output_item.added",
            "item": {"type": "function_call", "name": "f", "call_id": 3},
        },
        {"type": "response.output_item.done", "item": {"type": "function_call", "name": 3}},
        {"type": "response.content_part.added", "part": 3},
        {"type": "response.content_part.done", "part": {"type": "output_text", "text": 3}},
        {"type": "response.output_text.delta", "delta": 3},
        {"type": "response.output_text.delta", "item_id": [], "output_index": {}, "delta": ""},
        {"type": "response.output_text.annotation.added", "annotation": 3},
        {"type": "response.refusal.done", "refusal": None},
        {"type": "response.function_call_arguments.delta", "delta": 3},
        {"type": "response.function_call_arguments.done", "arguments": 3},
        {"type": "response.reasoning_summary_text.delta", "delta": 3},
        {"type": "response.reasoning_text.delta", "delta": None},
        {"type": "response.completed", "response": 3},
        {"type": "response.completed", "response": {"usage": 3, "output": [3]}},
        {"type": "response.completed", "response": {"usage": {"input_tokens": "x"}}},
        {"type": 3},
        {"type": ""},
        {"error": None},
    ],
    ids=json.dumps,
)
def test_broken_events_end_in_a_legal_stream(value):
    text = {"type": "response.output_text.delta", "delta": "hello"}
    events = read(sse(text, value, DONE))
    assert PartDelta(0, "hello") in events
    assert isinstance(events[-1], Finished)
    assert read(sse(value, text, DONE))[-1]


THOUGHT = {"type": "reasoning", "id": "rs", "summary": []}
MESSAGE = {"type": "message", "id": "msg", "role": "assistant", "content": []}


@pytest.mark.parametrize(
    "values",
    [
        [
            {"type": "response.output_item.done", "item": THOUGHT},
            {"type": "response.reasoning_text.delta", "item_id": "rs", "delta": "late"},
        ],
        [
            {"type": "response.output_item.done", "item": MESSAGE},
            {"type": "response.content_part.added", "item_id": "msg", "part": {"type": "refusal"}},
        ],
        [
            {"type": "response.content_part.added", "part": {"type": "output_text", "text": "a"}},
            {"type": "response.content_part.added", "part": {"type": "output_text", "text": "b"}},
        ],
        [
            {"type": "response.output_item.added", "item": {**CALL, "arguments": ""}},
            {"type": "response.function_call_arguments.done", "item_id": "fc", "arguments": 3},
        ],
        [
            {"type": "response.output_text.delta", "item_id": "msg", "delta": "x"},
            {"type": "response.output_item.done", "item": {**MESSAGE, "content": [{"type": "zz"}]}},
        ],
    ],
)
def test_events_that_do_not_fit_end_in_a_legal_stream(values):
    assert isinstance(read(sse(*values, DONE))[-1], Finished)


def test_a_stream_that_ends_as_another_protocol_does():
    """case-16: everything whole and `[DONE]` is an end; junk after it is dropped."""
    item = {"type": "response.output_item.done", "item": CALL}
    events = read(sse(item) + b"data: [DONE]\n\n")
    assert events[-1] == Finished((ir.StopReason(kind="tool_calls"),), {NAME: {}})
    open_item = {"type": "response.output_text.delta", "delta": "x"}
    assert isinstance(read(sse(open_item) + b"data: [DONE]\n\n")[-1], Failed)


def test_what_only_the_end_tells():
    """Citations, summaries and items without ids that no delta spoke of."""
    cited = {"type": "url_citation", "url": "https://a.example", "title": "A"}
    part = {
        "type": "output_text",
        "text": "hey",
        "annotations": [{**cited, "start_index": 0, "end_index": 3}],
    }
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "so"}]}
    message = {"type": "message", "role": "assistant", "content": [part]}
    values = [
        {"type": "response.output_item.added", "item": {"type": "reasoning"}},
        {"type": "response.content_part.done", "part": {"type": "reasoning_text", "text": "x"}},
        {"type": "response.reasoning_summary_text.delta", "delta": "s"},
        {"type": "response.output_text.delta", "delta": "he"},
        {"type": "response.content_part.done", "part": part},
        {"type": "response.completed", "response": {"id": "r", "output": [thought, message]}},
    ]
    response = fold(read(sse(*values).rstrip()))
    assert isinstance(response, ir.Response)
    first, second = response.choices[0].parts
    assert first.summary == ("so",)
    assert (second.text, [each.url for each in second.citations]) == ("hey", ["https://a.example"])


def test_event_lines_stand_in_for_types():
    data = b'event: response.output_text.delta\ndata: {"delta":"x"}\n\n' + sse(DONE)
    assert PartDelta(0, "x") in read(data)


def test_open_responses_calls_the_text_of_reasoning_otherwise():
    values = [
        {"type": "response.reasoning.delta", "delta": "a", "content_index": 0},
        {"type": "response.reasoning.delta", "delta": "b", "content_index": 1},
        {"type": "response.reasoning.done", "text": "b"},
    ]
    response = fold(read(sse(*values, DONE)))
    assert isinstance(response, ir.Response)
    assert response.choices[0].parts[0].text == "a\n\nb"


# --- streams: out ---------------------------------------------------------------------------------


def write(events: Any, ctx: Context | None = None) -> list[Any]:
    """What is streamed, value by value; event lines and numbers are checked on the way."""
    encoder, values = codec.StreamEncoder(ctx or foreign()), []
    data = b"".join(encoder.encode(event) for event in events) + encoder.close()
    for chunk in data.decode().split("\n\n")[:-1]:
        name, _, payload = chunk.partition("\n")
        value = json.loads(payload.removeprefix("data: "))
        assert name == f"event: {value['type']}"
        assert value["sequence_number"] == len(values)
        values.append(value)
    assert "[DONE]" not in data.decode()
    return values


def kinds(values: list[Any]) -> list[str]:
    return [value["type"].removeprefix("response.") for value in values]


def begin() -> Started:
    return Started(id="chat-1", model="m")


def end(kind: ir.StopKind = "end") -> Finished:
    return Finished((ir.StopReason(kind=kind),))


CALL_PART = ir.ToolCall(id="call_1", name="tides", arguments="")
USAGE = UsageSeen(ir.Usage(input=3, output=4))
TURN: list[Event] = [
    begin(),
    PartStarted(0, ir.Reasoning()),
    PartDelta(0, "Two "),
    PartDelta(0, "ports."),
    PartDelta(0, "sealed", "signature"),
    PartEnded(0),
    PartStarted(1, ir.Text(text="")),
    PartDelta(1, "Let me "),
    PartDelta(1, ""),
    PartDelta(1, "look."),
    PartDelta(1, "", "citation", citation=ir.Citation(url="https://a.example", title="A")),
    PartEnded(1),
    PartStarted(2, CALL_PART),
    PartDelta(2, '{"harbour":'),
    PartDelta(2, '"Wyk"}'),
    PartEnded(2),
    USAGE,
    end("tool_calls"),
]


def test_lifecycle():
    """S1-02, S1-22, S1-30: the whole sequence."""
    values = write(TURN)
    assert kinds(values) == [
        "created",
        "in_progress",
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.annotation.added",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ]
    assert {
        v["item"]["status"]
        for v in values
        if v["type"].endswith("item.done") and "status" in v["item"]
    } == {"completed"}


def test_what_is_streamed_is_what_the_official_types_read():
    for value in write(TURN):
        EVENT.validate_python(value)
        OPEN_EVENTS.validate_python(value)
        assert type(OPEN_EVENTS.validate_python(value)).__name__ != "BaseModel"


def test_the_official_client_accumulates_it():
    from openai import omit
    from openai.lib.streaming.responses._responses import ResponseStreamState

    state: Any = ResponseStreamState(input_tools=omit, text_format=omit)
    for value in write(TURN):
        state.handle_event(EVENT.validate_python(value))
    assert state._completed_response.output_text == "Let me look."


def test_created():
    """S1-23, S1-33: an id that begins with resp_, a status, and the tools of the request."""
    request = decode({"model": "m", "input": "x", "tools": [{"type": "function", "name": "tides"}]})
    ctx = Context(source=ELSEWHERE, target=codec.SURFACE, request=request)
    response = write([begin(), end()], ctx)[0]["response"]
    assert (response["id"], response["status"]) == ("resp_chat-1", "in_progress")
    assert response["tools"][0]["name"] == "tides"


def test_items_of_a_call():
    """S1-24, S1-25, S1-26, S1-32: announced once, and every event names it."""
    values = write(TURN)
    added = [v for v in values if v["type"] == "response.output_item.added"][2]
    item = added["item"]
    assert item == {
        "id": item["id"],
        "type": "function_call",
        "status": "in_progress",
        "arguments": "",
        "call_id": "call_1",
        "name": "tides",
    }
    assert item["id"].startswith("fc_")
    told = [v for v in values if "function_call_arguments" in v["type"]]
    assert {(v["item_id"], v["output_index"]) for v in told} == {(item["id"], 2)}
    assert [v["output_index"] for v in values if "output_index" in v][-1] == 2


def test_done_is_the_sum_of_the_deltas():
    """S1-28, S1-29."""
    values = write(TURN)
    deltas = [v["delta"] for v in values if v["type"] == "response.function_call_arguments.delta"]
    done = next(v for v in values if v["type"] == "response.function_call_arguments.done")
    assert "".join(deltas) == done["arguments"] == '{"harbour":"Wyk"}'
    assert all(v["delta"] for v in values if "delta" in v)


def test_completed_repeats_everything():
    """S1-31, X-13: the full output with the same ids, and the usage."""
    values = write(TURN)
    done = [v["item"] for v in values if v["type"] == "response.output_item.done"]
    response = values[-1]["response"]
    assert response["output"] == done
    assert response["id"] == values[0]["response"]["id"]
    assert response["usage"]["total_tokens"] == 7
    assert done[0]["encrypted_content"] == "sealed"
    assert done[0]["summary"] == [{"type": "summary_text", "text": "Two ports."}]


def test_usage_is_always_an_object():
    assert write([begin(), end()])[-1]["response"]["usage"]["total_tokens"] == 0


def test_sequence_numbers_have_no_gaps():
    """S1-27: checked by `write` for every stream here."""
    assert len(write(TURN)) == 23


@pytest.mark.parametrize("arguments", ["", "{}"])
def test_a_call_without_arguments(arguments):
    """S1-35, case-50."""
    events = [begin(), PartStarted(0, CALL_PART)]
    events += [PartDelta(0, arguments)] if arguments else []
    values = write([*events, PartEnded(0), end("tool_calls")])
    assert [
        v.get("delta", v.get("arguments")) for v in values if "function_call_arg" in v["type"]
    ] == [
        "{}",
        "{}",
    ]


def test_a_cut_call_is_never_done():
    """case-15: no `.done` of its arguments, status incomplete, and the response is incomplete."""
    events = [
        begin(),
        PartStarted(0, CALL_PART),
        PartDelta(0, '{"a'),
        PartEnded(0, incomplete=True),
    ]
    values = write([*events, end("length")])
    assert kinds(values)[-3:] == ["function_call_arguments.delta", "output_item.done", "incomplete"]
    assert values[-2]["item"]["status"] == "incomplete"
    assert values[-1]["response"]["incomplete_details"] == {"reason": "max_output_tokens"}
    EVENT.validate_python(values[-1])


def test_custom_calls_stream_as_such():
    """case-25."""
    part = ir.ToolCall(id="c", name="apply_patch", arguments="", type="custom", namespace="fs")
    values = write(
        [begin(), PartStarted(0, part), PartDelta(0, "*** Begin"), PartEnded(0), end("tool_calls")]
    )
    assert kinds(values)[2:-1] == [
        "output_item.added",
        "custom_tool_call_input.delta",
        "custom_tool_call_input.done",
        "output_item.done",
    ]
    item = values[-2]["item"]
    assert (item["type"], item["input"], item["namespace"]) == (
        "custom_tool_call",
        "*** Begin",
        "fs",
    )
    assert item["id"].startswith("ctc_")
    for value in values:
        EVENT.validate_python(value)


def test_overlapping_parts_keep_their_places():
    """S1-34, case-07."""
    second = ir.ToolCall(id="call_2", name="tides", arguments="")
    values = write(
        [
            begin(),
            PartStarted(0, CALL_PART),
            PartStarted(1, second),
            PartDelta(0, "{"),
            PartDelta(1, "{"),
            PartDelta(1, "}"),
            PartDelta(0, "}"),
            PartEnded(1),
            PartEnded(0),
            end("tool_calls"),
        ]
    )
    deltas = [(v["output_index"], v["delta"]) for v in values if "delta" in v]
    assert deltas == [(0, "{"), (1, "{"), (1, "}"), (0, "}")]
    assert [item["call_id"] for item in values[-1]["response"]["output"]] == ["call_1", "call_2"]


def test_summaries_come_in_pieces():
    part = ir.Reasoning(summary=("whole",), text="", signature="s")
    values = write(
        [
            begin(),
            PartStarted(0, ir.Reasoning(id="rs_up")),
            PartDelta(0, "one", "summary", 0),
            PartDelta(0, "two", "summary", 1),
            PartEnded(0),
            PartStarted(1, part),
            PartEnded(1),
            end(),
        ]
    )
    first, second = values[-1]["response"]["output"]
    assert [piece["text"] for piece in first["summary"]] == ["one", "two"]
    assert first["id"] == "rs_up"
    assert second["encrypted_content"] == "s"
    assert [v["summary_index"] for v in values if v["type"].endswith("part.added")] == [0, 1, 0]
    for value in values:
        EVENT.validate_python(value)


def test_refusals_stream_as_such():
    values = write(
        [
            begin(),
            PartStarted(0, ir.Refusal(text="")),
            PartDelta(0, "No."),
            PartEnded(0),
            end("refusal"),
        ]
    )
    assert kinds(values)[4:6] == ["refusal.delta", "refusal.done"]
    assert values[-1]["response"]["status"] == "completed"
    for value in values:
        EVENT.validate_python(value)
        OPEN_EVENTS.validate_python(value)


@pytest.mark.parametrize("kind", ERROR_FROM)
def test_failures_are_told_in_the_stream(kind):
    error = ir.ApiError(kind=kind, message="Slow.", retry_after="2")
    values = write([begin(), PartStarted(0, ir.Text(text="Ha")), Failed(error)])
    assert kinds(values)[-2:] == ["output_item.done", "failed"]
    assert values[-2]["item"]["status"] == "incomplete"
    told = values[-1]["response"]["error"]
    assert told["code"] == FAILED_CODE.get(kind, "invalid_prompt")
    assert told["message"] == ("Slow. Please try again in 2s." if kind == "rate_limit" else "Slow.")
    OPEN_EVENTS.validate_python(values[-1])


def test_a_failure_at_once():
    values = write([Failed(ir.ApiError(kind="server", message="Down."))])
    assert kinds(values) == ["created", "in_progress", "failed"]
    for value in values:
        EVENT.validate_python(value)


def test_what_has_no_form_in_a_stream_is_noted():
    ctx = foreign()
    odd = ir.Opaque(protocol="elsewhere", type="x", value={})
    picture = ir.Image(source=ir.Remote(url="https://a.example"))
    events = [
        begin(),
        PartStarted(0, odd),
        PartDelta(0, "x"),
        PartEnded(0),
        PartStarted(1, picture),
        PartEnded(1),
        PartStarted(2, ir.Text(text="")),
        PartDelta(2, "", "citation", citation=ir.Citation(title="a book")),
        PartEnded(2),
        OpaqueEvent("elsewhere", "ping", {}),
        end(),
    ]
    values = write(events, ctx)
    assert len(values[-1]["response"]["output"]) == 1
    assert ctx.receipt().codes()["part-dropped"] == 2


@pytest.mark.parametrize("file", STREAMS, ids=stem)
def test_own_streams_come_back(file):
    """Decoded, encoded and decoded again, a stream says the same."""
    events = read(file.read_bytes())
    again = [event for value in [write(events, Context())] for event in read(sse(*value))]
    if isinstance(events[-1], Failed):
        assert isinstance(again[-1], Failed)
        assert again[-1].error.kind == events[-1].error.kind
    else:
        assert bare(fold(again)) == bare(fold(events))


@pytest.mark.parametrize("file", RESPONSES, ids=stem)
def test_bodies_stream_and_come_back(file):
    body = decode_body(load(file))
    again = fold(read(sse(*write(unfold(body), Context()))))
    assert isinstance(again, ir.Response)
    assert [bare(part) for part in again.choices[0].parts] == [
        bare(part) for part in body.choices[0].parts
    ]


def test_invalid_requests_are_not_what_the_official_types_take():
    with pytest.raises(ValidationError):
        EVENT.validate_python({"type": "response.output_text.delta"})
