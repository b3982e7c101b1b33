"""One connection to a server: requests, one after the other, and their replies.

A reply is read in one of two ways. `read` and `read_some` wait for bytes. `forward` passes them on:
a function is called with what has arrived, in the very callback in which it arrived. If the reader
is slow, the socket is read no further.
"""

import asyncio
import select
import zlib
from collections.abc import Callable
from typing import Any, Final, Self, cast

import httptools

from toolglot.http1.connection_errors import error_words
from toolglot.http1.decompress import Decompressor, decompressor
from toolglot.http1.headers import Headers

_BUFFER: Final = 2**18
"""Bytes of a reply that may wait for their reader before the socket is read no further."""
_LONGEST_HEAD: Final = 2**16
_DRAIN: Final = 0.5
"""Seconds, and bytes, that a reply of which all was read may take to end."""
_DRAINED: Final = 2**16
_INFORMATIONAL: Final = 200
_SWITCHING: Final = 101
_NEVER: Final = float("inf")
_HUNG_UP: Final = sum(
    getattr(select, name, 0) for name in ("POLLRDHUP", "POLLHUP", "POLLERR", "POLLNVAL")
)
"""What says of a socket that its other side has closed it, whether that was read yet or not."""


class ReplyError(Exception):
    """A reply that ended before it was complete, or that is no HTTP."""


class ConnectionDroppedError(ReplyError):
    """The connection was closed without a reply."""

    reused = False
    """Whether it had been kept from an earlier request: the server may not have seen this one."""


class Reply:
    """The reply to a request, from its head on. Closing it early closes its connection."""

    __slots__ = (
        "_connection", "_decompress", "_done", "_error", "_paused", "_pieces", "_sink", "_size",
        "_timer", "_waiter", "_whole", "headers", "status", "url",
    )  # fmt: skip

    def __init__(self, connection: "ClientConnection", status: int, headers: Headers) -> None:
        self.status, self.headers, self.url = status, headers, connection.url
        self._connection: ClientConnection | None = connection
        self._decompress: Decompressor | None = decompressor(headers.lower.get("content-encoding"))
        self._pieces: list[bytes] = []
        self._size = 0
        self._done = self._paused = False
        self._whole: bytes | None = None
        self._error: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._sink: Callable[[bytes], bool] | None = None
        self._timer: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    @property
    def content_type(self) -> str:
        """The media type, without its parameters."""
        return self.headers.lower.get("content-type", "").partition(";")[0].strip().lower()

    def close(self) -> None:
        """Let go of the reply; a connection whose reply was not read to its end is closed."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.abort()
        self._sink = None
        self._end_no_more()

    # --- replies that have said all ---------------------------------------------------------------

    def release(self) -> None:
        """Nobody reads on. If the reply ends soon, its connection can be used again; a server that
        does not end it is not waited for.
        """
        connection, self._connection = self._connection, None
        self._sink = None
        self._end_no_more()
        if connection is not None:
            connection.drain(_DRAIN)

    def end_within(self, seconds: float | None) -> None:
        """Take the reply for complete after these seconds, unless this is called again before."""
        self._end_no_more()
        if self._connection is not None and seconds is not None:
            self._timer = self._connection.loop.call_later(seconds, self._end_now)

    def _end_now(self) -> None:
        self._timer = None
        self.release()
        self._done = True
        self._wake()

    def _end_no_more(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # --- waiting for bytes ------------------------------------------------------------------------

    async def read_some(self) -> bytes:
        """What has arrived, as soon as there is any; nothing at the end."""
        while not self._pieces:
            if self._error is not None:
                raise self._error
            if self._done:
                return b""
            await self._wait()
        return self._take()

    async def read(self, most: int | None = None) -> bytes:
        """All of it, or a `ReplyError` if it is longer than allowed. It can be read again."""
        if self._whole is not None:
            return self._whole
        pieces: list[bytes] = []
        size = 0
        while True:
            if self._pieces:
                piece = self._take()
                size += len(piece)
                if most is not None and size > most:
                    self.close()
                    raise ReplyError(f"the reply is longer than {most} bytes")
                pieces.append(piece)
            if self._error is not None:
                raise self._error
            if self._done:
                self._whole = b"".join(pieces)
                return self._whole
            await self._wait()

    def _take(self) -> bytes:
        pieces = self._pieces
        data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        pieces.clear()
        self._size = 0
        if self._paused and self._connection is not None:
            self._paused = False
            self._connection.resume_reading()
        return data

    async def _wait(self) -> None:
        if self._connection is None:
            raise ReplyError("the reply was closed")
        self._waiter = waiter = self._connection.loop.create_future()
        try:
            await waiter
        finally:
            self._waiter = None

    # --- passing bytes on -------------------------------------------------------------------------

    async def forward(self, sink: Callable[[bytes], bool]) -> bool:
        """Call a function with what arrives, until it returns False or the reply ends; whether
        that has ended. What the function raises ends the reply, and is raised here.
        """
        if self._pieces and not sink(self._take()):
            return False
        self._sink = sink
        try:
            while not self._stopped:
                await self._wait()
        finally:
            self._sink = None
        if self._error is not None:
            raise self._error
        return self._done and not self._pieces

    @property
    def _stopped(self) -> bool:
        return self._sink is None or self._done or self._error is not None

    def pause(self) -> None:
        """Read no further: whoever is to get the bytes is slow."""
        if self._connection is not None:
            self._connection.pause_reading()

    def resume(self) -> None:
        if self._connection is not None:
            self._connection.resume_reading()

    # --- for the connection -----------------------------------------------------------------------

    def got(self, pieces: list[bytes]) -> None:
        """These bytes have arrived."""
        data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        if self._decompress is not None:
            try:
                data = self._decompress(data)
            except zlib.error:
                self.failed(ReplyError("its body is not compressed as its head says"))
                self.close()
                return
        if not data:
            return
        sink = self._sink
        if sink is not None:
            try:
                if not sink(data):
                    self._sink = None
                    self._wake()
            except Exception as error:  # noqa: BLE001 - raised again by `forward`
                self.failed(error)
                self.close()
            return
        self._pieces.append(data)
        self._size += len(data)
        if self._size > _BUFFER and not self._paused and self._connection is not None:
            self._paused = True
            self._connection.pause_reading()
        self._wake()

    def ended(self) -> None:
        """The reply is complete, and its connection is no longer its own."""
        self._done, self._connection = True, None
        self._end_no_more()
        self._wake()

    def failed(self, error: Exception) -> None:
        """The reply will not be complete."""
        if not self._done and self._error is None:
            self._error = error
        self._wake()

    def _wake(self) -> None:
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            waiter.set_result(None)


class ClientConnection(asyncio.Protocol):
    """A connection to a server."""

    __slots__ = (
        "_deadline", "_head", "_head_size", "_idle", "_in_head", "_parser", "_pieces", "_reply",
        "_rings_at", "_skipping", "_timer", "_transport", "_until_closed", "_unwanted", "_waiter",
        "free", "idle_since", "loop", "lost", "url",
    )  # fmt: skip

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        free: Callable[["ClientConnection"], None],
        lost: Callable[["ClientConnection"], None],
    ) -> None:
        self.loop = loop
        self.free, self.lost = free, lost
        """Called when the connection can be used again, and when it never can."""
        self.url = ""
        self.idle_since = 0.0
        self._transport: asyncio.Transport | None = None
        self._parser: Any = None
        self._reply: Reply | None = None
        self._waiter: asyncio.Future[Reply] | None = None
        self._head: list[tuple[bytes, bytes]] = []
        self._head_size = 0
        self._pieces: list[bytes] = []
        self._skipping = self._until_closed = self._in_head = False
        self._deadline = self._idle = 0.0
        self._rings_at = _NEVER
        self._timer: asyncio.TimerHandle | None = None
        self._unwanted: int | None = None
        """Bytes that came of a reply that nobody reads any more."""

    @property
    def usable(self) -> bool:
        """Whether a request can be sent."""
        return self._transport is not None and not self._transport.is_closing()

    @property
    def hung_up(self) -> bool:
        """Whether the server has closed the connection and nobody has noticed: what is sent after
        that is lost. Asked for connections that were kept.
        """
        transport = self._transport
        sock = transport.get_extra_info("socket") if transport is not None else None
        if sock is None or not hasattr(select, "poll"):  # pragma: no cover - not made for Windows
            return False
        poll = select.poll()
        poll.register(sock.fileno(), _HUNG_UP)
        return bool(poll.poll(0))

    async def send(self, data: bytes, url: str, first_byte: float, idle: float) -> Reply:
        """Send a request; its reply as soon as its head has arrived.

        `first_byte` are the seconds that the head may take, and `idle` those for which the server
        may be silent afterwards.
        """
        transport = self._transport
        if transport is None or transport.is_closing():
            raise ConnectionDroppedError("the server closed the connection")
        self.url, self._idle, self._unwanted = url, idle, None
        self._parser = httptools.HttpResponseParser(self)
        waiter: asyncio.Future[Reply] = self.loop.create_future()
        self._waiter = waiter
        self._watch(first_byte)
        transport.write(data)
        try:
            return await waiter
        except BaseException:
            if self._waiter is waiter:
                self.abort()
            elif not waiter.cancelled() and waiter.exception() is None:
                waiter.result().close()  # It arrived while the request was being cancelled.
            raise

    def abort(self) -> None:
        """Close the connection at once."""
        self._reply = self._waiter = None
        self._stop_watching()
        if self._transport is not None:
            self._transport.abort()

    def pause_reading(self) -> None:
        if self.usable:
            cast("asyncio.Transport", self._transport).pause_reading()
            self._deadline = _NEVER  # It is not the server that is silent.

    def resume_reading(self) -> None:
        if self.usable:
            cast("asyncio.Transport", self._transport).resume_reading()
            self._watch(self._idle)

    # --- silence ----------------------------------------------------------------------------------

    def _watch(self, seconds: float) -> None:
        """Fail if nothing arrives for so long. One timer serves many reads and many requests: it
        looks at the deadline when it rings, and is set again if that has moved.
        """
        self._deadline = self.loop.time() + seconds
        if self._timer is None or self._rings_at > self._deadline:
            if self._timer is not None:
                self._timer.cancel()
            self._set_timer()

    def _set_timer(self) -> None:
        # Kept here, since what uvloop returns for a moment that has almost come does not know it.
        self._rings_at = self._deadline
        self._timer = self.loop.call_at(self._deadline, self._ring)

    def _stop_watching(self) -> None:
        self._deadline = _NEVER

    def _ring(self) -> None:
        self._timer = None
        if self._deadline == _NEVER:
            return
        if self.loop.time() < self._deadline:
            self._set_timer()
            return
        self._fail(TimeoutError("the server is silent"))

    # --- the transport ----------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        if self._parser is None:
            self.abort()  # Nothing was asked.
            return
        reply = self._reply
        if reply is not None and self._idle:
            # Before that, bytes of a head do not count: it could drip for ever.
            self._deadline = self.loop.time() + self._idle
        try:
            self._parser.feed_data(data)
            if self._in_head:
                self._measure(len(data))
        except (httptools.HttpParserError, ValueError) as error:
            self._deliver(reply)
            # What the functions below raise is in our own words.
            cause = error.__context__ if isinstance(error.__context__, ValueError) else None
            self._fail(ReplyError(f"not HTTP: {cause}" if cause else "not HTTP"))
            return
        if self._pieces:
            self._deliver(self._reply or reply)

    def drain(self, seconds: float) -> None:
        """Read the rest of a reply that nobody wants, for a while; then hang up."""
        self._unwanted = 0
        self._idle = 0.0
        self.resume_reading()
        self._watch(seconds)

    def _drop(self, pieces: list[bytes], so_far: int) -> None:
        self._unwanted = so_far + sum(map(len, pieces))
        if self._unwanted > _DRAINED:
            self.abort()

    def _deliver(self, reply: Reply | None) -> None:
        if self._pieces and reply is not None:
            pieces, self._pieces = self._pieces, []
            if self._unwanted is None:
                reply.got(pieces)
            else:
                self._drop(pieces, self._unwanted)

    def eof_received(self) -> None:
        if self._reply is not None and self._until_closed:
            self._complete(reusable=False)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self._reply is not None and self._until_closed and exc is None:
            self._complete(reusable=False)
        elif self._reply is not None:
            words = error_words(exc) if exc else "the connection was closed in the middle"
            self._fail(ReplyError(words))
        elif self._waiter is not None:
            words = error_words(exc) if exc else "the server closed the connection"
            self._fail(ConnectionDroppedError(words))
        self._stop_watching()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.lost(self)

    def _fail(self, error: Exception) -> None:
        reply, self._reply = self._reply, None
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_exception(error)
        if reply is not None:
            reply.failed(error)
        self.abort()

    def _complete(self, *, reusable: bool) -> None:
        reply, self._reply = self._reply, None
        self._parser = None
        self._stop_watching()
        if reply is not None:
            self._deliver(reply)
            reply.ended()
        if reusable and self.usable:
            self.free(self)
        elif self._transport is not None:
            self._transport.close()

    # --- the parser -------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        if self._reply is not None or self._waiter is None:
            raise ValueError("a second reply to one request")
        self._head, self._head_size, self._in_head = [], 0, True

    def _measure(self, size: int) -> None:
        """The parser keeps what it has of a header, however long that is."""
        self._head_size += size
        if self._head_size > _LONGEST_HEAD:
            raise ValueError("the head is too long")

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head.append((name, value))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        self._in_head = False
        if status == _SWITCHING:
            raise ValueError("the server switched to another protocol")
        self._skipping = status < _INFORMATIONAL
        if self._skipping:
            return
        headers = Headers(self._head)
        found = headers.lower
        self._until_closed = (
            "content-length" not in found
            and "chunked" not in found.get("transfer-encoding", "").lower()
        )
        self._reply = reply = Reply(self, status, headers)
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(reply)
        self._watch(self._idle)

    def on_body(self, data: bytes) -> None:
        self._pieces.append(data)

    def on_message_complete(self) -> None:
        if not self._skipping:
            self._complete(reusable=self._parser.should_keep_alive())
