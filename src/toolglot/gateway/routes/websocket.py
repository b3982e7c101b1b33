"""Responses over a WebSocket: one connection, many requests, one after the other.

Reference: https://developers.openai.com/api/docs/guides/websocket-mode and the client of Codex
0.166.0 (read 2026-11-15). Each frame of the client is a request, each frame of ours an event.
Whatever a connection has seen can be continued on it, stored or not; a request with `generate`
false only prepares that. When the client goes, so does the request that is under way.
"""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from aiohttp import WSCloseCode, WSMsgType, web

from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.exchange import streamed
from toolglot.gateway.access.authentication import Refusal
from toolglot.gateway.http.writers import Whole
from toolglot.gateway.relay.incoming import Call, refused
from toolglot.gateway.relay.relay import Relay
from toolglot.gateway.routes.endpoints import error, refuse
from toolglot.gateway.state.sessions import Sessions
from toolglot.gateway.storage.memory_store import MemoryStore
from toolglot.ir import ApiError, Choice, Response, StopReason, Usage
from toolglot.registry import get_protocol
from toolglot.translate import decode_request
from toolglot.wire import jsontext
from toolglot.wire.sse import SseDecoder

_CREATE: Final = "response.create"
_NEEDS_NO_ANSWER: Final = frozenset({"response.processed"})
"""A client's word that it has taken an answer."""
_WAITING: Final = 16
"""Requests that may wait for the one under way."""
_HEARTBEAT: Final = 30.0
_OF_THE_TRANSPORT: Final = frozenset({"openai-beta", "x-request-id"})
"""Headers that mean the connection, not what is asked over it."""
_TOLD: Final = frozenset({"retry-after", "retry-after-ms", "x-request-id"})

Admit = Callable[[Call], Awaitable[None]]


class Sockets:
    """Accepts connections."""

    def __init__(self, relay: Relay, sessions: Sessions, protocol: str, admit: Admit) -> None:
        self._relay, self._sessions, self._protocol, self._admit = relay, sessions, protocol, admit
        self._open: set[_Connection] = set()

    async def leave(self, _app: web.Application) -> None:
        """Close all connections, each when its answers are complete."""
        for connection in tuple(self._open):
            await connection.leave()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer for as long as the connection lasts; whoever wants none is told what to do."""
        limit = self._relay.config.server.max_body
        socket = web.WebSocketResponse(
            heartbeat=_HEARTBEAT, max_msg_size=limit, decode_text=False, compress=True
        )
        if not socket.can_prepare(request).ok:
            return self._no_socket(request)
        await socket.prepare(request)
        connection = _Connection(socket, MemoryStore(max_bytes=limit), self._answer(request))
        self._open.add(connection)
        try:
            await connection.run()
        finally:
            self._open.discard(connection)
        return socket

    def _no_socket(self, request: web.Request) -> web.Response:
        words = f"{request.path} takes POST, or GET that upgrades to a WebSocket"
        told = refuse(request, error("invalid_request", words, 426))
        told.headers["Upgrade"] = "websocket"
        return told

    def _answer(self, request: web.Request) -> "_Answer":
        headers = {
            name: value
            for name, value in request.headers.items()
            if name.lower() not in _OF_THE_TRANSPORT
        }
        asked = request.clone(headers=headers)

        async def answer(frame: bytes, sink: "SocketSink", near: MemoryStore) -> None:
            if _kind(frame) in _NEEDS_NO_ANSWER:
                return
            call = self._relay.call(asked, self._protocol)
            call.sink, call.path = sink, get_protocol(self._protocol).SURFACE.path
            failure: ApiError | None = None
            try:
                failure = await self._attempt(call, frame, sink, near)
                if failure is not None:
                    await sink.whole(refused(call, failure))
            finally:
                self._relay.ended(call, failure)

        return answer

    async def _attempt(
        self, call: Call, frame: bytes, sink: "SocketSink", near: MemoryStore
    ) -> ApiError | None:
        """Answer a request; why not, if it is refused."""
        try:
            generates = _read(call, frame, sink)
            await self._admit(call)
            self._sessions.attach(call, near)
            await (self._relay.answer(call) if generates else _prepare(call))
        except DecodeError as problem:
            return error("invalid_request", str(problem), 400)
        except Refusal as refusal:
            return refusal.error
        return None


_Answer = Callable[[bytes, "SocketSink", MemoryStore], Any]


def _kind(frame: bytes) -> object:
    try:
        return jsontext.read(jsontext.members(frame).get("type"))
    except DecodeError:
        return None


def _read(call: Call, frame: bytes, sink: "SocketSink") -> bool:
    """Take a request out of its frame; whether to generate."""
    members = jsontext.members(frame)
    kind = jsontext.read(members.pop("type", None))
    lane = jsontext.read(members.pop("stream_id", None))
    if isinstance(lane, str):
        sink.lane = lane
    if kind != _CREATE:
        raise DecodeError("type", f"expected {_CREATE}")
    if jsontext.read(members.pop("background", None)):
        raise DecodeError("background", "not over a WebSocket")
    generates = jsontext.read(members.pop("generate", None)) is not False
    call.body = jsontext.encode({**members, "stream": True})
    return generates


async def _prepare(call: Call) -> None:
    """Answer a request that shall only be continued later."""
    codec = get_protocol(call.protocol)
    request = decode_request(call.body, source=call.protocol)
    response = Response(
        id=f"resp_{secrets.token_hex(24)}",
        model=call.model,
        choices=(Choice(parts=(), stop=StopReason(kind="end")),),
        usage=Usage(input=0, output=0),
    )
    ctx = Context(target=codec.SURFACE, request=request, now=int(time.time()))
    await call.sink.begin({})
    await call.sink.write(streamed(response, call.protocol, ctx))
    await call.sink.end()


class _Connection:
    """One client: what it asked, in turn, and what can be continued."""

    def __init__(self, socket: web.WebSocketResponse, near: MemoryStore, answer: _Answer) -> None:
        self._socket, self._near, self._answer = socket, near, answer
        self._frames: asyncio.Queue[bytes] = asyncio.Queue(_WAITING)
        self._busy = False
        self._leaving = False

    async def run(self) -> None:
        """Until the client goes."""
        async with asyncio.TaskGroup() as tasks:
            work = tasks.create_task(self._work())
            async for message in self._socket:
                await self._take(message.type, message.data)
            work.cancel()

    async def leave(self) -> None:
        """Close the connection as soon as nothing is being answered."""
        self._leaving = True
        if not self._busy and self._frames.empty():
            await self._socket.close(code=WSCloseCode.GOING_AWAY)

    async def _take(self, kind: WSMsgType, frame: bytes) -> None:
        if kind is not WSMsgType.TEXT:
            await self._refuse("expected frames of text")
        elif self._frames.full():
            await self._refuse(f"{_WAITING} requests are waiting already")
        else:
            self._frames.put_nowait(frame)

    async def _refuse(self, message: str) -> None:
        wrong = {"type": "invalid_request_error", "code": None, "message": message}
        body = jsontext.encode({"error": wrong})
        await SocketSink(self._socket).whole(Whole(data=body, status=400))

    async def _work(self) -> None:
        while True:
            frame = await self._frames.get()
            self._busy = True
            try:
                await self._answer(frame, SocketSink(self._socket), self._near)
            except ConnectionError:
                return  # The client is gone; whoever reads from it knows soon.
            self._busy = False
            if self._leaving:
                await self.leave()


class SocketSink:
    """Writes one answer to a WebSocket, event by event."""

    __slots__ = ("_events", "_socket", "lane")

    def __init__(self, socket: web.WebSocketResponse) -> None:
        self._socket = socket
        self._events = SseDecoder()
        self.lane: str | None = None
        """What the client calls this request, to tell it from others."""

    @property
    def response(self) -> web.StreamResponse:
        """The connection itself."""
        return self._socket

    async def whole(self, answer: Whole) -> None:
        """An error, as an event of its own; whole answers come as streams."""
        told = {name: answer.headers[name] for name in _TOLD if name in answer.headers}
        body = jsontext.members(answer.data)
        event = {"type": "error", "status": answer.status, **body, "headers": told}
        await self._send(jsontext.encode(event))

    async def begin(self, headers: Mapping[str, str]) -> None:
        """There is no place for headers."""

    async def write(self, data: bytes) -> None:
        """The next bytes of the stream."""
        for _, event in self._events.feed(data):
            await self._send(event)

    async def end(self) -> None:
        """The stream is complete."""
        for _, event in self._events.close():
            await self._send(event)

    async def _send(self, event: bytes) -> None:
        if self.lane is not None:
            event = b'{"stream_id":' + jsontext.encode(self.lane) + b"," + event.lstrip()[1:]
        await self._socket.send_frame(event, WSMsgType.TEXT)
