"""Streams of Gemini Interactions: events to bytes."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.events import (
    Failed,
    Finished,
    OpaqueEvent,
    PartDelta,
    PartEnded,
    PartStarted,
    Started,
)
from toolglot.ir import Json, Opaque, Part, Reasoning, Refusal, Text, ToolCall
from toolglot.protocols.gemini_interactions._steps import MODEL, THOUGHT, encode_part_steps
from toolglot.protocols.gemini_interactions.parts import (
    encode_citations,
    encode_part,
    is_content,
    step_of,
)
from toolglot.protocols.gemini_interactions.response import (
    encode_head,
    encode_stop,
    encode_usage,
    event_error,
)
from toolglot.protocols.gemini_interactions.surface import NAME
from toolglot.wire import jsontext
from toolglot.wire.fields import merge
from toolglot.wire.sse import frame
from toolglot.wire.stream_base import BaseStreamEncoder

_DONE: Final = b"event: done\ndata: [DONE]\n\n"
_OPENING: Final = b'event: step.delta\ndata: {"event_type":"step.delta","index":%d,"delta":'
_TEXT: Final = (b'{"type":"text","text":', b"}}\n\n")
_ARGUMENTS: Final = (b'{"type":"arguments_delta","arguments":', b"}}\n\n")
_SUMMARY: Final = (b'{"type":"thought_summary","content":{"type":"text","text":', b"}}}\n\n")
"""What stands around the text of a delta."""

_AROUND: Final[dict[type[Any], tuple[bytes, bytes]]] = {
    Text: _TEXT,
    Refusal: _TEXT,
    ToolCall: _ARGUMENTS,
    Reasoning: _SUMMARY,
}


class _Open:
    """A step while it streams: the bytes around each text, and what may be needed at its end."""

    __slots__ = ("after", "before", "part", "piece", "signature", "step", "texts")

    def __init__(self, part: Part, step: int) -> None:
        self.part = part
        self.step = step
        before, self.after = _AROUND[type(part)]
        self.before = _OPENING % step + before
        self.texts: list[str] = []
        self.piece: tuple[str, int] | None = None
        self.signature: list[str] = []


class StreamEncoder(BaseStreamEncoder):
    """Events to bytes. Parts may overlap; each is a step of its own."""

    last_words = _DONE

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self._open: dict[int, _Open] = {}
        self._head: Json = {}
        self._steps = 0

    def _frame(self, kind: str, **members: Any) -> bytes:
        return frame(jsontext.encode({"event_type": kind, **members}), kind.encode())

    # --- the interaction

    def _started(self, event: Started) -> bytes:
        self._usage = event.usage
        head = encode_head(event, self._ctx)
        # A stream names what it is about, even if that is not stored.
        self._head = merge({"id": event.id, **head}, event.extras, NAME)
        interaction = {**self._head, "status": "in_progress"}
        return self._frame("interaction.created", interaction=interaction)

    def _finished(self, event: Finished) -> bytes:
        own = NAME in event.extras
        interaction = {**self._head, **encode_stop(event.stops[0], self._ctx, own=own)}
        if self._usage is not None:
            interaction["usage"] = encode_usage(self._usage, self._ctx)
        if own:
            interaction = merge(interaction, event.extras, NAME)
        return self._frame("interaction.completed", interaction=interaction) + _DONE

    def _failed(self, event: Failed) -> bytes:
        return self._frame("error", error=event_error(event.error, self._ctx)) + _DONE

    def _opaque(self, event: OpaqueEvent) -> bytes:
        if event.protocol != NAME:
            return b""
        rest = {key: value for key, value in event.value.items() if key != "event_type"}
        return self._frame(event.type, **rest)

    # --- steps

    def _start(self, step: Json) -> bytes:
        index, self._steps = self._steps, self._steps + 1
        return self._frame("step.start", index=index, step=step)

    def _stop(self, index: int) -> bytes:
        return self._frame("step.stop", index=index)

    def _part_started(self, event: PartStarted) -> bytes:
        part = event.part
        if type(part) not in _AROUND:
            return self._whole(part)
        before = b""
        step: Json = {"type": MODEL, **(step_of(part) or {})}
        if isinstance(part, ToolCall):
            *thoughts, step = encode_part_steps(replace(part, arguments="{}"), self._ctx)
            before = b"".join(self._start(each) + self._stop(self._steps - 1) for each in thoughts)
        elif isinstance(part, Reasoning):
            step = merge({"type": THOUGHT}, part.extras, NAME)
        self._open[event.index] = opened = _Open(part, self._steps)
        begun = before + self._start(step)
        if isinstance(part, ToolCall):
            return begun + self._text(opened, part.arguments)
        if isinstance(part, Reasoning):
            if part.signature is not None:
                opened.signature.append(part.signature)
            return begun + self._first_thoughts(opened, part)
        return begun + self._text(opened, str(getattr(part, "text", "")))

    def _first_thoughts(self, opened: _Open, part: Reasoning) -> bytes:
        pieces = [self._thought(opened, text, "summary", n) for n, text in enumerate(part.summary)]
        return b"".join((*pieces, self._thought(opened, part.text, "text", 0)))

    def _whole(self, part: Part) -> bytes:
        """A part that comes at once: a medium in a delta, anything else as its step starts."""
        if is_content(part):
            content = encode_part(part, self._ctx)
            if content is None:
                return b""
            step: Json = {"type": MODEL, **(step_of(part) or {})}
            if isinstance(part, Opaque):
                step["content"] = [content]
                return self._start(step) + self._stop(self._steps - 1)
            index = self._steps
            begun = self._start(step)
            return begun + self._frame("step.delta", index=index, delta=content) + self._stop(index)
        steps = encode_part_steps(part, self._ctx)
        return b"".join(self._start(step) + self._stop(self._steps - 1) for step in steps)

    def _part_delta(self, event: PartDelta) -> bytes:
        opened = self._open.get(event.index)
        if opened is None:
            return b""
        if event.field == "signature":
            opened.signature.append(event.text)
            return b""
        if event.citation is not None:
            text = "".join(opened.texts)
            wires = [*encode_citations((event.citation,), text, self._ctx)]
            delta = {"type": "text_annotation_delta", "annotations": wires}
            return self._frame("step.delta", index=opened.step, delta=delta) if wires else b""
        if isinstance(opened.part, Reasoning):
            return self._thought(opened, event.text, event.field, event.piece)
        return self._text(opened, event.text)

    def text_writer(self, index: int) -> Callable[[str], bytes]:
        opened = self._open.get(index)
        if opened is None or isinstance(opened.part, Reasoning):
            return super().text_writer(index)
        return partial(self._text, opened)

    def _text(self, opened: _Open, text: str) -> bytes:
        if not text:
            return b""
        opened.texts.append(text)
        return b"".join((opened.before, jsontext.encode(text), opened.after))

    def _thought(self, opened: _Open, text: str, field: str, piece: int) -> bytes:
        """More of a summary. Clients write its pieces one after the other."""
        if not text:
            return b""
        if opened.piece not in (None, (field, piece)):
            text = "\n\n" + text
        opened.piece = (field, piece)
        return b"".join((opened.before, jsontext.encode(text), opened.after))

    def _part_ended(self, event: PartEnded) -> bytes:
        opened = self._open.pop(event.index, None)
        if opened is None:
            return b""
        signature = "".join(opened.signature)
        if isinstance(opened.part, Reasoning) and signature:
            delta = {"type": "thought_signature", "signature": signature}
            signed = self._frame("step.delta", index=opened.step, delta=delta)
            return signed + self._stop(opened.step)
        if isinstance(opened.part, ToolCall):
            if event.incomplete:
                # Half a call is never told to be whole.
                return b""
            if not opened.texts:
                return self._text(opened, "{}") + self._stop(opened.step)
        return self._stop(opened.step)
