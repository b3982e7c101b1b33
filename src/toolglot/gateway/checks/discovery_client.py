"""Sends the probes of a discovery over HTTP: bounded in time and size, to one host only."""

import asyncio
import os
import socket
import ssl
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any, Final
from urllib.parse import urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass  # noqa: TID251 - nothing is requested

from toolglot.discovery import Discovery, DiscoveryResult, Probe, ProbeResponse
from toolglot.errors import ToolglotError
from toolglot.gateway.telemetry.redact import SHORTEST_SECRET
from toolglot.http1.client_connection import Reply, ReplyError
from toolglot.http1.connection_pool import ConnectError, ConnectionPool
from toolglot.ir import Json
from toolglot.mending import read_error, understand
from toolglot.providers.facts import with_facts
from toolglot.registry import get_protocol
from toolglot.wire import jsontext

MAX_ANSWER: Final = 2 * 1024 * 1024
"""Bytes of a response that are read."""

TIMEOUT: Final = 20.0
"""Seconds for one probe."""

TOTAL: Final = 240.0
"""Seconds for all of them."""

_REDIRECTS: Final = frozenset({301, 302, 307, 308})
_HOPS: Final = 3
_PORTS: Final = {"http": 80, "https": 443}
_HIDDEN: Final = b"[the key]"

Progress = Callable[[Probe, ProbeResponse], None]


class ProbeError(ToolglotError):
    """The server cannot be probed at all; the message says what to do."""


async def probe_server(
    url: str,
    *,
    key: str | None = None,
    model: str | None = None,
    timeout: float = TIMEOUT,  # noqa: ASYNC109 - it is for each probe, not for this function
    total: float = TOTAL,
    environment_proxies: bool = False,
    progress: Progress | None = None,
) -> DiscoveryResult:
    """Find out what a server can do. It is an error only if the first probe cannot reach it."""
    _check_key(key)
    steps = Discovery(url, model=model, key=key is not None, learn=_learn).run()
    end = monotonic() + total
    pool = ConnectionPool()
    proxy = _environment_proxy(url) if environment_proxies else None
    try:
        probe, first = next(steps), True
        while True:
            left = min(timeout, end - monotonic())
            answer = await _answer(pool, proxy, probe, key, left, first=first)
            if progress is not None:
                progress(probe, answer)
            first = False
            try:
                probe = steps.send(answer)
            except StopIteration as done:
                result: DiscoveryResult = done.value
                return result
    finally:
        pool.close()


def _learn(
    protocol: str, answer: ProbeResponse, sent: Json, known: Mapping[str, Any]
) -> Mapping[str, Any]:
    """What a refusal says of the server, by the table of refusals."""
    surface = with_facts(get_protocol(protocol).SURFACE, known)
    mending = understand(read_error(answer.status, answer.body), surface, sent)
    return mending.facts if mending is not None and mending.remember else {}


def _environment_proxy(url: str) -> str | None:
    """The proxy that the environment names for a URL."""
    parts = urlsplit(url)
    if not parts.hostname or proxy_bypass(parts.hostname):
        return None
    return getproxies().get(parts.scheme)


def _check_key(key: str | None) -> None:
    if key is not None and not (key.isascii() and key.isprintable() and key):
        raise ProbeError("the key is empty or has characters that no header can carry")


async def _answer(
    pool: ConnectionPool,
    proxy: str | None,
    probe: Probe,
    key: str | None,
    left: float,
    *,
    first: bool,
) -> ProbeResponse:
    """The response to a probe, or why there is none."""
    started = monotonic()
    if left <= 0:
        return ProbeResponse(failure="not asked: out of time")
    try:
        async with asyncio.timeout(left):
            status, headers, body = await _fetch(pool, proxy, probe, key)
    except TimeoutError:
        return ProbeResponse(failure=f"no answer within {left:.0f} s", ms=_since(started))
    except (ReplyError, ValueError, OSError) as error:
        if first:
            raise ProbeError(connection_advice(error, probe.url)) from None
        return ProbeResponse(failure=f"{type(error).__name__}", ms=_since(started))
    if key and len(key) >= SHORTEST_SECRET:
        body = body.replace(key.encode(), _HIDDEN)
    return ProbeResponse(status=status, headers=headers, body=body, ms=_since(started))


def _since(started: float) -> int:
    return round((monotonic() - started) * 1000)


async def _fetch(
    pool: ConnectionPool, proxy: str | None, probe: Probe, key: str | None
) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body; redirects are followed only within the same origin."""
    url = probe.url
    # Some servers close a connection after a stream although they promise to keep it.
    headers = {
        "Accept": "application/json, text/event-stream",
        "Connection": "close",
        **probe.signed(key),
    }
    data = None
    if probe.body is not None:
        data = jsontext.encode(probe.body)
        headers["Content-Type"] = "application/json"
    for hop in range(_HOPS + 1):
        async with await pool.request(
            probe.method, url, data=data, headers=headers, proxy=proxy
        ) as response:
            target = urljoin(url, response.headers.get("location") or "")
            same_origin = urlsplit(target)[:2] == urlsplit(url)[:2] and target != url
            if response.status in _REDIRECTS and same_origin and hop < _HOPS:
                url = target
                continue
            return response.status, dict(response.headers), await _read(response)
    raise AssertionError("unreachable")  # pragma: no cover


async def _read(response: Reply) -> bytes:
    """The body, up to a maximum; of one that breaks off, what was received."""
    body = bytearray()
    try:
        while len(body) < MAX_ANSWER and (piece := await response.read_some()):
            body += piece
    except ReplyError:
        pass
    return bytes(body[:MAX_ANSWER])


# --- advice ---------------------------------------------------------------------------------------


def connection_advice(error: Exception, address: str) -> str:
    """Why a server cannot be reached, and what to do about it."""
    url = urlsplit(address)
    where = f"{url.hostname}:{url.port or _PORTS.get(url.scheme, 0)}"
    cause = error.__cause__ if isinstance(error, ConnectError) else error
    if isinstance(cause, ssl.SSLCertVerificationError):
        return (
            f"{where}: its certificate is not trusted ({cause}); "
            "point SSL_CERT_FILE to the certificate of its authority"
        )
    if isinstance(cause, ssl.SSLError):
        return f"{where}: it does not speak TLS ({cause}); try http:// instead of https://"
    if isinstance(cause, socket.gaierror):
        return f"{url.hostname}: there is no such host; check the URL"
    if isinstance(error, ConnectError) and isinstance(cause, OSError):
        why = os.strerror(cause.errno) if cause.errno else cause
        return f"{where}: {why}; is the server running, and is this its port?"
    if isinstance(error, ReplyError) and url.scheme == "http":
        return f"{where}: it does not speak HTTP ({error}); try https:// instead of http://"
    return f"{where}: {error}"
