"""Handlers for paths at which nothing is asked of a model, for whoever has a key."""

from collections.abc import Awaitable, Callable

from aiohttp import web
from msgspec import Struct

from toolglot.gateway.relay.incoming import given_key
from toolglot.gateway.relay.relay import Relay

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Visit(Struct, frozen=True):
    """A request that was read, and whose it is."""

    http: web.Request
    body: bytes
    owner: str


Handle = Callable[[Visit], Awaitable[web.StreamResponse]]
Way = tuple[str, str, Handle]
"""A method, a path and what answers there."""


def add_ways(app: web.Application, relay: Relay, ways: tuple[Way, ...]) -> None:
    """Answer at all paths, with their version and without."""
    for method, path, handle in ways:
        for each in {path, path.removeprefix("/v1")}:
            app.router.add_route(method, each, _handler(handle, relay))


def _handler(handle: Handle, relay: Relay) -> Handler:
    """A handler for whoever has a key, where keys are asked for."""

    async def handler(request: web.Request) -> web.StreamResponse:
        holder = await relay.access.authenticate(given_key(request))
        owner = holder.id if holder else ""
        return await handle(Visit(request, await request.read(), owner))

    return handler
