"""Mistakes in an answer that stays in its protocol, and that stop or break agents.

Bytes pass untouched wherever they can be used. These cannot: a stop reason that says the answer is
complete although it has calls, which agents then never run; arguments that are no JSON at all; a
call without a name. What a decoder had to make up (ids, the JSON of arguments) is written as well,
once it was made up.
"""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.events import Direct, Event, Finished, PartDelta, PartEnded, PartStarted
from toolglot.ir import Choice, FunctionTool, Response, StopReason, ToolCall

_DECODED: Final = frozenset({"answer-mended", "arguments-normalised", "id-made", "name-made"})
"""Notes of decoders that had to make something up, or to put something elsewhere."""
_SPELLED: Final = "spelling-normalised"
_EMPTY: Final = "{}"


def is_broken(response: Response, ctx: Context) -> bool:
    """Whether a whole answer has a mistake of this kind, as far as it was decoded."""
    if ctx.options.mend == "off":
        return False
    return any(_is_broken(choice, ctx) for choice in response.choices)


def was_normalised(ctx: Context) -> bool:
    """Whether a decoder had to make something up for a call."""
    if ctx.options.mend == "off":
        return False
    return any(
        note.code in _DECODED or (note.code == _SPELLED and "call" in note.path)
        for note in ctx.notes()
    )


def _is_broken(choice: Choice, ctx: Context) -> bool:
    called = False
    for part in choice.parts:
        if isinstance(part, ToolCall):
            called = True
            if not part.name or _has_no_arguments(part):
                return True
    return called and _is_wrong(choice.stop, ctx)


def _has_no_arguments(call: ToolCall) -> bool:
    return call.kind == "function" and not call.arguments.strip()


def _is_wrong(stop: StopReason | None, ctx: Context) -> bool:
    """Whether a stop reason hides that calls are to be run."""
    words = ctx.target.calls.stops if ctx.target is not None else frozenset()
    if not words:
        return False
    if stop is None or stop.kind == "end":
        return True
    return stop.kind == "tool_calls" and stop.raw is not None and stop.raw not in words


class MendCalls:
    """The same answer, without such mistakes."""

    __slots__ = ("_called", "_ctx", "_empty")

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._called: set[int] = set()
        """The choices that have calls."""
        self._empty: dict[int, ToolCall] = {}
        """Open calls without any arguments so far."""

    def feed(self, event: Event) -> Sequence[Event]:
        if isinstance(event, PartDelta):
            if self._empty and event.field == "text" and event.text.strip():
                self._empty.pop(event.index, None)
            return (event,)
        if isinstance(event, PartStarted) and isinstance(event.part, ToolCall):
            return (self._call(event, event.part),)
        if isinstance(event, PartEnded):
            call = self._empty.pop(event.index, None)
            if call is not None and not event.incomplete:
                self._note_empty(event.index, call)
                return (PartDelta(event.index, _EMPTY), event)
        elif isinstance(event, Finished) and self._called:
            return (self._stopped(event),)
        return (event,)

    def direct(self, index: int) -> Direct | None:
        """The first arguments of a call have to go through."""
        return None if index in self._empty else (index, None)

    def _call(self, event: PartStarted, call: ToolCall) -> PartStarted:
        self._called.add(event.choice)
        if not call.name:
            call = self._named(event.index, call)
        if _has_no_arguments(call):
            if event.whole:
                self._note_empty(event.index, call)
                call = replace(call, arguments=_EMPTY)
            else:
                self._empty[event.index] = call
        return event if call is event.part else replace(event, part=call)

    def _named(self, index: int, call: ToolCall) -> ToolCall:
        """The name of the only tool that there is."""
        path, tools = self._ctx.part_at(index), self._tools()
        if len(tools) != 1:
            self._ctx.note("call-invalid", path, "the call has no name")
            return call
        name = tools[0].name
        self._ctx.note("answer-mended", path, f"the call has no name; the only tool is {name}")
        return replace(call, name=name)

    def _note_empty(self, index: int, call: ToolCall) -> None:
        path = self._ctx.part_at(index)
        required: list[str] = []
        for tool in self._tools():
            if tool.name == call.name and isinstance(tool.parameters, dict):
                required = [str(each) for each in tool.parameters.get("required") or ()]
        if required:
            words = f"there are no arguments; required: {', '.join(required)}"
            self._ctx.note("arguments-mismatch", path, words)
        self._ctx.note("answer-mended", path, "the arguments are empty; they are an empty object")

    def _tools(self) -> list[FunctionTool]:
        asked = self._ctx.asked() if self._ctx.asked is not None else self._ctx.request
        tools = asked.tools if asked is not None else ()
        return [tool for tool in tools if isinstance(tool, FunctionTool)]

    def _stopped(self, event: Finished) -> Finished:
        stops, unstated = list(event.stops), set(event.unstated)
        for choice in sorted(self._called):
            if choice >= len(stops):
                continue
            stop = None if choice in unstated else stops[choice]
            if _is_wrong(stop, self._ctx):
                word = (stop.raw or stop.kind) if stop is not None else "none"
                words = f"the answer has calls, but its stop reason is {word}"
                self._ctx.note("answer-mended", "", words)
                stops[choice] = StopReason(kind="tool_calls")
                unstated.discard(choice)
        if tuple(stops) == event.stops:
            return event
        return replace(event, stops=tuple(stops), unstated=tuple(sorted(unstated)))
