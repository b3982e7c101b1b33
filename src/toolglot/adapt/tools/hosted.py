"""Tools that a provider defines itself, for targets of another protocol.

One that the provider runs becomes the target's own tool for the same purpose, with the settings
that both have. One that the client runs becomes a function, and its calls come back as the client
knows them. What has no counterpart is left out with a note; the request works without it.
"""

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from toolglot.adapt.tools.client_tools import ClientCalls, by_client, call_item
from toolglot.adapt.tools.namespaces import unused
from toolglot.context import Context
from toolglot.hosted_tools import ClientTool, HostedTool
from toolglot.ir import (
    FunctionTool,
    Json,
    Message,
    Opaque,
    Part,
    ProviderTool,
    Request,
    Tool,
    ToolChoice,
)
from toolglot.surface import Surface
from toolglot.undo import UndoStep

PURPOSES: Final = {
    "web_search": frozenset(
        {"max_uses", "allowed_domains", "blocked_domains", "location", "context_size"}
    ),
    "web_fetch": frozenset({"max_uses", "allowed_domains", "blocked_domains"}),
    "code_execution": frozenset[str](),
    "tool_search": frozenset[str](),
}
"""What tools that providers run are for, and the settings that mean the same for all of them."""

_ABOUT: Final = frozenset({"type", "name", "cache_control"})
"""Members of a tool that are no settings of it."""


_Row = TypeVar("_Row", ClientTool, HostedTool)


def accepts_own(tool: ProviderTool, target: Surface) -> bool:
    """Whether a tool is of the target's own, and accepted there."""
    own = target.tools.own
    return tool.protocol == target.name and (own is None or _listed(tool.type, own))


def accepts_item(part: Opaque, target: Surface) -> bool:
    """The same for a part that only one protocol has."""
    items = target.messages.items
    return part.protocol == target.name and (items is None or _listed(part.type, items))


def _listed(kind: str, patterns: frozenset[str]) -> bool:
    return kind in patterns or any(fnmatchcase(kind, each) for each in patterns)


def searches_tools(tools: Sequence[Tool], target: Surface) -> bool:
    """Whether the target's own search for tools is among them."""
    return any(
        isinstance(tool, ProviderTool)
        and (row := _find(target.tools.hosted, tool.type)) is not None
        and row.purpose == "tool_search"
        for tool in tools
    )


def map_provider_tools(request: Request, ctx: Context) -> Request:
    """Replace the tools of another provider by what the target has for the same purpose."""
    source, target = ctx.tool_surfaces
    declared = ProviderTool in map(type, request.tools) and (
        any(type(tool) is ProviderTool and not accepts_own(tool, target) for tool in request.tools)
        or (_must_be_alone(ctx) and any(type(tool) is not ProviderTool for tool in request.tools))
    )
    items = {
        kind: tool for tool in source.client_tools if tool.call for kind in (tool.call, tool.output)
    }
    called = bool(items) and any(map(_is_opaque, request.messages))
    if not (declared or called):
        return request
    mapping = _Mapping(request, source, target, ctx)
    tools = mapping.tools() if declared else request.tools
    messages = mapping.messages(items) if called else request.messages
    return mapping.choice(replace(request, tools=tools, messages=messages))


def _must_be_alone(ctx: Context) -> bool:
    """Whether tools that the provider runs are not accepted beside functions."""
    rule = ctx.surfaces[1].tools.hosted_alone
    return rule == "always" or (rule == "translated" and not ctx.in_protocol)


def _is_opaque(message: Message) -> bool:
    for part in message.parts:  # noqa: SIM110 - several times as fast as any()
        if type(part) is Opaque:
            return True
    return False


def _find(rows: Sequence[_Row], kind: str) -> _Row | None:
    """The row for a type of tool; a version adds a date to it."""
    for row in rows:
        if any(kind == each or kind.startswith(f"{each}_2") for each in row.types):
            return row
    return None


class _Mapping:
    """The provider tools of one request."""

    def __init__(self, request: Request, source: Surface, target: Surface, ctx: Context) -> None:
        self._request = request
        self._source = source
        self._target = target
        self._ctx = ctx
        self._functions = {
            tool.name for tool in request.tools if not isinstance(tool, ProviderTool)
        }
        self._taken = set(self._functions)
        self._chosen: dict[str, ToolChoice | None] = {}
        self._mapped: set[str] = set()
        self._names: dict[str, str] = {}

    # --- definitions

    def tools(self) -> tuple[Tool, ...]:
        """All tools as the target can take them."""
        ctx = self._ctx
        placed = [
            (mapped, path)
            for index, tool in enumerate(self._request.tools)
            if (mapped := self._tool(tool, path := ctx.tool_at(index))) is not None
        ]
        if _must_be_alone(ctx) and self._taken:
            placed = list(self._without_own(placed))
        ctx.tool_paths = tuple(path for _, path in placed)
        return tuple(tool for tool, _ in placed)

    def _without_own(self, placed: list[tuple[Tool, str]]) -> Iterator[tuple[Tool, str]]:
        for tool, path in placed:
            if isinstance(tool, ProviderTool):
                words = f"{self._target.name} accepts {tool.type} only without functions"
                self._ctx.note("tool-dropped", path, words)
                self._chosen = dict.fromkeys(self._chosen)
            else:
                yield tool, path

    def _tool(self, tool: Tool, path: str) -> Tool | None:
        if not isinstance(tool, ProviderTool) or accepts_own(tool, self._target):
            return tool
        if tool.value.get("cache_control") is not None:
            self._ctx.note("cache-dropped", path)
        own = tool.protocol == self._source.name
        defined = _find(self._source.client_tools, tool.type) if own else None
        if defined is not None and by_client(defined, tool.value):
            return self._function(tool, defined, path)
        mapped = self._native(tool, path)
        if mapped is None:
            self._choose(tool, None)
        return mapped

    def _choose(self, tool: ProviderTool, choice: ToolChoice | None) -> None:
        """What becomes of a choice of the tool, which may name it or its type."""
        for key in (tool.type, tool.value.get("name")):
            if isinstance(key, str):
                self._chosen.setdefault(key, choice)

    # --- run by the provider

    def _native(self, tool: ProviderTool, path: str) -> ProviderTool | None:
        name, model = self._target.name, self._request.model
        own = self._hosted(tool)
        native = None if own is None else self._counterpart(own)
        if own is None or native is None or native.models not in model:
            self._ctx.note("tool-dropped", path, f"{name} has no equivalent of {tool.type}")
            return None
        if native.purpose in self._mapped:
            self._ctx.note("tool-mapped", path, f"{tool.type} is declared already", "info")
            return None
        self._mapped.add(native.purpose)
        settings, lost = _read(tool, own)
        lost += [key for key in settings if key not in native.settings]
        mapped = _written(native, settings, name)
        words = f"{tool.type} became {mapped.type}"
        if lost:
            words += f", without {', '.join(sorted(lost))}"
        self._ctx.note("tool-mapped", path, words, "lossy" if lost else "info")
        self._choose(tool, self._choice_of(native, mapped))
        return mapped

    def _hosted(self, tool: ProviderTool) -> HostedTool | None:
        own = tool.protocol == self._source.name
        return _find(self._source.tools.hosted, tool.type) if own else None

    def _counterpart(self, own: HostedTool) -> HostedTool | None:
        if own.purpose not in PURPOSES:
            return None
        rows = self._target.tools.hosted
        accepted = self._target.tools.own
        return next(
            (
                row
                for row in rows
                if row.purpose == own.purpose
                and (accepted is None or any(_listed(kind, accepted) for kind in row.types))
            ),
            None,
        )

    def _choice_of(self, native: HostedTool, mapped: ProviderTool) -> ToolChoice | None:
        if native.choice == "name":
            return ToolChoice(mode="tool", names=(str(mapped.value["name"]),))
        if native.choice == "type":
            return ToolChoice(mode="tool", names=(mapped.type,), kind="provider")
        alone = len(self._request.tools) == 1
        return ToolChoice(mode="required") if native.choice and alone else None

    # --- run by the client

    def _function(self, tool: ProviderTool, defined: ClientTool, path: str) -> FunctionTool:
        value = tool.value
        given = value.get("name")
        before = given if isinstance(given, str) else defined.name
        name = self._names[defined.name] = unused(before, self._taken)
        self._ctx.note("tool-wrapped", path, f"{tool.type} is declared as the function {name}")
        if defined.call:
            make = partial(call_item, tool=defined, protocol=tool.protocol)
            self._ctx.undo.tool(name, UndoStep(name=name, part=make))
        elif name != before:
            self._ctx.undo.tool(name, UndoStep(name=before))
        self._choose(tool, ToolChoice(mode="tool", names=(name,)))
        words, schema = value.get("description"), value.get("parameters")
        return FunctionTool(
            name=name,
            description=words if words and isinstance(words, str) else defined.description,
            parameters=schema if schema and isinstance(schema, dict) else defined.parameters,
        )

    # --- history

    def messages(self, items: Mapping[str, ClientTool]) -> tuple[Message, ...]:
        """Calls and results of tools that the client ran, as those of functions."""
        calls = ClientCalls()
        changed: list[Message] = []
        for index, message in enumerate(self._request.messages):
            if not _is_opaque(message):
                changed.append(message)
                continue
            parts = tuple(
                self._part(part, items, calls, self._ctx.at_part(index, message, place))
                for place, part in enumerate(message.parts)
            )
            changed.append(replace(message, parts=parts))
        return tuple(changed)

    def _part(
        self, part: Part, items: Mapping[str, ClientTool], calls: ClientCalls, path: str
    ) -> Part:
        tool = items.get(part.type) if isinstance(part, Opaque) else None
        if tool is None or not isinstance(part, Opaque) or part.protocol != self._source.name:
            return part
        if accepts_item(part, self._target):
            return part
        name = self._names.get(tool.name, tool.name)
        made = calls.call(part, tool, name) if part.type == tool.call else calls.result(part, tool)
        if made is None:
            return part
        self._ctx.note(
            "tool-wrapped", path, f"{part.type} is written as one of the function {name}"
        )
        return made

    # --- tool choice

    def choice(self, request: Request) -> Request:
        """The request with a choice that names what its tools have become."""
        choice = request.tool_choice
        if choice is None:
            return request
        if not self._choosable(request.tools):
            words = "no tool is left that could be chosen"
            self._ctx.note("choice-mapped", self._ctx.setting("tool_choice"), words)
            return replace(request, tool_choice=None, parallel_tool_calls=None)
        return replace(request, tool_choice=self._renamed(choice))

    def _choosable(self, tools: tuple[Tool, ...]) -> bool:
        if not tools or any(not isinstance(tool, ProviderTool) for tool in tools):
            return True  # Where there are no tools at all, that is said later.
        rows = self._target.tools.hosted
        return any(
            (row := _find(rows, tool.type)) is not None and row.choice
            for tool in tools
            if isinstance(tool, ProviderTool)
        )

    def _renamed(self, choice: ToolChoice) -> ToolChoice | None:
        names = [name for name in choice.names if self._is_mapped(name, choice)]
        if not names:
            return choice
        if choice.mode == "tool":
            new = self._chosen[names[0]]
            if new is None:
                self._note_choice(names)
            return new
        kept = tuple(dict.fromkeys(new for name in choice.names for new in self._new(name, choice)))
        if kept == choice.names:
            return choice
        self._note_choice([name for name in names if self._chosen[name] is None])
        return ToolChoice(mode=choice.mode if kept else "auto", names=kept)

    def _is_mapped(self, name: str, choice: ToolChoice) -> bool:
        known = name in self._chosen
        return known and (choice.kind == "provider" or name not in self._functions)

    def _new(self, name: str, choice: ToolChoice) -> tuple[str, ...]:
        if not self._is_mapped(name, choice):
            return (name,)
        new = self._chosen[name]
        return new.names if new is not None and new.kind == "function" else ()

    def _note_choice(self, names: list[str]) -> None:
        if names:
            words = f"{self._target.name} cannot require {', '.join(names)}"
            self._ctx.note("choice-mapped", self._ctx.setting("tool_choice"), words)


# --- settings of tools that a provider runs ------------------------------------------------------


def _read(tool: ProviderTool, native: HostedTool) -> tuple[Json, list[str]]:
    """The settings of a tool under their common names, and the members that are none."""
    body = tool.value.get(tool.type) if native.wrapped else tool.value
    rest = _copy(body) if isinstance(body, dict) else {}
    settings: Json = {}
    for name, path in native.settings.items():
        value = _take(rest, path.split("."))
        if name == "location" and isinstance(value, dict):
            value = {key: each for key, each in value.items() if key != "type" and each is not None}
        if value not in (None, [], {}):
            settings[name] = value
    lost = [key for key, value in rest.items() if not _says_nothing(key, value, native)]
    return settings, lost


def _copy(value: Json) -> Json:
    return {key: dict(each) if isinstance(each, dict) else each for key, each in value.items()}


def _take(value: Any, path: list[str]) -> Any:
    for key in path[:-1]:
        value = value.get(key) if isinstance(value, dict) else None
    return value.pop(path[-1], None) if isinstance(value, dict) else None


def _says_nothing(key: str, value: Any, native: HostedTool) -> bool:
    if key in _ABOUT or value in (None, [], {}, {"type": "approximate"}):
        return True
    return value in native.neutral.get(key, ())


def _written(native: HostedTool, settings: Json, protocol: str) -> ProviderTool:
    body = dict(native.wire)
    for name, path in native.settings.items():
        if name in settings:
            _put(body, path.split("."), settings[name], located=name == "location")
    if native.wrapped:
        return ProviderTool(protocol=protocol, type=native.wrapped, value={native.wrapped: body})
    return ProviderTool(protocol=protocol, type=str(body["type"]), value=body)


def _put(body: Json, path: list[str], value: Any, *, located: bool) -> None:
    """Write a setting; a location says in its outermost object that it is a rough one."""
    *parents, last = path
    for key in parents:
        body = body.setdefault(key, {"type": "approximate"} if located else {})
    if located and not parents and isinstance(value, dict):
        value = {"type": "approximate", **value}
    body[last] = value
