"""One request of a client, and the form of what it is told."""

import secrets
from collections.abc import Mapping
from typing import Any, Final, Protocol

from aiohttp import web
from msgspec import Struct

from toolglot.context import Context
from toolglot.exchange import Answer, Exchange
from toolglot.gateway.access.virtual_keys import VirtualKey
from toolglot.gateway.http.writers import Sink, Whole
from toolglot.gateway.relay.reframe import Framing
from toolglot.gateway.relay.routing import Target
from toolglot.gateway.telemetry.request_telemetry import RequestTelemetry
from toolglot.ir import ApiError
from toolglot.receipt import Receipt
from toolglot.registry import get_protocol

PROTOCOL: Final = web.RequestKey("toolglot_protocol", str)
"""Where a request remembers which protocol it speaks, once that is known."""

_ID: Final = web.RequestKey("toolglot_id", str)
_LONGEST_ID: Final = 128
_JSON: Final = "application/json"
_FIRST_ERROR: Final = 400
_TELLING: Final = frozenset({"retry-after", "retry-after-ms", "request-id", "x-should-retry"})
_AFFINITY: Final = 1024
"""Bytes at the start of a request that stay the same while a conversation grows."""
_SESSIONS: Final = ("x-session-affinity", "x-claude-code-session-id", "thread-id", "session-id")
"""Headers by which clients say which conversation they are in."""


class Past(Protocol):
    """What came before a request that only continues."""

    async def ask(self, exchange: Exchange, provider: str) -> tuple[bytes, Mapping[str, Any]]:
        """The request as a provider can answer it, and what the answer repeats of it."""
        ...


class Call(Struct, kw_only=True):
    """One request of a client, as the gateway sees it."""

    http: web.Request
    sink: Sink
    """Where its answer goes."""
    protocol: str
    """The client's."""
    path: str
    body: bytes
    model: str
    stream: bool
    id: str
    strict: bool = False
    key: str | None = None
    """What the client gave as its key."""
    witness: RequestTelemetry
    holder: VirtualKey | None = None
    """Whose key it is, where keys are asked for."""
    past: Past | None = None
    target: Target | None = None
    exchange: Exchange | None = None
    framing: Framing | None = None
    """What gives the answer another form."""

    @property
    def owner(self) -> str:
        """Whom what is kept belongs to; nobody in particular where no keys are asked for."""
        return self.holder.id if self.holder else ""

    @property
    def conversation(self) -> bytes:
        """What is the same for all requests of a conversation."""
        headers = self.http.headers
        named = next((headers[name] for name in _SESSIONS if headers.get(name)), "")
        return named.encode() or self.body[:_AFFINITY]

    async def asked(self, exchange: Exchange, provider: str) -> tuple[bytes, Mapping[str, Any]]:
        """The request as a provider can answer it, and what the answer repeats of it."""
        return (self.body, {}) if self.past is None else await self.past.ask(exchange, provider)

    def marks(self, receipt: Receipt) -> dict[str, str]:
        """The headers that an answer has from us."""
        marks = {"x-request-id": self.id}
        if receipt:
            counts = " ".join(f"{name}={n}" for name, n in receipt.counts().items() if n)
            marks["x-toolglot-receipt"] = f"{counts}; {','.join(receipt.codes())}"
        if self.target is not None:
            marks["x-toolglot-provider"] = self.target.name
        return marks


# --- what a client says of itself -----------------------------------------------------------------


def given_key(request: web.Request) -> str | None:
    """The key that a client gives, wherever its protocol has it."""
    headers = request.headers
    scheme, _, token = headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token:
        return token.strip()
    named = headers.get("x-api-key") or headers.get("x-goog-api-key") or headers.get("api-key")
    return named or request.query.get("key")


def request_id(given: str) -> str:
    """The id that the client gave its request, or a new one."""
    sound = 0 < len(given) <= _LONGEST_ID and given.isascii() and given.isprintable()
    return given if sound else f"req_{secrets.token_hex(12)}"


def id_of(request: web.Request) -> str:
    """The id of a request, the same however often it is asked for."""
    number = request.get(_ID)
    if number is None:
        number = request[_ID] = request_id(request.headers.get("x-request-id", ""))
    return number


# --- answers that are not streamed ----------------------------------------------------------------


def whole(call: Call, answer: Answer) -> Whole:
    """An answer that is not streamed."""
    receipt = call.exchange.receipt if call.exchange else Receipt()
    told = {name: value for name, value in answer.headers.items() if _tells(name)}
    data = answer.data
    if call.framing is not None and answer.status < _FIRST_ERROR:
        data = call.framing.whole(data)
    headers = {**told, "Content-Type": _JSON, **call.marks(receipt)}
    call.witness.client_response(answer.status, headers)
    call.witness.client_chunk(data)
    return Whole(data=data, status=answer.status, headers=headers)


def refused(call: Call, error: ApiError) -> Whole:
    """An error of our own, in the client's protocol."""
    codec = get_protocol(call.protocol)
    wire = codec.encode_response(error, Context(target=codec.SURFACE))
    return whole(call, Answer(data=wire.data(), status=wire.status, headers=wire.headers))


def _tells(header: str) -> bool:
    """Whether a client acts on a header of a provider."""
    return header in _TELLING or "ratelimit" in header
