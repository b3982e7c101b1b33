"""Requests without a connection, and handlers on a loopback port."""

from contextlib import asynccontextmanager

from toolglot.gateway.http.middleware import Middleware
from toolglot.gateway.http.server import listen
from toolglot.http1.headers import Headers
from toolglot.http1.http_server import HttpServer
from toolglot.http1.server_connection import Limits
from toolglot.http1.server_request import HttpRequest


def made_request(method, target, headers=None):
    """A request that came from nowhere, without a body."""
    request = HttpRequest(None, method, target, Headers.of(headers or {}))
    request.body.ended()
    return request


@asynccontextmanager
async def handling(handler, **limits):
    """The URL of a server that answers everything with one handler."""
    server = HttpServer(handler, Limits(**limits))
    with listen("127.0.0.1", 0) as sock:
        await server.listen(sock)
        try:
            yield f"http://127.0.0.1:{sock.getsockname()[1]}"
        finally:
            await server.close(1)


def routed(router, **limits):
    """The same for the routes of a router, as the gateway answers them."""
    return handling(Middleware(router, tuple).handle, **limits)
