"""Namespaces for targets that have none: their tools are declared one by one.

A member is called `<namespace>__<name>` then, whatever else is declared, so that a tool keeps its
name when others are added or removed. Calls in the history are renamed in the same way. Calls in
an answer have the namespace and the name apart again, as the client declared them.
"""

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import (
    CustomTool,
    FunctionTool,
    Json,
    Message,
    NamespaceTool,
    Part,
    ProviderTool,
    Request,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
)
from toolglot.undo import UndoStep

BETWEEN: Final = "__"
"""Between a namespace and a name."""


def flatten_namespaces(request: Request, ctx: Context) -> Request:
    """Declare the tools of namespaces one by one where the target has no namespaces."""
    source, target = ctx.tool_surfaces
    if "namespace" in target.tools.kinds or "namespace" not in source.tools.kinds:
        return request
    declared = any(type(tool) is NamespaceTool for tool in request.tools)
    called = any(map(_has_namespace, request.messages))
    if not (declared or called):
        return request
    flat = _Flat(request, ctx)
    changes: Json = {}
    if declared:
        changes["tools"] = flat.tools(request.tools)
    if called:
        changes["messages"] = tuple(
            flat.message(message, index) for index, message in enumerate(request.messages)
        )
    if request.tool_choice is not None and request.tool_choice.names:
        changes["tool_choice"] = flat.choice(request.tool_choice)
    return replace(request, **changes)


def joined(namespace: str, name: str) -> str:
    """What a member of a namespace is called outside of it."""
    return namespace + name if namespace.endswith(BETWEEN) else f"{namespace}{BETWEEN}{name}"


def unused(name: str, taken: set[str]) -> str:
    """The name, with a number if another tool has it already; taken from now on."""
    free, number = name, 2
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    taken.add(free)
    return free


def _has_namespace(message: Message) -> bool:
    for part in message.parts:  # noqa: SIM110 - several times as fast as any()
        if type(part) is ToolCall and part.namespace is not None:
            return True
    return False


def _spaces(tools: tuple[Tool, ...]) -> Iterator[str]:
    """The names of all namespaces that are declared."""
    for tool in tools:
        if isinstance(tool, NamespaceTool):
            yield tool.name
            yield from _spaces(tool.tools)


class _Flat:
    """The tools of one request, by namespace and name."""

    def __init__(self, request: Request, ctx: Context) -> None:
        self._ctx = ctx
        self._top = {
            tool.name for tool in request.tools if isinstance(tool, (FunctionTool, CustomTool))
        }
        self._spaces = set(_spaces(request.tools))
        self._taken = set(self._top)
        self._names: dict[tuple[str, str], str] = {}
        self._renamed: dict[str, str] = {}

    def name(self, namespace: str, name: str) -> str:
        """What a member is called from now on."""
        known = self._names.get((namespace, name))
        if known is None:
            known = self._names[namespace, name] = unused(joined(namespace, name), self._taken)
            self._ctx.undo.tool(known, UndoStep(name=name, namespace=namespace))
        return known

    # --- definitions

    def tools(self, tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
        """All tools, those of namespaces in the place of their namespace."""
        flat: list[Tool] = []
        paths: list[str] = []
        for index, tool in enumerate(tools):
            path = self._ctx.tool_at(index)
            if not isinstance(tool, NamespaceTool):
                flat.append(tool)
                paths.append(path)
                continue
            members = list(self._members(tool))
            words = f"{tool.name}: its tools ({len(members)}) are called {joined(tool.name, '…')}"
            self._ctx.note("namespace-flattened", path, words)
            for place, member in enumerate(members):
                flat.append(_introduced(member, tool) if place == 0 else member)
                paths.append(f"{path}.tools[{place}]")
        self._ctx.tool_paths = tuple(paths)
        return tuple(flat)

    def _members(self, namespace: NamespaceTool) -> Iterator[Tool]:
        """The tools of a namespace; a duplicate is left out."""
        seen: set[str] = set()
        for tool in namespace.tools:
            if isinstance(tool, NamespaceTool):
                yield from self._members(tool)
            elif isinstance(tool, ProviderTool):
                yield tool
            elif tool.name not in seen:
                seen.add(tool.name)
                yield replace(tool, name=self.name(namespace.name, tool.name))

    # --- history

    def message(self, message: Message, index: int) -> Message:
        """A message whose calls have the new names."""
        if not _has_namespace(message) and not any(map(self._is_renamed, message.parts)):
            return message
        parts = tuple(self._part(message, index, place) for place in range(len(message.parts)))
        return replace(message, parts=parts)

    def _is_renamed(self, part: Part) -> bool:
        return type(part) is ToolResult and part.name is not None and part.id in self._renamed

    def _part(self, message: Message, index: int, place: int) -> Part:
        part = message.parts[place]
        if isinstance(part, ToolCall) and part.namespace is not None:
            path = self._ctx.at_part(index, message, place)
            if part.namespace == part.name and part.name not in self._spaces:
                # OpenAI repeats the name of a plain function here that a search has found.
                words = f"{part.namespace} is no namespace: called {part.name}"
                self._ctx.note("namespace-flattened", path, words)
                return replace(part, namespace=None)
            name = self._renamed[part.id] = self.name(part.namespace, part.name)
            self._ctx.note("namespace-flattened", path, f"called {name}")
            return replace(part, name=name, namespace=None)
        if isinstance(part, ToolResult) and self._is_renamed(part):
            return replace(part, name=self._renamed[part.id])
        return part

    # --- tool choice

    def choice(self, choice: ToolChoice) -> ToolChoice:
        """A choice with the new names; a namespace means all tools in it."""
        names = tuple(dict.fromkeys(new for name in choice.names for new in self._chosen(name)))
        return choice if names == choice.names else replace(choice, names=names)

    def _chosen(self, name: str) -> list[str]:
        if name in self._top:
            return [name]
        found = [new for key, new in self._names.items() if name in key or name == joined(*key)]
        return found or [name]


def _introduced(member: Tool, namespace: NamespaceTool) -> Tool:
    """The first tool of a namespace, whose description gets that of the namespace."""
    if not namespace.description or isinstance(member, ProviderTool):
        return member
    lead = f"{namespace.name}: {namespace.description}"
    words = member.description
    return replace(member, description=f"{lead}\n\n{words}" if words else lead)
