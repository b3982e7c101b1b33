"""Requests of Gemini Interactions, both ways."""

import re
from typing import Any, Final

from toolglot.context import Context
from toolglot.ir import Json, Message, OutputFormat, ReasoningSettings, Request, Text
from toolglot.protocols.gemini_interactions._steps import are_steps, decode_step, encode_steps
from toolglot.protocols.gemini_interactions.parts import (
    decode_content,
    encode_content,
    variants_of,
    with_variants,
)
from toolglot.protocols.gemini_interactions.surface import (
    CONFIG,
    NAME,
    SERVICE_TIER,
    SERVICE_TIER_FROM,
    SETTINGS,
    SURFACE,
)
from toolglot.protocols.gemini_interactions.tools import (
    decode_choice,
    decode_tools,
    encode_choice,
    encode_tools,
)
from toolglot.source_paths import Places, places_of_messages
from toolglot.wire.fields import Fields, WireDocument, merge, read_settings, write_settings
from toolglot.wire.message import WireRequest
from toolglot.wire.parts import cannot_carry

_TEXT: Final = NAME
_CONTENTS: Final = f"{NAME} contents"
_CONTENT: Final = f"{NAME} content"
_STEP: Final = f"{NAME} step"
"""Forms of the input that are one message: a string, a list of contents, a content and a step."""

_JSON: Final = "application/json"
_PLAIN: Final = "text/plain"
_OTHER_FORMATS: Final = ("image", "audio", "video")


def decode_request(wire: WireRequest, ctx: Context) -> Request:
    """The interlingua of a request."""
    fields = Fields(wire.body, WireDocument(ctx, NAME, SURFACE.minor))
    model, variants = _decode_model(fields)
    messages, wire_form = _decode_input(fields)
    if wire_form and ctx.source is not None:
        ctx.places = _places(messages, wire_form)
    tools = decode_tools(fields)
    config = fields.maybe_fields("generation_config")
    settings: Json = {}
    if config is not None:
        settings = read_settings(config, CONFIG)
        settings["reasoning"] = _decode_thinking(config)
        settings["tool_choice"] = decode_choice(config)
        fields.absorb(config)
    return Request(
        model=model,
        messages=messages,
        system=_decode_system(fields),
        tools=tools,
        output=_decode_output(fields),
        metadata=_decode_labels(fields),
        service_tier=_decode_tier(fields),
        **read_settings(fields, SETTINGS),
        **settings,
        wire_form=wire_form,
        extras=with_variants(fields.rest(), variants),
    )


def encode_request(request: Request, ctx: Context) -> WireRequest:
    """The wire form of a request."""
    key = "agent" if "agent" in variants_of(request) and not ctx.foreign(NAME) else "model"
    body: Json = {key: request.model} if request.model else {}
    _encode_input(body, request, ctx)
    if request.system is not None:
        _encode_system(body, request.system, ctx)
    tools = encode_tools(request.tools, ctx)
    if tools:
        body["tools"] = tools
    config: Json = {}
    write_settings(config, request, CONFIG)
    if request.reasoning is not None:
        _encode_thinking(config, request.reasoning, ctx)
    if request.tool_choice is not None:
        config["tool_choice"] = encode_choice(request.tool_choice)
    if config:
        body["generation_config"] = config
    if request.output is not None:
        _encode_output(body, request.output)
    if request.metadata is not None:
        _encode_labels(body, request.metadata, ctx)
    if request.service_tier is not None:
        _encode_tier(body, request.service_tier, ctx)
    write_settings(body, request, SETTINGS)
    if request.store is None and ctx.foreign(NAME):
        ctx.note("default-added", "store", "the answer is not stored")
        body["store"] = False
    return WireRequest(body=merge(body, request.extras, NAME), path=SURFACE.path)


def _decode_model(fields: Fields) -> tuple[str, Json]:
    """The model, or the agent that is asked in its place, and which of the two it is."""
    if fields.peek("model"):
        return fields.text("model"), {}
    if not fields.peek("agent"):
        return "", {}
    if not fields.document.ctx.in_protocol:
        fields.note("value-mapped", "agent", "an agent is asked for as a model")
    return fields.text("agent"), {"agent": True}


# --- messages -------------------------------------------------------------------------------------


def _decode_input(fields: Fields) -> tuple[tuple[Message, ...], str]:
    """The messages, and which of several forms the input had."""
    given = fields.peek("input")
    if type(given) is str:
        return (_user((Text(text=fields.text("input")),)),), _TEXT
    if isinstance(given, dict):
        if not given:
            fields.fail("input.type", "expected string, but it is missing")
        if are_steps([given]):
            return (decode_step(fields.fields("input")),), _STEP
        value = fields.take("input")
        return (_user(decode_content((value,), fields, "input")),), _CONTENT
    if given is not None and type(given) is not list:
        fields.fail("input", "expected string, object or array")
    if given and not are_steps(given):
        return (_user(decode_content(fields.take("input"), fields, "input")),), _CONTENTS
    return tuple(map(decode_step, fields.each("input"))), ""


def _places(messages: tuple[Message, ...], wire_form: str) -> Places:
    """Where the contents of an input stand that is one message."""
    places = places_of_messages(SURFACE, messages)
    listed = wire_form == _CONTENTS
    for index, part in enumerate(messages[0].parts if wire_form != _STEP else ()):
        places.move(part, f"input[{index}]" if listed else "input")
    return places


def _user(parts: tuple[Any, ...]) -> Message:
    return Message(role="user", parts=parts)


def _encode_input(body: Json, request: Request, ctx: Context) -> None:
    messages = request.messages
    if request.wire_form and len(messages) == 1 and not ctx.foreign(NAME):
        single = _single(messages[0], request.wire_form, ctx)
        if single is not None:
            body["input"] = single
            return
    steps: list[Json] = []
    for message in messages:
        steps.extend(encode_steps(message, ctx))
    if steps or ctx.foreign(NAME):
        body["input"] = steps


def _single(message: Message, wire_form: str, ctx: Context) -> Any:
    """What stood for the whole input, as it was; None: it has become more than that."""
    if wire_form == _STEP:
        steps = [*encode_steps(message, ctx)]
        return steps[0] if len(steps) == 1 else None
    contents = encode_content(message.parts, ctx)
    if wire_form == _CONTENTS:
        return contents
    only = contents[0] if len(contents) == 1 else None
    if wire_form == _CONTENT:
        return only
    return only["text"] if only is not None and only.keys() == {"type", "text"} else None


def _decode_system(fields: Fields) -> Message | None:
    text = fields.maybe_text("system_instruction")
    return None if text is None else Message(role="system", parts=(Text(text=text),))


def _encode_system(body: Json, system: Message, ctx: Context) -> None:
    texts = [part.text for part in system.parts if isinstance(part, Text)]
    for part in system.parts:
        if not isinstance(part, Text):
            cannot_carry(part, ctx)
    if len(texts) > 1:
        ctx.note("text-joined", ctx.where_system(system), f"{len(texts)} texts joined into one")
    if texts:
        body["system_instruction"] = "\n\n".join(texts)


# --- thinking -------------------------------------------------------------------------------------

_SUMMARIES: Final = {"auto": True, "none": False}


def _decode_thinking(config: Fields) -> ReasoningSettings | None:
    level, summaries = config.peek("thinking_level"), config.peek("thinking_summaries")
    settings: Json = {}
    if type(level) is str and level in SURFACE.reasoning.efforts:
        settings["effort"] = config.text("thinking_level")
    if type(summaries) is str and summaries in _SUMMARIES:
        settings["show"] = _SUMMARIES[config.text("thinking_summaries")]
    return ReasoningSettings(**settings) if settings else None


def _encode_thinking(config: Json, settings: ReasoningSettings, ctx: Context) -> None:
    if settings.effort in SURFACE.reasoning.efforts:
        config["thinking_level"] = settings.effort
    show = settings.show
    if show is None and ctx.foreign(NAME) and settings.enabled:
        words = "thoughts are shown, as the source expects"
        ctx.note("default-added", ctx.setting("reasoning"), words)
        show = True
    if show is not None:
        config["thinking_summaries"] = "auto" if show else "none"


# --- structured output ----------------------------------------------------------------------------


def _decode_output(fields: Fields) -> OutputFormat | None:
    """Text in a format. Other media, and several formats, stay among the rest."""
    given = fields.peek("response_format")
    listed = type(given) is list and len(given) == 1
    value = given[0] if listed else given
    kind = value.get("type") if isinstance(value, dict) else None
    if value is not None and (not isinstance(value, dict) or kind in _OTHER_FORMATS):
        return None
    variants: Json = {"listed": True} if listed else {}
    if fields.peek("response_mime_type") == _JSON:
        # The form of before May 2026.
        fields.text("response_mime_type")
        variants["mime"] = True
    if value is None:
        return OutputFormat(kind="json", extras=with_variants({}, variants)) if variants else None
    fields.take("response_format")
    if kind == "text":
        where = ("response_format", 0) if listed else "response_format"
        return _decode_text_format(Fields(value, fields.document, fields, where), variants)
    # What is no format is a schema, as all were then.
    variants["bare"] = True
    return OutputFormat(kind="schema", schema=value, extras=with_variants({}, variants))


def _decode_text_format(wire: Fields, variants: Json) -> OutputFormat:
    wire.constant("type", "text")
    mime = wire.peek("mime_type")
    schema = wire.maybe_object("schema")
    if schema is not None:
        if mime == _JSON:
            wire.text("mime_type")
        else:
            variants["without"] = ("mime_type",)
        return OutputFormat(
            kind="schema", schema=schema, extras=with_variants(wire.rest(), variants)
        )
    if mime == _JSON:
        wire.text("mime_type")
        return OutputFormat(kind="json", extras=with_variants(wire.rest(), variants))
    if mime == _PLAIN:
        wire.text("mime_type")
    else:
        variants["without"] = ("mime_type",)
    return OutputFormat(kind="text", extras=with_variants(wire.rest(), variants))


def _encode_output(body: Json, output: OutputFormat) -> None:
    variants = variants_of(output)
    if "mime" in variants:
        body["response_mime_type"] = _JSON
        if output.kind == "json" and variants.keys() == {"mime"}:
            return
    if "bare" in variants and output.schema is not None:
        wire: Json = output.schema
    else:
        wire = {"type": "text"}
        if "mime_type" not in variants.get("without", ()):
            wire["mime_type"] = _PLAIN if output.kind == "text" else _JSON
        if output.kind == "schema":
            wire["schema"] = output.schema
        merge(wire, output.extras, NAME)
    body["response_format"] = [wire] if "listed" in variants else wire


# --- small ones -----------------------------------------------------------------------------------

_LABEL: Final = re.compile(r"[^\W\d_A-Z][\w-]{0,62}")
_LABEL_VALUE: Final = re.compile(r"[\w-]{0,63}")


def _decode_labels(fields: Fields) -> Json | None:
    labels = fields.peek("labels")
    return fields.maybe_object("labels") if isinstance(labels, dict) else None


def _encode_labels(body: Json, metadata: Json, ctx: Context) -> None:
    """Metadata as labels: "lowercase letters, numeric characters, underscores, and dashes", 63 of
    them at most (Interaction.labels in google-genai 3.1.0).
    """
    labels = {key: value for key, value in metadata.items() if _is_label(key, value)}
    if not ctx.foreign(NAME):
        body["labels"] = metadata
        return
    for key in metadata.keys() - labels.keys():
        path = f"{ctx.setting('metadata')}.{key}"
        ctx.note("field-dropped", path, "labels take short words in lower case only")
    if labels or not metadata:
        body["labels"] = labels


def _is_label(key: str, value: Any) -> bool:
    if type(value) is not str or key != key.lower() or value != value.lower():
        return False
    return bool(_LABEL.fullmatch(key) and _LABEL_VALUE.fullmatch(value))


def _decode_tier(fields: Fields) -> str | None:
    word = fields.peek("service_tier")
    if type(word) is str and word in SERVICE_TIER:
        return SERVICE_TIER[fields.text("service_tier")]
    return None


def _encode_tier(body: Json, tier: str, ctx: Context) -> None:
    if tier in SERVICE_TIER_FROM:
        body["service_tier"] = SERVICE_TIER_FROM[tier]
    else:
        ctx.note("field-dropped", ctx.setting("service_tier"), f"no service tier {tier!r} here")
