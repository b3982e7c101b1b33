"""Requests of OpenAI Responses, both ways."""

from typing import Any, Final, cast

from toolglot.context import Context
from toolglot.ir import (
    Extras,
    Json,
    Message,
    OutputFormat,
    Reasoning,
    ReasoningSettings,
    Request,
    Text,
)
from toolglot.protocols.openai_responses._items import decode_item, encode_items
from toolglot.protocols.openai_responses.parts import is_bare, kept
from toolglot.protocols.openai_responses.surface import NAME, SERVICE_TIERS, SETTINGS, SURFACE
from toolglot.protocols.openai_responses.tools import (
    decode_choice,
    decode_tools,
    encode_choice,
    encode_tools,
    takes_additional,
    with_additional,
)
from toolglot.wire.fields import Fields, WireDocument, merge, read_settings, write_settings
from toolglot.wire.message import WireRequest
from toolglot.wire.parts import cannot_carry

_FORMAT: Final = {"text": "text", "json_object": "json", "json_schema": "schema"}
_FORMAT_FROM: Final = {kind: word for word, kind in _FORMAT.items()}

_LOGPROBS: Final = "message.output_text.logprobs"
_STATE: Final = "reasoning.encrypted_content"
_INCLUDE: Final = frozenset({"include"})


def decode_request(wire: WireRequest, ctx: Context) -> Request:
    """The interlingua of a request."""
    fields = Fields(wire.body, WireDocument(ctx, NAME, SURFACE.minor))
    model = fields.text("model") if fields.peek("model") else ""
    messages, wire_form = _decode_input(fields)
    tools = decode_tools(fields)
    if ctx.target is not None and not takes_additional(ctx.target):
        messages, tools = with_additional(messages, tools, fields)
    output, verbosity = _decode_text(fields)
    logprobs, include = _decode_include(fields)
    return Request(
        model=model,
        messages=messages,
        system=_decode_system(fields),
        tools=tools,
        tool_choice=decode_choice(fields, tools),
        reasoning=_decode_reasoning(fields),
        output=output,
        verbosity=verbosity,
        logprobs=logprobs,
        service_tier=_decode_tier(fields),
        **read_settings(fields, SETTINGS),
        wire_form=wire_form,
        extras=_with(fields.rest(), include),
    )


def encode_request(request: Request, ctx: Context) -> WireRequest:
    """The wire form of a request."""
    body: Json = {"model": request.model} if request.model else {}
    write_settings(body, request, SETTINGS)
    if request.system is not None:
        _encode_system(body, request.system, ctx)
    _encode_input(body, request, ctx)
    tools = encode_tools(request.tools, ctx)
    if tools:
        body["tools"] = tools
    if request.tool_choice is not None:
        body["tool_choice"] = encode_choice(request, request.tool_choice)
    if request.reasoning is not None:
        _encode_reasoning(body, request.reasoning, ctx)
    _encode_text(body, request)
    if request.service_tier is not None:
        _encode_tier(body, request.service_tier, ctx)
    _encode_include(body, request, ctx)
    if request.store is None and ctx.foreign(NAME):
        # Only here are answers stored unless one says otherwise.
        ctx.note("default-added", "store", "the answer is not stored")
        body["store"] = False
    return WireRequest(body=merge(body, request.extras, NAME), path=SURFACE.path)


def _with(extras: Extras, more: Json) -> Extras:
    return {NAME: {**extras.get(NAME, {}), **more}} if more else extras


# --- messages ------------------------------------------------------------------------------------


def _decode_input(fields: Fields) -> tuple[tuple[Message, ...], str]:
    """The messages, and the wire form: this protocol's name for one bare string."""
    given = fields.peek("input")
    if type(given) is str:
        fields.take("input")
        return (Message(role="user", parts=(Text(text=given),)),), NAME
    if given is not None and type(given) is not list:
        fields.fail("input", "expected string or array")
    return tuple(map(decode_item, fields.each("input"))), ""


def _encode_input(body: Json, request: Request, ctx: Context) -> None:
    messages = request.messages
    if request.wire_form == NAME and len(messages) == 1 and _is_plain(messages[0]):
        body["input"] = cast("Text", messages[0].parts[0]).text
        return
    items: list[Json] = []
    for message in messages:
        items.extend(encode_items(message, ctx))
    if items or ctx.foreign(NAME):
        body["input"] = items


def _is_plain(message: Message) -> bool:
    return (
        message.role == "user"
        and not (message.wire_form or message.extras)
        and is_bare(message.parts)
    )


def _decode_system(fields: Fields) -> Message | None:
    if isinstance(fields.peek("instructions"), list):
        return None
    text = fields.maybe_text("instructions")
    return None if text is None else Message(role="system", parts=(Text(text=text),))


def _encode_system(body: Json, system: Message, ctx: Context) -> None:
    texts = [part.text for part in system.parts if isinstance(part, Text)]
    for part in system.parts:
        if not isinstance(part, Text):
            cannot_carry(part, ctx)
    if len(texts) > 1:
        ctx.note("text-joined", ctx.where_system(system), f"{len(texts)} texts joined into one")
    if texts:
        body["instructions"] = "\n\n".join(texts)


# --- reasoning -----------------------------------------------------------------------------------


def _decode_reasoning(fields: Fields) -> ReasoningSettings | None:
    wire = fields.maybe_fields("reasoning")
    if wire is None:
        return None
    effort, summary = wire.maybe_text("effort"), wire.maybe_text("summary")
    fields.absorb(wire)
    if effort is None and summary is None:
        return None
    return ReasoningSettings(
        enabled=False if effort == "none" else None, effort=effort, summary=summary
    )


def _encode_reasoning(body: Json, settings: ReasoningSettings, ctx: Context) -> None:
    wire: Json = {}
    effort = settings.effort
    if effort is None and settings.enabled is not None:
        effort = "medium" if settings.enabled else "none"
        ctx.note("value-mapped", ctx.setting("reasoning"), f"becomes effort {effort}", "info")
    if effort is not None:
        wire["effort"] = effort
    if settings.summary is not None:
        wire["summary"] = settings.summary
    if wire:
        body["reasoning"] = wire


# --- text: structured output and verbosity -------------------------------------------------------


def _decode_text(fields: Fields) -> tuple[OutputFormat | None, str | None]:
    text = fields.maybe_fields("text")
    if text is None:
        return None, None
    output, verbosity = _decode_format(text), text.maybe_text("verbosity")
    fields.absorb(text)
    return output, verbosity


def _encode_text(body: Json, request: Request) -> None:
    text: Json = {}
    if request.output is not None:
        text["format"] = _encode_format(request.output)
    if request.verbosity is not None:
        text["verbosity"] = request.verbosity
    if text:
        body["text"] = text


def _decode_format(text: Fields) -> OutputFormat | None:
    given = text.peek("format")
    word = given.get("type") if isinstance(given, dict) else given
    if not isinstance(word, str) or word not in _FORMAT or given is word:
        if given is not None and not isinstance(given, dict):
            text.fail("format", "expected object")
        return None
    wire = text.fields("format")
    wire.constant("type", word)
    if word != "json_schema":
        return OutputFormat(kind=cast("Any", _FORMAT[word]), extras=wire.rest())
    return OutputFormat(
        kind="schema",
        schema=wire.maybe_object("schema"),
        name=wire.maybe_text("name"),
        description=wire.maybe_text("description"),
        strict=wire.maybe_bool("strict"),
        extras=kept(wire),
    )


def _encode_format(output: OutputFormat) -> Json:
    wire: Json = {"type": _FORMAT_FROM[output.kind]}
    if output.kind == "schema":
        if output.name is not None or NAME not in output.extras:
            wire["name"] = output.name or "response"
        for key, value in (
            ("description", output.description),
            ("schema", output.schema),
            ("strict", output.strict),
        ):
            if value is not None:
                wire[key] = value
    return merge(wire, output.extras, NAME)


# --- small ones ----------------------------------------------------------------------------------


def _decode_tier(fields: Fields) -> str | None:
    tier = fields.peek("service_tier")
    return fields.text("service_tier") if isinstance(tier, str) and tier in SERVICE_TIERS else None


def _encode_tier(body: Json, tier: str, ctx: Context) -> None:
    if tier in SERVICE_TIERS:
        body["service_tier"] = tier
    else:
        ctx.note("field-dropped", ctx.setting("service_tier"), f"no service tier {tier!r} here")


def _decode_include(fields: Fields) -> tuple[bool | None, Json]:
    """Whether probabilities are asked for, and a list in which everything was understood."""
    include = fields.peek("include")
    if not isinstance(include, list) or not include:
        return None, {}
    logprobs = True if _LOGPROBS in include else None
    if any(each not in (_LOGPROBS, _STATE) for each in include):
        return logprobs, {}
    fields.take("include")
    if _STATE in include:
        # State is carried in any case.
        fields.document.ctx.leave(fields, _INCLUDE, {"include": include})
    return logprobs, {"include": include}


def _encode_include(body: Json, request: Request, ctx: Context) -> None:
    if "include" in request.extras.get(NAME, {}):
        return
    include = [_LOGPROBS] if request.logprobs else []
    if ctx.foreign(NAME) and _reasons(request):
        # Without it the state of reasoning stays on the server, where a stateless client has none.
        include.append(_STATE)
    if include:
        body["include"] = include


def _reasons(request: Request) -> bool:
    settings = request.reasoning
    if settings is not None:
        return settings.enabled is not False and settings.effort != "none"
    return any(
        isinstance(part, Reasoning) for message in request.messages for part in message.parts
    )
