"""The protocols by name."""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import Any, ClassVar, Final, Protocol

from toolglot.api import Api
from toolglot.context import Context
from toolglot.errors import UnknownProtocolError
from toolglot.events import Direct, Event
from toolglot.ir import ApiError, Json, Request, Response
from toolglot.profiles import PROVIDERS, Auth
from toolglot.protocols import (
    anthropic,
    bedrock_converse,
    gemini,
    gemini_interactions,
    ollama,
    openai_chat,
    openai_responses,
)
from toolglot.surface import Surface
from toolglot.wire.call_places import CallPlaces
from toolglot.wire.follow import Check
from toolglot.wire.message import WireRequest, WireResponse
from toolglot.wire.stream_rules import Linter


class StreamDecoder(Protocol):
    """Bytes to events."""

    def feed(self, data: bytes) -> Iterable[Event]:
        """The events that these bytes complete."""
        ...

    repeats: ClassVar[bool]
    """Whether servers write the deltas of a part alike; then there is `direct`."""

    @property
    def between_events(self) -> bool:
        """Whether the bytes so far ended with an event, in a protocol whose events are frames."""
        ...

    def direct(self, index: int, /) -> Direct | None:
        """How the text of an open part goes past the decoder, if it was read elsewhere; None: it
        has to be read here.
        """
        ...

    def read(self, name: str, payload: bytes, value: Json | None = None, /) -> Iterable[Event]:
        """What one event of the stream means, for whoever takes the bytes apart; `value` is its
        JSON if that was read already.
        """
        ...

    def close(self) -> Iterator[Event]:
        """What the end of the bytes means."""
        ...

    @property
    def could_end(self) -> int:
        """How many events came, if the answer is complete should no more come; else 0."""
        ...


class StreamEncoder(Protocol):
    """Events to bytes."""

    last_words: ClassVar[bytes]
    """What a complete stream ends with, after all that it says."""

    def encode(self, event: Event) -> bytes:
        """The bytes of one event."""
        ...

    def text_writer(self, index: int) -> Callable[[str], bytes]:
        """What writes more text of an open part that has got some before, until it ends."""
        ...

    def continue_after(self, payload: bytes) -> None:
        """The client has got a stream up to this event, which another wrote."""
        ...

    def close(self) -> bytes:
        """The last bytes."""
        ...


class ProtocolModule(Protocol):
    """What every protocol package offers: its facts, its stream rules and the seven names."""

    NAME: str
    SURFACE: Surface
    API: Api
    LINTER: Linter[Any]
    CALLS: CallPlaces

    def decode_request(self, wire: WireRequest, ctx: Context) -> Request:
        """The interlingua of a request."""
        ...

    def encode_request(self, request: Request, ctx: Context) -> WireRequest:
        """The wire form of a request."""
        ...

    def decode_response(self, wire: WireResponse, ctx: Context) -> Response | ApiError:
        """The interlingua of a response or an error."""
        ...

    def encode_response(self, response: Response | ApiError, ctx: Context) -> WireResponse:
        """The wire form of a response or an error."""
        ...

    def StreamDecoder(self, ctx: Context) -> StreamDecoder:  # noqa: N802 - it is a class there
        """Reads a stream."""
        ...

    def StreamEncoder(self, ctx: Context) -> StreamEncoder:  # noqa: N802 - it is a class there
        """Writes a stream."""
        ...

    def StreamCheck(self) -> Check:  # noqa: N802 - it is a class there
        """Judges a stream that passes as it is."""
        ...


PROTOCOLS: Final[Mapping[str, ProtocolModule]] = {
    module.NAME: module
    for module in (
        anthropic,
        openai_chat,
        openai_responses,
        gemini_interactions,
        gemini,
        ollama,
        bedrock_converse,
    )
}


def protocol_name(name: str) -> str:
    """The protocol that is meant: by its own name, or by that of a provider that speaks it."""
    return name if name in PROTOCOLS else PROVIDERS.get(name, name)


def get_protocol(name: str) -> ProtocolModule:
    """The protocol of that name, or an `UnknownProtocolError` that lists them."""
    try:
        return PROTOCOLS[name]
    except KeyError:
        raise UnknownProtocolError(name, tuple(PROTOCOLS)) from None


def default_auth(name: str) -> Auth:
    """How a key is sent in a protocol, unless its provider is known to differ."""
    api = get_protocol(name).API
    return Auth(header=api.key_header, prefix=api.key_prefix, headers=api.fixed_headers)


def guess_caller(path: str, headers: Container[str], query: Container[str]) -> str:
    """The protocol of a client, by what only clients of that protocol send."""
    for name, codec in PROTOCOLS.items():
        api = codec.API
        if (
            any(header in headers for header in api.client_headers)
            or any(key in query for key in api.client_query)
            or (api.client_paths and re.search(api.client_paths, path))
        ):
            return name
    return next(name for name, codec in PROTOCOLS.items() if codec.API.assumed)
