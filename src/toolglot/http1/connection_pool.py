"""Connections to servers, kept for the next request: addresses, TLS, proxies."""

import asyncio
import base64
import socket
import ssl
from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache, partial
from typing import Final, TypeVar
from urllib.parse import SplitResult, quote, unquote, urlencode, urlsplit

from msgspec import Struct

from toolglot.http1.client_connection import (
    ClientConnection,
    ConnectionDroppedError,
    Reply,
    ReplyError,
)
from toolglot.http1.connection_errors import error_words
from toolglot.http1.headers import encode_headers
from toolglot.http1.tunnel import Tunnel

_P = TypeVar("_P", bound=asyncio.Protocol)

_KEPT: Final = 60.0
"""Seconds for which an idle connection is kept."""
_ADDRESSES: Final = 300.0
"""Seconds for which the addresses of a host are kept."""
_PORTS: Final = {"http": 80, "https": 443}
_SAFE: Final = "!$%&'()*+,-./:;=?@_~"


class ConnectError(ReplyError):
    """No connection could be made."""


class InvalidUrlError(ConnectError, ValueError):
    """The URL of a request is none."""


class Origin(Struct, frozen=True):
    """Where a request goes."""

    scheme: str
    host: str
    port: int
    proxy: str | None = None

    @property
    def authority(self) -> str:
        """The host and port as a header names them."""
        usual = self.port == _PORTS[self.scheme]
        return self._host if usual else f"{self._host}:{self.port}"

    @property
    def authority_with_port(self) -> str:
        return f"{self._host}:{self.port}"

    @property
    def _host(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host


class _Address(Struct, frozen=True):
    """A URL, taken apart."""

    origin: Origin
    target: str
    query: str
    login: str | None


class ConnectionPool:
    """Sends requests over connections that are used again."""

    def __init__(self) -> None:
        self._idle: dict[Origin, list[ClientConnection]] = {}
        self._all: set[ClientConnection] = set()
        self._addresses: dict[tuple[str, int], tuple[float, list[str]]] = {}
        self._sweeper: asyncio.TimerHandle | None = None

    @property
    def open(self) -> int:
        """The number of connections."""
        return len(self._all)

    def close(self) -> None:
        """Close all connections."""
        if self._sweeper is not None:
            self._sweeper.cancel()
            self._sweeper = None
        for connection in tuple(self._all):
            connection.abort()
        self._idle.clear()

    async def request(
        self,
        method: str,
        url: str,
        *,
        data: bytes | None = None,
        query: Mapping[str, str] = {},
        headers: Mapping[str, str] = {},
        proxy: str | None = None,
        connect: float = 10.0,
        first_byte: float = 60.0,
        idle: float = 60.0,
    ) -> Reply:
        """Send a request; its reply as soon as its head has arrived.

        Raises a `ConnectError`, a `ConnectionDroppedError`, a `ReplyError` or a `TimeoutError`.
        """
        address = _address(url, proxy)
        head = _head(method, url, proxy, tuple(query.items()), tuple(headers.items()))
        if data is None:
            message = head + b"\r\n"
        else:
            message = b"%bContent-Length: %d\r\n\r\n%b" % (head, len(data), data)
        kept = connection = self._take(address.origin)
        if connection is None:
            async with asyncio.timeout(connect):
                connection = await self._connect(address.origin)
        try:
            return await connection.send(message, url, first_byte, idle)
        except ConnectionDroppedError as error:
            error.reused = kept is not None
            raise

    # --- idle connections -------------------------------------------------------------------------

    def _take(self, origin: Origin) -> ClientConnection | None:
        """The connection that was used last: its server is least likely to have closed it."""
        idle = self._idle.get(origin)
        while idle:
            connection = idle.pop()
            if connection.usable and not connection.hung_up:
                return connection
            connection.abort()
        return None

    def _put(self, origin: Origin, connection: ClientConnection) -> None:
        connection.idle_since = connection.loop.time()
        self._idle.setdefault(origin, []).append(connection)
        if self._sweeper is None:
            self._sweeper = connection.loop.call_later(_KEPT, self._sweep, connection.loop)

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        """Close what was idle for too long."""
        self._sweeper = None
        oldest = loop.time() - _KEPT
        for origin, idle in tuple(self._idle.items()):
            for connection in idle:
                if connection.idle_since <= oldest:
                    connection.abort()
            kept = [connection for connection in idle if connection.idle_since > oldest]
            if kept:
                self._idle[origin] = kept
            else:
                del self._idle[origin]
        if self._idle:
            self._sweeper = loop.call_later(_KEPT / 2, self._sweep, loop)

    # --- new connections --------------------------------------------------------------------------

    async def _connect(self, origin: Origin) -> ClientConnection:
        loop = asyncio.get_running_loop()

        def lost(connection: ClientConnection) -> None:
            self._all.discard(connection)
            idle = self._idle.get(origin)
            if idle and connection in idle:
                idle.remove(connection)

        def make() -> ClientConnection:
            return ClientConnection(loop, partial(self._put, origin), lost)

        try:
            if origin.proxy is not None:
                connection = await self._through_proxy(origin, origin.proxy, make)
            else:
                tls = self._tls if origin.scheme == "https" else None
                connection = await self._directly(origin.host, origin.port, tls, make)
        except (OSError, UnicodeError) as error:
            raise ConnectError(_words(origin, error)) from error
        self._all.add(connection)
        return connection

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """Made when it is needed: reading the certificates takes 40 milliseconds."""
        context = ssl.create_default_context()
        context.set_alpn_protocols(["http/1.1"])
        return context

    async def _directly(
        self, host: str, port: int, tls: ssl.SSLContext | None, make: Callable[[], _P]
    ) -> _P:
        """A connection to the first address of a host that takes one."""
        loop = asyncio.get_running_loop()
        failure: OSError | None = None
        for address in await self._resolve(loop, host, port):
            try:
                _, protocol = await loop.create_connection(
                    make, address, port, ssl=tls, server_hostname=host if tls else None
                )
            except ssl.SSLError:
                raise
            except OSError as error:
                failure = failure or error
            else:
                return protocol
        self._addresses.pop((host, port), None)
        raise failure or OSError(f"{host} has no address")

    async def _resolve(self, loop: asyncio.AbstractEventLoop, host: str, port: int) -> list[str]:
        known = self._addresses.get((host, port))
        if known is not None and loop.time() - known[0] < _ADDRESSES:
            return known[1]
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
        self._addresses[host, port] = loop.time(), addresses
        return addresses

    async def _through_proxy(
        self, origin: Origin, proxy: str, make: Callable[[], ClientConnection]
    ) -> ClientConnection:
        """A connection to a proxy; for https a tunnel through it, else it is sent whole URLs."""
        there = _address(proxy, None)
        tls = self._tls if there.origin.scheme == "https" else None
        host, port = there.origin.host, there.origin.port
        if origin.scheme == "http":
            return await self._directly(host, port, tls, make)
        tunnel = await self._directly(host, port, tls, Tunnel)
        transport = await tunnel.open(f"{origin.authority_with_port}", there.login)
        connection = make()
        loop = asyncio.get_running_loop()
        secured = await loop.start_tls(
            transport, connection, self._tls, server_hostname=origin.host
        )
        if secured is None:
            raise OSError("the proxy closed the tunnel")
        connection.connection_made(secured)
        return connection


# --- addresses and messages -----------------------------------------------------------------------


@lru_cache(maxsize=256)
def _address(url: str, proxy: str | None) -> _Address:
    """A URL, taken apart; a `ConnectError` if it is none."""
    try:
        parts = urlsplit(url)
        port = parts.port
        host = parts.hostname or ""
        host = host if host.isascii() else host.encode("idna").decode()
    except ValueError as error:
        raise InvalidUrlError(f"{url} is no URL: {error}") from None
    if parts.scheme not in _PORTS or not host:
        raise InvalidUrlError(f"{url} is no URL of http or https")
    origin = Origin(parts.scheme, host, port or _PORTS[parts.scheme], proxy)
    target = quote(parts.path or "/", safe=_SAFE)
    query = quote(parts.query, safe=_SAFE)
    return _Address(origin, target, query, _login(parts))


def _login(parts: SplitResult) -> str | None:
    """The name and password in a URL, as a header has them."""
    if parts.username is None:
        return None
    words = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return "Basic " + base64.b64encode(words.encode()).decode()


@lru_cache(maxsize=64)
def _head(
    method: str,
    url: str,
    proxy: str | None,
    query: tuple[tuple[str, str], ...],
    headers: tuple[tuple[str, str], ...],
) -> bytes:
    """The head of a request but for the length of its body: the same for most requests."""
    address = _address(url, proxy)
    origin, target = address.origin, address.target
    if address.query or query:
        joined = "&".join(filter(None, (address.query, urlencode(query))))
        target = f"{target}?{joined}"
    own = {"Host": origin.authority, "Accept": "*/*", "Accept-Encoding": "identity"}
    if address.login is not None:
        own["Authorization"] = address.login
    if origin.proxy is not None and origin.scheme == "http":
        target = f"http://{origin.authority}{target}"
        login = _address(origin.proxy, None).login
        if login is not None:
            own["Proxy-Authorization"] = login
    given = {name.lower() for name, _ in headers}
    own = {name: value for name, value in own.items() if name.lower() not in given}
    try:
        line = f"{method} {target} HTTP/1.1\r\n".encode("ascii")
        return b"".join((line, encode_headers(own), encode_headers(dict(headers))))
    except ValueError as error:
        raise ConnectError(str(error)) from None


def _words(origin: Origin, error: Exception) -> str:
    return f"cannot connect to {origin.authority}: {error_words(error)}"
