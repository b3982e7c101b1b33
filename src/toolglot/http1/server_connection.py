"""One connection of a client: requests, one after the other, and their answers.

A handler starts when the head of its request has arrived, and may answer without the body: a
request that is refused by its headers costs no memory. Bytes that nobody wants yet stay in the
socket. When the client disconnects, the handler is cancelled.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from logging import getLogger
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

import httptools
from msgspec import Struct

from toolglot.http1.headers import Headers, encode_headers
from toolglot.http1.server_request import BodyError, BodyTooLargeError, HttpRequest
from toolglot.http1.server_response import HttpResponse, StreamedHttpResponse, WholeHttpResponse

if TYPE_CHECKING:
    from toolglot.http1.http_server import HttpServer

_log: Final = getLogger("toolglot")
_UNWANTED: Final = 2**16
"""Bytes of a body that are taken before somebody reads it."""
_PIPELINED: Final = 16
_LINGER: Final = 2.0
"""Seconds for which a client may go on sending what nobody reads, before it reads its answer."""
_ONCE: Final = frozenset({"host", "authorization"})
"""Headers that others in front of us may read otherwise than we do if they are repeated."""
_NEVER: Final = float("inf")

Handler = Callable[[HttpRequest], Awaitable[HttpResponse]]


class Limits(Struct, frozen=True, kw_only=True):
    """What a client may take of the server."""

    head_seconds: float = 10.0
    """For the head of a request to arrive."""
    body_seconds: float = 30.0
    """Without a byte of a body that is waited for."""
    idle_seconds: float = 75.0
    """Between two requests on a connection."""
    head_size: int = 2**16
    body_size: int = 2**26
    all_bodies: int = 2**29
    """Bytes of all bodies that are being read at one time."""
    connections: int = 0
    """Of all clients; 0: no limit."""
    per_address: int = 0


class Takeover(Protocol):
    """Another protocol that takes over a connection. Its handler returns it at the end."""

    def data_received(self, data: bytes) -> None: ...

    def connection_lost(self) -> None: ...


class ServerConnection(asyncio.Protocol):
    """A connection of a client."""

    __slots__ = (
        "_counted", "_drain_waiters", "_head", "_head_size", "_in_head", "_lingering", "_muted",
        "_parser", "_paused", "_queue", "_reading", "_target", "_task", "_transport", "_upgraded",
        "_writable", "current", "deadline", "limits", "loop", "on_resume", "remote", "server",
    )  # fmt: skip

    def __init__(self, server: "HttpServer") -> None:
        self.server, self.limits, self.loop = server, server.limits, server.loop
        self.remote = ""
        self.deadline = _NEVER
        """When the connection is closed, unless something happens before."""
        self.current: HttpRequest | None = None
        """The request that is being answered."""
        self.on_resume: Callable[[], None] | None = None
        """Called when the client keeps up again with what is written."""
        self._transport: asyncio.Transport | None = None
        self._parser: Any = None
        self._queue: deque[HttpRequest] = deque()
        self._reading: HttpRequest | None = None
        """The request whose body arrives."""
        self._task: asyncio.Task[None] | None = None
        self._head: list[tuple[bytes, bytes]] = []
        self._head_size = 0
        self._target = b""
        self._counted = 0
        """Bytes of the body that arrives, as the server counts them."""
        self._paused = self._lingering = self._muted = self._in_head = False
        self._writable = True
        self._drain_waiters: list[asyncio.Future[None]] = []
        self._upgraded: Takeover | None = None

    # --- for requests and answers -----------------------------------------------------------------

    @property
    def closed(self) -> bool:
        return self._transport is None or self._transport.is_closing()

    @property
    def drained(self) -> bool:
        return self._transport is not None and not self._transport.get_write_buffer_size()

    @property
    def writable(self) -> bool:
        return self._writable

    @property
    def idle(self) -> bool:
        """Whether no request is under way."""
        return self.current is None and self._upgraded is None

    @property
    def peer_certificate(self) -> Any:
        transport = self._transport
        return None if transport is None else transport.get_extra_info("peercert")

    def write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)

    def write_piece(self, data: bytes) -> bool:
        """Write a piece of a stream; whether the client keeps up. One call for each piece."""
        transport = self._transport
        if transport is None or transport.is_closing():
            raise ConnectionResetError("the client disconnected")
        transport.write(data)
        return self._writable

    async def wait_writable(self) -> None:
        """Wait until the client keeps up again."""
        while not self._writable:
            if self.closed:
                raise ConnectionResetError("the client disconnected")
            waiter: asyncio.Future[None] = self.loop.create_future()
            self._drain_waiters.append(waiter)
            await waiter

    def body_wanted(self) -> None:
        """Somebody waits for the body of the current request."""
        request = self.current
        if request is not None and request is self._reading:
            expected = (request.headers.get("expect") or "").lower()
            if expected == "100-continue" and not request.body.size:
                self.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self.deadline = self.loop.time() + self.limits.body_seconds
        self.resume_reading()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    # --- the transport ----------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        peer = transport.get_extra_info("peername")
        self.remote = str(peer[0]) if isinstance(peer, tuple) else ""
        self._parser = httptools.HttpRequestParser(self)
        self.deadline = self.loop.time() + self.limits.head_seconds
        if not self.server.admit(self):
            self._refuse(503, "too many connections")

    def data_received(self, data: bytes) -> None:
        if self._lingering:
            return
        if self._upgraded is not None:
            self._upgraded.data_received(data)
            return
        try:
            self._parser.feed_data(data)
            if self._in_head:
                self._measure(len(data))
        except httptools.HttpParserUpgrade as upgrade:
            self._other_protocol(data[upgrade.args[0] :])
        except (httptools.HttpParserError, ValueError) as error:
            self._bad_request(error)

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, _exc: Exception | None) -> None:
        self._transport = None
        self.server.lost(self)
        self.deadline = _NEVER
        self._fail_body(BodyError("the client disconnected in the middle"))
        self._wake_drain()
        if self._upgraded is not None:
            self._upgraded.connection_lost()
        elif self._task is not None:
            self._task.cancel()
        self.on_resume = None

    def pause_writing(self) -> None:
        self._writable = False

    def resume_writing(self) -> None:
        self._writable = True
        self._wake_drain()
        if self.on_resume is not None:
            self.on_resume()

    def _wake_drain(self) -> None:
        waiters, self._drain_waiters = self._drain_waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    def pause_reading(self) -> None:
        if not self._paused and not self.closed:
            self._paused = True
            cast("asyncio.Transport", self._transport).pause_reading()

    def resume_reading(self) -> None:
        if self._paused and not self.closed:
            self._paused = False
            cast("asyncio.Transport", self._transport).resume_reading()

    # --- the parser -------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        self._in_head = not self._muted
        if self.current is None and not self._muted:
            self.deadline = self.loop.time() + self.limits.head_seconds

    def on_url(self, data: bytes) -> None:
        if not self._muted:
            self._target += data

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._reading is None:  # Else it is a trailer, which nobody needs.
            self._head.append((name, value))

    def _measure(self, size: int) -> None:
        """The parser keeps what it has of a header, however long that is."""
        self._head_size += size
        if self._head_size > self.limits.head_size:
            raise ValueError("the head of the request is too long")

    def on_headers_complete(self) -> None:
        if self._muted:
            self._muted = False  # The head was repeated; what follows is new.
            return
        parser, headers = self._parser, Headers(self._head)
        found = headers.lower
        self._head, self._head_size, self._in_head = [], 0, False
        target, self._target = self._target, b""
        old = parser.get_http_version() == "1.0"
        if not old and "host" not in found:
            raise ValueError("expected a Host header")
        if headers.repeated and not _ONCE.isdisjoint(headers.repeated):
            raise ValueError(f"expected {' and '.join(_ONCE & headers.repeated)} once")
        request = HttpRequest(
            self,
            parser.get_method().decode("ascii"),
            _path_of(target, found.get("host", "")),
            headers,
            keep_alive=parser.should_keep_alive(),
            http_1_0=old,
        )
        self._reading = request
        # The parser believes that another protocol begins. Unless it is one that we speak, the body
        # comes next; see `_other_protocol`.
        self._muted = bool(parser.should_upgrade()) and not wants_websocket(headers)
        length = found.get("content-length", "")
        if length.isdigit() and int(length) > self.limits.body_size:
            self._fail_body(BodyTooLargeError(self.limits.body_size))
        if self.current is None:
            self._start(request)
        else:
            self._queue.append(request)
            if len(self._queue) > _PIPELINED:
                raise ValueError("too many requests at once on one connection")
            self.pause_reading()

    def on_body(self, data: bytes) -> None:
        request = self._reading
        if request is None or request.body.error is not None:
            return
        body = request.body
        if body.size + len(data) > self.limits.body_size:
            self._fail_body(BodyTooLargeError(self.limits.body_size))
            return
        if not self.server.take(len(data)):
            self._fail_body(BodyError("too many large requests at once; try again", 503))
            return
        self._counted += len(data)
        body.got(data)
        if body.wanted:
            self.deadline = self.loop.time() + self.limits.body_seconds
        elif body.size > _UNWANTED:
            self.pause_reading()

    def on_message_complete(self) -> None:
        if self._muted:
            return
        request, self._reading = self._reading, None
        if request is not None:
            self._release()
            request.body.ended()
            if request is self.current:
                self.deadline = _NEVER

    def _fail_body(self, error: BodyError) -> None:
        """Nobody will get the body of the request that is arriving."""
        self._release()
        if self._reading is not None:
            self._reading.keep_alive = False
            self._reading.body.failed(error)

    def _release(self) -> None:
        self.server.give(self._counted)
        self._counted = 0

    def _bad_request(self, error: Exception) -> None:
        """What came is no HTTP: an answer that says so, and the end."""
        cause = error.__context__ if isinstance(error.__context__, ValueError) else error
        if self.current is None:
            self._refuse(400, str(cause))
        else:
            if self._reading is self.current:
                self._fail_body(BodyError(f"not HTTP: {cause}"))
            self._queue.clear()
            self.current.keep_alive = False
            self._lingering = True

    def _refuse(self, status: int, words: str) -> None:
        _log.warning("%s: refused with status %d: %s", self.remote, status, words)
        response = self.server.refusal(status, words)
        self.write(response.encode(close=True))
        self._linger(sending=True)

    def _other_protocol(self, rest: bytes) -> None:
        """A request asked for another protocol. For a WebSocket its handler takes the connection
        over. Everything else is ignored, as the standard allows: Java's client offers HTTP/2 so.
        """
        self._parser = httptools.HttpRequestParser(self)
        request = self._reading or self.current
        if request is None:
            return
        if not self._muted:
            request["rest"] = rest
            self.pause_reading()
            return
        framing = {
            name: value
            for name, value in request.headers.items()
            if name in ("content-length", "transfer-encoding")
        }
        head = b"POST / HTTP/1.1\r\n" + encode_headers(framing) + b"\r\n"
        self.data_received(head + rest)

    # --- answering --------------------------------------------------------------------------------

    def _start(self, request: HttpRequest) -> None:
        self.current = request
        self.deadline = _NEVER
        self._task = self.loop.create_task(self._answer(request))

    async def _answer(self, request: HttpRequest) -> None:
        try:
            response = await self.server.handler(request)
        except (ConnectionError, asyncio.CancelledError):
            self.abort()
            return
        except Exception:  # noqa: BLE001 - a fault of a handler ends its connection and no other
            _log.exception("%s %s failed", request.method, request.path)
            self.abort()
            return
        if isinstance(response, WholeHttpResponse):
            close = self._closes(request)
            if request.added:
                response.headers.update(request.added)
            self.write(response.encode(close=close, with_body=request.method != "HEAD"))
        elif isinstance(response, StreamedHttpResponse):
            response.end()
        else:
            self.close()
            return
        self._finished(request)

    def _closes(self, request: HttpRequest) -> bool:
        """Whether the connection ends with an answer: the client wants so, or nobody will read what
        is left of the request.
        """
        if not request.body.complete:
            request.keep_alive = False
        return not request.keep_alive or self.server.closing

    def _finished(self, request: HttpRequest) -> None:
        self.current = self._task = self.on_resume = None
        if self.closed:
            return
        if self._closes(request):
            self._linger(sending=self._reading is not None)
        elif self._queue:
            self._start(self._queue.popleft())
            if not self._queue:
                self.resume_reading()
        else:
            rest = request.get("rest", b"")
            self.deadline = self.loop.time() + self.limits.idle_seconds
            self.resume_reading()
            if rest:
                self.data_received(rest)

    def _linger(self, *, sending: bool) -> None:
        """Close when the client does, or soon: closing while it is still sending would destroy the
        answer on its way.
        """
        if self.closed:
            return
        self._lingering = True
        if not sending or not cast("asyncio.Transport", self._transport).can_write_eof():
            self.close()
            return
        cast("asyncio.Transport", self._transport).write_eof()
        self.deadline = self.loop.time() + _LINGER
        self.resume_reading()

    def take_over(self, other: Takeover) -> None:
        """From now on another protocol gets what arrives, until the handler returns it."""
        self._upgraded = other
        self.resume_reading()
        rest = self.current.get("rest", b"") if self.current is not None else b""
        if rest:
            other.data_received(rest)

    def expired(self) -> None:
        """The deadline has passed."""
        self.deadline = _NEVER
        if self._lingering:
            self.abort()
        elif self.current is not None:
            self._fail_body(BodyError("the body did not arrive in time", 408))
        elif self._in_head:
            self._refuse(408, "the request did not arrive in time")
        else:
            self.close()


def wants_websocket(headers: Headers) -> bool:
    """Whether a request asks for a WebSocket."""
    return (headers.get("upgrade") or "").lower() == "websocket"


def _path_of(target: bytes, host: str) -> str:
    """The path and query of a target, which may be a whole URL."""
    text = target.decode("latin-1")
    if not text.startswith("/"):
        _, found, rest = text.partition("://")
        there, _, path = rest.partition("/")
        if found and there.lower() != host.lower():
            raise ValueError("expected the same host in the target and in Host")
        text = f"/{path}" if found else text
    return text.partition("#")[0]
