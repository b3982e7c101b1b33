"""Streams: the same adapting as for whole responses, event by event and live.

A delta leaves as soon as its meaning is certain. `Showing` does what `adapt_answer` and `seal` do;
`Serial` keeps one part open at a time for targets that want that; `Buffered` lets calls leave
whole.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final, Protocol

from msgspec.structs import replace

from toolglot.adapt.answers.broken_streams import Breaking, breaks_open
from toolglot.adapt.answers.parts import adapt_part, asked_name
from toolglot.adapt.answers.token_scale import Scaling, scales
from toolglot.adapt.calls.arguments import normalise
from toolglot.adapt.calls.ids import Prefixing
from toolglot.adapt.calls.text_calls import Promoting
from toolglot.adapt.calls.undo_calls import Restoring
from toolglot.adapt.calls.validate import Checking, asks, changes, limit_of
from toolglot.adapt.messages.content import shows
from toolglot.adapt.reasoning.kept_state import leave
from toolglot.adapt.reasoning.sealed_state import Layout
from toolglot.adapt.tools.emulated import dialect_of
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
from toolglot.wire import jsontext
from toolglot.wire.parts import arguments_object


class StreamPass(Protocol):
    """Events in, events out."""

    def feed(self, event: Event) -> Iterable[Event]:
        """What one event becomes."""
        ...


def stream_passes(ctx: Context) -> list[StreamPass]:
    """The passes that a stream for this target goes through."""
    source, target = ctx.surfaces
    scaling: list[StreamPass] = [Scaling(ctx)] if scales(ctx.options) else []
    passes: list[StreamPass] = [Promoting(ctx)] if dialect_of(ctx.options) else []
    breaking: list[StreamPass] = [Breaking(ctx)] if breaks_open(ctx) else []
    if source is target:
        # Nothing needs adapting; calls are found and checked, and tokens counted, all the same.
        if passes or asks(ctx.options) or scaling or target.one_open_part:
            passes.append(Serial())
        if ctx.undo:
            passes.append(Restoring(ctx))
        if asks(ctx.options):
            passes.append(Checking(ctx))
        return [*passes, *scaling, Naming(ctx), *breaking]
    buffered = ctx.options.stream_tools == "buffered"
    holds = buffered or ctx.undo.holds or changes(ctx.options)
    # Whatever holds a call back, as targets do that write calls whole, would let later parts
    # overtake it, unless those wait too.
    if target.one_open_part or target.arguments == "object" or holds:
        passes.append(Serial())
    if ctx.options.ids == "prefix" and target.id_prefix is not None:
        passes.append(Prefixing(ctx))
    if ctx.undo:
        passes.append(Restoring(ctx))
    if asks(ctx.options) or limit_of(ctx) is not None:
        passes.append(Checking(ctx))
    passes.append(Showing(ctx))
    if buffered:
        passes.append(Buffered())
    return passes + scaling + breaking


class Naming:
    """The model under the name that the client asked for, where the provider knows another."""

    __slots__ = ("_model",)

    def __init__(self, ctx: Context) -> None:
        self._model = asked_name(ctx)

    def feed(self, event: Event) -> Iterable[Event]:
        """What one event becomes."""
        if isinstance(event, Started) and self._model:
            return (replace(event, model=self._model),)
        return (event,)


class Serial:
    """One open part at a time: the parts that start meanwhile wait, in order, until it ends."""

    __slots__ = ("_open", "_waiting")

    def __init__(self) -> None:
        self._open: int | None = None
        self._waiting: dict[int, list[Event]] = {}

    def feed(self, event: Event) -> Iterable[Event]:
        """What one event becomes."""
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
    """Calls leave whole: what comes of a call waits for its end. Expects one open part at a
    time.
    """

    __slots__ = ("_call",)

    def __init__(self) -> None:
        self._call: Growing | None = None

    def feed(self, event: Event) -> Iterable[Event]:
        """What one event becomes."""
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
            *whole, _ = unfold_part(event.index, call.finish(), call.choice)
            return (*whole, event)
        return (event,)


class _Shown:
    """An open part: what came of it so far, and its number for the client once that has seen it."""

    __slots__ = ("field", "growing", "held", "index", "live", "piece", "texts")

    def __init__(self, event: PartStarted) -> None:
        self.growing = Growing(event)
        self.texts = self.growing.texts
        self.index = -1
        self.live = False
        """Its text leaves as it comes."""
        self.held = False
        """Its text leaves when it is whole."""
        self.field = ""
        self.piece = 0


class Showing:
    """What the client's protocol can show, with the provider's state sealed."""

    __slots__ = ("_ctx", "_issuer", "_layouts", "_next", "_open", "_target")

    def __init__(self, ctx: Context) -> None:
        source, self._target = ctx.surfaces
        self._ctx = ctx
        self._issuer = ctx.options.issuer or source.name
        self._layouts: dict[int, Layout] = {}
        self._open: dict[int, _Shown] = {}
        self._next = 0

    def feed(self, event: Event) -> Iterable[Event]:
        """What one event becomes."""
        if type(event) is PartDelta:
            shown = self._open.get(event.index)
            if shown is None:
                return ()
            if shown.live and event.field == "text":
                # By far the most events.
                shown.texts.append(event.text)
                return (
                    (event,)
                    if shown.index == event.index
                    else (PartDelta(shown.index, event.text),)
                )
            return self._delta(shown, event)
        handler = _SHOWING.get(type(event))
        return handler(self, event) if handler else (event,)

    # --- deltas

    def _delta(self, shown: _Shown, event: PartDelta) -> Iterable[Event]:
        shown.growing.add(event)
        if event.citation is not None:
            return self._citation(shown, event)
        if event.field == "signature":
            # It is the provider's; what the client gets in its place comes when the part ends.
            return ()
        if isinstance(shown.growing.part, Reasoning):
            return self._words(shown, event)
        return self._arguments(shown, event.text)

    def _citation(self, shown: _Shown, event: PartDelta) -> Iterable[Event]:
        if event.citation is not None and shows(self._target, event.citation):
            return (replace(event, index=shown.index),)
        self._ctx.note("citation-dropped", f"part {event.index}")
        return ()

    def _words(self, shown: _Shown, event: PartDelta) -> Iterable[Event]:
        """More of reasoning: of its text or its summary, whichever came first."""
        text = event.text
        if not text or shown.field not in ("", event.field):
            return ()
        if not shown.field:
            # Reasoning starts for the client with its first word: without any, it is only state.
            shown.field, shown.piece = event.field, event.piece
            shown.live = event.field == "text"
            return (self._start(shown, Reasoning()), PartDelta(shown.index, text))
        if event.piece != shown.piece:
            shown.piece = event.piece
            text = "\n\n" + text
        return (PartDelta(shown.index, text),)

    def _arguments(self, shown: _Shown, text: str) -> Iterable[Event]:
        """The beginning of a call's arguments: an object leaves as it comes, anything else
        whole.
        """
        first = text.lstrip()[:1]
        if shown.held or not first:
            return ()
        if first != "{":
            shown.held = True
            return ()
        shown.live = True
        return (PartDelta(shown.index, "".join(shown.texts)),)

    # --- parts

    def _start(self, shown: _Shown, part: Part) -> PartStarted:
        shown.index = self._next
        self._next += 1
        return PartStarted(shown.index, part, shown.growing.choice)

    def _part_started(self, event: PartStarted) -> Iterable[Event]:
        if event.choice and not self._target.many_choices:
            self._ctx.note("choices-dropped", f"part {event.index}", "there is one answer here")
            return ()
        part = adapt_part(event.part, f"part {event.index}", self._target, self._ctx)
        if part is None:
            return ()
        self._open[event.index] = shown = _Shown(PartStarted(event.index, part, event.choice))
        if isinstance(part, Reasoning):
            return self._thought(shown, part)
        shown.live = not isinstance(part, ToolCall) or bool(part.arguments) or self._as_text(part)
        shown.held = isinstance(part, ToolCall) and part.kind != "function"
        if isinstance(part, (Text, ToolCall)) and part.signature is not None:
            part = replace(part, signature=None)
        return (self._start(shown, part),)

    def _as_text(self, call: ToolCall) -> bool:
        """Whether a call is of a kind that the client takes as any text, not as JSON."""
        return call.kind != "function" and call.kind in self._target.tools

    def _thought(self, shown: _Shown, part: Reasoning) -> Iterable[Event]:
        """Reasoning that starts with words of its own."""
        events: list[Event] = []
        for piece, text in enumerate(part.summary):
            events += self._words(shown, PartDelta(0, text, "summary", piece))
        return (*events, *self._words(shown, PartDelta(0, part.text)))

    def _part_ended(self, event: PartEnded) -> Iterable[Event]:
        shown = self._open.pop(event.index, None)
        if shown is None:
            return ()
        part = shown.growing.finish()
        if isinstance(part, ToolCall) and not shown.live:
            if not event.incomplete:
                part = normalise(part, f"part {event.index}", self._ctx)
            text = part.arguments
            if self._target.arguments == "object" and not event.incomplete:
                text = jsontext.text(arguments_object(part, self._ctx))
            unsaid = (PartDelta(shown.index, text),) if text else ()
            return (*unsaid, *self._ended(shown, part, event))
        return self._ended(shown, part, event)

    def _ended(self, shown: _Shown, part: Part, event: PartEnded) -> Iterable[Event]:
        if event.incomplete:
            # State of a part that broke off would not be accepted back.
            return (PartEnded(shown.index, incomplete=True),) if shown.index >= 0 else ()
        sealed = self._layout(shown.growing.choice).add(part, event.index)
        if isinstance(part, Reasoning):
            self._ctx.note("reasoning-carried", f"part {event.index}")
            if shown.index < 0:
                return (self._start(shown, sealed), PartEnded(shown.index))
        signature = getattr(sealed, "signature", None)
        if signature is not None:
            return (PartDelta(shown.index, signature, "signature"), PartEnded(shown.index))
        return (PartEnded(shown.index),)

    def _layout(self, choice: int) -> Layout:
        layout = self._layouts.get(choice)
        if layout is None:
            layout = self._layouts[choice] = Layout(self._issuer, self._target)
        return layout

    # --- the response

    def _started(self, event: Started) -> Iterable[Event]:
        request = self._ctx.request
        return (replace(event, model=request.model) if request and request.model else event,)

    def _finished(self, event: Finished) -> Iterable[Event]:
        events: list[Event] = []
        for choice, layout in sorted(self._layouts.items()):
            leave(layout.parts, self._ctx)
            trailing = layout.trailing()
            if trailing is not None:
                self._ctx.note("reasoning-carried", "", "the layout of the message is sealed")
                events += (PartStarted(self._next, trailing, choice), PartEnded(self._next))
                self._next += 1
        return (*events, event)

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
