"""Who may look at captured exchanges: they have prompts, so this is stricter than the rest.

Where no keys are asked for, only this machine may. With keys, only a key that has the right, and it
sees what was done with it. In a browser, only our own page: neither other sites nor other ports.
"""

from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from toolglot.gateway import error_responses as errors
from toolglot.gateway.error_responses import RequestRejectedError
from toolglot.gateway.http.host_names import LOOPBACK
from toolglot.gateway.routes.route import PlainRequest
from toolglot.http1.server_request import HttpRequest

_OWN_SITES: Final = frozenset({"same-origin", "none"})
"""What browsers say of requests of our own page, and of those that a person makes by hand."""

_FORWARDED: Final = ("forwarded", "via", "x-forwarded-for", "x-real-ip")
"""Headers that proxies add."""


def check_inspector_access(request: PlainRequest, *, keys: bool) -> None:
    """Reject whoever may not look."""
    check_page_access(request.http, keys=keys)
    if keys and (request.holder is None or not request.holder.inspect):
        words = (
            "this key may not use the inspector; `toolglot keys create NAME --inspect` makes one"
        )
        raise RequestRejectedError(errors.not_allowed(words))


def check_page_access(http: HttpRequest, *, keys: bool) -> None:
    """The same for what has no contents: the files of the page."""
    if not keys and not (_is_local(http.remote) and _is_direct(http)):
        words = "without keys, only this machine may use the inspector, and through no proxy"
        raise RequestRejectedError(errors.not_allowed(words))
    if not _is_own_page(http):
        words = "only the inspector's own page may read this, not one of another site or port"
        raise RequestRejectedError(errors.not_allowed(words))


def _is_local(remote: str) -> bool:
    """Whether an address is one of this machine; in process there is none."""
    if not remote:
        return True
    try:
        address = ip_address(remote.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def _is_direct(http: HttpRequest) -> bool:
    """Whether nobody else asks through a proxy on this machine: it is called as this machine."""
    headers = http.headers.lower
    if any(name in headers for name in _FORWARDED):
        return False
    host = headers.get("host", "")
    try:
        return not host or urlsplit(f"//{host}").hostname in LOOPBACK
    except ValueError:
        return False


def _is_own_page(http: HttpRequest) -> bool:
    headers = http.headers.lower
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None and site not in _OWN_SITES:
        return False
    if origin is None:
        return True
    try:
        return urlsplit(origin).netloc == headers.get("host", "")
    except ValueError:
        return False
