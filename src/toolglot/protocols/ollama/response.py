"""Responses and errors of Ollama, both ways."""

from typing import Any, Final

from toolglot.context import Context
from toolglot.ir import (
    ApiError,
    Choice,
    ErrorKind,
    Extras,
    Json,
    Part,
    Response,
    StopReason,
    ToolCall,
    Usage,
)
from toolglot.protocols.ollama.parts import decode_parts, encode_parts, filled
from toolglot.protocols.ollama.surface import (
    ERROR_STATUS,
    ERROR_WORDS,
    NAME,
    STOP,
    STOP_FROM,
    SURFACE,
)
from toolglot.wire.error_kinds import error_kind, headers_of, reply_status
from toolglot.wire.fields import Fields, Setting, WireDocument, merge, read_settings
from toolglot.wire.message import WireResponse
from toolglot.wire.timestamps import rfc3339

_USAGE: Final[tuple[Setting, ...]] = (
    ("input", "prompt_eval_count", "int"),
    ("output", "eval_count", "int"),
)
_OVERFLOW: Final = "the input length exceeds the context length"


def decode_response(wire: WireResponse, ctx: Context) -> Response | ApiError:
    """The interlingua of a response or an error."""
    fields = Fields(wire.body, WireDocument(ctx, NAME, SURFACE.minor))
    if not wire.ok or fields.peek("error") is not None:
        return _decode_error(fields, wire)
    fields.require(dict, "message")
    model = fields.maybe_text("model") or ""
    created = fields.take("created_at") if type(fields.peek("created_at")) is str else None
    choice = _decode_choice(fields, ctx)
    usage = decode_usage(fields)
    return Response(
        id=ctx.new_id("msg_"),
        model=model,
        choices=(choice,),
        usage=usage,
        created=created,
        extras=fields.rest(),
    )


def encode_response(response: Response | ApiError, ctx: Context) -> WireResponse:
    """The wire form of a response or an error."""
    if isinstance(response, ApiError):
        return _encode_error(response, ctx)
    choice = response.choices[0] if response.choices else Choice(parts=())
    body: Json = {"model": response.model}
    if response.created is not None or ctx.foreign(NAME):
        body["created_at"] = encode_created(response.created, ctx)
    parts = encode_parts(choice.parts, choice.wire_form, ctx, ctx.answer_at, answer=True)
    message = {"role": "assistant", **parts}
    body["message"] = merge(message, choice.extras, NAME)
    body["done"] = True
    body |= encode_stop(choice.stop, ctx)
    body |= encode_durations(response.extras, ctx)
    body |= encode_usage(response.usage, ctx)
    if isinstance(choice.logprobs, list):
        body["logprobs"] = choice.logprobs
    elif choice.logprobs is not None:
        ctx.note("logprobs-dropped", ctx.answer_at("logprobs"))
    return WireResponse(body=merge(body, response.extras, NAME))


# --- the one choice -------------------------------------------------------------------------------


def _decode_choice(fields: Fields, ctx: Context) -> Choice:
    parts: tuple[Part, ...] = ()
    wire_form, extras = "", {}
    message = fields.maybe_fields("message")
    if message is not None:
        message.constant("role", "assistant")
        parts, wire_form = decode_parts(message, lambda: ctx.new_id("call_"))
        extras = dict(message.rest())
    calls = any(isinstance(part, ToolCall) for part in parts)
    stop = decode_stop(fields, calls=calls)
    logprobs = fields.take("logprobs")
    return Choice(parts=parts, stop=stop, logprobs=logprobs, wire_form=wire_form, extras=extras)


# --- stop reasons ---------------------------------------------------------------------------------


def decode_stop(fields: Fields, *, calls: bool) -> StopReason | None:
    """Why the model stopped; `stop` with calls means those. Done without a reason is `raw=""`."""
    done = fields.peek("done") is True
    fields.constant("done", value=True)
    word = filled(fields, "done_reason")
    if word is None and not done:
        return None
    kind = STOP.get(word or "stop", "other")
    return StopReason(kind="tool_calls" if calls and kind == "end" else kind, raw=word or "")


def encode_stop(stop: StopReason | None, ctx: Context) -> Json:
    """The reason, if one was named."""
    if stop is None or (stop.raw == "" and not ctx.foreign(NAME)):
        return {}
    word, exact = STOP_FROM[stop.kind]
    if stop.kind == "other" and stop.raw and not ctx.foreign(NAME):
        word, exact = stop.raw, True
    if not exact:
        ctx.note("stop-mapped", ctx.answer_at("stop"), f"{stop.raw or stop.kind} becomes {word}")
    return {"done_reason": word}


# --- usage and time -------------------------------------------------------------------------------


def decode_usage(fields: Fields) -> Usage | None:
    """Token counts, which stand among the other members."""
    counts = read_settings(fields, _USAGE)
    return Usage(**counts) if counts else None


def encode_usage(usage: Usage | None, ctx: Context) -> Json:
    """Token counts as far as they are known."""
    wire: Json = {}
    if usage is None:
        return wire
    details = (usage.cache_read, usage.cache_write, usage.reasoning)
    if any(details):
        ctx.note("usage-dropped", ctx.answer_at("usage"))
    if usage.input is not None or usage.cache_read is not None or usage.cache_write is not None:
        wire["prompt_eval_count"] = usage.prompt
    if usage.output is not None:
        wire["eval_count"] = usage.output
    return wire


def encode_durations(extras: Extras, ctx: Context) -> Json:
    """How long an answer took, which servers always say and clients count on (Strands 1.0 divides
    by it): nanoseconds, and 0 if nobody measured. Of an answer that came whole only the whole time
    is known. What the server itself said goes before.
    """
    elapsed = ctx.elapsed()
    if NAME in extras or (elapsed is None and not ctx.foreign(NAME)):
        return {}
    total, first = elapsed or (0, 0)
    return {
        "total_duration": total,
        "load_duration": 0,
        "prompt_eval_duration": first,
        "eval_duration": total if first == total else total - first,
    }


def encode_created(created: Any, ctx: Context) -> str:
    """A time as RFC 3339 text; other protocols count seconds."""
    return rfc3339(ctx.now() if created is None else created, ctx.now())


# --- errors ---------------------------------------------------------------------------------------


def _decode_error(fields: Fields, wire: WireResponse) -> ApiError:
    given = fields.peek("error")
    if isinstance(given, dict):
        # Not this protocol's shape, but servers in front of it write it.
        message = str(given.get("message") or "")
    else:
        message = filled(fields, "error") or "" if isinstance(given, str) else ""
    status = None if wire.ok else wire.status
    return ApiError(
        kind=error_kind(_kind(message), status, message),
        message=message,
        status=status,
        retry_after=wire.headers.get("retry-after"),
        request_id=wire.headers.get("x-request-id"),
        extras=fields.rest(),
    )


def _encode_error(error: ApiError, ctx: Context) -> WireResponse:
    message, body = error.message, {}
    if error.kind == "context_length" and error_kind(_kind(message), 400, message) != error.kind:
        message = f"{_OVERFLOW}: {message}"
    if "error" not in error.extras.get(NAME, {}) and (message or ctx.foreign(NAME)):
        body["error"] = message
    return WireResponse(
        status=reply_status(error, ERROR_STATUS[error.kind], NAME, ctx),
        headers=headers_of(error, "x-request-id"),
        body=merge(body, error.extras, NAME),
    )


def _kind(message: str) -> ErrorKind | None:
    said = message.lower()
    return next((kind for words, kind in ERROR_WORDS if words in said), None)
