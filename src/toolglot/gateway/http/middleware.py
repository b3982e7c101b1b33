"""What applies to all requests: origins (CORS), paths that are almost right, unexpected errors."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from logging import getLogger
from typing import Final, NoReturn

from toolglot.gateway import error_responses as errors
from toolglot.gateway.http.host_names import LOOPBACK, host_name
from toolglot.gateway.http.json_response import error_response
from toolglot.gateway.http.request_info import id_of
from toolglot.http1.server_connection import Handler
from toolglot.http1.server_request import HttpRequest
from toolglot.http1.server_response import HttpResponse, WholeHttpResponse
from toolglot.http1.url_router import Found, UrlRouter
from toolglot.registry import PROTOCOLS

Origins = Callable[[], Iterable[str]]

_EXPOSED: Final = "x-request-id, x-toolglot-receipt, x-toolglot-provider, retry-after"
"""Headers of responses that a page may read."""
_CROSS_SITE: Final = "cross-site"
_SHOWN: Final = 100
_SECONDS: Final = "600"
_PATHS: Final = tuple(codec.SURFACE.path for codec in PROTOCOLS.values())
_DEEPEST: Final = 4
"""How many superfluous segments at the start of a path a hint looks for."""
_ELSEWHERE: Final[Mapping[str, str]] = {
    "audio": "speech and transcriptions",
    "batches": "batches",
    "cachedContents": "cached contents",
    "files": "files",
    "fine_tuning": "fine-tuning",
    "images": "images",
    "moderations": "moderations",
    "pull": "downloads of models",
    "rerank": "reranking",
}
"""What clients ask for besides conversations, by a word of its path."""
_log: Final = getLogger("toolglot")


def _nothing(_request: HttpRequest) -> Handler | None:
    return None


class Middleware:
    """Finds the handler of a request and guards it; `origins` returns the origins allowed, and
    `own_host` whether a `Host` is ours, where that must be asked because nothing else protects us.
    """

    def __init__(
        self,
        router: UrlRouter[Handler],
        origins: Origins,
        own_host: Callable[[str], bool] | None = None,
        elsewhere: Callable[[HttpRequest], Handler | None] = _nothing,
    ) -> None:
        self._router, self._origins, self._own_host = router, origins, own_host
        self._elsewhere = elsewhere
        """Finds what answers at a path that has no route."""

    async def handle(self, request: HttpRequest) -> HttpResponse:
        """One coroutine and not several, because each is resumed whenever something was awaited."""
        origin = request.headers.lower.get("origin")
        if self._own_host is not None and request.remote:  # In process there are no pages.
            rejected = self._check_host(request, origin)
            if rejected is not None:
                return rejected
        if origin is not None:
            rejected = self._check_origin(request, origin)
            if rejected is not None:
                return rejected
        try:
            found = self._router.find(request.method, request.raw_path)
            if not isinstance(found, Found):
                found = self._tidied(request) or found
            if isinstance(found, Found):
                request.match = found.match
                return await found.route(request)
            other = None if found else self._elsewhere(request)
            if other is not None:
                return await other(request)
            return self._unknown(request, found)
        except Exception as problem:  # noqa: BLE001 - the client gets an error in any case
            return _failed(request, problem)

    # --- paths that are almost right --------------------------------------------------------------

    def _tidied(self, request: HttpRequest) -> Found[Handler] | None:
        """The handler of a path that differs in its slashes only."""
        tidy = "/" + "/".join(_words(request))
        if tidy == request.raw_path:
            return None
        found = self._router.find(request.method, tidy)
        if not isinstance(found, Found):
            return None
        request.move_to(tidy)
        return found

    def _unknown(self, request: HttpRequest, allowed: set[str]) -> HttpResponse:
        if allowed:
            return _wrong_method(request, allowed)
        hint = self._hint(request) or _elsewhere(_words(request))
        message = f"{request.method} {request.path}: there is nothing here{hint}"
        return error_response(request, errors.unknown_path(message))

    def _hint(self, request: HttpRequest) -> str:
        """Where the path leads without its beginning, which base URLs often have twice."""
        words = _words(request)
        for count in range(1, min(_DEEPEST, len(words))):
            other = "/" + "/".join(words[count:])
            if isinstance(self._router.find(request.method, other), Found):
                base = "/".join(words[:count])
                return f", but at {other}: take /{base} off the end of the client's base URL"
        return ""

    # --- pages in browsers ------------------------------------------------------------------------

    def _check_host(self, request: HttpRequest, origin: str | None) -> HttpResponse | None:
        """The response to a page that calls us by a name of its own, or that hides what it is."""
        headers = request.headers
        host = headers.get("host", "")
        if host and self._own_host is not None and not self._own_host(host):
            words = f"{host[:_SHOWN]} is no name of this gateway; add it to hosts in [server]"
            return error_response(request, errors.misdirected(words))
        site = headers.get("sec-fetch-site", "")
        if origin is None and site.strip().lower() == _CROSS_SITE:
            words = "pages of other sites are not allowed; add them to origins in [server]"
            return error_response(request, errors.not_allowed(words))
        return None

    def _check_origin(self, request: HttpRequest, origin: str) -> HttpResponse | None:
        """The response to a page that is not allowed, or to a preflight; None: continue."""
        if not is_allowed(origin, self._origins()):
            words = f"pages of {origin} are not allowed; add them to origins in [server]"
            return error_response(request, errors.not_allowed(words))
        request.added.update({
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Expose-Headers": _EXPOSED,
            "Vary": "Origin",
        })  # fmt: skip
        return _preflight(request) if request.method == "OPTIONS" else None


def _words(request: HttpRequest) -> tuple[str, ...]:
    return tuple(filter(None, request.raw_path.split("/")))


def _wrong_method(request: HttpRequest, allowed: Iterable[str]) -> HttpResponse:
    methods = sorted(allowed)
    response = error_response(request, errors.wrong_method(request.method, request.path, methods))
    response.headers["Allow"] = ", ".join(methods)
    return response


def _failed(request: HttpRequest, problem: Exception) -> HttpResponse:
    """What a client gets in place of the answer that ended in an exception."""
    if request.begun and isinstance(problem, ConnectionError):
        raise problem  # The client is gone.
    if isinstance(problem, errors.REJECTIONS):
        error = errors.from_rejection(problem)
    else:
        number = id_of(request)
        words = "request %s: %s %s failed"
        _log.error(words, number, request.method, request.path, exc_info=problem)
        error = errors.internal(number)
    if request.begun:
        _abort(request)
    return error_response(request, error)


def _abort(request: HttpRequest) -> NoReturn:
    """Abort a response that was begun, so that it does not look complete."""
    request.abort()
    raise asyncio.CancelledError


def _elsewhere(words: tuple[str, ...]) -> str:
    """What is served, and what is known to be served by providers only."""
    served = f"; the paths of the protocols are {', '.join(_PATHS)}"
    asked = next((_ELSEWHERE[word] for word in words if word in _ELSEWHERE), None)
    if asked is None:
        return served
    path = "/".join(words)
    return f": the gateway serves no {asked}; ask a provider for them at /PROVIDER/{path}{served}"


def is_allowed(origin: str, patterns: Iterable[str]) -> bool:
    """Whether pages of an origin may send requests: those of this machine, and those named.

    Without this every page that the user happens to visit could spend the user's tokens.
    """
    return _host(origin) in LOOPBACK or any(fnmatchcase(origin, each) for each in patterns)


def _host(origin: str) -> str | None:
    scheme, found, host = origin.partition("://")
    return host_name(host) if found and scheme in ("http", "https") else None


def _preflight(request: HttpRequest) -> HttpResponse:
    """The response to the preflight request of a browser."""
    headers = {
        "Access-Control-Allow-Methods": "GET, POST, DELETE",
        "Access-Control-Max-Age": _SECONDS,
    }
    wanted = request.headers.get("access-control-request-headers")
    if wanted:
        headers["Access-Control-Allow-Headers"] = wanted
    return WholeHttpResponse(status=204, headers=headers)
