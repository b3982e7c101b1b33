"""Where an answer is written: an HTTP response, a WebSocket, or memory."""

from collections.abc import Mapping
from typing import Protocol

from aiohttp import web
from msgspec import Struct


class Whole(Struct, frozen=True, kw_only=True):
    """An answer that is not streamed."""

    data: bytes
    status: int = 200
    headers: Mapping[str, str] = {}

    def http(self) -> web.Response:
        """The same as an HTTP response."""
        return web.Response(body=self.data, status=self.status, headers=self.headers)


class Sink(Protocol):
    """Takes one answer: a whole one, or the beginning, the pieces and the end of a stream."""

    @property
    def response(self) -> web.StreamResponse:
        """What the handler of the request returns, once the answer is complete."""
        ...

    async def whole(self, answer: Whole) -> None:
        """All of it at once."""
        ...

    async def begin(self, headers: Mapping[str, str]) -> None:
        """A stream begins."""
        ...

    async def write(self, data: bytes) -> None:
        """The next bytes of the stream."""
        ...

    async def end(self) -> None:
        """The stream is complete."""
        ...


class HttpSink:
    """Writes to whoever sent an HTTP request."""

    __slots__ = ("_http", "response")

    def __init__(self, http: web.Request) -> None:
        self._http = http
        self.response: web.StreamResponse = web.Response(status=500)

    async def whole(self, answer: Whole) -> None:
        """All of it at once."""
        self.response = answer.http()

    async def begin(self, headers: Mapping[str, str]) -> None:
        """A stream begins."""
        self.response = web.StreamResponse(headers=headers)
        await self.response.prepare(self._http)

    async def write(self, data: bytes) -> None:
        """The next bytes of the stream."""
        await self.response.write(data)

    async def end(self) -> None:
        """The stream is complete."""
        await self.response.write_eof()


class MemorySink:
    """Keeps a whole answer for whoever asked on behalf of a client."""

    __slots__ = ("answer",)

    def __init__(self) -> None:
        self.answer = Whole(data=b"", status=500)

    @property
    def response(self) -> web.StreamResponse:
        """The answer over HTTP."""
        return self.answer.http()

    async def whole(self, answer: Whole) -> None:
        """All of it at once."""
        self.answer = answer

    async def begin(self, headers: Mapping[str, str]) -> None:
        """A stream begins."""
        self.answer = Whole(data=b"", headers=headers)

    async def write(self, data: bytes) -> None:
        """The next bytes of the stream."""
        self.answer = Whole(data=self.answer.data + data, headers=self.answer.headers)

    async def end(self) -> None:
        """The stream is complete."""
