"""What the stream decoders and encoders of all protocols share."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, starmap
from typing import Any, ClassVar, Final, Protocol

from toolglot.context import Context
from toolglot.events import (
    Direct,
    Event,
    Failed,
    Finished,
    OpaqueEvent,
    PartDelta,
    PartEnded,
    PartStarted,
    Started,
    UsageSeen,
    merge_usage,
)
from toolglot.ir import ApiError, Json, Part, Usage
from toolglot.source_paths import StreamPlaces
from toolglot.wire import jsontext
from toolglot.wire.fields import WireDocument

CUT: Final = "the stream ended before the response did"


class OpenParts:
    """Numbers the parts of a stream and knows which are open, by whatever key the wire uses.

    `places` remembers where they would stand in an answer that came whole.
    """

    __slots__ = ("_indices", "_places", "count")

    def __init__(self, places: StreamPlaces | None = None) -> None:
        self._indices: dict[Hashable, int] = {}
        self._places = places
        self.count = 0

    def __contains__(self, key: Hashable) -> bool:
        return key in self._indices

    def __len__(self) -> int:
        return len(self._indices)

    def key(self, index: int) -> Hashable:
        """The key of an open part, by its number."""
        return next((key for key, number in self._indices.items() if number == index), None)

    def index(self, key: Hashable) -> int | None:
        """The number of an open part."""
        return self._indices.get(key)

    def start(self, key: Hashable, part: Part, choice: int = 0, path: str = "") -> PartStarted:
        """Open a part; `path` is its place in the whole answer, if that follows from its key."""
        if self._places is not None:
            self._places.add(part, choice, path)
        self._indices[key] = index = self.count
        self.count += 1
        return PartStarted(index, part, choice)

    def delta(self, key: Hashable, text: str) -> PartDelta:
        """More text of an open part."""
        return PartDelta(self._indices[key], text)

    def end(self, key: Hashable, *, incomplete: bool = False) -> PartEnded:
        """Close a part."""
        return PartEnded(self._indices.pop(key), incomplete)

    def end_all(self, *, incomplete: bool = False) -> Iterator[PartEnded]:
        """Close what is still open, in the order in which it was opened."""
        for key in list(self._indices):
            yield self.end(key, incomplete=incomplete)


# --- decoding ------------------------------------------------------------------------------------


class Framing(Protocol):
    """Bytes cut anywhere to the events that they hold: the name of each, if any, and its data."""

    def feed(self, data: bytes) -> Sequence[tuple[str, bytes]]:
        """The events that these bytes complete."""
        ...

    def close(self) -> Iterable[tuple[str, bytes]]:
        """The event that the stream ended in, if it was complete."""
        ...


def parse(data: bytes, ctx: Context, count: int, value: Json | None = None) -> Json | None:
    """The JSON object of an event, unless it was read already; a broken one is skipped with a note,
    so that the rest can be used.
    """
    if count == 1:
        ctx.begin(data)
    if value is not None:
        return value
    try:
        found: Any = jsontext.peek(data)
    except ValueError as error:
        found = _peek_replaced(data, ctx, count)
        if found is None:
            ctx.note("event-skipped", f"event {count}", f"not JSON: {error}")
            return None
    if not isinstance(found, dict):
        ctx.note("event-skipped", f"event {count}", "not a JSON object")
        return None
    return found


def _peek_replaced(data: bytes, ctx: Context, count: int) -> Any:
    """What is read if bytes that are no UTF-8 are replaced: servers cut characters into tokens.

    To skip such an event would lose the text around them, or a piece of a call's arguments.
    """
    text = data.decode("utf-8", "replace").encode()
    if text == data:
        return None
    try:
        found = jsontext.peek(text)
    except ValueError:
        return None
    ctx.note("bytes-replaced", f"event {count}")
    return found


def cut_off(parts: OpenParts) -> Iterator[Event]:
    """The events for a stream that breaks off: open parts closed as incomplete, and an error."""
    yield from parts.end_all(incomplete=True)
    yield Failed(ApiError(kind="server", message=CUT, status=502))


class BaseStreamDecoder(ABC):
    """Bytes to events: a protocol defines what one event of its streams means."""

    def __init__(self, document: WireDocument, framing: Framing) -> None:
        self._ctx = document.ctx
        self._document = document
        self._framing = framing
        source = document.ctx.source
        places = None if source is None else StreamPlaces(source)
        document.ctx.streamed = places
        self._parts = OpenParts(places)
        self._count = 0
        self._begun = self._over = False

    def feed(self, data: bytes) -> Iterable[Event]:
        """The events that these bytes complete."""
        framed = self._framing.feed(data)
        if len(framed) == 1:
            # As most pieces of a live stream.
            return self.read(*framed[0])
        return chain.from_iterable(starmap(self.read, framed))

    def close(self) -> Iterator[Event]:
        """What the end of the bytes means: nothing after a complete response, else an error."""
        for name, payload in self._framing.close():
            yield from self.read(name, payload)
        if not self._over:
            yield from self._at_end()

    @property
    def between_events(self) -> bool:
        """Whether the bytes so far ended with an event, in a protocol whose events are frames."""
        return getattr(self._framing, "between", False)

    repeats: ClassVar[bool] = False
    """Whether servers write the deltas of a part alike; then there is `direct`."""

    def direct(self, _index: int) -> Direct | None:
        """How the text of an open part goes past this decoder, if it was read elsewhere; None: it
        has to be read here.
        """
        return None

    @property
    def could_end(self) -> int:
        """How many events came, if the response is complete should no more come; else 0."""
        return 0

    @abstractmethod
    def read(self, name: str, payload: bytes, value: Json | None = None, /) -> Iterable[Event]:
        """What one event of the stream means; `value` is its JSON if that was read already."""

    def _at_end(self) -> Iterator[Event]:
        """The events for bytes that end before the response is complete."""
        return self._cut_off()

    def _skip(self, why: str) -> None:
        self._ctx.note("event-skipped", f"event {self._count}", why)

    def _cut_off(self) -> Iterator[Event]:
        self._over = True
        return cut_off(self._parts)


# --- encoding ------------------------------------------------------------------------------------


class BaseStreamEncoder(ABC):
    """Events to bytes: a protocol defines how each kind of event is written; some write nothing."""

    last_words: ClassVar[bytes] = b""
    """What a complete stream ends with, after all that it says."""
    _WRITERS: ClassVar[Mapping[type[Any], Callable[[Any, Any], bytes]]]

    def __init_subclass__(cls) -> None:
        # Looked up once: `encode` is called for every token of every stream.
        cls._WRITERS = {
            Started: cls._started,
            PartStarted: cls._part_started,
            PartDelta: cls._part_delta,
            PartEnded: cls._part_ended,
            UsageSeen: cls._usage_seen,
            Finished: cls._finished,
            Failed: cls._failed,
            OpaqueEvent: cls._opaque,
        }

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._writers = self._WRITERS
        self._usage: Usage | None = None

    def encode(self, event: Event) -> bytes:
        """The bytes of one event; some have none."""
        return self._writers[type(event)](self, event)

    def text_writer(self, index: int) -> Callable[[str], bytes]:
        """What writes more text of an open part that has got some before, until it ends."""
        write = self._part_delta
        return lambda text: write(PartDelta(index, text))

    def continue_after(self, payload: bytes) -> None:  # noqa: B027 - most have no numbers
        """The client has got a stream up to this event, which another wrote: events that have
        numbers go on from there.
        """

    def close(self) -> bytes:
        """Nothing: the last event has ended the stream."""
        return b""

    @abstractmethod
    def _started(self, event: Started) -> bytes: ...

    @abstractmethod
    def _part_started(self, event: PartStarted) -> bytes: ...

    @abstractmethod
    def _part_delta(self, event: PartDelta) -> bytes: ...

    @abstractmethod
    def _part_ended(self, event: PartEnded) -> bytes: ...

    def _usage_seen(self, event: UsageSeen) -> bytes:
        self._usage = merge_usage(self._usage, event.usage)
        return b""

    @abstractmethod
    def _finished(self, event: Finished) -> bytes: ...

    @abstractmethod
    def _failed(self, event: Failed) -> bytes: ...

    @abstractmethod
    def _opaque(self, event: OpaqueEvent) -> bytes: ...
