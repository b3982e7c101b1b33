"""What engines tell a reader of arguments that are still coming."""

from typing import Any, Final

from toolglot.dialects.reader import Reader, encoded
from toolglot.dialects.streaming import LiveJson
from toolglot.wire import jsontext

_LINE_BREAK: Final = 2
"""The longest line break."""


class ObjectArguments:
    """Tells the arguments that stand as an object from a place on."""

    __slots__ = ("_live", "_pos", "_reader")

    def __init__(self, reader: Reader, pos: int) -> None:
        self._reader = reader
        self._pos = pos
        self._live = LiveJson()

    def __call__(self, end: int) -> None:
        """It came as far as this."""
        live = self._live
        if self._reader.live and self._pos < end and not (live.done or live.failed):
            piece = self._reader.buf[self._pos : end]
            self._pos = end
            self._reader.tell(live.feed(piece))


class MemberArguments:
    """Tells arguments that come one by one, texts among them while they come."""

    __slots__ = ("_at", "_head", "_lined", "_open", "_reader", "_separator", "_size", "dead")

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._separator = "{"
        self._head = ""
        self._open = False
        self._at = 0
        self._size = 0
        self._lined: bool | None = None
        self.dead = False
        """Whether what came may mean something else at the end."""

    def open(self, key: str, at: int, *, trims: bool) -> None:
        """A text begins; `trims` if one line break at either end is not part of it."""
        self._head = f"{self._separator}{jsontext.text(key)}:"
        self._open, self._at, self._size = self._reader.live and not self.dead, at, 0
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
            self._tell(buf[self._at : end], '"' if not self._size else "")
            self._size += end - self._at
            self._at = end

    def _tell(self, text: str, quote: str = "") -> None:
        head, self._head = self._head, ""
        self._reader.tell(head + quote + jsontext.text(text)[1:-1])

    def add(self, key: str, value: Any) -> None:
        """A value is whole."""
        if self.dead or not self._reader.live:
            return
        if self._open and self._size and isinstance(value, str):
            self._tell(value[self._size :])
            self._reader.tell('"')
        else:
            self._reader.tell(f"{self._separator}{jsontext.text(key)}:{encoded(value)}")
        self._open, self._separator = False, ","
