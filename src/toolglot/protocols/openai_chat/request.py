"""Requests of OpenAI Chat Completions, both ways."""

import re
from collections.abc import Iterator
from typing import Final, cast
from urllib.parse import unquote

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import (
    CacheMark,
    Json,
    Message,
    OutputFormat,
    Part,
    Request,
    Role,
    Text,
    ToolResult,
)
from toolglot.protocols.openai_chat._legacy import LEGACY, encode_legacy, is_legacy
from toolglot.protocols.openai_chat._message import (
    Calls,
    decode_assistant,
    encode_annotations,
    encode_assistant,
)
from toolglot.protocols.openai_chat._thinking import decode_thinking, encode_thinking
from toolglot.protocols.openai_chat.parts import (
    decode_content,
    encode_content,
    encode_parts,
    is_plain,
)
from toolglot.protocols.openai_chat.surface import (
    NAME,
    SETTINGS,
    SURFACE,
    VARIANTS,
    decode_tier,
    variants_of,
    with_variants,
)
from toolglot.protocols.openai_chat.tools import (
    decode_choice,
    decode_tools,
    encode_choice,
    encode_tools,
)
from toolglot.wire.fields import Fields, WireDocument, merge, read_settings, write_settings
from toolglot.wire.message import WireRequest
from toolglot.wire.parts import cannot_carry, joined_text, mark_error, unmark_error

_ROLES: Final = ("system", "developer", "user", "assistant", "tool", "function")


def decode_request(wire: WireRequest, ctx: Context) -> Request:
    """The interlingua of a request."""
    fields = Fields(wire.body, WireDocument(ctx, NAME, SURFACE.minor))
    model, variants = _decode_model(fields, wire.path)
    if fields.peek("messages") is None:
        fields.fail("messages", "expected array, but it is missing")
    calls = Calls()
    messages = tuple(_decode_message(each, calls) for each in fields.each("messages"))
    settings = _decode_variants(fields, variants)
    reasoning, spelled = decode_thinking(fields)
    if spelled:
        variants["reasoning"] = spelled
    return Request(
        model=model,
        answer_form=LEGACY if is_legacy(fields) else "",
        messages=messages,
        tools=decode_tools(fields),
        tool_choice=decode_choice(fields),
        reasoning=reasoning,
        output=_decode_format(fields),
        include_usage=_decode_include_usage(fields),
        service_tier=decode_tier(fields),
        **settings,
        **read_settings(fields, SETTINGS),
        extras=with_variants(fields.rest(), variants),
    )


def encode_request(request: Request, ctx: Context) -> WireRequest:
    """The wire form of a request."""
    own = VARIANTS in request.extras
    body: Json = {}
    if variants_of(request.extras).get("deployment") != request.model:
        body["model"] = request.model
    messages: list[Json] = []
    if request.system is not None:
        messages += _encode_message(request.system, ctx, own=own)
    for message in request.messages:
        plain = _plain_message(message)
        if plain is not None:
            messages.append(plain)
        else:
            messages += _encode_message(message, ctx, own=own)
    body["messages"] = messages
    body |= encode_tools(request.tools, ctx)
    if request.tool_choice is not None:
        body["tool_choice"] = encode_choice(request.tool_choice, ctx)
    write_settings(body, request, SETTINGS)
    _encode_variants(body, request, ctx)
    encode_thinking(body, request.reasoning, variants_of(request.extras).get("reasoning", {}), ctx)
    if request.output is not None:
        body["response_format"] = _encode_format(request.output)
    _encode_include_usage(body, request, ctx, own=own)
    if request.service_tier is not None:
        body["service_tier"] = request.service_tier
    body = merge(body, request.extras, NAME)
    _drop_other_limits(body, ctx)
    if ctx.options.legacy_functions:
        body = encode_legacy(body, ctx)
    return WireRequest(body=body, path=SURFACE.path)


_DEPLOYMENT: Final = re.compile(r"/deployments/([^/]+)/chat/completions$")
"""Where Azure keeps the model:
https://learn.microsoft.com/azure/ai-foundry/openai/reference (read 2026-11-16)."""


def _decode_model(fields: Fields, path: str) -> tuple[str, Json]:
    """The model, and the variants of a request that leaves it to the path."""
    match = None if fields.peek("model") else _DEPLOYMENT.search(path.partition("?")[0])
    if match is None:
        return fields.text("model"), {}
    name = unquote(match[1])
    return name, {"deployment": name}


# --- messages -------------------------------------------------------------------------------------


def _decode_message(fields: Fields, calls: Calls) -> Message:
    role = fields.text("role")
    if role == "assistant":
        return _decode_assistant(fields, calls)
    if role not in _ROLES:
        fields.fail("role", f"expected one of {', '.join(_ROLES)}, got {role!r}")
    if role in ("tool", "function"):
        result = _decode_result(fields, calls, legacy=role == "function")
        return Message(role="user", parts=(result,))
    parts, listed = decode_content(fields)
    bare = not parts or (len(parts) == 1 and is_plain(parts[0]))
    return Message(
        role=cast("Role", role),
        parts=parts,
        name=fields.maybe_text("name"),
        wire_form=NAME if listed and bare else "",
        extras=fields.rest(),
    )


def _plain_message(message: Message) -> Json | None:
    """A text and nothing else, or the result of a call that is one; None: all others."""
    parts = message.parts
    if len(parts) != 1 or message.role == "assistant" or message.name is not None or message.extras:
        return None
    part = parts[0]
    if type(part) is Text:
        plain = part.cache is None and not part.extras and message.wire_form != NAME
        return {"role": message.role, "content": part.text} if plain else None
    if type(part) is not ToolResult or part.name is not None or part.is_error:
        return None
    if part.cache or part.extras or len(part.parts) != 1 or part.wire_form == NAME:
        return None
    text = part.parts[0]
    if type(text) is not Text or text.cache is not None:
        return None
    return {"role": "tool", "tool_call_id": part.id, "content": text.text}


def _encode_message(message: Message, ctx: Context, *, own: bool) -> Iterator[Json]:
    """One message; its tool results are messages of their own and come first."""
    if message.role == "assistant":
        yield _encode_assistant(message, ctx, own=own)
        return
    parts = message.parts
    results = [part for part in parts if isinstance(part, ToolResult)]
    if results:
        for result in results:
            yield _encode_result(result, ctx, own=own)
        parts = tuple(part for part in parts if not isinstance(part, ToolResult))
        if not parts:
            return
    wire: Json = {"role": message.role}
    if parts or message.wire_form == NAME:
        wire["content"] = encode_content(parts, message.wire_form, ctx)
    elif not own:
        wire["content"] = ""
    if message.name is not None:
        wire["name"] = message.name
    yield merge(wire, message.extras, NAME)


def _decode_assistant(fields: Fields, calls: Calls) -> Message:
    parts, wire_form, variants = decode_assistant(fields, calls)
    name, extras = fields.maybe_text("name"), fields.rest()
    return Message(
        role="assistant",
        parts=parts,
        name=name,
        wire_form=wire_form,
        extras=with_variants(extras, variants) if variants else extras,
    )


def _encode_assistant(message: Message, ctx: Context, *, own: bool) -> Json:
    parts = message.parts
    for part in parts:
        if isinstance(part, ToolResult):
            cannot_carry(part, ctx)
    kept = tuple(part for part in parts if not isinstance(part, ToolResult))
    variants = variants_of(message.extras)
    member = ctx.target.reasoning.member if ctx.target else ""
    wire = encode_assistant(kept, message.wire_form, variants, ctx, own=own, member=member)
    encode_annotations(wire, kept, ctx)
    if message.name is not None:
        wire["name"] = message.name
    return merge(wire, message.extras, NAME)


# --- tool results: messages of their own, of text -------------------------------------------------


def _decode_result(fields: Fields, calls: Calls, *, legacy: bool) -> ToolResult:
    name = fields.maybe_text("name")
    call_id = None if legacy else fields.maybe_text("tool_call_id")
    made = not call_id
    if not call_id:
        code = "legacy-upgraded" if legacy else "id-made"
        call_id = calls.answered(name)
        fields.note(code, "", f"the result belongs to the call {call_id}")
    parts, listed = decode_content(fields)
    parts, failed = _unmarked(parts)
    return ToolResult(
        id=call_id,
        parts=parts,
        name=name,
        is_error=True if failed else None,
        kind="custom" if call_id in calls.customs else "function",
        id_made=made,
        wire_form=NAME if listed else "",
        extras=fields.rest(),
    )


def _encode_result(part: ToolResult, ctx: Context, *, own: bool) -> Json:
    wire: Json = {"role": "tool", "tool_call_id": part.id}
    if part.name is not None and own:
        wire["name"] = part.name
    if part.is_error and not own:
        ctx.note("error-marked", ctx.where(part), "a mark opens the text of the failed result")
    if part.wire_form == NAME:
        wire["content"] = encode_parts(_marked(part.parts) if part.is_error else part.parts, ctx)
    elif part.parts or part.is_error or "content" not in part.extras.get(NAME, ()):
        text = _joined(part, ctx)
        text = mark_error(text) if part.is_error else text
        wire["content"] = encode_content((Text(text=text, cache=_cache_of(part, ctx)),), "", ctx)
    return merge(wire, part.extras, NAME)


def _cache_of(part: ToolResult, ctx: Context) -> CacheMark | None:
    """The mark of a result, or the last one inside it, for its one text."""
    marks = [mark for inner in part.parts if (mark := getattr(inner, "cache", None)) is not None]
    mark = part.cache or (marks[-1] if marks else None)
    if mark is not None and not joined_text(part.parts).strip():
        ctx.note("cache-dropped", ctx.where(part), "an empty text takes no mark")
        return None
    return mark


def _joined(part: ToolResult, ctx: Context) -> str:
    """One text, since most compatible servers take no other result."""
    texts = 0
    for inner in part.parts:
        if isinstance(inner, Text):
            texts += 1
        else:
            cannot_carry(inner, ctx)
    if texts > 1:
        ctx.note("text-joined", ctx.where(part), f"{texts} texts of the result joined into one")
    return joined_text(part.parts)


def _unmarked(parts: tuple[Part, ...]) -> tuple[tuple[Part, ...], bool]:
    first = parts[0] if parts else None
    if not isinstance(first, Text):
        return parts, False
    text, marked = unmark_error(first.text)
    return ((replace(first, text=text), *parts[1:]), True) if marked else (parts, False)


def _marked(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    first = parts[0] if parts else None
    if not isinstance(first, Text):
        return (Text(text=mark_error("")), *parts)
    return (replace(first, text=mark_error(first.text)), *parts[1:])


# --- structured output ----------------------------------------------------------------------------


_FORMATS: Final = {"text": "text", "json_object": "json", "json_schema": "schema"}
_FORMATS_FROM: Final = {kind: word for word, kind in _FORMATS.items()}


def _decode_format(fields: Fields) -> OutputFormat | None:
    value = fields.peek("response_format")
    if value is None:
        return None
    if not isinstance(value, dict):
        fields.fail("response_format", "expected object")
    word = value.get("type")
    if type(word) is not str or word not in _FORMATS:
        return None
    if word == "json_schema" and not isinstance(value.get(word), dict):
        return None
    wire = fields.fields("response_format")
    wire.constant("type", word)
    if word != "json_schema":
        return OutputFormat(kind="text" if word == "text" else "json", extras=wire.rest())
    schema = wire.fields("json_schema")
    output = OutputFormat(
        kind="schema",
        name=schema.maybe_text("name"),
        description=schema.maybe_text("description"),
        schema=schema.maybe_object("schema"),
        strict=schema.maybe_bool("strict"),
    )
    wire.absorb(schema)
    extras = wire.rest()
    return replace(output, extras=extras) if extras else output


def _encode_format(output: OutputFormat) -> Json:
    wire: Json = {"type": _FORMATS_FROM[output.kind]}
    if output.kind == "schema":
        wire["json_schema"] = schema = {}
        for key in ("name", "description", "schema", "strict"):
            value = getattr(output, key)
            if value is not None:
                schema[key] = value
    return merge(wire, output.extras, NAME)


# --- small ones -----------------------------------------------------------------------------------


def _decode_variants(fields: Fields, variants: Json) -> Json:
    """The settings that have two wire forms."""
    settings: Json = {}
    for key in SURFACE.limits.spellings:
        limit = fields.maybe_int(key)
        if limit is not None:
            settings["max_tokens"] = limit
            if key != "max_tokens":
                variants["max_tokens"] = key
            break
    if type(fields.peek("random_seed")) is int and fields.peek("seed") is None:
        settings["seed"], variants["seed"] = fields.maybe_int("random_seed"), "random_seed"
        ctx = fields.document.ctx
        ctx.setting_paths = {**ctx.setting_paths, "seed": "random_seed"}
    if type(fields.peek("stop")) is str:
        settings["stop"] = (fields.text("stop"),)
        variants["stop"] = "text"
    return settings


def _encode_variants(body: Json, request: Request, ctx: Context) -> None:
    variants = variants_of(request.extras)
    if request.max_tokens is not None:
        spelled = variants.get("max_tokens", "max_tokens")
        key = (ctx.target.limits.name if ctx.target else None) or spelled
        if key != spelled and VARIANTS in request.extras:
            ctx.note("spelling-normalised", spelled, f"the model knows {key} only")
        body[key] = request.max_tokens
    if request.seed is not None:
        known = ctx.target.sampling.renamed.get("seed") if ctx.target else None
        key = known or variants.get("seed", "seed")
        if key != "seed":
            body[key] = body.pop("seed")
    if variants.get("stop") == "text" and request.stop is not None and len(request.stop) == 1:
        body["stop"] = request.stop[0]


def _drop_other_limits(body: Json, ctx: Context) -> None:
    """Of a limit that was given under both of its names, the one that the model knows."""
    known = ctx.target.limits.name if ctx.target else None
    for key in SURFACE.limits.spellings if known in body else ():
        if key != known and body.pop(key, None) is not None:
            ctx.note("field-dropped", key, f"the model knows {known} only", "info")


def _decode_include_usage(fields: Fields) -> bool | None:
    options = fields.maybe_fields("stream_options")
    if options is None:
        return None
    wanted = options.maybe_bool("include_usage")
    fields.absorb(options)
    return wanted


def _encode_include_usage(body: Json, request: Request, ctx: Context, *, own: bool) -> None:
    wanted = request.include_usage
    if wanted is None and request.stream and not own:
        # Elsewhere a stream always tells its usage; here it must be asked for.
        wanted = True
        ctx.note(
            "default-added", "stream_options.include_usage", "the stream is asked for its usage"
        )
    if wanted is not None:
        body["stream_options"] = {"include_usage": wanted}
