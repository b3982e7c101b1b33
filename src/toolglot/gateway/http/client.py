"""Asking a provider over HTTP: keys, retries, timeouts.

A request is sent again only as long as nothing of an answer was seen. Closing the reply, or
cancelling whoever waits for it, ends the provider's work.
"""

import asyncio
import random
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from functools import cached_property, lru_cache
from typing import Any, Final

import aiohttp
from msgspec import Struct

from toolglot.exchange import Sent
from toolglot.gateway.config import Timeouts
from toolglot.gateway.relay.providers import Upstream
from toolglot.gateway.telemetry.redact import scrub
from toolglot.ir import ApiError, ErrorKind
from toolglot.wire import jsontext

_AGAIN: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Statuses after which the same request may succeed."""
_KEY_TROUBLE: Final = frozenset({401, 402, 403, 429})
"""Statuses after which another key may do."""
_FIRST_PAUSE: Final = 0.5
_LONGEST_PAUSE: Final = 8.0
_PATIENCE: Final = 10.0
"""Seconds that we wait when a provider says how long; a client told so waits better itself."""
_KEY_REST: Final = 30.0
_FIRST_ERROR: Final = 400
QUICK: Final = 10.0
"""Seconds for a small answer."""


class Unreachable(Exception):  # noqa: N818 - it is told to a client, not to a programmer
    """The provider gave no answer at all."""

    def __init__(self, error: ApiError) -> None:
        self.error = error
        super().__init__(error.message)


class Question(Struct, frozen=True, kw_only=True):
    """What to send to whom."""

    upstream: Upstream
    protocol: str
    model: str
    sent: Sent
    headers: Mapping[str, str] = {}
    """Headers of the client that its protocol has a meaning for."""
    client_key: str | None = None
    asked: bytes = b""
    """What was translated: the client's request, with what came before it."""
    echo: Mapping[str, Any] = {}
    """What the answer repeats of it."""


class Client:
    """The one HTTP client of the gateway."""

    @cached_property
    def _session(self) -> aiohttp.ClientSession:
        """Made when it is needed: a gateway that does not even start leaves none open."""
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

    async def ask(
        self, question: Question, again: Callable[[], None] = lambda: None
    ) -> aiohttp.ClientResponse:
        """The answer to a question as soon as it begins, or `Unreachable`. `again` is called each
        time before it is asked once more.
        """
        health = question.upstream.health
        for attempt in range(question.upstream.config.retries + 1):
            last = attempt == question.upstream.config.retries
            now = time.monotonic()
            key = self._key(question, now)
            try:
                reply = await self._once(question, key)
            except Unreachable:
                health.bad(time.monotonic())
                if last:
                    raise
                again()
                await asyncio.sleep(_pause(attempt, None))
                continue
            pause = self._judge(question, reply, key, attempt)
            if last or pause is None:
                return reply
            reply.close()
            again()
            await asyncio.sleep(pause)
        raise AssertionError  # pragma: no cover - the last attempt returns or raises

    async def fetch(
        self,
        upstream: Upstream,
        protocol: str,
        path: str,
        data: bytes | None = None,
        *,
        key: str | None = None,
    ) -> Any:
        """A small JSON answer that is good to have: None, if it is not to be had quickly. `key` is
        the client's own, for providers that it is sent on to.
        """
        try:
            status, body = await self.look(upstream, protocol, path, data, key=key)
            return jsontext.peek(body) if status < _FIRST_ERROR else None
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError):
            return None

    async def look(
        self,
        upstream: Upstream,
        protocol: str,
        path: str,
        data: bytes | None = None,
        *,
        key: str | None = None,
    ) -> tuple[int, bytes]:
        """A small answer, asked for once: its status and its bytes, or the error as it is."""
        headers = {"Content-Type": "application/json"} if data is not None else {}
        used = key if upstream.passes_key else upstream.keys.next(time.monotonic())
        async with (
            asyncio.timeout(QUICK),
            self._session.request(
                "GET" if data is None else "POST",
                upstream.url(protocol, path, ""),
                data=data,
                headers={**headers, **upstream.headers(used)},
                proxy=upstream.config.proxy,
                allow_redirects=False,
            ) as reply,
        ):
            return reply.status, await reply.read()

    def _key(self, question: Question, now: float) -> str | None:
        upstream = question.upstream
        return question.client_key if upstream.passes_key else upstream.keys.next(now)

    def _judge(
        self, question: Question, reply: aiohttp.ClientResponse, key: str | None, attempt: int
    ) -> float | None:
        """How long to wait before asking again; None: this is the answer."""
        health, keys = question.upstream.health, question.upstream.keys
        if reply.status not in _AGAIN:
            health.good()
        else:
            health.bad(time.monotonic())
        wait = retry_after(reply.headers)
        if reply.status in _KEY_TROUBLE and len(keys) > 1:
            keys.cool(key, time.monotonic() + (wait or _KEY_REST))
            return 0.0
        if reply.status not in _AGAIN or reply.headers.get("x-should-retry") == "false":
            return None
        if wait is not None and wait > _PATIENCE:
            return None
        return _pause(attempt, wait)

    async def _once(self, question: Question, key: str | None) -> aiohttp.ClientResponse:
        upstream, sent = question.upstream, question.sent
        wait = upstream.config.timeouts
        url = upstream.url(question.protocol, sent.path, question.model)
        headers = {
            "Content-Type": "application/json",
            **question.headers,
            **upstream.headers(key),
        }
        try:
            async with asyncio.timeout(wait.connect + wait.first_byte):
                reply = await self._post(url, sent, headers, upstream.config.proxy, _timeout(wait))
        except TimeoutError:
            raise Unreachable(
                _failure(upstream, "timeout", "did not answer in time", 504)
            ) from None
        except (aiohttp.ClientError, OSError) as error:
            why = f"cannot be reached: {_words(error)}"
            raise Unreachable(_failure(upstream, "server", why, 502)) from None
        if wait.idle < wait.first_byte:
            _allow_silence(reply, wait.idle)
        return reply

    async def _post(
        self,
        url: str,
        sent: Sent,
        headers: Mapping[str, str],
        proxy: str | None,
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 - of the connection, not of this call
    ) -> aiohttp.ClientResponse:
        async def post() -> aiohttp.ClientResponse:
            return await self._session.post(
                url,
                data=sent.data,
                params=sent.query or None,
                headers=headers,
                proxy=proxy,
                timeout=timeout,
                allow_redirects=False,
            )

        try:
            return await post()
        except aiohttp.ClientConnectorError:
            raise
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError, ConnectionResetError):
            # A server may close a kept connection at any time, and some do after every answer.
            return await post()


def _allow_silence(reply: aiohttp.ClientResponse, seconds: float) -> None:
    """From now on, wait only so long for more of an answer that has begun."""
    protocol = reply.connection.protocol if reply.connection else None
    if protocol is not None:
        protocol.read_timeout = seconds
        protocol.start_timeout()


@lru_cache(maxsize=64)
def _timeout(wait: Timeouts) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(
        total=None, sock_connect=wait.connect, sock_read=max(wait.idle, wait.first_byte)
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a server asks to wait, given as a number or a date."""
    milliseconds = headers.get("retry-after-ms")
    value = headers.get("retry-after")
    try:
        if milliseconds is not None:
            return max(0.0, float(milliseconds) / 1000)
        if value is None:
            return None
        if value.strip().replace(".", "", 1).isdigit():
            return float(value)
        then = parsedate_to_datetime(value).timestamp()
        return max(0.0, then - time.time())
    except (ValueError, OverflowError):
        return None


def _pause(attempt: int, wait: float | None) -> float:
    if wait is not None:
        return wait
    longest: float = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**attempt)
    return longest * random.uniform(0.5, 1.0)  # noqa: S311 - not for secrets


def _failure(upstream: Upstream, kind: ErrorKind, what: str, status: int) -> ApiError:
    return ApiError(kind=kind, message=f"provider {upstream.name} {what}", status=status)


def _words(error: BaseException) -> str:
    """What went wrong, for clients: an address may hold a password."""
    return scrub(str(error) or type(error).__name__)
