"""By which names the gateway may be called where it asks for no keys.

A page in a browser can point a name of its own at this machine (DNS rebinding), and its requests
then look like those of a page of ours. But they have that name in `Host`, and it is none of ours.
"""

import re
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
_HOST: Final = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([\w.-]+))(?::\d{1,5})?", re.ASCII)
_LONGEST: Final = 255
_NAMES: Final = 256


def own_host(server: Server) -> Callable[[str], bool]:
    """Whether a `Host` is one by which clients may call a server."""
    names = {*LOOPBACK, server.host.lower(), socket.gethostname().lower()}
    pages = (urlsplit(each).hostname or "" for each in server.origins if "://" in each)
    patterns = [each.lower() for each in (*server.hosts, *filter(None, pages))]

    @lru_cache(maxsize=_NAMES)
    def is_own(host: str) -> bool:
        name = host_name(host)
        return name is not None and (
            name in names
            or name.endswith(_OURS)
            or "." not in name  # Nobody can register such a name.
            or (server.open and name.endswith(_LOCAL))
            or any(fnmatchcase(name, each) for each in patterns)
            or _is_address(name)
        )

    return lambda host: len(host) <= _LONGEST and is_own(host)


def host_name(host: str) -> str | None:
    """The name in a `Host`, or in what follows the scheme of an origin, without the port; None: it
    is none. Readers that are lenient here take `[::1].example.com` for an address of ours.
    """
    found = _HOST.fullmatch(host)
    return None if found is None else (found[1] or found[2]).rstrip(".").lower()


def _is_address(name: str) -> bool:
    """An address cannot be pointed elsewhere."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
