"""Streams of Anthropic Messages, both ways.

Reference: https://platform.claude.com/docs/en/build-with-claude/streaming (read 2026-11-15).

    message_start, { content_block_start, { content_block_delta }, content_block_stop },
    message_delta, message_stop        with pings anywhere and an error in place of the rest

One block is open at a time; blocks are numbered in the order in which they start.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, cast

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.events import (
    DeltaField,
    Event,
    Failed,
    Finished,
    OpaqueEvent,
    PartDelta,
    PartEnded,
    PartStarted,
    Started,
    UsageSeen,
    merge_usage,
    unfold_part,
)
from toolglot.ir import (
    NO_EXTRAS,
    Json,
    Opaque,
    Part,
    Reasoning,
    StopReason,
    Text,
    ToolCall,
    Usage,
)
from toolglot.protocols.anthropic.parts import (
    decode_citation,
    decode_part,
    encode_citation,
    encode_part,
)
from toolglot.protocols.anthropic.response import (
    decode_error,
    decode_stop,
    decode_usage,
    encode_response,
    encode_stop,
    encode_usage,
)
from toolglot.protocols.anthropic.surface import NAME, SURFACE
from toolglot.wire import jsontext
from toolglot.wire.call_arguments import INVALID_KEY
from toolglot.wire.fields import Fields, Home, merge
from toolglot.wire.message import WireResponse
from toolglot.wire.sse import SseDecoder, frame
from toolglot.wire.stream_base import OpenParts, cut_off, parse

_DELTAS: Final[dict[str, tuple[str, DeltaField, type[Part] | None]]] = {
    "text_delta": ("text", "text", Text),
    "thinking_delta": ("thinking", "text", Reasoning),
    "signature_delta": ("signature", "signature", Reasoning),
    "input_json_delta": ("partial_json", "text", ToolCall),
    "citations_delta": ("citation", "citation", Text),
}
"""Delta type to its member on the wire, its field in a part and the kind of that part."""

_NO_DELTA: Final[tuple[str, DeltaField, type[Part] | None]] = ("", "text", None)

_EMPTY: Final[dict[str, Json]] = {
    "text": {"text": ""},
    "thinking": {"thinking": "", "signature": ""},
    "tool_use": {"input": {}},
}
"""What a block holds when it starts; its content comes in deltas."""

# --- in -------------------------------------------------------------------------------------------


class StreamDecoder:
    """Bytes to events."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._home = Home(ctx, NAME, SURFACE.minor)
        self._sse = SseDecoder()
        self._parts = OpenParts()
        self._kinds: dict[int, type[Part]] = {}
        self._inputs: dict[int, tuple[str, list[str]]] = {}
        self._doubtful: int | None = None
        self._held: dict[int, tuple[Json, list[str]]] = {}
        self._stop: StopReason | None = None
        self._extras: Json = {}
        self._count = 0
        self._last = -1
        self._begun = self._calls = self._over = False

    def feed(self, data: bytes) -> Iterator[Event]:
        """The events that these bytes complete."""
        for name, payload in self._sse.feed(data):
            yield from self.read(name, payload)

    def close(self) -> Iterator[Event]:
        """What the end of the bytes means: nothing after a complete response, else an error."""
        for name, payload in self._sse.close():
            yield from self.read(name, payload)
        if self._over:
            return
        self._over = True
        if self._stop is not None and not self._parts and not self._held:
            yield self._finished()
        else:
            yield from cut_off(self._parts)

    def read(self, name: str, payload: bytes, value: Json | None = None) -> Iterable[Event]:
        """What one event of the stream means; `value` is its JSON if that was read already."""
        self._count += 1
        value = None if self._over else parse(payload, self._ctx, self._count, value)
        if value is None:
            return ()
        kind = str(value.get("type") or name)
        if kind == "content_block_delta" and (delta := self._plain_delta(value)) is not None:
            return (delta,)
        return self._other(kind, value)

    def _other(self, kind: str, value: Json) -> Iterator[Event]:
        reader = _READERS.get(kind)
        if reader is None and value.get("error"):
            reader = StreamDecoder._error
        if reader is not None:
            try:
                yield from reader(self, Fields(value, self._home))
            except DecodeError as error:
                self._skip(str(error))
        elif not self._begun:
            self._skip(f"{kind} before the message")
        elif kind != "ping":
            yield OpaqueEvent(NAME, kind, value)

    def _skip(self, why: str) -> None:
        self._ctx.note("event-skipped", f"event {self._count}", why)

    def _message_start(self, fields: Fields) -> Iterator[Event]:
        if self._begun:
            return
        message = fields.maybe_fields("message") or Fields({}, self._home)
        for key in ("type", "role", "content", "stop_reason", "stop_sequence"):
            if key in message:
                message.constant(key, message.peek(key))
        yield self._begin(
            id=message.maybe_text("id"),
            model=message.maybe_text("model"),
            usage=decode_usage(message.maybe_fields("usage")),
            extras=message.rest(),
        )

    def _begin(self, **known: Any) -> Started:
        self._begun = True
        known["id"] = known.get("id") or self._ctx.new_id("msg_")
        known["model"] = known.get("model") or ""
        return Started(**known)

    def _block_start(self, fields: Fields) -> Iterator[Event]:
        if not self._begun:
            yield self._begin()
        index = self._index(fields, self._last + 1)
        yield from self._settle()
        yield from self._end(index)
        self._last = index
        block = fields.maybe_object("content_block") or {}
        part = decode_part(self._filled(block), fields, "content_block", index)
        if isinstance(part, Opaque):
            self._held[index] = (block, [])
            return
        self._kinds[index] = type(part)
        if isinstance(part, ToolCall):
            self._calls = True
            # Some servers put the whole input here and send no deltas; it waits for them.
            self._inputs[index] = (part.arguments, [])
            yield self._parts.start(index, replace(part, arguments=""))
            return
        if isinstance(part, Reasoning) and part.signature == "":
            part = replace(part, signature=None)
        started, *rest = unfold_part(self._parts.count, part)
        yield self._parts.start(index, cast("PartStarted", started).part)
        yield from rest[:-1]

    def _filled(self, block: Json) -> Json:
        """A block that starts, with what it may have left out, without what is empty."""
        filled = _EMPTY.get(str(block.get("type")), {}) | block
        if filled.get("citations") == []:
            del filled["citations"]
        if filled.get("type") == "tool_use" and not filled.get("id"):
            filled["id"] = self._ctx.new_id("toolu_")
        return filled

    def _index(self, fields: Fields, missing: int) -> int:
        given = fields.maybe_int("index")
        return missing if given is None else given

    def _plain_delta(self, value: Json) -> PartDelta | None:
        """By far the most events: more of the text of an open block, and nothing odd about it."""
        index, delta = value.get("index"), value.get("delta")
        if type(index) is not int or type(delta) is not dict:
            return None
        key, field, wanted = _DELTAS.get(str(delta.get("type")), _NO_DELTA)
        text, part = delta.get(key), self._parts.index(index)
        if part is None or self._kinds[index] is not wanted or type(text) is not str or not text:
            return None
        if wanted is ToolCall:
            self._inputs[index][1].append(text)
        return PartDelta(part, text, field)

    def _block_delta(self, fields: Fields) -> Iterator[Event]:
        index, delta = self._index(fields, self._last), fields.maybe_object("delta") or {}
        kind, held, part = delta.get("type"), self._held.get(index), self._parts.index(index)
        key, field, wanted = _DELTAS.get(str(kind), _NO_DELTA)
        if held is not None and kind == "input_json_delta":
            held[1].append(str(delta.get(key) or ""))
        elif part is None or self._kinds[index] is not wanted:
            self._skip(f"block {index} takes no {kind}")
        elif field == "citation":
            citation = decode_citation(fields.element(delta.get(key), key, index))
            yield PartDelta(part, "", "citation", citation=citation)
        else:
            text = delta.get(key)
            if isinstance(text, str) and text:
                if wanted is ToolCall:
                    self._inputs[index][1].append(text)
                yield PartDelta(part, text, field)

    def _block_stop(self, fields: Fields) -> Iterator[Event]:
        index = self._index(fields, self._last)
        if index in self._inputs and not self._is_whole(index):
            # Whether it was cut is told by the stop reason, which comes next.
            yield from self._settle()
            self._doubtful = index
        else:
            yield from self._end(index)

    def _is_whole(self, index: int) -> bool:
        """Whether a call has certainly come to its end."""
        given, pieces = self._inputs[index]
        if not pieces:
            return given != "{}"
        try:
            jsontext.peek("".join(pieces))
        except ValueError:
            return False
        return True

    def _settle(self) -> Iterator[Event]:
        """Close the call that may have been cut, if there is one."""
        index, self._doubtful = self._doubtful, None
        if index is not None:
            yield from self._end(index)

    def _end(self, index: int) -> Iterator[Event]:
        """Close a block, if it is open, with what it held back."""
        held = self._held.pop(index, None)
        self._kinds.pop(index, None)
        if held is not None:
            value, pieces = held
            text = "".join(pieces)
            if text:
                value = value | {"input": self._input(text)}
            kind = str(value.get("type"))
            yield self._parts.start(index, Opaque(protocol=NAME, type=kind, value=value))
        if index in self._parts:
            stopped = self._stop is not None and self._stop.kind not in ("end", "tool_calls")
            cut = stopped and index in self._inputs and not self._is_whole(index)
            given, pieces = self._inputs.pop(index, ("", []))
            if given and not pieces and not cut:
                yield self._parts.delta(index, given)
            yield self._parts.end(index, incomplete=cut)

    def _input(self, text: str) -> Any:
        try:
            return jsontext.peek(text)
        except ValueError:
            self._ctx.note("arguments-invalid", f"event {self._count}")
            return {INVALID_KEY: text}

    def _message_delta(self, fields: Fields) -> Iterator[Event]:
        if not self._begun:
            yield self._begin()
        delta = fields.maybe_fields("delta")
        if delta is not None:
            self._stop = decode_stop(delta) or self._stop
            self._keep(delta)
        if self._stop is not None:
            yield from self._settle()
        usage = decode_usage(fields.maybe_fields("usage"))
        if usage is not None:
            yield UsageSeen(usage)
        fields.constant("type", "message_delta")
        self._keep(fields)

    def _keep(self, fields: Fields) -> None:
        """What else a whole response says beside its stop reason."""
        left = fields.rest().get(NAME, {})
        self._extras |= {key: value for key, value in left.items() if value is not None}

    def _message_stop(self, _fields: Fields) -> Iterator[Event]:
        if not self._begun:
            yield self._begin()
        yield from self._settle()
        for index in sorted({*self._kinds, *self._held}):
            yield from self._end(index)
        self._over = True
        yield self._finished()

    def _finished(self) -> Finished:
        stop = self._stop or StopReason(kind="tool_calls" if self._calls else "other")
        return Finished((stop,), {NAME: self._extras} if self._extras else NO_EXTRAS)

    def _error(self, fields: Fields) -> Iterator[Event]:
        self._over = True
        yield from self._parts.end_all(incomplete=True)
        yield Failed(decode_error(fields, WireResponse(body={})))


_READERS: Final[dict[str, Callable[[StreamDecoder, Fields], Iterator[Event]]]] = {
    "message_start": StreamDecoder._message_start,
    "content_block_start": StreamDecoder._block_start,
    "content_block_delta": StreamDecoder._block_delta,
    "content_block_stop": StreamDecoder._block_stop,
    "message_delta": StreamDecoder._message_delta,
    "message_stop": StreamDecoder._message_stop,
    "error": StreamDecoder._error,
}

# --- out ------------------------------------------------------------------------------------------

_DELTA_START: Final = b'event: content_block_delta\ndata: {"type":"content_block_delta","index":'
_DELTA: Final[dict[tuple[str, str], bytes]] = {
    ("text", "text"): b',"delta":{"type":"text_delta","text":',
    ("thinking", "text"): b',"delta":{"type":"thinking_delta","thinking":',
    ("thinking", "summary"): b',"delta":{"type":"thinking_delta","thinking":',
    ("tool_use", "text"): b',"delta":{"type":"input_json_delta","partial_json":',
}
"""Block type and field of a delta to the bytes between its index and its text."""

_SIGNATURE: Final = b',"delta":{"type":"signature_delta","signature":'


class StreamEncoder:
    """Events to bytes. Expects one open part at a time."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._blocks: dict[int, tuple[bytes, str]] = {}
        self._sealed: dict[int, Reasoning] = {}
        self._signatures: dict[int, list[str]] = {}
        self._pieces: dict[int, int] = {}
        self._next = 0
        self._usage: Usage | None = None

    def encode(self, event: Event) -> bytes:
        """The bytes of one event; some have none."""
        return _WRITERS[type(event)](self, event)

    def close(self) -> bytes:
        """Nothing: the last event has ended the stream."""
        return b""

    def _started(self, event: Started) -> bytes:
        self._usage = event.usage
        message: Json = {
            "id": event.id,
            "type": "message",
            "role": "assistant",
            "model": event.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": encode_usage(event.usage),
        }
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
        block, given = block | _EMPTY.get(kind, {}), block.get("input")
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
        return frames + _frame("content_block_stop", index=int(number))

    def _usage_seen(self, event: UsageSeen) -> bytes:
        self._usage = merge_usage(self._usage, event.usage)
        return b""

    def _finished(self, event: Finished) -> bytes:
        delta = encode_stop(event.stops[0] if event.stops else None, self._ctx)
        delta = merge(delta, event.extras, NAME)
        ended = _frame("message_delta", delta=delta, usage=encode_usage(self._usage))
        return ended + _frame("message_stop")

    def _failed(self, event: Failed) -> bytes:
        body = encode_response(event.error, self._ctx).body
        return frame(jsontext.encode(body), b"error")

    def _opaque(self, event: OpaqueEvent) -> bytes:
        if event.protocol != NAME:
            return b""
        return frame(jsontext.encode(event.value), event.type.encode())


def _delta(number: bytes, start: bytes, text: str) -> bytes:
    return b"".join((_DELTA_START, number, start, jsontext.encode(text), b"}}\n\n"))


def _frame(kind: str, **members: Any) -> bytes:
    return frame(jsontext.encode({"type": kind, **members}), kind.encode())


_WRITERS: Final[dict[type[Any], Callable[[StreamEncoder, Any], bytes]]] = {
    Started: StreamEncoder._started,
    PartStarted: StreamEncoder._part_started,
    PartDelta: StreamEncoder._part_delta,
    PartEnded: StreamEncoder._part_ended,
    UsageSeen: StreamEncoder._usage_seen,
    Finished: StreamEncoder._finished,
    Failed: StreamEncoder._failed,
    OpaqueEvent: StreamEncoder._opaque,
}
