"""A WebSocket of a client, on the sans-IO protocol of the `websockets` library."""

from collections import deque
from typing import TYPE_CHECKING, Final, cast

from msgspec import Struct
from websockets.datastructures import Headers as WebSocketHeaders
from websockets.extensions.permessage_deflate import ServerPerMessageDeflateFactory
from websockets.frames import Frame, Opcode
from websockets.http11 import Request as WebSocketRequest
from websockets.protocol import State
from websockets.server import ServerProtocol

from toolglot.http1.server_request import HttpRequest
from toolglot.http1.server_response import HttpResponse

if TYPE_CHECKING:
    import asyncio

_WAITING_BYTES: Final = 2**20
"""Bytes of messages that may wait for their reader before the socket is read no further."""
_SLICE: Final = 2**12
"""Bytes that are read at once: what is compressed in them may become a thousand times as many."""
_SWITCHED: Final = 101


class WebSocketMessage(Struct, frozen=True):
    """What a client sent."""

    data: bytes
    text: bool


class WebSocket(HttpResponse):
    """A WebSocket, from its handshake on."""

    def __init__(self, request: HttpRequest, *, max_size: int, heartbeat: float) -> None:
        connection = request.connection
        if connection is None:
            raise ConnectionResetError("the client disconnected")
        super().__init__(_SWITCHED)
        self._connection = connection
        self._protocol = ServerProtocol(
            max_size=max_size, extensions=[ServerPerMessageDeflateFactory()]
        )
        self._messages: deque[WebSocketMessage] = deque()
        self._waiting = 0
        self._unread = b""
        """What arrived while messages waited."""
        self._parts: list[bytes] = []
        self._text = False
        self._waiter: asyncio.Future[None] | None = None
        self._closed = self._paused = False
        self._heartbeat = heartbeat
        self._answered = True
        self._timer: asyncio.TimerHandle | None = None
        # The library reads the handshake from bytes, which another parser has read already.
        headers = WebSocketHeaders(list(request.headers.items()))
        self._protocol.receive_data(WebSocketRequest(request.raw_path, headers).serialize())
        (handshake,) = self._protocol.events_received()
        response = self._protocol.accept(cast("WebSocketRequest", handshake))
        self.accepted = response.status_code == _SWITCHED
        """Whether the handshake is right."""
        if not self.accepted:
            return
        self._protocol.send_response(response)
        self.begun = request.begun = True
        self._flush()
        self._timer = connection.loop.call_later(heartbeat, self._beat)
        connection.take_over(self)

    async def receive(self) -> WebSocketMessage | None:
        """The next message; None: the client disconnected."""
        while not self._messages:
            if self._closed:
                return None
            self._waiter = self._connection.loop.create_future()
            await self._waiter
        message = self._messages.popleft()
        self._waiting -= len(message.data)
        if self._paused and self._waiting < _WAITING_BYTES:
            self._paused = False
            self._connection.resume_reading()
            unread, self._unread = self._unread, b""
            if unread:
                self.data_received(unread)
        return message

    async def send_text(self, data: bytes) -> None:
        """Send a message, and wait while the client does not keep up."""
        if self._closed or self._protocol.state is not State.OPEN:
            raise ConnectionResetError("the client disconnected")
        self._protocol.send_text(data)
        self._flush()
        await self._connection.wait_writable()

    async def close(self, code: int = 1000) -> None:
        """Begin the closing handshake."""
        if not self._closed and self._protocol.state is State.OPEN:
            self._protocol.send_close(code)
            self._flush()

    # --- for the connection -----------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        for start in range(0, len(data), _SLICE):
            if self._paused:
                self._unread += data[start:]
                break
            self._protocol.receive_data(data[start : start + _SLICE])
            for event in self._protocol.events_received():
                if isinstance(event, Frame):
                    self._got(event)
        self._flush()
        if self._protocol.state in (State.CLOSING, State.CLOSED) and (
            self._protocol.close_expected() or self._protocol.close_rcvd is not None
        ):
            self._end()

    def connection_lost(self) -> None:
        self._end()

    def _end(self) -> None:
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        # Nobody will read them, and what refers to this may live on for a while.
        self._messages.clear()
        self._parts, self._unread, self._waiting = [], b"", 0
        self._wake()

    def _got(self, frame: Frame) -> None:
        opcode = frame.opcode
        if opcode is Opcode.PONG:
            self._answered = True
            return
        if opcode in (Opcode.TEXT, Opcode.BINARY):
            self._text = opcode is Opcode.TEXT
        elif opcode is not Opcode.CONT:
            return
        self._parts.append(bytes(frame.data))
        if frame.fin:
            data, self._parts = b"".join(self._parts), []
            self._messages.append(WebSocketMessage(data, self._text))
            self._waiting += len(data)
            if self._waiting > _WAITING_BYTES and not self._paused:
                self._paused = True
                self._connection.pause_reading()
            self._wake()

    def _flush(self) -> None:
        for data in self._protocol.data_to_send():
            if data:
                self._connection.write(data)
            else:
                self._connection.close()  # The protocol says so by an empty piece.

    def _beat(self) -> None:
        """Ask whether the client is still there; if it did not answer the last time, it is not."""
        self._timer = None
        if self._closed:
            return
        if not self._answered:
            self._connection.abort()
            return
        self._answered = False
        self._protocol.send_ping(b"")
        self._flush()
        self._timer = self._connection.loop.call_later(self._heartbeat, self._beat)

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
