"""Where an answer is written: an HTTP response, or memory."""

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct

from toolglot.http1.server_request import HttpRequest
from toolglot.http1.server_response import HttpResponse, StreamedHttpResponse, WholeHttpResponse


class WholeResponse(Struct, frozen=True, kw_only=True):
    """An answer that is not streamed."""

    data: bytes
    status: int = 200
    headers: Mapping[str, str] = {}

    def http(self) -> WholeHttpResponse:
        """The same as an HTTP response."""
        return WholeHttpResponse(self.data, self.status, self.headers)


class ResponseWriter(Protocol):
    """Writes one answer: a whole one, or the beginning, the pieces and the end of a stream."""

    @property
    def response(self) -> HttpResponse:
        """What the handler of the request returns, once the answer is complete."""
        ...

    @property
    def closed(self) -> bool:
        """Whether the client disconnected."""
        ...

    @property
    def drained(self) -> bool:
        """Whether the client has taken all so far, so that writing does not wait."""
        ...

    @property
    def opens_early(self) -> bool:
        """Whether a stream may begin with a keep-alive, before there is an answer."""
        ...

    @property
    def direct(self) -> StreamedHttpResponse | None:
        """A stream that has begun and takes pieces without waiting; None: only `write` will do."""
        ...

    async def whole(self, answer: WholeResponse) -> None:
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


class HttpWriter:
    """Writes to the client of an HTTP request."""

    __slots__ = ("_http", "_response", "direct")

    opens_early = True

    def __init__(self, http: HttpRequest) -> None:
        self._http = http
        self._response: HttpResponse | None = None
        self.direct: StreamedHttpResponse | None = None

    @property
    def response(self) -> HttpResponse:
        return self._response or WholeHttpResponse(status=500)

    @property
    def closed(self) -> bool:
        return self._http.closed

    @property
    def drained(self) -> bool:
        return self._http.drained

    async def whole(self, answer: WholeResponse) -> None:
        self._response = answer.http()

    async def begin(self, headers: Mapping[str, str]) -> None:
        self._http.body.release()
        self._response = self.direct = StreamedHttpResponse(headers=headers)
        self.direct.begin(self._http)

    async def write(self, data: bytes) -> None:
        if self.direct is not None:
            await self.direct.write(data)

    async def end(self) -> None:
        if self.direct is not None:
            self.direct.end()


class MemoryWriter:
    """Keeps an answer in memory, for a handler that sent the request on behalf of a client."""

    __slots__ = ("answer",)

    closed = False
    drained = False
    opens_early = False
    direct = None

    def __init__(self) -> None:
        self.answer = WholeResponse(data=b"", status=500)

    @property
    def response(self) -> HttpResponse:
        return self.answer.http()

    async def whole(self, answer: WholeResponse) -> None:
        self.answer = answer

    async def begin(self, headers: Mapping[str, str]) -> None:
        self.answer = WholeResponse(data=b"", headers=headers)

    async def write(self, data: bytes) -> None:
        self.answer = WholeResponse(data=self.answer.data + data, headers=self.answer.headers)

    async def end(self) -> None:
        """Nothing is left to do."""
