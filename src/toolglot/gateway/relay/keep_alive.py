"""Keep-alives for streams whose provider is silent."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final, Protocol

from toolglot.gateway.http.response_writers import ResponseWriter

_EVENT_ENDS: Final = (b"\n\n", b"\r\n\r\n", b"\r\r")
_LONGEST_END: Final = 4


class OpenStream:
    """A stream that is being written."""

    __slots__ = ("_end", "last", "sign", "writer")

    def __init__(self, writer: ResponseWriter, sign: bytes) -> None:
        self.writer = writer
        self.sign = sign
        """The bytes of a keep-alive."""
        self.last = time.monotonic()
        self._end = b""

    def wrote(self, data: bytes) -> None:
        self.last = time.monotonic()
        end = data[-_LONGEST_END:]
        self._end = end if len(end) == _LONGEST_END else (self._end + end)[-_LONGEST_END:]

    @property
    def ready(self) -> bool:
        """Whether a keep-alive can be written: no event is half written, and nothing waits."""
        return self._end.endswith(_EVENT_ENDS) and self.writer.drained


class Unanswered(Protocol):
    """A request for a stream of which nothing was written yet."""

    async def open_early(self) -> None:
        """Begin the stream with a keep-alive."""
        ...


class OpenStreams:
    """All streams that are being written and whose protocol has keep-alives."""

    def __init__(self) -> None:
        self._streams: set[OpenStream] = set()
        self._unanswered: dict[Unanswered, float] = {}

    def expect(self, request: Unanswered) -> None:
        """Begin the stream of a request if nobody answers it for long."""
        self._unanswered[request] = time.monotonic()

    def answered(self, request: Unanswered) -> None:
        self._unanswered.pop(request, None)

    def add(self, stream: OpenStream) -> None:
        if stream.sign:
            self._streams.add(stream)

    def discard(self, stream: OpenStream) -> None:
        self._streams.discard(stream)

    async def keep_alive(self, patience: Callable[[], float]) -> None:
        """Send keep-alives to clients whose provider is silent, until this is cancelled."""
        while True:
            seconds = patience()
            await asyncio.sleep(min(1.0, seconds))
            late = time.monotonic() - seconds
            for request, since in tuple(self._unanswered.items()):
                if since < late and request in self._unanswered:
                    del self._unanswered[request]
                    with suppress(ConnectionError):
                        await request.open_early()
            for each in tuple(self._streams):
                if each in self._streams and each.last < late and each.ready:
                    each.last = time.monotonic()
                    with suppress(ConnectionError):
                        await each.writer.write(each.sign)
