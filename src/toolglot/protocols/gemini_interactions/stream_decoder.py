"""Streams of Gemini Interactions: bytes to events.

Reference: https://ai.google.dev/gemini-api/docs/interactions (streaming) and the types of the
package `google-genai` 3.1.0 (read 2026-11-16).

    interaction.created, { interaction.status_update },
    { step.start, { step.delta }, step.stop },
    interaction.completed | error, [DONE]

Steps may overlap; `index` tells them apart. A `model_output` has no contents of its own in a
stream: every kind of delta is one. What the tools of the provider do comes whole, in the start of
its step or in one delta.
"""

from collections.abc import Callable, Iterable, Iterator
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
    PartStarted,
    Started,
    UsageSeen,
    unfold_part,
)
from toolglot.ir import ApiError, Audio, Document, Image, Json, Opaque, Part, Reasoning, Text
from toolglot.protocols.gemini_interactions._steps import (
    CALL,
    MODEL,
    THOUGHT,
    USER,
    decode_call,
    decode_output_step,
    decode_thought,
)
from toolglot.protocols.gemini_interactions.parts import (
    CONTENTS,
    decode_citations,
    decode_part,
    kept,
    with_step,
    with_variants,
)
from toolglot.protocols.gemini_interactions.response import (
    decode_head,
    decode_response,
    decode_stop,
    decode_usage,
    missing_head,
)
from toolglot.protocols.gemini_interactions.surface import FAILED, NAME, RESPONSE_MINOR, STOP
from toolglot.wire import jsontext
from toolglot.wire.fields import Fields, WireDocument
from toolglot.wire.message import WireResponse
from toolglot.wire.sent_text import SentText
from toolglot.wire.sse import SseDecoder
from toolglot.wire.stream_base import BaseStreamDecoder, parse

_DELTA: Final = "step.delta"
_ANNOTATIONS: Final = ("text_annotation_delta", "text_annotation")
_LONGEST_CITED: Final = 4 * 1024 * 1024
"""Characters of a text in which citations are placed."""
_IDLE: Final = frozenset({"done", "ping", "keepalive"})
_MEMBERS: Final = frozenset({"event_type", "event_id"})


class _Step:
    """A step while it streams."""

    __slots__ = ("began", "given", "held", "kind", "members", "number", "text", "texts")

    def __init__(self, kind: str, number: int) -> None:
        self.kind = kind
        self.number = number
        self.began = False
        """Whether any of its parts did."""
        self.text = False
        """Whether its open part is a text."""
        self.texts = SentText(_LONGEST_CITED)
        """What came of the open text."""
        self.held: Json = {}
        """A step that is told whole, as far as it came."""
        self.given = ""
        """The arguments that a call started with, which count if no others come."""
        self.members: Json = {}
        """What a `model_output` says beside its contents."""


class StreamDecoder(BaseStreamDecoder):
    """Bytes to events."""

    def __init__(self, ctx: Context) -> None:
        super().__init__(WireDocument(ctx, NAME, RESPONSE_MINOR), SseDecoder())
        self._steps: dict[int, _Step] = {}
        """The open steps, by their index."""
        self._count_steps = 0
        self._status: Any = None
        self._final: Json | None = None
        """The interaction as it was completed, until the marker that ends the stream."""
        self._called = self._marked = False
        self._more: Json = {}
        """What status updates say of the whole answer."""

    @property
    def could_end(self) -> int:
        return self._count if self._all_came else 0

    @property
    def _all_came(self) -> bool:
        """Whether all came that matters; some servers end with a status update and the marker."""
        if self._final is not None:
            return True
        return self._marked and self._begun and not self._steps and self._status in STOP

    def _at_end(self) -> Iterator[Event]:
        if not self._all_came:
            return self._cut_off()
        return self._finish({"status": self._status} if self._final is None else self._final)

    def read(self, name: str, payload: bytes, value: Json | None = None) -> Iterable[Event]:
        """What one event of the stream means; `value` is its JSON if that was read already."""
        self._count += 1
        if self._over:
            return ()
        if payload == b"[DONE]":
            self._marked = True
            return self._at_end() if self._final is not None else ()
        if self._final is not None:
            return ()  # What follows the end is no part of the answer.
        value = parse(payload, self._ctx, self._count, value)
        if value is None:
            return ()
        kind = value.get("event_type") or name
        delta = self._plain_delta(value) if kind == _DELTA else None
        return self._other(kind, value) if delta is None else (delta,)

    def _plain_delta(self, value: Json) -> PartDelta | None:
        """By far the most events: more of an open text, or of the arguments of a call."""
        index, delta = value.get("index"), value.get("delta")
        step = self._steps.get(index) if type(index) is int else None
        if step is None or type(delta) is not dict:
            return None
        kind = delta.get("type")
        if step.text and kind == "text":
            text = delta.get("text")
            if type(text) is not str or not text:
                return None
            step.texts.append(text)
        elif step.kind == CALL and kind == "arguments_delta":
            text = delta.get("arguments")
            if type(text) is not str or not text:
                return None
            step.given = ""
        else:
            return None
        return self._parts.delta(step.number, text)

    def _other(self, kind: Any, value: Json) -> Iterator[Event]:
        reader = _READERS.get(kind) if isinstance(kind, str) else None
        try:
            if reader is not None:
                yield from reader(self, value)
            elif isinstance(kind, str) and kind and kind not in _IDLE:
                yield from self._begin({})
                yield OpaqueEvent(NAME, kind, value)
            else:
                yield from self._without_type(value)
        except DecodeError as error:
            self._skip(str(error))

    def _without_type(self, value: Json) -> Iterator[Event]:
        if value.get("error") is not None:
            yield from self._error(value)
        elif value:
            self._skip("it has no event_type")

    def _fields(self, value: Any, key: str = "") -> Fields:
        return Fields(value, self._document, None, key)

    # --- the interaction

    def _created(self, value: Json) -> Iterator[Event]:
        interaction = value.get("interaction")
        yield from self._begin(interaction if isinstance(interaction, dict) else {})

    def _begin(self, interaction: Json) -> Iterator[Event]:
        if self._begun:
            return
        self._begun = True
        fields = self._fields(interaction)
        missing = missing_head(fields)
        try:
            head = decode_head(fields, self._ctx)
        except DecodeError as error:
            self._skip(str(error))
            head = decode_head(self._fields({}), self._ctx)
        usage = self._usage(interaction.get("usage"))
        more = {k: v for k, v in fields.whole().items() if k not in _OUTCOME}
        yield Started(**head, usage=usage, extras=with_variants({NAME: more}, missing))

    def _usage(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return None
        try:
            return decode_usage(self._fields(value, "usage"))
        except DecodeError as error:
            self._skip(str(error))
            return None

    def _update(self, value: Json) -> Iterator[Event]:
        interaction = value.get("interaction")
        told = {**value, **interaction} if isinstance(interaction, dict) else value
        yield from self._begin({"id": told.get("interaction_id") or told.get("id")})
        self._status = told.get("status", self._status)
        if told.get("continuation_token"):
            self._more["continuation_token"] = told["continuation_token"]
        usage = self._usage(told.get("usage"))
        if usage is not None:
            yield UsageSeen(usage)
        if self._status == FAILED and "error" in told:
            yield from self._error(told)

    def _completed(self, value: Json) -> Iterator[Event]:
        given = value.get("interaction")
        interaction: Json = given if isinstance(given, dict) else {}
        yield from self._begin(interaction)
        if interaction.get("status") == FAILED:
            yield from self._fail(interaction)
            return
        steps = interaction.get("steps")
        if isinstance(steps, list) and not self._count_steps:
            for step in (each for each in steps if isinstance(each, dict)):
                yield from self._start_step(step, self._count_steps)
                yield from self._end_step(self._count_steps - 1)
        self._final = interaction

    def _finish(self, interaction: Json) -> Iterator[Event]:
        self._over = True
        incomplete = STOP.get(str(interaction.get("status"))) == "length"
        for index in list(self._steps):
            yield from self._end_step(index, incomplete=incomplete)
        usage = self._usage(interaction.get("usage"))
        if usage is not None:
            yield UsageSeen(usage)
        told = {**self._more, "status": self._status or "completed", **interaction}
        fields = self._fields({k: v for k, v in told.items() if k not in _HEAD})
        try:
            stop = decode_stop(fields, has_calls=self._called)
        except DecodeError as error:
            self._skip(str(error))
            stop = None
        stop = stop or decode_stop(self._fields({"status": "completed"}), has_calls=self._called)
        yield Finished((stop,) if stop is not None else (), kept(fields))

    def _error(self, value: Json) -> Iterator[Event]:
        yield from self._fail({"error": value.get("error") or {}})

    def _fail(self, body: Json) -> Iterator[Event]:
        self._over = True
        for index in list(self._steps):
            yield from self._end_step(index, incomplete=True)
        yield from self._parts.end_all(incomplete=True)
        try:
            error = decode_response(WireResponse(body=body), self._ctx)
        except DecodeError:
            error = ApiError(kind="server", message=jsontext.text(body), status=500)
        if not isinstance(error, ApiError):  # pragma: no cover - a body with an error is one
            error = ApiError(kind="server", message=jsontext.text(body), status=500)
        yield Failed(error)

    # --- steps

    def _started(self, value: Json) -> Iterator[Event]:
        yield from self._begin({})
        step, index = value.get("step"), value.get("index")
        if not isinstance(step, dict) or type(step.get("type")) is not str:
            self._skip("no step")
            return
        yield from self._start_step(step, index if type(index) is int else self._count_steps)

    def _start_step(self, raw: Json, index: int) -> Iterator[Event]:
        if index in self._steps:
            yield from self._end_step(index)
        step = self._new(str(raw.get("type")), index)
        opener = _OPENERS.get(step.kind)
        if opener is None:
            step.held = dict(raw)
            return
        try:
            yield from opener(self, step, raw)
        except DecodeError as error:
            del self._steps[index]
            self._skip(str(error))

    def _new(self, kind: str, index: int) -> _Step:
        step = self._steps[index] = _Step(kind, self._count_steps)
        self._count_steps += 1
        return step

    def _open_output(self, step: _Step, raw: Json) -> Iterator[Event]:
        contents = raw.get("content")
        step.members = {k: v for k, v in raw.items() if k not in ("type", "content")}
        for content in contents if isinstance(contents, list) else ():
            yield from self._content(step, content)

    def _open_thought(self, step: _Step, raw: Json) -> Iterator[Event]:
        whole = decode_thought(self._fields(raw))
        start = replace(whole, summary=(), signature=None)
        yield self._start(step, start)
        yield from self._summary(step, "\n\n".join(whole.summary))
        if whole.signature is not None:
            step.given = whole.signature

    def _open_call(self, step: _Step, raw: Json) -> Iterator[Event]:
        call = decode_call(self._fields(raw))
        self._called = True
        step.given = call.arguments
        yield self._start(step, replace(call, arguments=""))

    def _start(self, step: _Step, part: Part) -> PartStarted:
        step.began = True
        path = f"steps[{step.number}]"
        if isinstance(part, (Text, Image, Audio, Document)):
            path += ".content[0]"
        return self._parts.start(step.number, part, path=path)

    def _stopped(self, value: Json) -> Iterator[Event]:
        index = value.get("index")
        if type(index) is not int or index not in self._steps:
            self._skip("its step is not open")
            return
        yield from self._end_step(index)
        usage = self._usage(value.get("usage"))
        if usage is not None:
            yield UsageSeen(usage)

    def _end_step(self, index: int, *, incomplete: bool = False) -> Iterator[Event]:
        step = self._steps.pop(index, None)
        if step is None:
            return
        if step.kind == USER:
            return
        if step.held:
            if incomplete:
                self._skip(f"a step of type {step.kind} was cut off")
            else:
                yield from self._whole(step, self._told(step))
            return
        number = self._parts.index(step.number)
        if number is None:
            return
        if step.given and not (incomplete and step.kind == CALL):
            yield PartDelta(number, step.given, "signature" if step.kind == THOUGHT else "text")
        yield self._parts.end(step.number, incomplete=incomplete)

    def _told(self, step: _Step) -> Part:
        """A step that was held until it was whole."""
        parts = decode_output_step(self._fields(step.held), follows=False)
        return parts[0] if parts else Opaque(protocol=NAME, type=step.kind, value=step.held)

    def _whole(self, step: _Step, part: Part) -> Iterator[Event]:
        """A part that comes at once."""
        yield from self._end_part(step)
        if not step.began and step.kind == MODEL and step.members:
            part = with_step(part, step.members)
        index = self._parts.count
        for event in unfold_part(index, part):
            if isinstance(event, PartStarted):
                self._start(step, part)
                yield event
            elif isinstance(event, PartDelta):
                yield event
        yield self._parts.end(step.number)

    def _end_part(self, step: _Step) -> Iterator[Event]:
        step.text = False
        if step.number in self._parts:
            yield self._parts.end(step.number)

    # --- deltas

    def _delta(self, value: Json) -> Iterator[Event]:
        yield from self._begin({})
        delta, index = value.get("delta"), value.get("index")
        if not isinstance(delta, dict):
            self._skip("no delta")
            return
        kind = delta.get("type")
        if kind is None and type(delta.get("text")) is str:
            # As in the examples of agents in Google's documentation (2026-09-24).
            kind, delta = "text", {**delta, "type": "text"}
        if type(kind) is not str:
            self._skip("the delta has no type")
            return
        step = self._steps.get(index) if type(index) is int else None
        if step is None:
            step = self._implied(kind, index)
        if step is None:
            self._skip("its step is not open")
            return
        yield from self._add(step, kind, delta)

    def _implied(self, kind: str, index: Any) -> _Step | None:
        """A step whose start is missing, if its first delta tells what it is."""
        meant = _IMPLIED.get(kind)
        if meant is None:
            return None
        return self._new(meant, index if type(index) is int else self._count_steps)

    def _add(self, step: _Step, kind: str, delta: Json) -> Iterator[Event]:
        if step.kind == MODEL:
            yield from self._add_content(step, kind, delta)
        elif step.kind == THOUGHT:
            yield from self._add_thought(step, kind, delta)
        elif step.kind == CALL and kind != "arguments_delta":
            self._skip(f"a call has no {kind}")
        elif step.held:
            self._hold(step, kind, delta)

    def _hold(self, step: _Step, kind: str, delta: Json) -> None:
        """More of a step that is told whole."""
        if kind == "arguments_delta":
            text = delta.get("arguments")
            step.given += text if type(text) is str else ""
            try:
                step.held["arguments"] = jsontext.peek(step.given)
            except ValueError:
                return
            return
        step.held |= {k: v for k, v in delta.items() if k != "type"}

    def _add_content(self, step: _Step, kind: str, delta: Json) -> Iterator[Event]:
        if kind in _ANNOTATIONS:
            yield from self._cite(step, delta)
        elif kind == "text":
            yield from self._text(step, delta.get("text"))
        else:
            yield from self._content(step, delta)

    def _content(self, step: _Step, raw: Any) -> Iterator[Event]:
        """A content that comes whole; a text may go on."""
        part = decode_part(raw, self._fields({}), "content", 0)
        if isinstance(part, Text):
            yield from self._text(step, part.text)
            number = self._parts.index(step.number)
            for citation in part.citations if number is not None else ():
                yield PartDelta(number or 0, "", "citation", citation=citation)
        else:
            yield from self._whole(step, part)

    def _text(self, step: _Step, text: Any) -> Iterator[Event]:
        if type(text) is not str or not text:
            return
        if not step.text:
            part: Part = Text(text="")
            if not step.began and step.members:
                part = with_step(part, step.members)
            step.texts = SentText(_LONGEST_CITED)
            yield self._start(step, part)
            step.text = True
        step.texts.append(text)
        yield self._parts.delta(step.number, text)

    def _cite(self, step: _Step, delta: Json) -> Iterator[Event]:
        number = self._parts.index(step.number) if step.text else None
        if number is None:
            self._skip("there is no text to cite for")
            return
        fields = self._fields({"annotations": delta.get("annotations")})
        for citation in decode_citations(fields, step.texts.text()):
            yield PartDelta(number, "", "citation", citation=citation)

    def _add_thought(self, step: _Step, kind: str, delta: Json) -> Iterator[Event]:
        if not step.began:
            yield self._start(step, Reasoning())
        if kind == "thought_signature":
            signature = delta.get("signature")
            # It replaces the one before, if there was one.
            step.given = signature if type(signature) is str else step.given
        elif kind == "thought_summary":
            content = delta.get("content")
            text = content.get("text") if isinstance(content, dict) else None
            if type(text) is not str:
                self._skip("a thought that is no text")
            yield from self._summary(step, text)
        elif kind == "text":
            yield from self._summary(step, delta.get("text"))
        else:
            self._skip(f"a thought has no {kind}")

    def _summary(self, step: _Step, text: Any) -> Iterator[Event]:
        number = self._parts.index(step.number)
        if number is not None and type(text) is str and text:
            yield PartDelta(number, text, "summary")


_HEAD: Final = frozenset({"id", "model", "created", "service_tier", "usage", "steps", "object"})
_OUTCOME: Final = frozenset({"status", "steps", "usage", "object", "updated"})
_IMPLIED: Final = {
    "text": MODEL,
    **dict.fromkeys(_ANNOTATIONS, MODEL),
    **dict.fromkeys(CONTENTS, MODEL),
    "thought_summary": THOUGHT,
    "thought_signature": THOUGHT,
}

_OPENERS: Final[dict[str, Callable[[StreamDecoder, _Step, Json], Iterator[Event]]]] = {
    MODEL: StreamDecoder._open_output,
    THOUGHT: StreamDecoder._open_thought,
    CALL: StreamDecoder._open_call,
}

_READERS: Final[dict[str, Callable[[StreamDecoder, Json], Iterator[Event]]]] = {
    "interaction.created": StreamDecoder._created,
    "interaction.status_update": StreamDecoder._update,
    "interaction.in_progress": StreamDecoder._update,
    "interaction.requires_action": StreamDecoder._update,
    "step.start": StreamDecoder._started,
    "step.delta": StreamDecoder._delta,
    "step.stop": StreamDecoder._stopped,
    "interaction.completed": StreamDecoder._completed,
    "error": StreamDecoder._error,
}
