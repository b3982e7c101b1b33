"""Clients that somebody else has authenticated: by a certificate, or by a proxy in front of us.

What they are called is the name of a virtual key, with its models, limits and budget.
"""

from functools import lru_cache
from ipaddress import ip_address, ip_network
from typing import Any, Final

from toolglot.gateway.config import Server
from toolglot.http1.server_request import HttpRequest

_ADDRESSES: Final = 1024


class ClientIdentity:
    """Reads the name of a client from its certificate, or from the header of a trusted proxy."""

    def __init__(self, server: Server) -> None:
        self._header = (server.identity_header or "").lower()
        self._by_certificate = server.tls is not None and server.tls.client_ca is not None
        networks = tuple(ip_network(each, strict=False) for each in server.trusted_proxies)

        @lru_cache(maxsize=_ADDRESSES)
        def is_trusted(remote: str) -> bool:
            try:
                address = ip_address(remote.partition("%")[0])
            except ValueError:
                return False
            mapped = getattr(address, "ipv4_mapped", None) or address
            return any(mapped in network for network in networks)

        self._is_trusted = is_trusted

    def name_of(self, http: HttpRequest) -> str | None:
        """What a client is called; None: nobody says so."""
        if self._header and self._header in http.headers and self._is_trusted(http.remote):
            # Of a header that came twice, one may be the client's own.
            return None if self._header in http.headers.repeated else http.headers[self._header]
        return _certified_name(http.peer_certificate) if self._by_certificate else None


def _certified_name(certificate: Any) -> str | None:
    """The common name of a certificate that was verified."""
    for entry in (certificate or {}).get("subject", ()):
        for name, value in entry:
            if name == "commonName":
                return str(value)
    return None
