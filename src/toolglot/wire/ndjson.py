"""Newline-delimited JSON from bytes cut anywhere."""

from toolglot.errors import DecodeError
from toolglot.wire.sse import MAX_LINE


class NdjsonDecoder:
    """Bytes to lines, blank ones left out."""

    __slots__ = ("_size", "_tail")

    def __init__(self) -> None:
        self._tail: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that these bytes complete."""
        cut = data.rfind(b"\n")
        if cut < 0:
            self._keep(data)
            return []
        lines = b"".join((*self._tail, data[:cut]))
        self._tail.clear()
        self._size = 0
        self._keep(data[cut + 1 :])
        return [line for each in lines.split(b"\n") if (line := each.strip())]

    def close(self) -> list[bytes]:
        """The line that the stream ended in, if it ended without a line end."""
        return self.feed(b"\n")

    def _keep(self, data: bytes) -> None:
        if data:
            self._size += len(data)
            if self._size > MAX_LINE:
                raise DecodeError("", f"one line of the stream is longer than {MAX_LINE} bytes")
            self._tail.append(data)
