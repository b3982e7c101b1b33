"""Server-sent events, both ways, from bytes cut anywhere.

Reference: https://html.spec.whatwg.org/multipage/server-sent-events.html (read 2026-11-15). Lines
end in LF, CRLF or CR and in nothing else: U+2028 inside JSON is not a line end. Real servers leave
out the space after `data:`, the `event:` line, and sometimes the last blank line; all of that is
read.
"""

from typing import Final

from toolglot.errors import DecodeError

MAX_LINE: Final = 64 * 1024 * 1024
"""Bytes that one event may have. Ten megabytes of arguments occur; this only bounds memory."""


class SseDecoder:
    """Bytes to (event name, data) pairs."""

    __slots__ = ("_cr", "_data", "_first", "_held", "_name", "_size", "_tail", "between")

    def __init__(self) -> None:
        self._tail: list[bytes] = []
        self._size = 0
        self._name = ""
        self._data: list[bytes] = []
        self._held = 0
        self._cr = False
        self._first = True
        self.between = False
        """Whether the bytes so far ended with an event, so that the next may be one more."""

    def feed(self, data: bytes) -> list[tuple[str, bytes]]:
        """The events that these bytes complete."""
        if self.between and (one := only_event(data)) is not None:
            return [one]
        events = self._lines(data)
        self.between = not (self._tail or self._data or self._first or self._cr or self._name)
        return events

    def _lines(self, data: bytes) -> list[tuple[str, bytes]]:
        if self._cr and data:
            # A CR ended the last piece; an LF that follows belongs to it.
            self._cr = False
            if data[:1] == b"\n":
                data = data[1:]
        if b"\r" in data:
            self._cr = data[-1:] == b"\r"
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        cut = data.rfind(b"\n")
        if cut < 0:
            self._keep(data)
            return []
        lines = data[:cut]
        if self._tail:
            lines = b"".join((*self._tail, lines))
            self._tail.clear()
        self._size = 0
        self._keep(data[cut + 1 :])
        if self._first:
            self._first = False
            lines = lines.removeprefix(b"\xef\xbb\xbf")
        return self._read(lines)

    def close(self) -> list[tuple[str, bytes]]:
        """The event that the stream ended in, if it ended without a blank line."""
        return self.feed(b"\n\n") if self._tail or self._data else []

    def _keep(self, data: bytes) -> None:
        if data:
            self._size += len(data)
            self._bound(self._held + self._size)
            self._tail.append(data)

    def _bound(self, size: int) -> None:
        if size > MAX_LINE:
            raise DecodeError("", f"one event of the stream is longer than {MAX_LINE} bytes")

    def _read(self, lines: bytes) -> list[tuple[str, bytes]]:
        events: list[tuple[str, bytes]] = []
        for line in lines.split(b"\n"):
            if line[:5] == b"data:" or line == b"data":
                self._held += len(line)
                self._bound(self._held)
                self._data.append(line[6:] if line[5:6] == b" " else line[5:])
            elif not line:
                if self._data:
                    data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
                    events.append((self._name, data))
                    self._data = []
                    self._held = 0
                self._name = ""
            elif line[:6] == b"event:":
                self._name = line[6:].strip().decode("utf-8", "replace")
        return events


def only_event(data: bytes) -> tuple[str, bytes] | None:
    """The event in bytes that hold one and nothing else, as most do; None if they may not."""
    start, name = 6, ""
    end = data.find(b"\n")
    if data[:6] != b"data: ":
        if not data.startswith(b"event: ") or not data.startswith(b"data: ", end + 1):
            return None
        start, name = end + 7, data[7:end].decode("utf-8", "replace").strip()
        end = data.find(b"\n", start)
    if end > MAX_LINE:
        return None
    cr = data.find(b"\r")
    if cr < 0 and data[end:] == b"\n\n":
        return name, data[start:end]
    if cr == end - 1 and data[end:] == b"\n\r\n":
        return name, data[start:cr]
    return None


def frame(data: bytes, event: bytes = b"") -> bytes:
    """One event as bytes."""
    head = b"event: " + event + b"\n" if event else b""
    return head + b"data: " + data + b"\n\n"
