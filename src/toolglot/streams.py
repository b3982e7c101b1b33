"""Translating a stream: bytes to bytes, live, with a receipt.

    bytes  →  decode  →  adapt  →  grammar  →  encode  →  bytes

Same protocol on both sides: the bytes pass through untouched.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from toolglot.adapt.streams import StreamPass, stream_passes
from toolglot.context import Context, Options
from toolglot.events import Event, Grammar
from toolglot.ir import Request
from toolglot.receipt import Receipt
from toolglot.registry import get_protocol
from toolglot.translate import Body, decode_request


class StreamTranslator:
    """Translates one streamed response from a provider's protocol to a client's.

        translator = StreamTranslator("openai-chat", "anthropic", request=body)
        for chunk in upstream:
            client.write(translator.feed(chunk))
        client.write(translator.close())

    `request` is what the client had asked, in its own protocol.
    """

    def __init__(
        self,
        source: str,
        target: str,
        *,
        request: Body | Request | None = None,
        context: Context | None = None,
        **options: Any,
    ) -> None:
        decoder, encoder = get_protocol(source), get_protocol(target)
        asked = (
            decode_request(request, source=target)
            if isinstance(request, (bytes, str, dict))
            else request
        )
        self._ctx = context or Context(
            Options(**options), source=decoder.SURFACE, target=encoder.SURFACE, request=asked
        )
        self._same = source == target
        self._decoder = decoder.StreamDecoder(self._ctx)
        self._encoder = encoder.StreamEncoder(self._ctx)
        self._passes = stream_passes(self._ctx)
        self._grammar = Grammar()

    def feed(self, data: bytes) -> bytes:
        """What the client gets for these bytes of the provider."""
        if self._same:
            return data
        return self._write(self._decoder.feed(data))

    def close(self) -> bytes:
        """What the client gets at the end; an error in its own shape if the provider broke off."""
        if self._same:
            return b""
        return self._write(self._decoder.close()) + self._encoder.close()

    @property
    def receipt(self) -> Receipt:
        """What was changed so far."""
        return self._ctx.receipt()

    def _write(self, events: Iterable[Event]) -> bytes:
        for adapt in self._passes:
            events = _through(adapt, events)
        written: list[bytes] = []
        for event in events:
            self._grammar.check(event)
            written.append(self._encoder.encode(event))
        return b"".join(written)


def _through(adapt: StreamPass, events: Iterable[Event]) -> Iterator[Event]:
    for event in events:
        yield from adapt.feed(event)
