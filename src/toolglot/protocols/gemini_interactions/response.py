"""Responses and errors of Gemini Interactions, both ways."""

from functools import partial
from typing import Any, Final

from toolglot.context import Context
from toolglot.ir import (
    ApiError,
    Choice,
    ErrorKind,
    Json,
    Part,
    Response,
    StopReason,
    ToolCall,
    Usage,
)
from toolglot.protocols.gemini_interactions._steps import (
    MODEL,
    decode_output_step,
    encode_output,
)
from toolglot.protocols.gemini_interactions.parts import kept, variants_of, with_variants
from toolglot.protocols.gemini_interactions.surface import (
    ERROR,
    ERROR_FROM,
    FAILED,
    NAME,
    RESPONSE_MINOR,
    SERVICE_TIER,
    SERVICE_TIER_FROM,
    STOP,
    STOP_FROM,
    SURFACE,
    VARIANTS,
)
from toolglot.source_paths import Holder, Places
from toolglot.wire.error_kinds import error_kind, headers_of, reply_status
from toolglot.wire.fields import Fields, WireDocument, merge
from toolglot.wire.message import WireResponse
from toolglot.wire.rpc_errors import retry_delay
from toolglot.wire.timestamps import rfc3339

OBJECT: Final = "interaction"
_ID: Final = "v1_"
_PREVIOUS: Final = "previous_interaction_id"
_WITHOUT_STEPS: Final = ("in_progress", "queued", "cancelled")
"""The statuses of interactions that may have no steps yet, or none at all."""
_EMPTY: Final = "$empty"
"""Key in the extras of a choice: steps without any part, and where they stood."""


def decode_response(wire: WireResponse, ctx: Context) -> Response | ApiError:
    """The interlingua of a response or an error."""
    fields = Fields(wire.body, WireDocument(ctx, NAME, RESPONSE_MINOR))
    if not wire.ok or _is_error(fields):
        return decode_error(fields, wire)
    if fields.peek("object") != OBJECT or fields.peek("status") not in _WITHOUT_STEPS:
        fields.require(list, "steps")
    missing = missing_head(fields)
    fields.constant("object", OBJECT)
    parts, empty = _decode_steps(fields)
    choice = Choice(
        parts=parts,
        stop=decode_stop(fields, has_calls=any(isinstance(part, ToolCall) for part in parts)),
        extras={NAME: {_EMPTY: empty}} if empty else {},
    )
    head = decode_head(fields, ctx)
    return Response(
        **head,
        choices=(choice,),
        usage=decode_usage(fields.maybe_fields("usage")),
        extras=with_variants(kept(fields), missing),
    )


def encode_response(response: Response | ApiError, ctx: Context) -> WireResponse:
    """The wire form of a response or an error."""
    if isinstance(response, ApiError):
        return _encode_error(response, ctx)
    choice, own = response.choices[0], NAME in response.extras
    steps = encode_output(choice.parts, ctx)
    for index, step in choice.extras.get(NAME, {}).get(_EMPTY, ()):
        steps.insert(index, step)
    body = {**encode_head(response, ctx), **encode_stop(choice.stop, ctx, own=own)}
    if steps or not own:
        body["steps"] = steps
    if response.usage is not None:
        body["usage"] = encode_usage(response.usage, ctx)
    if choice.logprobs is not None:
        ctx.note("logprobs-dropped", ctx.answer_at("logprobs"))
    return WireResponse(body=merge(body, response.extras, NAME))


# --- what an answer says of itself ----------------------------------------------------------------


def decode_head(fields: Fields, ctx: Context) -> Json:
    """The id, model, time and service tier of an answer, or of the beginning of a stream.

    An answer that is not stored may have an empty id or none.
    """
    given = fields.maybe_text("id") if fields.peek("id") != "" else None
    tier = fields.peek("service_tier")
    known = type(tier) is str and tier in SERVICE_TIER
    return {
        "id": given or ctx.new_id(_ID),
        "model": fields.maybe_text("model") or "",
        "created": fields.maybe_text("created"),
        "service_tier": SERVICE_TIER[fields.text("service_tier")] if known else None,
    }


def missing_head(fields: Fields) -> Json:
    """Which of the members that we would write an answer does not have, as a variant."""
    missing = tuple(key for key in ("id", "object") if not fields.peek(key))
    return {"without": missing} if missing else {}


def encode_head(response: Any, ctx: Context) -> Json:
    """The reverse of `decode_head`."""
    own, missing = NAME in response.extras, variants_of(response).get("without", ())
    given = {"id": response.id if own else _encode_id(response.id, ctx), "object": OBJECT}
    head: Json = {key: value for key, value in given.items() if key not in missing}
    if response.model:
        head["model"] = response.model
    if response.created is not None or not own:
        now = ctx.now()
        head["created"] = rfc3339(now if response.created is None else response.created, now)
        if not own:
            head |= {"updated": rfc3339(now), **_echo(ctx)}
    tier = response.service_tier
    if tier in SERVICE_TIER_FROM:
        head["service_tier"] = SERVICE_TIER_FROM[tier]
    return head


def _echo(ctx: Context) -> Json:
    """What an answer repeats of its request: the one that it continues."""
    asked = ctx.request.extras.get(NAME, {}) if ctx.request is not None else {}
    previous = asked.get(_PREVIOUS)
    return {_PREVIOUS: previous} if previous else {}


def _encode_id(response_id: str, ctx: Context) -> str:
    given = ctx.answer_id or response_id or ctx.new_id(_ID)
    path = ctx.answer_at("id") if response_id and given != response_id else ""
    if path:
        ctx.note("value-respelled", path, f"{response_id} is {given} here")
    return given


# --- steps ----------------------------------------------------------------------------------------


def _decode_steps(fields: Fields) -> tuple[tuple[Part, ...], list[tuple[int, Json]]]:
    """The parts of all steps, and the steps that have none."""
    parts: list[Part] = []
    empty: list[tuple[int, Json]] = []
    steps: list[tuple[Part, ...]] = []
    follows = False
    for index, step in enumerate(fields.maybe_list("steps") or ()):
        found = decode_output_step(fields.element(step, "steps", index), follows=follows)
        steps.append(found)
        parts.extend(found)
        if found:
            follows = step.get("type") == MODEL
        else:
            empty.append((index, step))
    fields.document.ctx.places = Places(SURFACE, partial(_holders, steps))
    return tuple(parts), empty


def _holders(steps: list[tuple[Part, ...]]) -> list[Holder]:
    return [Holder(f"steps[{index}]", parts) for index, parts in enumerate(steps)]


# --- stop reasons ---------------------------------------------------------------------------------


def decode_stop(fields: Fields, *, has_calls: bool) -> StopReason | None:
    """Why the model stopped, as far as the status says."""
    status = fields.maybe_text("status")
    if status is None:
        return None
    kind = STOP.get(status, "other")
    return StopReason(kind="tool_calls" if kind == "end" and has_calls else kind, raw=status)


def encode_stop(stop: StopReason | None, ctx: Context, *, own: bool) -> Json:
    """The status of an answer."""
    if stop is None:
        return {} if own else {"status": "completed"}
    if own and stop.raw is not None:
        return {"status": stop.raw}
    word, exact = STOP_FROM[stop.kind]
    if not exact:
        ctx.note("stop-mapped", ctx.answer_at("stop"), f"{stop.raw or stop.kind} becomes {word}")
    return {"status": word}


# --- usage ----------------------------------------------------------------------------------------

_COUNTS: Final = (
    "total_input_tokens",
    "total_cached_tokens",
    "total_output_tokens",
    "total_thought_tokens",
    "total_tool_use_tokens",
    "total_tokens",
)
_UNIFIED: Final = ("input", "cache_read", "cache_write", "output", "reasoning")


def decode_usage(fields: Fields | None) -> Usage | None:
    """Token counts. Cached ones are part of the input, thoughts are no part of the output, and what
    the tools of the provider read comes on top.
    """
    if fields is None or not fields.whole():
        return None
    raw: Json = {}
    for key in _COUNTS:
        count = fields.maybe_int(key)
        if count is not None:
            raw[key] = count
    return Usage(**_unified(raw), extras=with_variants(fields.rest(), raw))


def _unified(raw: Json) -> Json:
    given, cached = raw.get("total_input_tokens"), raw.get("total_cached_tokens")
    answer, thoughts = raw.get("total_output_tokens"), raw.get("total_thought_tokens")
    counts: Json = {"cache_read": cached, "reasoning": thoughts}
    if given is not None:
        fresh = given - (cached or 0) + (raw.get("total_tool_use_tokens") or 0)
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
        wire["total_input_tokens"] = usage.prompt
    if usage.cache_read is not None:
        wire["total_cached_tokens"] = usage.cache_read
    if usage.cache_write:
        words = "what was written to the cache is part of the input"
        ctx.note("usage-dropped", ctx.answer_at("usage"), words)
    if usage.output is not None:
        wire["total_output_tokens"] = max(usage.output - (usage.reasoning or 0), 0)
    if usage.reasoning is not None:
        wire["total_thought_tokens"] = usage.reasoning
    if wire:
        wire["total_tokens"] = usage.prompt + (usage.output or 0)
    return merge(wire, usage.extras, NAME)


# --- errors ---------------------------------------------------------------------------------------

_TOO_LONG: Final = "The input token count exceeds the maximum number of tokens allowed"
_FAILURES: Final = range(400, 600)


def _is_error(fields: Fields) -> bool:
    if fields.peek("status") == FAILED:
        return True
    return fields.peek("error") is not None and "steps" not in fields


def decode_error(fields: Fields, wire: WireResponse) -> ApiError:
    """An error: of the API, of the front end, or of an interaction that failed."""
    error = fields.maybe_fields("error") if isinstance(fields.peek("error"), dict) else None
    word = raw = message = code = details = None
    variants: Json = {}
    if error is not None:
        message, code = _maybe_word(error, "message"), error.peek("code")
        raw, details = _maybe_word(error, "status"), error.peek("details")
        if type(code) is str:
            word = _maybe_word(error, "code")
        elif type(code) is int and not wire.ok and code == wire.status:
            error.take("code")
            variants["number"] = True
        fields.absorb(error)
    failed = error is None and _failure(fields)
    if failed:
        word, message = failed
    status = _http_status(wire, code)
    if message is None:
        message = _plain_error(fields)
    kind = error_kind(_known(word) or _known(raw), status, message)
    return ApiError(
        kind=kind,
        message=message,
        status=ERROR_FROM[kind][1] if status is None else status,
        raw=raw,
        code=word,
        retry_after=wire.headers.get("retry-after") or retry_delay(details),
        request_id=wire.headers.get("x-request-id"),
        extras=with_variants(kept(fields), variants),
    )


def _http_status(wire: WireResponse, code: Any) -> int | None:
    """The status that came, or for an error under another one, that in its body."""
    if not wire.ok:
        return wire.status
    return code if type(code) is int and code in _FAILURES else None


def _failure(fields: Fields) -> tuple[str | None, str] | None:
    """What an interaction that failed says of it, which also stays as it is."""
    found = fields.peek("errors")
    steps = fields.peek("steps")
    values = [
        *(found if isinstance(found, list) else ()),
        *(
            step.get("error")
            for step in (steps if isinstance(steps, list) else ())
            if isinstance(step, dict)
        ),
    ]
    for value in values:
        if isinstance(value, dict) and (value.get("message") or value.get("code")):
            code, words = value.get("code"), value.get("message")
            return code if type(code) is str else None, words if type(words) is str else ""
    return None


def _known(word: str | None) -> ErrorKind | None:
    return ERROR.get(word.lower().rpartition("/")[2]) if word else None


def _maybe_word(fields: Fields, key: str) -> str | None:
    """A string, if it is one and says something."""
    value = fields.peek(key)
    return fields.text(key) if value and type(value) is str else None


def _plain_error(fields: Fields) -> str:
    """The words of an error in another shape, as proxies write them; they also stay."""
    words = (fields.peek(key) for key in ("error", "message"))
    return next((value for value in words if isinstance(value, str)), "")


def _encode_error(error: ApiError, ctx: Context) -> WireResponse:
    word, usual = ERROR_FROM[error.kind]
    own = error.extras.get(NAME)
    headers = headers_of(error, "x-request-id")
    if own is not None and not ctx.foreign(NAME):
        status = 200 if own.get("status") == FAILED else reply_status(error, usual, NAME, ctx)
        body = _encode_own_error(error, own)
        return WireResponse(status=status, headers=headers, body=merge(body, error.extras, NAME))
    message = error.message
    if error.kind == "context_length" and "input token count" not in message.lower():
        message = f"{_TOO_LONG}: {message}"
    return WireResponse(
        status=reply_status(error, usual, NAME, ctx),
        headers=headers,
        body={"error": {"code": word, "message": message}},
    )


def _encode_own_error(error: ApiError, own: Json) -> Json:
    if own.get("status") == FAILED and "error" not in own and ("errors" in own or "steps" in own):
        return {}
    inner: Json = {}
    if "number" in error.extras.get(VARIANTS, {}):
        inner["code"] = error.status
    elif error.code is not None:
        inner["code"] = error.code
    if error.message and error.message not in (own.get("error"), own.get("message")):
        inner["message"] = error.message
    if error.raw is not None:
        inner["status"] = error.raw
    return {"error": inner} if inner else {}


def event_error(error: ApiError, ctx: Context) -> Json:
    """The error of a stream."""
    inner = _encode_error(error, ctx).body.get("error")
    usual = {"code": error.code or ERROR_FROM[error.kind][0], "message": error.message}
    return inner if isinstance(inner, dict) else usual
