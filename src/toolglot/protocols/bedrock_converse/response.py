"""Responses and errors of Converse, both ways."""

from typing import Any, Final

from toolglot.context import Context
from toolglot.ir import ApiError, Choice, ErrorKind, Json, Response, StopReason, Usage
from toolglot.protocols.bedrock_converse.parts import (
    decode_content,
    encode_content,
    form_of,
    with_form,
)
from toolglot.protocols.bedrock_converse.request import decode_tier
from toolglot.protocols.bedrock_converse.surface import (
    ERROR,
    ERROR_FROM,
    NAME,
    SERVICE_TIERS,
    STOP,
    STOP_FROM,
    SURFACE,
)
from toolglot.wire.error_kinds import error_kind, headers_of, reply_status
from toolglot.wire.fields import Fields, Setting, WireDocument, merge, read_settings, write_settings
from toolglot.wire.message import WireResponse

REQUEST_ID: Final = "x-amzn-requestid"
ERROR_TYPE: Final = "x-amzn-errortype"

_MORE: Final = "additionalModelResponseFields"
_SEQUENCE: Final = "stop_sequence"
_USAGE: Final[tuple[Setting, ...]] = (
    ("input", "inputTokens", "int"),
    ("output", "outputTokens", "int"),
    ("cache_read", "cacheReadInputTokens", "int"),
    ("cache_write", "cacheWriteInputTokens", "int"),
)
_MILLISECOND: Final = 1_000_000


def decode_response(wire: WireResponse, ctx: Context) -> Response | ApiError:
    """The interlingua of a response or an error."""
    fields = Fields(wire.body, WireDocument(ctx, NAME, SURFACE.minor))
    if not wire.ok or (ERROR_TYPE in wire.headers and fields.peek("output") is None):
        return decode_error(fields, wire)
    output = fields.fields("output")
    message = output.fields("message")
    if type(message.peek("content")) is not str:
        message.require(list, "content")
    message.constant("role", "assistant")
    parts = decode_content(message, "content")
    output.absorb(message)
    fields.absorb(output)
    stop = decode_stop(fields)
    return Response(
        id=wire.headers.get(REQUEST_ID) or ctx.new_id("msg_"),
        model="",
        choices=(Choice(parts=parts, stop=stop),),
        usage=decode_usage(fields.maybe_fields("usage")),
        service_tier=decode_tier(fields),
        extras=fields.rest(),
    )


def encode_response(response: Response | ApiError, ctx: Context) -> WireResponse:
    """The wire form of a response or an error."""
    if isinstance(response, ApiError):
        return _encode_error(response, ctx)
    choice = response.choices[0] if response.choices else Choice(parts=())
    content = encode_content(choice.parts, ctx)
    body: Json = {
        "output": {"message": {"role": "assistant", "content": content}},
        **encode_stop(choice.stop, ctx),
    }
    if response.usage is not None or ctx.foreign(NAME):
        body["usage"] = encode_usage(response.usage, ctx)
    body |= encode_metrics(response.extras, ctx)
    if response.service_tier is not None:
        encode_tier(body, response.service_tier)
    return WireResponse(body=merge(body, response.extras, NAME), headers={REQUEST_ID: response.id})


def encode_metrics(extras: Any, ctx: Context) -> Json:
    """How long it took, which clients need; 0 if nobody measured."""
    if not ctx.foreign(NAME) or "metrics" in extras.get(NAME, {}):
        return {}
    total, _ = ctx.elapsed() or (0, 0)
    return {"metrics": {"latencyMs": total // _MILLISECOND}}


def encode_tier(body: Json, tier: str) -> None:
    """The service tier of an answer, if there is such a one here."""
    if tier in SERVICE_TIERS:
        body["serviceTier"] = {"type": tier}


# --- stop reasons ---------------------------------------------------------------------------------


def decode_stop(fields: Fields) -> StopReason | None:
    """Why the model stopped; the sequence is told to those who asked for it."""
    word = fields.maybe_text("stopReason")
    if word is None:
        return None
    sequence = None
    value = fields.peek(_MORE)
    if type(value) is dict and type(value.get(_SEQUENCE)) is str:
        more = fields.fields(_MORE)
        sequence = more.text(_SEQUENCE)
        fields.absorb(more)
    return StopReason(kind=STOP.get(word, "other"), raw=word, sequence=sequence)


def encode_stop(stop: StopReason | None, ctx: Context) -> Json:
    """The members of a stop reason."""
    if stop is None:
        return {"stopReason": "end_turn"} if ctx.foreign(NAME) else {}
    word, exact = STOP_FROM[stop.kind]
    if stop.raw and not ctx.foreign(NAME) and STOP.get(stop.raw, "other") == stop.kind:
        word, exact = stop.raw, True
    if not exact:
        ctx.note("stop-mapped", ctx.answer_at("stop"), f"{stop.raw or stop.kind} becomes {word}")
    wire: Json = {"stopReason": word}
    if stop.sequence is not None:
        wire[_MORE] = {_SEQUENCE: stop.sequence}
    return wire


# --- usage ----------------------------------------------------------------------------------------


def decode_usage(fields: Fields | None) -> Usage | None:
    """Token counts; `inputTokens` is without those of the cache."""
    if fields is None:
        return None
    counts = read_settings(fields, _USAGE)
    usage = Usage(**counts)
    total = fields.maybe_int("totalTokens")
    form: Json = {}
    if total is None:
        form = {"total": None}
    elif total != usage.prompt + (usage.output or 0):
        form = {"total": total, "of": counts}
    return Usage(**counts, extras=with_form(fields.rest(), form))


def encode_usage(usage: Usage | None, ctx: Context) -> Json:
    """Token counts; three of them are required, so unknown becomes 0."""
    usage = usage or Usage()
    if usage.reasoning:
        words = "what was thought is counted with the output, and not apart"
        ctx.note("usage-dropped", ctx.answer_at("usage"), words)
    wire: Json = {}
    write_settings(wire, usage, _USAGE)
    form = form_of(usage)
    if "total" not in form or "of" in form:
        wire["totalTokens"] = usage.prompt + (usage.output or 0)
    if "of" in form and Usage(**form["of"]) == Usage(**_counts(usage)):
        wire["totalTokens"] = form["total"]
    if not form or "of" in form:
        wire.setdefault("inputTokens", 0)
        wire.setdefault("outputTokens", 0)
    return merge(wire, usage.extras, NAME)


def _counts(usage: Usage) -> Json:
    return {field: getattr(usage, field) for field, _, _ in _USAGE}


# --- errors ---------------------------------------------------------------------------------------

_OVERFLOW: Final = ("input is too long", "too many input tokens", "prompt is too long")
_TOO_LONG: Final = "Input is too long for requested model"


def decode_error(fields: Fields, wire: WireResponse, word: str | None = None) -> ApiError:
    """An error; its type is in a header, in the body, or in that of a message of a stream."""
    header = wire.headers.get(ERROR_TYPE)
    typed = fields.peek("__type") if type(fields.peek("__type")) is str else None
    # Both may say more than the name: `ThrottlingException:http://…`, `namespace#Exception`.
    name = (word or header or typed or "").partition(":")[0].rpartition("#")[2]
    key = next((each for each in ("message", "Message") if type(fields.peek(each)) is str), None)
    # Without a type, that there is a form says that it was read and not made here.
    is_usual = key == "message" and bool(name)
    message = fields.text(key) if key else _other_words(fields)
    known, usual = ERROR.get(name[:1].upper() + name[1:], (None, None))
    status = wire.status if not wire.ok else usual
    return ApiError(
        kind=_kind(known, status, message),
        message=message,
        status=status,
        raw=word or header,
        retry_after=wire.headers.get("retry-after"),
        request_id=wire.headers.get(REQUEST_ID),
        extras=with_form(fields.rest(), {} if is_usual else {"key": key}),
    )


def _other_words(fields: Fields) -> str:
    """The words of an error in another shape, as proxies write them; they also stay."""
    error = fields.peek("error")
    words = (error.get("message") if type(error) is dict else error, fields.peek("detail"))
    return next((value for value in words if type(value) is str), "")


def _kind(known: ErrorKind | None, status: int | None, message: str) -> ErrorKind:
    kind = error_kind(known, status, message)
    if kind == "invalid_request" and any(words in message.lower() for words in _OVERFLOW):
        return "context_length"
    return kind


def _encode_error(error: ApiError, ctx: Context) -> WireResponse:
    word, usual = ERROR_FROM[error.kind]
    foreign = ctx.foreign(NAME)
    headers = dict(headers_of(error, REQUEST_ID))
    made_here = foreign or (ctx.source is None and ctx.target is not None)
    made_here = made_here or not (error.raw or error.extras)
    if made_here or error.raw:
        headers[ERROR_TYPE] = error.raw if error.raw and not made_here else word
    key = "message" if made_here else form_of(error).get("key", "message")
    body: Json = {key: error_message(error, ctx)} if key is not None else {}
    if made_here:
        # For whoever keeps the body alone, as front ends of AWS write it.
        body["__type"] = word
    return WireResponse(
        status=reply_status(error, usual, NAME, ctx),
        headers=headers,
        body=merge(body, error.extras, NAME),
    )


def error_message(error: ApiError, ctx: Context) -> str:
    """The message; a prompt too long is told in the words by which clients know it."""
    known = any(words in error.message.lower() for words in _OVERFLOW)
    if error.kind != "context_length" or known or not ctx.foreign(NAME):
        return error.message
    return f"{_TOO_LONG}: {error.message}"
