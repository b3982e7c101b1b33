"""Responses and errors of Anthropic Messages, both ways."""

import re
from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import (
    ApiError,
    Choice,
    Json,
    Opaque,
    Part,
    Response,
    StopReason,
    ToolCall,
    Usage,
)
from toolglot.protocols.anthropic.parts import decode_content, encode_part
from toolglot.protocols.anthropic.surface import ERROR, ERROR_FROM, NAME, STOP, STOP_FROM, SURFACE
from toolglot.wire.error_kinds import error_kind, headers_of, reply_status
from toolglot.wire.fields import Fields, Setting, WireDocument, merge, read_settings, write_settings
from toolglot.wire.message import WireResponse

_USAGE: Final[tuple[Setting, ...]] = (
    ("input", "input_tokens", "int"),
    ("cache_write", "cache_creation_input_tokens", "int"),
    ("cache_read", "cache_read_input_tokens", "int"),
    ("output", "output_tokens", "int"),
)

_STOP: Final = ("stop_reason", "stop_sequence")
_WITHOUT: Final = NAME + "/without"
"""Key of the extras of a response whose server left out one of those."""

_TOO_LONG: Final = "prompt is too long"
_COUNT: Final = re.compile(r"\b\d{3,9}\b")


def decode_response(wire: WireResponse, ctx: Context) -> Response | ApiError:
    """The interlingua of a response or an error."""
    fields = Fields(wire.body, WireDocument(ctx, NAME, SURFACE.minor))
    if not wire.ok or fields.peek("type") == "error":
        return decode_error(fields, wire)
    fields.require(list, "content")
    fields.constant("type", "message")
    fields.constant("role", "assistant")
    parts, _ = decode_content(fields, "content")
    without = [key for key in _STOP if key not in fields]
    response = Response(
        id=fields.maybe_text("id") or ctx.new_id("msg_"),
        model=fields.maybe_text("model") or "",
        choices=(Choice(parts=_unanswered(parts), stop=decode_stop(fields)),),
        usage=decode_usage(fields.maybe_fields("usage")),
        extras=fields.rest(),
    )
    if without:
        extras = {**response.extras, _WITHOUT: dict.fromkeys(without)}
        return replace(response, extras=extras)
    return response


def _unanswered(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """The parts; calls that code made which has run to its end are nobody's to answer any more."""
    done = {
        each.value.get("tool_use_id")
        for each in parts
        if isinstance(each, Opaque) and "tool_use_id" in each.value
    }
    if not done:
        return parts
    return tuple(_opaque(each) if _caller(each) in done else each for each in parts)


def _caller(part: Part) -> Any:
    caller = part.extras.get(NAME, {}).get("caller") if isinstance(part, ToolCall) else None
    return caller.get("tool_id", "") if isinstance(caller, dict) else ""


def _opaque(part: Part) -> Part:
    wire = encode_part(part, Context())
    return Opaque(protocol=NAME, type="tool_use", value=wire or {})


def encode_response(response: Response | ApiError, ctx: Context) -> WireResponse:
    """The wire form of a response or an error."""
    if isinstance(response, ApiError):
        return _encode_error(response, ctx)
    choice = response.choices[0] if response.choices else Choice(parts=())
    body: Json = {
        "id": response.id,
        "type": "message",
        "role": "assistant",
        "model": response.model or unknown_model(ctx),
        "content": [wire for part in choice.parts if (wire := encode_part(part, ctx)) is not None],
        **encode_stop(choice.stop, ctx),
        "usage": encode_usage(response.usage),
    }
    for key in response.extras.get(_WITHOUT, ()):
        if body[key] is None:
            del body[key]
    if ctx.completes(NAME):
        body = complete_message(body)
        body["content"] = [complete_block(block) for block in body["content"]]
    return WireResponse(body=merge(body, response.extras, NAME))


_MESSAGE: Final[Json] = {"container": None, "stop_details": None}
_COUNTS: Final[Json] = dict.fromkeys(
    (
        "cache_creation",
        "cache_creation_input_tokens",
        "cache_read_input_tokens",
        "inference_geo",
        "output_tokens_details",
        "server_tool_use",
        "service_tier",
    )
)
_DELTA_COUNTS: Final = (
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "input_tokens",
    "output_tokens_details",
    "server_tool_use",
)
_BLOCKS: Final[Mapping[str, Json]] = {
    "text": {"citations": []},
    "tool_use": {"caller": {"type": "direct"}},
}
"""Members that answers always have. Reference: the required members of `Message`, `Usage`,
`TextBlock` and `ToolUseBlock` in the OpenAPI document of the API, as llm-comply 0.5.0 has it, and
those of `MessageDelta` and `MessageDeltaUsage` in anthropic-sdk-python 2.8.0 (read 2026-11-16). All
but the caller may be null there, yet `@ai-sdk/anthropic` 2 refuses citations that are null; the API
itself writes a list or none."""


def complete_message(body: Json) -> Json:
    """A message with all members that an answer of Anthropic's has."""
    usage = body["usage"]
    return {**body, **_MESSAGE, "usage": {**usage, **{k: usage.get(k) for k in _COUNTS}}}


def complete_delta(delta: Json, usage: Json) -> tuple[Json, Json]:
    """The same for the end of a streamed message, and its usage."""
    return {**_MESSAGE, **delta}, {**usage, **{k: usage.get(k) for k in _DELTA_COUNTS}}


def complete_block(block: Json) -> Json:
    """The same for a block of its content."""
    missing = _BLOCKS.get(block["type"])
    return block if missing is None else block | {k: missing[k] for k in missing.keys() - block}


def unknown_model(ctx: Context) -> str:
    """What stands for a model that nobody named, in an answer of others; clients need a name."""
    if not ctx.foreign(NAME):
        return ""
    ctx.note("default-added", "model", "the answer names no model")
    return "unknown"


# --- stop reasons ---------------------------------------------------------------------------------


def decode_stop(fields: Fields) -> StopReason | None:
    """Why the model stopped, from `stop_reason` and `stop_sequence`."""
    word = fields.maybe_text("stop_reason")
    sequence = fields.maybe_text("stop_sequence")
    if word is None:
        return None
    return StopReason(kind=STOP.get(word, "other"), raw=word, sequence=sequence)


def encode_stop(stop: StopReason | None, ctx: Context) -> Json:
    """The two members of a stop reason, both always there."""
    if stop is None:
        return {"stop_reason": None, "stop_sequence": None}
    word, exact = STOP_FROM[stop.kind]
    if stop.raw and not ctx.foreign(NAME) and STOP.get(stop.raw, "other") == stop.kind:
        word, exact = stop.raw, True
    if not exact:
        ctx.note("stop-mapped", ctx.answer_at("stop"), f"{stop.raw or stop.kind} becomes {word}")
    return {"stop_reason": word, "stop_sequence": stop.sequence}


# --- usage ----------------------------------------------------------------------------------------


def decode_usage(fields: Fields | None) -> Usage | None:
    """Token counts."""
    if fields is None:
        return None
    counts = read_settings(fields, _USAGE)
    details = fields.maybe_fields("output_tokens_details")
    if details is not None:
        counts["reasoning"] = details.maybe_int("thinking_tokens")
        fields.absorb(details)
    return Usage(**counts, extras=fields.rest())


def encode_usage(usage: Usage | None) -> Json:
    """Token counts; the two totals are required, so unknown becomes 0."""
    if usage is None:
        return {"input_tokens": 0, "output_tokens": 0}
    wire: Json = {}
    write_settings(wire, usage, _USAGE)
    wire.setdefault("input_tokens", 0)
    wire.setdefault("output_tokens", 0)
    if usage.reasoning is not None:
        wire["output_tokens_details"] = {"thinking_tokens": usage.reasoning}
    return merge(wire, usage.extras, NAME)


# --- errors ---------------------------------------------------------------------------------------


def decode_error(fields: Fields, wire: WireResponse) -> ApiError:
    """An error in whatever shape: servers behind this protocol's name have many."""
    fields.constant("type", "error")
    word = message = None
    if isinstance(fields.peek("error"), dict):
        error = fields.fields("error")
        word, message = _said(error, "type"), _said(error, "message")
        fields.absorb(error)
    message = message or _said(fields, "message") or _said(fields, "error")
    message = message or _said(fields, "detail") or ""
    kind, usual = ERROR.get(word or "", (None, None))
    status = wire.status if not wire.ok else usual
    return ApiError(
        kind=error_kind(kind, status, message),
        message=message,
        status=status,
        raw=word,
        retry_after=wire.headers.get("retry-after"),
        request_id=_request_id(fields) or wire.headers.get("request-id"),
        extras=fields.rest(),
    )


def _encode_error(error: ApiError, ctx: Context) -> WireResponse:
    word, usual = ERROR_FROM[error.kind]
    if error.raw and not ctx.foreign(NAME):
        word = error.raw
    body: Json = {"type": "error", "error": {"type": word, "message": _message(error, ctx)}}
    if error.request_id is not None and ctx.foreign(NAME):
        body["request_id"] = error.request_id
    headers = headers_of(error, "request-id")
    if error.kind == "quota" and ctx.foreign(NAME):
        # It has the status of a rate limit, but waiting does not help; clients know this header.
        headers = {**headers, "x-should-retry": "false"}
    return WireResponse(
        status=reply_status(error, usual, NAME, ctx),
        headers=headers,
        body=merge(body, error.extras, NAME),
    )


def _said(fields: Fields, key: str) -> str | None:
    """A string, if there is one; anything else stays."""
    return fields.maybe_text(key) if type(fields.peek(key)) is str else None


def _request_id(fields: Fields) -> str | None:
    """The id in the body, which stays there: an error may have it in its headers only."""
    given = fields.peek("request_id")
    return given if type(given) is str else None


def _message(error: ApiError, ctx: Context) -> str:
    """The message; a prompt too long is told in the words by which clients know it."""
    message = error.message
    known = _TOO_LONG in message.lower() or not ctx.foreign(NAME)
    if error.kind != "context_length" or known:
        return message
    *_, limit, tokens = (0, 0, *sorted(set(map(int, _COUNT.findall(message)))))
    counted = f"{tokens} tokens > {limit} maximum: " if limit else ""
    return f"{_TOO_LONG}: {counted}{message}"
