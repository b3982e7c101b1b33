"""Streams of Converse: events to bytes."""

from collections.abc import Callable
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
from toolglot.ir import Citation, Image, Json, Opaque, Part, Reasoning, Refusal, Text, ToolCall
from toolglot.protocols.bedrock_converse.parts import (
    encode_citation,
    encode_part,
    mark_state,
)
from toolglot.protocols.bedrock_converse.response import (
    encode_metrics,
    encode_response,
    encode_stop,
    encode_tier,
    encode_usage,
)
from toolglot.protocols.bedrock_converse.surface import NAME, STREAM_ERROR_FROM
from toolglot.wire import jsontext
from toolglot.wire.event_stream import EXCEPTION, encode_event, encode_message, event_headers
from toolglot.wire.fields import merge
from toolglot.wire.parts import cannot_carry
from toolglot.wire.stream_base import BaseStreamEncoder

_DELTA_HEADERS: Final = event_headers("contentBlockDelta")
_DELTA: Final[dict[type[Any], tuple[bytes, bytes]]] = {
    Text: (b',"delta":{"text":', b"}}"),
    Refusal: (b',"delta":{"text":', b"}}"),
    Reasoning: (b',"delta":{"reasoningContent":{"text":', b"}}}"),
    ToolCall: (b',"delta":{"toolUse":{"input":', b"}}}"),
}
"""What stands around the text of a delta, by the kind of its part."""

_IN_STOP: Final = frozenset({"additionalModelResponseFields"})


class StreamEncoder(BaseStreamEncoder):
    """Events to bytes. Expects one open part at a time; a block begins with its first delta."""

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self._parts: dict[int, Part] = {}
        self._numbers: dict[int, int] = {}
        self._signatures: dict[int, list[str]] = {}
        self._pieces: dict[int, int] = {}
        self._next = 0
        self._late = b""
        """The end of a block that may have been cut: it is not written if a failure follows."""
        self._tier: str | None = None
        self._extras: Json = {}

    def _started(self, event: Started) -> bytes:
        self._usage, self._tier = event.usage, event.service_tier
        self._extras = dict(event.extras.get(NAME, {}))
        return _event("messageStart", role="assistant")

    def _number(self, index: int) -> int:
        """The number of a block, given when something of it is written."""
        number = self._numbers.get(index)
        if number is None:
            number = self._numbers[index] = self._next
            self._next += 1
        return number

    def _part_started(self, event: PartStarted) -> bytes:
        late, self._late = self._late, b""
        return late if event.choice else late + self._begun(event.index, event.part)

    def _begun(self, index: int, part: Part) -> bytes:
        self._parts[index] = part
        if isinstance(part, ToolCall):
            return self._call(index, part)
        if isinstance(part, Reasoning):
            return self._thought(index, part)
        if isinstance(part, (Text, Refusal)):
            written = self._delta(index, part.text) if part.text else b""
            for citation in getattr(part, "citations", ()):
                written += self._write_citation(index, citation)
            return written
        return self._block(index, part)

    def _write_citation(self, index: int, citation: Citation) -> bytes:
        path = self._ctx.part_at(index)
        return self._citation(index, encode_citation(citation, path, self._ctx))

    def _call(self, index: int, part: ToolCall) -> bytes:
        wire = encode_part(replace(part, arguments="{}"), self._ctx) or {}
        start = {key: value for key, value in wire["toolUse"].items() if key != "input"}
        written = self._start(index, {"toolUse": start})
        return written + self._delta(index, part.arguments) if part.arguments else written

    def _thought(self, index: int, part: Reasoning) -> bytes:
        if part.signature:
            self._signatures[index] = [part.signature]
        words = part.text or "\n\n".join(part.summary)
        return self._delta(index, words) if words else b""

    def _block(self, index: int, part: Part) -> bytes:
        """What comes whole: a picture, or what the provider ran itself."""
        wire = encode_part(part, self._ctx) if isinstance(part, (Image, Opaque)) else None
        kind = next(iter(wire), "") if wire else ""
        block: Any = wire.get(kind) if wire else None
        if kind == "toolUse" and type(block) is dict:
            start = {key: value for key, value in block.items() if key != "input"}
            text = jsontext.text(block.get("input", {}))
            return self._start(index, {kind: start}) + self._more(index, {kind: {"input": text}})
        if kind == "toolResult" and type(block) is dict:
            start = {key: value for key, value in block.items() if key != "content"}
            content = block.get("content", [])
            return self._start(index, {kind: start}) + self._more(index, {kind: content})
        if kind == "image" and type(block) is dict:
            start = {"format": block.get("format")}
            more = {key: value for key, value in block.items() if key != "format"}
            return self._start(index, {kind: start}) + self._more(index, {kind: more})
        if kind == "citationsContent" and type(block) is dict:
            return self._cited(index, block)
        if wire is not None or not isinstance(part, (Image, Opaque)):
            cannot_carry(part, self._ctx)
        return b""

    def _cited(self, index: int, block: Json) -> bytes:
        """A text in several pieces, each with a delta of its own."""
        pieces = [each.get("text") for each in block.get("content", ()) if type(each) is dict]
        written = b"".join(self._more(index, {"text": each}) for each in pieces)
        for citation in block.get("citations", ()):
            written += self._citation(index, citation)
        return written

    def _start(self, index: int, start: Json) -> bytes:
        return _event("contentBlockStart", start=start, contentBlockIndex=self._number(index))

    def _more(self, index: int, delta: Json) -> bytes:
        return _event("contentBlockDelta", contentBlockIndex=self._number(index), delta=delta)

    def _citation(self, index: int, wire: Json) -> bytes:
        return self._more(index, {"citation": wire})

    def _part_delta(self, event: PartDelta) -> bytes:
        index = event.index
        part = self._parts.get(index)
        if part is None:
            return b""
        if event.field == "signature":
            # It goes out whole, when the block ends: clients keep the last one.
            self._signatures.setdefault(index, []).append(event.text)
            return b""
        if event.field == "citation":
            cited = event.citation
            return self._write_citation(index, cited) if cited else b""
        if event.field == "summary":
            gap = event.piece != self._pieces.setdefault(index, event.piece)
            self._pieces[index] = event.piece
            return self._delta(index, "\n\n" + event.text if gap else event.text)
        return self._delta(index, event.text)

    def _delta(self, index: int, text: str) -> bytes:
        around = _DELTA.get(type(self._parts[index]))
        if around is None:
            return b""
        number = str(self._number(index)).encode()
        payload = (b'{"contentBlockIndex":', number, around[0], jsontext.encode(text), around[1])
        return encode_message(_DELTA_HEADERS, b"".join(payload))

    def text_writer(self, index: int) -> Callable[[str], bytes]:
        around = _DELTA.get(type(self._parts.get(index)))
        if around is None:
            return super().text_writer(index)
        head = b'{"contentBlockIndex":%d' % self._number(index) + around[0]
        write = jsontext.writer(head, around[1])
        return lambda text: encode_message(_DELTA_HEADERS, write(text))

    def _part_ended(self, event: PartEnded) -> bytes:
        index = event.index
        part, written = self._parts.pop(index, None), b""
        signature = "".join(self._signatures.pop(index, ()))
        if isinstance(part, Reasoning) and signature and not event.incomplete:
            hidden = part.redacted and index not in self._numbers
            state = (
                {"redactedContent": mark_state(signature)} if hidden else {"signature": signature}
            )
            written = self._more(index, {"reasoningContent": state})
        number = self._numbers.pop(index, None)
        if number is None:
            return b""
        stop = _event("contentBlockStop", contentBlockIndex=number)
        if event.incomplete:
            self._late, stop = stop, b""
        return written + stop

    def _finished(self, event: Finished) -> bytes:
        extras = {**self._extras, **event.extras.get(NAME, {})}
        stop = encode_stop(event.stops[0] if event.stops else None, self._ctx)
        stop.setdefault("stopReason", "end_turn")
        merge(stop, {NAME: {key: extras[key] for key in extras if key in _IN_STOP}}, NAME)
        written = self._late + _event("messageStop", **stop)
        more = {key: value for key, value in extras.items() if key not in _IN_STOP}
        if self._usage is None and not more and not self._ctx.foreign(NAME):
            return written
        metadata: Json = {
            "usage": encode_usage(self._usage, self._ctx),
            **encode_metrics({NAME: more}, self._ctx),
        }
        if self._tier is not None:
            encode_tier(metadata, self._tier)
        return written + _event("metadata", **merge(metadata, {NAME: more}, NAME))

    def _failed(self, event: Failed) -> bytes:
        error = event.error
        body = encode_response(error, self._ctx).body
        known = error.raw if not self._ctx.foreign(NAME) and error.raw else None
        name = known or STREAM_ERROR_FROM[error.kind]
        return encode_event(EXCEPTION + name, jsontext.encode(body))

    def _opaque(self, event: OpaqueEvent) -> bytes:
        if event.protocol != NAME:
            return b""
        return encode_event(event.type, jsontext.encode(event.value))


def _event(name: str, **members: Any) -> bytes:
    return encode_event(name, jsontext.encode(members))
