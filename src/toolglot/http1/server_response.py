"""Answers to a client: whole ones, and streams."""

from collections.abc import Callable, Mapping
from email.utils import formatdate
from http import HTTPStatus
from time import time
from typing import TYPE_CHECKING, Final

from toolglot.http1.headers import encode_headers

if TYPE_CHECKING:
    from toolglot.http1.server_connection import ServerConnection
    from toolglot.http1.server_request import HttpRequest

_LINES: Final = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus
}
_WITHOUT_BODY: Final = frozenset({204, 304})


class HttpResponse:
    """What a handler returns."""

    __slots__ = ("begun", "headers", "status")

    def __init__(self, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        self.status, self.headers = status, dict(headers or {})
        self.begun = False
        """Whether anything of it was written, so that it is too late for other headers."""


class WholeHttpResponse(HttpResponse):
    """An answer that is written at once."""

    __slots__ = ("body",)

    def __init__(
        self, body: bytes = b"", status: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(status, headers)
        self.body = body

    def encode(self, *, close: bool, with_body: bool = True) -> bytes:
        """The answer as it is sent."""
        length = b"" if self.status in _WITHOUT_BODY else b"Content-Length: %d\r\n" % len(self.body)
        return b"".join((
            _line(self.status),
            encode_headers(self.headers),
            _date(),
            length,
            b"Connection: close\r\n\r\n" if close else b"\r\n",
            self.body if with_body and length else b"",
        ))  # fmt: skip


class StreamedHttpResponse(HttpResponse):
    """An answer that is written piece by piece."""

    __slots__ = ("_chunked", "_connection", "_ended", "_silent")

    def __init__(self, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status, headers)
        self._ended = self._chunked = self._silent = False
        self._connection: ServerConnection | None = None

    def begin(self, request: "HttpRequest") -> None:
        """Write the head."""
        connection = request.connection
        if connection is None or connection.closed:
            raise ConnectionResetError("the client disconnected")
        self._connection, self.begun, request.begun = connection, True, True
        self.headers.update(request.added)
        self._chunked = not request.http_1_0
        self._silent = request.method == "HEAD"
        close = not request.keep_alive or not self._chunked
        framing = b"Transfer-Encoding: chunked\r\n" if self._chunked else b""
        connection.write(b"".join((
            _line(self.status),
            encode_headers(self.headers),
            _date(),
            framing,
            b"Connection: close\r\n\r\n" if close else b"\r\n",
        )))  # fmt: skip

    def write_now(self, data: bytes) -> bool:
        """Write without waiting; whether the client keeps up."""
        connection = self._connection
        if connection is None:
            raise ConnectionResetError("the client disconnected")
        if not data or self._silent:
            return connection.writable
        if self._chunked:
            data = b"%x\r\n%b\r\n" % (len(data), data)
        return connection.write_piece(data)

    async def write(self, data: bytes) -> None:
        """Write, and wait while the client does not keep up."""
        if not self.write_now(data) and self._connection is not None:
            await self._connection.wait_writable()

    def on_resume(self, resume: Callable[[], None]) -> None:
        """Call a function each time when the client keeps up again."""
        if self._connection is not None:
            self._connection.on_resume = resume

    def end(self) -> None:
        """The answer is complete."""
        if self._ended or self._connection is None:
            return
        self._ended = True
        if self._chunked and not self._silent and not self._connection.closed:
            self._connection.write(b"0\r\n\r\n")


def _line(status: int) -> bytes:
    return _LINES.get(status) or b"HTTP/1.1 %d Unknown\r\n" % status


class _Clock:
    """The date as a header, made once a second."""

    second = 0
    line = b""


def _date() -> bytes:
    now = int(time())
    if now != _Clock.second:
        _Clock.line = f"Date: {formatdate(now, usegmt=True)}\r\n".encode()
        _Clock.second = now
    return _Clock.line
