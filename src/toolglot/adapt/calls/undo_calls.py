"""Calls of an answer as the client declared their tools, however the provider declared them.

A name or an id is undone at the start of a call; arguments are undone piece by piece where every
step can do that, else when the call is complete.
"""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.events import Direct, Event, Growing, PartDelta, PartEnded, PartStarted
from toolglot.ir import Part, ToolCall
from toolglot.undo import Live


class UndoCalls:
    """Undoes in the calls of an answer what was done to the tools and ids of the request."""

    __slots__ = ("_ctx", "_held", "_live", "_undo")

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._undo = ctx.undo
        self._live: dict[int, list[Live]] = {}
        self._held: dict[int, Growing] = {}

    def feed(self, event: Event) -> Sequence[Event]:
        if isinstance(event, PartStarted) and isinstance(event.part, ToolCall):
            return self._start(event, event.part)
        if isinstance(event, PartDelta):
            return self._delta(event)
        if isinstance(event, PartEnded):
            return self._end(event)
        return (event,)

    def direct(self, index: int) -> Direct | None:
        """Arguments that change have to go through."""
        return None if index in self._held or index in self._live else (index, None)

    def _start(self, event: PartStarted, call: ToolCall) -> Sequence[Event]:
        steps = self._undo.steps(call.name)
        changing = [step for step in steps if step.arguments is not None or step.part is not None]
        if changing and event.whole:
            return (replace(event, part=self._known(call, event.index)),)
        if changing and all(step.live is not None for step in changing):
            self._live[event.index] = [step.live() for step in changing if step.live is not None]
            started = replace(event, part=self._named(call))
            return (started, *self._delta(PartDelta(event.index, call.arguments)))
        if changing:
            self._held[event.index] = Growing(event)
            return ()
        return (replace(event, part=self._undo.call(call)),)

    def _named(self, call: ToolCall) -> ToolCall:
        """The call under its own name, with the arguments still to come."""
        return replace(self._undo.call(replace(call, arguments="{}")), arguments="")

    def _delta(self, event: PartDelta) -> Sequence[Event]:
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

    def _end(self, event: PartEnded) -> Sequence[Event]:
        held = self._held.pop(event.index, None)
        if held is not None:
            return self._complete(held, event)
        chain = self._live.pop(event.index, None)
        # What a call that broke off still holds back is not certain, and never will be.
        rest = _close(chain) if chain and not event.incomplete else ""
        for live in chain or ():
            self._note(live, event)
        return (PartDelta(event.index, rest), event) if rest else (event,)

    def _note(self, live: Live, event: PartEnded) -> None:
        words = "" if event.incomplete else getattr(live, "odd", "")
        if words:
            self._ctx.note("arguments-unwrapped", self._ctx.part_at(event.index), words)

    def _complete(self, held: Growing, event: PartEnded) -> Sequence[Event]:
        call: Any = held.finish()
        known = self._cut(call) if event.incomplete else self._known(call, event.index)
        return held.events(event.index, known, incomplete=event.incomplete)

    def _known(self, call: ToolCall, index: int) -> Part:
        """A call as the client knows it, with a note of what was odd about it."""
        seen = call
        for step in self._undo.steps(call.name):
            words = step.odd(seen.arguments) if step.odd is not None else ""
            if words:
                path = self._ctx.part_at(index)
                self._ctx.note("arguments-unwrapped", path, f"{step.name}: {words}")
            seen = step.undo(seen)
        return self._undo.part(call)

    def _cut(self, call: ToolCall) -> ToolCall:
        """A call that broke off, under its own name; arguments of another kind say nothing yet."""
        named = self._named(call)
        return replace(named, arguments=call.arguments) if named.kind == call.kind else named


def _close(chain: list[Live]) -> str:
    """What the links of a chain still hold, each passed through those after it."""
    text = ""
    for live in chain:
        text = live.feed(text) + live.close() if text else live.close()
    return text
