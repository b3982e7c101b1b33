"""Requests of Anthropic Messages, both ways."""

from typing import Any, Final, cast

from toolglot.context import Context
from toolglot.ir import (
    Json,
    Message,
    OutputFormat,
    Part,
    ReasoningSettings,
    Request,
    Role,
    Text,
)
from toolglot.protocols.anthropic.parts import (
    content_form,
    decode_content,
    encode_content,
    plain_part,
)
from toolglot.protocols.anthropic.surface import (
    NAME,
    SERVICE_TIER,
    SERVICE_TIER_FROM,
    SETTINGS,
    SURFACE,
)
from toolglot.protocols.anthropic.tools import (
    decode_choice,
    decode_tools,
    encode_choice,
    encode_tools,
)
from toolglot.wire.fields import Fields, WireDocument, merge, read_settings, write_settings
from toolglot.wire.message import WireRequest

_THINKING: Final[dict[str, Json]] = {
    "enabled": {"enabled": True},
    "adaptive": {"enabled": True, "adaptive": True},
    "disabled": {"enabled": False},
}
_SCHEMA: Final = ("json_schema", dict)
_EARLIER: Final = "output_format"
"""Where structured output is asked for under the beta header of 2025-11-13; now it is
`output_config.format`
(https://platform.claude.com/docs/en/build-with-claude/structured-outputs, read 2026-11-16)."""


def decode_request(wire: WireRequest, ctx: Context) -> Request:
    """The interlingua of a request."""
    fields = Fields(wire.body, WireDocument(ctx, NAME, SURFACE.minor))
    model = fields.text("model")
    if fields.peek("messages") is None:
        fields.fail("messages", "expected array, but it is missing")
    values = fields.maybe_list("messages") or ()
    messages = tuple(
        _plain_message(value) or _decode_message(fields.element(value, "messages", index))
        for index, value in enumerate(values)
    )
    system = _decode_system(fields)
    tools = decode_tools(fields)
    choice, parallel = decode_choice(fields)
    reasoning, output = _decode_thinking(fields)
    return Request(
        model=model,
        messages=messages,
        system=system,
        tools=tools,
        tool_choice=choice,
        parallel_tool_calls=parallel,
        reasoning=reasoning,
        output=output,
        user=_decode_user(fields),
        service_tier=_decode_tier(fields),
        **read_settings(fields, SETTINGS),
        extras=fields.rest(),
    )


def encode_request(request: Request, ctx: Context) -> WireRequest:
    """The wire form of a request."""
    body: Json = {"model": request.model}
    write_settings(body, request, SETTINGS)
    if request.system is not None:
        body["system"] = encode_content(request.system.parts, request.system.wire_form, ctx)
    body["messages"] = [_encode_message(message, ctx) for message in request.messages]
    tools = encode_tools(request.tools, ctx)
    if tools:
        body["tools"] = tools
    encode_choice(body, request)
    _encode_thinking(body, request)
    if request.user is not None:
        body["metadata"] = {"user_id": request.user}
    if request.service_tier is not None:
        _encode_tier(body, request.service_tier, ctx)
    return WireRequest(body=merge(body, request.extras, NAME), path=SURFACE.path)


# --- messages -------------------------------------------------------------------------------------


def _plain_message(value: Any) -> Message | None:
    """A message of plain blocks with nothing else about it; None: it has to be read with care."""
    if type(value) is not dict or len(value) != 2:  # noqa: PLR2004 - role and content
        return None
    role, content = value.get("role"), value.get("content")
    if role not in ("user", "assistant", "system"):
        return None
    if type(content) is str:
        return Message(role=role, parts=(Text(text=content),))
    parts = tuple(map(plain_part, content)) if type(content) is list else (None,)
    if None in parts:
        return None
    found = cast("tuple[Part, ...]", parts)
    return Message(role=role, parts=found, wire_form=content_form(found))


def _decode_message(fields: Fields) -> Message:
    role = fields.text("role")
    if role not in ("user", "assistant", "system"):
        fields.fail("role", f"expected user, assistant or system, got {role!r}")
    if fields.peek("content") is None:
        fields.fail("content", "expected string or array, but it is missing")
    parts, wire_form = decode_content(fields, "content")
    return Message(role=cast("Role", role), parts=parts, wire_form=wire_form, extras=fields.rest())


def _encode_message(message: Message, ctx: Context) -> Json:
    role = "system" if message.role == "developer" else message.role
    wire: Json = {"role": role, "content": encode_content(message.parts, message.wire_form, ctx)}
    return merge(wire, message.extras, NAME)


def _decode_system(fields: Fields) -> Message | None:
    if fields.peek("system") is None:
        return None
    parts, wire_form = decode_content(fields, "system")
    return Message(role="system", parts=parts, wire_form=wire_form)


# --- thinking and structured output: `thinking` and `output_config` share one setting -------------


def _decode_thinking(fields: Fields) -> tuple[ReasoningSettings | None, OutputFormat | None]:
    settings: Json = {}
    thinking = fields.maybe_fields("thinking")
    if thinking is not None:
        settings = _decode_switch(thinking)
        fields.absorb(thinking)
    output = None
    config = fields.maybe_fields("output_config")
    if config is not None:
        settings["effort"] = config.maybe_text("effort")
        output = _decode_format(config, "format")
        fields.absorb(config)
    if output is None and fields.peek(_EARLIER) is not None:
        output = _decode_format(fields, _EARLIER)
    said = any(value is not None for value in settings.values())
    return ReasoningSettings(**settings) if said else None, output


def _decode_switch(thinking: Fields) -> Json:
    """What `thinking` says; a type unknown here, and what does not go with a type, stays there."""
    word = thinking.peek("type")
    if type(word) is not str or word not in _THINKING:
        return {}
    settings = _THINKING[word].copy()
    if word == "enabled":
        settings["budget"] = budget = thinking.maybe_int("budget_tokens")
        if budget is None:
            return {}
    if word != "disabled" and thinking.peek("display") in ("summarized", "omitted"):
        settings["show"] = thinking.text("display") == "summarized"
    thinking.take("type")
    return settings


def _encode_thinking(body: Json, request: Request) -> None:
    settings, output = request.reasoning, request.output
    config: Json = {}
    if settings is not None:
        if settings.enabled is not None:
            body["thinking"] = _thinking(settings)
        if settings.effort is not None:
            config["effort"] = settings.effort
    if output is not None and output.kind == "schema":
        wire: Json = {"type": "json_schema", "schema": output.schema}
        earlier = output.extras.get(_EARLIER)
        place, key = (config, "format") if earlier is None else (body, _EARLIER)
        place[key] = merge(wire, output.extras, NAME)
    if config:
        body["output_config"] = config


def _thinking(settings: ReasoningSettings) -> Json:
    if not settings.enabled:
        return {"type": "disabled"}
    wire: Json = {"type": "adaptive"}
    if not settings.adaptive and settings.budget is not None:
        wire = {"type": "enabled", "budget_tokens": settings.budget}
    if settings.show is not None:
        wire["display"] = "summarized" if settings.show else "omitted"
    return wire


def _decode_format(config: Fields, key: str) -> OutputFormat | None:
    value = config.peek(key)
    if type(value) is dict and (value.get("type"), type(value.get("schema"))) != _SCHEMA:
        return None
    wire = config.maybe_fields(key)
    if wire is None:
        return None
    wire.constant("type", "json_schema")
    schema, extras = wire.maybe_object("schema"), wire.rest()
    if key == _EARLIER:
        extras = {**extras, _EARLIER: {}}
    return OutputFormat(kind="schema", schema=schema, extras=extras)


# --- small ones -----------------------------------------------------------------------------------


def _decode_user(fields: Fields) -> str | None:
    metadata = fields.maybe_fields("metadata")
    if metadata is None:
        return None
    user = metadata.maybe_text("user_id")
    fields.absorb(metadata)
    return user


def _decode_tier(fields: Fields) -> str | None:
    tier = fields.peek("service_tier")
    if type(tier) is str and tier in SERVICE_TIER:
        return SERVICE_TIER[fields.text("service_tier")]
    return None


def _encode_tier(body: Json, tier: str, ctx: Context) -> None:
    if tier in SERVICE_TIER_FROM:
        body["service_tier"] = SERVICE_TIER_FROM[tier]
    else:
        ctx.note("field-dropped", ctx.setting("service_tier"), f"no service tier {tier!r} here")
