"""The rules that streams of Gemini Interactions keep.

Reference: https://ai.google.dev/gemini-api/docs/interactions (streaming), and the types of the
package `google-genai` 3.1.0 (read 2026-11-16). Types of events, steps and deltas that are not known
here are accepted.

What is marked strict is what that package rejects: it validates every event against its type
(`pydantic`), reads `event_type` and ignores `event:` lines, and finds steps by their index.
"""

from collections.abc import Iterator
from typing import Any, Final

from toolglot.ir import Json
from toolglot.wire.frames import DONE, Frame, sse_frames
from toolglot.wire.json_values import is_json, is_text, joined, member, object_of, show, text_of
from toolglot.wire.stream_rules import (
    AFTER_END,
    BLANK_LINE,
    END,
    EVERY,
    NAMED,
    NOT_JSON,
    TYPED,
    Finding,
    Linter,
    Rule,
    State,
    strict_check,
)

_CREATED, _UPDATE, _COMPLETED = (
    "interaction.created",
    "interaction.status_update",
    "interaction.completed",
)
_START, _DELTA, _STOP, _ERROR = "step.start", "step.delta", "step.stop", "error"
_CALL: Final = "function_call"
_CUT: Final = ("incomplete", "failed", "cancelled", "budget_exceeded", "requires_continuation")
"""Statuses after which a step may never have stopped."""

_DELTAS: Final[dict[str, tuple[tuple[str, ...], str, type[Any]]]] = {
    "text": (("model_output",), "text", str),
    "text_annotation_delta": (("model_output",), "annotations", list),
    "thought_summary": (("thought",), "content", dict),
    "thought_signature": (("thought",), "signature", str),
    "arguments_delta": ((_CALL,), "arguments", str),
}
"""Delta type to the steps that it fits, its member, and what that is."""


def _kind(value: Json) -> str:
    kind = value.get("event_type")
    return kind if isinstance(kind, str) else ""


class _Step:
    """An open step."""

    def __init__(self, kind: str, number: int) -> None:
        self.kind = kind
        self.number = number
        self.arguments: list[str] = []
        self.signed = False


class _Stream(State):
    def __init__(self) -> None:
        super().__init__()
        self.started = self.done = False
        self.steps = 0
        self.open: dict[int, _Step] = {}

    @property
    def complete(self) -> bool:
        return self.over

    def is_over(self, frame: Frame) -> bool:
        return self.done or (self.over and frame.kind != DONE)

    def mark(self) -> None:
        self.done = True

    def created(self, _value: Json) -> None:
        self.started = True

    def step_start(self, value: Json) -> None:
        if type(index := value.get("index")) is int:
            self.open[index] = _Step(text_of(member(value, "step", "type")), self.count)
            self.steps += 1

    def step_stop(self, value: Json) -> None:
        if type(index := value.get("index")) is int:
            self.open.pop(index, None)

    def end(self, _value: Json) -> None:
        self.over = True

    def take(self, frame: Frame) -> None:
        step = self.step(frame)
        if frame.kind == _DELTA and step is not None:
            delta = frame.value.get("delta")
            step.arguments.append(text_of(member(delta, "arguments")))
            step.signed = step.signed or member(delta, "type") == "thought_signature"

    def step(self, frame: Frame) -> _Step | None:
        index = frame.value.get("index")
        return self.open.get(index) if type(index) is int else None


def _created_first(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    if stream.count == 0 and frame.kind not in (_CREATED, _ERROR):
        yield f"the stream begins with {show(frame.kind)} instead of {_CREATED}"


def _created_once(stream: _Stream, _frame: Frame) -> Iterator[Finding]:
    if stream.started:
        yield f"there was an {_CREATED} before"


def _has_interaction(_stream: _Stream, value: Json) -> bool:
    interaction = object_of(value, "interaction")
    return type(interaction.get("id")) is str and type(interaction.get("status")) is str


def _interaction(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    interaction = frame.value.get("interaction")
    missing = [key for key in ("id", "status") if type(member(interaction, key)) is not str]
    if missing:
        yield f"interaction lacks {joined(missing)}"


def _update(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    missing = [key for key in ("interaction_id", "status") if not is_text(frame.value.get(key))]
    if missing:
        yield f"the update lacks {joined(missing)}"


def _has_update(_stream: _Stream, value: Json) -> bool:
    return type(value.get("interaction_id")) is str and type(value.get("status")) is str


def _is_numbered(_stream: _Stream, value: Json) -> bool:
    return type(value.get("index")) is int


def _step_index(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    if (index := frame.value.get("index")) != stream.steps or type(index) is not int:
        yield f"the step is number {show(index)} where {stream.steps} is due"


def _has_type(_stream: _Stream, value: Json) -> bool:
    return type(object_of(value, "step").get("type")) is str


def _step_type(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    if not is_text(member(frame.value, "step", "type")):
        yield "the step has no type"


def _is_named(_stream: _Stream, value: Json) -> bool:
    step = object_of(value, "step")
    if step.get("type") != _CALL:
        return True
    return bool(step.get("id")) and bool(step.get("name")) and type(step.get("arguments")) is dict


def _call(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    step = frame.value.get("step")
    if member(step, "type") != _CALL:
        return
    missing = [key for key in ("id", "name") if not is_text(member(step, key))]
    if missing:
        yield f"the call has no {joined(missing)}"
    if not isinstance(arguments := member(step, "arguments"), dict):
        yield f"the arguments of a call are {show(arguments)} instead of an object"


def _is_open(stream: _Stream, value: Json) -> bool:
    index = value.get("index")
    return type(index) is int and index in stream.open


def _step_open(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    if not _is_open(stream, frame.value):
        yield f"step {show(frame.value.get('index'))} is not open"


def _delta_type(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    delta = frame.value.get("delta")
    kind = text_of(member(delta, "type"))
    if not kind:
        yield "the delta has no type"
    elif kind in _DELTAS:
        _, key, wanted = _DELTAS[kind]
        if not isinstance(member(delta, key), wanted):
            yield f"the {kind} has no {key}"


def _has_delta(_stream: _Stream, value: Json) -> bool:
    return type(object_of(value, "delta").get("type")) is str


def _delta_fits(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    step, kind = stream.step(frame), member(frame.value, "delta", "type")
    fits = _DELTAS.get(text_of(kind))
    if fits is not None and step is not None and step.kind not in fits[0]:
        yield f"a {kind} in a step of type {show(step.kind)}"


def _signature(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    step = stream.step(frame)
    if step is not None and step.signed:
        yield "a thought goes on after its signature"


def _arguments(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    step = stream.step(frame)
    if step is not None and step.kind == _CALL and not is_json("".join(step.arguments)):
        yield "the arguments of the call do not add up to JSON"


def _stopped(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    if member(frame.value, "interaction", "status") not in _CUT:
        for index in stream.open:
            yield f"step {index} was never stopped"


def _error_shape(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    error = frame.value.get("error")
    missing = [key for key in ("code", "message") if not isinstance(member(error, key), str)]
    if missing:
        yield f"error lacks {joined(missing)}"


def _end_missing(stream: _Stream, _frame: Frame) -> Iterator[Finding]:
    if not stream.over:
        yield f"the stream breaks off without {_COMPLETED} or {_ERROR}"
    elif not stream.done:
        yield "the stream ends without `[DONE]`"


LINTER: Final = Linter(
    frames=sse_frames,
    kind=_kind,
    state=_Stream,
    done=True,
    follow={
        _CREATED: _Stream.created,
        _START: _Stream.step_start,
        _STOP: _Stream.step_stop,
        _COMPLETED: _Stream.end,
        _ERROR: _Stream.end,
    },
    rules=(
        NOT_JSON,
        BLANK_LINE,
        TYPED,
        NAMED,
        Rule("created-first", "interaction.created comes first", (EVERY,), _created_first),
        Rule("created-once", "there is one interaction.created", (_CREATED,), _created_once),
        Rule(
            "interaction",
            "an interaction has an id and a status",
            (_CREATED, _COMPLETED),
            _interaction,
            _has_interaction,
        ),
        Rule("update", "an update names its interaction", (_UPDATE,), _update, _has_update),
        Rule("step-index", "steps are numbered 0, 1, 2 …", (_START,), _step_index, _is_numbered),
        Rule("step-type", "a step has a type", (_START,), _step_type, _has_type),
        Rule("call", "a call has an id, a name and an object", (_START,), _call, _is_named),
        Rule(
            "step-open", "deltas and stops name an open step", (_DELTA, _STOP), _step_open, _is_open
        ),
        Rule("delta-type", "a delta has its text", (_DELTA,), _delta_type, _has_delta),
        Rule("delta-fits", "a delta fits its step", (_DELTA,), _delta_fits),
        Rule("signature", "a signature is the last of a thought", (_DELTA,), _signature),
        Rule("arguments", "the arguments of a call are JSON", (_STOP,), _arguments),
        Rule("step-stopped", "every step is stopped", (_COMPLETED,), _stopped),
        Rule("error-shape", "an error has a code and a message", (_ERROR,), _error_shape),
        AFTER_END,
        Rule("end-missing", "an end and `[DONE]` end the stream", (END,), _end_missing),
    ),
)

StreamCheck: Final = strict_check(LINTER)
