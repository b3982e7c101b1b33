"""When parts of an answer are delivered: one after the other, calls at once, texts before calls."""

from collections.abc import Sequence

from toolglot.adapt.messages.turns import flat_parts, is_flat
from toolglot.context import Context
from toolglot.events import Direct, Event, Finished, Growing, PartDelta, PartEnded, PartStarted
from toolglot.ir import Response, ToolCall


class SerializeParts:
    """One open part at a time: the parts that start meanwhile wait, in order, until it ends."""

    __slots__ = ("_open", "_waiting")

    def __init__(self, _ctx: Context | None = None) -> None:
        self._open: int | None = None
        self._waiting: dict[int, list[Event]] = {}

    def feed(self, event: Event) -> Sequence[Event]:
        kind = type(event)
        if kind is PartDelta or kind is PartEnded:
            index = event.index  # type: ignore[union-attr]  # both have one
            if index != self._open and index in self._waiting:
                self._waiting[index].append(event)
                return ()
            return (event,) if kind is PartDelta else self._next(event)
        if kind is PartStarted:
            if self._open is not None:
                self._waiting[event.index] = [event]  # type: ignore[union-attr]
                return ()
            self._open = event.index  # type: ignore[union-attr]
        return (event,)

    def direct(self, index: int) -> Direct | None:
        """What waits has to go through."""
        return None if index in self._waiting and index != self._open else (index, None)

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


class BufferCalls:
    """Calls are delivered at their end. Expects one open part at a time."""

    __slots__ = ("_call",)

    def __init__(self, _ctx: Context | None = None) -> None:
        self._call: Growing | None = None

    def feed(self, event: Event) -> Sequence[Event]:
        call = self._call
        if call is None:
            if isinstance(event, PartStarted) and isinstance(event.part, ToolCall):
                self._call = Growing(event)
                return ()
            return (event,)
        if isinstance(event, PartDelta):
            call.add(event)
            return ()
        if isinstance(event, PartEnded):
            self._call = None
            return call.events(event.index, call.finish(), incomplete=event.incomplete)
        return (event,)


class OrderParts:
    """The parts of a whole answer by kind, texts joined into one, for protocols that have one text
    and a list of calls. Expects parts that came whole.
    """

    __slots__ = ("_ctx", "_parts")

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._parts: dict[int, list[PartStarted]] = {}

    @staticmethod
    def changes(response: Response, _ctx: Context) -> bool:
        """Whether the parts of a whole answer have another order, or more than one text."""
        return not all(is_flat(choice.parts) for choice in response.choices)

    def feed(self, event: Event) -> Sequence[Event]:
        if type(event) is PartStarted:
            self._parts.setdefault(event.choice, []).append(event)
            return ()
        return [*self._ordered(), event] if type(event) is Finished else (event,)

    def _ordered(self) -> list[Event]:
        events: list[Event] = []
        for choice, started in self._parts.items():
            parts = tuple([event.part for event in started])
            flat = flat_parts(parts, self._ctx, self._ctx.answer_at())
            if flat is parts and not events:
                events += started
            else:
                events += [
                    PartStarted(index, part, choice, whole=True)
                    for index, part in enumerate(flat, len(events))
                ]
        return events
