"""Streams of Gemini: events to bytes."""

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
from toolglot.ir import (
    Json,
    Part,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
)
from toolglot.protocols.gemini._framing import frame, json_line
from toolglot.protocols.gemini._grounding import is_own
from toolglot.protocols.gemini._variants import armour
from toolglot.protocols.gemini.parts import encode_part
from toolglot.protocols.gemini.response import (
    encode_head,
    encode_response,
    encode_stop,
    encode_usage,
)
from toolglot.protocols.gemini.surface import NAME
from toolglot.wire.fields import merge
from toolglot.wire.stream_base import BaseStreamEncoder

_START: Final = b'data: {"candidates":[{"content":{"parts":[{"text":'
_AFTER: Final[dict[type[Any], bytes]] = {
    Text: b'}],"role":"model"},"index":',
    Refusal: b'}],"role":"model"},"index":',
    Reasoning: b',"thought":true}],"role":"model"},"index":',
}
"""What follows the text of a delta, by the kind of its part."""


class StreamEncoder(BaseStreamEncoder):
    """Events to bytes. Calls and signatures are held until their part ends."""

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self._parts: dict[int, tuple[Part, int, bytes | None]] = {}
        self._held: dict[int, list[str]] = {}
        self._signatures: dict[int, list[str]] = {}
        self._pieces: dict[int, int] = {}
        self._head: Json = {}
        self._tail = b"}]}\r\n\r\n"

    def _started(self, event: Started) -> bytes:
        self._usage = event.usage
        self._head = merge(encode_head(event), event.extras, NAME)
        if self._head:
            self._tail = b"}]," + json_line(self._head)[1:] + b"\r\n\r\n"
        return b""

    def _part_started(self, event: PartStarted) -> bytes:
        part = event.part
        after = _AFTER.get(type(part))
        if after is not None:
            middle = after + str(event.choice).encode() + self._tail
            self._parts[event.index] = (part, event.choice, middle)
            text: str = getattr(part, "text", "")
            return b"".join((_START, json_line(text), middle)) if text else b""
        self._parts[event.index] = (part, event.choice, None)
        return b"" if isinstance(part, ToolCall) else self._whole(part, event.choice)

    def _part_delta(self, event: PartDelta) -> bytes:
        middle = self._parts[event.index][2]
        field = event.field
        if field == "signature":
            self._signatures.setdefault(event.index, []).append(event.text)
            return b""
        if middle is None and field == "text":
            self._held.setdefault(event.index, []).append(event.text)
            return b""
        if middle is None or field == "citation":
            if event.citation is not None and not is_own(event.citation):
                self._ctx.note("citation-dropped", self._ctx.answer_at(), "a citation of a text")
            return b""
        text = event.text
        if field == "summary" and event.piece != self._pieces.setdefault(event.index, event.piece):
            self._pieces[event.index] = event.piece
            text = "\n\n" + text
        return b"".join((_START, json_line(text), middle))

    def text_writer(self, index: int) -> Callable[[str], bytes]:
        middle = self._parts[index][2]
        if middle is None:
            return super().text_writer(index)
        return lambda text: b"".join((_START, json_line(text), middle))

    def _part_ended(self, event: PartEnded) -> bytes:
        part, choice, _ = self._parts.pop(event.index)
        held = "".join(self._held.pop(event.index, ()))
        signed = "".join(self._signatures.pop(event.index, ()))
        if isinstance(part, ToolCall):
            if event.incomplete:
                words = f"the call of {part.name} was cut off"
                self._ctx.note("part-dropped", self._ctx.where(part), words)
                return b""
            whole = replace(
                part,
                arguments=part.arguments + held,
                signature=(part.signature or "") + signed or None,
            )
            return self._whole(whole, choice)
        if isinstance(part, (Text, Reasoning)):
            signature = (part.signature or "") + signed
            if signature:
                return self._whole(replace(part, text="", signature=signature), choice)
        return b""

    def _whole(self, part: Part, choice: int) -> bytes:
        wire = armour(encode_part(part, self._ctx), part)
        if wire is None:
            return b""
        candidate = {"content": {"parts": [wire], "role": "model"}, "index": choice}
        return self._candidates([candidate], {})

    def _candidates(self, candidates: list[Json], members: Json) -> bytes:
        return frame({"candidates": candidates, **members, **self._head})

    def _finished(self, event: Finished) -> bytes:
        last = [
            {
                "content": {"parts": [{"text": ""}], "role": "model"},
                "finishReason": encode_stop(stop, self._ctx),
                "index": index,
            }
            for index, stop in enumerate(event.stops)
        ]
        members: Json = (
            {} if self._usage is None else {"usageMetadata": encode_usage(self._usage, self._ctx)}
        )
        return self._candidates(last, merge(members, event.extras, NAME))

    def _failed(self, event: Failed) -> bytes:
        return frame(encode_response(event.error, self._ctx).body)

    def _opaque(self, event: OpaqueEvent) -> bytes:
        return self._candidates([event.value], {}) if event.protocol == NAME else b""
