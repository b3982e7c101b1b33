"""Responses and errors of OpenAI Responses, both ways."""

from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import (
    ApiError,
    Choice,
    Json,
    Part,
    Refusal,
    Request,
    Response,
    StopReason,
    Text,
    ToolCall,
    Usage,
)
from toolglot.protocols.openai_responses._items import decode_output_item, encode_output
from toolglot.protocols.openai_responses.parts import kept
from toolglot.protocols.openai_responses.request import encode_request
from toolglot.protocols.openai_responses.surface import (
    ECHO,
    ERROR_CODE,
    ERROR_FROM,
    ERROR_TYPE,
    FAILED_CODE,
    NAME,
    PAUSED,
    RESPONSE_MINOR,
    SERVICE_TIERS,
    STATUSES,
    STOP,
    STOP_FROM,
    SURFACE,
)
from toolglot.source_paths import Holder, Places
from toolglot.wire.error_kinds import error_kind, headers_of, reply_status
from toolglot.wire.fields import Fields, WireDocument, merge
from toolglot.wire.message import WireResponse
from toolglot.wire.timestamps import epoch_seconds
from toolglot.wire.tool_cache import recall

_EMPTY: Final = "$empty"
"""Key in the extras of a choice: messages without content, and where they stood."""


def decode_response(wire: WireResponse, ctx: Context) -> Response | ApiError:
    """The interlingua of a response or an error."""
    fields = Fields(wire.body, WireDocument(ctx, NAME, RESPONSE_MINOR))
    if not wire.ok or _is_error(fields):
        return decode_error(fields, wire)
    fields.require(list, "output")
    fields.constant("object", "response")
    parts, empty = _decode_output(fields)
    choice = Choice(
        parts=parts,
        stop=decode_stop(fields, has_calls=any(isinstance(part, ToolCall) for part in parts)),
        logprobs=_decode_logprobs(parts),
        extras={NAME: {_EMPTY: empty}} if empty else {},
    )
    return Response(
        id=fields.maybe_text("id") or ctx.new_id("resp_"),
        model=fields.maybe_text("model") or "",
        choices=(choice,),
        usage=decode_usage(fields.maybe_fields("usage"), is_whole=True),
        created=fields.maybe_number("created_at"),
        service_tier=_decode_tier(fields),
        extras=kept(fields),
    )


def encode_response(response: Response | ApiError, ctx: Context) -> WireResponse:
    """The wire form of a response or an error."""
    if isinstance(response, ApiError):
        return _encode_error(response, ctx)
    choice, own = response.choices[0], NAME in response.extras
    outcome = encode_stop(choice.stop, has_refusal(choice.parts), ctx, own=own)
    status = "incomplete" if outcome.get("status") == "incomplete" else "completed"
    parts = _encode_logprobs(choice, ctx)
    output = encode_output(parts, status, ctx)
    for index, item in choice.extras.get(NAME, {}).get(_EMPTY, ()):
        output.insert(index, item)
    body = {
        **encode_head(response, ctx),
        **outcome,
        "output": output,
    }
    if not own or response.usage is not None:
        body["usage"] = encode_usage(response.usage)
    if not own:
        body["completed_at"] = ctx.now() if outcome["status"] == "completed" else None
    return WireResponse(body=merge(body, response.extras, NAME))


# --- what a response says of itself and of its request -------------------------------------------


def encode_head(response: Any, ctx: Context) -> Json:
    """Everything but the outcome, of a response or of the beginning of a stream."""
    own, created = NAME in response.extras, response.created
    head: Json = {"id": response.id if own else _encode_id(response.id, ctx), "object": "response"}
    if own:
        if created is not None:
            head["created_at"] = created
    else:
        head["created_at"] = epoch_seconds(created, ctx.now())
        head |= _echo(ctx.request, ctx.known)
    if response.model or not own:
        head["model"] = response.model
    if response.service_tier is not None and (own or response.service_tier in SERVICE_TIERS):
        head["service_tier"] = response.service_tier
    return head


def _encode_id(response_id: str, ctx: Context) -> str:
    if ctx.answer_id:
        path = ctx.answer_at("id")
        if path:
            ctx.note("value-respelled", path, f"{response_id} is {ctx.answer_id} here")
        return ctx.answer_id
    if response_id.startswith("resp_"):
        return response_id
    if not response_id:
        return ctx.new_id("resp_")
    path = ctx.answer_at("id")
    if path:
        ctx.note("value-respelled", path, "the id of a response begins with resp_")
    return "resp_" + response_id


def _echo(request: Request | None, known: object) -> Json:
    """What a response repeats of its request."""
    if request is None:
        return ECHO.copy()
    # What could not be said was noted when the request was translated.
    ctx = Context()
    ctx.known = known
    said = encode_request(replace(request, messages=()), ctx).body
    echo = {key: usual if said.get(key) is None else said[key] for key, usual in ECHO.items()}
    for key in ("text", "reasoning"):
        echo[key] = {**ECHO[key], **echo[key]}
    echo["tools"] = recall(_echo_tools, echo["tools"], ctx)
    if said.get("conversation") is not None:
        echo["conversation"] = said["conversation"]
    return echo


def _echo_tools(tools: list[Json], _ctx: Context) -> list[Json]:
    return list(map(_echo_tool, tools))


def _echo_tool(tool: Json) -> Json:
    if tool.get("type") != "function":
        return tool
    return {"description": None, "parameters": None, "strict": None, **tool}


def _decode_tier(fields: Fields) -> str | None:
    """The service tier, if it is one that others know."""
    tier = fields.peek("service_tier")
    return fields.text("service_tier") if isinstance(tier, str) and tier in SERVICE_TIERS else None


# --- output --------------------------------------------------------------------------------------


def _decode_output(fields: Fields) -> tuple[tuple[Part, ...], list[tuple[int, Json]]]:
    """The parts of all items, and the messages that have none."""
    parts: list[Part] = []
    empty: list[tuple[int, Json]] = []
    items: list[tuple[Part, ...]] = []
    for index, item in enumerate(fields.maybe_list("output") or ()):
        found = tuple(decode_output_item(fields.element(item, "output", index)))
        items.append(found)
        parts.extend(found)
        if not found:
            empty.append((index, item))
    fields.document.ctx.places = Places(SURFACE, partial(_holders, items))
    return tuple(parts), empty


def _holders(items: list[tuple[Part, ...]]) -> list[Holder]:
    return [Holder(f"output[{index}]", parts) for index, parts in enumerate(items)]


def _decode_logprobs(parts: tuple[Part, ...]) -> Json | None:
    """The probabilities of all texts, as one list."""
    found = [
        entry
        for part in parts
        if isinstance(part, Text)
        for entry in part.extras.get(NAME, {}).get("logprobs") or ()
    ]
    return {"content": found} if found else None


def _encode_logprobs(choice: Choice, ctx: Context) -> tuple[Part, ...]:
    """The parts, with another protocol's probabilities at the first text."""
    parts, logprobs = choice.parts, choice.logprobs
    if logprobs is None or _decode_logprobs(parts) == logprobs:
        return parts
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    first = next((i for i, part in enumerate(parts) if isinstance(part, Text)), None)
    if not content or first is None:
        ctx.note("logprobs-dropped", ctx.answer_at("logprobs"))
        return parts
    for key, value in logprobs.items():
        if key != "content" and value:
            ctx.note("logprobs-dropped", f"{ctx.answer_at('logprobs')}.{key}")
    entries = [
        {"bytes": [], "top_logprobs": [], **entry} for entry in content if isinstance(entry, dict)
    ]
    text = replace(parts[first], extras={NAME: {"logprobs": entries, "annotations": []}})
    return (*parts[:first], text, *parts[first + 1 :])


# --- stop reasons --------------------------------------------------------------------------------


def decode_stop(fields: Fields, *, has_calls: bool) -> StopReason:
    """Why the model stopped, from `status` and `incomplete_details`."""
    given, reason = fields.peek("status"), None
    if isinstance(given, str) and given not in STATUSES:
        # A word of some server's own stays where it was.
        return StopReason(kind="tool_calls" if has_calls else "other")
    status = fields.maybe_text("status")
    details = fields.maybe_fields("incomplete_details")
    if details is not None:
        reason = details.maybe_text("reason") if status == "incomplete" else None
        fields.absorb(details)
    if status == "completed" and fields.peek("end_turn") is False:
        # Codex asks again by itself then.
        fields.take("end_turn")
        return StopReason(kind="tool_calls" if has_calls else "pause", raw=PAUSED)
    raw = reason or status
    kind = STOP.get(raw or "completed", "other")
    return StopReason(kind="tool_calls" if kind == "end" and has_calls else kind, raw=raw)


def encode_stop(stop: StopReason | None, refused: bool, ctx: Context, *, own: bool) -> Json:  # noqa: FBT001
    """The members that tell how a response ended."""
    if own and stop is not None:
        return _encode_own_stop(stop.raw)
    if stop is None:
        return {"status": "completed"}
    status, reason, exact = STOP_FROM[stop.kind]
    if stop.kind == "refusal" and refused:
        status, reason, exact = "completed", None, True
    if not exact:
        ctx.note(
            "stop-mapped",
            ctx.answer_at("stop"),
            f"{stop.raw or stop.kind} becomes {reason or status}",
        )
    paused: Json = {"end_turn": False} if stop.kind == "pause" else {}
    details = {"reason": reason} if reason else None
    return {"status": status, "incomplete_details": details, **paused}


def _encode_own_stop(raw: str | None) -> Json:
    if raw is None:
        return {}
    if raw == PAUSED:
        return {"status": "completed", "end_turn": False}
    if raw in STATUSES:
        return {"status": raw}
    return {"status": "incomplete", "incomplete_details": {"reason": raw}}


def has_refusal(parts: tuple[Part, ...]) -> bool:
    """Whether the model declined in words."""
    return any(isinstance(part, Refusal) for part in parts)


# --- usage ---------------------------------------------------------------------------------------


def decode_usage(fields: Fields | None, *, is_whole: bool = False) -> Usage | None:
    """Token counts; cached tokens are part of the input here.

    Of an answer that came whole it is remembered that the sum was not told.
    """
    if fields is None:
        return None
    total, output = fields.maybe_int("input_tokens"), fields.maybe_int("output_tokens")
    fresh, read, write = _decode_input_details(fields, total)
    reasoning = None
    details = fields.maybe_fields("output_tokens_details")
    if details is not None:
        reasoning = details.maybe_int("reasoning_tokens")
        fields.absorb(details)
    counted = total is not None and output is not None
    untold = is_whole and counted and fields.peek("total_tokens") is None
    if total is not None and output is not None:
        fields.constant("total_tokens", total + output)
    extras = kept(fields)
    return Usage(
        input=fresh,
        cache_read=read,
        cache_write=write,
        output=output,
        reasoning=reasoning,
        extras={**extras, _UNTOLD: {}} if untold else extras,
    )


_UNTOLD: Final = f"{NAME} without total_tokens"
"""Marks counts that some servers give without their sum."""


def _decode_input_details(
    fields: Fields, total: int | None
) -> tuple[int | None, int | None, int | None]:
    details = None if total is None else fields.maybe_fields("input_tokens_details")
    if details is None or total is None:
        return total, None, None
    read, write = details.peek("cached_tokens"), details.peek("cache_write_tokens")
    known = [count for count in (read, write) if count is not None]
    if any(type(count) is not int for count in known) or sum(known) > total:
        read = write = None
    else:
        read, write = details.maybe_int("cached_tokens"), details.maybe_int("cache_write_tokens")
    fields.absorb(details)
    return total - (read or 0) - (write or 0), read, write


def encode_usage(usage: Usage | None) -> Json:
    """Token counts; clients want every key, so unknown becomes 0 unless it was unknown here."""
    usage = usage or Usage()
    own = NAME in usage.extras
    wire: Json = {}
    if usage.input is not None or not own:
        wire["input_tokens"] = usage.prompt
    _put(
        wire,
        "input_tokens_details",
        own,
        cached_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write,
    )
    if usage.output is not None or not own:
        wire["output_tokens"] = usage.output or 0
    _put(wire, "output_tokens_details", own, reasoning_tokens=usage.reasoning)
    both = len(wire.keys() & {"input_tokens", "output_tokens"}) == 2  # noqa: PLR2004
    if both and _UNTOLD not in usage.extras:
        wire["total_tokens"] = wire["input_tokens"] + wire["output_tokens"]
    return merge(wire, usage.extras, NAME)


def _put(wire: Json, key: str, own: bool, **counts: int | None) -> None:  # noqa: FBT001
    details = {name: count or 0 for name, count in counts.items() if count is not None or not own}
    if details:
        wire[key] = details


# --- errors --------------------------------------------------------------------------------------


def _is_error(fields: Fields) -> bool:
    if fields.peek("status") == "failed":
        return True
    return bool(fields.peek("error")) and "output" not in fields and "status" not in fields


def decode_error(fields: Fields, wire: WireResponse) -> ApiError:
    """An error, or a response that failed."""
    error = fields.maybe_fields("error") if isinstance(fields.peek("error"), dict) else None
    word = code = param = message = None
    if error is not None:
        word, code, param, message = (
            _maybe_word(error, key) for key in ("type", "code", "param", "message")
        )
        fields.absorb(error)
    if message is None:
        message = next(filter(None, (_peek_word(fields, key) for key in _MESSAGE_KEYS)), "")
    known = ERROR_CODE.get(code or "") or ERROR_TYPE.get(word or "")
    kind = error_kind(known, None if wire.ok else wire.status, message)
    return ApiError(
        kind=kind,
        message=message,
        status=ERROR_FROM[kind][2] if wire.ok else wire.status,
        raw=word,
        code=code,
        param=param,
        retry_after=wire.headers.get("retry-after"),
        request_id=wire.headers.get("x-request-id"),
        extras=kept(fields),
    )


_MESSAGE_KEYS: Final = ("message", "detail", "error")
"""Where servers that do not keep to the shape put their words."""


def _maybe_word(fields: Fields, key: str) -> str | None:
    """A string, if it is one and says something; some servers give numbers as codes, which stay."""
    value = fields.peek(key)
    return fields.text(key) if value and isinstance(value, str) else None


def _peek_word(fields: Fields, key: str) -> str | None:
    value = fields.peek(key)
    return value if isinstance(value, str) else None


def _encode_error(error: ApiError, ctx: Context) -> WireResponse:
    own = error.extras.get(NAME)
    if own is not None and not ctx.foreign(NAME):
        return _encode_own_error(error, own, ctx)
    word, code, usual = ERROR_FROM[error.kind]
    body = {
        "error": {
            "message": error.message,
            "type": word,
            "param": error.param,
            "code": code or error.code,
        }
    }
    return WireResponse(
        status=reply_status(error, usual, NAME, ctx),
        headers=headers_of(error, "x-request-id"),
        body=body,
    )


def _encode_own_error(error: ApiError, own: Json, ctx: Context) -> WireResponse:
    wire = {"type": error.raw, "code": error.code, "param": error.param}
    detail: Json = {key: value for key, value in wire.items() if value is not None}
    if error.message and not any(error.message == own.get(key) for key in _MESSAGE_KEYS):
        detail["message"] = error.message
    # A response that failed came with a good status.
    status = 200 if own.get("status") == "failed" else reply_status(error, 500, NAME, ctx)
    body: Json = {"error": detail} if detail else {}
    return WireResponse(
        status=status,
        headers=headers_of(error, "x-request-id"),
        body=merge(body, error.extras, NAME),
    )


def failed_error(error: ApiError, ctx: Context) -> Json:
    """The error of a response that failed; how long to wait is part of its words."""
    code = FAILED_CODE.get(error.kind, "invalid_prompt")
    if error.code and not ctx.foreign(NAME):
        code = error.code
    message = error.message
    if error.kind == "rate_limit" and error.retry_after and "try again in" not in message:
        message = f"{message} Please try again in {error.retry_after}s.".strip()
    return {"code": code, "message": message}
