"""Names of tools: declared once, and as the target takes them.

A name that the target forbids gets an alias wherever it occurs: in the definition, the calls of
the history and their results, the tool choice. The answer's calls have the client's own name again,
also in a stream, where nothing needs to wait for that.
"""

from collections.abc import Callable, Iterable, Iterator
from operator import is_
from typing import Any

from msgspec.structs import replace

from toolglot.adapt.aliases import Aliases, all_fit
from toolglot.context import Context
from toolglot.ir import (
    CustomTool,
    FunctionTool,
    Message,
    NamespaceTool,
    ProviderTool,
    Request,
    Tool,
    ToolCall,
    ToolResult,
)
from toolglot.undo import UndoStep
from toolglot.wire.tool_cache import recall

# --- declared once -------------------------------------------------------------------------------


def collapse_duplicates(request: Request, ctx: Context) -> Request:
    """Declare every tool once: of several with one name the first counts; groups are joined."""
    tools = recall(_once, request.tools, ctx)
    return request if tools is request.tools else replace(request, tools=tools)


def _once(tools: tuple[Tool, ...], ctx: Context) -> tuple[Tool, ...]:
    if len(set(map(_key, tools))) == len(tools) and not any(
        type(tool) is NamespaceTool for tool in tools
    ):
        return tools
    collapsed = _collapsed(tools, ctx.tool_at, ctx)
    if collapsed == tools:
        return tools
    if len(collapsed) != len(tools):
        ctx.tool_paths = tuple(map(ctx.tool_at, _places(collapsed, tools)))
    return collapsed


def _places(kept: tuple[Tool, ...], tools: tuple[Tool, ...]) -> Iterator[int]:
    """The source paths of the tools that were kept, which have kept their order."""
    declared = enumerate(tools)
    for tool in kept:
        group = isinstance(tool, NamespaceTool)
        yield next(i for i, t in declared if t == tool or (group and _key(t) == _key(tool)))


def _key(tool: Tool) -> tuple[str, str]:
    """What must differ between two tools."""
    if isinstance(tool, NamespaceTool):
        return "namespace", tool.name
    if isinstance(tool, ProviderTool):
        return f"{tool.protocol} {tool.type}", str(tool.value.get("name", ""))
    return "", tool.name


def _collapsed(tools: Iterable[Tool], path: Callable[[int], str], ctx: Context) -> tuple[Tool, ...]:
    kept: dict[Any, Tool] = {}
    for index, tool in enumerate(tools):
        key, place = _key(tool), path(index)
        first = kept.get(key)
        if isinstance(tool, NamespaceTool):
            kept[key] = _joined(
                first if isinstance(first, NamespaceTool) else None, tool, place, ctx
            )
        elif first is None:
            kept[key] = tool
        elif first == tool:
            ctx.note("tool-duplicate", place, f"{_label(tool)} is declared twice", "info")
        elif isinstance(tool, ProviderTool):
            kept[key, index] = tool
        else:
            ctx.note("tool-duplicate", place, f"{_label(tool)} is declared before, differently")
    return tuple(kept.values())


def _joined(
    first: NamespaceTool | None, tool: NamespaceTool, place: str, ctx: Context
) -> NamespaceTool:
    """A group, with the tools of the one that was declared before under its name."""
    earlier: tuple[Tool, ...] = ()
    if first is not None:
        ctx.note("tool-duplicate", place, f"{tool.name} is declared before; its tools join", "info")
        earlier = first.tools
    inner = _collapsed((*earlier, *tool.tools), f"{place}.tools[{{}}]".format, ctx)
    return replace(first or tool, tools=inner)


def _label(tool: Tool) -> str:
    return tool.type if isinstance(tool, ProviderTool) else tool.name


# --- as the target takes them --------------------------------------------------------------------


def alias_names(request: Request, ctx: Context) -> Request:
    """Call every tool by a name that the target takes."""
    _, target = ctx.surfaces
    rule = target.tools.name_rule
    if rule is None:
        return request
    names = dict.fromkeys(_names(request))
    if all_fit(names, rule):
        return request
    aliases = Aliases(rule)
    changed = {name: alias for name in names if (alias := aliases.of(name)) != name}
    for name, alias in reversed(changed.items()):
        # A name may be the alias of one before it, whose steps are not its own.
        ctx.undo.tool(alias, UndoStep(name=name))
    return _Renaming(changed, ctx).request(request)


def _names(request: Request) -> list[str]:
    """The names of all tools, those that are declared before those that are only called."""
    return [
        *[tool.name for tool in request.tools if isinstance(tool, (FunctionTool, CustomTool))],
        *(
            part.name
            for message in request.messages
            for part in message.parts
            if isinstance(part, (ToolCall, ToolResult)) and part.name is not None
        ),
    ]


class _Renaming:
    def __init__(self, changed: dict[str, str], ctx: Context) -> None:
        self._changed = changed
        self._ctx = ctx

    def request(self, request: Request) -> Request:
        """The request with the aliases in place of the names."""
        return replace(
            request,
            tools=tuple(map(self._tool, request.tools)),
            messages=tuple(self._messages(request.messages)),
            tool_choice=self._choice(request),
        )

    def _note(self, path: str, name: str) -> None:
        self._ctx.note("name-aliased", path, f"{name} became {self._changed[name]}")

    def _tool(self, tool: Tool) -> Tool:
        if not isinstance(tool, (FunctionTool, CustomTool)) or tool.name not in self._changed:
            return tool
        self._note(self._ctx.setting("tools"), tool.name)
        return replace(tool, name=self._changed[tool.name])

    def _messages(self, messages: Iterable[Message]) -> Iterator[Message]:
        for index, message in enumerate(messages):
            parts = list(message.parts)
            for place, part in enumerate(parts):
                if isinstance(part, (ToolCall, ToolResult)) and part.name in self._changed:
                    self._note(self._ctx.at(index), part.name)
                    parts[place] = replace(part, name=self._changed[part.name])
            same = all(map(is_, parts, message.parts))
            yield message if same else replace(message, parts=tuple(parts))

    def _choice(self, request: Request) -> Any:
        choice = request.tool_choice
        if choice is None or self._changed.keys().isdisjoint(choice.names):
            return choice
        for name in choice.names:
            if name in self._changed:
                self._note(self._ctx.setting("tool_choice"), name)
        names = tuple(self._changed.get(name, name) for name in choice.names)
        return replace(choice, names=names)
