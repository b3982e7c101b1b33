"""Translating a stream: bytes to bytes, live, with a receipt.

    bytes  →  decode  →  adapt  →  grammar  →  encode  →  bytes

A stream that stays in its protocol passes untouched, unless calls are to be changed or found in the
text. Where it is watched, events pass as long as the strictest clients can read them; from the
first one that lacks something on, the rest is encoded anew.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain as joined
from itertools import starmap
from typing import Any, Final, Protocol, TypeAlias

from toolglot.adapt.answers.broken_streams import leaves_part_open, retryable_error
from toolglot.adapt.answers.passes import answer_passes, chain, changes_answers, direct
from toolglot.adapt.calls.validate import asks
from toolglot.context import Context, Options
from toolglot.errors import DecodeError, StreamError
from toolglot.events import (
    Direct,
    Event,
    Failed,
    Finished,
    Grammar,
    PartDelta,
    PartEnded,
    PartStarted,
    Started,
    StreamPass,
    UsageSeen,
    join_deltas,
    merge_usage,
)
from toolglot.ir import ApiError, Request, StopReason, Usage
from toolglot.receipt import Receipt
from toolglot.registry import StreamDecoder, get_protocol, protocol_name
from toolglot.surface import Surface
from toolglot.translate import Body, answer_context
from toolglot.wire.follow import SplitEvent, make_splitter
from toolglot.wire.message import WireRequest
from toolglot.wire.rename_model import RenameModel
from toolglot.wire.repeated_frame import RepeatedFrame

_BAD_GATEWAY: Final = 502
_BLANK_LINE: Final = b"\n\n"
_MANY: Final = 1024
"""Events after which what a stream said is joined."""
_LONGEST_PAST: Final = 8 * 1024 * 1024
"""Characters of a stream that passes which are remembered, in case that it has to be encoded."""
_OUTCOMES: Final = frozenset({Started, UsageSeen, Finished, Failed})
_BOUNDS: Final = frozenset({PartStarted, PartEnded, Finished, Failed})
"""Events after which text may go another way than before."""

_CHANCES: Final = 16
"""How often the events of a part are expected to be alike before that is given up."""

_WriteText: TypeAlias = Callable[[str], bytes]


class StreamTranslator:
    """Translates one streamed response from a provider's protocol to a client's.

        translator = StreamTranslator("openai-chat", "anthropic", request=body)
        for chunk in upstream:
            client.write(translator.feed(chunk))
        client.write(translator.close())

    `request` is what the client had asked, in its own protocol. Whatever the provider sends, the
    client gets a stream that its protocol allows: one that breaks off ends in an error of the
    client's own. A stream in the client's own protocol passes byte for byte, but is decoded too, to
    count its tokens, to complete what strict clients would not accept and to tell when it breaks
    off; `watch=False` passes it unread.
    """

    __slots__ = ("_ctx", "_outcome", "_stream")

    def __init__(
        self,
        source: str,
        target: str,
        *,
        request: Body | WireRequest | Request | None = None,
        context: Context | None = None,
        watch: bool = True,
        **options: Any,
    ) -> None:
        source, target = protocol_name(source), protocol_name(target)
        self._ctx = context or answer_context(source, target, None, request, Options(**options))
        self._outcome = _Outcome()
        chosen, form = self._ctx.options, self._ctx.answer_form
        if chosen.response_passes:
            raise ValueError("response_passes are for whole responses; streams have event_passes")
        self._stream: _Stream
        if source != target or changes_answers(chosen) or self._ctx.undo.tools:
            passes = answer_passes(self._ctx)
            decoder = get_protocol(source).StreamDecoder(self._ctx)
            self._stream = _Translator(target, self._ctx, self._outcome, decoder, passes=passes)
        elif watch or asks(chosen) or form or self._ctx.undo.inexact:
            self._stream = _Follower(target, self._ctx, self._outcome)
        else:
            self._stream = _PassThrough(target, self._ctx, self._outcome)

    def feed(self, data: bytes) -> bytes:
        """What the client gets for these bytes of the provider."""
        return self._stream.feed(data)

    def close(self) -> bytes:
        """What the client gets at the end; an error in its own shape if the provider broke off."""
        return self._stream.close()

    def fail(self, error: ApiError) -> bytes:
        """In place of `close`, when it is known why the provider broke off."""
        return self._stream.fail(error)

    @property
    def has_output(self) -> bool:
        """Whether the client got any of an answer; until then an error can be sent in its place."""
        return self._stream.has_output

    @property
    def is_empty(self) -> bool:
        """Whether the provider has sent nothing of an answer so far; False if nobody looked."""
        return self._stream.is_empty

    @property
    def ended(self) -> bool:
        """Whether the answer is complete, or has failed: nothing that comes later counts."""
        return self._stream.ended

    @property
    def could_end(self) -> int:
        """How many events came, if the answer is complete should no more come; else 0.

        Some protocols have no event that ends a stream, and some servers leave it out and do not
        hang up either. What may still come are token counts.
        """
        return self._stream.could_end

    @property
    def usage(self) -> Usage | None:
        """The tokens so far, as the provider counts them."""
        return self._outcome.usage

    @property
    def stops(self) -> tuple[StopReason, ...]:
        """Why each choice ended, once it has."""
        return self._outcome.stops

    @property
    def error(self) -> ApiError | None:
        """What went wrong, if something did."""
        return self._outcome.error

    @property
    def receipt(self) -> Receipt:
        """What was changed so far."""
        return self._ctx.receipt()


class _Stream(Protocol):
    """One way to carry a stream to the client."""

    def feed(self, data: bytes) -> bytes: ...
    def close(self) -> bytes: ...
    def fail(self, error: ApiError) -> bytes: ...

    @property
    def has_output(self) -> bool: ...
    @property
    def is_empty(self) -> bool: ...
    @property
    def ended(self) -> bool: ...
    @property
    def could_end(self) -> int: ...


class _Outcome:
    """What whoever pays, logs or retries wants to know of a stream."""

    __slots__ = ("error", "started", "stops", "usage")

    def __init__(self) -> None:
        self.started: Started | None = None
        self.usage: Usage | None = None
        self.stops: tuple[StopReason, ...] = ()
        self.error: ApiError | None = None

    def see(self, event: Event) -> None:
        if isinstance(event, Started):
            self.started = event
            self.usage = event.usage
        elif isinstance(event, UsageSeen):
            self.usage = merge_usage(self.usage, event.usage)
        elif isinstance(event, Finished):
            self.stops = event.stops
        elif isinstance(event, Failed):
            self.error = event.error


class _Translator:
    """Decodes, adapts, checks and encodes a stream."""

    __slots__ = (
        "_adapt", "_chances", "_ctx", "_decoder", "_direct", "_encoder", "_grammar", "_outcome",
        "_passes", "_repeated", "_texts",
    )  # fmt: skip

    def __init__(
        self,
        target: str,
        ctx: Context,
        outcome: _Outcome,
        decoder: StreamDecoder,
        *,
        passes: Sequence[StreamPass],
        grammar: Grammar | None = None,
    ) -> None:
        self._ctx = ctx
        self._outcome = outcome
        self._decoder = decoder
        self._adapt = chain(passes)
        self._passes = passes
        self._direct: Callable[[int], Direct | None] | None = None
        self._texts: dict[int, _WriteText] = {}
        """What writes the text of open parts that no pass changes: straight from the decoder to the
        encoder saves a quarter of what an event costs."""
        self._repeated: tuple[RepeatedFrame, _WriteText] | None = None
        """What reads one more event of the kind of the last, and writes its text: such an event
        costs a fifth of another one."""
        self._chances = _CHANCES
        self._grammar = grammar or Grammar()
        self._encoder = get_protocol(target).StreamEncoder(ctx)

    def feed(self, data: bytes) -> bytes:
        if data.find(_BLANK_LINE, 0, -1) >= 0:
            return b"".join(map(self._feed, _split_events(data)))
        return self._feed(data)

    def _feed(self, data: bytes) -> bytes:
        """The same for bytes that are usually one event."""
        if self._repeated is not None:
            frame, write = self._repeated
            text = frame.text(data)
            if text:
                return write(text)
        if self._grammar.complete:
            return b""
        decoder = self._decoder
        begins = decoder.repeats and decoder.between_events
        try:
            events = decoder.feed(data)
        except DecodeError as error:
            return b"".join(self.encode(_broken_off(str(error), self._grammar, self._ctx)))
        written = self.write(events)
        if begins and decoder.between_events:
            if self._chances and type(events) is tuple and len(events) == 1:
                self._learn(data, events[0])
        else:
            self._repeated = None
        return written

    def _learn(self, data: bytes, event: Event) -> None:
        """Expect more events like the one that these bytes are, if it is more of a text."""
        if type(event) is not PartDelta or event.field != "text":
            return
        write = self._texts.get(event.index)
        known = self._decoder.direct(event.index) if write is not None else None
        if write is None or known is None or known[1] is None:
            return
        frame = RepeatedFrame.learn(data, event.text)
        if frame is not None:
            self._chances -= 1
            self._repeated = frame, _collecting(known[1], write)

    def close(self) -> bytes:
        return self.write(self._decoder.close()) + self._encoder.close()

    def fail(self, error: ApiError) -> bytes:
        ends = self._decoder.close()
        events = (Failed(error) if isinstance(event, Failed) else event for event in ends)
        return self.write(events) + self._encoder.close()

    @property
    def has_output(self) -> bool:
        return self._grammar.parts > 0 or bool(self._outcome.stops)

    @property
    def is_empty(self) -> bool:
        return not self.has_output

    @property
    def ended(self) -> bool:
        return self._grammar.complete

    @property
    def could_end(self) -> int:
        return self._decoder.could_end

    def write(self, events: Iterable[Event]) -> bytes:
        """The bytes of events that the decoder gave."""
        if self._grammar.complete:
            return b""
        texts = self._texts
        written: list[bytes] = []
        try:
            for event in events:
                if type(event) is not PartDelta or event.field != "text":
                    self._write(event, written)
                elif (write := texts.get(event.index)) is not None and event.text:
                    # By far the most events.
                    written.append(write(event.text))
                else:
                    self._write(event, written)
                    self._find_direct(event.index)
        except (DecodeError, StreamError) as error:
            # What cannot be read on, for example because it never ends, must not look complete.
            ending = _broken_off(str(error), self._grammar, self._ctx)
            self._outcome.see(ending[-1])
            written += self.encode(ending)
        return written[0] if len(written) == 1 else b"".join(written)

    def _write(self, event: Event, written: list[bytes]) -> None:
        kind = type(event)
        if kind in _OUTCOMES:
            self._outcome.see(event)
        if kind in _BOUNDS:
            self._texts.clear()
            self._repeated, self._chances = None, _CHANCES
        check, encode = self._grammar.check, self._encoder.encode
        for adapted in self._adapt(event):
            check(adapted)
            written.append(encode(adapted))

    def _find_direct(self, index: int) -> None:
        """Let the text of a part go from the decoder to the encoder, if it can."""
        if self._direct is None:
            self._direct = direct(self._passes) or _always_through
        found = self._direct(index)
        if found is None:
            return
        number, collect = found
        write = self._encoder.text_writer(number)
        self._texts[index] = write if collect is None else _collecting(collect, write)

    def break_off(self, why: str) -> bytes:
        """The end of a stream that cannot be split into events any more."""
        if self._grammar.complete:
            return b""
        events = _broken_off(why, self._grammar, self._ctx)
        self._outcome.see(events[-1])
        return b"".join(self.encode(events))

    def continue_after(self, payload: bytes) -> None:
        """The client has got the stream up to this event."""
        self._encoder.continue_after(payload)

    def encode(self, events: Iterable[Event]) -> list[bytes]:
        """The bytes of events that went through the passes already."""
        return [self._encoder.encode(event) for event in events]


def _always_through(_index: int) -> None:
    """Text goes through a pass that has no other way."""


def _split_events(data: bytes) -> list[bytes]:
    """Bytes of several events, cut where most streams end one."""
    *whole, rest = data.split(_BLANK_LINE)
    pieces = [piece + _BLANK_LINE for piece in whole]
    return [*pieces, rest] if rest else pieces


def _collecting(collect: Callable[[str], object], write: _WriteText) -> _WriteText:
    def both(text: str) -> bytes:
        collect(text)
        return write(text)

    return both


class _PassThrough:
    """Passes bytes on unread; only the model may get another name."""

    __slots__ = ("_ctx", "_outcome", "_rename", "_target", "has_output")

    is_empty = ended = False
    could_end = 0

    def __init__(self, target: str, ctx: Context, outcome: _Outcome) -> None:
        self._target = target
        self._ctx = ctx
        self._outcome = outcome
        self._rename = _rename_model(ctx)
        self.has_output = False

    def feed(self, data: bytes) -> bytes:
        self.has_output = True
        return self._rename.feed(data) if self._rename else data

    def close(self) -> bytes:
        return self._rename.close() if self._rename else b""

    def fail(self, error: ApiError) -> bytes:
        self._outcome.error = error
        return self.close() + _encode_error(self._target, self._ctx, self._outcome)


class _Follower:
    """Passes whole events on, decodes and judges each, and hands over to a translator at the first
    one that the strictest clients could not read.
    """

    __slots__ = (
        "_adapt",
        "_chances",
        "_check",
        "_compact_at",
        "_ctx",
        "_decoder",
        "_grammar",
        "_hidden",
        "_last",
        "_mends",
        "_outcome",
        "_passes",
        "_past",
        "_reads",
        "_rename",
        "_repeated",
        "_repeats",
        "_splitter",
        "_target",
        "_translator",
    )  # fmt: skip

    def __init__(self, target: str, ctx: Context, outcome: _Outcome) -> None:
        codec = get_protocol(target)
        self._target = target
        self._ctx = ctx
        self._outcome = outcome
        self._decoder = codec.StreamDecoder(ctx)
        checks = asks(ctx.options) or bool(ctx.undo.inexact)
        self._passes = answer_passes(ctx) if checks else None
        self._adapt = None if self._passes is None else chain(self._passes)
        """What checks calls without changing them."""
        self._grammar = Grammar()
        self._rename = _rename_model(ctx)
        self._reads = _no_newest_form(codec.SURFACE) if ctx.answer_form else None
        """Whether the client can read an event, where not all can."""
        self._check = codec.StreamCheck()
        stream = codec.SURFACE.stream
        self._splitter = make_splitter(self._check, stream.media_type, comments=stream.comments)
        self._mends = ctx.options.mend == "on"
        self._hidden = codec.SURFACE.stream.usage_event if ctx.hides_usage else None
        self._compact_at = _MANY
        self._past: list[Event] = []
        """What the bytes that were passed on mean, for the encoder of a translator."""
        self._last = b""
        """The event that was passed on last."""
        self._translator: _Translator | None = None
        self._repeated: tuple[RepeatedFrame, int, Callable[[str], object]] | None = None
        """What reads one more event of the kind of the last, the part that it belongs to, and who
        has to know its text: such an event costs an eighth of another one."""
        self._repeats = self._decoder.repeats and self._adapt is None and self._reads is None
        self._chances = _CHANCES

    def feed(self, data: bytes) -> bytes:
        if self._translator is not None:
            return self._translator.feed(data)
        if self._repeated is not None:
            frame, index, collect = self._repeated
            text = frame.text(data)
            if text:
                collect(text)
                self._past.append(PartDelta(index, text))
                if len(self._past) > self._compact_at:
                    self._compact_past()
                return self._rename.feed(data) if self._rename else data
        pieces, before = self._splitter.feed(data), len(self._past)
        passed = self._pass(pieces)
        if self._repeats:
            is_one = type(pieces) is tuple and len(self._past) == before + 1
            is_one = is_one and self._splitter.readable is True
            self._learn(data, self._past[-1] if is_one else None)
        return passed

    def _learn(self, data: bytes, event: Event | None) -> None:
        """Expect more events like the one that these bytes are, if it is more of a text."""
        if type(event) is not PartDelta or event.field != "text":
            self._repeated, self._chances = None, _CHANCES
            return
        known = self._decoder.direct(event.index) if self._chances else None
        frame = RepeatedFrame.learn(data, event.text) if known is not None else None
        if frame is not None and known is not None and known[1] is not None:
            self._chances -= 1
            self._repeated = frame, event.index, known[1]

    def close(self) -> bytes:
        known = self._outcome.error
        owed = b"" if self._translator else self._owed()
        pieces = () if self._translator else tuple(self._splitter.close())
        passed = self._pass(pieces)
        if self._translator is not None:
            return owed + passed + self._translator.close()
        passed += self._rename.close() if self._rename else b""
        before = len(self._past)
        self._follow(self._decoder.close())
        # Of an event that was torn nothing is sent if something follows, which would be read as its
        # end.
        torn = pieces and not any(map(_has_event, pieces))
        rest = owed if torn else owed + self._splitter.completed(passed)
        if self._outcome.error is not known:
            # What was passed on did not end; a client must not take it for complete.
            return rest + self._encode_error()
        whole = owed + passed if self._splitter.is_ended(passed) else rest
        if not self._mends or not self._splitter.readable or len(self._past) == before:
            return whole
        if self._check.ended:
            return whole + self._last_words()
        return rest + self._hand_over("its end", before)[1]

    def fail(self, error: ApiError) -> bytes:
        if self._translator is not None:
            return self._translator.fail(error)
        if self._grammar.complete or self._decoder.could_end:
            return self.close()  # It broke off after all that matters.
        self._outcome.error = error
        owed = self._owed()
        rest = self._splitter.completed(self._rename.close()) if self._rename else b""
        return owed + rest + self._encode_error()

    @property
    def has_output(self) -> bool:
        stream = self._translator or self
        return stream._grammar.parts > 0 or bool(self._outcome.stops)

    @property
    def is_empty(self) -> bool:
        return not self.has_output

    @property
    def ended(self) -> bool:
        return (self._translator or self)._grammar.complete

    @property
    def could_end(self) -> int:
        return self._decoder.could_end

    def _pass(self, pieces: Iterable[SplitEvent]) -> bytes:
        passed: list[bytes] = []
        translator, reads = self._translator, self._reads
        try:
            for piece in pieces:
                ended = self._grammar.complete and self._splitter.readable is not False
                if ended and translator is None:
                    break  # What follows the end is no part of the answer; an array has its own.
                wrong = not piece.readable and self._mends
                if translator is None and (wrong or not (reads is None or reads(piece.raw))):
                    passed.append(self._owed())
                    translator, _ = self._hand_over("events", len(self._past))
                if translator is not None:
                    passed.append(translator.write(self._decoded(piece)))
                    continue
                if self._hidden is not None and self._is_hidden(piece):
                    continue
                self._follow(self._decoded(piece))
                if piece.events:
                    self._last = piece.events[-1][1]
                passed.append(self._rename.feed(piece.raw) if self._rename else piece.raw)
        except DecodeError as error:
            breaks = translator.break_off if translator is not None else self._break_off
            passed.append(breaks(str(error)))
        if translator is not None:
            passed.append(translator.feed(self._splitter.take()))
        return passed[0] if len(passed) == 1 else b"".join(passed)

    def _is_hidden(self, piece: SplitEvent) -> bool:
        """Whether an event has nothing but usage that the client did not ask for; then it counts,
        and that is all.
        """
        if self._hidden is None or not re.match(self._hidden, piece.raw, re.DOTALL):
            return False
        self._follow(self._decoded(piece))
        return True

    def _decoded(self, piece: SplitEvent) -> Iterable[Event]:
        events, read = piece.events, self._decoder.read
        if len(events) == 1:
            return read(*events[0])
        if not events:
            # They may still be something that only the decoder knows.
            return self._decoder.feed(piece.raw)
        return joined.from_iterable(starmap(read, events))

    def _follow(self, events: Iterable[Event]) -> None:
        """Check and remember what the bytes that pass mean."""
        if self._grammar.complete:
            return
        if len(self._past) > self._compact_at:
            self._compact_past()
        adapt, check, keep = self._adapt, self._grammar.check, self._past.append
        try:
            for event in events:
                if type(event) in _OUTCOMES:
                    self._outcome.see(event)
                for adapted in (event,) if adapt is None else adapt(event):
                    check(adapted)
                    keep(adapted)
        except (DecodeError, StreamError) as error:
            self._past += _broken_off(str(error), self._grammar, self._ctx)
            self._outcome.see(self._past[-1])

    def _compact_past(self) -> None:
        """Join what was remembered; of an answer that is longer than any model writes, nothing is,
        and what comes of it passes as it is.
        """
        self._past = join_deltas(self._past)
        self._compact_at = len(self._past) + _MANY
        size = sum(len(event.text) for event in self._past if isinstance(event, PartDelta))
        if size > _LONGEST_PAST or len(self._past) > _LONGEST_PAST // _MANY:
            self._past, self._mends, self._reads = [], False, None

    def _hand_over(self, what: str, before: int) -> tuple[_Translator, bytes]:
        """Encode the stream from here on; the events up to `before` have reached the client."""
        self._ctx.note("stream-mended", what)
        ctx, past, passes = self._ctx, self._past, self._passes
        if passes is not None:
            # They went through the passes already.
            translator = _Translator(
                self._target, ctx, self._outcome, self._decoder, passes=passes,
                grammar=self._grammar,
            )  # fmt: skip
            translator.encode(past[:before])
            translator.continue_after(self._last)
            written = b"".join(translator.encode(past[before:]))
        else:
            passes = answer_passes(ctx)
            translator = _Translator(self._target, ctx, self._outcome, self._decoder, passes=passes)
            translator.write(past[:before])
            translator.continue_after(self._last)
            written = translator.write(past[before:])
        self._translator, self._past = translator, []
        return translator, written

    def _break_off(self, why: str) -> bytes:
        if self._grammar.complete:
            return b""
        self._outcome.see(_broken_off(why, self._grammar, self._ctx)[-1])
        return self._owed() + self._encode_error()

    def _owed(self) -> bytes:
        """The rest of a line end of which one half was passed on."""
        owed = self._splitter.owed()
        return self._rename.feed(owed) if owed and self._rename else owed

    def _last_words(self) -> bytes:
        """What a stream lacks that says all and does not end as its protocol has it."""
        words = get_protocol(self._target).StreamEncoder(self._ctx).last_words
        if words:
            self._ctx.note("stream-mended", "its end")
        return words

    def _encode_error(self) -> bytes:
        return _encode_error(self._target, self._ctx, self._outcome, self._last)


def _has_event(piece: SplitEvent) -> bool:
    """Whether the end of a stream is an event that lacks its end at most."""
    return any(piece.readable or value for *_, value in piece.events)


def _no_newest_form(surface: Surface) -> Callable[[bytes], bool]:
    return lambda raw: not any(mark in raw for mark in surface.newest_form_marks)


def _broken_off(why: str, grammar: Grammar, ctx: Context) -> list[Event]:
    """The events that end a stream that cannot be read on."""
    ctx.note("event-skipped", "", f"the rest of the stream: {why}")
    error = ApiError(kind="server", message=why, status=_BAD_GATEWAY)
    left = () if leaves_part_open(ctx) else sorted(grammar.open)
    events: list[Event] = [PartEnded(index, incomplete=True) for index in left]
    events.append(Failed(retryable_error(error, ctx)))
    for event in events:
        grammar.check(event)
    return events


def _encode_error(target: str, ctx: Context, outcome: _Outcome, last: bytes = b"") -> bytes:
    """What ends a stream that was passed on until it broke off, after its `last` event."""
    if outcome.error is None:
        return b""
    encoder = get_protocol(target).StreamEncoder(ctx)
    if outcome.started is not None:
        encoder.encode(outcome.started)
    encoder.continue_after(last)
    return encoder.encode(Failed(retryable_error(outcome.error, ctx))) + encoder.close()


def _rename_model(ctx: Context) -> RenameModel | None:
    """What names the model of an answer as its client did, where that differs."""
    model = ctx.options.model
    if model is None or ctx.source is None or ctx.request is None or ctx.request.model == model:
        return None
    if not ctx.source.model_at:
        return None
    return RenameModel(ctx.source.model_at, ctx.request.model)
