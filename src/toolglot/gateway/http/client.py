"""Sending a request to a provider, once. Retries are decided in `toolglot.attempts`.

Closing the reply, or cancelling the task that waits for it, cancels the request.
"""

import asyncio
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any, Final, Literal

import aiohttp
from msgspec import Struct

from toolglot.gateway.config import Timeouts
from toolglot.gateway.error_responses import FIRST_ERROR
from toolglot.wire import jsontext

QUICK: Final = 10.0
"""Timeout for a small response, in seconds."""
_MOST: Final = 16 * 1024 * 1024
"""Bytes of a small response that are read."""


class OutboundRequest(Struct, frozen=True, kw_only=True):
    """A request as it is sent to a provider."""

    url: str
    data: bytes | None = None
    """The body; None: a GET without one."""
    query: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}
    timeouts: Timeouts = Timeouts()
    proxy: str | None = None


class SendFailure(Struct, frozen=True):
    """No reply came."""

    reason: Literal["unreachable", "dropped", "timeout"]
    """Dropped: the connection was established, and closed without a response."""
    detail: str = ""
    """The message of the exception. A URL in it may contain a password."""


class Client:
    """The one HTTP client of the gateway."""

    @cached_property
    def _session(self) -> aiohttp.ClientSession:
        """Created when it is needed, so that a gateway that fails to start leaves none open."""
        connector = aiohttp.TCPConnector(limit=0, ttl_dns_cache=300, keepalive_timeout=60)
        return aiohttp.ClientSession(
            connector=connector,
            auto_decompress=True,
            cookie_jar=aiohttp.DummyCookieJar(),
            read_bufsize=2**16,
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()

    async def send(self, request: OutboundRequest) -> aiohttp.ClientResponse | SendFailure:
        """The reply as soon as it begins."""
        wait = request.timeouts
        try:
            async with asyncio.timeout(wait.connect + wait.first_byte):
                reply = await self._session.post(
                    request.url,
                    data=request.data,
                    params=request.query or None,
                    headers=request.headers,
                    proxy=request.proxy,
                    timeout=_timeout(wait),
                    allow_redirects=False,
                )
        except TimeoutError:
            return SendFailure("timeout")
        except aiohttp.ClientConnectorError as error:
            return SendFailure("unreachable", _words(error))
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError, ConnectionError) as error:
            return SendFailure("dropped", _words(error))
        except (aiohttp.ClientError, OSError) as error:
            return SendFailure("unreachable", _words(error))
        if wait.idle < wait.first_byte:
            _allow_silence(reply, wait.idle)
        return reply

    async def fetch(self, request: OutboundRequest) -> Any:
        """A small JSON response that is optional: None, if it fails or takes too long."""
        try:
            status, body = await self.look(request)
            return jsontext.peek(body) if status < FIRST_ERROR else None
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError):
            return None

    async def look(self, request: OutboundRequest) -> tuple[int, bytes]:
        """A small response, without retries: its status and its bytes; exceptions are passed on."""
        async with (
            asyncio.timeout(QUICK),
            self._session.request(
                "GET" if request.data is None else "POST",
                request.url,
                data=request.data,
                headers=request.headers,
                proxy=request.proxy,
                allow_redirects=False,
            ) as reply,
        ):
            body = bytearray()
            async for piece in reply.content.iter_any():
                body += piece
                if len(body) > _MOST:
                    break
            return reply.status, bytes(body[:_MOST])


def _allow_silence(reply: aiohttp.ClientResponse, seconds: float) -> None:
    """Set the timeout between two reads of a reply that has begun."""
    protocol = reply.connection.protocol if reply.connection else None
    if protocol is not None:
        protocol.read_timeout = seconds
        protocol.start_timeout()


@lru_cache(maxsize=64)
def _timeout(wait: Timeouts) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(
        total=None, sock_connect=wait.connect, sock_read=max(wait.idle, wait.first_byte)
    )


def _words(error: BaseException) -> str:
    return str(error) or type(error).__name__
