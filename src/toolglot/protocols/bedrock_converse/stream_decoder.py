"""Streams of Converse: bytes to events.

Reference: `ConverseStreamOutput` in the service model of botocore 1.44.0 (read 2026-11-16).

    messageStart, { contentBlockStart, { contentBlockDelta }, contentBlockStop },
    messageStop, metadata              with an exception in place of the rest

Only calls, and what the provider ran or drew itself, have a contentBlockStart. Older recordings
have the metadata before messageStop. `p` is padding of random length, against eavesdroppers.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, cast

from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.events import (
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
from toolglot.ir import NO_EXTRAS, ApiError, Json, Part, Reasoning, StopReason, Text, ToolCall
from toolglot.protocols.bedrock_converse.parts import decode_citation, decode_part, unmark_state
from toolglot.protocols.bedrock_converse.response import decode_error, decode_stop, decode_usage
from toolglot.protocols.bedrock_converse.surface import NAME, SURFACE
from toolglot.wire import jsontext
from toolglot.wire.event_stream import ERROR, EXCEPTION, EventStreamDecoder
from toolglot.wire.fields import Fields, WireDocument
from toolglot.wire.message import WireResponse
from toolglot.wire.stream_base import BaseStreamDecoder, cut_off, parse

_PADDING: Final = "p"
_BAD_GATEWAY: Final = 502


class StreamDecoder(BaseStreamDecoder):
    """Bytes to events."""

    def __init__(self, ctx: Context) -> None:
        self._frames = EventStreamDecoder()
        super().__init__(WireDocument(ctx, NAME, SURFACE.minor), self._frames)
        self._kinds: dict[int, type[Part]] = {}
        self._inputs: dict[int, list[str]] = {}
        self._held: dict[int, tuple[str, Json, list[Any]]] = {}
        """Blocks that become parts when they end: their member, how it began, and its deltas."""
        self._doubtful: int | None = None
        self._stop: StopReason | None = None
        self._counted = False
        self._extras: Json = {}
        self._last = -1

    def feed(self, data: bytes) -> Iterable[Event]:
        """The events that these bytes complete; a failure, if they cannot be read on."""
        events = super().feed(data)
        return self._then_broken(events) if self._frames.broken else events

    def _then_broken(self, events: Iterable[Event]) -> Iterator[Event]:
        yield from events
        if not self._over:
            self._over = True
            why = self._frames.broken
            self._ctx.note("event-skipped", "", f"what follows cannot be read: {why}")
            *ends, _ = cut_off(self._parts)
            yield from ends
            yield Failed(ApiError(kind="server", message=why, status=_BAD_GATEWAY))

    @property
    def could_end(self) -> int:
        return self._count if self._all_came else 0

    @property
    def _all_came(self) -> bool:
        return self._stop is not None and not self._parts and not self._held

    def _at_end(self) -> Iterator[Event]:
        if self._all_came:
            yield from self._finished()
        else:
            yield from self._cut_off()

    def read(self, name: str, payload: bytes, value: Json | None = None) -> Iterable[Event]:
        """What one event of the stream means; `value` is its JSON if that was read already."""
        self._count += 1
        value = None if self._over else parse(payload, self._ctx, self._count, value)
        if value is None:
            return ()
        if name == "contentBlockDelta" and (delta := self._plain_delta(value)) is not None:
            return (delta,)
        return self._other(name, value)

    def _other(self, name: str, value: Json) -> Iterator[Event]:
        reader = _READERS.get(name)
        if name.startswith((EXCEPTION, ERROR)):
            yield from self._failure(name.partition(":")[2], value)
        elif reader is not None:
            try:
                yield from reader(self, self._fields(value))
            except DecodeError as error:
                self._skip(str(error))
        elif not self._begun:
            self._skip(f"{name} before the message")
        else:
            yield OpaqueEvent(NAME, name, value)

    def _fields(self, value: Json) -> Fields:
        fields = Fields(value, self._document)
        fields.take(_PADDING)
        return fields

    def _begin(self) -> Iterator[Event]:
        if not self._begun:
            self._begun = True
            yield Started(id=self._ctx.new_id("msg_"), model="")

    def _message_start(self, _fields: Fields) -> Iterator[Event]:
        return self._begin()

    # --- blocks -----------------------------------------------------------------------------------

    def _block_start(self, fields: Fields) -> Iterator[Event]:
        yield from self._begin()
        index = self._index(fields, self._last + 1)
        start = fields.maybe_object("start") or {}
        kind = next((key for key, inner in start.items() if type(inner) is dict), "")
        if not kind:
            return  # Some servers announce texts, too; these begin with their first delta.
        yield from self._settle()
        yield from self._end(index)
        self._last = index
        given = start[kind]
        if kind == "toolUse" and given.get("type") is None:
            part = decode_part(Fields({"toolUse": {"input": {}, **given}}, self._document))
            self._inputs[index] = []
            yield from self._open(index, part)
        else:
            self._held[index] = (kind, given, [])

    def _open(self, index: int, part: Part) -> Iterator[Event]:
        """Start a part; what it has already follows in deltas, but for the arguments of a call."""
        self._kinds[index] = type(part)
        started, *rest = unfold_part(self._parts.count, part)
        yield self._parts.start(index, cast("PartStarted", started).part)
        if type(part) is not ToolCall:
            yield from rest[:-1]

    def _index(self, fields: Fields, missing: int) -> int:
        given = fields.maybe_int("contentBlockIndex")
        return missing if given is None else given

    def _plain_delta(self, value: Json) -> PartDelta | None:
        """By far the most events: more of an open text, and nothing odd about it."""
        index, delta = value.get("contentBlockIndex"), value.get("delta")
        if type(index) is not int or type(delta) is not dict or self._doubtful is not None:
            return None
        part, text = self._parts.index(index), delta.get("text")
        if part is None or type(text) is not str or not text or self._kinds[index] is not Text:
            return None
        return PartDelta(part, text)

    def _block_delta(self, fields: Fields) -> Iterator[Event]:
        yield from self._begin()
        index = self._index(fields, self._last)
        if index != self._doubtful:
            yield from self._settle()
        delta = fields.maybe_object("delta") or {}
        kind = next((key for key, inner in delta.items() if inner is not None), "")
        held = self._held.get(index)
        if held is not None:
            held[2].append(delta.get(held[0]))
            return
        reader = _DELTAS.get(kind)
        if reader is None:
            self._skip(f"block {index} takes no {kind or 'empty delta'}")
            return
        self._last = max(self._last, index)
        yield from reader(self, index, delta[kind], fields)

    def _is(self, index: int, wanted: type[Part], kind: str) -> bool:
        """Whether a block is open as a kind of part, or not open at all."""
        known = self._kinds.get(index)
        if known is None or known is wanted:
            return True
        self._skip(f"block {index} takes no {kind}")
        return False

    def _text(self, index: int, value: Any, _fields: Fields) -> Iterator[Event]:
        if type(value) is not str or not self._is(index, Text, "text"):
            return
        if index not in self._kinds:
            yield from self._open(index, Text(text=""))
        if value:
            yield self._parts.delta(index, value)

    def _citation(self, index: int, value: Any, fields: Fields) -> Iterator[Event]:
        if not self._is(index, Text, "citation"):
            return
        outer = Fields({}, self._document, fields, "delta")
        citation = decode_citation(Fields(value, self._document, outer, "citation"))
        if index not in self._kinds:
            yield from self._open(index, Text(text=""))
        part = self._parts.index(index)
        if part is not None:
            yield PartDelta(part, "", "citation", citation=citation)

    def _reasoning(self, index: int, value: Any, _fields: Fields) -> Iterator[Event]:
        if type(value) is not dict or not self._is(index, Reasoning, "reasoningContent"):
            return
        text, signature, blob = (
            each if type(each := value.get(key)) is str else None
            for key in ("text", "signature", "redactedContent")
        )
        if index not in self._kinds and blob is not None:
            yield from self._open(index, Reasoning(redacted=True, signature=unmark_state(blob)))
            return
        if index not in self._kinds:
            yield from self._open(index, Reasoning())
        part = self._parts.index(index)
        if part is not None and text:
            yield PartDelta(part, text)
        if part is not None and (signature or blob):
            yield PartDelta(part, signature or blob or "", "signature")

    def _input(self, index: int, value: Any, _fields: Fields) -> Iterator[Event]:
        text = value.get("input") if type(value) is dict else None
        if index not in self._inputs:
            self._skip(f"block {index} takes no toolUse")
        elif type(text) is str and text:
            self._inputs[index].append(text)
            yield self._parts.delta(index, text)

    def _block_stop(self, fields: Fields) -> Iterator[Event]:
        yield from self._begin()
        index = self._index(fields, self._last)
        if index in self._inputs and not self._is_whole(index):
            # Whether it was cut is told by the stop reason, which comes later.
            yield from self._settle()
            self._doubtful = index
        else:
            yield from self._end(index)

    def _is_whole(self, index: int) -> bool:
        """Whether a call has certainly come to its end."""
        try:
            jsontext.peek("".join(self._inputs[index]))
        except ValueError:
            return False
        return True

    def _settle(self) -> Iterator[Event]:
        """Close the call that may have been cut, if there is one."""
        index, self._doubtful = self._doubtful, None
        if index is not None:
            yield from self._end(index)

    def _end(self, index: int) -> Iterator[Event]:
        """Close a block, if it is open."""
        if index == self._doubtful:
            self._doubtful = None
        held = self._held.pop(index, None)
        if held is not None:
            yield from self._open(index, decode_part(Fields(_whole(*held), self._document)))
        self._kinds.pop(index, None)
        if index not in self._parts:
            return
        stopped = self._stop is not None and self._stop.kind not in ("end", "tool_calls")
        cut = stopped and index in self._inputs and not self._is_whole(index)
        if self._inputs.pop(index, None) == [] and not cut:
            yield self._parts.delta(index, "{}")
        yield self._parts.end(index, incomplete=cut)

    # --- the end ----------------------------------------------------------------------------------

    def _message_stop(self, fields: Fields) -> Iterator[Event]:
        yield from self._begin()
        self._stop = decode_stop(fields) or self._stop or StopReason(kind="other")
        self._keep(fields)
        yield from self._settle()
        for index in sorted({*self._kinds, *self._held}):
            yield from self._end(index)
        if self._counted:
            yield from self._finished()

    def _metadata(self, fields: Fields) -> Iterator[Event]:
        yield from self._begin()
        usage = decode_usage(fields.maybe_fields("usage"))
        if usage is not None:
            self._counted = True
            yield UsageSeen(usage)
        self._keep(fields)
        if self._all_came:
            yield from self._finished()

    def _keep(self, fields: Fields) -> None:
        """What else a whole response says beside its stop reason and usage."""
        left = fields.rest().get(NAME, {})
        self._extras |= {key: value for key, value in left.items() if value is not None}

    def _finished(self) -> Iterator[Event]:
        self._over = True
        stop = self._stop or StopReason(kind="other")
        yield Finished((stop,), {NAME: self._extras} if self._extras else NO_EXTRAS)

    def _failure(self, word: str, value: Json) -> Iterator[Event]:
        self._over = True
        yield from self._parts.end_all(incomplete=True)
        yield Failed(decode_error(self._fields(value), WireResponse(body={}), word))


def _whole(kind: str, start: Json, deltas: list[Any]) -> Json:
    """A block that came in pieces, as an answer that came whole has it."""
    if kind == "toolUse":
        pieces = [each["input"] for each in deltas if type(each) is dict and "input" in each]
        text = "".join(each for each in pieces if type(each) is str)
        return {kind: {**start, "input": _value(text)}}
    if kind == "toolResult":
        content = [block for each in deltas if type(each) is list for block in each]
        return {kind: {**start, "content": content}}
    return {
        kind: {**start, **{k: v for each in deltas if type(each) is dict for k, v in each.items()}}
    }


def _value(text: str) -> Any:
    try:
        return jsontext.peek(text) if text else {}
    except ValueError:
        return {"$invalid": text}


_READERS: Final[dict[str, Callable[[StreamDecoder, Fields], Iterator[Event]]]] = {
    "messageStart": StreamDecoder._message_start,
    "contentBlockStart": StreamDecoder._block_start,
    "contentBlockDelta": StreamDecoder._block_delta,
    "contentBlockStop": StreamDecoder._block_stop,
    "messageStop": StreamDecoder._message_stop,
    "metadata": StreamDecoder._metadata,
}
_DELTAS: Final[dict[str, Callable[[StreamDecoder, int, Any, Fields], Iterator[Event]]]] = {
    "text": StreamDecoder._text,
    "reasoningContent": StreamDecoder._reasoning,
    "toolUse": StreamDecoder._input,
    "citation": StreamDecoder._citation,
}
