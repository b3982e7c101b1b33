"""Streams of Ollama: events to bytes."""

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
from toolglot.ir import (
    Image,
    Json,
    Part,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
)
from toolglot.protocols.ollama.parts import (
    encode_call,
    encode_detail,
    encode_image,
    reasoning_text,
)
from toolglot.protocols.ollama.response import (
    encode_created,
    encode_durations,
    encode_response,
    encode_stop,
    encode_usage,
)
from toolglot.protocols.ollama.surface import NAME
from toolglot.wire import jsontext
from toolglot.wire.fields import merge
from toolglot.wire.parts import cannot_carry
from toolglot.wire.stream_base import BaseStreamEncoder

_TEXT: Final = b',"message":{"role":"assistant","content":'
_THINKING: Final = b',"message":{"role":"assistant","content":"","thinking":'
_MORE: Final = b'},"done":false}\n'


class StreamEncoder(BaseStreamEncoder):
    """Events to bytes. Calls and signatures are held until they are whole."""

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self._head = self._head_of("", None)
        self._open: dict[int, Part] = {}
        self._held: dict[int, list[str]] = {}
        self._pieces: dict[int, int] = {}
        self._last: dict[bytes, int] = {}
        self._details = 0

    def _head_of(self, model: str, created: Any) -> bytes:
        head = {"model": model, "created_at": encode_created(created, self._ctx)}
        return jsontext.encode(head)[:-1]

    def _started(self, event: Started) -> bytes:
        self._head = self._head_of(event.model, event.created)
        self._usage = event.usage
        return b""

    def _part_started(self, event: PartStarted) -> bytes:
        part = event.part
        if event.choice:
            return b""
        if isinstance(part, Image):
            data = encode_image(part, self._ctx)
            return self._line(images=[data]) if data else b""
        if not isinstance(part, (Text, Refusal, Reasoning, ToolCall)):
            cannot_carry(part, self._ctx)
            return b""
        self._open[event.index] = part
        self._held[event.index] = []
        return self._first_text(event.index, part)

    def _first_text(self, index: int, part: Text | Refusal | Reasoning | ToolCall) -> bytes:
        """What a part holds already when it starts."""
        if isinstance(part, ToolCall):
            text = part.arguments
        elif isinstance(part, Reasoning):
            text = reasoning_text(part)
            if part.signature is not None:
                self._held[index].append(part.signature)
        else:
            text = part.text
        return self._part_delta(PartDelta(index, text)) if text else b""

    def _part_delta(self, event: PartDelta) -> bytes:
        index = event.index
        part = self._open.get(index)
        if part is None:
            return b""
        if event.field == "citation":
            self._ctx.note("citation-dropped", self._ctx.answer_at())
            return b""
        if isinstance(part, ToolCall) or event.field == "signature":
            self._held[index].append(event.text)
            return b""
        if not event.text:
            return b""
        kind = _THINKING if isinstance(part, Reasoning) else _TEXT
        return b"".join((self._head, kind, jsontext.encode(self._joined(event, kind)), _MORE))

    def _joined(self, event: PartDelta, kind: bytes) -> str:
        """The text; thinking is set off from earlier thinking that ends up in the same string."""
        index = event.index
        before = self._last.setdefault(kind, index)
        if before != index:
            self._last[kind] = index
            self._ctx.note("text-joined", self._ctx.answer_at())
        elif event.piece == self._pieces.setdefault(index, event.piece):
            return event.text
        self._pieces[index] = event.piece
        return "\n\n" + event.text if kind is _THINKING else event.text

    def _part_ended(self, event: PartEnded) -> bytes:
        part = self._open.pop(event.index, None)
        held = "".join(self._held.pop(event.index, ()))
        if isinstance(part, ToolCall):
            if not event.incomplete:
                return self._line(
                    tool_calls=[encode_call(replace(part, arguments=held), self._ctx, answer=True)]
                )
            self._ctx.note("part-dropped", self._ctx.where(part), "the call is incomplete")
        elif isinstance(part, Reasoning) and held and not event.incomplete:
            self._details += 1
            return self._line(reasoning_details=[encode_detail(held, self._details - 1)])
        return b""

    def _finished(self, event: Finished) -> bytes:
        members: Json = {"message": {"role": "assistant", "content": ""}, "done": True}
        members |= encode_stop(event.stops[0] if event.stops else None, self._ctx)
        members |= encode_durations(event.extras, self._ctx)
        members |= encode_usage(self._usage, self._ctx)
        return self._head + b"," + jsontext.encode(merge(members, event.extras, NAME))[1:] + b"\n"

    def _failed(self, event: Failed) -> bytes:
        return jsontext.encode(encode_response(event.error, self._ctx).body) + b"\n"

    def _opaque(self, event: OpaqueEvent) -> bytes:
        return jsontext.encode(event.value) + b"\n" if event.protocol == NAME else b""

    def _line(self, **members: Any) -> bytes:
        message = {"role": "assistant", "content": "", **members}
        return b"".join((self._head, b',"message":', jsontext.encode(message), b',"done":false}\n'))
