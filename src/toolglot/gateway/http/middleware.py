"""Middleware: origins (CORS), paths that are almost right, and unexpected errors."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from logging import getLogger
from typing import Final, NoReturn

from aiohttp import web
from yarl import URL

from toolglot.gateway import error_responses as errors
from toolglot.gateway.http.json_response import error_response
from toolglot.gateway.http.request_info import id_of
from toolglot.registry import PROTOCOLS

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Origins = Callable[[], Iterable[str]]

LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
_EXPOSED: Final = "x-request-id, x-toolglot-receipt, x-toolglot-provider, retry-after"
"""Headers of responses that a page may read."""
_BEGUN: Final = web.RequestKey("toolglot_begun", bool)
_SECONDS: Final = "600"
_PATHS: Final = tuple(codec.SURFACE.path for codec in PROTOCOLS.values())
_DEEPEST: Final = 4
"""How many superfluous segments at the start of a path a hint looks for."""
_ELSEWHERE: Final[Mapping[str, str]] = {
    "audio": "speech and transcriptions",
    "batches": "batches",
    "cachedContents": "cached contents",
    "completions": "completions of plain text; /v1/chat/completions takes conversations",
    "embed": "embeddings",
    "embeddings": "embeddings",
    "files": "files",
    "fine_tuning": "fine-tuning",
    "images": "images",
    "moderations": "moderations",
    "pull": "downloads of models",
    "rerank": "reranking",
}
"""What clients ask for besides conversations, by a word of its path."""
_log: Final = getLogger("toolglot")


def add_middleware(app: web.Application, origins: Origins) -> None:
    """Add the middleware to an application; `origins` returns the origins that are allowed."""

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        """One coroutine and not several, because each is resumed for every chunk of a stream."""
        rejected = _check_origin(request, origins())
        if rejected is not None:
            return rejected
        try:
            return await handler(request)
        except web.HTTPNotFound:
            return await _retry_tidied(request)
        except web.HTTPMethodNotAllowed as problem:
            return _wrong_method(request, problem.allowed_methods)
        except Exception as problem:  # noqa: BLE001 - the client gets an error in any case
            return _failed(request, problem)

    async def prepare(request: web.Request, response: web.StreamResponse) -> None:
        request[_BEGUN] = True
        origin = request.headers.get("Origin")
        if origin is not None and is_allowed(origin, origins()):
            response.headers["Access-Control-Allow-Origin"] = origin
            response.headers["Access-Control-Expose-Headers"] = _EXPOSED
            response.headers["Vary"] = "Origin"

    app.middlewares.append(middleware)
    app.on_response_prepare.append(prepare)


def _failed(request: web.Request, problem: Exception) -> web.StreamResponse:
    """What a client gets in place of the answer that ended in an exception."""
    begun = bool(request.get(_BEGUN))
    if begun and isinstance(problem, ConnectionError):
        raise problem  # The client is gone.
    if isinstance(problem, errors.REJECTIONS):
        error = errors.from_rejection(problem, request)
    else:
        number = id_of(request)
        words = "request %s: %s %s failed"
        _log.error(words, number, request.method, request.path, exc_info=problem)
        error = errors.internal(number)
    if begun:
        _abort(request)
    return error_response(request, error)


def _abort(request: web.Request) -> NoReturn:
    """Abort a response that was begun, so that it does not look complete."""
    if request.transport is not None:
        request.transport.abort()
    raise asyncio.CancelledError


# --- paths that are almost right ------------------------------------------------------------------


async def _retry_tidied(request: web.Request) -> web.StreamResponse:
    """An unknown path: perhaps there is one that differs in its slashes only."""
    words = tuple(filter(None, request.rel_url.raw_path.split("/")))
    tidy = _at(request, words)
    if tidy.rel_url.raw_path != request.rel_url.raw_path:
        return await request.app._handle(tidy)
    hint = await _hint(request, words) or _elsewhere(words)
    message = f"{request.method} {request.path}: there is nothing here{hint}"
    return error_response(request, errors.unknown_path(message))


def _elsewhere(words: tuple[str, ...]) -> str:
    """What is served, and what is known to be served by others only."""
    served = f"; the paths of the protocols are {', '.join(_PATHS)}"
    asked = next((_ELSEWHERE[word] for word in words if word in _ELSEWHERE), None)
    if asked is None:
        return served
    what, _, instead = asked.partition("; ")
    advice = instead or "ask a provider for them directly"
    return f": the gateway serves no {what}; {advice}{served}"


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
    methods = sorted(set(allowed) - {"HEAD"})
    error = errors.wrong_method(request.method, request.path, methods)
    response = error_response(request, error)
    response.headers["Allow"] = ", ".join(methods)
    return response


# --- pages in browsers ----------------------------------------------------------------------------


def is_allowed(origin: str, patterns: Iterable[str]) -> bool:
    """Whether pages of an origin may send requests: those of this machine, and those named.

    Without this every page that the user happens to visit could spend the user's tokens.
    """
    return _host(origin) in LOOPBACK or any(fnmatchcase(origin, each) for each in patterns)


def _host(origin: str) -> str | None:
    try:
        url = URL(origin)
    except ValueError:
        return None
    return url.host if url.scheme in ("http", "https") else None


def _check_origin(request: web.Request, patterns: Iterable[str]) -> web.Response | None:
    """The response to a page that is not allowed, or to a preflight; None: continue."""
    origin = request.headers.get("Origin")
    if origin is None:
        return None
    if not is_allowed(origin, patterns):
        words = f"pages of {origin} are not allowed; add them to origins in [server]"
        return error_response(request, errors.not_allowed(words))
    return _preflight(request) if request.method == "OPTIONS" else None


def _preflight(request: web.Request) -> web.Response:
    """The response to the preflight request of a browser."""
    headers = {
        "Access-Control-Allow-Methods": "GET, POST, DELETE",
        "Access-Control-Max-Age": _SECONDS,
    }
    wanted = request.headers.get("Access-Control-Request-Headers")
    if wanted:
        headers["Access-Control-Allow-Headers"] = wanted
    return web.Response(status=204, headers=headers)
