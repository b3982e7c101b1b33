"""Streams: the same adapting as for whole responses, event by event and live.

A delta leaves as soon as its meaning is certain. `Showing` does what `adapt_answer` and `seal` do;
`Serial` keeps one part open at a time for targets that want that; `Buffered` lets calls leave whole.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final, Protocol, cast

from msgspec.structs import replace

from toolglot.adapt.answers import adapt_part
from toolglot.adapt.carrier import Layout
from toolglot.adapt.surfaces import surfaces
from toolglot.context import Context
from toolglot.events import (
    Event,
    Finished,
    Growing,
    OpaqueEvent,
    PartDelta,
    PartEnded,
    PartStarted,
    Started,
    unfold_part,
)
from toolglot.ir import Part, Reasoning, Text, ToolCall


class StreamPass(Protocol):
    """Events in, events out."""

    def feed(self, event: Event) -> Iterable[Event]:
        """What one event becomes."""
        ...


def stream_passes(ctx: Context) -> list[StreamPass]:
    """The passes that a stream for this target goes through."""
    _, target = surfaces(ctx)
    passes: list[StreamPass] = []
    if target.one_open_part or target.call_signatures:
        passes.append(Serial())
    passes.append(Showing(ctx))
    if ctx.options.stream_tools == "buffered":
        passes.append(Buffered())
    return passes


class Serial:
    """One open part at a time: the parts that start meanwhile wait, in order, until it ends."""

    def __init__(self) -> None:
        self._open: int | None = None
        self._waiting: dict[int, list[Event]] = {}

    def feed(self, event: Event) -> Iterable[Event]:
        """What one event becomes."""
        kind = type(event)
        if kind is PartDelta or kind is PartEnded:
            index = event.index  # type: ignore[union-attr] - both have one
            if index != self._open:
                self._waiting[index].append(event)
                return ()
            return (event,) if kind is PartDelta else self._next(event)
        if kind is PartStarted:
            if self._open is not None:
                self._waiting[event.index] = [event]  # type: ignore[union-attr]
                return ()
            self._open = event.index  # type: ignore[union-attr]
        return (event,)

    def _next(self, event: Event) -> list[Event]:
        """The end of the open part, then those that waited for it, up to one that is still open."""
        events = [event]
        self._open = None
        while self._waiting and self._open is None:
            index = next(iter(self._waiting))
            waited = self._waiting.pop(index)
            events += waited
            if type(waited[-1]) is not PartEnded:
                self._open = index
        return events


class Buffered:
    """Calls leave whole: everything of a call waits for its end."""

    def __init__(self) -> None:
        self._calls: dict[int, list[Event]] = {}
        self._numbers: dict[int, int] = {}
        self._next = 0

    def feed(self, event: Event) -> Iterable[Event]:
        """What one event becomes."""
        if isinstance(event, PartStarted):
            if isinstance(event.part, ToolCall):
                self._calls[event.index] = [event]
                return ()
            return (replace(event, index=self._number(event.index)),)
        if not isinstance(event, (PartDelta, PartEnded)):
            return (event,)
        waiting = self._calls.get(event.index)
        if waiting is None:
            return (replace(event, index=self._numbers[event.index]),)
        waiting.append(event)
        if isinstance(event, PartDelta):
            return ()
        return self._whole(self._calls.pop(event.index), event)

    def _whole(self, events: list[Event], end: PartEnded) -> Iterable[Event]:
        growing = Growing(cast("PartStarted", events[0]))
        for event in events[1:-1]:
            growing.add(cast("PartDelta", event))
        *whole, _ = unfold_part(self._number(end.index), growing.finish(), growing.choice)
        return (*whole, replace(end, index=self._numbers[end.index]))

    def _number(self, index: int) -> int:
        self._numbers[index] = number = self._next
        self._next += 1
        return number


class _Shown:
    """An open part: what came of it so far, and its number for the client once that has seen it."""

    __slots__ = ("growing", "index", "piece")

    def __init__(self, event: PartStarted) -> None:
        self.growing = Growing(event)
        self.index = -1
        self.piece = 0


class Showing:
    """What the client's protocol can show, with the provider's state sealed."""

    def __init__(self, ctx: Context) -> None:
        source, target = surfaces(ctx)
        self._ctx = ctx
        self._target = target
        self._layout = Layout(ctx.options.issuer or source.name, target)
        self._open: dict[int, _Shown] = {}
        self._next = 0

    def feed(self, event: Event) -> Iterable[Event]:
        """What one event becomes."""
        if type(event) is PartDelta:
            return self._delta(event)
        handler = _SHOWING.get(type(event))
        return handler(self, event) if handler else (event,)

    def _delta(self, event: PartDelta) -> Iterable[Event]:
        shown = self._open.get(event.index)
        if shown is None:
            return ()
        shown.growing.add(event)
        if event.field == "text":
            if shown.index == event.index:
                return (event,)
            return self._words(shown, event.text)
        if event.field == "summary":
            gap = "\n\n" if event.piece != shown.piece else ""
            shown.piece = event.piece
            return self._words(shown, gap + event.text)
        # A signature is the provider's; what the client gets in its place comes when the part ends.
        return (replace(event, index=shown.index),) if event.field == "citation" else ()

    def _words(self, shown: _Shown, text: str) -> Iterable[Event]:
        if shown.index >= 0:
            return (PartDelta(shown.index, text),)
        # Reasoning starts for the client with its first word: without any, it is only state.
        return (self._start(shown, Reasoning()), PartDelta(shown.index, text)) if text else ()

    def _start(self, shown: _Shown, part: Part) -> PartStarted:
        shown.index = self._next
        self._next += 1
        return PartStarted(shown.index, part, shown.growing.choice)

    def _started(self, event: Started) -> Iterable[Event]:
        request = self._ctx.request
        return (event if request is None else replace(event, model=request.model),)

    def _part_started(self, event: PartStarted) -> Iterable[Event]:
        if event.choice and not self._target.many_choices:
            self._ctx.note("choices-dropped", f"part {event.index}", "there is one answer here")
            return ()
        part = adapt_part(event.part, f"part {event.index}", self._target, self._ctx)
        if part is None:
            return ()
        self._open[event.index] = shown = _Shown(PartStarted(event.index, part, event.choice))
        if isinstance(part, Reasoning):
            return ()
        if isinstance(part, (Text, ToolCall)) and part.signature is not None:
            part = replace(part, signature=None)
        return (self._start(shown, part),)

    def _part_ended(self, event: PartEnded) -> Iterable[Event]:
        shown = self._open.pop(event.index, None)
        if shown is None:
            return ()
        part = shown.growing.finish()
        if (
            isinstance(part, ToolCall)
            and not part.arguments
            and part.kind == "function"
            and not event.incomplete
        ):
            return (
                PartDelta(shown.index, "{}"),
                *self._ended(shown, replace(part, arguments="{}"), event),
            )
        return self._ended(shown, part, event)

    def _ended(self, shown: _Shown, part: Part, event: PartEnded) -> Iterable[Event]:
        if event.incomplete:
            # State of a part that broke off would not be accepted back.
            return (PartEnded(shown.index, incomplete=True),) if shown.index >= 0 else ()
        sealed = self._layout.add(part, event.index)
        if isinstance(part, Reasoning):
            self._ctx.note("reasoning-carried", f"part {event.index}")
            if shown.index < 0:
                return (self._start(shown, sealed), PartEnded(shown.index))
        signature = getattr(sealed, "signature", None)
        if signature is not None:
            return (PartDelta(shown.index, signature, "signature"), PartEnded(shown.index))
        return (PartEnded(shown.index),)

    def _finished(self, event: Finished) -> Iterable[Event]:
        trailing = self._layout.trailing()
        if trailing is None:
            return (event,)
        self._ctx.note("reasoning-carried", "", "the layout of the message is sealed")
        return (PartStarted(self._next, trailing), PartEnded(self._next), event)

    def _opaque(self, event: OpaqueEvent) -> Iterable[Event]:
        self._ctx.note(
            "event-skipped", event.type, f"{self._target.name} has no such event", "info"
        )
        return ()


_SHOWING: Final[dict[type[Any], Callable[[Showing, Any], Iterable[Event]]]] = {
    Started: Showing._started,
    PartStarted: Showing._part_started,
    PartEnded: Showing._part_ended,
    Finished: Showing._finished,
    OpaqueEvent: Showing._opaque,
}
