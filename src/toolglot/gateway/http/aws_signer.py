"""Requests that are signed with AWS credentials (SigV4), by the signer of botocore.

It is that of the extra `bedrock`, and looks for credentials where all AWS tools do: variables,
profiles, roles. What it finds is renewed by botocore, which may ask the network, so that signing
has a thread of its own.
"""

import asyncio
import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final
from urllib.parse import urlencode

from toolglot.gateway.config import ConfigError

_REGION: Final = re.compile(r"[./]([a-z]{2}(?:-[a-z]+)+-\d)[./]")
_SIGNED: Final = ("content-type",)
"""The headers that the signature covers beside those that it adds, and the host."""


class AwsSigner:
    """Signs requests for one service."""

    def __init__(self, service: str, region: str, credentials: Any = None) -> None:
        try:
            self._auth: Any = import_module("botocore.auth").SigV4Auth
            self._request: Any = import_module("botocore.awsrequest").AWSRequest
            self._session: Any = import_module("botocore.session").Session()
        except ImportError:
            words = "signing with AWS credentials needs botocore: pip install 'toolglot[bedrock]'"
            raise ConfigError(words) from None
        self._service, self._region = service, region
        self._credentials = credentials

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AwsSigner):
            return NotImplemented
        return (self._service, self._region) == (other._service, other._region)

    def __hash__(self) -> int:
        return hash((self._service, self._region))

    async def sign(
        self,
        method: str,
        url: str,
        data: bytes | None,
        headers: Mapping[str, str],
        query: Mapping[str, str] | None = None,
    ) -> dict[str, str]:
        """The headers of a request with its signature; as they are, if there are no credentials,
        which the provider will say.
        """
        whole = f"{url}?{urlencode(query)}" if query else url
        return await asyncio.to_thread(self._sign, method, whole, data, headers)

    def _sign(
        self, method: str, url: str, data: bytes | None, headers: Mapping[str, str]
    ) -> dict[str, str]:
        if self._credentials is None:
            self._credentials = self._session.get_credentials()
        if self._credentials is None:
            return dict(headers)
        signed = {name: headers[name] for name in headers if name.lower() in _SIGNED}
        request = self._request(method=method, url=url, data=data, headers=signed)
        frozen = self._credentials.get_frozen_credentials()
        self._auth(frozen, self._service, self._region).add_auth(request)
        others = {name: headers[name] for name in headers if name.lower() != "authorization"}
        return {**others, **dict(request.headers.items())}


def region_of(url: str) -> str | None:
    """The region that an address of AWS names."""
    found = _REGION.search(url)
    return found[1] if found else None
