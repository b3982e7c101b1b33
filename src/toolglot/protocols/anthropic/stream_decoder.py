"""Streams of Anthropic Messages: bytes to events.

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
    Direct,
    Event,
    Failed,
    Finished,
    OpaqueEvent,
    PartDelta,
    PartStarted,
    Started,
    UsageSeen,
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
)
from toolglot.protocols.anthropic.parts import (
    EMPTY,
    decode_citation,
    decode_part,
)
from toolglot.protocols.anthropic.response import (
    decode_error,
    decode_stop,
    decode_usage,
)
from toolglot.protocols.anthropic.surface import NAME, SURFACE
from toolglot.wire import jsontext
from toolglot.wire.call_arguments import INVALID_KEY
from toolglot.wire.fields import Fields, WireDocument
from toolglot.wire.message import WireResponse
from toolglot.wire.sse import SseDecoder
from toolglot.wire.stream_base import BaseStreamDecoder, parse

_DELTAS: Final[dict[str, tuple[str, DeltaField, type[Part] | None]]] = {
    "text_delta": ("text", "text", Text),
    "thinking_delta": ("thinking", "text", Reasoning),
    "signature_delta": ("signature", "signature", Reasoning),
    "input_json_delta": ("partial_json", "text", ToolCall),
    "citations_delta": ("citation", "citation", Text),
}
"""Delta type to its member on the wire, its field in a part and the kind of that part."""

_NO_DELTA: Final[tuple[str, DeltaField, type[Part] | None]] = ("", "text", None)


class StreamDecoder(BaseStreamDecoder):
    """Bytes to events."""

    repeats = True

    def __init__(self, ctx: Context) -> None:
        super().__init__(WireDocument(ctx, NAME, SURFACE.minor), SseDecoder())
        self._kinds: dict[int, type[Part]] = {}
        self._inputs: dict[int, tuple[str, list[str]]] = {}
        self._doubtful: int | None = None
        self._held: dict[int, tuple[Json, list[str]]] = {}
        self._stop: StopReason | None = None
        self._extras: Json = {}
        self._last = -1
        self._cited = 0
        """How many citations the last block has so far."""
        self._calls = False

    @property
    def could_end(self) -> int:
        return self._count if self._all_came else 0

    @property
    def _all_came(self) -> bool:
        return self._stop is not None and not self._parts and not self._held

    def _at_end(self) -> Iterator[Event]:
        if self._all_came:
            self._over = True
            yield self._finished()
        else:
            yield from self._cut_off()

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

    def direct(self, index: int) -> Direct | None:
        block = cast("int", self._parts.key(index))
        pieces = self._inputs[block][1] if self._kinds[block] is ToolCall else None

        def collect(text: str) -> None:
            self._count += 1
            if pieces is not None:
                pieces.append(text)

        return index, collect

    def _other(self, kind: str, value: Json) -> Iterator[Event]:
        reader = _READERS.get(kind)
        if reader is None and value.get("error"):
            reader = StreamDecoder._error
        if reader is not None:
            try:
                yield from reader(self, Fields(value, self._document))
            except DecodeError as error:
                self._skip(str(error))
        elif not self._begun:
            self._skip(f"{kind} before the message")
        elif kind != "ping":
            yield OpaqueEvent(NAME, kind, value)

    def _message_start(self, fields: Fields) -> Iterator[Event]:
        if self._begun:
            return
        message = fields.maybe_fields("message") or Fields({}, self._document)
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
        self._last, self._cited = index, 0
        block = fields.maybe_object("content_block") or {}
        part = decode_part(self._filled(block), fields, "content", index)
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
        filled = EMPTY.get(str(block.get("type")), {}) | block
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
            block = fields.element({}, "content", index)
            citation = decode_citation(block.element(delta.get(key), "citations", self._cited))
            self._cited += 1
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
