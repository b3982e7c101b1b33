"""A client's request, as it came from the socket and from authentication."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from msgspec import Struct

from toolglot.errors import DecodeError
from toolglot.gateway import error_responses as errors
from toolglot.gateway.access.virtual_keys import VirtualKey
from toolglot.gateway.error_responses import RequestRejectedError
from toolglot.gateway.http.request_info import given_key, id_of
from toolglot.http1.server_request import HttpRequest
from toolglot.registry import PROTOCOLS
from toolglot.wire import jsontext

IN_PATH: Final = "{model}"
"""What the path of a protocol has in it that names the model there."""
_AFFINITY: Final = 1024
"""Bytes at the start of a request that stay the same while a conversation grows."""
_SESSIONS: Final = ("x-session-affinity", "x-claude-code-session-id", "thread-id", "session-id")
"""Headers by which clients say which conversation they are in."""
_TRUE: Final = frozenset({"1", "true", "yes", "on"})
_DOTS: Final = frozenset({".", ".."})


class Caller(Struct, frozen=True):
    """A client, for rules that are for some clients only."""

    protocol: str = ""
    user_agent: str = ""


class IncomingRequest(Struct, frozen=True, kw_only=True):
    """One request of a client for a model."""

    protocol: str
    """The client's."""
    path: str
    """In full, with the version that a client may leave out."""
    body: bytes
    model: str
    stream: bool
    id: str
    query: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}
    strict: bool = False
    """It shall rather be rejected than lose meaning."""
    key: str | None = None
    """What the client gave as its key."""
    holder: VirtualKey | None = None
    """Whose key it is, where keys are asked for."""

    @property
    def caller(self) -> Caller:
        """Which client this is, as far as it says so."""
        return Caller(self.protocol, self.headers.get("user-agent", ""))

    @property
    def owner(self) -> str:
        """Whom what is kept belongs to; nobody in particular where no keys are asked for."""
        return self.holder.id if self.holder else ""

    @property
    def affinity(self) -> bytes:
        """What is the same for all requests of a conversation."""
        headers = self.headers
        named = next((headers[name] for name in _SESSIONS if headers.get(name)), "")
        return named.encode() or self.body[:_AFFINITY]


def read_incoming(http: HttpRequest, protocol: str, path: str, body: bytes) -> IncomingRequest:
    """The request that a body and the HTTP around it make, before it is known whose it is."""
    try:
        seen = jsontext.glance(body)
    except DecodeError as problem:
        raise RequestRejectedError(errors.invalid_request(str(problem))) from None
    surface, headers = PROTOCOLS[protocol].SURFACE, http.headers.lower
    if IN_PATH in surface.path:
        model, stream = _asked_in_path(http.match["call"], PROTOCOLS[protocol].API.operations)
        path = quote(path.rstrip("/"), safe="/:@")
    elif isinstance(seen.model, str) and _is_name(seen.model):
        model = seen.model
        stream = surface.stream.by_default if seen.stream is None else bool(seen.stream)
    else:
        words = "model: expected the name of a model; GET /v1/models lists them"
        raise RequestRejectedError(errors.invalid_request(words))
    return IncomingRequest(
        protocol=protocol,
        path=path,
        body=body,
        model=model,
        stream=stream,
        id=id_of(http),
        query=http.query,
        headers=headers,
        strict=headers.get("x-toolglot-strict", "").lower() in _TRUE,
        key=given_key(http),
    )


def _asked_in_path(words: str, operations: Mapping[str, bool]) -> tuple[str, bool]:
    """The model in a path, and whether it shall answer as a stream."""
    name, _, operation = words.rstrip("/").rpartition(":")
    if operation not in operations or not _is_name(name):
        expected = ", ".join(f":{each}" for each in operations)
        error = errors.unknown_path(f"models/{words}: expected a model and one of {expected}")
        raise RequestRejectedError(error)
    return name, operations[operation]


def _is_name(model: str) -> bool:
    """Whether a text can name a model; providers may have it in a path, where dots would climb."""
    return bool(model) and ("." not in model or not _DOTS.intersection(model.split("/")))
