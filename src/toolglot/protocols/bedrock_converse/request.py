"""Requests of Converse, both ways."""

import re
from typing import Any, Final, cast
from urllib.parse import unquote

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import (
    Document,
    Json,
    Message,
    OutputFormat,
    ReasoningSettings,
    Request,
    Role,
    ToolResult,
)
from toolglot.protocols.bedrock_converse import _model_fields
from toolglot.protocols.bedrock_converse.parts import (
    decode_content,
    encode_content,
    form_of,
    name_documents,
    with_form,
)
from toolglot.protocols.bedrock_converse.surface import (
    NAME,
    SERVICE_TIERS,
    SETTINGS,
    SURFACE,
)
from toolglot.protocols.bedrock_converse.tools import decode_config, encode_config
from toolglot.wire import jsontext
from toolglot.wire.fields import Fields, WireDocument, merge, read_settings, write_settings
from toolglot.wire.message import WireRequest
from toolglot.wire.model_paths import path_of

_PATH: Final = re.compile(r"/model/(.+)/([a-z-]+)$")
_STREAM: Final = "converse-stream"
_ROLES: Final = ("user", "assistant", "system")
_METADATA: Final = re.compile(r"[a-zA-Z0-9\s:_@$#=/+,\-.]{0,256}")
_MOST_METADATA: Final = 16


def decode_request(wire: WireRequest, ctx: Context) -> Request:
    """The interlingua of a request."""
    fields = Fields(wire.body, WireDocument(ctx, NAME, SURFACE.minor))
    model, stream, named = _decode_path(fields, wire.path)
    values = fields.maybe_list("messages") or ()
    messages = tuple(
        _decode_message(fields.element(value, "messages", index))
        for index, value in enumerate(values)
    )
    system = None
    if fields.peek("system"):
        parts = decode_content(fields, "system")
        system = Message(role="system", parts=parts, wire_form=NAME)
    tools, choice = decode_config(fields)
    settings = _decode_settings(fields)
    top_k, reasoning = _model_fields.decode_fields(fields, model)
    output = _decode_output(fields, reasoning, model)
    request = Request(
        model=model,
        messages=messages,
        system=system,
        tools=tools,
        tool_choice=choice,
        stream=stream,
        top_k=top_k,
        reasoning=ReasoningSettings(**reasoning) if reasoning else None,
        output=output,
        metadata=_decode_metadata(fields),
        service_tier=decode_tier(fields),
        **settings,
    )
    extras = with_form(fields.rest(), {"model": named} if named else {})
    return replace(request, extras=extras) if extras else request


def encode_request(request: Request, ctx: Context) -> WireRequest:
    """The wire form of a request."""
    body: Json = {}
    named = form_of(request).get("model")
    if named is not None:
        body[named] = request.model
    messages = _named_documents(request.messages, ctx) if ctx.foreign(NAME) else request.messages
    if messages or ctx.foreign(NAME):
        body["messages"] = [_encode_message(message, ctx) for message in messages]
    if request.system is not None:
        body["system"] = encode_content(request.system.parts, ctx)
    _encode_settings(body, request)
    config = encode_config(request, ctx)
    if config:
        body["toolConfig"] = config
    more = _model_fields.encode_fields(request.top_k, request.reasoning, request.model)
    if more:
        body[_model_fields.KEY] = more
    _encode_output(body, request)
    if request.metadata is not None:
        _encode_metadata(body, request.metadata, ctx)
    if request.service_tier is not None:
        _encode_tier(body, request.service_tier, ctx)
    return WireRequest(body=merge(body, request.extras, NAME), path=_encode_path(request))


# --- the path: model and streaming ----------------------------------------------------------------


def _decode_path(fields: Fields, path: str) -> tuple[str, bool | None, str]:
    """Model, streaming, and under which name a body has the model, where the path has it not."""
    match = _PATH.search(path.partition("?")[0])
    if match is not None:
        return unquote(match[1]), match[2] == _STREAM, ""
    keys = SURFACE.model_keys
    key = next((each for each in keys if each in fields), keys[0])
    return fields.text(key), None, key


def _encode_path(request: Request) -> str:
    """A model may be an ARN, whose slashes are not those of the path."""
    return path_of(SURFACE.path, request.model, _STREAM if request.stream else "")


# --- messages -------------------------------------------------------------------------------------


def _decode_message(fields: Fields) -> Message:
    role = fields.text("role")
    if role not in _ROLES:
        fields.fail("role", f"expected user, assistant or system, got {role!r}")
    if fields.peek("content") is None:
        fields.fail("content", "expected array, but it is missing")
    parts = decode_content(fields, "content")
    return Message(role=cast("Role", role), parts=parts, extras=fields.rest())


def _encode_message(message: Message, ctx: Context) -> Json:
    role = "system" if message.role == "developer" else message.role
    wire: Json = {"role": role, "content": encode_content(message.parts, ctx)}
    return merge(wire, message.extras, NAME)


def _named_documents(messages: tuple[Message, ...], ctx: Context) -> tuple[Message, ...]:
    """Messages of others, in which every document has a name that is taken."""
    used: set[str] = set()
    return tuple(
        replace(message, parts=name_documents(message.parts, used, ctx))
        if any(isinstance(part, (Document, ToolResult)) for part in message.parts)
        else message
        for message in messages
    )


# --- settings -------------------------------------------------------------------------------------


def _decode_settings(fields: Fields) -> Json:
    config = fields.maybe_fields("inferenceConfig")
    if config is None:
        return {}
    found = read_settings(config, SETTINGS)
    fields.absorb(config)
    return found


def _encode_settings(body: Json, request: Request) -> None:
    config: Json = {}
    write_settings(config, request, SETTINGS)
    if config:
        body["inferenceConfig"] = config


# --- effort and structured output: both in `outputConfig` -----------------------------------------


def _decode_output(fields: Fields, reasoning: Json, model: str) -> OutputFormat | None:
    config = fields.maybe_fields("outputConfig")
    if config is None:
        return None
    effort = config.peek("effort")
    if type(effort) is str and _model_fields.has_effort(model):
        reasoning["effort"] = config.text("effort")
    output = _decode_format(config)
    fields.absorb(config)
    return output


def _decode_format(config: Fields) -> OutputFormat | None:
    """A format that is understood; one that is not stays as it is."""
    value = config.peek("textFormat")
    if type(value) is not dict or value.get("type") != "json_schema":
        return None
    structure = value.get("structure")
    given = structure.get("jsonSchema") if type(structure) is dict else None
    text = given.get("schema") if type(given) is dict else None
    schema = _schema_of(text)
    if schema is None:
        return None
    wire = config.fields("textFormat")
    wire.constant("type", "json_schema")
    outer = wire.fields("structure")
    inner = outer.fields("jsonSchema")
    inner.take("schema")
    name, description = inner.maybe_text("name"), inner.maybe_text("description")
    outer.absorb(inner)
    wire.absorb(outer)
    form = {"schema": text} if text != jsontext.text(schema) else {}
    return OutputFormat(
        kind="schema",
        schema=schema,
        name=name,
        description=description,
        extras=with_form(wire.rest(), form),
    )


def _schema_of(text: Any) -> Json | None:
    try:
        schema = jsontext.peek(text) if type(text) is str else None
    except ValueError:
        return None
    return schema if type(schema) is dict else None


def _encode_output(body: Json, request: Request) -> None:
    config: Json = {}
    settings, output = request.reasoning, request.output
    effort = settings.effort if settings is not None else None
    if effort is not None and _model_fields.has_effort(request.model):
        config["effort"] = effort
    if output is not None and output.kind == "schema":
        config["textFormat"] = _encode_format(output)
    if config:
        body["outputConfig"] = config


def _encode_format(output: OutputFormat) -> Json:
    text = form_of(output).get("schema")
    if text is None or _schema_of(text) != output.schema:
        text = jsontext.text(output.schema)
    inner: Json = {"schema": text}
    if output.name is not None:
        inner["name"] = output.name
    if output.description is not None:
        inner["description"] = output.description
    wire: Json = {"type": "json_schema", "structure": {"jsonSchema": inner}}
    return merge(wire, output.extras, NAME)


# --- small ones -----------------------------------------------------------------------------------


def _decode_metadata(fields: Fields) -> Json | None:
    return fields.maybe_object("requestMetadata") if fields.peek("requestMetadata") else None


def _encode_metadata(body: Json, metadata: Json, ctx: Context) -> None:
    """What fits: 16 pairs of short texts of few characters."""
    if not ctx.foreign(NAME):
        body["requestMetadata"] = metadata
        return
    fitting = {key: value for key, value in metadata.items() if key and _fits(key) and _fits(value)}
    kept = dict(list(fitting.items())[:_MOST_METADATA])
    if kept:
        body["requestMetadata"] = kept
    if not metadata:
        ctx.note("field-minor", ctx.setting("metadata"), "there are no pairs in it")
    left = ", ".join(key for key in metadata if key not in kept)
    if left:
        words = f"left out, since it takes {_MOST_METADATA} short texts of few characters: {left}"
        ctx.note("field-dropped", ctx.setting("metadata"), words)


def _fits(value: Any) -> bool:
    return type(value) is str and _METADATA.fullmatch(value) is not None


def decode_tier(fields: Fields) -> str | None:
    """The service tier of a request or an answer."""
    value = fields.peek("serviceTier")
    word = value.get("type") if type(value) is dict else None
    if type(word) is not str or word not in SERVICE_TIERS:
        return None
    tier = fields.fields("serviceTier")
    tier.take("type")
    fields.absorb(tier)
    return word


def _encode_tier(body: Json, tier: str, ctx: Context) -> None:
    if tier in SERVICE_TIERS:
        body["serviceTier"] = {"type": tier}
    else:
        ctx.note("field-dropped", ctx.setting("service_tier"), f"no service tier {tier!r} here")
