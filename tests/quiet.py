"""Test servers that say nothing when a client leaves in the middle of an answer, as it may."""

from collections.abc import Awaitable, Callable

from aiohttp import web


@web.middleware
async def ignore_hangups(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Without it, aiohttp logs a traceback for each client that is gone before its answer is."""
    try:
        return await handler(request)
    except ConnectionError:
        return web.Response(status=499)
