"""Streams of Ollama, both ways.

Reference: https://docs.ollama.com/api/streaming (read 2026-11-15). One JSON object per line, each
like a response with a piece of its message; calls come whole. The last has `done: true` and the
counts. An error is a line of its own.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.events import (
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
)
from toolglot.ir import (
    ApiError,
    Image,
    Json,
    Part,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    Usage,
)
from toolglot.protocols.ollama.parts import (
    decode_call,
    decode_details,
    decode_images,
    encode_call,
    encode_detail,
    encode_image,
    reasoning_text,
)
from toolglot.protocols.ollama.response import (
    decode_response,
    decode_stop,
    decode_usage,
    encode_created,
    encode_response,
    encode_stop,
    encode_usage,
)
from toolglot.protocols.ollama.surface import NAME, SURFACE
from toolglot.wire import jsontext
from toolglot.wire.fields import Fields, Home, merge
from toolglot.wire.message import WireResponse
from toolglot.wire.ndjson import NdjsonDecoder
from toolglot.wire.parts import cannot_carry
from toolglot.wire.stream_base import OpenParts, cut_off, parse

# --- in -------------------------------------------------------------------------------------------


class StreamDecoder:
    """Bytes to events."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._home = Home(ctx, NAME, SURFACE.minor)
        self._lines = NdjsonDecoder()
        self._parts = OpenParts()
        self._details = 0
        self._count = 0
        self._calls = self._probable = self._begun = self._over = False

    def feed(self, data: bytes) -> Iterator[Event]:
        """The events that these bytes complete."""
        for line in self._lines.feed(data):
            yield from self.read("", line)

    def close(self) -> Iterator[Event]:
        """What the end of the bytes means: nothing after a complete response, else an error."""
        for line in self._lines.close():
            yield from self.read("", line)
        if not self._over:
            self._over = True
            yield from cut_off(self._parts)

    def read(self, _name: str, line: bytes, value: Json | None = None) -> Iterator[Event]:
        """What one line of the stream means; `value` is its JSON if that was read already."""
        self._count += 1
        value = None if self._over else parse(line, self._ctx, self._count, value)
        if value is None:
            return
        if value.get("error") is not None:
            yield from self._error(value)
            return
        if not self._begun:
            yield self._begin(value)
        message = value.get("message")
        if isinstance(message, dict):
            yield from self._message(message)
        if value.get("logprobs") and not self._probable:
            self._probable = True
            self._ctx.note("logprobs-dropped", "logprobs")
        if value.get("done") is True:
            yield from self._done(value)

    def _begin(self, value: Json) -> Started:
        self._begun = True
        model, created = value.get("model"), value.get("created_at")
        return Started(
            id=self._ctx.new_id("msg_"),
            model=model if isinstance(model, str) else "",
            created=created if isinstance(created, str) else None,
        )

    def _message(self, message: Json) -> Iterator[Event]:
        thinking, content = message.get("thinking"), message.get("content")
        if isinstance(thinking, str) and thinking:
            yield from self._piece(Reasoning, thinking)
        if message.get("reasoning_details"):
            yield from self._whole(message, self._states)
        if isinstance(content, str) and content:
            yield from self._piece(Text, content)
        if message.get("images"):
            yield from self._whole(message, decode_images)
        if message.get("tool_calls"):
            yield from self._whole(message, self._tool_calls)

    def _piece(self, kind: type[Text] | type[Reasoning], text: str) -> Iterator[Event]:
        if kind not in self._parts:
            yield from self._parts.end_all()
            yield self._parts.start(kind, kind(text=""))
        yield self._parts.delta(kind, text)

    def _whole(self, message: Json, read: Callable[[Fields], Any]) -> Iterator[Event]:
        """Parts that come in one piece; a broken one is passed over, so that the rest can live."""
        yield from self._parts.end_all()
        try:
            for part in read(Fields(message, self._home, None, "message")):
                yield from self._part(part)
        except DecodeError as error:
            self._ctx.note("event-skipped", f"event {self._count}", str(error))

    def _part(self, part: Part) -> Iterator[Event]:
        if isinstance(part, ToolCall):
            self._calls = True
            yield self._parts.start(ToolCall, replace(part, arguments=""))
            yield self._parts.delta(ToolCall, part.arguments)
        else:
            yield self._parts.start(type(part), part)
        yield from self._parts.end_all()

    def _states(self, fields: Fields) -> list[Reasoning]:
        found = decode_details(fields, self._details)
        self._details += len(found)
        return found

    def _tool_calls(self, fields: Fields) -> Iterator[ToolCall]:
        for each in fields.each("tool_calls"):
            yield decode_call(each, lambda: self._ctx.new_id("call_"))

    def _done(self, value: Json) -> Iterator[Event]:
        self._over = True
        yield from self._parts.end_all()
        members = {key: each for key, each in value.items() if key not in _SEEN}
        try:
            fields = Fields(members, self._home)
            stop, usage = decode_stop(fields, calls=self._calls), decode_usage(fields)
        except DecodeError as error:
            self._ctx.note("event-skipped", f"event {self._count}", str(error))
            fields = Fields({"done": True}, self._home)
            stop, usage = decode_stop(fields, calls=self._calls), None
        if usage is not None:
            yield UsageSeen(usage)
        assert stop is not None  # noqa: S101 - there is one when it is done
        yield Finished((stop,), fields.rest())

    def _error(self, value: Json) -> Iterator[Event]:
        self._over = True
        yield from self._parts.end_all(incomplete=True)
        error = decode_response(WireResponse(body=value), self._ctx)
        assert isinstance(error, ApiError)  # noqa: S101 - a body with an error decodes to nothing else
        yield Failed(error)


_SEEN: Final = frozenset({"model", "created_at", "message", "logprobs"})
"""Members of a line that the events before the last have told."""

# --- out ------------------------------------------------------------------------------------------

_TEXT: Final = b',"message":{"role":"assistant","content":'
_THINKING: Final = b',"message":{"role":"assistant","content":"","thinking":'
_MORE: Final = b'},"done":false}\n'


class StreamEncoder:
    """Events to bytes. Calls and signatures are held until they are whole."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._head = self._head_of("", None)
        self._open: dict[int, Part] = {}
        self._held: dict[int, list[str]] = {}
        self._pieces: dict[int, int] = {}
        self._last: dict[bytes, int] = {}
        self._details = 0
        self._usage: Usage | None = None

    def encode(self, event: Event) -> bytes:
        """The bytes of one event; some have none."""
        return _WRITERS[type(event)](self, event)

    def close(self) -> bytes:
        """Nothing: the last event has ended the stream."""
        return b""

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
            self._ctx.note("citation-dropped", "message")
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
            self._ctx.note("text-joined", "message")
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
            self._ctx.note("part-dropped", part.id, "the call is incomplete")
        elif isinstance(part, Reasoning) and held and not event.incomplete:
            self._details += 1
            return self._line(reasoning_details=[encode_detail(held, self._details - 1)])
        return b""

    def _usage_seen(self, event: UsageSeen) -> bytes:
        self._usage = merge_usage(self._usage, event.usage)
        return b""

    def _finished(self, event: Finished) -> bytes:
        members: Json = {"message": {"role": "assistant", "content": ""}, "done": True}
        members |= encode_stop(event.stops[0] if event.stops else None, self._ctx)
        members |= encode_usage(self._usage, self._ctx)
        return self._head + b"," + jsontext.encode(merge(members, event.extras, NAME))[1:] + b"\n"

    def _failed(self, event: Failed) -> bytes:
        return jsontext.encode(encode_response(event.error, self._ctx).body) + b"\n"

    def _opaque(self, event: OpaqueEvent) -> bytes:
        return jsontext.encode(event.value) + b"\n" if event.protocol == NAME else b""

    def _line(self, **members: Any) -> bytes:
        message = {"role": "assistant", "content": "", **members}
        return b"".join((self._head, b',"message":', jsontext.encode(message), b',"done":false}\n'))


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
