"""Tools and tool choice of OpenAI Responses, both ways."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Literal, cast

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import (
    CustomTool,
    FunctionTool,
    Json,
    Message,
    NamespaceTool,
    Opaque,
    ProviderTool,
    Request,
    Tool,
    ToolChoice,
)
from toolglot.protocols.openai_responses.parts import kept
from toolglot.protocols.openai_responses.surface import NAME, SURFACE
from toolglot.surface import Surface
from toolglot.wire.fields import Fields, merge
from toolglot.wire.tool_lists import list_decoder, list_encoder

_MODES: Final = frozenset({"auto", "required", "none"})
_FREE: Final = {"type": "text"}
"""The format of a custom tool that says no more than its absence."""

_DECLARING: Final = "additional_tools"
_FINDING: Final = "tool_search_output"
"""Items that hold tools: what the one declares, and what a search has found for the other."""

# --- tools ---------------------------------------------------------------------------------------


def _decode_tool(fields: Fields) -> Tool:
    kind = fields.peek("type")
    decoder = _DECODERS.get(kind) if type(kind) is str else None
    if decoder is not None:
        return decoder(fields)
    whole = fields.whole()
    return ProviderTool(protocol=NAME, type=fields.text("type"), value=whole)


def _encode_tool(tool: Tool, ctx: Context) -> Json | None:
    if isinstance(tool, FunctionTool):
        return _encode_function(tool, ctx)
    if isinstance(tool, CustomTool):
        return _encode_custom(tool)
    if isinstance(tool, NamespaceTool):
        return _encode_namespace(tool, ctx)
    if tool.protocol == NAME:
        return tool.value
    ctx.note("tool-dropped", "tools", f"there is no {tool.type} tool here")
    return None


def _decode_function(fields: Fields) -> FunctionTool:
    fields.constant("type", "function")
    source = fields
    if "name" not in fields and isinstance(fields.peek("function"), dict):
        fields.note("spelling-normalised", "function", "a tool is flat here")
        source = fields.fields("function")
    tool = FunctionTool(
        name=source.text("name"),
        description=source.maybe_text("description"),
        parameters=source.maybe_object("parameters"),
        strict=source.maybe_bool("strict"),
        deferred=source.maybe_bool("defer_loading"),
        extras=source.rest(),
    )
    if source is not fields:
        fields.rest()
    return tool


def _encode_function(tool: FunctionTool, ctx: Context) -> Json:
    wire: Json = {"name": tool.name}
    if tool.description is not None:
        wire["description"] = tool.description
    if tool.parameters is not None:
        wire["parameters"] = tool.parameters
    if tool.strict is not None:
        wire["strict"] = tool.strict
    if tool.deferred is not None:
        wire["defer_loading"] = tool.deferred
    if ctx.options.nested_function:
        wire["function"] = wire.copy()
    return merge({"type": "function", **wire}, tool.extras, NAME)


def _decode_custom(fields: Fields) -> CustomTool:
    fields.constant("type", "custom")
    name, description = fields.text("name"), fields.maybe_text("description")
    syntax = definition = None
    given = fields.peek("format")
    if given == _FREE:
        fields.take("format")
        extras = {NAME: {**fields.rest().get(NAME, {}), "format": given}}
        return CustomTool(name=name, description=description, extras=extras)
    if isinstance(given, dict) and given.get("type") == "grammar" and "definition" in given:
        grammar = fields.fields("format")
        grammar.constant("type", "grammar")
        syntax, definition = grammar.maybe_text("syntax"), grammar.text("definition")
        fields.absorb(grammar)
    return CustomTool(
        name=name,
        description=description,
        syntax=syntax,
        definition=definition,
        extras=fields.rest(),
    )


def _encode_custom(tool: CustomTool) -> Json:
    wire: Json = {"type": "custom", "name": tool.name}
    if tool.description is not None:
        wire["description"] = tool.description
    if tool.definition is not None:
        wire["format"] = grammar = {"type": "grammar"}
        if tool.syntax is not None:
            grammar["syntax"] = tool.syntax
        grammar["definition"] = tool.definition
    return merge(wire, tool.extras, NAME)


def _decode_namespace(fields: Fields) -> NamespaceTool:
    fields.constant("type", "namespace")
    return NamespaceTool(
        name=fields.text("name"),
        description=fields.maybe_text("description"),
        tools=tuple(map(_decode_tool, fields.each("tools"))),
        extras=kept(fields),
    )


def _encode_namespace(tool: NamespaceTool, ctx: Context) -> Json:
    wire: Json = {"type": "namespace", "name": tool.name}
    if tool.description is not None or NAME not in tool.extras:
        wire["description"] = tool.description or ""
    tools = [each for inner in tool.tools if (each := _encode_tool(inner, ctx)) is not None]
    if tools or NAME not in tool.extras:
        wire["tools"] = tools
    return merge(wire, tool.extras, NAME)


_DECODERS: Final[Mapping[str, Callable[[Fields], Tool]]] = {
    "function": _decode_function,
    "custom": _decode_custom,
    "namespace": _decode_namespace,
}

decode_tools: Final = list_decoder(_decode_tool, NAME, SURFACE.minor)
encode_tools: Final = list_encoder(_encode_tool)

# --- tools in the input ---------------------------------------------------------------------------


def takes_additional(target: Surface) -> bool:
    """Whether tools may stand in the input: only in this protocol, and not with every provider."""
    items = target.messages.items
    return target.name == NAME and (items is None or _DECLARING in items)


def with_additional(
    messages: tuple[Message, ...], tools: tuple[Tool, ...], fields: Fields
) -> tuple[tuple[Message, ...], tuple[Tool, ...]]:
    """For other protocols: tools declared in an item of the input, unless known by name."""
    additional = list(_additional(messages))
    if not additional:
        return messages, tools
    changed, ctx = list(messages), fields.document.ctx
    paths = [ctx.tool_at(index) for index in range(len(tools))]
    declared = {_identity(tool): tool for tool in reversed(tools)}
    for index, value in additional:
        if value["type"] == _DECLARING:
            changed[index] = replace(messages[index], parts=())
        fields.note("part-moved", f"input[{index}]", "its tools are declared with the others")
        for each in fields.element(value, "input", index).each("tools"):
            path, tool = each.path(), _decode_tool(each)
            known = declared.get(_identity(tool))
            if known is None:
                tools = (*tools, tool)
                paths.append(path)
            elif isinstance(known, NamespaceTool) and isinstance(tool, NamespaceTool):
                tool = replace(known, tools=(*known.tools, *tool.tools))
                tools = tuple(tool if each is known else each for each in tools)
            else:
                words, severity = "it is declared before", "info" if tool == known else None
                ctx.note("tool-duplicate", path, words, cast("Any", severity))
                continue
            declared[_identity(tool)] = tool
    ctx.tool_paths = tuple(paths)
    return tuple(changed), tools


def _identity(tool: Tool) -> tuple[str, str]:
    """What two declarations of one tool have in common."""
    if isinstance(tool, ProviderTool):
        return tool.type, repr(tool.value)
    return "namespace" if isinstance(tool, NamespaceTool) else "", tool.name


def _additional(messages: tuple[Message, ...]) -> Iterator[tuple[int, Json]]:
    for index, message in enumerate(messages):
        part = message.parts[0] if message.parts else None
        if isinstance(part, Opaque) and part.type in (_DECLARING, _FINDING):
            yield index, part.value


# --- tool choice ---------------------------------------------------------------------------------


def decode_choice(fields: Fields, tools: tuple[Tool, ...]) -> ToolChoice | None:
    """Which tools may or must be called."""
    value = fields.peek("tool_choice")
    if value is None:
        return None
    if type(value) is str:
        if value not in _MODES:
            fields.fail(
                "tool_choice", f"expected one of {', '.join(sorted(_MODES))}, got {value!r}"
            )
        fields.take("tool_choice")
        return ToolChoice(mode=cast("Any", value))
    if value == {}:
        fields.fail("tool_choice.type", "expected string, but it is missing")
    choice = fields.fields("tool_choice")
    kind = choice.text("type")
    if kind in ("function", "custom"):
        return _decode_named(choice, cast("Any", kind))
    if kind == "allowed_tools":
        return _decode_allowed(choice, tools)
    # A tool that this provider runs: nobody else can be told to call it.
    return ToolChoice(mode="tool", names=(kind,), kind="provider", extras=choice.rest())


def encode_choice(request: Request, choice: ToolChoice) -> str | Json:
    """The reverse: a word where no tool is named."""
    # A list of allowed tools may be empty, or name none that can be called by name.
    listed = "tools" in choice.extras.get(NAME, {})
    if not choice.names and not listed:
        return "required" if choice.mode == "tool" else choice.mode
    if choice.mode != "tool":
        wire: Json = {"type": "allowed_tools", "mode": choice.mode}
        if not listed:
            wire["tools"] = _allowed(choice.names, request.tools)
        return merge(wire, choice.extras, NAME)
    if choice.kind == "provider":
        return merge({"type": choice.names[0]}, choice.extras, NAME)
    return merge({"type": choice.kind, "name": choice.names[0]}, choice.extras, NAME)


def _decode_named(choice: Fields, kind: Literal["function", "custom"]) -> ToolChoice:
    if "name" not in choice and isinstance(choice.peek(kind), dict):
        choice.note("spelling-normalised", kind, "a named tool is flat here")
        nested = choice.fields(kind)
        name = nested.text("name")
        nested.rest()
    else:
        name = choice.text("name")
    return ToolChoice(mode="tool", names=(name,), kind=kind, extras=choice.rest())


def _decode_allowed(choice: Fields, tools: tuple[Tool, ...]) -> ToolChoice:
    mode = choice.text("mode")
    if mode not in ("auto", "required"):
        choice.fail("mode", f"expected auto or required, got {mode!r}")
    allowed = choice.peek("tools")
    if not isinstance(allowed, list):
        choice.fail("tools", "expected array")
    names = tuple(
        each["name"] for each in allowed if isinstance(each, dict) and type(each.get("name")) is str
    )
    if names and allowed == _allowed(names, tools):
        choice.take("tools")
    return ToolChoice(mode=cast("Any", mode), names=names, extras=kept(choice))


def _allowed(names: tuple[str, ...], tools: tuple[Tool, ...]) -> list[Json]:
    custom = {tool.name for tool in tools if isinstance(tool, CustomTool)}
    return [{"type": "custom" if name in custom else "function", "name": name} for name in names]
