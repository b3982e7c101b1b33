"""Tools and tool choice of OpenAI Chat Completions, both ways."""

from typing import Any, Final, cast

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import ChoiceKind, CustomTool, FunctionTool, Json, ProviderTool, Tool, ToolChoice
from toolglot.protocols.openai_chat.parts import decode_cache, finish
from toolglot.protocols.openai_chat.surface import NAME, SURFACE, variants_of, with_variants
from toolglot.wire.fields import Fields, merge
from toolglot.wire.tool_lists import drop_tool, list_decoder, list_encoder

_CHOICE: Final = {"auto": "auto", "required": "required", "none": "none", "any": "required"}
"""Tool choices of one word; `any` is how some compatible servers say `required`."""

_SEARCH: Final = "web_search_options"
"""The one tool that OpenAI runs here: a setting of the request, not an entry of `tools`."""

# --- tools ---------------------------------------------------------------------------------------


def decode_tools(fields: Fields) -> tuple[Tool, ...]:
    """The tools, those in the place where they used to be included."""
    tools = _decode_list(fields)
    if fields.peek("functions"):
        fields.note("legacy-upgraded", "functions", "read as `tools`")
        legacy = tuple(_function(each, each) for each in fields.each("functions"))
        ctx = fields.document.ctx
        paths = (f"functions[{number}]" for number in range(len(legacy)))
        ctx.tool_paths = (*map(ctx.tool_at, range(len(tools))), *paths)
        tools += legacy
    if isinstance(fields.peek(_SEARCH), dict):
        search = {_SEARCH: fields.take(_SEARCH)}
        ctx = fields.document.ctx
        ctx.tool_paths = (*map(ctx.tool_at, range(len(tools))), _SEARCH)
        tools += (ProviderTool(protocol=NAME, type=_SEARCH, value=search),)
    return tools


def encode_tools(tools: tuple[Tool, ...], ctx: Context) -> Json:
    """The reverse: a list, and the search, which is a setting beside it."""
    wires = _encode_list(tools, ctx)
    found = ProviderTool in map(type, tools)
    search = [wire for wire in wires if wire.keys() == {_SEARCH}] if found else []
    listed = [wire for wire in wires if wire not in search] if search else wires
    return ({"tools": listed} if listed else {}) | (search[-1] if search else {})


def _decode_tool(fields: Fields) -> Tool:
    kind = fields.peek("type")
    member = "custom" if kind == "custom" else "function"
    nested = isinstance(fields.peek(member), dict)
    if kind not in ("function", "custom") and not (kind is None and nested):
        whole = fields.whole()
        return ProviderTool(protocol=NAME, type=fields.text("type"), value=whole)
    inner = fields.fields(member) if nested else fields
    if not nested or kind is None:
        fields.note("spelling-normalised", "", "a tool in another shape than the documented one")
    fields.constant("type", member)
    if kind == "custom":
        return _custom(fields, inner)
    tool = _function(fields, inner)
    if kind is not None or not nested:
        return tool
    return replace(tool, extras=with_variants(tool.extras, {"without": ("type",)}))


def _encode_tool(tool: Tool, ctx: Context) -> Json | None:
    if isinstance(tool, FunctionTool):
        return _encode_function(tool)
    if isinstance(tool, CustomTool):
        return _encode_custom(tool)
    if isinstance(tool, ProviderTool) and tool.protocol == NAME:
        return tool.value
    return drop_tool(tool, ctx)


def _function(fields: Fields, inner: Fields) -> FunctionTool:
    name, description = inner.text("name"), inner.maybe_text("description")
    parameters, strict = inner.maybe_object("parameters"), inner.maybe_bool("strict")
    cache = decode_cache(fields)
    if inner is not fields:
        fields.absorb(inner)
    return FunctionTool(
        name=name,
        description=description,
        parameters=parameters,
        strict=strict,
        cache=cache,
        extras=fields.rest(),
    )


def _encode_function(tool: FunctionTool) -> Json:
    function: Json = {"name": tool.name}
    if tool.description is not None:
        function["description"] = tool.description
    if tool.parameters is not None:
        function["parameters"] = tool.parameters
    if tool.strict is not None:
        function["strict"] = tool.strict
    if "without" in variants_of(tool.extras):
        return finish({"function": function}, tool)
    return finish({"type": "function", "function": function}, tool)


def _custom(fields: Fields, inner: Fields) -> CustomTool:
    name, description = inner.text("name"), inner.maybe_text("description")
    variants: Json = {}
    syntax = definition = None
    form = inner.peek("format")
    if form == {"type": "text"}:
        variants["format"] = inner.take("format")
    elif (grammar := _grammar(form)) is not None:
        inner.take("format")
        syntax, definition = grammar["syntax"], grammar["definition"]
    if inner is not fields:
        fields.absorb(inner)
    extras = fields.rest()
    return CustomTool(
        name=name,
        description=description,
        syntax=syntax,
        definition=definition,
        extras=with_variants(extras, variants) if variants else extras,
    )


def _grammar(form: Any) -> Json | None:
    """A grammar of which every member is understood, nested as documented or flat."""
    if not isinstance(form, dict) or form.get("type") != "grammar":
        return None
    inner = form.get("grammar") if form.keys() == {"type", "grammar"} else form
    if not isinstance(inner, dict) or inner.keys() - {"type"} != {"syntax", "definition"}:
        return None
    known = type(inner["syntax"]) is str and type(inner["definition"]) is str
    return inner if known and (inner is form or "type" not in inner) else None


def _encode_custom(tool: CustomTool) -> Json:
    custom: Json = {"name": tool.name}
    if tool.description is not None:
        custom["description"] = tool.description
    if tool.definition is not None:
        grammar = {"syntax": tool.syntax or "lark", "definition": tool.definition}
        custom["format"] = {"type": "grammar", "grammar": grammar}
    elif "format" in (variants := variants_of(tool.extras)):
        custom["format"] = variants["format"]
    return merge({"type": "custom", "custom": custom}, tool.extras, NAME)


_decode_list: Final = list_decoder(_decode_tool, NAME, SURFACE.minor)
_encode_list: Final = list_encoder(_encode_tool)

# --- tool choice ---------------------------------------------------------------------------------


def decode_choice(fields: Fields) -> ToolChoice | None:
    """Which tools may be called."""
    value = fields.peek("tool_choice")
    if value is None:
        return _decode_legacy_choice(fields)
    if type(value) is not str:
        return _decode_object(fields.fields("tool_choice"))
    word = fields.text("tool_choice")
    mode = _mode(fields, "tool_choice", word)
    if word == mode:
        return ToolChoice(mode=mode)
    if not fields.document.ctx.in_protocol:
        fields.note("value-respelled", "tool_choice", f"{word} means {mode}")
    return ToolChoice(mode=mode, extras=with_variants({}, {"word": word}))


def encode_choice(choice: ToolChoice, ctx: Context) -> str | Json:
    """The reverse."""
    variants = variants_of(choice.extras)
    if choice.mode == "tool":
        member = "custom" if choice.kind == "custom" else "function"
        wire: Json = {"type": member, member: {"name": choice.names[0] if choice.names else ""}}
        if "type" in variants.get("without", ()):
            del wire["type"]
        return merge(wire, choice.extras, NAME)
    if choice.names or "tools" in variants:
        tools = variants.get("tools")
        if tools is None or _names(tools) != choice.names:
            tools = [{"type": "function", "function": {"name": name}} for name in choice.names]
        allowed = {"mode": choice.mode, "tools": tools}
        return merge({"type": "allowed_tools", "allowed_tools": allowed}, choice.extras, NAME)
    word = variants.get("word", choice.mode)
    if _CHOICE.get(word) != choice.mode:
        return choice.mode
    if ctx.target is not None and word not in ctx.target.tools.choices:
        ctx.note("value-respelled", "tool_choice", f"{word} means {choice.mode}")
        return choice.mode
    return str(word)


def _mode(fields: Fields, key: str, word: str) -> Any:
    mode = _CHOICE.get(word)
    if mode is None:
        fields.fail(key, f"expected one of {', '.join(_CHOICE)} or an object, got {word!r}")
    return mode


def _decode_object(fields: Fields) -> ToolChoice:
    if fields.peek("type") is None and isinstance(fields.peek("function"), dict):
        fields.note("spelling-normalised", "type", "a tool choice without its type")
        inner = fields.fields("function")
        chosen = inner.text("name")
        fields.absorb(inner)
        extras = with_variants(fields.rest(), {"without": ("type",)})
        return ToolChoice(mode="tool", names=(chosen,), extras=extras)
    kind = fields.text("type")
    if kind in _CHOICE:
        fields.note("spelling-normalised", "type", "an object in place of a word")
        return ToolChoice(mode=_mode(fields, "type", kind), extras=fields.rest())
    if kind not in ("function", "custom", "allowed_tools"):
        fields.fail("type", f"expected function, custom or allowed_tools, got {kind!r}")
    nested = isinstance(fields.peek(kind), dict)
    inner = fields.fields(kind) if nested else fields
    if not nested:
        fields.note("spelling-normalised", "", "a tool choice in another shape than documented")
    variants: Json = {}
    if kind == "allowed_tools":
        mode, tools = _mode(inner, "mode", inner.text("mode")), inner.take("tools")
        if type(tools) is not list:
            inner.fail("tools", "expected array")
        variants, names, kind = {"tools": tools}, _names(tools), "function"
    else:
        mode, names = "tool", (inner.text("name"),)
    if nested:
        fields.absorb(inner)
    extras = fields.rest()
    return ToolChoice(
        mode=mode,
        names=names,
        kind=cast("ChoiceKind", kind),
        extras=with_variants(extras, variants) if variants else extras,
    )


def _names(tools: list[Any]) -> tuple[str, ...]:
    """The names in a list of allowed tools, nested as documented or flat."""
    names = []
    for tool in tools:
        if isinstance(tool, dict):
            inner = tool.get(tool.get("type")) if type(tool.get("type")) is str else None
            name = inner.get("name") if isinstance(inner, dict) else tool.get("name")
            names += [name] if type(name) is str else []
    return tuple(names)


def _decode_legacy_choice(fields: Fields) -> ToolChoice | None:
    value = fields.peek("function_call")
    if value is None:
        return None
    fields.note("legacy-upgraded", "function_call", "read as `tool_choice`")
    ctx = fields.document.ctx
    ctx.setting_paths = {**ctx.setting_paths, "tool_choice": "function_call"}
    if type(value) is str:
        return ToolChoice(mode=_mode(fields, "function_call", fields.text("function_call")))
    function = fields.fields("function_call")
    return ToolChoice(mode="tool", names=(function.text("name"),), extras=function.rest())
