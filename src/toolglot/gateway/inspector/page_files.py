"""The files of the page: plain ES modules, one style sheet, and one library that is vendored."""

import hashlib
from functools import cache
from importlib.resources import files
from typing import Final

from toolglot.http1.server_response import WholeHttpResponse

SCRIPTS: Final = (
    "vendor/htm-preact-standalone.js",
    "format.js",
    "store.js",
    "tree.js",
    "list.js",
    "ledger.js",
    "panes.js",
    "scrubber.js",
    "panels.js",
    "app.js",
)
"""In the order in which each needs those before it."""
STYLE: Final = "inspector.css"
_TYPES: Final = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SECURITY_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


@cache
def page_file(name: str) -> bytes | None:
    """A file of the page; None if there is no such file."""
    if name not in {"index.html", "icon.svg", STYLE, *SCRIPTS}:
        return None
    return files("toolglot.gateway.inspector").joinpath("page", name).read_bytes()


@cache
def _tag(name: str) -> str:
    return f'"{hashlib.sha256(page_file(name) or b"").hexdigest()[:16]}"'


def page_response(name: str, known: str | None = None) -> WholeHttpResponse | None:
    """The answer to a request for a file; `known` is the tag of the one that the browser has."""
    data = page_file(name)
    if data is None:
        return None
    headers = {
        **SECURITY_HEADERS,
        "Content-Type": _TYPES[name.rpartition(".")[2]],
        "Cache-Control": "no-cache",
        "ETag": _tag(name),
    }
    if known == _tag(name):
        return WholeHttpResponse(status=304, headers=headers)
    return WholeHttpResponse(data, headers=headers)
