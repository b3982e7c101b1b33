"""The rules that streams of OpenAI Responses keep.

Reference: https://platform.openai.com/docs/api-reference/responses-streaming and the types of the
Python SDK 3.49 (read 2026-11-15). Types of events and items that are not known here are
accepted.

What is marked strict was measured (2026-11-15). Servers that number events also write the rest, so
the first event tells careful servers from others. The `openai` package goes by `response.created`
and indices, opencode by ids of items and the status of calls, and it repeats the request for ever
if the usage is missing at the end; Codex CLI reads that in full. `[DONE]` at the end is skipped.
Agno adds arguments to the call that was added last, whatever their index.
"""

from collections.abc import Iterator
from typing import Any, Final

from toolglot.ir import Json
from toolglot.wire.frames import Frame, by_type, sse_frames
from toolglot.wire.json_values import (
    is_count,
    is_json,
    is_text,
    joined,
    member,
    members,
    object_of,
    show,
    text_of,
)
from toolglot.wire.stream_rules import (
    AFTER_END,
    BLANK_LINE,
    END,
    EVERY,
    NAMED,
    NO_DONE,
    NOT_JSON,
    TYPED,
    Finding,
    Linter,
    Rule,
    State,
    strict_check,
)

_CREATED, _IN_PROGRESS, _ERROR = "response.created", "response.in_progress", "error"
_COMPLETED, _INCOMPLETE, _FAILED = ("response.completed", "response.incomplete", "response.failed")
_FINAL: Final = (_COMPLETED, _INCOMPLETE, _FAILED)
_ADDED, _DONE = "response.output_item.added", "response.output_item.done"
_ARGUMENTS_DONE: Final = "response.function_call_arguments.done"

_STATUS: Final = {
    _CREATED: ("in_progress", "queued"),
    _IN_PROGRESS: ("in_progress",),
    _COMPLETED: ("completed",),
    _INCOMPLETE: ("incomplete",),
    _FAILED: ("failed",),
}
"""The events that hold the response, and the status it then has."""

_TEXTS: Final[dict[str, tuple[str, str | None]]] = {
    "response.output_text": ("text", "content_index"),
    "response.refusal": ("refusal", "content_index"),
    "response.reasoning_text": ("text", "content_index"),
    "response.reasoning_summary_text": ("text", "summary_index"),
    "response.function_call_arguments": ("arguments", None),
    "response.mcp_call_arguments": ("arguments", None),
    "response.custom_tool_call_input": ("input", None),
    "response.code_interpreter_call_code": ("code", None),
}
"""What is streamed as text: the member of its end that repeats it, and the index of its part."""

_PARTS: Final = {
    "response.content_part": "content_index",
    "response.reasoning_summary_part": "summary_index",
}
_PART_OF: Final = {
    "response.output_text": "response.content_part",
    "response.refusal": "response.content_part",
    "response.reasoning_summary_text": "response.reasoning_summary_part",
}
"""Texts whose part must be announced."""

_ABOUT_ITEM: Final = (
    *(f"{stem}." for stem in (*_TEXTS, *_PARTS)),
    "response.output_text.annotation.",
)
_STRICT_ITEM: Final = (
    *(f"{stem}.delta" for stem in _TEXTS if stem.endswith(("_text", "_arguments", "_input"))),
    *(f"{part}.added" for part in _PARTS),
)
"""Events that clients cannot read without the item that they belong to."""
_CALLS: Final = {"function_call": "arguments", "custom_tool_call": "input"}
_WITH_STATUS: Final = ("message", "function_call")
_DETAILS: Final = {
    "input_tokens_details": "cached_tokens",
    "output_tokens_details": "reasoning_tokens",
}


class _Item:
    """An item that was announced."""

    def __init__(self, wire: Json) -> None:
        self.id = text_of(wire.get("id"))
        self.kind = text_of(wire.get("type"))
        self.call_id = wire.get("call_id")
        self.done = False
        self.texts: dict[tuple[str, int], list[str]] = {}
        self.parts: dict[tuple[str, int], bool] = {}


class _Stream(State):
    def __init__(self) -> None:
        super().__init__()
        self.sequence = 0
        self.id: Any = None
        self.begun = self.errored = False
        self.items: dict[int, _Item] = {}

    def is_over(self, frame: Frame) -> bool:
        return self.over or (self.errored and frame.kind != _FAILED)

    @property
    def complete(self) -> bool:
        return self.over or self.errored

    def item_added(self, value: Json) -> None:
        index, wire = value.get("output_index"), value.get("item")
        if type(index) is int and isinstance(wire, dict):
            self.items[index] = _Item(wire)

    def item_done(self, value: Json) -> None:
        index = value.get("output_index")
        if type(index) is int and index in self.items:
            self.items[index].done = True

    def final(self, _value: Json) -> None:
        self.over = True

    def error(self, _value: Json) -> None:
        self.errored = True

    def take(self, frame: Frame) -> None:
        kind = frame.kind
        self.begun = self.begun or kind == _IN_PROGRESS
        sequence = frame.value.get("sequence_number")
        self.sequence = sequence + 1 if is_count(sequence) else self.sequence + 1
        if kind in _STATUS:
            self.id = self.id or member(frame.value, "response", "id")
        elif kind != _ADDED and (item := self.item(frame)) is not None:
            self._learn(item, frame)

    def _learn(self, item: _Item, frame: Frame) -> None:
        stem, _, word = frame.kind.rpartition(".")
        if stem in _PARTS:
            item.parts[stem, _place(frame, _PARTS[stem])] = word == "done"
        elif stem in _TEXTS and word == "delta":
            place = _place(frame, _TEXTS[stem][1])
            item.texts.setdefault((stem, place), []).append(text_of(frame.value.get("delta")))

    def open_calls(self) -> Iterator[int]:
        """The places of calls that are not done."""
        return (n for n, item in self.items.items() if item.kind in _CALLS and not item.done)

    def item(self, frame: Frame) -> _Item | None:
        index = frame.value.get("output_index")
        return self.items.get(index) if type(index) is int else None

    def text(self, item: _Item, stem: str, place: int) -> str:
        return "".join(item.texts.get((stem, place), ()))


def _place(frame: Frame, key: str | None) -> int:
    place = frame.value.get(key) if key else 0
    return place if type(place) is int else -1


def _about_item(frame: Frame) -> bool:
    return frame.kind.startswith(_ABOUT_ITEM)


def _created_first(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    first = stream.count == 0
    if first and frame.kind not in (_CREATED, _ERROR):
        yield f"the stream begins with {show(frame.kind)} instead of {_CREATED}"
    elif not first and frame.kind == _CREATED:
        yield f"there was a {_CREATED} before"


def _in_progress(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    if not stream.begun and (frame.kind in (_COMPLETED, _INCOMPLETE) or not stream.items):
        yield f"no {_IN_PROGRESS} came before"


def _is_numbered(_stream: _Stream, value: Json) -> bool:
    return type(value.get("sequence_number")) is int


def _sequence(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    number = frame.value.get("sequence_number")
    if number != stream.sequence or type(number) is not int:
        yield f"sequence_number is {show(number)} where {stream.sequence} is due"


def _has_response_id(_stream: _Stream, value: Json) -> bool:
    return type(object_of(value, "response").get("id")) is str


def _response_id(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    value = member(frame.value, "response", "id")
    if not is_text(value):
        yield "the response has no id"
    elif stream.id is not None and value != stream.id:
        yield f"the id of the response changes from {show(stream.id)} to {show(value)}"


def _status(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    status = member(frame.value, "response", "status")
    if status not in (due := _STATUS[frame.kind]):
        yield f"the status of the response is {show(status)} instead of {show(due[0])}"


def _output_index(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    about = frame.kind in (_ADDED, _DONE) or _about_item(frame)
    if about and not is_count(frame.value.get("output_index")):
        yield "the event has no output_index"


def _is_new_item(stream: _Stream, value: Json) -> bool:
    index = value.get("output_index")
    return type(index) is int and index not in stream.items


def _output_order(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    index, due = frame.value.get("output_index"), len(stream.items)
    if is_count(index) and index != due:
        yield f"the item is number {show(index)} where {due} is due"


def _has_item_id(_stream: _Stream, value: Json) -> bool:
    return type(value.get("item_id")) is str


def _item_id(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    if not _about_item(frame):
        return
    item, value = stream.item(frame), frame.value.get("item_id")
    if not is_text(value):
        yield "the event has no item_id"
    elif item is not None and value != item.id:
        yield f"item_id is {show(value)}, but the item is {show(item.id)}"


def _is_known_item(stream: _Stream, value: Json) -> bool:
    index = value.get("output_index")
    return type(index) is int and index in stream.items


def _item_added(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    index = frame.value.get("output_index")
    known = not is_count(index) or index in stream.items
    if not known and (frame.kind == _DONE or _about_item(frame)):
        yield f"no output_item.added came for item {show(index)}"


def _item_over(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    item = stream.item(frame)
    if item is not None and item.done and (frame.kind == _DONE or _about_item(frame)):
        yield f"item {frame.value['output_index']} was done before"


def _is_alone(stream: _Stream, value: Json) -> bool:
    return _call_of(value) is None or not [*stream.open_calls()]


def _item_overlap(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    if _call_of(frame.value) is not None:
        for index in stream.open_calls():
            yield f"the call is added while item {index}, a call too, is open"


def _call_of(value: Json) -> Json | None:
    item = object_of(value, "item")
    return item if text_of(item.get("type")) in _CALLS else None


def _item_open(stream: _Stream, _frame: Frame) -> Iterator[Finding]:
    for index, item in stream.items.items():
        if not item.done:
            yield f"no output_item.done came for item {index}"


def _has_id(_stream: _Stream, value: Json) -> bool:
    return type(object_of(value, "item").get("id")) is str


def _call_has_call_id(_stream: _Stream, value: Json) -> bool:
    item = object_of(value, "item")
    return text_of(item.get("type")) not in _CALLS or bool(item.get("call_id"))


def _item_same(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    wire, item = frame.value.get("item"), stream.item(frame)
    value = member(wire, "id")
    if not is_text(value):
        yield "the item has no id"
    elif frame.kind == _DONE and item is not None:
        if value != item.id:
            yield f"the item was added as {show(item.id)} and is done as {show(value)}"
        elif member(wire, "call_id") != item.call_id:
            yield f"call_id changes from {show(item.call_id)} to {show(member(wire, 'call_id'))}"


def _call_has_status(_stream: _Stream, value: Json) -> bool:
    item = object_of(value, "item")
    return text_of(item.get("type")) not in _CALLS or bool(item.get("status"))


def _item_status(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    wire = frame.value.get("item")
    status = member(wire, "status")
    due = ("in_progress",) if frame.kind == _ADDED else ("completed", "incomplete")
    wrong = member(wire, "type") in _WITH_STATUS and status not in due
    if wrong or (frame.kind == _DONE and not _call_has_status(stream, frame.value)):
        yield f"the status of the item is {show(status)} instead of {show(due[0])}"


def _call_id(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    wire = frame.value.get("item")
    keys = ("call_id", "name") if frame.kind == _ADDED else ("call_id",)
    missing = [key for key in keys if not is_text(member(wire, key))]
    if text_of(member(wire, "type")) in _CALLS and missing:
        yield f"the call has no {joined(missing)}"


def _part_added(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    stem, _, word = frame.kind.rpartition(".")
    part, item = _PART_OF.get(stem), stream.item(frame)
    if part is None or item is None or word not in ("delta", "done"):
        return
    if (part, _place(frame, _PARTS[part])) not in item.parts:
        yield f"no {part.removeprefix('response.')}.added came before"


def _part_done(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    item = stream.item(frame)
    if item is None or member(frame.value, "item", "status") == "incomplete":
        return
    for (part, place), done in item.parts.items():
        if not done:
            yield f"no {part.removeprefix('response.')}.done came for part {place}"


def _delta_text(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    stem, _, word = frame.kind.rpartition(".")
    if stem in _TEXTS and word == "delta" and not isinstance(frame.value.get("delta"), str):
        yield "the event has no delta"


def _done_text(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    stem, _, word = frame.kind.rpartition(".")
    item = stream.item(frame)
    if stem not in _TEXTS or word != "done" or item is None:
        return
    key, place = _TEXTS[stem]
    text, streamed = frame.value.get(key), stream.text(item, stem, _place(frame, place))
    if text != streamed:
        yield f"{key} is {show(text)}, but the deltas make up {show(streamed)}"


def _item_text(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    wire, item = frame.value.get("item"), stream.item(frame)
    if item is None or not isinstance(wire, dict):
        return
    for stem, place, text in _texts_of(wire):
        streamed = stream.text(item, stem, place)
        if text != streamed:
            yield f"the item says {show(text)}, but the deltas make up {show(streamed)}"


def _texts_of(wire: Json) -> Iterator[tuple[str, int, Any]]:
    """The texts of a whole item, by the event that streams them."""
    kind = wire.get("type")
    if kind == "function_call":
        yield "response.function_call_arguments", 0, wire.get("arguments")
    elif kind == "custom_tool_call":
        yield "response.custom_tool_call_input", 0, wire.get("input")
    elif kind == "reasoning":
        for place, part in enumerate(members(wire, "summary")):
            yield "response.reasoning_summary_text", place, part.get("text")
    elif kind == "message":
        for place, part in enumerate(members(wire, "content")):
            if part.get("type") == "output_text":
                yield "response.output_text", place, part.get("text")
            elif part.get("type") == "refusal":
                yield "response.refusal", place, part.get("refusal")


def _arguments(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    wire = frame.value.get("item")
    if frame.kind == _DONE:
        if member(wire, "type") != "function_call" or member(wire, "status") != "completed":
            return
        text = member(wire, "arguments")
    else:
        text = frame.value.get("arguments")
    if not is_text(text) or not is_json(text):
        yield f"the arguments of a whole call are {show(text)}, which is not JSON"


def _has_output(_stream: _Stream, value: Json) -> bool:
    return type(object_of(value, "response").get("output")) is list


def _final_output(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    announced = [item.id for _, item in sorted(stream.items.items())]
    given = [member(each, "id") for each in members(frame.value.get("response"), "output")]
    if not isinstance(member(frame.value, "response", "output"), list):
        yield "the response has no output"
    elif given != announced:
        yield f"the response holds {_listed(given)}, but the items were {_listed(announced)}"


def _listed(ids: list[Any]) -> str:
    return joined(map(show, ids)) if ids else "no items"


def _has_usage(_stream: _Stream, value: Json) -> bool:
    usage = object_of(object_of(value, "response"), "usage")
    details = usage.get("input_tokens_details")
    return type(usage.get("total_tokens")) is int and (
        details is None or (type(details) is dict and "cached_tokens" in details)
    )


def _final_usage(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    usage = member(frame.value, "response", "usage")
    counts = ("input_tokens", "output_tokens", "total_tokens")
    missing = [key for key in counts if not is_count(member(usage, key))]
    missing += [
        f"{outer}.{inner}"
        for outer, inner in _DETAILS.items()
        if not is_count(member(usage, outer, inner))
    ]
    if missing:
        yield f"usage lacks {joined(missing)}"


def _incomplete_reason(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    if not is_text(member(frame.value, "response", "incomplete_details", "reason")):
        yield "incomplete_details has no reason"


def _error_shape(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    value = frame.value
    places = (("response", "error"),) if frame.kind == _FAILED else ((), ("error",))
    if not any(isinstance(member(value, *place, "message"), str) for place in places):
        yield "the error has no message"


def _end_missing(stream: _Stream, _frame: Frame) -> Iterator[Finding]:
    if not stream.over and not stream.errored:
        yield f"the stream breaks off without {_COMPLETED}, {_INCOMPLETE} or {_FAILED}"


LINTER: Final = Linter(
    frames=sse_frames,
    kind=by_type,
    state=_Stream,
    done=True,
    follow={
        _ADDED: _Stream.item_added,
        _DONE: _Stream.item_done,
        **dict.fromkeys(_FINAL, _Stream.final),
        _ERROR: _Stream.error,
    },
    rules=(
        NOT_JSON,
        BLANK_LINE,
        NO_DONE,
        TYPED,
        NAMED,
        Rule("created-first", "response.created comes first, once", (EVERY,), _created_first),
        Rule(
            "in-progress",
            "response.in_progress comes before the items",
            (_ADDED, _COMPLETED, _INCOMPLETE),
            _in_progress,
        ),
        Rule(
            "sequence",
            "sequence_number counts from 0 without gaps",
            (EVERY,),
            _sequence,
            _is_numbered,
            (_CREATED,),
        ),
        Rule(
            "response-id",
            "the response keeps its id",
            tuple(_STATUS),
            _response_id,
            _has_response_id,
            (_CREATED, _COMPLETED, _INCOMPLETE),
        ),
        Rule("status", "the response has the status of the event", tuple(_STATUS), _status),
        Rule("output-index", "events of an item have its output_index", (EVERY,), _output_index),
        Rule(
            "output-order", "items are numbered 0, 1, 2 …", (_ADDED,), _output_order, _is_new_item
        ),
        Rule(
            "item-id",
            "events of an item have its item_id",
            (EVERY,),
            _item_id,
            _has_item_id,
            _STRICT_ITEM,
        ),
        Rule(
            "item-added",
            "output_item.added comes before them",
            (EVERY,),
            _item_added,
            _is_known_item,
            (*_STRICT_ITEM, _DONE),
        ),
        Rule("item-over", "output_item.done comes after them, once", (EVERY,), _item_over),
        Rule(
            "item-overlap",
            "a call is done before the next one is added",
            (_ADDED,),
            _item_overlap,
            _is_alone,
        ),
        Rule("item-open", "every item is done", (_COMPLETED, _INCOMPLETE), _item_open),
        Rule("item-same", "an item keeps its ids", (_ADDED, _DONE), _item_same, _has_id),
        Rule(
            "item-status",
            "an item has a fitting status",
            (_ADDED, _DONE),
            _item_status,
            _call_has_status,
            (_DONE,),
        ),
        Rule(
            "call-id",
            "a call has a call_id and a name",
            (_ADDED, _DONE),
            _call_id,
            _call_has_call_id,
            (_DONE,),
        ),
        Rule("part-added", "a part is added before its text", (EVERY,), _part_added),
        Rule("part-done", "a part that was added is done", (_DONE,), _part_done),
        Rule("delta-text", "a delta has its text", (EVERY,), _delta_text),
        Rule("done-text", "the end of a text repeats its deltas", (EVERY,), _done_text),
        Rule("item-text", "a whole item repeats its deltas", (_DONE,), _item_text),
        Rule("arguments", "whole arguments are JSON", (_ARGUMENTS_DONE, _DONE), _arguments),
        Rule(
            "final-output", "the last event holds all items", _FINAL[:2], _final_output, _has_output
        ),
        Rule("final-usage", "the last event holds the usage", _FINAL[:2], _final_usage, _has_usage),
        Rule("incomplete-reason", "incomplete has a reason", (_INCOMPLETE,), _incomplete_reason),
        Rule("error-shape", "an error has a message", (_FAILED, _ERROR), _error_shape),
        AFTER_END,
        Rule("end-missing", "a final response ends the stream", (END,), _end_missing),
    ),
)

StreamCheck: Final = strict_check(LINTER)
