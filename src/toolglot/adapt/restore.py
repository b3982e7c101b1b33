"""Answers: calls as the client declared them, whatever the provider had to be told.

Whole responses and streams undo the same steps. In a stream, a name or an id is undone at the start
of a call; arguments are undone piece by piece where every step can do that, else when they are
whole.
"""

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.events import Event, Growing, PartDelta, PartEnded, PartStarted
from toolglot.ir import Response, ToolCall
from toolglot.undo import Live, Undo


def restore(response: Response, ctx: Context) -> Response:
    """Undo in the answer what was done to the tools and ids of the request."""
    undo = ctx.undo
    if not undo:
        return response
    choices = tuple(
        replace(
            choice,
            parts=tuple(
                undo.call(part) if isinstance(part, ToolCall) else part for part in choice.parts
            ),
        )
        for choice in response.choices
    )
    return replace(response, choices=choices)


class Restoring:
    """The same for a stream."""

    __slots__ = ("_held", "_live", "_undo")

    def __init__(self, undo: Undo) -> None:
        self._undo = undo
        self._live: dict[int, list[Live]] = {}
        self._held: dict[int, Growing] = {}

    def feed(self, event: Event) -> Iterable[Event]:
        """What one event becomes."""
        if isinstance(event, PartStarted) and isinstance(event.part, ToolCall):
            return self._start(event, event.part)
        if isinstance(event, PartDelta):
            return self._delta(event)
        if isinstance(event, PartEnded):
            return self._end(event)
        return (event,)

    def _start(self, event: PartStarted, call: ToolCall) -> Iterable[Event]:
        changing = [step for step in self._undo.steps(call.name) if step.arguments is not None]
        if changing and all(step.live is not None for step in changing):
            self._live[event.index] = [step.live() for step in changing if step.live is not None]
        elif changing:
            self._held[event.index] = Growing(event)
            return ()
        known = self._undo.call(call) if not changing else self._named(call)
        return (replace(event, part=known),)

    def _named(self, call: ToolCall) -> ToolCall:
        """The call under its own name, with the arguments still to come."""
        return replace(self._undo.call(replace(call, arguments="{}")), arguments="")

    def _delta(self, event: PartDelta) -> Iterable[Event]:
        held = self._held.get(event.index)
        if held is not None:
            held.add(event)
            return ()
        chain = self._live.get(event.index)
        if chain is None or event.field != "text":
            return (event,)
        text = event.text
        for live in chain:
            text = live.feed(text)
        return (PartDelta(event.index, text),) if text else ()

    def _end(self, event: PartEnded) -> Iterable[Event]:
        held = self._held.pop(event.index, None)
        if held is not None:
            return self._whole(held, event)
        chain = self._live.pop(event.index, None)
        rest = _close(chain) if chain else ""
        return (PartDelta(event.index, rest), event) if rest else (event,)

    def _whole(self, held: Growing, event: PartEnded) -> Iterable[Event]:
        part: Any = held.finish()
        call = part if event.incomplete else self._undo.call(part)
        start = PartStarted(event.index, replace(call, arguments=""), held.choice)
        return (
            (start, PartDelta(event.index, call.arguments), event)
            if call.arguments
            else (start, event)
        )


def _close(chain: list[Live]) -> str:
    """What the links of a chain still hold, each passed through those after it."""
    text = ""
    for live in chain:
        text = live.feed(text) + live.close() if text else live.close()
    return text
