"""The passes of an answer, whole or streamed, in one list.

A stream goes through them event by event and live: a delta is passed on as soon as its meaning is
certain. A whole answer is a stream that came at once; it goes through pass by pass, each part in
one piece, and is folded at the end.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias, cast

from msgspec.structs import replace

from toolglot.adapt.answers.adapt_parts import AdaptParts, note_head
from toolglot.adapt.answers.broken_streams import LeavePartOpen, leaves_part_open
from toolglot.adapt.answers.mend_calls import MendCalls, is_broken
from toolglot.adapt.answers.model_name import NameModel, requested_model
from toolglot.adapt.answers.part_order import BufferCalls, OrderParts, SerializeParts
from toolglot.adapt.answers.token_scale import ScaleUsage, scales
from toolglot.adapt.calls.arguments import WrapArguments
from toolglot.adapt.calls.ids import PrefixIds
from toolglot.adapt.calls.undo_calls import UndoCalls
from toolglot.adapt.calls.validate import CheckCalls, asks, changes, limit_of
from toolglot.adapt.reasoning.seal import SealState
from toolglot.adapt.tools.emulated import dialect_of
from toolglot.context import Context, Options
from toolglot.errors import StreamError
from toolglot.events import (
    Direct,
    Event,
    Finished,
    PartEnded,
    PartStarted,
    StreamPass,
    fold,
    join_parts,
    whole_parts,
)
from toolglot.ir import ApiError, Part, Response, ToolCall
from toolglot.source_paths import places_of_choices

_Feed: TypeAlias = Callable[[Event], Sequence[Event]]


def _find_text_calls(ctx: Context) -> StreamPass:
    """Dialects are loaded when one is read: that takes a sixth of the time to start."""
    from toolglot.adapt.calls.text_calls import FindTextCalls  # noqa: PLC0415

    return FindTextCalls(ctx)


def answer_passes(ctx: Context, whole: Response | None = None) -> list[StreamPass]:
    """The passes that an answer for this client goes through: a stream, or a whole one.

    An answer in the client's own protocol needs no adapting; calls are found, undone and checked,
    and tokens counted, all the same.
    """
    options, (source, target) = ctx.options, ctx.surfaces
    ctx.is_renumbered = bool(options.event_passes)
    translated, live = source is not target, whole is None
    checked = asks(options) or (translated and limit_of(ctx) is not None) or bool(ctx.undo.inexact)
    passes = _wanted(
        ctx,
        (dialect_of(options) is not None, _find_text_calls),
        (not translated and options.mend == "on", MendCalls),
        (live and _one_at_a_time(ctx), SerializeParts),
        (translated and options.ids == "prefix" and target.calls.id_prefix is not None, PrefixIds),
        (bool(ctx.undo), UndoCalls),
        (checked, CheckCalls),
        *((True, make) for make in options.event_passes),
        (translated and not live and bool(options.response_passes), ResponsePasses),
    )
    if whole is not None:
        adapts = _adapting(whole, ctx, changed=bool(passes)) if translated else []
        return [*passes, *adapts, *_wanted(ctx, (scales(options), ScaleUsage))]
    return passes + _wanted(
        ctx,
        (translated, AdaptParts),
        (translated, SealState),
        (translated and target.calls.arguments == "object", WrapArguments),
        (translated and options.stream_tools == "buffered", BufferCalls),
        (scales(options), ScaleUsage),
        (not translated, NameModel),
        (leaves_part_open(ctx), LeavePartOpen),
    )


def _wanted(ctx: Context, *table: tuple[bool, Callable[[Context], StreamPass]]) -> list[StreamPass]:
    return [make(ctx) for wanted, make in table if wanted]


def _adapting(whole: Response, ctx: Context, *, changed: bool) -> list[StreamPass]:
    """What a translated whole answer needs: all passes from the first that changes something on."""
    passes: list[StreamPass] = []
    for adapt in (AdaptParts, SealState, OrderParts):
        if adapt is OrderParts and ctx.surfaces[1].messages.ordered:
            continue
        changed = changed or adapt.changes(whole, ctx)
        if changed:
            passes.append(adapt(ctx))
    return passes


def _one_at_a_time(ctx: Context) -> bool:
    """Whether parts must not overlap: for the client, or for a pass that holds calls back, which
    later parts would overtake.
    """
    options, (source, target) = ctx.options, ctx.surfaces
    if target.stream.one_open_part:
        return True
    if source is target:
        found = dialect_of(options) is not None
        return found or asks(options) or scales(options) or ctx.undo.holds
    held = options.stream_tools == "buffered" or ctx.undo.holds or changes(options)
    return held or target.calls.arguments == "object"


def changes_answers(options: Options) -> bool:
    """Whether an answer may change even if it stays in its protocol."""
    return (
        changes(options)
        or dialect_of(options) is not None
        or scales(options)
        or bool(options.event_passes)
    )


def chain(passes: Iterable[StreamPass]) -> _Feed:
    """Several passes as one function."""
    combined: _Feed | None = None
    for each in passes:
        combined = each.feed if combined is None else _then(combined, each.feed)
    return combined or _unchanged


def direct(passes: Sequence[StreamPass]) -> Callable[[int], Direct | None] | None:
    """How text goes past all these passes; None: it has to go through one of them, always."""
    skips = [getattr(each, "direct", None) for each in passes]
    if None in skips:
        return None
    known = cast("list[Callable[[int], Direct | None]]", skips)

    def find(index: int) -> Direct | None:
        collect: Callable[[str], object] | None = None
        for skip in known:
            found = skip(index)
            if found is None or (found[1] is not None and collect is not None):
                return None
            index, collect = found[0], found[1] or collect
        return index, collect

    return find


def _then(one: _Feed, other: _Feed) -> _Feed:
    def both(event: Event) -> Sequence[Event]:
        events = one(event)
        if len(events) == 1:
            return other(events[0])
        return [last for first in events for last in other(first)]

    return both


def _unchanged(event: Event) -> Sequence[Event]:
    return (event,)


# --- whole answers --------------------------------------------------------------------------------


def adapt_response(response: Response, ctx: Context) -> Response:
    """A response as the client can take it: the same object if nothing in it changes."""
    source, target = ctx.surfaces
    undo = ctx.undo
    changed = changes_answers(ctx.options) or asks(ctx.options)
    unchanged = not (changed or undo.tools or undo.inexact)
    if source is target and unchanged and not is_broken(response, ctx):
        return response
    if source is not target:
        note_head(response, ctx)
    _place(response, ctx)
    passes = answer_passes(ctx, response)
    adapted = adapt_whole(response, passes, ctx) if passes else response
    if source is target and adapted == response:
        return response
    model = requested_model(ctx) or response.model
    return adapted if adapted.model == model else replace(adapted, model=model)


def adapt_whole(response: Response, passes: Iterable[StreamPass], ctx: Context) -> Response:
    """What passes make of a response that came whole."""
    events = whole_parts(response)
    _place(response, ctx)
    try:
        for each in passes:
            ctx.whole = _Whole(events)
            feed = each.feed
            events = [adapted for event in events for adapted in feed(event)]
            if type(each) not in _KEEP_PARTS_WHOLE and PartEnded in {*map(type, events)}:
                events = join_parts(events)
    finally:
        ctx.whole = None
    return _fold(events)


def _place(response: Response, ctx: Context) -> None:
    """Keep where the parts stand, unless the decoder has done so."""
    if ctx.places is None and ctx.source is not None:
        ctx.places = places_of_choices(ctx.source, response.choices)


_KEEP_PARTS_WHOLE: Final = frozenset(
    {MendCalls, UndoCalls, CheckCalls, AdaptParts, SealState, OrderParts}
)
"""Passes that are known to give parts in one piece if they get them so."""


def _fold(events: list[Event]) -> Response:
    response = fold(events)
    if isinstance(response, ApiError):
        raise StreamError(f"a pass ended a whole answer with an error: {response.message}")
    return response


class _Whole:
    """What a pass may ask about the answer that it gets."""

    __slots__ = ("_cut", "_events", "_parts")

    def __init__(self, events: list[Event]) -> None:
        self._events = events
        self._parts: dict[int, tuple[Part, int, int]] | None = None
        self._cut: set[int] | None = None

    def part(self, index: int) -> tuple[Part, int, int]:
        if self._parts is None:
            self._parts, counts = {}, {}  # type: ignore[var-annotated]
            for event in self._started():
                place = counts[event.choice] = counts.get(event.choice, -1) + 1
                self._parts[event.index] = event.part, event.choice, place
        return self._parts[index]

    def cut(self, index: int) -> bool:
        if self._cut is None:
            calls = {e.choice: e.index for e in self._started() if isinstance(e.part, ToolCall)}
            stops = next(e.stops for e in reversed(self._events) if isinstance(e, Finished))
            self._cut = {calls[i] for i in calls if stops[i].kind == "length"}
        return index in self._cut

    def _started(self) -> list[PartStarted]:
        return [event for event in self._events if type(event) is PartStarted]


class ResponsePasses:
    """The user's passes over a whole response."""

    __slots__ = ("_ctx", "_events")

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._events: list[Event] = []

    def feed(self, event: Event) -> Sequence[Event]:
        self._events.append(event)
        if not isinstance(event, Finished):
            return ()
        response = _fold(self._events)
        for adapt in self._ctx.options.response_passes:
            response = adapt(response, self._ctx)
        return whole_parts(response)
