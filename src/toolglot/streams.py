"""Translating a stream: bytes to bytes, live, with a receipt.

    bytes  →  decode  →  adapt  →  grammar  →  encode  →  bytes

Same protocol on both sides: the bytes pass through untouched, unless calls are to be changed
or looked for in the text. Where they are watched, events pass as long as the strictest clients can
read them; from the first one that lacks something on, the rest is written anew.
"""

from collections.abc import Callable, Iterable
from itertools import chain, starmap
from typing import Any, Final

from toolglot.adapt.answers.broken_streams import breaks_open, retold
from toolglot.adapt.answers.passes import StreamPass, stream_passes
from toolglot.adapt.answers.token_scale import scales
from toolglot.adapt.calls.validate import asks, changes
from toolglot.adapt.tools.emulated import dialect_of
from toolglot.context import Context, Options
from toolglot.errors import DecodeError, StreamError
from toolglot.events import (
    Event,
    Failed,
    Finished,
    Grammar,
    PartEnded,
    Started,
    UsageSeen,
    merge_usage,
)
from toolglot.ir import ApiError, Request, StopReason, Usage
from toolglot.receipt import Receipt
from toolglot.registry import get_protocol
from toolglot.translate import Body, answer_context
from toolglot.wire.follow import Passing, Piece
from toolglot.wire.message import WireRequest
from toolglot.wire.rename_model import Relabel

_BAD_GATEWAY: Final = 502
_LINES: Final = "application/x-ndjson"
_OUTCOMES: Final = frozenset({Started, UsageSeen, Finished, Failed})


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

    __slots__ = (
        "_adapt", "_check", "_ctx", "_decoder", "_encoder", "_grammar", "_passed", "_passing",
        "_past", "_relabel", "_same", "_started", "_watches",
        "error", "stops", "usage",
    )  # fmt: skip

    def __init__(
        self,
        source: str,
        target: str,
        *,
        request: Body | WireRequest | Request | None = None,
        context: Context | None = None,
        watch: bool = False,
        **options: Any,
    ) -> None:
        decoder, encoder = get_protocol(source), get_protocol(target)
        self._ctx = context or answer_context(source, target, None, request, Options(**options))
        chosen = self._ctx.options
        changed = changes(chosen) or dialect_of(chosen) or scales(chosen)
        self._same = source == target and not changed
        self._watches = self._same and (watch or asks(chosen))
        self._decoder = decoder.StreamDecoder(self._ctx)
        self._encoder = encoder.StreamEncoder(self._ctx)
        passed = self._same and not asks(chosen)
        self._adapt = _as_it_is if passed else _chain(stream_passes(self._ctx))
        self._grammar = Grammar()
        self._relabel = _relabel(self._ctx) if self._same else None
        self._started: Started | None = None
        self._passed = False
        surface = encoder.SURFACE
        self._check = encoder.StreamCheck()
        self._passing = Passing(
            self._check, lines=surface.stream_type == _LINES, comments=surface.comments
        )
        self._past: list[Event] = []
        self.usage: Usage | None = None
        """The tokens so far, as the provider counts them."""
        self.stops: tuple[StopReason, ...] = ()
        """Why each answer ended, once it has."""
        self.error: ApiError | None = None
        """What went wrong, if something did."""

    def feed(self, data: bytes) -> bytes:
        """What the client gets for these bytes of the provider."""
        if not self._same:
            return self._write(self._decoder.feed(data))
        self._passed = True
        if self._watches:
            return self._pass(self._passing.feed(data))
        return self._relabel.feed(data) if self._relabel else data

    def close(self) -> bytes:
        """What the client gets at the end; an error in its own shape if the provider broke off."""
        rest = self._pass(self._passing.close()) if self._same and self._watches else b""
        if not self._same:
            return rest + self._write(self._decoder.close()) + self._encoder.close()
        rest += self._relabel.close() if self._relabel else b""
        if not self._watches:
            return rest
        known, before = self.error, len(self._past)
        self._write(self._decoder.close())
        # What was passed on did not end; a client must not take it for whole.
        if self.error is not known:
            return (rest if rest.endswith(b"\n") or not rest else rest + b"\n\n") + self._error()
        whole = self._check.ended or not self._passing.readable or len(self._past) == before
        return rest if whole else rest + self._mend("its end", before)

    def fail(self, error: ApiError) -> bytes:
        """In place of `close`, when it is known why the provider broke off."""
        if not self._same:
            ends = self._decoder.close()
            events = (Failed(error) if isinstance(event, Failed) else event for event in ends)
            return self._write(events) + self._encoder.close()
        self._past.clear()
        if self._grammar.complete:
            return b""
        self.error = error
        return (self._relabel.close() if self._relabel else b"") + self._error()

    @property
    def told(self) -> bool:
        """Whether the client got any of an answer; until then an error can stand in its place."""
        return self._passed or self._grammar.parts > 0 or bool(self.stops)

    @property
    def receipt(self) -> Receipt:
        """What was changed so far."""
        return self._ctx.receipt()

    def _pass(self, pieces: Iterable[Piece]) -> bytes:
        """What becomes of whole events in the client's own protocol."""
        passed: list[bytes] = []
        try:
            for piece in pieces:
                if self._same and not piece.sound:
                    self._mend("events", len(self._past))
                written = self._write(self._meant(piece))
                if not self._same:
                    passed.append(written)
                else:
                    passed.append(self._relabel.feed(piece.raw) if self._relabel else piece.raw)
        except DecodeError as error:
            passed.append(self._refuse(str(error)))
        if not self._same:
            passed.append(self._write(self._decoder.feed(self._passing.take())))
        return passed[0] if len(passed) == 1 else b"".join(passed)

    def _meant(self, piece: Piece) -> Iterable[Event]:
        events, read = piece.events, self._decoder.read
        if len(events) == 1:
            return read(*events[0])
        if not events:
            # They may still be something that only the decoder knows.
            return self._decoder.feed(piece.raw)
        return chain.from_iterable(starmap(read, events))

    def _mend(self, what: str, before: int) -> bytes:
        """Write the stream from here on; the events up to `before` have reached the client."""
        self._ctx.note("stream-mended", what)
        past, self._past, self._same = self._past, [], False
        if self._adapt is not _as_it_is:
            # They went through the passes already.
            return b"".join([self._encoder.encode(event) for event in past][before:])
        self._adapt, self._grammar = _chain(stream_passes(self._ctx)), Grammar()
        self._write(past[:before])
        return self._write(past[before:])

    def _refuse(self, why: str) -> bytes:
        """The end of a stream that cannot be read on."""
        if self._grammar.complete:
            return b""
        for event in self._broken_off(why):
            self._see(event)
        return self._error()

    def _write(self, events: Iterable[Event]) -> bytes:
        if self._grammar.complete:
            return b""
        adapt, check = self._adapt, self._grammar.check
        encode = self._remember if self._same else self._encoder.encode
        written: list[bytes] = []
        try:
            if adapt is _as_it_is:
                self._follow(events)
                return b""
            for event in events:
                if type(event) in _OUTCOMES:
                    self._see(event)
                for adapted in adapt(event):
                    check(adapted)
                    written.append(encode(adapted))
        except (DecodeError, StreamError) as error:
            # What cannot be read on, for example because it never ends, must not look complete.
            written += map(encode, self._broken_off(str(error)))
        return written[0] if len(written) == 1 else b"".join(written)

    def _follow(self, events: Iterable[Event]) -> None:
        """Nothing to change or to write, as long as what came passes as it is."""
        check, keep = self._grammar.check, self._past.append
        for event in events:
            if type(event) in _OUTCOMES:
                self._see(event)
            check(event)
            keep(event)

    def _see(self, event: Event) -> None:
        """Keep what whoever pays, logs or retries wants to know."""
        if isinstance(event, Started):
            self._started = event
            self.usage = event.usage
        elif isinstance(event, UsageSeen):
            self.usage = merge_usage(self.usage, event.usage)
        elif isinstance(event, Finished):
            self.stops = event.stops
        elif isinstance(event, Failed):
            self.error = event.error

    def _error(self) -> bytes:
        """What ends a stream that was passed on until it broke off."""
        if self.error is None:
            return b""
        encode = self._encoder.encode
        if self._started is not None:
            encode(self._started)
        return encode(Failed(retold(self.error, self._ctx))) + self._encoder.close()

    def _remember(self, event: Event) -> bytes:
        """Nothing to write, as long as what came passes as it is."""
        self._past.append(event)
        return b""

    def _broken_off(self, why: str) -> Iterable[Event]:
        self._ctx.note("event-skipped", "", f"the rest of the stream: {why}")
        error = ApiError(kind="server", message=why, status=_BAD_GATEWAY)
        left = () if breaks_open(self._ctx) else sorted(self._grammar.open)
        ends = (PartEnded(index, incomplete=True) for index in left)
        events: tuple[Event, ...] = (*ends, Failed(retold(error, self._ctx)))
        for event in events:
            self._grammar.check(event)
            yield event


def _as_it_is(event: Event) -> Iterable[Event]:
    return (event,)


def _relabel(ctx: Context) -> Relabel | None:
    """What names the model of an answer as its client did, where that differs."""
    model = ctx.options.model
    if model is None or ctx.source is None or ctx.request is None or ctx.request.model == model:
        return None
    return Relabel(ctx.source.model_at, ctx.request.model)


def _chain(passes: list[StreamPass]) -> Callable[[Event], Iterable[Event]]:
    """Several passes as one function."""
    every: Callable[[Event], Iterable[Event]] = passes[0].feed
    for other in passes[1:]:
        every = _then(every, other.feed)
    return every


def _then(
    one: Callable[[Event], Iterable[Event]], other: Callable[[Event], Iterable[Event]]
) -> Callable[[Event], Iterable[Event]]:
    def both(event: Event) -> Iterable[Event]:
        return [last for first in one(event) for last in other(first)]

    return both
