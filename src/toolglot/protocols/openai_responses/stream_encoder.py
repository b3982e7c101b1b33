"""Streams of OpenAI Responses: events to bytes."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final, cast

from msgspec import Struct

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
from toolglot.ir import Citation, Json, Opaque, Part, Reasoning, Refusal, Text, ToolCall
from toolglot.protocols.openai_responses._items import encode_item, item_of, message_item, with_id
from toolglot.protocols.openai_responses.parts import encode_citation, encode_part, is_content
from toolglot.protocols.openai_responses.response import (
    encode_head,
    encode_stop,
    encode_usage,
    failed_error,
)
from toolglot.protocols.openai_responses.surface import NAME
from toolglot.wire import jsontext
from toolglot.wire.fields import merge
from toolglot.wire.parts import cannot_carry
from toolglot.wire.sse import frame
from toolglot.wire.stream_base import BaseStreamEncoder


class _Kind(Struct, frozen=True):
    """How the text of one kind of part is streamed: its events, its index, its member."""

    stem: str
    member: str
    place: str | None = None
    tail: bytes = b"}\n\n"

    def opening(self) -> bytes:
        """The bytes of a delta before its sequence number."""
        name = f"response.{self.stem}.delta".encode()
        return b"event: " + name + b'\ndata: {"type":"' + name + b'","sequence_number":'


_TEXT: Final = _Kind("output_text", "text", "content_index", b',"logprobs":[]}\n\n')
_REFUSAL: Final = _Kind("refusal", "refusal", "content_index")
_ARGUMENTS: Final = _Kind("function_call_arguments", "arguments")
_INPUT: Final = _Kind("custom_tool_call_input", "input")
_SUMMARY: Final = _Kind("reasoning_summary_text", "text", "summary_index")
_THOUGHT: Final = _Kind("reasoning_text", "text", "content_index")
_OPENING: Final = {
    each.stem: each.opening() for each in (_TEXT, _REFUSAL, _ARGUMENTS, _INPUT, _SUMMARY, _THOUGHT)
}


class _Piece:
    """A text while it streams: the bytes around each delta, and the text so far."""

    __slots__ = ("kind", "opening", "place", "texts", "where")

    def __init__(self, kind: _Kind, item_id: str, output: int, place: int = 0) -> None:
        self.kind = kind
        self.place = place
        self.texts: list[str] = []
        members: Json = {"item_id": item_id, "output_index": output}
        if kind.place is not None:
            members[kind.place] = place
        self.opening = _OPENING[kind.stem]
        self.where = b"," + jsontext.encode(members)[1:-1] + b',"delta":'

    def text(self) -> str:
        return "".join(self.texts)


class _Open:
    """An item while it streams."""

    __slots__ = ("annotations", "item", "key", "output", "part", "piece", "signature", "thought")

    def __init__(self, part: Part, item: Json, output: int) -> None:
        self.part = part
        self.item = item
        self.output = output
        self.piece: _Piece | None = None
        self.key: tuple[str, int] | None = None
        self.thought: _Piece | None = None
        self.annotations: list[Json] = []
        self.signature: list[str] = []

    @property
    def id(self) -> str:
        return str(self.item.get("id", ""))


class StreamEncoder(BaseStreamEncoder):
    """Events to bytes. Parts may overlap; each is an item of its own."""

    def __init__(self, ctx: Context) -> None:
        super().__init__(ctx)
        self._open: dict[int, _Open] = {}
        self._output: list[Json] = []
        self._head: Json = {}
        self._sequence = 0
        self._own = self._refused = False

    def continue_after(self, payload: bytes) -> None:
        try:
            value: Any = jsontext.peek(payload)
        except ValueError:
            return
        number = value.get("sequence_number") if isinstance(value, dict) else None
        if type(number) is int:
            self._sequence = number + 1

    def _frame(self, kind: str, **members: Any) -> bytes:
        number, self._sequence = self._sequence, self._sequence + 1
        value = {"type": kind, "sequence_number": number, **members}
        return frame(jsontext.encode(value), kind.encode())

    # --- the response

    def _started(self, event: Started) -> bytes:
        self._usage = event.usage
        self._own = NAME in event.extras
        head = encode_head(event, self._ctx)
        self._head = merge(head, event.extras, NAME) if self._own else head
        response = {**self._head, "status": "in_progress", "output": [], "usage": None}
        return self._frame("response.created", response=response) + self._frame(
            "response.in_progress", response=response
        )

    def _finished(self, event: Finished) -> bytes:
        own = NAME in event.extras
        outcome = encode_stop(event.stops[0], self._refused, self._ctx, own=own)
        status = str(outcome.setdefault("status", "completed"))
        kind = "response.incomplete" if status == "incomplete" else "response.completed"
        response = {
            **self._head,
            **(event.extras[NAME] if own else {}),
            **outcome,
            "output": self._output,
            "usage": encode_usage(self._usage),
        }
        if not own:
            response["completed_at"] = self._ctx.now() if status == "completed" else None
        return self._frame(kind, response=response)

    def _failed(self, event: Failed) -> bytes:
        begun = b"" if self._head else self._started(Started(id="", model=self._model()))
        cut = [self._close(index, incomplete=True) for index in list(self._open)]
        response = {
            **self._head,
            "status": "failed",
            "error": failed_error(event.error, self._ctx),
            "output": self._output,
            "usage": None if self._usage is None else encode_usage(self._usage),
        }
        return b"".join((begun, *cut, self._frame("response.failed", response=response)))

    def _model(self) -> str:
        request = self._ctx.request
        return request.model if request is not None else ""

    def _opaque(self, event: OpaqueEvent) -> bytes:
        value = event.value
        if event.protocol != NAME or "item_id" in value or "output_index" in value:
            # What happens inside a provider's own tool is told with its item, once it is done.
            return b""
        rest = {key: each for key, each in value.items() if key not in ("type", "sequence_number")}
        return self._frame(event.type, **rest)

    # --- parts

    def _part_started(self, event: PartStarted) -> bytes:
        part = event.part
        opener = _OPENERS.get(type(part))
        if opener is None:
            cannot_carry(part, self._ctx)
            return b""
        return opener(self, event.index, part)

    def _add(self, index: int, part: Part, item: Json) -> bytes:
        """Announce an item; its place in the output is the one in which it was announced."""
        self._open[index] = _Open(part, item, len(self._output))
        self._output.append(item)
        return self._frame(
            "response.output_item.added", output_index=self._open[index].output, item=item
        )

    def _open_message(self, index: int, part: Text | Refusal) -> bytes:
        _, rest = item_of(part)
        item = message_item("", [], "in_progress") | (rest or {})
        item["id"] = item["id"] or self._ctx.new_id("msg_")
        added = self._add(index, part, item)
        kind = _TEXT if isinstance(part, Text) else _REFUSAL
        self._refused = self._refused or kind is _REFUSAL
        opened = self._open[index]
        opened.piece = _Piece(kind, opened.id, opened.output)
        announced = self._content_part(opened, "added", "")
        return added + announced + self._text(opened.piece, part.text)

    def _content_part(self, opened: _Open, word: str, text: str) -> bytes:
        return self._frame(
            f"response.content_part.{word}",
            item_id=opened.id,
            output_index=opened.output,
            content_index=0,
            part=_content(opened, text),
        )

    def _open_call(self, index: int, part: ToolCall) -> bytes:
        kind = _INPUT if part.kind == "custom" else _ARGUMENTS
        wire = encode_item(part, self._ctx) or {}
        wire = {
            **with_id(wire, part, "in_progress", self._ctx),
            kind.member: "",
            "status": "in_progress",
        }
        if not wire.get("id"):
            # Events speak of an item by its id.
            wire["id"] = self._ctx.new_id("fc_")
        added = self._add(index, part, wire)
        opened = self._open[index]
        opened.piece = _Piece(kind, opened.id, opened.output)
        return added + self._text(opened.piece, part.arguments)

    def _open_reasoning(self, index: int, part: Reasoning) -> bytes:
        item: Json = {"id": part.id or self._ctx.new_id("rs_"), "type": "reasoning", "summary": []}
        added = self._add(index, part, item)
        opened = self._open[index]
        pieces = [self._thinking(opened, text, "summary", n) for n, text in enumerate(part.summary)]
        if part.signature is not None:
            opened.signature.append(part.signature)
        return b"".join((added, *pieces, self._thinking(opened, part.text, "text", 0)))

    def _open_opaque(self, index: int, part: Opaque) -> bytes:
        if part.protocol != NAME:
            cannot_carry(part, self._ctx)
            return b""
        if is_content(part):
            content = encode_part(part, "", self._ctx)
            item = message_item(self._ctx.new_id("msg_"), [content or {}], "in_progress")
        else:
            item = part.value | ({"status": "in_progress"} if "status" in part.value else {})
        return self._add(index, part, item)

    def _part_delta(self, event: PartDelta) -> bytes:
        opened = self._open.get(event.index)
        if opened is None:
            return b""
        if event.field == "signature":
            opened.signature.append(event.text)
            return b""
        if event.citation is not None:
            return self._annotation(opened, event.citation)
        if opened.piece is not None and opened.key is None:
            return self._text(opened.piece, event.text)
        return self._thinking(opened, event.text, event.field, event.piece)

    def text_writer(self, index: int) -> Callable[[str], bytes]:
        opened = self._open.get(index)
        if opened is None or opened.piece is None or opened.key is not None:
            return super().text_writer(index)
        return partial(self._text, opened.piece)

    def _text(self, piece: _Piece, text: str) -> bytes:
        if not text:
            return b""
        piece.texts.append(text)
        number, self._sequence = self._sequence, self._sequence + 1
        return b"".join(
            (piece.opening, b"%d" % number, piece.where, jsontext.encode(text), piece.kind.tail)
        )

    def _annotation(self, opened: _Open, citation: Citation) -> bytes:
        end = len(opened.piece.text()) if opened.piece is not None else 0
        wire = encode_citation(citation, end, self._ctx)
        if wire is None or not isinstance(opened.part, Text):
            return b""
        opened.annotations.append(wire)
        return self._frame(
            "response.output_text.annotation.added",
            item_id=opened.id,
            output_index=opened.output,
            content_index=0,
            annotation_index=len(opened.annotations) - 1,
            annotation=wire,
        )

    def _thinking(self, opened: _Open, text: str, field: str, piece: int) -> bytes:
        """Reasoning as a summary, which clients show; what came as content stays content."""
        if not text or not isinstance(opened.part, Reasoning):
            return b""
        if field == "text" and NAME in opened.part.extras:
            if opened.thought is None:
                opened.thought = _Piece(_THOUGHT, opened.id, opened.output)
            return self._text(opened.thought, text)
        begun = b""
        if opened.key != (field, piece) or opened.piece is None:
            begun = self._end_summary(opened)
            place = len(opened.item["summary"])
            opened.key = (field, piece)
            opened.piece = _Piece(_SUMMARY, opened.id, opened.output, place)
            begun += self._summary_part(opened, "added", place, "")
        return begun + self._text(opened.piece, text)

    def _summary_part(self, opened: _Open, word: str, place: int, text: str) -> bytes:
        return self._frame(
            f"response.reasoning_summary_part.{word}",
            item_id=opened.id,
            output_index=opened.output,
            summary_index=place,
            part={"type": "summary_text", "text": text},
        )

    def _end_summary(self, opened: _Open) -> bytes:
        piece = opened.piece
        if piece is None:
            return b""
        text, opened.piece = piece.text(), None
        summary = [*opened.item["summary"], {"type": "summary_text", "text": text}]
        opened.item = {**opened.item, "summary": summary}
        return self._done(piece, opened) + self._summary_part(opened, "done", piece.place, text)

    def _done(self, piece: _Piece, opened: _Open) -> bytes:
        members: Json = {"item_id": opened.id, "output_index": opened.output}
        if piece.kind.place is not None:
            members[piece.kind.place] = piece.place
        members[piece.kind.member] = piece.text()
        if piece.kind is _TEXT:
            members["logprobs"] = []
        return self._frame(f"response.{piece.kind.stem}.done", **members)

    # --- the end of a part

    def _part_ended(self, event: PartEnded) -> bytes:
        return self._close(event.index, incomplete=event.incomplete)

    def _close(self, index: int, *, incomplete: bool) -> bytes:
        opened = self._open.pop(index, None)
        if opened is None:
            return b""
        held = _CLOSERS[type(opened.part)](self, opened, incomplete)
        item = opened.item
        if "status" in item:
            item = {**item, "status": "incomplete" if incomplete else _final_status(opened)}
        self._output[opened.output] = item
        return held + self._frame(
            "response.output_item.done", output_index=opened.output, item=item
        )

    def _close_message(self, opened: _Open, _incomplete: bool) -> bytes:  # noqa: FBT001
        piece = cast("_Piece", opened.piece)
        text = piece.text()
        opened.item = {**opened.item, "content": [_content(opened, text)]}
        return self._done(piece, opened) + self._content_part(opened, "done", text)

    def _close_call(self, opened: _Open, incomplete: bool) -> bytes:  # noqa: FBT001
        piece, held = cast("_Piece", opened.piece), b""
        if not piece.texts and not incomplete and piece.kind is _ARGUMENTS:
            held = self._text(piece, "{}")
        opened.item = {**opened.item, piece.kind.member: piece.text()}
        # A call that was cut is never told as done.
        return held if incomplete else held + self._done(piece, opened)

    def _close_reasoning(self, opened: _Open, _incomplete: bool) -> bytes:  # noqa: FBT001
        held, thought = self._end_summary(opened), opened.thought
        if thought is not None:
            content = [{"type": "reasoning_text", "text": thought.text()}]
            opened.item = {**opened.item, "content": content}
            held += self._done(thought, opened)
        if opened.signature:
            opened.item = {**opened.item, "encrypted_content": "".join(opened.signature)}
        return held

    def _close_opaque(self, _opened: _Open, _incomplete: bool) -> bytes:  # noqa: FBT001
        return b""


def _content(opened: _Open, text: str) -> Json:
    if isinstance(opened.part, Refusal):
        return {"type": "refusal", "refusal": text}
    return {
        "type": "output_text",
        "text": text,
        "annotations": list(opened.annotations),
        "logprobs": [],
    }


def _final_status(opened: _Open) -> str:
    part = opened.part
    return str(part.value.get("status", "completed")) if isinstance(part, Opaque) else "completed"


_OPENERS: Final[dict[type[Any], Callable[[StreamEncoder, int, Any], bytes]]] = {
    Text: StreamEncoder._open_message,
    Refusal: StreamEncoder._open_message,
    ToolCall: StreamEncoder._open_call,
    Reasoning: StreamEncoder._open_reasoning,
    Opaque: StreamEncoder._open_opaque,
}
_CLOSERS: Final[dict[type[Any], Callable[[StreamEncoder, _Open, bool], bytes]]] = {
    Text: StreamEncoder._close_message,
    Refusal: StreamEncoder._close_message,
    ToolCall: StreamEncoder._close_call,
    Reasoning: StreamEncoder._close_reasoning,
    Opaque: StreamEncoder._close_opaque,
}
