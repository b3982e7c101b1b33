"""A server: its connections, their deadlines, and its end."""

import asyncio
import errno
import os
import socket
import ssl
from collections import Counter
from collections.abc import Callable
from logging import getLogger
from typing import Final

from toolglot.http1.server_connection import Handler, Limits, ServerConnection
from toolglot.http1.server_response import WholeHttpResponse

_TICK: Final = 1.0
"""Seconds between two looks at the deadlines of all connections, at most."""
_EXHAUSTED: Final = frozenset({errno.EMFILE, errno.ENFILE})
_log: Final = getLogger("toolglot")


def _plain_refusal(status: int, words: str) -> WholeHttpResponse:
    return WholeHttpResponse(words.encode(), status, {"Content-Type": "text/plain; charset=utf-8"})


class HttpServer:
    """Answers requests with a handler."""

    def __init__(
        self,
        handler: Handler,
        limits: Limits | None = None,
        refusal: Callable[[int, str], WholeHttpResponse] = _plain_refusal,
    ) -> None:
        self.handler = handler
        self.limits = limits or Limits()
        self.refusal = refusal
        """Makes the answer to what is no request."""
        self.loop = asyncio.get_running_loop()
        self.closing = False
        self._connections: set[ServerConnection] = set()
        self._by_address: Counter[str] = Counter()
        self._bodies = 0
        self._listeners: list[asyncio.Server] = []
        shortest = min(self.limits.head_seconds, self.limits.body_seconds, self.limits.idle_seconds)
        self._every = min(_TICK, shortest)
        self._ticker = self.loop.call_later(self._every, self._tick)
        self._empty: asyncio.Future[None] | None = None
        self._exhausted = False
        """Whether no descriptor was left when that was looked at last."""

    async def listen(
        self, sock: socket.socket, backlog: int = 1024, tls: ssl.SSLContext | None = None
    ) -> None:
        """Accept connections on a socket, encrypted ones if there is a context of TLS."""
        listener = await self.loop.create_server(
            lambda: ServerConnection(self),
            sock=sock,
            backlog=backlog,
            ssl=tls,
            ssl_handshake_timeout=self.limits.head_seconds if tls is not None else None,
        )
        self._listeners.append(listener)

    async def close(self, seconds: float) -> None:
        """Accept nothing more, and let answers end; cut them off after so many seconds."""
        self.closing = True
        for listener in self._listeners:
            listener.close()
        for connection in tuple(self._connections):
            if connection.idle:
                connection.close()
        if self._connections:
            self._empty = self.loop.create_future()
            await asyncio.wait((self._empty,), timeout=seconds)
        self._ticker.cancel()
        for connection in tuple(self._connections):
            connection.abort()

    # --- for connections --------------------------------------------------------------------------

    def admit(self, connection: ServerConnection) -> bool:
        """Whether one more connection is allowed."""
        self._connections.add(connection)
        self._by_address[connection.remote] += 1
        limits = self.limits
        return not (
            (limits.connections and len(self._connections) > limits.connections)
            or (limits.per_address and self._by_address[connection.remote] > limits.per_address)
        )

    def lost(self, connection: ServerConnection) -> None:
        self._connections.discard(connection)
        self._by_address[connection.remote] -= 1
        if self._by_address[connection.remote] <= 0:
            del self._by_address[connection.remote]
        if self._empty is not None and not self._connections and not self._empty.done():
            self._empty.set_result(None)

    def take(self, size: int) -> bool:
        """Whether so many more bytes of bodies may be read."""
        if self._bodies + size > self.limits.all_bodies:
            return False
        self._bodies += size
        return True

    @property
    def bytes_read(self) -> int:
        """Bytes of all bodies that are being read."""
        return self._bodies

    def give(self, size: int) -> None:
        self._bodies -= size

    def _tick(self) -> None:
        """Close connections whose deadline has passed. One timer for all costs less than one each,
        which would be set anew for every piece of a body.
        """
        now = self.loop.time()
        for connection in [each for each in self._connections if each.deadline < now]:
            connection.expired()
        self._make_room()
        self._ticker = self.loop.call_later(self._every, self._tick)

    def _make_room(self) -> None:
        """When no descriptor is left, nobody can connect: those who wait are turned away or kept
        waiting by the loop, which does not spin. Let go of those who are connected and ask nothing.
        """
        if _has_descriptors():
            if self._exhausted:
                _log.warning("there are file descriptors again; connections are accepted")
            self._exhausted = False
            return
        idle = sorted((each for each in self._connections if each.idle), key=_deadline)
        if not self._exhausted:
            words = (
                "no file descriptors are left with %d connections open: no more are accepted, and "
                "idle ones are closed; raise `ulimit -n`, or lower connections in [server.limits]"
            )
            _log.error(words, len(self._connections))
        self._exhausted = True
        for connection in idle[: (len(idle) + 1) // 2]:
            connection.close()


def _deadline(connection: ServerConnection) -> float:
    return connection.deadline


def _has_descriptors() -> bool:
    """Whether one more file can be opened."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error.errno not in _EXHAUSTED
    return True
