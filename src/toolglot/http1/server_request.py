"""A request of a client, from its head on."""

from collections.abc import Awaitable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, unquote

from toolglot.http1.decompress import DecompressError, decompress_body, known_encodings
from toolglot.http1.headers import Headers
from toolglot.http1.large_bodies import work_on

if TYPE_CHECKING:
    import asyncio

    from toolglot.http1.server_connection import ServerConnection


_SHOWN: Final = 50
_USUAL_RATIO: Final = 32
"""How much larger a body may well be when it is decompressed."""


class BodyError(Exception):
    """The body of a request cannot be read."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class BodyTooLargeError(BodyError):
    """The body of a request is larger than allowed."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"the body is larger than {limit} bytes", 413)
        self.limit = limit


class HttpRequest(Mapping[str, Any]):
    """A request of a client. It is also a place for values that go with it, by name."""

    def __init__(
        self,
        connection: "ServerConnection | None",
        method: str,
        target: str,
        headers: Headers,
        *,
        keep_alive: bool = True,
        http_1_0: bool = False,
    ) -> None:
        self.connection = connection
        self.method = method
        self.raw_path, _, self.query_string = target.partition("?")
        self.headers = headers
        self.keep_alive = keep_alive
        self.http_1_0 = http_1_0
        self.match: Mapping[str, str] = {}
        """The parts of the path that the route names."""
        self.added: dict[str, str] = {}
        """Headers that every answer to it gets."""
        self.begun = False
        """Whether an answer has begun."""
        self.body = RequestBody(connection, headers.lower.get("content-encoding"))
        self._values: dict[str, Any] = {}
        self._query: Mapping[str, str] | None = None

    @property
    def path(self) -> str:
        """The path, with its escapes undone."""
        raw = self.raw_path
        return unquote(raw) if "%" in raw else raw

    @property
    def query(self) -> Mapping[str, str]:
        """The query; of a repeated name the first value."""
        if not self.query_string:
            return {}
        if self._query is None:
            pairs = parse_qsl(self.query_string, keep_blank_values=True, max_num_fields=1000)
            self._query = dict(reversed(pairs))
        return self._query

    @property
    def remote(self) -> str:
        """The address of the client."""
        return self.connection.remote if self.connection is not None else ""

    @property
    def peer_certificate(self) -> Any:
        """The verified certificate of the client, as the `ssl` module has it, if there is one."""
        return self.connection.peer_certificate if self.connection is not None else None

    def read(self) -> Awaitable[bytes]:
        """The whole body, decompressed; a `BodyError` if it is not to be had."""
        return self.body.read()

    @property
    def closed(self) -> bool:
        """Whether the client disconnected."""
        return self.connection is None or self.connection.closed

    @property
    def drained(self) -> bool:
        """Whether the client has taken all that was written."""
        return self.connection is not None and self.connection.drained

    def abort(self) -> None:
        """Close the connection at once, so that an answer does not look complete."""
        if self.connection is not None:
            self.connection.abort()

    def move_to(self, raw_path: str) -> None:
        """Treat the request as one at another path."""
        self.raw_path = raw_path

    def clone(
        self, *, headers: Headers | None = None, raw_path: str | None = None
    ) -> "HttpRequest":
        """The same request with other headers or at another path, and with values of its own."""
        path = self.raw_path if raw_path is None else raw_path
        target = f"{path}?{self.query_string}" if self.query_string else path
        made = HttpRequest(
            self.connection,
            self.method,
            target,
            self.headers if headers is None else headers,
            keep_alive=self.keep_alive,
            http_1_0=self.http_1_0,
        )
        made.body = self.body
        return made

    # --- values -----------------------------------------------------------------------------------

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def get(self, name: str, default: Any = None) -> Any:
        """A value, without the detour of an exception."""
        return self._values.get(name, default)

    def __setitem__(self, name: str, value: Any) -> None:
        self._values[name] = value

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __bool__(self) -> bool:
        return True


class RequestBody:
    """The body of a request, as it arrives."""

    __slots__ = (
        "_connection", "_encoding", "_pieces", "_waiter", "complete", "error", "size", "wanted",
    )  # fmt: skip

    def __init__(self, connection: "ServerConnection | None", encoding: str | None) -> None:
        self._connection, self._encoding = connection, encoding
        self._pieces: list[bytes] = []
        self._waiter: asyncio.Future[None] | None = None
        self.error: BodyError | None = None
        self.size = 0
        self.complete = False
        self.wanted = False
        """Whether somebody reads it."""

    async def read(self) -> bytes:
        self.wanted = True
        connection = self._connection
        if not self._settled and connection is not None:
            connection.body_wanted()
            while not self._settled:
                self._waiter = connection.loop.create_future()
                await self._waiter
        if self.error is not None:
            raise self.error
        if len(self._pieces) > 1:
            self._pieces = [b"".join(self._pieces)]
        body = self._pieces[0] if self._pieces else b""
        encoding = self._encoding
        if not encoding or not body:
            return body
        size = _USUAL_RATIO * len(body)
        return await work_on(size, _decompress, body, encoding, self._limit)

    def release(self) -> None:
        """Let go of a body that was read: its answer has begun."""
        if self.complete:
            self._pieces.clear()

    @property
    def _settled(self) -> bool:
        return self.complete or self.error is not None

    @property
    def _limit(self) -> int:
        connection = self._connection
        return connection.limits.body_size if connection is not None else 0

    # --- for the connection -----------------------------------------------------------------------

    def got(self, data: bytes) -> None:
        if self.error is None:
            self.size += len(data)
            self._pieces.append(data)

    def ended(self) -> None:
        self.complete = True
        self._wake()

    def failed(self, error: BodyError) -> None:
        if not self.complete and self.error is None:
            self.error = error
            self._pieces.clear()
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


def _decompress(body: bytes, encoding: str, limit: int) -> bytes:
    """A body without its content encoding; never more than the limit is held."""
    name = encoding.strip().lower()
    if name == "identity":
        return body
    try:
        made = decompress_body(body, name, limit)
    except LookupError:
        known = ", ".join(known_encodings())
        words = f"content-encoding {encoding[:_SHOWN]!r} is not supported; send {known} or none"
        raise BodyError(words, 415) from None
    except DecompressError as error:
        raise BodyError(str(error)) from None
    if limit and len(made) > limit:
        raise BodyTooLargeError(limit)
    return made
