"""Calls and results of tools that a provider defines and the client runs, to and from functions."""

from collections.abc import Iterator
from typing import Any

from toolglot.adapt.tools.namespaces import joined
from toolglot.hosted_tools import ClientTool
from toolglot.ir import Json, Opaque, Part, Text, ToolCall, ToolResult
from toolglot.wire import jsontext


def by_client(tool: ClientTool, value: Json) -> bool:
    """Whether it is the client that runs a tool, or made a call."""
    for key, allowed in tool.only.items():
        said = value.get(key)
        if (said.get("type") if isinstance(said, dict) else said) not in allowed:
            return False
    return True


def call_item(call: ToolCall, tool: ClientTool, protocol: str) -> Part:
    """A call as an item of the client's own; still a function call, if it makes no sense so."""
    arguments = _arguments(call.arguments, tool)
    if arguments is None:
        return call
    value: Json = {
        "type": tool.call,
        "id": f"{tool.id}{call.id}",
        "call_id": call.id,
        tool.member: {**tool.fixed, **arguments},
        "status": "completed",
        **tool.beside,
    }
    return Opaque(protocol=protocol, type=tool.call, value=value)


def _arguments(text: str, tool: ClientTool) -> Json | None:
    try:
        arguments = jsontext.peek(text)
    except ValueError:
        return None
    if not isinstance(arguments, dict):
        return None
    for key, kind in tool.needs.items():
        value = arguments.get(key)
        if kind is list and isinstance(value, str):
            arguments[key] = [*tool.before, value]
        elif not isinstance(value, kind):
            return None
    return arguments


class ClientCalls:
    """The calls of a history, to pair them with their results."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}

    def call(self, part: Opaque, tool: ClientTool, name: str) -> ToolCall | None:
        """The call of a function; None if the item is none that the client ran."""
        value = part.value
        call_id, given = value.get("call_id") or value.get("id"), value.get(tool.member)
        if not isinstance(call_id, str) or not by_client(tool, value):
            return None
        if isinstance(given, dict):
            said = {k: v for k, v in given.items() if v is not None and tool.fixed.get(k) != v}
            given = jsontext.text(said)
        if not isinstance(given, str):
            return None
        for key in (call_id, value.get("id")):
            if isinstance(key, str):
                self._ids[key] = call_id
        return ToolCall(id=call_id, name=name, arguments=given)

    def result(self, part: Opaque, tool: ClientTool) -> ToolResult | None:
        """The result of such a call; None if there was no such call."""
        value = part.value
        given = value.get("call_id") or value.get("id")
        call_id = self._ids.get(given) if isinstance(given, str) else None
        if call_id is None:
            return None
        failed = True if value.get("status") == "failed" else None
        text = _result_text(value.get(tool.result), tool)
        return ToolResult(id=call_id, parts=(Text(text=text),), is_error=failed)


def _result_text(value: Any, tool: ClientTool) -> str:
    """The result of a tool as text."""
    if tool.result == "tools":
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
