"""By which names the gateway may be called where it asks for no keys.

A page in a browser can point a name of its own at this machine (DNS rebinding), and its requests
then look like those of a page of ours. But they have that name in `Host`, and it is none of ours.
"""

import socket
from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import lru_cache
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from toolglot.gateway.config import Server

LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
_OURS: Final = (".localhost", ".internal")
"""Ends of names that nobody can register: RFC 6761, and ICANN's decision of 2024-07-29."""
_LOCAL: Final = ".local"
_LONGEST: Final = 255
_NAMES: Final = 256


def own_host(server: Server) -> Callable[[str], bool]:
    """Whether a `Host` is one by which clients may call a server."""
    names = {*LOOPBACK, server.host.lower(), socket.gethostname().lower()}
    pages = (urlsplit(each).hostname or "" for each in server.origins if "://" in each)
    patterns = [each.lower() for each in (*server.hosts, *filter(None, pages))]

    @lru_cache(maxsize=_NAMES)
    def is_own(host: str) -> bool:
        name = _name(host)
        return (
            name in names
            or name.endswith(_OURS)
            or (server.open and ("." not in name or name.endswith(_LOCAL)))
            or any(fnmatchcase(name, each) for each in patterns)
            or _is_address(name)
        )

    return lambda host: len(host) <= _LONGEST and is_own(host)


def _name(host: str) -> str:
    """The name in a `Host`, without the port."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].rstrip(".").lower()


def _is_address(name: str) -> bool:
    """An address cannot be pointed elsewhere."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
