"""A scripted server on loopback, in a thread of its own."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from aiohttp import web
from tests.discovery.scripted import Server
from tests.quiet import ignore_hangups

from toolglot.discovery import AUTHS, Probe

KEY = "a-key-for-tests-0123456789"


def probe_of(request: web.Request, body: bytes) -> Probe:
    """The probe that a request must have been."""
    sent = {
        name: request.headers.get(auth.header) == auth.prefix + KEY for name, auth in AUTHS.items()
    }
    value = json.loads(body) if body else None
    return Probe(
        name=question_of(value or {}),
        method=request.method,
        url=str(request.url),
        headers=dict(request.headers),
        body=value,
        auth=next((name for name, there in sent.items() if there), ""),
    )


def question_of(body: dict) -> str:
    """The question that a body puts, as far as a server must tell them apart."""
    if 7 in body.values():
        return "error"
    if not body.get("tools"):
        return "hello"
    return "stream" if body.get("stream") else "tools"


@contextmanager
def serving(server: Server) -> Iterator[str]:
    """The address at which a scripted server answers while the block runs."""

    async def handle(request: web.Request) -> web.Response:
        answer = server(probe_of(request, await request.read()))
        return web.Response(status=answer.status, headers=answer.headers, body=answer.body)

    with serving_handler(handle) as url:
        yield url


@contextmanager
def serving_handler(handle, ssl_context=None) -> Iterator[str]:
    """The address at which a handler answers everything while the block runs."""
    ready = threading.Event()
    there: list[int] = []
    stopping: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def serve() -> None:
        app = web.Application(middlewares=[ignore_hangups])
        app.router.add_route("*", "/{path:.*}", handle)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1, handler_cancellation=True)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=ssl_context)
        await site.start()
        there.append(site._server.sockets[0].getsockname()[1])
        stop = asyncio.Event()
        stopping.append((asyncio.get_running_loop(), stop))
        ready.set()
        await stop.wait()
        await runner.cleanup()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert ready.wait(10)
    try:
        yield f"http{'s' if ssl_context else ''}://127.0.0.1:{there[0]}"
    finally:
        loop, stop = stopping[0]
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
        assert not thread.is_alive()
