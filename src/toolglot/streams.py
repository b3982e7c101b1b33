"""Translating a stream: bytes to bytes, live, with a receipt.

    bytes  →  decode  →  adapt  →  grammar  →  encode  →  bytes

Same protocol on both sides: the bytes pass through untouched, unless calls are to be changed.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from toolglot.adapt.streams import StreamPass, stream_passes
from toolglot.adapt.validate import asks, changes
from toolglot.context import Context, Options
from toolglot.errors import DecodeError, StreamError
from toolglot.events import Event, Failed, Grammar, PartEnded
from toolglot.ir import ApiError, Request
from toolglot.receipt import Receipt
from toolglot.registry import get_protocol
from toolglot.translate import Body, answer_context
from toolglot.wire.message import WireRequest

_BAD_GATEWAY: Final = 502


class StreamTranslator:
    """Translates one streamed response from a provider's protocol to a client's.

        translator = StreamTranslator("openai-chat", "anthropic", request=body)
        for chunk in upstream:
            client.write(translator.feed(chunk))
        client.write(translator.close())

    `request` is what the client had asked, in its own protocol. Whatever the provider sends, the
    client gets a stream that its protocol allows: one that breaks off ends in an error of the
    client's own.
    """

    __slots__ = ("_adapt", "_ctx", "_decoder", "_encoder", "_grammar", "_same", "_watches")

    def __init__(
        self,
        source: str,
        target: str,
        *,
        request: Body | WireRequest | Request | None = None,
        context: Context | None = None,
        **options: Any,
    ) -> None:
        decoder, encoder = get_protocol(source), get_protocol(target)
        self._ctx = context or answer_context(source, target, None, request, Options(**options))
        self._same = source == target and not changes(self._ctx.options)
        self._watches = self._same and asks(self._ctx.options)
        self._decoder = decoder.StreamDecoder(self._ctx)
        self._encoder = encoder.StreamEncoder(self._ctx)
        self._adapt = _chain(stream_passes(self._ctx))
        self._grammar = Grammar()

    def feed(self, data: bytes) -> bytes:
        """What the client gets for these bytes of the provider."""
        if self._same and not self._watches:
            return data
        written = self._write(lambda: self._decoder.feed(data))
        return data if self._same else written

    def close(self) -> bytes:
        """What the client gets at the end; an error in its own shape if the provider broke off."""
        if self._same and not self._watches:
            return b""
        written = self._write(self._decoder.close) + self._encoder.close()
        return b"" if self._same else written

    def fail(self, error: ApiError) -> bytes:
        """In place of `close`, when it is known why the provider broke off."""

        def events() -> Iterable[Event]:
            for event in self._decoder.close():
                yield Failed(error) if isinstance(event, Failed) else event

        return b"" if self._same else self._write(events) + self._encoder.close()

    @property
    def receipt(self) -> Receipt:
        """What was changed so far."""
        return self._ctx.receipt()

    def _write(self, read: Callable[[], Iterable[Event]]) -> bytes:
        if self._grammar.complete:
            return b""
        adapt, check, encode = self._adapt, self._grammar.check, self._encoder.encode
        written: list[bytes] = []
        try:
            for event in read():
                for adapted in adapt(event):
                    check(adapted)
                    written.append(encode(adapted))
        except (DecodeError, StreamError) as error:
            # What cannot be read on, for example because it never ends, must not look complete.
            written += map(encode, self._broken_off(str(error)))
        return written[0] if len(written) == 1 else b"".join(written)

    def _broken_off(self, why: str) -> Iterable[Event]:
        self._ctx.note("event-skipped", "", f"the rest of the stream: {why}")
        error = ApiError(kind="server", message=why, status=_BAD_GATEWAY)
        ends = (PartEnded(index, incomplete=True) for index in sorted(self._grammar.open))
        events: tuple[Event, ...] = (*ends, Failed(error))
        for event in events:
            self._grammar.check(event)
            yield event


def _chain(passes: list[StreamPass]) -> Callable[[Event], Iterable[Event]]:
    """Several passes as one function."""
    chain: Callable[[Event], Iterable[Event]] = passes[0].feed
    for other in passes[1:]:
        chain = _then(chain, other.feed)
    return chain


def _then(
    one: Callable[[Event], Iterable[Event]], other: Callable[[Event], Iterable[Event]]
) -> Callable[[Event], Iterable[Event]]:
    def both(event: Event) -> Iterable[Event]:
        return [last for first in one(event) for last in other(first)]

    return both
