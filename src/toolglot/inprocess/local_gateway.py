"""A gateway without a port: requests and answers are handed over in memory."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from typing import Final, cast

from toolglot.gateway.app import App
from toolglot.gateway.config import Config
from toolglot.http1.headers import Headers
from toolglot.http1.server_connection import Limits, ServerConnection
from toolglot.http1.server_request import HttpRequest
from toolglot.http1.server_response import HttpResponse, WholeHttpResponse
from toolglot.ir import Json

_HIGH: Final = 256 * 1024
"""Bytes that wait to be read, above which the provider is asked to wait."""


class AnswerConnection:
    """What a request has in place of a socket: the client's side of one exchange."""

    def __init__(self, loop: asyncio.AbstractEventLoop, limits: Limits) -> None:
        self.loop, self.limits = loop, limits
        self.remote = ""
        self.on_resume: Callable[[], None] | None = None
        self.closed = self.complete = False
        self.head: bytes | None = None
        """The head of a stream, once it has begun."""
        self._pieces: deque[bytes] = deque()
        self._waiting = 0
        self._changed: asyncio.Future[None] | None = None
        self._drain: asyncio.Future[None] | None = None

    # --- for the handler --------------------------------------------------------------------------

    @property
    def writable(self) -> bool:
        return self._waiting < _HIGH

    @property
    def drained(self) -> bool:
        return not self._waiting

    def write(self, data: bytes) -> None:
        """The head of a stream, then its pieces."""
        if self.head is None:
            self.head = data
        elif not self.closed:
            self._pieces.append(data)
            self._waiting += len(data)
        self._wake()

    async def wait_writable(self) -> None:
        while not self.writable:
            if self.closed:
                raise ConnectionResetError("the client disconnected")
            self._drain = self.loop.create_future()
            await self._drain

    def body_wanted(self) -> None:
        """The body is there already."""

    def abort(self) -> None:
        """The answer ends before it is complete."""
        self.closed = True
        self._wake()

    # --- for the client ---------------------------------------------------------------------------

    async def changed(self) -> None:
        """Wait until something was written, or the answer ended."""
        self._changed = self.loop.create_future()
        await self._changed

    def take(self) -> bytes:
        """All that was written since."""
        data = b"".join(self._pieces)
        self._pieces.clear()
        was_writable, self._waiting = self.writable, 0
        if self._drain is not None and not self._drain.done():
            self._drain.set_result(None)
        if not was_writable and self.on_resume is not None:
            self.on_resume()
        return data

    def ended(self, *, complete: bool) -> None:
        self.complete, self.closed = complete, True
        self._wake()

    def _wake(self) -> None:
        if self._changed is not None and not self._changed.done():
            self._changed.set_result(None)


class LocalAnswer:
    """An answer that has begun."""

    def __init__(
        self,
        status: int,
        headers: Mapping[str, str],
        connection: AnswerConnection,
        task: "asyncio.Task[None]",
    ) -> None:
        self.status, self.headers = status, headers
        self._connection, self._task = connection, task

    async def read(self) -> bytes:
        """The next bytes; none at the end. A `ConnectionError` if it ends too early."""
        connection = self._connection
        while not (data := connection.take()):
            if connection.complete:
                return b""
            if connection.closed:
                raise ConnectionResetError("the answer ended before it was complete")
            await connection.changed()
        return data

    async def close(self) -> None:
        """Nobody wants the rest: the request to the provider is cancelled."""
        if not self._task.done():
            self._connection.closed = True
            self._task.cancel()
            await asyncio.wait([self._task])


class LocalGateway:
    """A gateway for one event loop."""

    def __init__(self, config: Config) -> None:
        self._app = App(config)
        self._limits = Limits(body_size=config.server.max_body)
        self._running = AsyncExitStack()
        self._started = False

    async def send(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> LocalAnswer:
        """The answer to a request, as soon as it begins."""
        if not self._started:
            self._started = True
            await self._running.enter_async_context(self._app.running())
        loop = asyncio.get_running_loop()
        connection = AnswerConnection(loop, self._limits)
        # As HTTP/1.0, because then streams have no framing.
        request = HttpRequest(
            cast("ServerConnection", connection), method, target, Headers.of(headers), http_1_0=True
        )
        request.body.got(body)
        request.body.ended()
        whole: list[WholeHttpResponse] = []
        task = loop.create_task(self._answer(request, connection, whole))
        try:
            while connection.head is None and not connection.closed:
                await connection.changed()
        except asyncio.CancelledError:
            task.cancel()
            raise
        if whole:
            return LocalAnswer(whole[0].status, whole[0].headers, connection, task)
        if connection.head is None:
            raise ConnectionResetError("the request ended without an answer")
        status, made = _read_head(connection.head)
        return LocalAnswer(status, made, connection, task)

    async def close(self) -> None:
        """Close connections to providers and what is stored."""
        await self._running.aclose()

    @property
    def receipts(self) -> list[Json]:
        """The receipts of earlier requests, the oldest first."""
        return self._app.receipts.of("")

    async def _answer(
        self, request: HttpRequest, connection: AnswerConnection, whole: list[WholeHttpResponse]
    ) -> None:
        complete = False
        try:
            response: HttpResponse = await self._app.handle(request)
            if isinstance(response, WholeHttpResponse):
                response.headers.update(request.added)
                connection.head = b""
                connection.write(response.body)
                whole.append(response)
            complete = True
        except ConnectionError:
            pass  # The client left, and knows.
        finally:
            connection.ended(complete=complete)


def _read_head(head: bytes) -> tuple[int, dict[str, str]]:
    """The status and the headers of an answer, as the server writes them."""
    first, *lines = head.decode("utf-8", "surrogateescape").rstrip("\r\n").split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines)
    headers.pop("Connection", None)
    return int(first.split(" ", 2)[1]), headers
