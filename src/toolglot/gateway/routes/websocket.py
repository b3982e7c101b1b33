"""Responses over a WebSocket: one connection, many requests, one after the other.

Reference: https://developers.openai.com/api/docs/guides/websocket-mode and the client of Codex
0.166.0 (read 2026-11-15). Each frame of the client is a request, each frame of ours an event.
Every response of a connection can be continued on it, stored or not; a request with `generate`
false only prepares that. When the client disconnects, the request under way is cancelled.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from logging import getLogger
from typing import TYPE_CHECKING, Final

from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.exchange import encode_stream
from toolglot.gateway import error_responses as errors
from toolglot.gateway.error_responses import REJECTIONS, from_rejection
from toolglot.gateway.http.json_response import error_response
from toolglot.gateway.http.request_info import id_of
from toolglot.gateway.http.response_writers import ResponseWriter, WholeResponse
from toolglot.gateway.incoming import IncomingRequest, read_incoming
from toolglot.gateway.relay.relay import Relay
from toolglot.gateway.routes.admission import Admission
from toolglot.gateway.routes.route import PlainRequest, Route, rejection
from toolglot.gateway.state.sessions import Sessions, SessionWriter
from toolglot.gateway.state.stored_responses import new_response_id
from toolglot.gateway.storage.memory_store import MemoryStore
from toolglot.http1.headers import Headers
from toolglot.http1.large_bodies import work_on
from toolglot.http1.server_connection import wants_websocket
from toolglot.http1.server_request import HttpRequest
from toolglot.http1.server_response import HttpResponse
from toolglot.ir import ApiError, Choice, Response, StopReason, Usage
from toolglot.registry import get_protocol
from toolglot.translate import decode_request
from toolglot.wire import jsontext
from toolglot.wire.sse import SseDecoder

if TYPE_CHECKING:
    from toolglot.http1.websocket_connection import WebSocket, WebSocketMessage

_log: Final = getLogger("toolglot")
_CREATE: Final = "response.create"
_NEEDS_NO_ANSWER: Final = frozenset({"response.processed"})
"""The frame by which a client acknowledges an answer."""
_WAITING: Final = 16
"""Requests that may wait for the one under way."""
_LONGEST_LANE: Final = 256
"""Characters of the id that each event of an answer repeats."""
_HEARTBEAT: Final = 30.0
_GOING_AWAY: Final = 1001
_OF_THE_TRANSPORT: Final = frozenset({"openai-beta", "x-request-id"})
"""Headers of the connection, not of the requests on it."""
_FORWARDED: Final = frozenset({"retry-after", "retry-after-ms", "x-request-id"})
"""Headers of an error that are part of its event."""


class WebSocketEndpoint:
    """Accepts connections."""

    def __init__(
        self, relay: Relay, sessions: Sessions, admission: Admission, protocol: str
    ) -> None:
        self._relay, self._sessions, self._admission = relay, sessions, admission
        self._protocol, self._path = protocol, get_protocol(protocol).SURFACE.path
        self._open: set[_Connection] = set()

    @property
    def routes(self) -> tuple[Route, ...]:
        """The same path as for POST."""
        return (Route("GET", self._path, self._connect),)

    async def close(self) -> None:
        """Close all connections, each when its answers are complete."""
        for connection in tuple(self._open):
            await connection.close()

    async def _connect(self, request: PlainRequest) -> HttpResponse:
        """Handle requests until the connection closes; reject a GET without an upgrade."""
        limit, http = self._relay.config.server.max_body, request.http
        socket = None
        if wants_websocket(http.headers):
            # Imported here, because most gateways never open one.
            from toolglot.http1.websocket_connection import WebSocket  # noqa: PLC0415

            socket = WebSocket(http, max_size=limit, heartbeat=_HEARTBEAT)
        if socket is None or not socket.accepted:
            response = error_response(http, errors.needs_upgrade(http.path))
            response.headers["Upgrade"] = "websocket"
            return response
        near = MemoryStore(max_bytes=limit)
        connection = _Connection(socket, http, self._answering(http, near), limit)
        self._open.add(connection)
        try:
            await connection.run()
        finally:
            self._open.discard(connection)
            await near.close()
        return socket

    def _answering(self, http: HttpRequest, near: MemoryStore) -> "_Answer":
        """The handler of the frames of one connection."""
        headers = {
            name: value
            for name, value in http.headers.items()
            if name.lower() not in _OF_THE_TRANSPORT
        }

        async def answer(frame: bytes, writer: WebSocketWriter) -> None:
            if _kind(frame) not in _NEEDS_NO_ANSWER:
                # A copy for each frame, because each request has an id of its own.
                await self._answer(http.clone(headers=Headers.of(headers)), frame, writer, near)

        return answer

    async def _answer(
        self, http: HttpRequest, frame: bytes, writer: "WebSocketWriter", near: MemoryStore
    ) -> None:
        telemetry = self._admission.begin(http, self._protocol)
        error: ApiError | None = None
        admitted = session = None
        try:
            try:
                admitted = await self._admission.identify(http, telemetry)
                body, generates = _read(frame, writer)
                request = read_incoming(http, self._protocol, self._path, body, admitted.holder)
                await self._admission.check(request, admitted, telemetry, generates=generates)
                request, session = self._sessions.open(request, near)
                keeping = writer if session is None else SessionWriter(writer, session)
                if generates:
                    await self._relay.answer(request, keeping, telemetry, session)
                else:
                    await _prepare(request, keeping)
            except REJECTIONS as problem:
                error = from_rejection(problem)
                if session is not None:
                    await session.evict()
                await writer.whole(rejection(error, self._protocol, id_of(http), telemetry))
            except ConnectionError:
                raise  # The client is gone.
            except Exception as problem:  # noqa: BLE001 - the client is told, and can go on
                number = id_of(http)
                _log.error("request %s over a WebSocket failed", number, exc_info=problem)
                error = telemetry.internal_error()
                told = errors.internal(number)
                await writer.whole(rejection(told, self._protocol, number, telemetry))
        finally:
            self._admission.end(telemetry, admitted, error)


_Answer = Callable[[bytes, "WebSocketWriter"], Awaitable[None]]


def _kind(frame: bytes) -> str | None:
    try:
        kind = jsontext.read(jsontext.members(frame).get("type"))
    except DecodeError:
        return None
    return kind if isinstance(kind, str) else None


def _read(frame: bytes, writer: "WebSocketWriter") -> tuple[bytes, bool]:
    """Take a request out of its frame; whether to generate."""
    members = jsontext.members(frame)
    kind = jsontext.read(members.pop("type", None))
    lane = jsontext.read(members.pop("stream_id", None))
    if isinstance(lane, str):
        if len(lane) > _LONGEST_LANE:
            raise DecodeError("stream_id", f"expected at most {_LONGEST_LANE} characters")
        writer.lane = lane
    if kind != _CREATE:
        raise DecodeError("type", f"expected {_CREATE}")
    if jsontext.read(members.pop("background", None)):
        raise DecodeError("background", "not over a WebSocket")
    generates = jsontext.read(members.pop("generate", None)) is not False
    return jsontext.encode({**members, "stream": True}), generates


async def _prepare(request: IncomingRequest, writer: ResponseWriter) -> None:
    """Answer a request that is only to be continued later."""
    codec = get_protocol(request.protocol)
    body = request.body
    asked = await work_on(len(body), decode_request, body, source=request.protocol)
    response = Response(
        id=new_response_id(),
        model=request.model,
        choices=(Choice(parts=(), stop=StopReason(kind="end")),),
        usage=Usage(input=0, output=0),
    )
    ctx = Context(target=codec.SURFACE, request=asked, now=int(time.time()))
    await writer.begin({})
    await writer.write(encode_stream(response, request.protocol, ctx))
    await writer.end()


class _Connection:
    """One client: its requests, in turn, and what can be continued."""

    def __init__(self, socket: "WebSocket", http: HttpRequest, answer: _Answer, most: int) -> None:
        self._socket, self._http, self._answer, self._most = socket, http, answer, most
        self._frames: asyncio.Queue[bytes] = asyncio.Queue(_WAITING)
        self._waiting = 0
        """Bytes of the frames that wait; together they have no more than one may have."""
        self._busy = False
        self._closing = False

    async def run(self) -> None:
        """Handle frames until the client disconnects."""
        async with asyncio.TaskGroup() as tasks:
            work = tasks.create_task(self._work())
            while (message := await self._socket.receive()) is not None:
                await self._take(message)
            work.cancel()
            while not self._frames.empty():
                self._frames.get_nowait()

    async def close(self) -> None:
        """Close the connection as soon as no request is under way."""
        self._closing = True
        if not self._busy and self._frames.empty():
            await self._socket.close(_GOING_AWAY)

    async def _take(self, message: "WebSocketMessage") -> None:
        if not message.text:
            await self._reject("expected a text frame")
        elif self._frames.full():
            await self._reject(f"{_WAITING} requests are waiting already")
        elif self._waiting and self._waiting + len(message.data) > self._most:
            await self._reject(f"requests of {self._waiting} bytes are waiting already")
        else:
            self._waiting += len(message.data)
            self._frames.put_nowait(message.data)

    async def _reject(self, message: str) -> None:
        wrong = {"type": "invalid_request_error", "code": None, "message": message}
        body = jsontext.encode({"error": wrong})
        await self._writer().whole(WholeResponse(data=body, status=400))

    async def _work(self) -> None:
        while True:
            frame = await self._frames.get()
            self._waiting -= len(frame)
            self._busy = True
            try:
                await self._answer(frame, self._writer())
            except ConnectionError:
                return  # The client is gone, which the reading side notices, too.
            self._busy = False
            if self._closing:
                await self.close()

    def _writer(self) -> "WebSocketWriter":
        return WebSocketWriter(self._socket, self._http)


class WebSocketWriter:
    """Writes one answer to a WebSocket, event by event."""

    __slots__ = ("_events", "_http", "_socket", "lane")

    direct = None
    opens_early = False

    def __init__(self, socket: "WebSocket", http: HttpRequest) -> None:
        self._socket = socket
        self._http = http
        self._events = SseDecoder()
        self.lane: str | None = None
        """The client's own id of this request."""

    @property
    def response(self) -> HttpResponse:
        return self._socket

    @property
    def closed(self) -> bool:
        return self._http.closed

    @property
    def drained(self) -> bool:
        return self._http.drained

    async def whole(self, answer: WholeResponse) -> None:
        """An error, as an event of its own; whole answers come as streams."""
        headers = {name: answer.headers[name] for name in _FORWARDED if name in answer.headers}
        body = jsontext.members(answer.data)
        event = {"type": "error", "status": answer.status, **body, "headers": headers}
        await self._send(jsontext.encode(event))

    async def begin(self, headers: Mapping[str, str]) -> None:
        """There is no place for headers."""

    async def write(self, data: bytes) -> None:
        for _, event in self._events.feed(data):
            await self._send(event)

    async def end(self) -> None:
        for _, event in self._events.close():
            await self._send(event)

    async def _send(self, event: bytes) -> None:
        if self.lane is not None:
            event = b'{"stream_id":' + jsontext.encode(self.lane) + b"," + event.lstrip()[1:]
        await self._socket.send_text(event)
