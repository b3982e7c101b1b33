"""Requests of Gemini, both ways."""

import re
from typing import Final
from urllib.parse import quote, unquote

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import Json, Message, Request, ToolCall, ToolResult
from toolglot.protocols.gemini._generation_config import decode_config, encode_config
from toolglot.protocols.gemini._variants import (
    CallIds,
    armour,
    key_normaliser,
    respelled,
    variants_of,
    with_variants,
)
from toolglot.protocols.gemini.parts import array, decode_parts, encode_part
from toolglot.protocols.gemini.surface import (
    NAME,
    SERVICE_TIER,
    SERVICE_TIER_FROM,
    SURFACE,
    UNSIGNED,
    VARIANTS,
)
from toolglot.protocols.gemini.tools import decode_choice, decode_tools, encode_choice, encode_tools
from toolglot.wire.fields import Fields, WireDocument, merge
from toolglot.wire.message import WireRequest

_PATH: Final = re.compile(r"/((?:models|tunedModels)/.+):(\w+)$")
_PREFIX: Final = "models/"
_STREAM: Final = "streamGenerateContent"
_ROLE: Final = {"user": "user", "model": "assistant"}
_OLD_ROLES: Final = frozenset({"function", "tool"})
_SIGNS_CALLS: Final = re.compile(r"gemini-(?![12][.-])")


def decode_request(wire: WireRequest, ctx: Context) -> Request:
    """The interlingua of a request."""
    fields = Fields(wire.body, WireDocument(ctx, NAME, SURFACE.minor, key_normaliser(ctx)))
    model, stream, variants = _decode_path(fields, wire.path)
    ids = CallIds(strict=True)
    messages = tuple(
        _decode_message(fields.element(content, "contents", index), ids)
        for index, content in enumerate(array(fields, "contents"))
    )
    system = _decode_system(fields, ids)
    if type(fields.peek("tools")) is dict:
        variants["tools_single"] = True
    declared = decode_tools(fields, single="tools_single" in variants)
    if declared.layout is not None:
        variants["tools"] = declared.layout
    request = Request(
        model=model,
        messages=messages,
        system=system,
        tools=declared.tools,
        tool_choice=decode_choice(fields),
        stream=stream,
        store=fields.maybe_bool("store"),
        service_tier=_decode_tier(fields),
        **decode_config(fields),
    )
    if ctx.spelled:
        variants["spelled"] = ctx.spelled.copy()
    extras = with_variants(fields.rest(), variants)
    return replace(request, extras=extras) if extras else request


def encode_request(request: Request, ctx: Context) -> WireRequest:
    """The wire form of a request."""
    variants = request.extras.get(VARIANTS, {})
    body: Json = {}
    if "model" in variants:
        body["model"] = _as_named(request.model, variants["model"])
    messages = _signed(_named(request.messages), request.model, ctx)
    if messages:
        body["contents"] = [_encode_message(message, ctx) for message in messages]
    if request.system is not None:
        body["systemInstruction"] = system = _encode_content(request.system, ctx)
        if "single" in variants_of(request.system) and len(system.get("parts", ())) == 1:
            system["parts"] = system["parts"][0]
    tools = encode_tools(request.tools, variants.get("tools"), ctx)
    if tools:
        body["tools"] = tools[0] if "tools_single" in variants and len(tools) == 1 else tools
    if request.tool_choice is not None:
        body["toolConfig"] = {"functionCallingConfig": encode_choice(request.tool_choice)}
    config = encode_config(request, ctx)
    if config:
        body["generationConfig"] = config
    if request.store is not None:
        body["store"] = request.store
    if request.service_tier is not None:
        _encode_tier(body, request.service_tier, ctx)
    body = merge(body, request.extras, NAME)
    return WireRequest(
        body=respelled(body, variants.get("spelled")),
        path=_encode_path(request),
        query={"alt": "sse"} if request.stream else {},
    )


# --- the path: model and streaming ----------------------------------------------------------------


def _decode_path(fields: Fields, path: str) -> tuple[str, bool | None, Json]:
    """Model, streaming, and how a body named the model where the path does not have it."""
    match = _PATH.search(path.partition("?")[0])
    if match is None:
        named = fields.text("model")
        return named.removeprefix(_PREFIX), None, {"model": named}
    return unquote(match[1]).removeprefix(_PREFIX), match[2] == _STREAM, {}


def _encode_path(request: Request) -> str:
    model = request.model if request.model.startswith("tunedModels/") else _PREFIX + request.model
    return f"/v1beta/{quote(model, safe='/:@')}:{_STREAM if request.stream else 'generateContent'}"


def _as_named(model: str, before: str) -> str:
    return _PREFIX + model if before.startswith(_PREFIX) else model


# --- messages -------------------------------------------------------------------------------------


def _decode_message(fields: Fields, ids: CallIds) -> Message:
    word = fields.maybe_text("role")
    role = "user" if word is None else _ROLE.get(word)
    if role is None and word in _OLD_ROLES:
        fields.note("legacy-upgraded", "role", f"role {word} is now user")
        role = "user"
    if role is None:
        fields.fail("role", f"expected user or model, got {word!r}")
    return Message(
        role="assistant" if role == "assistant" else "user",
        parts=decode_parts(fields, "parts", ids),
        wire_form=NAME if word is None else "",
        extras=fields.rest(),
    )


def _encode_message(message: Message, ctx: Context) -> Json:
    """One content. One whose role was left out has it left out again."""
    wire = _encode_content(message, ctx)
    if message.role in ("system", "developer"):
        ctx.note("role-changed", ctx.where_turn(message), f"there is no {message.role} role")
    if message.wire_form != NAME:
        wire["role"] = "model" if message.role == "assistant" else "user"
    return wire


def _encode_content(message: Message, ctx: Context) -> Json:
    # State given back to its issuer must be as it was; only other state needs to look like base64.
    restored = ctx.foreign(NAME)
    parts = []
    for part in message.parts:
        wire = encode_part(part, ctx)
        if wire is not None:
            parts.append(wire if restored else armour(wire, part))
    return merge({"parts": parts} if parts else {}, message.extras, NAME)


def _decode_system(fields: Fields, ids: CallIds) -> Message | None:
    value = fields.peek("systemInstruction")
    if value is None or value == {}:
        return None
    if type(value) is str:
        fields.take("systemInstruction")
        fields.note("spelling-normalised", "systemInstruction", "a string is written as a content")
        slot = Fields({"parts": [{"text": value}]}, fields.document, fields, "systemInstruction")
    else:
        slot = fields.fields("systemInstruction")
    single = type(slot.peek("parts")) is dict
    parts, extras = decode_parts(slot, "parts", ids), slot.rest()
    if single:
        extras = with_variants(extras, {"single": True})
    return Message(role="system", parts=parts, extras=extras)


# --- what the target insists on -------------------------------------------------------------------


def _named(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Results that say the name of their tool."""
    unnamed = [
        index
        for index, message in enumerate(messages)
        if any(isinstance(part, ToolResult) and part.name is None for part in message.parts)
    ]
    if not unnamed:
        return messages
    names: dict[str, str] = {}
    changed = list(messages)
    for index, message in enumerate(messages):
        names.update({part.id: part.name for part in message.parts if isinstance(part, ToolCall)})
        if index in unnamed:
            parts = tuple(
                replace(part, name=names.get(part.id, "unknown"))
                if isinstance(part, ToolResult) and part.name is None
                else part
                for part in message.parts
            )
            changed[index] = replace(message, parts=parts)
    return tuple(changed)


def _signed(messages: tuple[Message, ...], model: str, ctx: Context) -> tuple[Message, ...]:
    """Calls of other models, with the word that Gemini 3 and later take for their signature.

    Each model turn needs one, on its first call. Without it the request is refused.
    """
    stand_in = ctx.target.reasoning.stand_in.get("data") if ctx.target else None
    if stand_in is None and (not ctx.foreign(NAME) or _SIGNS_CALLS.match(model) is None):
        return messages
    changed = list(messages)
    for index, message in enumerate(messages):
        calls = [place for place, part in enumerate(message.parts) if isinstance(part, ToolCall)]
        if not calls or any(getattr(part, "signature", None) for part in message.parts):
            continue
        parts = list(message.parts)
        parts[calls[0]] = replace(parts[calls[0]], signature=str(stand_in or UNSIGNED))
        changed[index] = replace(message, parts=tuple(parts))
        where = ctx.where(message.parts[calls[0]])
        ctx.note("default-added", where, "the call is not this model's: it is marked so")
    return tuple(changed)


# --- small ones -----------------------------------------------------------------------------------


def _decode_tier(fields: Fields) -> str | None:
    word = fields.peek("serviceTier")
    if type(word) is str and word in SERVICE_TIER:
        return SERVICE_TIER[fields.text("serviceTier")]
    return None


def _encode_tier(body: Json, tier: str, ctx: Context) -> None:
    if tier in SERVICE_TIER_FROM:
        body["serviceTier"] = SERVICE_TIER_FROM[tier]
    else:
        ctx.note("field-dropped", ctx.setting("service_tier"), f"no service tier {tier!r} here")
