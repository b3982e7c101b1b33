"""Streams of Anthropic Messages: events to bytes."""

from collections.abc import Callable
from typing import Any, Final, cast

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
    unfold_part,
)
from toolglot.ir import (
    Json,
    Opaque,
    Part,
    Reasoning,
)
from toolglot.protocols.anthropic.parts import (
    EMPTY,
    encode_citation,
    encode_part,
)
from toolglot.protocols.anthropic.response import (
    complete_block,
    complete_delta,
    complete_message,
    encode_response,
    encode_stop,
    encode_usage,
    unknown_model,
)
from toolglot.protocols.anthropic.surface import NAME
from toolglot.wire import jsontext
from toolglot.wire.fields import merge
from toolglot.wire.sse import frame
from toolglot.wire.stream_base import BaseStreamEncoder

_DELTA_START: Final = b'event: content_block_delta\ndata: {"type":"content_block_delta","index":'
_DELTA_END: Final = b"}}\n\n"
_DELTA: Final[dict[tuple[str, str], bytes]] = {
    ("text", "text"): b',"delta":{"type":"text_delta","text":',
    ("thinking", "text"): b',"delta":{"type":"thinking_delta","thinking":',
    ("thinking", "summary"): b',"delta":{"type":"thinking_delta","thinking":',
    ("tool_use", "text"): b',"delta":{"type":"input_json_delta","partial_json":',
}
"""Block type and field of a delta to the bytes between its index and its text."""

_SIGNATURE: Final = b',"delta":{"type":"signature_delta","signature":'


class StreamEncoder(BaseStreamEncoder):
    """Events to bytes. Expects one open part at a time."""

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self._blocks: dict[int, tuple[bytes, str]] = {}
        self._sealed: dict[int, Reasoning] = {}
        self._signatures: dict[int, list[str]] = {}
        self._pieces: dict[int, int] = {}
        self._next = 0

    def _started(self, event: Started) -> bytes:
        self._usage = event.usage
        message: Json = {
            "id": event.id,
            "type": "message",
            "role": "assistant",
            "model": event.model or unknown_model(self._ctx),
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": encode_usage(event.usage),
        }
        if self._ctx.completes(NAME):
            message = complete_message(message)
        return _frame("message_start", message=merge(message, event.extras, NAME))

    def _part_started(self, event: PartStarted) -> bytes:
        part = event.part
        if event.choice:
            return b""
        if isinstance(part, Reasoning) and part.redacted:
            # Its data cannot come in deltas, and some that say so turn out to be readable.
            self._sealed[event.index] = part
            self._signatures[event.index] = [part.signature or ""]
            return b""
        return self._open(event.index, part)

    def _open(self, index: int, part: Part) -> bytes:
        """Start a block; what the part holds already follows in deltas."""
        started, *held = unfold_part(index, part)
        block = encode_part(cast("PartStarted", started).part, self._ctx)
        if block is None:
            return b""
        number, kind = self._next, str(block["type"])
        self._next += 1
        self._blocks[index] = (str(number).encode(), kind)
        block, given = block | EMPTY.get(kind, {}), block.get("input")
        if self._ctx.completes(NAME):
            block = complete_block(block)
        if given and isinstance(part, Opaque):
            block["input"] = {}
        frames = _frame("content_block_start", index=number, content_block=block)
        if given and isinstance(part, Opaque):
            frames += _delta(str(number).encode(), _DELTA["tool_use", "text"], jsontext.text(given))
        return frames + b"".join(map(self.encode, held[:-1]))

    def _part_delta(self, event: PartDelta) -> bytes:
        index = event.index
        if event.field == "signature":
            # Clients keep the last one only, so it goes out whole, when the block ends.
            self._signatures.setdefault(index, []).append(event.text)
            return b""
        block = self._blocks.get(index)
        if block is None:
            if self._sealed.pop(index, None) is None:
                return b""
            return self._open(index, Reasoning()) + self._part_delta(event)
        number, kind = block
        start = _DELTA.get((kind, event.field))
        if start is None:
            return self._citation(event, number) if event.citation else b""
        if event.field == "text":
            return _delta(number, start, event.text)
        gap = event.piece != self._pieces.setdefault(index, event.piece)
        self._pieces[index] = event.piece
        return _delta(number, start, "\n\n" + event.text if gap else event.text)

    def text_writer(self, index: int) -> Callable[[str], bytes]:
        number, kind = self._blocks.get(index, (b"", ""))
        start = _DELTA.get((kind, "text"))
        if start is None:
            return super().text_writer(index)
        return jsontext.writer(b"".join((_DELTA_START, number, start)), _DELTA_END)

    def _citation(self, event: PartDelta, number: bytes) -> bytes:
        wire = encode_citation(event.citation, self._ctx) if event.citation else None
        if wire is None:
            return b""
        delta = {"type": "citations_delta", "citation": wire}
        return _frame("content_block_delta", index=int(number), delta=delta)

    def _part_ended(self, event: PartEnded) -> bytes:
        signature = "".join(self._signatures.pop(event.index, ()))
        sealed, frames = self._sealed.pop(event.index, None), b""
        if sealed is not None and signature and not event.incomplete:
            frames = self._open(event.index, replace(sealed, signature=signature))
        block = self._blocks.pop(event.index, None)
        if block is None:
            return b""
        number, kind = block
        if kind == "thinking" and signature and not event.incomplete:
            frames += _delta(number, _SIGNATURE, signature)
        if kind == "tool_use" and event.incomplete:
            # A call that was cut before its input: every call has a delta, even of nothing.
            frames += _delta(number, _DELTA[kind, "text"], "")
        return frames + _frame("content_block_stop", index=int(number))

    def _finished(self, event: Finished) -> bytes:
        delta = encode_stop(event.stops[0] if event.stops else None, self._ctx)
        usage = encode_usage(self._usage)
        if self._ctx.completes(NAME):
            delta, usage = complete_delta(delta, usage)
        delta = merge(delta, event.extras, NAME)
        ended = _frame("message_delta", delta=delta, usage=usage)
        return ended + _frame("message_stop")

    def _failed(self, event: Failed) -> bytes:
        body = encode_response(event.error, self._ctx).body
        return frame(jsontext.encode(body), b"error")

    def _opaque(self, event: OpaqueEvent) -> bytes:
        if event.protocol != NAME:
            return b""
        return frame(jsontext.encode(event.value), event.type.encode())


def _delta(number: bytes, start: bytes, text: str) -> bytes:
    return b"".join((_DELTA_START, number, start, jsontext.encode(text), _DELTA_END))


def _frame(kind: str, **members: Any) -> bytes:
    return frame(jsontext.encode({"type": kind, **members}), kind.encode())
