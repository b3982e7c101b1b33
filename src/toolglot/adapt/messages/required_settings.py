"""What a target requires: fields and maxima."""

from typing import Any

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import Message, Request, ToolResult


def require_stream(request: Request, ctx: Context) -> Request:
    """Write `stream` explicitly where the target's default differs."""
    source, target = ctx.surfaces
    if request.stream is not None or source.stream.by_default == target.stream.by_default:
        return request
    ctx.note(
        "default-added",
        "stream",
        f"the default of {target.name} is {target.stream.by_default}",
    )
    return replace(request, stream=source.stream.by_default)


def require_limits(request: Request, ctx: Context) -> Request:
    """Give a token limit to a target that requires one."""
    _, target = ctx.surfaces
    if request.max_tokens is not None or not target.requires_max_tokens:
        return request
    limit = ctx.options.max_tokens
    budget = request.reasoning.budget if request.reasoning else None
    if budget is not None:
        limit += budget
    ctx.note("default-added", "max_tokens", f"{target.name} requires a limit: {limit}")
    return replace(request, max_tokens=limit)


def limit_cache_marks(request: Request, ctx: Context) -> Request:
    """Keep only the last cache marks, in the order tools, system, messages, of a target with a
    maximum.
    """
    _, target = ctx.surfaces
    if not target.cache.marks or target.cache.max_marks is None:
        return request
    excess = _count(request) - target.cache.max_marks
    if excess <= 0:
        return request
    ctx.note("cache-dropped", "", f"only the last {target.cache.max_marks} cache marks are kept")
    return _Dropper(excess).request(request)


def _count(request: Request) -> int:
    marks = sum(getattr(tool, "cache", None) is not None for tool in request.tools)
    for message in (*([request.system] if request.system else ()), *request.messages):
        for part in message.parts:
            marks += getattr(part, "cache", None) is not None
            if isinstance(part, ToolResult):
                marks += sum(getattr(inner, "cache", None) is not None for inner in part.parts)
    return marks


class _Dropper:
    """Removes a number of cache marks, the earliest first."""

    def __init__(self, excess: int) -> None:
        self._excess = excess

    def request(self, request: Request) -> Request:
        tools = tuple(map(self._value, request.tools))
        system = self._message(request.system) if request.system else None
        return replace(
            request,
            tools=tools,
            system=system,
            messages=tuple(map(self._message, request.messages)),
        )

    def _message(self, message: Message) -> Message:
        return replace(message, parts=tuple(map(self._value, message.parts)))

    def _value(self, value: Any) -> Any:
        if isinstance(value, ToolResult) and self._excess:
            value = replace(value, parts=tuple(map(self._value, value.parts)))
        if self._excess and getattr(value, "cache", None) is not None:
            self._excess -= 1
            return replace(value, cache=None)
        return value
