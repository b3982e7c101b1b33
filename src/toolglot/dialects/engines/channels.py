"""Answers made of messages, each with a header that says whom it is for."""

import re
from dataclasses import dataclass
from typing import Final

from toolglot.dialects import literals
from toolglot.dialects.reader import (
    Form,
    NotACall,
    Reader,
    ReasoningSegment,
    Steps,
    Stops,
    TextSegment,
    encoded,
    plausible,
)

_MAX_HEAD: Final = 512
_RECIPIENT: Final = re.compile(r"\bto=([^\s<]+)")
_CHANNEL: Final = re.compile(r"<\|channel\|>\s*(\w+)")


@dataclass(frozen=True, kw_only=True)
class SkipForm(Form):
    """A mark of changing content that means nothing to the reader, up to its end."""

    frames: bool = True
    until: str = ">"

    def read(self, reader: Reader, opener: str) -> Steps[None]:  # noqa: ARG002
        """Leave the mark out."""
        _, stop = yield from reader.until(Stops(self.until, "\n"), _MAX_HEAD)
        if stop != self.until:
            raise NotACall


@dataclass(frozen=True, kw_only=True)
class ChannelForm(Form):
    """A header, `<|message|>`, a body and an end."""

    message: str = "<|message|>"
    ends: tuple[str, ...]
    starts: tuple[str, ...] = ()
    """Headers of the next message, which end a body that was not closed."""
    quotes: bool = False
    """Whether such a header in words for people is only quoted there."""
    reasoning: frozenset[str]
    """Channels, or recipients, of what the model says to itself."""
    words: frozenset[str]
    """Recipients that are people."""
    body: tuple[Form, ...] = ()
    """How calls are written; without it the body is the arguments."""

    def read(self, reader: Reader, opener: str) -> Steps[None]:
        """Read one message."""
        reader.pos -= len(opener)
        head, stop = yield from reader.until(Stops(self.message, *self.ends), _MAX_HEAD)
        if stop != self.message:
            raise NotACall
        recipients = _RECIPIENT.findall(head)
        channels = _CHANNEL.findall(head)
        target = recipients[-1].partition("<|")[0] if recipients else ""
        if not recipients and not channels and head.strip():
            raise NotACall
        if target and target not in self.words and target not in self.reasoning:
            yield from self._call(reader, target)
            return
        if target not in self.reasoning and (yield from self._misdirected(reader)):
            return
        reader.emitted = reader.pos
        kind = channels[-1] if channels else target
        yield from self._stream(reader, thinking=kind in self.reasoning)

    def _stream(self, reader: Reader, *, thinking: bool) -> Steps[None]:
        """Pass the body on as it comes."""
        kind = ReasoningSegment if thinking else TextSegment
        stops = Stops(*self.ends, *(self.starts if thinking or not self.quotes else ()))
        while True:
            match = stops.pattern.search(reader.buf, reader.pos)
            end = match.start() if match else len(reader.buf)
            if not reader.final and match is None:
                end = stops.held(reader.buf, reader.pos)
            if reader.pos < end:
                reader.out.append(kind(reader.buf[reader.pos : end]))
                reader.pos = reader.emitted = end
            if match is not None:
                stop = match.group()
                reader.pos = reader.emitted = end + (len(stop) if stop in self.ends else 0)
                return
            if not (yield from reader.more()):
                return

    def _call(self, reader: Reader, target: str) -> Steps[None]:
        if self.body:
            yield from self._blocks(reader)
            return
        yield from reader.spaces()
        if (yield from reader.peek()) != "{":
            raise NotACall
        text, complete = yield from reader.value(loose=True)
        if not complete:
            raise NotACall
        try:
            value = literals.lenient(text)
        except (ValueError, ArithmeticError):
            raise NotACall from None
        name = target.removeprefix("functions.")
        if not isinstance(value, dict) or not plausible(name):
            raise NotACall
        end = reader.pos
        yield from reader.spaces()
        if not (yield from reader.literal(*self.ends)):
            reader.pos = end
        reader.offer(name, text if literals.is_json(text) else encoded(value))

    def _misdirected(self, reader: Reader) -> Steps[bool]:
        """Whether a message to the user is a call and nothing else."""
        start = reader.pos
        if not self.body:
            return False
        refused, reader.strict = reader.strict, True
        try:
            yield from self._blocks(reader)
        except NotACall:
            if reader.accepted or reader.rejected:
                raise
            reader.pos = start
            return False
        finally:
            reader.strict = refused
        return True

    def _blocks(self, reader: Reader) -> Steps[None]:
        """The body as blocks of another form."""
        yield from reader.spaces()
        for form in self.body:
            opener = yield from reader.literal(*form.openers)
            if opener:
                yield from form.read(reader, opener)
                end = reader.pos
                yield from reader.spaces()
                if not (yield from reader.literal(*self.ends)):
                    reader.pos = end
                return
        raise NotACall
