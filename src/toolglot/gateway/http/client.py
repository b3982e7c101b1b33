"""Sending a request to a provider, once. Retries are decided in `toolglot.attempts`.

Closing the reply, or cancelling the task that waits for it, cancels the request.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, Final, Literal

from msgspec import Struct

from toolglot.gateway.config import Timeouts
from toolglot.gateway.error_responses import FIRST_ERROR
from toolglot.gateway.http.aws_signer import AwsSigner
from toolglot.http1.client_connection import ConnectionDroppedError, Reply, ReplyError
from toolglot.http1.connection_errors import error_words
from toolglot.http1.connection_pool import ConnectError, ConnectionPool
from toolglot.wire import jsontext

QUICK: Final = 10.0
"""Timeout for a small response, in seconds."""
_MOST: Final = 16 * 1024 * 1024
"""Bytes of a small response that are read."""


class OutboundRequest(Struct, frozen=True, kw_only=True):
    """A request as it is sent to a provider."""

    url: str
    method: str = "POST"
    data: bytes | None = None
    """The body; None: there is none."""
    query: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}
    timeouts: Timeouts = Timeouts()
    proxy: str | None = None
    signer: AwsSigner | None = None
    """What signs it, where it is signed."""

    async def signed(self, method: str, headers: Mapping[str, str]) -> Mapping[str, str]:
        """The headers to send it with."""
        if self.signer is None:
            return headers
        return await self.signer.sign(method, self.url, self.data, headers, self.query)


class SendFailure(Struct, frozen=True):
    """No reply came."""

    reason: Literal["unreachable", "dropped", "stale", "timeout"]
    """Dropped: the connection was established, and closed without a response. Stale: it was one
    that had been kept from an earlier request.
    """
    detail: str = ""
    """The message of the exception. A URL in it may contain a password."""


class Client:
    """The one HTTP client of the gateway."""

    def __init__(self) -> None:
        self._pool = ConnectionPool()

    async def close(self) -> None:
        """Close all connections."""
        self._pool.close()

    async def send(
        self, request: OutboundRequest, headers: Mapping[str, str] | None = None
    ) -> Reply | SendFailure:
        """The reply as soon as it begins; `headers` are sent in place of those in the request."""
        wait = request.timeouts
        try:
            return await self._pool.request(
                request.method,
                request.url,
                data=request.data,
                query=request.query,
                headers=await request.signed(
                    "POST", request.headers if headers is None else headers
                ),
                proxy=request.proxy,
                connect=wait.connect,
                first_byte=wait.first_byte,
                idle=wait.idle,
            )
        except TimeoutError:
            return SendFailure("timeout")
        except ConnectError as error:
            return SendFailure("unreachable", str(error))
        except ConnectionDroppedError as error:
            return SendFailure("stale" if error.reused else "dropped", str(error))
        except ReplyError as error:
            return SendFailure("dropped", str(error))
        except OSError as error:
            return SendFailure("dropped", error_words(error))

    async def fetch(self, request: OutboundRequest) -> Any:
        """A small JSON response that is optional: None, if it fails or takes too long."""
        try:
            status, body = await self.look(request)
            return jsontext.peek(body) if status < FIRST_ERROR else None
        except (ReplyError, OSError, TimeoutError, ValueError):
            return None

    async def look(self, request: OutboundRequest) -> tuple[int, bytes]:
        """A small response, without retries: its status and its bytes; exceptions are passed on."""
        async with asyncio.timeout(QUICK):
            method = "GET" if request.data is None else "POST"
            reply = await self._pool.request(
                method,
                request.url,
                data=request.data,
                headers=await request.signed(method, request.headers),
                proxy=request.proxy,
            )
            async with reply:
                body = bytearray()
                while len(body) < _MOST and (piece := await reply.read_some()):
                    body += piece
                return reply.status, bytes(body[:_MOST])
