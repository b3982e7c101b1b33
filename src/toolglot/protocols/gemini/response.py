"""Responses and errors of Gemini, both ways."""

from typing import Any, Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import (
    ApiError,
    Choice,
    ErrorKind,
    Json,
    Part,
    Response,
    StopReason,
    Text,
    ToolCall,
    Usage,
)
from toolglot.protocols.gemini._grounding import GROUNDING, citations, leave
from toolglot.protocols.gemini._variants import (
    CallIds,
    armour,
    left_out,
    variants_of,
    with_variants,
)
from toolglot.protocols.gemini.parts import decode_parts, encode_part
from toolglot.protocols.gemini.surface import (
    ERROR,
    ERROR_FROM,
    NAME,
    STOP,
    STOP_FROM,
    STOP_NUMBERS,
    SURFACE,
    VARIANTS,
)
from toolglot.wire.error_kinds import error_kind, headers_of, reply_status
from toolglot.wire.fields import Fields, WireDocument, merge
from toolglot.wire.message import WireResponse
from toolglot.wire.rpc_errors import retry_delay
from toolglot.wire.timestamps import rfc3339


def decode_response(wire: WireResponse, ctx: Context) -> Response | ApiError:
    """The interlingua of a response or an error."""
    fields = Fields(wire.body, WireDocument(ctx, NAME, SURFACE.minor))
    if not wire.ok or fields.peek("error") is not None:
        return _decode_error(fields, wire)
    if not isinstance(fields.peek("promptFeedback"), dict):
        fields.require(list, "candidates")
    given = fields.maybe_text("responseId")
    response_id = given or ctx.new_id("resp_")
    ids = CallIds(lambda: ctx.new_id("call_"))
    choices = tuple(
        _decode_candidate(candidate, index, ids)
        for index, candidate in enumerate(fields.each("candidates"))
    )
    variants = {} if given else {"without": ("responseId",)}
    return Response(
        id=response_id,
        model=fields.maybe_text("modelVersion") or "",
        choices=choices or (_blocked(fields.peek("promptFeedback"), ctx),),
        usage=decode_usage(fields.maybe_fields("usageMetadata")),
        created=fields.maybe_text("createTime"),
        extras=with_variants(fields.rest(), variants),
    )


def encode_response(response: Response | ApiError, ctx: Context) -> WireResponse:
    """The wire form of a response or an error."""
    if isinstance(response, ApiError):
        return _encode_error(response, ctx)
    body: Json = {}
    candidates = [
        _encode_candidate(choice, ctx)
        for choice in response.choices
        if "candidate" not in left_out(choice)
    ]
    if candidates:
        body["candidates"] = candidates
    if response.usage is not None:
        body["usageMetadata"] = encode_usage(response.usage, ctx)
    body |= encode_head(response)
    return WireResponse(body=merge(body, response.extras, NAME))


def encode_head(response: Any) -> Json:
    """What a response, or each piece of a streamed one, says of itself."""
    wire: Json = {}
    if response.model:
        wire["modelVersion"] = response.model
    if "responseId" not in left_out(response):
        wire["responseId"] = response.id
    if response.created is not None:
        wire["createTime"] = rfc3339(response.created)
    return wire


# --- candidates -----------------------------------------------------------------------------------


def _decode_candidate(fields: Fields, position: int, ids: CallIds) -> Choice:
    without: list[str] = []
    index = position
    if type(fields.peek("index")) is int:
        index = fields.take("index")
    else:
        without.append("index")
    parts: tuple[Part, ...] = ()
    content = fields.maybe_fields("content")
    if content is None or fields.peek("content") is not None:
        without.append("content")
    else:
        parts = decode_parts(content, "parts", ids)
        if content.peek("role") != "model":
            without.append("role")
        content.constant("role", "model")
        fields.absorb(content)
    calls = any(isinstance(part, ToolCall) for part in parts)
    grounding = fields.take(GROUNDING)
    if grounding is not None:
        parts = _cite(parts, grounding, fields)
    variants: Json = {"without": tuple(without)} if without else {}
    word = fields.peek("finishReason")
    if type(word) is int:
        variants["finishReason"] = fields.take("finishReason")
        word = STOP_NUMBERS.get(word, str(word))
    else:
        word = fields.maybe_text("finishReason")
    stop = decode_stop(word, calls=calls)
    extras = with_variants(fields.rest(), variants)
    if grounding is not None:
        extras = {**extras, NAME: {**extras.get(NAME, {}), GROUNDING: grounding}}
    return Choice(parts=parts, index=index, stop=stop, extras=extras)


def _cite(parts: tuple[Part, ...], grounding: Any, fields: Fields) -> tuple[Part, ...]:
    """The parts, with the pages that their texts were taken from."""
    cited = list(parts)
    found = citations(grounding, [part.text if isinstance(part, Text) else "" for part in parts])
    for place, citation in found:
        part = cited[place]
        if isinstance(part, Text):
            cited[place] = replace(part, citations=(*part.citations, citation))
    leave(grounding, fields, SURFACE.minor, cited=bool(found))
    return tuple(cited)


def _encode_candidate(choice: Choice, ctx: Context) -> Json:
    without = left_out(choice)
    wire: Json = {}
    if choice.parts or "content" not in without:
        wire["content"] = encode_content(choice.parts, ctx)
        if "role" in without:
            del wire["content"]["role"]
    if choice.stop is not None:
        wire["finishReason"] = word = encode_stop(choice.stop, ctx)
        number = variants_of(choice).get("finishReason")
        if number is not None and word == STOP_NUMBERS.get(number, str(number)):
            wire["finishReason"] = number
    if "index" not in without:
        wire["index"] = choice.index
    if choice.logprobs is not None:
        ctx.note("logprobs-dropped", ctx.answer_at("logprobs"))
    return merge(wire, choice.extras, NAME)


def encode_content(parts: tuple[Part, ...], ctx: Context) -> Json:
    """The content of a candidate."""
    wires = [armour(encode_part(part, ctx), part) for part in parts]
    written = [wire for wire in wires if wire is not None]
    return {"parts": written, "role": "model"} if written else {"role": "model"}


def _blocked(feedback: Any, ctx: Context) -> Choice:
    """The one choice of a response without candidates: a prompt that was blocked, or nothing."""
    stop = blocked(feedback)
    if stop is not None:
        ctx.members["stop"] = "promptFeedback.blockReason"
    return Choice(parts=(), stop=stop, extras={VARIANTS: {"without": ("candidate",)}})


# --- stop reasons ---------------------------------------------------------------------------------


def blocked(feedback: Any) -> StopReason | None:
    """Why a prompt got no answer, if that is what the feedback says."""
    word = feedback.get("blockReason") if isinstance(feedback, dict) else None
    if not word or type(word) not in (str, int):
        return None
    return StopReason(kind="content_filter", raw=str(word))


def decode_stop(word: str | None, *, calls: bool) -> StopReason | None:
    """Why the model stopped. An answer that ends with calls says the same as any other."""
    if word is None:
        return None
    kind = STOP.get(word, "other")
    return StopReason(kind="tool_calls" if calls and kind == "end" else kind, raw=word)


def encode_stop(stop: StopReason, ctx: Context) -> str:
    """The word for a stop reason; the one that came, if it came from here and still fits."""
    word, exact = STOP_FROM[stop.kind]
    if stop.raw and not ctx.foreign(NAME):
        kind = STOP.get(stop.raw, "other")
        if stop.kind in (kind, "tool_calls"):
            return stop.raw
    if not exact:
        ctx.note("stop-mapped", ctx.answer_at("stop"), f"{stop.raw or stop.kind} becomes {word}")
    return word


# --- usage ----------------------------------------------------------------------------------------

_COUNTS: Final = (
    "promptTokenCount",
    "cachedContentTokenCount",
    "candidatesTokenCount",
    "thoughtsTokenCount",
    "toolUsePromptTokenCount",
    "totalTokenCount",
)


def decode_usage(fields: Fields | None) -> Usage | None:
    """Token counts. The prompt's includes what was cached, that of candidates excludes thoughts."""
    if fields is None or not fields.whole():
        return None
    raw: Json = {}
    for key in _COUNTS:
        count = fields.maybe_int(key)
        if count is not None:
            raw[key] = count
    return Usage(**_unified(raw), extras=with_variants(fields.rest(), raw))


def _unified(raw: Json) -> Json:
    prompt, cached = raw.get("promptTokenCount"), raw.get("cachedContentTokenCount")
    answer, thoughts = raw.get("candidatesTokenCount"), raw.get("thoughtsTokenCount")
    counts: Json = {"cache_read": cached, "reasoning": thoughts}
    if prompt is not None:
        fresh = prompt - (cached or 0) + (raw.get("toolUsePromptTokenCount") or 0)
        counts["input"] = max(fresh, 0)
    if answer is not None or thoughts is not None:
        counts["output"] = (answer or 0) + (thoughts or 0)
    return counts


def encode_usage(usage: Usage, ctx: Context) -> Json:
    """Token counts: as they came, if they came from here, else those that are known."""
    raw = variants_of(usage)
    unified = _unified(raw)
    if raw and all(getattr(usage, field) == unified.get(field) for field in _UNIFIED):
        return merge(dict(raw), usage.extras, NAME)
    wire: Json = {}
    if usage.input is not None or usage.cache_read is not None:
        wire["promptTokenCount"] = usage.prompt
    if usage.cache_read is not None:
        wire["cachedContentTokenCount"] = usage.cache_read
    if usage.cache_write:
        ctx.note(
            "usage-dropped",
            ctx.answer_at("usage"),
            "what was written to the cache is part of the prompt",
        )
    if usage.output is not None:
        wire["candidatesTokenCount"] = max(usage.output - (usage.reasoning or 0), 0)
    if usage.reasoning is not None:
        wire["thoughtsTokenCount"] = usage.reasoning
    if wire:
        wire["totalTokenCount"] = usage.prompt + (usage.output or 0)
    return merge(wire, usage.extras, NAME)


_UNIFIED: Final = ("input", "cache_read", "cache_write", "output", "reasoning")

# --- errors ---------------------------------------------------------------------------------------

_RETRY: Final = "type.googleapis.com/google.rpc.RetryInfo"
_FAILURES: Final = range(400, 600)
_TOO_LONG: Final = "The input token count exceeds the maximum number of tokens allowed"
_WORDS: Final[tuple[tuple[str, ErrorKind, ErrorKind], ...]] = (
    ("API_KEY_INVALID", "invalid_request", "authentication"),
    ("payload size exceeds the limit", "invalid_request", "too_large"),
    ("PerDay", "rate_limit", "quota"),
    ("location is not supported", "billing", "permission"),
)
"""Words in a message or its details that tell more than the status: of what kind, and which one."""


def _decode_error(fields: Fields, wire: WireResponse) -> ApiError:
    error = fields.maybe_fields("error") if isinstance(fields.peek("error"), dict) else None
    word = message = details = None
    without = ["error"]
    status = _http_status(wire, None)
    if error is not None:
        without = [key for key in ("code", "message", "status") if error.peek(key) is None]
        word, message = error.maybe_text("status"), error.maybe_text("message")
        details = error.peek("details")
        code = error.peek("code")
        status = _http_status(wire, code)
        if code == status:
            error.take("code")
        elif code is not None:
            without.append("code")
        fields.absorb(error)
    message = message or _plain_error(fields)
    return ApiError(
        kind=_error_kind(ERROR.get(word or "", (None, None))[0], status, message, details),
        message=message,
        status=status,
        raw=word,
        retry_after=wire.headers.get("retry-after") or retry_delay(details),
        request_id=wire.headers.get("x-request-id"),
        extras=with_variants(fields.rest(), {"without": tuple(without)} if without else {}),
    )


def _encode_error(error: ApiError, ctx: Context) -> WireResponse:
    word, usual = ERROR_FROM[error.kind]
    foreign = ctx.foreign(NAME)
    if error.raw and not foreign:
        word = error.raw
    status = reply_status(error, usual, NAME, ctx)
    message = error.message
    if error.kind == "context_length" and foreign and "input token count" not in message.lower():
        message = f"{_TOO_LONG}: {message}"
    without = left_out(error)
    members: Json = {"code": status, "message": message, "status": word}
    inner = {key: value for key, value in members.items() if key not in without}
    if foreign and error.retry_after is not None and error.retry_after.isdecimal():
        inner["details"] = [{"@type": _RETRY, "retryDelay": f"{error.retry_after}s"}]
    body: Json = {} if "error" in without else {"error": inner}
    return WireResponse(
        status=status,
        headers=headers_of(error, "x-request-id"),
        body=merge(body, error.extras, NAME),
    )


def _http_status(wire: WireResponse, code: Any) -> int:
    """The status that came, or for an error under another one, that in its body."""
    if wire.ok:
        return code if type(code) is int and code in _FAILURES else 500
    return wire.status


def _plain_error(fields: Fields) -> str:
    """The words of an error in another shape, as proxies write them; they also stay."""
    words = (fields.peek(key) for key in ("error", "message"))
    return next((value for value in words if isinstance(value, str)), "")


def _error_kind(known: ErrorKind | None, status: int, message: str, details: Any) -> ErrorKind:
    kind = error_kind(known, status, message)
    if kind in _REFINED:
        text = message + str(details)
        for words, general, special in _WORDS:
            if kind == general and words in text:
                return special
    return kind


_REFINED: Final = frozenset(general for _, general, _ in _WORDS)
