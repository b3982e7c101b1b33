"""Streams of Ollama: bytes to events.

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
    Started,
    UsageSeen,
)
from toolglot.ir import (
    ApiError,
    Json,
    Part,
    Reasoning,
    Text,
    ToolCall,
)
from toolglot.protocols.ollama.parts import (
    decode_call,
    decode_details,
    decode_images,
)
from toolglot.protocols.ollama.response import (
    decode_response,
    decode_stop,
    decode_usage,
)
from toolglot.protocols.ollama.surface import NAME, SURFACE
from toolglot.wire.fields import Fields, WireDocument
from toolglot.wire.message import WireResponse
from toolglot.wire.ndjson import NdjsonDecoder
from toolglot.wire.stream_base import BaseStreamDecoder, parse

_SEEN: Final = frozenset({"model", "created_at", "message", "logprobs"})
"""Members of a line that the events before the last have told."""


class _Lines:
    """Lines as events without a name."""

    __slots__ = ("_decoder",)

    def __init__(self) -> None:
        self._decoder = NdjsonDecoder()

    def feed(self, data: bytes) -> list[tuple[str, bytes]]:
        return [("", line) for line in self._decoder.feed(data)]

    def close(self) -> list[tuple[str, bytes]]:
        return [("", line) for line in self._decoder.close()]


class StreamDecoder(BaseStreamDecoder):
    """Bytes to events."""

    def __init__(self, ctx: Context) -> None:
        super().__init__(WireDocument(ctx, NAME, SURFACE.minor), _Lines())
        self._details = 0
        self._calls = self._probable = self._answers = False

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
            self._answers = True
            yield from self._message(message)
        if value.get("logprobs") and not self._probable:
            self._probable = True
            self._ctx.note("logprobs-dropped", "logprobs")
        if value.get("done") is True and not self._answers:
            # No line had a message: whatever this is, it is no answer.
            yield from self._cut_off()
        elif value.get("done") is True:
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
            for part in read(Fields(message, self._document, None, "message")):
                yield from self._part(part)
        except DecodeError as error:
            self._skip(str(error))

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
            fields = Fields(members, self._document)
            stop, usage = decode_stop(fields, calls=self._calls), decode_usage(fields)
        except DecodeError as error:
            self._skip(str(error))
            fields = Fields({"done": True}, self._document)
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
