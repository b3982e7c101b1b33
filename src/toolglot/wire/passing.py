"""Streams that stay in their protocol: whole events, each with a judgement whether it may pass as
it is.

Clients differ in what they forgive. An event that lacks what the strictest of them needs is written
anew by whoever asks here; everything else passes byte for byte.
"""

import re
from collections.abc import Iterator
from typing import Any, Final, Protocol

from toolglot.errors import DecodeError
from toolglot.ir import Json
from toolglot.wire import jsontext
from toolglot.wire.sse import MAX_LINE, SseDecoder

_SSE_END: Final = re.compile(rb"(?>\r\n|\n|\r)(?>\r\n|\n|\r)")
_LINE_END: Final = re.compile(rb"\n")
_EDGE: Final = 3
"""Bytes before a piece that may belong to the end of an event in it."""
_COMMENT: Final = b":"
_COMMENTED: Final = re.compile(rb"(?:^|[\r\n]):")


class Check(Protocol):
    """What a protocol's strictest clients need, event by event."""

    ended: bool
    """Whether they were told that the answer is complete."""

    def sound(self, name: str, value: Json) -> bool:
        """Whether they can read this event."""
        ...

    def sound_mark(self, payload: bytes) -> bool:
        """Whether they can read an event that is no JSON object."""
        ...


class Passing:
    """Bytes cut anywhere to whole events, each with whether it may pass."""

    __slots__ = ("_check", "_comments", "_edge", "_end", "_size", "_sse", "_tail", "readable")

    def __init__(self, check: Check, *, lines: bool = False, comments: bool = True) -> None:
        self._check = check
        self._comments = comments
        self._end = _LINE_END if lines else _SSE_END
        self._sse = None if lines else SseDecoder()
        self._tail: list[bytes] = []
        self._edge = b""
        self._size = 0
        self.readable: bool | None = None
        """Whether these are events at all: not, for example, one array that grows."""

    def feed(self, data: bytes) -> Iterator[tuple[bytes, bool]]:
        """The events that these bytes complete."""
        if self.readable is None and (begun := data.strip()):
            self.readable = self._sse is None or begun[:1] not in b"[{"
        if self.readable is False:
            yield data, True
            return
        edge, start = len(self._edge), 0
        for match in self._end.finditer(self._edge + data):
            end = match.end() - edge
            yield self._judged(b"".join((*self._tail, data[start:end])))
            self._tail.clear()
            self._size, start = 0, end
        self._keep(data[start:])

    def close(self) -> Iterator[tuple[bytes, bool]]:
        """The event that the stream ended in."""
        rest = self.take()
        if rest:
            yield self._judged(rest, last=True)

    def take(self) -> bytes:
        """The bytes that are no whole event yet, which are then somebody else's."""
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

    def _judged(self, raw: bytes, *, last: bool = False) -> tuple[bytes, bool]:
        if self._sse is None:
            return raw, not raw.strip() or self._is_sound("", raw)
        if not self._comments and _COMMENTED.search(raw):
            raw = _without_comments(raw)
        events = self._sse.feed(raw)
        if last:
            events += self._sse.close()
        return raw, all(self._is_sound(name, payload) for name, payload in events)

    def _is_sound(self, name: str, payload: bytes) -> bool:
        try:
            value: Any = jsontext.peek(payload)
        except ValueError:
            value = None
        if type(value) is dict:
            return self._check.sound(name, value)
        return self._check.sound_mark(payload.strip())


def _without_comments(raw: bytes) -> bytes:
    kept = [line for line in raw.splitlines(keepends=True) if not line.startswith(_COMMENT)]
    return b"".join(kept) if any(line.strip() for line in kept) else b""
