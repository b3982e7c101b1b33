"""Responses and errors of OpenAI Chat Completions, both ways."""

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import ApiError, Choice, Json, Part, Response, StopReason, ToolCall, Usage
from toolglot.protocols.openai_chat._legacy import legacy_choice, was_legacy
from toolglot.protocols.openai_chat._message import (
    BESIDE,
    Calls,
    decode_assistant,
    encode_annotations,
    encode_assistant,
)
from toolglot.protocols.openai_chat.surface import (
    ERROR,
    ERROR_FROM,
    NAME,
    STOP,
    STOP_FROM,
    SURFACE,
    VARIANTS,
    decode_tier,
    variants_of,
    with_variants,
)
from toolglot.wire import jsontext
from toolglot.wire.error_kinds import error_kind, headers_of, reply_status
from toolglot.wire.fields import Fields, WireDocument, merge
from toolglot.wire.message import WireResponse
from toolglot.wire.timestamps import epoch_seconds


def decode_response(wire: WireResponse, ctx: Context) -> Response | ApiError:
    """The interlingua of a response or an error."""
    fields = Fields(wire.body, WireDocument(ctx, NAME, SURFACE.minor))
    if not wire.ok or _is_error(fields):
        return _decode_error(fields, wire)
    if not _says_completion(fields):
        fields.require(list, "choices")
    variants: Json = {key: fields.peek(key) for key in _HEAD if not fields.peek(key)}
    fields.constant("object", _OBJECT)
    calls = Calls(ctx)
    choices = tuple(
        _decode_choice(each, calls, at) for at, each in enumerate(fields.each("choices"))
    )
    created = fields.take("created") if type(fields.peek("created")) in (int, float) else None
    return Response(
        id=fields.maybe_text("id") or ctx.new_id("chatcmpl-"),
        model=fields.maybe_text("model") or "",
        choices=choices,
        created=created,
        usage=decode_usage(fields.maybe_fields("usage")),
        service_tier=decode_tier(fields),
        extras=with_variants(fields.rest(), variants),
    )


_OBJECT: Final = "chat.completion"
_HEAD: Final = ("id", "object", "model")
"""What a response has in any case, unless its server left it out or said nothing there."""


def encode_response(response: Response | ApiError, ctx: Context) -> WireResponse:
    """The wire form of a response or an error."""
    if isinstance(response, ApiError):
        return _encode_error(response, ctx)
    own = VARIANTS in response.extras
    body: Json = {"id": response.id}
    if "object" not in response.extras.get(NAME, ()):
        body["object"] = _OBJECT
    if not own:
        body["created"] = epoch_seconds(response.created, ctx.now())
    elif response.created is not None:
        body["created"] = response.created
    body["model"] = response.model
    for key, value in variants_of(response.extras).items():
        # A new id or model is written; a name that was made up is not.
        if key == "object" or not (body[key] and key == "model"):
            _restore(body, key, value)
    if response.choices or not own:
        # Some servers answer without any when a filter or the limit left nothing.
        body["choices"] = [_encode_choice(choice, ctx, own=own) for choice in response.choices]
    if response.usage is not None:
        body["usage"] = encode_usage(response.usage, own=own)
    if response.service_tier is not None:
        body["service_tier"] = response.service_tier
    return WireResponse(body=merge(body, response.extras, NAME))


def _restore(body: Json, key: str, value: Any) -> None:
    """A member as its server wrote it: left out, or empty."""
    if value is None:
        body.pop(key, None)
    else:
        body[key] = value


# --- choices --------------------------------------------------------------------------------------


def _decode_choice(fields: Fields, calls: Calls, position: int) -> Choice:
    index = fields.maybe_int("index")
    message = fields.maybe_fields("message")
    parts: tuple[Part, ...] = ()
    wire_form = ""
    variants: Json = {}
    word = fields.maybe_text("finish_reason")
    if message is not None:
        message.constant("role", "assistant")
        legacy = "function_call" in message
        parts, wire_form, variants = decode_assistant(message, calls)
        if word == "function_call" and legacy and "function_call" not in message:
            word = "tool_calls"
        fields.absorb(message)
    if word == "":
        # Servers that write every member write this one, too, where they do not say.
        variants, word = {**variants, "finish_reason": word}, None
    stop = decode_stop(word, called=any(isinstance(part, ToolCall) for part in parts))
    logprobs, extras = fields.take("logprobs"), fields.rest()
    return Choice(
        parts=parts,
        index=position if index is None else index,
        stop=stop,
        logprobs=logprobs,
        wire_form=wire_form,
        extras=with_variants(extras, variants) if variants else extras,
    )


def _encode_choice(choice: Choice, ctx: Context, *, own: bool) -> Json:
    parts = choice.parts
    member = BESIDE if ctx.options.mend == "on" and ctx.in_protocol else ""
    message = encode_assistant(
        parts, choice.wire_form, variants_of(choice.extras), ctx, own=own, member=member
    )
    encode_annotations(message, parts, ctx)
    wire: Json = {"index": choice.index, "message": message}
    if choice.logprobs is not None:
        wire["logprobs"] = choice.logprobs
    if own and choice.stop is None and "finish_reason" in (said := variants_of(choice.extras)):
        wire["finish_reason"] = said["finish_reason"]
    elif choice.stop is not None or not own:
        called = any(isinstance(part, ToolCall) for part in parts)
        wire["finish_reason"] = encode_stop(choice.stop, ctx, called=called, own=own)
    if not own:
        message.setdefault("refusal", None)
        wire.setdefault("logprobs", None)
    merge(wire, choice.extras, NAME)
    return legacy_choice(wire, ctx) if was_legacy(ctx.request) else wire


# --- stop reasons ---------------------------------------------------------------------------------


def decode_stop(word: str | None, *, called: bool) -> StopReason | None:
    """Why the model stopped; a server that says `stop` after calls waits for their results."""
    if word is None:
        return None
    kind = STOP.get(word, "other")
    return StopReason(kind="tool_calls" if called and kind == "end" else kind, raw=word)


def encode_stop(stop: StopReason | None, ctx: Context, *, called: bool, own: bool) -> str:
    """The word for a stop reason, which is never missing."""
    if stop is None:
        word = "tool_calls" if called else "stop"
        ctx.note("default-added", "finish_reason", f"no reason was given: {word}")
        return word
    if own and stop.raw:
        return stop.raw
    word, exact = STOP_FROM[stop.kind]
    if not exact:
        # Here `stop` covers stop sequences by definition; only which one it was is lost.
        message = f"{stop.raw or stop.kind} becomes {word}"
        covered = stop.kind == "stop_sequence"
        ctx.note("stop-mapped", ctx.answer_at("stop"), message, "info" if covered else None)
    return word


# --- usage ----------------------------------------------------------------------------------------

_CACHED: Final = ("prompt_cache_hit_tokens", "cached_tokens")
"""Where DeepSeek and Moonshot tell what was read from the cache, if not in the details."""


def decode_usage(fields: Fields | None) -> Usage | None:
    """Token counts; the prompt is split into what is fresh and what a cache held."""
    if fields is None:
        return None
    prompt, output = fields.maybe_int("prompt_tokens"), fields.maybe_int("completion_tokens")
    given = fields.peek("total_tokens")
    variants: Json = {}
    read, write = _decode_caches(fields, prompt, variants)
    reasoning = None
    spent = fields.maybe_fields("completion_tokens_details")
    if spent is not None:
        reasoning = spent.maybe_int("reasoning_tokens")
        fields.absorb(spent)
    if output is not None and reasoning and _is_beside(prompt, output, reasoning, given):
        variants["beside"] = True
        output += reasoning
    fresh = None if prompt is None else max(prompt - (read or 0) - (write or 0), 0)
    usage = Usage(
        input=fresh, cache_read=read, cache_write=write, output=output, reasoning=reasoning
    )
    if _prompt(usage) != prompt:
        variants["prompt"] = prompt
    total = _total(prompt, output)
    if total is not None:
        fields.constant("total_tokens", total)
        if "total_tokens" in fields or given is None:
            variants["total"] = False
    extras = fields.rest()
    if variants:
        extras = with_variants(extras, variants)
    return replace(usage, extras=extras) if extras else usage


def _is_beside(prompt: int | None, output: int, reasoning: int, total: Any) -> bool:
    """Whether tokens of reasoning are counted beside those of the completion, as by xAI."""
    if type(total) is not int or total == (prompt or 0) + output:
        return reasoning > output
    return total == (prompt or 0) + output + reasoning


def _decode_caches(
    fields: Fields, prompt: int | None, variants: Json
) -> tuple[int | None, int | None]:
    """What was read from a cache and written to it."""
    read = write = None
    details = fields.maybe_fields("prompt_tokens_details")
    if details is not None:
        read, written = details.maybe_int("cached_tokens"), details.peek("cache_write_tokens")
        if type(written) is not int or prompt is None or (read or 0) + written <= prompt:
            # Some servers tell what is in the cache now, so that tokens read count as written.
            write = details.maybe_int("cache_write_tokens")
        fields.absorb(details)
    return _decode_cached(fields, variants) if read is None else read, write


def encode_usage(usage: Usage, *, own: bool) -> Json:
    """Token counts; what is unknown is left out, but for the totals that are required."""
    variants = variants_of(usage.extras)
    prompt, output = variants.get("prompt", _prompt(usage)), usage.output
    if own:
        totals = (prompt, output, None if "total" in variants else _total(prompt, output))
        if "beside" in variants and output is not None:
            totals = (prompt, output - (usage.reasoning or 0), totals[2])
    else:
        totals = (prompt or 0, output or 0, (prompt or 0) + (output or 0))
    keys = ("prompt_tokens", "completion_tokens", "total_tokens")
    wire: Json = {key: count for key, count in zip(keys, totals, strict=True) if count is not None}
    _encode_details(wire, usage, variants)
    return merge(wire, usage.extras, NAME)


def _encode_details(wire: Json, usage: Usage, variants: Json) -> None:
    details = {}
    if usage.cache_read is not None:
        if "cached" in variants:
            wire[variants["cached"]] = usage.cache_read
        else:
            details["cached_tokens"] = usage.cache_read
    if usage.cache_write is not None:
        details["cache_write_tokens"] = usage.cache_write
    if details:
        wire["prompt_tokens_details"] = details
    if usage.reasoning is not None:
        wire["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning}


def _decode_cached(fields: Fields, variants: Json) -> int | None:
    for key in _CACHED:
        read = fields.maybe_int(key)
        if read is not None:
            variants["cached"] = key
            return read
    return None


def _prompt(usage: Usage) -> int | None:
    known = usage.input is not None or usage.cache_read is not None or usage.cache_write is not None
    return usage.prompt if known else None


def _total(prompt: int | None, output: int | None) -> int | None:
    return None if prompt is None or output is None else prompt + output


# --- errors ---------------------------------------------------------------------------------------


def _is_error(fields: Fields) -> bool:
    """Whether a response with a good status is an error all the same, as from some gateways."""
    if fields.peek("choices"):
        return False
    return bool(fields.peek("error")) or fields.peek("object") == "error"


def _says_completion(fields: Fields) -> bool:
    """Whether it is a completion by its own word that has `null` for choices: all of the limit
    went into reasoning.
    """
    says_so = fields.peek("object") == _OBJECT or isinstance(fields.peek("usage"), dict)
    return "choices" in fields and bool(fields.peek("id")) and says_so


def _decode_error(fields: Fields, wire: WireResponse) -> ApiError:
    shape, error, message = _decode_shape(fields)
    word = code = param = None
    if error is not None:
        word, code, param = (_maybe(error, key) for key in ("type", "code", "param"))
        if error is not fields:
            fields.absorb(error)
    kind, usual = ERROR.get(code or "") or ERROR.get(word or "") or (None, None)
    status = usual if wire.ok else wire.status
    return ApiError(
        kind=error_kind(kind, status, message),
        message=message,
        status=status,
        raw=word,
        code=code,
        param=param,
        retry_after=wire.headers.get("retry-after"),
        request_id=wire.headers.get("x-request-id"),
        extras=with_variants(fields.rest(), {"shape": shape}),
    )


def _encode_error(error: ApiError, ctx: Context) -> WireResponse:
    word, code, usual = ERROR_FROM[error.kind]
    shape = variants_of(error.extras).get("shape")
    inner: Json = {"message": error.message}
    if shape is None:
        inner |= {"type": word, "param": error.param, "code": code or error.code}
    else:
        members = {"type": error.raw, "param": error.param, "code": error.code}
        inner |= {key: value for key, value in members.items() if value is not None}
    body = _SHAPES[shape or "nested"](inner)
    return WireResponse(
        status=reply_status(error, usual, NAME, ctx),
        headers=headers_of(error, "x-request-id"),
        body=merge(body, error.extras, NAME),
    )


_SHAPES: Final[dict[str, Callable[[Json], Json]]] = {
    "nested": lambda inner: {"error": inner},
    "flat": lambda inner: inner,
    "text": lambda inner: {"error": inner["message"]},
    "detail": lambda inner: {"detail": inner["message"]},
    "other": lambda _inner: {},
}
"""OpenAI's own shape, and those of vLLM before 0.10, Ollama, FastAPI, and anything else."""


def _decode_shape(fields: Fields) -> tuple[str, Fields | None, str]:
    """The shape of an error, the object that describes it if there is one, and its message."""
    error = fields.peek("error")
    if isinstance(error, dict) and type(error.get("message")) is str:
        inner = fields.fields("error")
        return "nested", inner, inner.text("message")
    if type(error) is str:
        return "text", None, fields.text("error")
    if type(fields.peek("message")) is str:
        return "flat", fields, fields.text("message")
    if type(fields.peek("detail")) is str:
        return "detail", None, fields.text("detail")
    detail = error or fields.peek("detail")
    return "other", None, jsontext.text(detail) if detail else ""


def _maybe(fields: Fields, key: str) -> Any:
    """A string, if it is one; compatible servers put numbers there."""
    return fields.text(key) if type(fields.peek(key)) is str else None
