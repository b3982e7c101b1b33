"""Streams that are not translated, split into events that are checked one by one.

Clients differ in what they tolerate. An event that lacks what the strictest of them need has to be
encoded again; everything else passes byte for byte.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple, Protocol

from toolglot.errors import DecodeError
from toolglot.ir import Json
from toolglot.wire import jsontext
from toolglot.wire.event_stream import MEDIA_TYPE as MESSAGES
from toolglot.wire.event_stream import EventStreamDecoder
from toolglot.wire.sse import MAX_LINE, SseDecoder, only_event

LINES: Final = "application/x-ndjson"

_SSE_END: Final = re.compile(rb"[\r\n](?:(?<=\r)\n)?+(?>\r\n?|\n)")
_SSE_END_LF: Final = re.compile(rb"\n\n")
"""The same where there is no CR, which is found much faster."""
_LINE_END: Final = re.compile(rb"\n")
_EDGE: Final = 3
"""Bytes before a piece that may belong to the end of an event in it."""
_COMMENT: Final = b":"
_COMMENTED: Final = re.compile(rb"(?:^|[\r\n]):")


class Check(Protocol):
    """What a protocol's strictest clients need, event by event."""

    ended: bool
    """Whether they know that the answer is complete."""

    def accepts(self, name: str, value: Json) -> bool:
        """Whether they can parse this event."""
        ...

    def accepts_marker(self, payload: bytes) -> bool:
        """Whether they can parse an event that is no JSON object."""
        ...


class SplitEvent(NamedTuple):
    """Bytes up to the end of an event."""

    raw: bytes
    readable: bool
    """Whether the strictest clients can read it as it is."""
    events: list[tuple[str, bytes, Json | None]]
    """The event in them, which a comment has not: its name, its data, and the JSON object in
    that.
    """


class EventSplitter:
    """Bytes cut anywhere to whole events, each with whether it may pass as it is."""

    __slots__ = (
        "_check", "_comments", "_edge", "_end", "_ended_in_return", "_size", "_sse", "_tail",
        "readable",
    )  # fmt: skip

    def __init__(self, check: Check, *, lines: bool = False, comments: bool = True) -> None:
        self._check = check
        self._comments = comments
        self._end = _LINE_END if lines else _SSE_END
        self._sse = None if lines else SseDecoder()
        self._tail: list[bytes] = []
        self._edge = b""
        self._size = 0
        self._ended_in_return = False
        self.readable: bool | None = None
        """Whether these are events at all: not, for example, one array that grows."""

    def feed(self, data: bytes) -> Iterable[SplitEvent]:
        """The events that these bytes complete."""
        if self.readable is None and (begun := data.strip()):
            self.readable = self._sse is None or begun[:1] not in b"[{"
        if self.readable is False:
            return (SplitEvent(data, readable=True, events=[]),)
        if not self._tail and self._sse is not None and (event := only_event(data)) is not None:
            # By far the most pieces.
            return (self._judged(data, (event,)),)
        return self._pieces(data)

    def _pieces(self, data: bytes) -> Iterator[SplitEvent]:
        edge, start, whole = len(self._edge), 0, self._edge + data
        plain = self._end is _SSE_END and b"\r" not in whole
        for match in (_SSE_END_LF if plain else self._end).finditer(whole):
            end = match.end() - edge
            raw = b"".join((*self._tail, data[start:end]))
            yield self._split(raw)
            self._ended_in_return = raw.endswith(b"\r")
            self._tail.clear()
            self._size, start = 0, end
        self._keep(data[start:])

    def close(self) -> Iterator[SplitEvent]:
        """The event that the stream ended in."""
        rest = self.take()
        if rest:
            yield self._split(rest, last=True)

    def owed(self) -> bytes:
        """What the last line end that was passed on lacks, if it was cut in the middle: not all
        clients take one half for a line end. It belongs to no event that comes later.
        """
        if not self._ended_in_return:
            return b""
        self._ended_in_return = False
        if self._tail:
            self._tail[0] = self._tail[0].removeprefix(b"\n")
        return b"\n"

    def is_ended(self, passed: bytes) -> bool:
        """Whether bytes end with a whole event, so that every client knows that it was one."""
        if not passed or self.readable is False:
            return True
        if self._sse is None:
            return passed.endswith(b"\n")
        lines = passed[-4:].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return lines.endswith(b"\n\n")

    def completed(self, passed: bytes) -> bytes:
        """What the last event was passed on as, with what it lacks to end; nothing, if no event is
        in it: whatever is written next must not be read as a part of it.
        """
        if self.readable is False:
            return passed
        if self._sse is None:
            return passed if not passed or passed.endswith(b"\n") else passed + b"\n"
        lines = passed.rstrip(b"\r\n")
        return lines + b"\n\n" if lines else b""

    def take(self) -> bytes:
        """The bytes that are no whole event yet, for the decoder that reads on."""
        rest = b"".join(self._tail)
        self._tail.clear()
        self._edge, self._size = b"", 0
        return rest

    def _keep(self, data: bytes) -> None:
        if data:
            self._size += len(data)
            if self._size > MAX_LINE:
                raise DecodeError("", f"one event of the stream is longer than {MAX_LINE} bytes")
            self._tail.append(data)
        held = b"".join(self._tail[-_EDGE:]) if self._tail else b""
        self._edge = held[-_EDGE:]

    def _split(self, raw: bytes, *, last: bool = False) -> SplitEvent:
        if self._sse is None:
            line = raw.strip()
            return self._judged(raw, (("", line),) if line else ())
        if not last and (event := only_event(raw)) is not None:
            return self._judged(raw, (event,))
        if not self._comments and _COMMENTED.search(raw):
            raw = _without_comments(raw)
        events = self._sse.feed(raw)
        if last:
            events += self._sse.close()
        return self._judged(raw, events)

    def _judged(self, raw: bytes, events: Iterable[tuple[str, bytes]]) -> SplitEvent:
        return _judged(self._check, raw, events)


class MessageSplitter:
    """The same for the messages of a binary event stream."""

    __slots__ = ("_check", "_decoder", "readable")

    def __init__(self, check: Check) -> None:
        self._check = check
        self._decoder = EventStreamDecoder()
        self.readable: bool | None = True

    def feed(self, data: bytes) -> Iterator[SplitEvent]:
        """The messages that these bytes complete; a `DecodeError` behind them if no more can be
        read.
        """
        for raw, message in self._decoder.messages(data):
            yield _judged(self._check, raw, (message.event(),))
        if self._decoder.broken:
            raise DecodeError("", self._decoder.broken)

    def close(self) -> Iterator[SplitEvent]:
        """Nothing: a message that was torn would be read as the beginning of what follows."""
        return iter(())

    def owed(self) -> bytes:
        """Nothing: only whole messages are passed on."""
        return b""

    def is_ended(self, _passed: bytes) -> bool:
        """Always, for the same reason."""
        return True

    def completed(self, passed: bytes) -> bytes:
        """What was passed on as it is: only whole messages are."""
        return passed

    def take(self) -> bytes:
        """The bytes that are no whole message yet, for the decoder that reads on."""
        return self._decoder.take()


def _judged(check: Check, raw: bytes, events: Iterable[tuple[str, bytes]]) -> SplitEvent:
    readable, read = True, []
    for name, payload in events:
        try:
            value: Any = jsontext.peek(payload)
        except ValueError:
            value = None
        if type(value) is dict:
            readable = readable and check.accepts(name, value)
        else:
            value = None
            readable = readable and check.accepts_marker(payload.strip())
        read.append((name, payload, value))
    return SplitEvent(raw, readable, read)


def make_splitter(
    check: Check, media_type: str, *, comments: bool = True
) -> EventSplitter | MessageSplitter:
    """What splits a stream of a media type."""
    if media_type == MESSAGES:
        return MessageSplitter(check)
    return EventSplitter(check, lines=media_type == LINES, comments=comments)


def _without_comments(raw: bytes) -> bytes:
    kept = [line for line in raw.splitlines(keepends=True) if not line.startswith(_COMMENT)]
    return b"".join(kept) if any(line.strip() for line in kept) else b""
