"""How engines pass arguments that are still coming on to the reader."""

from typing import Any, Final

from toolglot.dialects.reader import Reader, encoded
from toolglot.dialects.streaming import JsonStream
from toolglot.wire import jsontext

_LINE_BREAK: Final = 2
"""The longest line break."""


class ObjectArguments:
    """Streams arguments that are one JSON object, from a position on."""

    __slots__ = ("_pos", "_reader", "_stream")

    def __init__(self, reader: Reader, pos: int) -> None:
        self._reader = reader
        self._pos = pos
        self._stream = JsonStream()

    def __call__(self, end: int) -> None:
        """It came as far as this."""
        stream = self._stream
        if self._reader.live and self._pos < end and not (stream.done or stream.failed):
            piece = self._reader.buf[self._pos : end]
            self._pos = end
            self._reader.stream(stream.feed(piece))


class MemberArguments:
    """Streams arguments that come one by one, strings among them while they come."""

    __slots__ = ("_at", "_head", "_lined", "_open", "_reader", "_separator", "_size", "uncertain")

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._separator = "{"
        self._head = ""
        self._open = False
        self._at = 0
        self._size = 0
        self._lined: bool | None = None
        self.uncertain = False
        """Whether what came may mean something else at the end."""

    def open(self, key: str, at: int, *, trims: bool) -> None:
        """A text begins; `trims` if one line break at either end is not part of it."""
        self._head = f"{self._separator}{jsontext.text(key)}:"
        self._open, self._at, self._size = self._reader.live and not self.uncertain, at, 0
        self._lined = None if trims else False

    def __call__(self, end: int) -> None:
        """It came as far as this, and more of it follows."""
        buf = self._reader.buf
        if not self._open:
            return
        if self._lined is None:
            if end - self._at < _LINE_BREAK:
                return
            lead = 1 if buf[self._at] == "\n" else 2 * buf.startswith("\r\n", self._at)
            self._lined = bool(lead)
            self._at += lead
        if self._lined:
            end -= buf[end - 1] == "\n"
            end -= buf[end - 1] == "\r"
        if end > self._at:
            self._stream(buf[self._at : end], '"' if not self._size else "")
            self._size += end - self._at
            self._at = end

    def _stream(self, text: str, quote: str = "") -> None:
        head, self._head = self._head, ""
        self._reader.stream(head + quote + jsontext.text(text)[1:-1])

    def add(self, key: str, value: Any) -> None:
        """A value is complete."""
        if self.uncertain or not self._reader.live:
            return
        if self._open and self._size and isinstance(value, str):
            self._stream(value[self._size :])
            self._reader.stream('"')
        else:
            self._reader.stream(f"{self._separator}{jsontext.text(key)}:{encoded(value)}")
        self._open, self._separator = False, ","
