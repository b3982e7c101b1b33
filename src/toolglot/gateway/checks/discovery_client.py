"""Sends the probes of a discovery over HTTP: bounded in time and size, to one host only."""

import asyncio
import os
import ssl
from collections.abc import Callable
from time import monotonic
from typing import Final

import aiohttp
from yarl import URL

from toolglot.discovery import Discovery, DiscoveryResult, Probe, ProbeResponse
from toolglot.errors import ToolglotError
from toolglot.wire import jsontext

MAX_ANSWER: Final = 2 * 1024 * 1024
"""Bytes of a response that are read."""

TIMEOUT: Final = 20.0
"""Seconds for one probe."""

TOTAL: Final = 240.0
"""Seconds for all of them."""

_REDIRECTS: Final = frozenset({301, 302, 307, 308})
_HOPS: Final = 3
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
    steps = Discovery(url, model=model, key=key is not None).run()
    end = monotonic() + total
    # Some servers close a connection after a stream although they promise to keep it.
    connector = aiohttp.TCPConnector(force_close=True)
    async with aiohttp.ClientSession(connector=connector, trust_env=environment_proxies) as session:
        probe, first = next(steps), True
        while True:
            left = min(timeout, end - monotonic())
            answer = await _answer(session, probe, key, left, first=first)
            if progress is not None:
                progress(probe, answer)
            first = False
            try:
                probe = steps.send(answer)
            except StopIteration as done:
                result: DiscoveryResult = done.value
                return result


def _check_key(key: str | None) -> None:
    if key is not None and not (key.isascii() and key.isprintable() and key):
        raise ProbeError("the key is empty or has characters that no header can carry")


async def _answer(
    session: aiohttp.ClientSession, probe: Probe, key: str | None, left: float, *, first: bool
) -> ProbeResponse:
    """The response to a probe, or why there is none."""
    started = monotonic()
    if left <= 0:
        return ProbeResponse(failure="not asked: out of time")
    try:
        async with asyncio.timeout(left):
            status, headers, body = await _fetch(session, probe, key)
    except TimeoutError:
        return ProbeResponse(failure=f"no answer within {left:.0f} s", ms=_since(started))
    except (aiohttp.ClientError, ValueError, OSError) as error:
        if first:
            raise ProbeError(connection_advice(error, URL(probe.url))) from None
        return ProbeResponse(failure=f"{type(error).__name__}", ms=_since(started))
    if key:
        body = body.replace(key.encode(), _HIDDEN)
    return ProbeResponse(status=status, headers=headers, body=body, ms=_since(started))


def _since(started: float) -> int:
    return round((monotonic() - started) * 1000)


async def _fetch(
    session: aiohttp.ClientSession, probe: Probe, key: str | None
) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body; redirects are followed only within the same origin."""
    url = URL(probe.url)
    headers = {"Accept": "application/json, text/event-stream", **probe.signed(key)}
    data = None
    if probe.body is not None:
        data = jsontext.encode(probe.body)
        headers["Content-Type"] = "application/json"
    for hop in range(_HOPS + 1):
        async with session.request(
            probe.method, url, data=data, headers=headers, allow_redirects=False
        ) as response:
            there = response.headers.get("Location", "")
            target = url.join(URL(there)) if there else url
            same_origin = target.origin() == url.origin() and target != url
            if response.status in _REDIRECTS and same_origin and hop < _HOPS:
                url = target
                continue
            return response.status, dict(response.headers), await _read(response)
    raise AssertionError("unreachable")  # pragma: no cover


async def _read(response: aiohttp.ClientResponse) -> bytes:
    """The body, up to a maximum; of one that breaks off, what was received."""
    body = bytearray()
    try:
        async for piece in response.content.iter_any():
            body += piece
            if len(body) >= MAX_ANSWER:
                break
    except aiohttp.ClientPayloadError:
        pass
    return bytes(body[:MAX_ANSWER])


# --- advice ---------------------------------------------------------------------------------------


def connection_advice(error: Exception, url: URL) -> str:
    """Why a server cannot be reached, and what to do about it."""
    where = f"{url.host}:{url.port}"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return (
            f"{where}: its certificate is not trusted ({error.certificate_error}); "
            "point SSL_CERT_FILE to the certificate of its authority"
        )
    if isinstance(error, (aiohttp.ClientConnectorSSLError, ssl.SSLError)):
        return f"{where}: it does not speak TLS ({error}); try http:// instead of https://"
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return f"{url.host}: there is no such host; check the URL"
    if isinstance(error, aiohttp.ClientConnectorError):
        why = os.strerror(error.errno) if error.errno else error
        return f"{where}: {why}; is the server running, and is this its port?"
    if isinstance(error, aiohttp.ClientError) and url.scheme == "http":
        return f"{where}: it does not speak HTTP ({error}); try https:// instead of http://"
    return f"{where}: {error}"
