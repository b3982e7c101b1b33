"""The bytes of Gemini streams: SSE, or without `alt=sse` one JSON array that grows."""

import re
from typing import Any, Final

from toolglot.errors import DecodeError
from toolglot.ir import Json
from toolglot.wire import jsontext
from toolglot.wire.sse import MAX_LINE, SseDecoder

_TOKEN: Final = re.compile(rb'[\\"{}]')
_BLANK: Final = b" \t\r\n\xef\xbb\xbf"
_LINE_ENDS: Final = tuple(
    (character.encode(), b"\\u%04x" % ord(character)) for character in "\x85\u2028\u2029"
)
_QUOTE, _BACKSLASH, _OPEN, _CLOSE = b'"\\{}'


class Framing:
    """Bytes to the JSON text of each chunk, however they are framed."""

    __slots__ = ("_inner",)

    def __init__(self) -> None:
        self._inner: SseDecoder | ArrayDecoder | None = None

    def feed(self, data: bytes) -> list[tuple[str, bytes]]:
        """The chunks that these bytes complete."""
        if self._inner is None:
            data = data.lstrip(_BLANK)
            if not data:
                return []
            self._inner = ArrayDecoder() if data[:1] in b"[{" else SseDecoder()
        if isinstance(self._inner, ArrayDecoder):
            return [("", payload) for payload in self._inner.feed(data)]
        return self._inner.feed(data)

    def close(self) -> list[tuple[str, bytes]]:
        """The chunk that the stream ended in, if it was complete."""
        return self._inner.close() if isinstance(self._inner, SseDecoder) else []


class ArrayDecoder:
    """Bytes of a JSON array to the text of each object in it. Looks at every byte once."""

    __slots__ = ("_depth", "_escaped", "_quoted", "_size", "_tail")

    def __init__(self) -> None:
        self._tail: list[bytes] = []
        self._size = 0
        self._depth = 0
        self._quoted = False
        self._escaped = False

    def feed(self, data: bytes) -> list[bytes]:
        """The objects that these bytes complete."""
        objects: list[bytes] = []
        start = 0
        # A backslash may have ended the last piece: the first byte is then no token.
        skip = 1 if self._escaped and data else 0
        self._escaped = self._escaped and not data
        for match in _TOKEN.finditer(data):
            place = match.start()
            if place < skip:
                continue
            token = data[place]
            if self._quoted or token == _QUOTE:
                skip = self._text(token, place, len(data))
            elif token == _OPEN:
                start = start if self._depth else place
                self._depth += 1
            elif token == _CLOSE and self._depth:
                self._depth -= 1
                if not self._depth:
                    objects.append(b"".join((*self._tail, data[start : place + 1])))
                    self._tail.clear()
                    self._size = 0
        if self._depth:
            self._keep(data[start:])
        return objects

    def _text(self, token: int, place: int, size: int) -> int:
        """A token in a string, or one that begins it; where the next one may be."""
        if token == _BACKSLASH:
            self._escaped = place + 2 > size
            return place + 2
        if token == _QUOTE:
            self._quoted = not self._quoted
        return 0

    def _keep(self, data: bytes) -> None:
        self._size += len(data)
        if self._size > MAX_LINE:
            raise DecodeError("", f"one object of the stream is longer than {MAX_LINE} bytes")
        self._tail.append(data)


def json_line(value: Any) -> bytes:
    """A JSON text on one line, for clients that end lines where Unicode may, not only SSE."""
    data = jsontext.encode(value)
    if not data.isascii():
        for character, escape in _LINE_ENDS:
            data = data.replace(character, escape)
    return data


def frame(value: Json) -> bytes:
    """One chunk as bytes: clients of this protocol read no event names and no comments."""
    return b"data: " + json_line(value) + b"\r\n\r\n"
