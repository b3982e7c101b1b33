"""Tools that a provider defines itself, for targets of another protocol.

One that the provider runs becomes the target's own tool for the same purpose, with the settings
that both have. One that the client runs becomes a function, and its calls come back as the client
knows them. What has no counterpart is left out with a note; the request works without it.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from toolglot.adapt.tools.hosted_table import NATIVE, RUN, Native, Run
from toolglot.adapt.tools.namespaces import joined, unused
from toolglot.context import Context
from toolglot.ir import (
    FunctionTool,
    Json,
    Message,
    Opaque,
    Part,
    ProviderTool,
    Request,
    Text,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
)
from toolglot.surface import Surface
from toolglot.undo import Step
from toolglot.wire import jsontext

_ABOUT: Final = frozenset({"type", "name", "cache_control"})
"""Members of a tool that are no settings of it."""


def map_provider_tools(request: Request, ctx: Context) -> Request:
    """Replace the tools of another provider by what the target has for the same purpose."""
    source, target = ctx.tool_surfaces
    declared = any(
        type(tool) is ProviderTool and tool.protocol != target.name for tool in request.tools
    )
    called = _ITEMS.get(source.name) is not None and any(map(_is_opaque, request.messages))
    if not (declared or called):
        return request
    mapping = _Mapping(request, source, target, ctx)
    tools = mapping.tools() if declared else request.tools
    messages = mapping.messages() if called else request.messages
    return mapping.choice(replace(request, tools=tools, messages=messages))


def _is_opaque(message: Message) -> bool:
    for part in message.parts:  # noqa: SIM110 - several times as fast as any()
        if type(part) is Opaque:
            return True
    return False


def _find(rows: Sequence[Any], kind: str) -> Any:
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
        if self._target.provider_tools_alone and self._taken:
            placed = list(self._without_own(placed))
        ctx.tool_paths = tuple(path for _, path in placed)
        return tuple(tool for tool, _ in placed)

    def _without_own(self, placed: list[tuple[Tool, str]]) -> Iterator[tuple[Tool, str]]:
        for tool, path in placed:
            if isinstance(tool, ProviderTool):
                words = f"{self._target.name} takes {tool.type} only without functions"
                self._ctx.note("tool-dropped", path, words)
                self._chosen = dict.fromkeys(self._chosen)
            else:
                yield tool, path

    def _tool(self, tool: Tool, path: str) -> Tool | None:
        if not isinstance(tool, ProviderTool) or tool.protocol == self._target.name:
            return tool
        if tool.value.get("cache_control") is not None:
            self._ctx.note("cache-dropped", path)
        run = _find(RUN.get(tool.protocol, ()), tool.type)
        if run is not None and _by_client(run, tool.value):
            return self._function(tool, run, path)
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
        own = _find(NATIVE.get(tool.protocol, ()), tool.type)
        native = next(
            (row for row in NATIVE.get(name, ()) if own and row.capability == own.capability), None
        )
        if native is None or native.models not in model:
            self._ctx.note("tool-dropped", path, f"{name} has nothing like {tool.type}")
            return None
        if native.capability in self._mapped:
            self._ctx.note("tool-mapped", path, f"{tool.type} is there already", "info")
            return None
        self._mapped.add(native.capability)
        settings, lost = _read(tool, own)
        lost += [key for key in settings if key not in native.settings]
        mapped = _written(native, settings, name)
        words = f"{tool.type} became {mapped.type}"
        if lost:
            words += f", without {', '.join(sorted(lost))}"
        self._ctx.note("tool-mapped", path, words, "lossy" if lost else "info")
        self._choose(tool, self._choice_of(native, mapped))
        return mapped

    def _choice_of(self, native: Native, mapped: ProviderTool) -> ToolChoice | None:
        if native.choice == "name":
            return ToolChoice(mode="tool", names=(str(mapped.value["name"]),))
        if native.choice == "type":
            return ToolChoice(mode="tool", names=(mapped.type,), kind="provider")
        alone = len(self._request.tools) == 1
        return ToolChoice(mode="required") if native.choice and alone else None

    # --- run by the client

    def _function(self, tool: ProviderTool, run: Run, path: str) -> FunctionTool:
        value = tool.value
        given = value.get("name")
        before = given if isinstance(given, str) else run.name
        name = self._names[run.name] = unused(before, self._taken)
        self._ctx.note("tool-wrapped", path, f"{tool.type} is told as the function {name}")
        if run.call:
            make = partial(_item, run=run, protocol=tool.protocol)
            self._ctx.undo.tool(name, Step(name=name, part=make))
        elif name != before:
            self._ctx.undo.tool(name, Step(name=before))
        self._choose(tool, ToolChoice(mode="tool", names=(name,)))
        words, schema = value.get("description"), value.get("parameters")
        return FunctionTool(
            name=name,
            description=words if words and isinstance(words, str) else run.description,
            parameters=schema if schema and isinstance(schema, dict) else run.parameters,
        )

    # --- history

    def messages(self) -> tuple[Message, ...]:
        """Calls and results of tools that the client ran, as those of functions."""
        items, calls = _ITEMS[self._source.name], _Calls()
        changed: list[Message] = []
        for index, message in enumerate(self._request.messages):
            if not _is_opaque(message):
                changed.append(message)
                continue
            parts = tuple(
                self._part(part, items, calls, self._ctx.at(index, place))
                for place, part in enumerate(message.parts)
            )
            changed.append(replace(message, parts=parts))
        return tuple(changed)

    def _part(self, part: Part, items: dict[str, Run], calls: "_Calls", path: str) -> Part:
        run = items.get(part.type) if isinstance(part, Opaque) else None
        if run is None or not isinstance(part, Opaque) or part.protocol != self._source.name:
            return part
        name = self._names.get(run.name, run.name)
        told = calls.call(part, run, name) if part.type == run.call else calls.result(part, run)
        if told is None:
            return part
        self._ctx.note("tool-wrapped", path, f"{part.type} is told as one of the function {name}")
        return told

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
        rows = NATIVE.get(self._target.name, ())
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
            words = f"{self._target.name} cannot be told to use {', '.join(names)}"
            self._ctx.note("choice-mapped", self._ctx.setting("tool_choice"), words)


# --- settings of tools that a provider runs ------------------------------------------------------


def _read(tool: ProviderTool, native: Native) -> tuple[Json, list[str]]:
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


def _says_nothing(key: str, value: Any, native: Native) -> bool:
    if key in _ABOUT or value in (None, [], {}, {"type": "approximate"}):
        return True
    return value in native.neutral.get(key, ())


def _written(native: Native, settings: Json, protocol: str) -> ProviderTool:
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


# --- calls of tools that a client runs -----------------------------------------------------------

_ITEMS: Final[dict[str, dict[str, Run]]] = {
    protocol: {kind: row for row in rows if row.call for kind in (row.call, row.output)}
    for protocol, rows in RUN.items()
    if any(row.call for row in rows)
}
"""By protocol: types of calls and results, and the tools that they are of."""


def _by_client(run: Run, value: Json) -> bool:
    """Whether it is the client that runs a tool, or made a call."""
    for key, allowed in run.only.items():
        said = value.get(key)
        if (said.get("type") if isinstance(said, dict) else said) not in allowed:
            return False
    return True


def _item(call: ToolCall, run: Run, protocol: str) -> Part:
    """A call as an item of the client's own; still a function call, if it makes no sense so."""
    arguments = _arguments(call.arguments, run)
    if arguments is None:
        return call
    value: Json = {
        "type": run.call,
        "id": f"{run.id}{call.id}",
        "call_id": call.id,
        run.member: {**run.fixed, **arguments},
        "status": "completed",
        **run.beside,
    }
    return Opaque(protocol=protocol, type=run.call, value=value)


def _arguments(text: str, run: Run) -> Json | None:
    try:
        arguments = jsontext.peek(text)
    except ValueError:
        return None
    if not isinstance(arguments, dict):
        return None
    for key, kind in run.needs.items():
        value = arguments.get(key)
        if kind is list and isinstance(value, str):
            arguments[key] = [*run.before, value]
        elif not isinstance(value, kind):
            return None
    return arguments


class _Calls:
    """The calls of a history, to pair them with their results."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}

    def call(self, part: Opaque, run: Run, name: str) -> ToolCall | None:
        """The call of a function; None if the item is none that the client ran."""
        value = part.value
        call_id, given = value.get("call_id") or value.get("id"), value.get(run.member)
        if not isinstance(call_id, str) or not _by_client(run, value):
            return None
        if isinstance(given, dict):
            said = {k: v for k, v in given.items() if v is not None and run.fixed.get(k) != v}
            given = jsontext.text(said)
        if not isinstance(given, str):
            return None
        for key in (call_id, value.get("id")):
            if isinstance(key, str):
                self._ids[key] = call_id
        return ToolCall(id=call_id, name=name, arguments=given)

    def result(self, part: Opaque, run: Run) -> ToolResult | None:
        """The result of such a call; None if there was no such call."""
        value = part.value
        given = value.get("call_id") or value.get("id")
        call_id = self._ids.get(given) if isinstance(given, str) else None
        if call_id is None:
            return None
        failed = True if value.get("status") == "failed" else None
        text = _told(value.get(run.result), run)
        return ToolResult(id=call_id, parts=(Text(text=text),), is_error=failed)


def _told(value: Any, run: Run) -> str:
    """What a tool said, as text."""
    if run.result == "tools":
        names = list(_found(value))
        return (
            f"These tools can be called now: {', '.join(names)}"
            if names
            else "No tools were found."
        )
    if value is None:
        return ""
    return value if isinstance(value, str) else jsontext.text(value)


def _found(tools: Any) -> Iterator[str]:
    """The names of tools that a search has found, as they are called without namespaces."""
    for tool in tools if isinstance(tools, list) else ():
        name = tool.get("name") if isinstance(tool, dict) else None
        if not isinstance(name, str):
            continue
        if tool.get("type") == "namespace":
            yield from (joined(name, inner) for inner in _found(tool.get("tools")))
        else:
            yield name
