"""A gateway and what stands behind it, on loopback, in the loop of the test."""

import asyncio
import threading
from contextlib import asynccontextmanager, contextmanager

import aiohttp
from aiohttp import web
from tests.quiet import ignore_hangups

from toolglot.gateway.app import App
from toolglot.gateway.config import Config, Provider, RouteConfig, Server
from toolglot.gateway.http.server import answering, listen


@asynccontextmanager
async def listening(app, runner=web.AppRunner):
    """The URL of an application that runs."""
    runner = runner(app, handler_cancellation=True, shutdown_timeout=1, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def serving(config, path=None):
    """The URL of a gateway that runs."""
    with listen("127.0.0.1", 0) as sock:
        async with answering(App(config, path), sock, drain=1):
            yield f"http://127.0.0.1:{sock.getsockname()[1]}"


@asynccontextmanager
async def upstream(handler):
    """The URL of a server that answers everything with one handler."""
    app = web.Application(client_max_size=2**26, middlewares=[ignore_hangups])
    app.router.add_route("*", "/{path:.*}", handler)
    async with listening(app) as url:
        yield url


@asynccontextmanager
async def gateway(providers=None, routes=(), **server):
    """The URL of a gateway, and a session to call it with."""
    config = Config(providers=providers or {}, routes=tuple(routes), server=Server(**server))
    async with serving(config) as url, aiohttp.ClientSession(url) as session:
        yield session


BASES = {
    "anthropic": "/v1",
    "openai-chat": "/v1",
    "openai-responses": "/v1",
    "gemini": "/v1beta",
    "gemini-interactions": "/v1beta",
    "ollama": "/api",
    "bedrock-converse": "/model",
}


def provider(protocol, url, **more):
    """A provider that speaks a protocol at a URL."""
    return Provider(protocol=protocol, base_url=url + BASES[protocol], **{"retries": 0, **more})


def to(*targets, match="*", **more):
    """A route."""
    return RouteConfig(match=match, to=targets, **more)


@contextmanager
def in_thread(make):
    """What an asynchronous context gives, kept open by a loop in another thread.

    For clients that block, such as the SDKs.
    """
    given, ready = [], threading.Event()

    async def main():
        async with make() as value:
            stop = asyncio.Event()
            given.extend((value, asyncio.get_running_loop(), stop))
            ready.set()
            await stop.wait()

    def run():
        try:
            asyncio.run(main())
        finally:
            ready.set()

    thread = threading.Thread(target=run)
    thread.start()
    ready.wait(30)
    value, loop, stop = given
    try:
        yield value
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(30)
