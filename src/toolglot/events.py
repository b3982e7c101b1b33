"""A response in pieces: the stream events, their grammar, and the way to and from a whole response.

The grammar, which a `Grammar` checks between every decoder and encoder:

    stream  = Started  { piece }  ( Finished | Failed )
    piece   = PartStarted | PartDelta | PartEnded | UsageSeen | OpaqueEvent

Parts are numbered 0, 1, 2 … in the order in which they start. A delta or an end names a part that
is open. Parts may overlap, since parallel calls interleave. `Finished` comes when every part has
ended; `Failed` may come at any time, even first, and what was delivered stays delivered.

A response that came whole is a stream that came at once: `whole_parts` gives its events with every
part in one piece, `unfold` the same in pieces, and `fold(unfold(response)) == response`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, Literal, Protocol, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from toolglot.errors import StreamError
from toolglot.ir import (
    NO_EXTRAS,
    ApiError,
    Choice,
    Citation,
    Extras,
    Json,
    Part,
    Reasoning,
    Refusal,
    Response,
    StopReason,
    Text,
    ToolCall,
    Usage,
)


class _Event(Struct, frozen=True, omit_defaults=True, tag_field="is"):
    pass


class Started(_Event, frozen=True, tag="started", kw_only=True):
    """The response begins."""

    id: str
    model: str
    created: int | float | str | None = None
    service_tier: str | None = None
    usage: Usage | None = None
    extras: Extras = NO_EXTRAS
    choices: tuple[Choice, ...] | None = None
    """The choices of a response that came whole, without the parts and stop reasons that follow."""


class PartStarted(_Event, frozen=True, tag="part_started"):
    """A part begins, with everything known of it so far; a call has its id and name."""

    index: int
    part: Part
    choice: int = 0
    whole: bool = False
    """The part came at once, and has ended: nothing of it follows. Only whole answers have such
    parts, while they are adapted."""


DeltaField: TypeAlias = Literal["text", "summary", "signature", "citation"]


class PartDelta(_Event, frozen=True, tag="part_delta"):
    """More of an open part: of its text or arguments, unless `field` says otherwise.

    `piece` counts the pieces of a summary.
    """

    index: int
    text: str
    field: DeltaField = "text"
    piece: int = 0
    citation: Citation | None = None


class PartEnded(_Event, frozen=True, tag="part_ended"):
    """A part is complete, or will never be (`incomplete`)."""

    index: int
    incomplete: bool = False


class UsageSeen(_Event, frozen=True, tag="usage"):
    """Token counts so far; later ones replace earlier ones field by field."""

    usage: Usage


class Finished(_Event, frozen=True, tag="finished"):
    """The response is complete: one stop reason for each choice."""

    stops: tuple[StopReason, ...]
    extras: Extras = NO_EXTRAS
    unstated: tuple[int, ...] = ()
    """The choices whose stop reason nobody gave; `stops` says `other` of them."""


class Failed(_Event, frozen=True, tag="failed"):
    """The response broke off."""

    error: ApiError


class OpaqueEvent(_Event, frozen=True, tag="opaque"):
    """An event that only its own protocol understands."""

    protocol: str
    type: str
    value: Json


Event: TypeAlias = (
    Started | PartStarted | PartDelta | PartEnded | UsageSeen | Finished | Failed | OpaqueEvent
)


Direct: TypeAlias = tuple[int, Callable[[str], object] | None]
"""How the text of an open part goes past a pass: the number of the part behind it, and who wants to
have the text too."""


class StreamPass(Protocol):
    """Adapts an answer event by event: whole answers and streams go through the same passes."""

    def feed(self, event: Event) -> Sequence[Event]:
        """What one event becomes."""
        ...


class DirectPass(StreamPass, Protocol):
    """A pass that most text goes through unchanged, and need not go through at all."""

    def direct(self, index: int) -> Direct | None:
        """How text of an open part goes past this pass until a part starts or ends; None: it has to
        go through.
        """
        ...


# --- grammar -------------------------------------------------------------------------------------

_ANYTIME: Final = frozenset(
    {PartStarted, PartDelta, PartEnded, UsageSeen, OpaqueEvent, Finished, Failed}
)
FOLLOWS: Final[dict[type[Any] | None, frozenset[type[Any]]]] = {
    None: frozenset({Started, Failed}),
    Started: _ANYTIME,
    PartStarted: _ANYTIME,
    PartDelta: _ANYTIME,
    PartEnded: _ANYTIME,
    UsageSeen: _ANYTIME,
    OpaqueEvent: _ANYTIME,
    Finished: frozenset(),
    Failed: frozenset(),
}
"""Which event may follow which; None is the beginning."""


class Grammar:
    """Checks one stream, event by event."""

    __slots__ = ("_last", "_next", "_open", "complete")

    def __init__(self) -> None:
        self.complete = False
        """Whether the stream has come to its end."""
        self._last: type[Any] | None = None
        self._next = 0
        self._open: set[int] = set()

    def check(self, event: Event) -> None:
        """Raise `StreamError` if the event may not come now; then it leaves no trace."""
        kind = type(event)
        if kind is PartDelta and event.index in self._open and self._last is not Failed:  # type: ignore[union-attr]  # a PartDelta
            # By far the most events; while a part is open, only a failure ends the stream.
            self._last = kind
            return
        if kind not in FOLLOWS[self._last]:
            before = self._last.__name__ if self._last else "the beginning"
            raise StreamError(f"{kind.__name__} may not follow {before}")
        if isinstance(event, PartDelta):
            self._must_be_open(event.index)
        elif isinstance(event, PartStarted):
            if event.index != self._next:
                raise StreamError(f"part {event.index} starts where part {self._next} is due")
            self._next += 1
            if not event.whole:
                self._open.add(event.index)
        elif isinstance(event, PartEnded):
            self._must_be_open(event.index)
            self._open.remove(event.index)
        elif isinstance(event, Finished) and self._open:
            raise StreamError(f"finished while part {min(self._open)} is open")
        self._last = kind
        self.complete = not FOLLOWS[kind]

    @property
    def parts(self) -> int:
        """How many parts started so far."""
        return self._next

    @property
    def begun(self) -> bool:
        """Whether anything came yet."""
        return self._last is not None

    @property
    def open(self) -> frozenset[int]:
        """The parts that have started and not ended."""
        return frozenset(self._open)

    def _must_be_open(self, index: int) -> None:
        if index not in self._open:
            raise StreamError(f"part {index} is not open")


# --- whole responses -----------------------------------------------------------------------------


class Growing:
    """A part under construction; text is collected in a list so that time stays linear."""

    __slots__ = ("choice", "citations", "part", "pieces", "signature", "texts", "whole")

    def __init__(self, event: PartStarted) -> None:
        self.choice = event.choice
        self.part = event.part
        self.whole = event.whole
        self.texts: list[str] = []
        self.signature: list[str] = []
        self.pieces: dict[int, list[str]] = {}
        self.citations: list[Citation] = []

    def add(self, delta: PartDelta) -> None:
        if delta.field == "text":
            self.texts.append(delta.text)
        elif delta.field == "signature":
            self.signature.append(delta.text)
        elif delta.field == "summary":
            self.pieces.setdefault(delta.piece, []).append(delta.text)
        elif delta.citation is not None:
            self.citations.append(delta.citation)

    def finish(self) -> Part:
        """The part as far as it came."""
        part = self.part
        if self.whole:
            return part
        text = "".join(self.texts)
        if isinstance(part, ToolCall):
            return replace(
                part, arguments=part.arguments + text, signature=self._signature(part.signature)
            )
        if isinstance(part, Text):
            return replace(
                part,
                text=part.text + text,
                citations=part.citations + tuple(self.citations),
                signature=self._signature(part.signature),
            )
        if isinstance(part, Reasoning):
            return replace(
                part,
                text=part.text + text,
                summary=part.summary + tuple("".join(self.pieces[i]) for i in sorted(self.pieces)),
                signature=self._signature(part.signature),
            )
        if isinstance(part, Refusal):
            return replace(part, text=part.text + text)
        return part

    def events(self, index: int, part: Part, *, incomplete: bool = False) -> list[Event]:
        """A part that was held until it was complete: in one piece, if it came so."""
        if self.whole:
            return [PartStarted(index, part, self.choice, whole=True)]
        *events, _ = unfold_part(index, part, self.choice)
        return [*events, PartEnded(index, incomplete)]

    def _signature(self, known: str | None) -> str | None:
        return (known or "") + "".join(self.signature) if self.signature else known


def fold(events: Iterable[Event]) -> Response | ApiError:
    """The whole response that a stream of events makes up."""
    started: Started | None = None
    parts: list[PartStarted] = []
    growing: dict[int, Growing] = {}
    usage: Usage | None = None
    finished = Finished(())
    for event in events:
        if type(event) is PartStarted:
            parts.append(event)
            if not event.whole:
                growing[event.index] = Growing(event)
        elif type(event) is PartDelta:
            growing[event.index].add(event)
        elif type(event) is Started:
            started, usage = event, event.usage
        elif type(event) is UsageSeen:
            usage = merge_usage(usage, event.usage)
        elif type(event) is Finished:
            finished = event
        elif type(event) is Failed:
            return event.error
    if started is None:
        raise StreamError("the stream did not begin")
    return Response(
        id=started.id,
        model=started.model,
        created=started.created,
        service_tier=started.service_tier,
        choices=_choices(started.choices, parts, growing, finished),
        usage=usage,
        extras=_together(started.extras, finished.extras),
    )


def _choices(
    known: tuple[Choice, ...] | None,
    parts: list[PartStarted],
    growing: dict[int, Growing],
    finished: Finished,
) -> tuple[Choice, ...]:
    if known is None:
        count = max([1, len(finished.stops), *(start.choice + 1 for start in parts)])
        known = tuple(Choice(parts=(), index=index) for index in range(count))
    said: list[list[Part]] = [[] for _ in known]
    for start in parts:
        part = start.part if start.whole else growing[start.index].finish()
        said[start.choice].append(part)
    return tuple(
        [
            replace(choice, parts=tuple(said[place]), stop=_stop(finished, place))
            for place, choice in enumerate(known)
        ]
    )


def _stop(finished: Finished, choice: int) -> StopReason | None:
    if choice >= len(finished.stops) or choice in finished.unstated:
        return None
    return finished.stops[choice]


def _together(first: Extras, last: Extras) -> Extras:
    if not first or not last:
        return first or last
    return {name: {**first.get(name, {}), **last.get(name, {})} for name in (*first, *last)}


def unfold(response: Response | ApiError) -> Iterator[Event]:
    """The events of a response that came whole, in pieces as a stream has them."""
    if isinstance(response, ApiError):
        yield Failed(response)
        return
    for event in whole_parts(response):
        if isinstance(event, PartStarted):
            yield from unfold_part(event.index, event.part, event.choice)
        else:
            yield event


def whole_parts(response: Response) -> list[Event]:
    """The events of a response that came whole, each part in one piece."""
    events: list[Event] = [_started(response)]
    index = 0
    for place, choice in enumerate(response.choices):
        for part in choice.parts:
            events.append(PartStarted(index, part, place, whole=True))
            index += 1
    if response.usage is not None:
        events.append(UsageSeen(response.usage))
    stops = [choice.stop for choice in response.choices]
    unstated = tuple(i for i, stop in enumerate(stops) if stop is None) if None in stops else ()
    events.append(Finished(tuple(stop or _UNSTATED for stop in stops), response.extras, unstated))
    return events


_UNSTATED: Final = StopReason(kind="other")


def _started(response: Response) -> Started:
    return Started(
        id=response.id,
        model=response.model,
        created=response.created,
        service_tier=response.service_tier,
        choices=tuple([replace(choice, parts=(), stop=None) for choice in response.choices]),
    )


def join_parts(events: Iterable[Event]) -> list[Event]:
    """The same events with every part in one piece, where its start was."""
    joined: list[Event] = []
    growing: dict[int, tuple[int, Growing]] = {}
    for event in events:
        if isinstance(event, PartStarted):
            if not event.whole:
                growing[event.index] = len(joined), Growing(event)
            joined.append(event)
        elif isinstance(event, PartDelta):
            growing[event.index][1].add(event)
        elif isinstance(event, PartEnded):
            place, part = growing.pop(event.index)
            joined[place] = PartStarted(event.index, part.finish(), part.choice, whole=True)
        else:
            joined.append(event)
    return joined


def join_deltas(events: Iterable[Event]) -> list[Event]:
    """The same events with neighbouring pieces of one text as one piece."""
    joined: list[Event] = []
    pieces: list[PartDelta] = []
    for event in events:
        if type(event) is PartDelta and event.field == "text":
            if pieces and pieces[0].index != event.index:
                joined.append(_joined(pieces))
                pieces = []
            pieces.append(event)
            continue
        if pieces:
            joined.append(_joined(pieces))
            pieces = []
        joined.append(event)
    return [*joined, _joined(pieces)] if pieces else joined


def _joined(pieces: list[PartDelta]) -> PartDelta:
    return replace(pieces[0], text="".join([piece.text for piece in pieces]))


def unfold_part(index: int, part: Part, choice: int = 0) -> Iterator[Event]:
    """The events of one whole part."""
    unfolder = _UNFOLDERS.get(type(part))
    if unfolder is None or (isinstance(part, Reasoning) and part.redacted):
        yield PartStarted(index, part, choice)
    else:
        start, deltas = unfolder(index, part)
        yield PartStarted(index, start, choice)
        yield from (
            delta for delta in deltas if delta.text or delta.citation or delta.field != "text"
        )
    yield PartEnded(index)


def _unfold_call(index: int, part: ToolCall) -> tuple[Part, list[PartDelta]]:
    return replace(part, arguments=""), [PartDelta(index, part.arguments)]


def _unfold_text(index: int, part: Text) -> tuple[Part, list[PartDelta]]:
    citations = [PartDelta(index, "", "citation", citation=each) for each in part.citations]
    start = replace(part, text="", citations=(), signature=None)
    return start, [PartDelta(index, part.text), *citations, *_signed(index, part.signature)]


def _unfold_reasoning(index: int, part: Reasoning) -> tuple[Part, list[PartDelta]]:
    pieces = [PartDelta(index, text, "summary", i) for i, text in enumerate(part.summary)]
    start = replace(part, text="", summary=(), signature=None)
    return start, [*pieces, PartDelta(index, part.text), *_signed(index, part.signature)]


def _unfold_refusal(index: int, part: Refusal) -> tuple[Part, list[PartDelta]]:
    return replace(part, text=""), [PartDelta(index, part.text)]


def _signed(index: int, signature: str | None) -> list[PartDelta]:
    return [] if signature is None else [PartDelta(index, signature, "signature")]


_UNFOLDERS: Final[dict[type[Any], Callable[[int, Any], tuple[Part, list[PartDelta]]]]] = {
    ToolCall: _unfold_call,
    Text: _unfold_text,
    Reasoning: _unfold_reasoning,
    Refusal: _unfold_refusal,
}


def merge_usage(old: Usage | None, new: Usage) -> Usage:
    """Later counts over earlier ones, field by field."""
    if old is None:
        return new
    known = {
        name: value
        for name in ("input", "cache_read", "cache_write", "output", "reasoning")
        if (value := getattr(new, name)) is not None
    }
    return replace(old, **known, extras=new.extras or old.extras)
