"""What every request passes first: whose page sent it, where it leads, and what goes wrong there.

Whatever nobody foresaw ends here. It is logged under the id of its request, and the client is told
in its own protocol.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from fnmatch import fnmatchcase
from typing import Final

from aiohttp import web
from yarl import URL

from toolglot.errors import DecodeError
from toolglot.gateway.access.authentication import Refusal
from toolglot.gateway.relay.incoming import id_of
from toolglot.gateway.relay.relay import Relay
from toolglot.gateway.routes.endpoints import error, refuse
from toolglot.gateway.telemetry.logs import LOGGER
from toolglot.ir import ApiError
from toolglot.registry import PROTOCOLS

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

FORESEEN: Final = (Refusal, DecodeError, web.HTTPRequestEntityTooLarge, web.RequestPayloadError)
"""What goes wrong through the request itself."""
LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
_SHOWN: Final = "x-request-id, x-toolglot-receipt, x-toolglot-provider, retry-after"
"""Headers of answers that a page may read."""
_BEGUN: Final = web.RequestKey("toolglot_begun", bool)
_SECONDS: Final = "600"
_PLACES: Final = tuple(codec.SURFACE.path for codec in PROTOCOLS.values())
_DEEPEST: Final = 4
"""How many words of a path may be too many for a hint."""


def stand_at(app: web.Application, relay: Relay) -> None:
    """Let all requests of an application pass here."""

    @web.middleware
    async def enter(request: web.Request, handler: Handler) -> web.StreamResponse:
        origin = request.headers.get("Origin")
        if origin is not None:
            if not is_allowed(origin, relay.config.server.origins):
                return refuse(request, _foreign(origin))
            if request.method == "OPTIONS":
                return _preflight(request)
        return await _passed(request, handler)

    async def prepare(request: web.Request, response: web.StreamResponse) -> None:
        request[_BEGUN] = True
        origin = request.headers.get("Origin")
        if origin is not None and is_allowed(origin, relay.config.server.origins):
            response.headers["Access-Control-Allow-Origin"] = origin
            response.headers["Access-Control-Expose-Headers"] = _SHOWN
            response.headers["Vary"] = "Origin"

    app.middlewares.append(enter)
    app.on_response_prepare.append(prepare)


async def _passed(request: web.Request, handler: Handler) -> web.StreamResponse:
    """The answer of a handler, or what is told in its place."""
    try:
        return await handler(request)
    except web.HTTPNotFound:
        return await _elsewhere(request)
    except web.HTTPMethodNotAllowed as problem:
        return _wrong_method(request, problem.allowed_methods)
    except FORESEEN as problem:
        told = foreseen(problem, request)
    except asyncio.CancelledError:
        raise
    except Exception as problem:
        if request.get(_BEGUN) and isinstance(problem, ConnectionError):
            raise  # The client is gone.
        told = unforeseen(request)
    if request.get(_BEGUN):
        return _cut(request)
    return refuse(request, told)


def foreseen(problem: Exception, request: web.Request) -> ApiError:
    """What to tell of a request that cannot be read or answered."""
    if isinstance(problem, Refusal):
        return problem.error
    if isinstance(problem, web.HTTPRequestEntityTooLarge):
        limit = request.client_max_size
        return error("too_large", f"more than {limit} bytes (max_body in [server])", 413)
    words = str(problem)
    if isinstance(problem, web.RequestPayloadError):
        words = words.rpartition("message:")[2].strip()
    return error("invalid_request", words, 400)


def unforeseen(request: web.Request) -> ApiError:
    """Log what is being handled; what to tell of it."""
    number = id_of(request)
    LOGGER.exception("request %s: %s %s failed", number, request.method, request.path)
    words = f"toolglot itself failed; its log says why under the request id {number}"
    return error("server", words, 500)


def _cut(request: web.Request) -> web.StreamResponse:
    """End an answer that was begun so that nobody takes it for complete."""
    if request.transport is not None:
        request.transport.abort()
    raise asyncio.CancelledError


# --- where a request leads ------------------------------------------------------------------------


async def _elsewhere(request: web.Request) -> web.StreamResponse:
    """A path that nothing answers at: perhaps one does that differs in its slashes only."""
    words = tuple(filter(None, request.rel_url.raw_path.split("/")))
    tidy = _at(request, words)
    if tidy.rel_url.raw_path != request.rel_url.raw_path:
        return await request.app._handle(tidy)
    hint = await _hint(request, words) or f"; clients ask at {', '.join(_PLACES)}"
    message = f"{request.method} {request.path}: there is nothing here{hint}"
    return refuse(request, error("not_found", message, 404))


async def _hint(request: web.Request, words: tuple[str, ...]) -> str:
    """Where the path leads without its beginning, which base URLs often have twice."""
    for count in range(1, min(_DEEPEST, len(words))):
        other = _at(request, words[count:])
        found = await request.app.router.resolve(other)
        if found.http_exception is None:
            base = "/".join(words[:count])
            return f", but at {other.path}: take /{base} off the end of the client's base URL"
    return ""


def _at(request: web.Request, words: Iterable[str]) -> web.Request:
    """The same request at another path."""
    query = request.rel_url.raw_query_string
    url = URL.build(path="/" + "/".join(words), query_string=query, encoded=True)
    return request.clone(rel_url=url)


def _wrong_method(request: web.Request, allowed: Iterable[str]) -> web.Response:
    methods = ", ".join(sorted(set(allowed) - {"HEAD"}))
    message = f"{request.method} {request.path}: this path takes {methods}"
    told = refuse(request, error("invalid_request", message, 405))
    told.headers["Allow"] = methods
    return told


# --- pages ----------------------------------------------------------------------------------------


def is_allowed(origin: str, patterns: Iterable[str]) -> bool:
    """Whether the pages of an origin may ask: those of this machine, and those that are named.

    Without this every page that the user happens to visit could spend the user's tokens.
    """
    return _host(origin) in LOOPBACK or any(fnmatchcase(origin, each) for each in patterns)


def _host(origin: str) -> str | None:
    try:
        url = URL(origin)
    except ValueError:
        return None
    return url.host if url.scheme in ("http", "https") else None


def _foreign(origin: str) -> ApiError:
    words = f"pages of {origin} may not ask this gateway; origins in [server] can allow them"
    return error("permission", words, 403)


def _preflight(request: web.Request) -> web.Response:
    """What a browser asks before the request itself."""
    headers = {
        "Access-Control-Allow-Methods": "GET, POST, DELETE",
        "Access-Control-Max-Age": _SECONDS,
    }
    wanted = request.headers.get("Access-Control-Request-Headers")
    if wanted:
        headers["Access-Control-Allow-Headers"] = wanted
    return web.Response(status=204, headers=headers)
