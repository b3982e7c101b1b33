"""Tools and tool choice of Converse, both ways."""

from typing import Any, Final, cast

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import FunctionTool, Json, ProviderTool, Request, Tool, ToolChoice
from toolglot.protocols.bedrock_converse.parts import decode_cache, encode_cache
from toolglot.protocols.bedrock_converse.surface import NAME, SURFACE
from toolglot.wire.fields import Fields, WireDocument, merge
from toolglot.wire.tool_cache import recall
from toolglot.wire.tool_lists import drop_tool

_CONFIG: Final = "toolConfig"
_SPEC: Final = "toolSpec"
_CHOICE: Final = {"auto": "auto", "any": "required", "tool": "tool"}
_CHOICE_FROM: Final = {mode: word for word, mode in _CHOICE.items()}


def decode_config(fields: Fields) -> tuple[tuple[Tool, ...], ToolChoice | None]:
    """The tools of a request, and which of them may or must be called."""
    config = fields.maybe_fields(_CONFIG)
    if config is None:
        return (), None
    ctx = fields.document.ctx
    tools = recall(_decode_list, config.maybe_list("tools") or [], ctx)
    choice = _decode_choice(config)
    fields.absorb(config)
    return tools, choice


def encode_config(request: Request, ctx: Context) -> Json:
    """The reverse."""
    config: Json = {}
    tools = recall(_encode_list, request.tools, ctx)
    if tools:
        config["tools"] = tools
    choice = request.tool_choice
    if choice is not None and choice.mode in _CHOICE_FROM:
        config["toolChoice"] = _encode_choice(choice)
    return config


# --- tools ----------------------------------------------------------------------------------------


def _decode_list(values: list[Any], ctx: Context) -> tuple[Tool, ...]:
    document = WireDocument(ctx, NAME, SURFACE.minor)
    config = Fields({_CONFIG: {"tools": values}}, document).fields(_CONFIG)
    tools: list[Tool] = []
    paths: list[str] = []
    for index, value in enumerate(values):
        fields = config.element(value, "tools", index)
        last = tools[-1] if tools else None
        if isinstance(last, FunctionTool) and last.cache is None and "cachePoint" in fields:
            mark = decode_cache(fields)
            if mark is not None:
                tools[-1] = replace(last, cache=mark)
                continue
        tools.append(_decode_tool(fields))
        paths.append(fields.path())
    if len(tools) < len(values):
        ctx.tool_paths = tuple(paths)
    return tuple(tools)


def _decode_tool(fields: Fields) -> Tool:
    whole = fields.whole()
    if type(whole.get(_SPEC)) is not dict:
        kind = next((key for key, inner in whole.items() if inner is not None), "")
        return ProviderTool(protocol=NAME, type=kind, value=whole)
    spec = fields.fields(_SPEC)
    name = spec.text("name")
    schema = spec.peek("inputSchema")
    parameters = None
    if type(schema) is dict and type(schema.get("json")) is dict:
        wrapped = spec.fields("inputSchema")
        parameters = wrapped.maybe_object("json")
        spec.absorb(wrapped)
    description, strict = spec.maybe_text("description"), spec.maybe_bool("strict")
    fields.absorb(spec)
    return FunctionTool(
        name=name,
        description=description,
        parameters=parameters,
        strict=strict,
        extras=fields.rest(),
    )


def _encode_list(tools: tuple[Tool, ...], ctx: Context) -> list[Json]:
    wires: list[Json] = []
    for tool in tools:
        wire = _encode_tool(tool, ctx)
        if wire is None:
            continue
        wires.append(wire)
        if isinstance(tool, FunctionTool) and tool.cache is not None:
            wires.append(encode_cache(tool.cache))
    return wires


def _encode_tool(tool: Tool, ctx: Context) -> Json | None:
    if isinstance(tool, ProviderTool) and tool.protocol == NAME:
        return tool.value
    if not isinstance(tool, FunctionTool):
        return drop_tool(tool, ctx)
    spec: Json = {"name": tool.name}
    # An empty one is refused: NonEmptyString.
    if tool.description or (tool.description is not None and not ctx.foreign(NAME)):
        spec["description"] = tool.description
    if tool.parameters is not None:
        spec["inputSchema"] = {"json": tool.parameters}
    if tool.strict is not None:
        spec["strict"] = tool.strict
    return merge({_SPEC: spec}, tool.extras, NAME)


# --- tool choice ----------------------------------------------------------------------------------


def _decode_choice(config: Fields) -> ToolChoice | None:
    value = config.peek("toolChoice")
    if value is None or value == {}:
        return None
    choice = config.fields("toolChoice")
    word = next((each for each in _CHOICE if type(choice.peek(each)) is dict), None)
    if word is None:
        choice.fail("", f"expected an object with one of {', '.join(_CHOICE)}")
    inner = choice.fields(word)
    names = (inner.text("name"),) if word == "tool" else ()
    choice.absorb(inner)
    mode = cast("Any", _CHOICE[word])
    return ToolChoice(mode=mode, names=names, extras=choice.rest())


def _encode_choice(choice: ToolChoice) -> Json:
    named = choice.mode == "tool" and choice.names
    inner: Json = {"name": choice.names[0]} if named else {}
    return merge({_CHOICE_FROM[choice.mode]: inner}, choice.extras, NAME)
