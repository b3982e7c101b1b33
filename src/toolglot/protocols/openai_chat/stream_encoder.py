"""Streams of OpenAI Chat Completions: events to bytes."""

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
from toolglot.ir import Citation, Json, Part, Reasoning, Refusal, Text, ToolCall
from toolglot.protocols.openai_chat._legacy import (
    drop_call,
    legacy_call,
    legacy_stop,
    was_legacy,
)
from toolglot.protocols.openai_chat._message import (
    REASONING,
    encode_call,
    encode_citation,
    encode_details,
    signed,
)
from toolglot.protocols.openai_chat.response import encode_response, encode_stop, encode_usage
from toolglot.protocols.openai_chat.surface import NAME, SERVICE_TIERS, variants_of
from toolglot.wire import jsontext
from toolglot.wire.parts import cannot_carry
from toolglot.wire.sse import frame
from toolglot.wire.stream_base import BaseStreamEncoder
from toolglot.wire.timestamps import epoch_seconds

_DONE: Final = b"data: [DONE]\n\n"
_END: Final = b',"logprobs":null,"finish_reason":null}]}\n\n'
_OBJECT: Final = "chat.completion.chunk"


class _Choice:
    """What was written of one choice."""

    __slots__ = ("annotations", "calls", "details", "head", "length", "reasoned")

    def __init__(self, head: bytes) -> None:
        self.head = head
        self.annotations = 0
        self.calls = 0
        self.details = 0
        self.length = 0
        self.reasoned = False

    def write(self, delta: Json) -> bytes:
        """The chunk of a delta."""
        return b"".join((self.head, jsontext.encode(delta), _END))


class _Open:
    """A part being written: the bytes around its text, and what its end needs.

    `at` is where a text starts in the content, which piece of a summary is being written, or the
    number of a call.
    """

    __slots__ = ("at", "choice", "field", "head", "part", "signature", "tail", "wrote")

    def __init__(self, choice: _Choice, part: Part, head: bytes, tail: bytes) -> None:
        self.choice = choice
        self.part = part
        self.head = head
        self.tail = tail
        self.field = ""
        self.at = 0
        self.signature: list[str] = []
        self.wrote = False

    def write(self, text: str) -> bytes:
        """The chunk of some more text."""
        self.wrote = True
        return b"".join((self.head, jsontext.encode(text), self.tail))


class StreamEncoder(BaseStreamEncoder):
    """Events to bytes. Parts may overlap."""

    last_words = _DONE

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self._own = not ctx.foreign(NAME)
        self._legacy = was_legacy(ctx.request)
        self._base: Json = {}
        self._start = b""
        self._choices: dict[int, _Choice] = {}
        self._open: dict[int, _Open] = {}

    def _started(self, event: Started) -> bytes:
        self._usage = event.usage
        created = epoch_seconds(event.created, self._ctx.now())
        self._base = {"id": event.id, "object": _OBJECT, "created": created, "model": event.model}
        if event.service_tier in SERVICE_TIERS:
            self._base["service_tier"] = event.service_tier
        self._start = b"data: " + jsontext.encode(self._base)[:-1] + b',"choices":[{"index":'
        return self._begin(0)

    def _begin(self, index: int) -> bytes:
        """The first chunk of a choice, which tells the role; nothing if it was told."""
        if index in self._choices:
            return b""
        head = self._start + str(index).encode() + b',"delta":'
        self._choices[index] = _Choice(head)
        return head + b'{"role":"assistant","content":null}' + _END

    def _part_started(self, event: PartStarted) -> bytes:
        begun = self._begin(event.choice)
        choice, part = self._choices[event.choice], event.part
        writer = _STARTERS.get(type(part))
        if writer is None:
            cannot_carry(part, self._ctx)
            return begun
        return begun + writer(self, event.index, part, choice)

    def _text(self, index: int, part: Text | Refusal, choice: _Choice) -> bytes:
        member = b'{"content":' if isinstance(part, Text) else b'{"refusal":'
        self._open[index] = opened = _Open(choice, part, choice.head + member, b"}" + _END)
        opened.at = choice.length
        return self._part_delta(PartDelta(index, part.text)) if part.text else b""

    def _reasoning(self, index: int, part: Reasoning, choice: _Choice) -> bytes:
        field = variants_of(part.extras).get("field", REASONING[0])
        head = choice.head + b"{" + jsontext.encode(field) + b":"
        self._open[index] = opened = _Open(choice, part, head, b"}" + _END)
        opened.field = "none" if field == "" else ""
        chunks = [self._words(opened, "summary", at, text) for at, text in enumerate(part.summary)]
        return b"".join((*chunks, self._words(opened, "text", 0, part.text)))

    def _call(self, index: int, part: ToolCall, choice: _Choice) -> bytes:
        call = encode_call(part, own=True)
        number = choice.calls
        choice.calls += 1
        if self._legacy:
            return self._legacy_call(index, part, choice, call)
        inner = b',"custom":{"input":' if part.kind == "custom" else b',"function":{"arguments":'
        head = choice.head + b'{"tool_calls":[{"index":' + str(number).encode() + inner
        self._open[index] = opened = _Open(choice, part, head, b"}}]}" + _END)
        opened.at, opened.wrote = number, bool(part.arguments)
        return choice.write({"tool_calls": [{"index": number, **call}]})

    def _legacy_call(self, index: int, part: ToolCall, choice: _Choice, call: Json) -> bytes:
        if choice.calls > 1:
            drop_call(part.name, self._ctx)
            return b""
        head = choice.head + b'{"function_call":{"arguments":'
        self._open[index] = opened = _Open(choice, part, head, b"}}" + _END)
        opened.wrote = bool(part.arguments)
        return choice.write({"function_call": legacy_call(call, self._ctx)})

    def text_writer(self, index: int) -> Callable[[str], bytes]:
        opened = self._open.get(index)
        if opened is None or (type(opened.part) is Reasoning and opened.field != "text"):
            return super().text_writer(index)
        write, choice = jsontext.writer(opened.head, opened.tail), opened.choice
        if type(opened.part) is not Text:
            return write

        def write_text(text: str) -> bytes:
            choice.length += len(text)
            return write(text)

        return write_text

    def _part_delta(self, event: PartDelta) -> bytes:
        opened = self._open.get(event.index)
        if opened is None:
            return b""
        kind, field = type(opened.part), event.field
        if field == "text" and kind is not Reasoning:
            if kind is Text:
                opened.choice.length += len(event.text)
            opened.wrote = True
            return b"".join((opened.head, jsontext.encode(event.text), opened.tail))
        if kind is Reasoning:
            if field == "signature":
                opened.signature.append(event.text)
                return b""
            return self._words(opened, field, event.piece, event.text)
        if kind is ToolCall and field == "signature":
            extra = {"extra_content": signed(event.text)}
            if self._legacy:
                return opened.choice.write({"function_call": extra})
            return opened.choice.write({"tool_calls": [{"index": opened.at, **extra}]})
        return self._citation(opened, event.citation) if event.citation is not None else b""

    def _words(self, opened: _Open, field: str, piece: int, text: str) -> bytes:
        """More of the words of reasoning: its text or its summary, whichever comes first."""
        if not text or opened.field not in ("", field):
            return b""
        opened.field = field
        new = piece != opened.at if opened.wrote else opened.choice.reasoned
        opened.at, opened.choice.reasoned = piece, True
        return opened.write("\n\n" + text if new else text)

    def _citation(self, opened: _Open, citation: Citation) -> bytes:
        choice = opened.choice
        length = choice.length - opened.at
        wire = encode_citation(citation, opened.at, length, self._ctx)
        if wire is None:
            return b""
        choice.annotations += 1
        # OpenAI's own client joins lists by `index`, and fails without one.
        return choice.write({"annotations": [{"index": choice.annotations - 1, **wire}]})

    def _part_ended(self, event: PartEnded) -> bytes:
        opened = self._open.pop(event.index, None)
        if opened is None:
            return b""
        part, choice = opened.part, opened.choice
        if isinstance(part, Reasoning):
            if opened.signature:
                part = replace(part, signature=(part.signature or "") + "".join(opened.signature))
            entries = encode_details(part, choice.details)
            choice.details += len(entries)
            return choice.write({"reasoning_details": entries}) if entries else b""
        empty = isinstance(part, ToolCall) and part.kind == "function" and not opened.wrote
        return opened.write("{}") if empty and not event.incomplete and not self._own else b""

    def _finished(self, event: Finished) -> bytes:
        chunks = []
        for index, stop in enumerate(event.stops):
            chunks.append(self._begin(index))
            choice = self._choices[index]
            word = encode_stop(stop, self._ctx, called=choice.calls > 0, own=self._own)
            if self._legacy and choice.calls:
                word = legacy_stop(word)
            end = b'{},"logprobs":null,"finish_reason":' + jsontext.encode(word) + b"}]}\n\n"
            chunks.append(choice.head + end)
        request = self._ctx.request
        if self._usage is not None and (request is None or request.include_usage):
            usage = encode_usage(self._usage, own=False)
            chunks.append(frame(jsontext.encode({**self._base, "choices": [], "usage": usage})))
        return b"".join((*chunks, _DONE))

    def _failed(self, event: Failed) -> bytes:
        body = encode_response(event.error, self._ctx).body
        return frame(jsontext.encode(body)) + _DONE

    def _opaque(self, event: OpaqueEvent) -> bytes:
        return frame(jsontext.encode(event.value)) if event.protocol == NAME else b""


_STARTERS: Final[dict[type[Any], Callable[[StreamEncoder, int, Any, _Choice], bytes]]] = {
    Text: StreamEncoder._text,
    Refusal: StreamEncoder._text,
    Reasoning: StreamEncoder._reasoning,
    ToolCall: StreamEncoder._call,
}
