"""The protocols by name."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Protocol

from toolglot.context import Context
from toolglot.errors import UnknownProtocolError
from toolglot.events import Event
from toolglot.ir import ApiError, Json, Request, Response
from toolglot.protocols import anthropic, gemini, ollama, openai_chat, openai_responses
from toolglot.surface import Surface
from toolglot.wire.call_places import CallPlaces
from toolglot.wire.follow import Check
from toolglot.wire.message import WireRequest, WireResponse


class StreamDecoder(Protocol):
    """Bytes to events."""

    def feed(self, data: bytes) -> Iterator[Event]:
        """The events that these bytes complete."""
        ...

    def read(self, name: str, payload: bytes, value: Json | None = None, /) -> Iterable[Event]:
        """What one event of the stream means, for whoever takes the bytes apart; `value` is its
        JSON if that was read already.
        """
        ...

    def close(self) -> Iterator[Event]:
        """What the end of the bytes means."""
        ...


class StreamEncoder(Protocol):
    """Events to bytes."""

    def encode(self, event: Event) -> bytes:
        """The bytes of one event."""
        ...

    def close(self) -> bytes:
        """The last bytes."""
        ...


class Codec(Protocol):
    """What every protocol package offers: its name, its surface and the seven names."""

    NAME: str
    SURFACE: Surface
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


PROTOCOLS: Final[Mapping[str, Codec]] = {
    codec.NAME: codec for codec in (anthropic, openai_chat, openai_responses, gemini, ollama)
}


def get_protocol(name: str) -> Codec:
    """The protocol of that name, or an `UnknownProtocolError` that lists them."""
    try:
        return PROTOCOLS[name]
    except KeyError:
        raise UnknownProtocolError(name, tuple(PROTOCOLS)) from None
