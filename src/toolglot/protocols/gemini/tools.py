"""Tools and tool choice of Gemini, both ways."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal

from msgspec import Struct

from toolglot.context import Context
from toolglot.ir import Extras, FunctionTool, Json, ProviderTool, Tool, ToolChoice
from toolglot.protocols.gemini._variants import (
    key_normaliser,
    takes_openapi,
    variants_of,
    with_variants,
)
from toolglot.protocols.gemini.parts import array
from toolglot.protocols.gemini.surface import NAME, SURFACE
from toolglot.wire.fields import Fields, WireDocument, merge
from toolglot.wire.tool_cache import recall
from toolglot.wire.tool_lists import drop_tool

_DECLARATIONS: Final = "functionDeclarations"
_SCHEMA: Final = "parametersJsonSchema"
_OPENAPI: Final[Json] = {"schema": "parameters"}

_CHOICE: Final[dict[str, Literal["auto", "required", "none"]]] = {
    "AUTO": "auto",
    "VALIDATED": "auto",
    "ANY": "required",
    "NONE": "none",
}
_MODE_NUMBERS: Final = {1: "AUTO", 2: "ANY", 3: "NONE", 4: "VALIDATED"}
_CHOICE_FROM: Final = {"auto": "AUTO", "required": "ANY", "none": "NONE", "tool": "ANY"}

# --- tools: entries, each with declarations or a tool of the provider's or both -------------------

Layout = list[tuple[int, Json]]
"""How many tools each entry of the wire gave, and what in it was empty."""


class Decoded(Struct, frozen=True):
    """The tools one by one, and how they were grouped, if not as one entry of declarations."""

    tools: tuple[Tool, ...]
    layout: Layout | None


def decode_tools(fields: Fields, *, single: bool = False) -> Decoded:
    """The tools of a request; `single`: one entry stands there without a list."""
    ctx = fields.document.ctx
    if single:
        return _decode_entries(array(fields, "tools"), ctx, single=True)
    decoded = recall(_decode_entries, array(fields, "tools"), ctx)
    if decoded is ctx.known:
        ctx.known = decoded.tools
    return decoded


def _decode_entries(entries: list[Any], ctx: Context, *, single: bool = False) -> Decoded:
    fields = Fields({}, WireDocument(ctx, NAME, SURFACE.minor, key_normaliser(ctx)))
    tools: list[Tool] = []
    paths: list[str] = []
    layout: Layout = []
    for index, value in enumerate(entries):
        before = len(tools)
        path = "tools" if single else f"tools[{index}]"
        entry = Fields(value, fields.document, None, path)
        empty = _decode_entry(entry, tools)
        layout.append((len(tools) - before, empty))
        paths += _paths(tools[before:], path)
    ctx.tool_paths = tuple(paths)
    return Decoded(tuple(tools), None if _is_plain(tools, layout) else layout)


def _paths(tools: list[Tool], entry: str) -> Iterator[str]:
    """Where the tools of an entry stand: functions first, each in a list."""
    for number, tool in enumerate(tools):
        key = tool.type if isinstance(tool, ProviderTool) else f"{_DECLARATIONS}[{number}]"
        yield f"{entry}.{key}"


def _is_plain(tools: list[Tool], layout: Layout) -> bool:
    """Whether the entries are what we would write anyway."""
    if not layout:
        return True
    declared = bool(tools) and all(isinstance(tool, FunctionTool) for tool in tools)
    return declared and layout == [(len(tools), {})]


def _decode_entry(entry: Fields, tools: list[Tool]) -> Json:
    tools.extend(
        _decode_declaration(entry.element(value, _DECLARATIONS, index))
        for index, value in enumerate(array(entry, _DECLARATIONS))
    )
    empty: Json = {}
    for key, value in entry.whole().items():
        if value is None or key == _DECLARATIONS:
            empty[key] = value
        else:
            tools.append(ProviderTool(protocol=NAME, type=key, value={key: value}))
    return empty


def encode_tools(tools: tuple[Tool, ...], layout: Layout | None, ctx: Context) -> list[Json]:
    """The entries, grouped as they came; else all declarations in one, other tools one by one."""
    if layout is None:
        return recall(_encode_entries, tools, ctx)
    if sum(count for count, _ in layout) == len(tools):
        entries: list[Json] = []
        start = 0
        for count, empty in layout:
            entries.append(_encode_entry(tools[start : start + count], ctx) | empty)
            start += count
        return entries
    return _encode_entries(tools, ctx)


def _encode_entries(tools: tuple[Tool, ...], ctx: Context) -> list[Json]:
    declared = _encode_entry([tool for tool in tools if not isinstance(tool, ProviderTool)], ctx)
    others = [_encode_entry([tool], ctx) for tool in tools if isinstance(tool, ProviderTool)]
    return [entry for entry in (declared, *others) if entry]


def _encode_entry(tools: Sequence[Tool], ctx: Context) -> Json:
    entry: Json = {}
    for tool in tools:
        if isinstance(tool, FunctionTool):
            entry.setdefault(_DECLARATIONS, []).append(_encode_declaration(tool, ctx))
        elif isinstance(tool, ProviderTool) and tool.protocol == NAME:
            entry |= tool.value
        else:
            drop_tool(tool, ctx)
    return entry


def _decode_declaration(fields: Fields) -> FunctionTool:
    name, description = fields.text("name"), fields.maybe_text("description")
    parameters = fields.maybe_object(_SCHEMA)
    variants: Json = {}
    if parameters is None:
        parameters = fields.maybe_object("parameters")
        variants = {} if parameters is None else _OPENAPI
    extras: Extras = with_variants(fields.rest(), variants)
    return FunctionTool(name=name, description=description, parameters=parameters, extras=extras)


def _encode_declaration(tool: FunctionTool, ctx: Context) -> Json:
    wire: Json = {"name": tool.name}
    if tool.description is not None:
        wire["description"] = tool.description
    if tool.parameters is not None:
        key = "parameters" if takes_openapi(ctx) else _SCHEMA
        wire[variants_of(tool).get("schema", key)] = tool.parameters
    return merge(wire, tool.extras, NAME)


# --- tool choice ----------------------------------------------------------------------------------


def decode_choice(fields: Fields) -> ToolChoice | None:
    """The tool choice; a mode that says nothing or is unknown stays among the rest."""
    config = fields.maybe_fields("toolConfig")
    if config is None:
        return None
    choice = None
    calling = config.maybe_fields("functionCallingConfig")
    if calling is not None:
        given = calling.peek("mode")
        word = _MODE_NUMBERS.get(given, "") if type(given) is int else given
        word = word.upper() if isinstance(word, str) else ""
        if word in _CHOICE:
            choice = _decode_mode(calling, word)
        else:
            config.absorb(calling)
    fields.absorb(config)
    return choice


def _decode_mode(calling: Fields, word: str) -> ToolChoice:
    mode, given = _CHOICE[word], calling.take("mode")
    names = calling.maybe_texts("allowedFunctionNames") or ()
    single = mode == "required" and len(names) == 1
    choice = ToolChoice(mode="tool" if single else mode, names=names, extras=calling.rest())
    if word == "VALIDATED" and not calling.document.ctx.in_protocol:
        calling.note("choice-mapped", "mode", "that calls match their schemas is not promised")
    if _mode_word(choice) == given:
        return choice
    return ToolChoice(
        mode=choice.mode, names=names, extras=with_variants(choice.extras, {"mode": given})
    )


def encode_choice(choice: ToolChoice) -> Json:
    """The reverse of reading a mode."""
    wire: Json = {"mode": variants_of(choice).get("mode") or _mode_word(choice)}
    if choice.names:
        wire["allowedFunctionNames"] = list(choice.names)
    return merge(wire, choice.extras, NAME)


def _mode_word(choice: ToolChoice) -> str:
    # AUTO takes no names; VALIDATED is the same with names.
    return "VALIDATED" if choice.mode == "auto" and choice.names else _CHOICE_FROM[choice.mode]
