"""The rules that streams of OpenAI Chat Completions keep.

Reference: https://platform.openai.com/docs/api-reference/chat-streaming (read 2026-11-15).

What is marked strict was measured (2026-11-15): the `openai` package goes by `object` and indices;
opencode needs the index of every piece of a call, its id and name in the first one, and repeats the
request for ever without a finish reason. Agents that go by the finish reason never run calls beside
`stop`, and none can tell two calls with one index apart. Content that is a list, as Mistral has it
while a model reasons, is no text for most. Nobody needs `[DONE]`.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from toolglot.ir import Json
from toolglot.wire.frames import Frame, sse_frames
from toolglot.wire.json_values import (
    is_count,
    is_json,
    is_text,
    joined,
    member,
    members,
    show,
    text_of,
)
from toolglot.wire.stream_rules import (
    AFTER_END,
    BLANK_LINE,
    END,
    NOT_JSON,
    Finding,
    Linter,
    Rule,
    State,
    strict_check,
)

_CHUNK, _ERROR = "chunk", "error"


def _kind(value: Json) -> str:
    return _ERROR if value.get("error") else _CHUNK


class _Choice:
    """What came of one choice."""

    def __init__(self) -> None:
        self.role = False
        self.finish: str | None = None
        self.calls: dict[int, list[str]] = {}
        self.ids: dict[int, Any] = {}
        self.empty: set[int] = set()
        """Functions that were called without any arguments so far."""

    def add_calls(self, pieces: Any) -> None:
        for piece in pieces if type(pieces) is list else ():
            if type(piece) is dict and type(index := piece.get("index")) is int:
                if index not in self.calls:
                    self.calls[index], self.ids[index] = [], piece.get("id")
                    if "custom" not in piece:
                        self.empty.add(index)
                if self.empty and _arguments_of(piece):
                    self.empty.discard(index)


class _Stream(State):
    def __init__(self) -> None:
        super().__init__()
        self.id: Any = None
        self.failed = False
        self.choices: dict[int, _Choice] = {}

    @property
    def complete(self) -> bool:
        """Whether every choice has a finish reason, or an error came."""
        return self.failed or (
            bool(self.choices) and all(choice.finish for choice in self.choices.values())
        )

    def error(self, _value: Json) -> None:
        self.failed = True

    def chunk(self, value: Json) -> None:
        choices = value.get("choices")
        if type(choices) is not list:
            return
        for wire in choices:
            if type(wire) is not dict or type(index := wire.get("index")) is not int:
                continue
            choice = self.choices.get(index)
            if choice is None:
                choice = self.choices[index] = _Choice()
            if wire.get("finish_reason") and choice.finish is None:
                choice.finish = str(wire["finish_reason"])
            delta = wire.get("delta")
            if type(delta) is dict and (pieces := delta.get("tool_calls")):
                choice.add_calls(pieces)

    def take(self, frame: Frame) -> None:
        if frame.kind != _CHUNK:
            return
        self.id = self.id or frame.value.get("id")
        for index, wire in _choices(frame):
            choice = self.choices[index]
            choice.role = choice.role or member(wire, "delta", "role") is not None
            for call in _calls(wire):
                if is_count(number := call.get("index")):
                    choice.calls[number].append(_arguments_of(call))

    def mark(self) -> None:
        self.over = True

    def choice(self, index: int) -> _Choice:
        return self.choices.get(index) or _Choice()


def _choices(frame: Frame) -> Iterator[tuple[int, Json]]:
    """The choices of a chunk that say which they are."""
    for wire in members(frame.value, "choices"):
        if is_count(index := wire.get("index")):
            yield index, wire


def _calls(wire: Json) -> list[Json]:
    return members(wire.get("delta"), "tool_calls")


def _arguments_of(call: Json) -> str:
    """More of the arguments; the input of a custom tool is free text and none of our business."""
    return text_of(member(call, "function", "arguments"))


def _name_of(call: Json) -> Any:
    return member(call, "function", "name") or member(call, "custom", "name")


def _chunk_id(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    value = frame.value.get("id")
    if not is_text(value):
        yield "the chunk has no id"
    elif stream.id is not None and value != stream.id:
        yield f"the id changes from {show(stream.id)} to {show(value)}"


def _chunk_object(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    if (value := frame.value.get("object")) != "chat.completion.chunk":
        yield f"object is {show(value)} instead of 'chat.completion.chunk'"


def _chunk_head(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    value = frame.value
    missing = [] if is_count(value.get("created")) else ["created"]
    missing += [] if isinstance(value.get("model"), str) else ["model"]
    if missing:
        yield f"the chunk has no {joined(missing)}"


_NOTHING: Final[Json] = {}


def _is_readable(stream: _Stream, value: Json) -> bool:
    """The object, and what clients need of choices and of calls in them: as this runs for every
    chunk, it is one loop for five rules.
    """
    choices = value.get("choices")
    if choices and type(choices) is list:
        if not value.get("object"):
            return False
        for wire in choices:
            if type(wire) is not dict or type(index := wire.get("index")) is not int:
                return False
            delta, choice = wire.get("delta"), stream.choices.get(index)
            if type(delta) is not dict:
                delta = _NOTHING
            pieces = delta.get("tool_calls")
            if pieces and not _are_readable(pieces, choice):
                return False
            if type(delta.get("content")) is list:
                return False
            if wire.get("finish_reason") and (pieces or (choice is not None and choice.calls)):
                return _ends_well(wire["finish_reason"], pieces, choice)
    return True


def _ends_well(finish: Any, pieces: Any, choice: _Choice | None) -> bool:
    """Whether agents run the calls of a choice that ends, and can read their arguments."""
    if finish == "stop":
        return choice is not None and choice.finish is not None
    if finish != "tool_calls":
        return True
    empty = set(choice.empty) if choice is not None else set()
    known = choice.calls if choice is not None else ()
    for piece in pieces or ():
        if _arguments_of(piece):
            empty.discard(piece["index"])
        elif piece["index"] not in known and "custom" not in piece:
            empty.add(piece["index"])
    return not empty


def _are_readable(pieces: Any, choice: _Choice | None) -> bool:
    """Whether every piece of a call has its index, and the first one the id and the name; and no
    index belongs to two calls.
    """
    if type(pieces) is not list:
        return False
    ids: Mapping[int, Any] = choice.ids if choice is not None else {}
    for piece in pieces:
        if type(piece) is not dict or type(index := piece.get("index")) is not int:
            return False
        given = piece.get("id")
        if index not in ids:
            if not (given and _name_of(piece)):
                return False
            ids = {**ids, index: given}
        elif given and given != ids[index] and _name_of(piece):
            return False
    return True


def _choice_index(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    choices = frame.value.get("choices")
    if not isinstance(choices, list):
        yield f"choices are {show(choices)} instead of an array"
        return
    for choice in choices:
        if not is_count(member(choice, "index")):
            yield "a choice has no index"


def _choice_delta(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    for index, choice in _choices(frame):
        if not isinstance(choice.get("delta"), dict):
            yield f"choice {index} has no delta"


def _role(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    for index, wire in _choices(frame):
        role, first = member(wire, "delta", "role"), index not in stream.choices
        if first and role != "assistant":
            yield f"the first delta of choice {index} has the role {show(role)}"
        elif not first and role is not None and stream.choice(index).role:
            yield f"the role of choice {index} is repeated"


def _content(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    for index, wire in _choices(frame):
        content = member(wire, "delta", "content")
        if content is not None and not isinstance(content, str):
            yield f"the content of choice {index} is no text"


def _call_index(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    for place, wire in _choices(frame):
        known = len(stream.choice(place).calls)
        calls = member(wire, "delta", "tool_calls")
        if calls and not isinstance(calls, list):
            yield f"tool_calls are {show(calls)} instead of an array"
        for call in calls if isinstance(calls, list) else ():
            index = member(call, "index")
            if not is_count(index):
                yield "a delta of a call has no index"
            elif index > known:
                yield f"the call is number {show(index)} where {known} is due"
            known += index == known


def _call_start(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    for call in _fresh(stream, frame, fresh=True):
        missing = [key for key in ("id", "type") if not is_text(call.get(key))]
        missing += [] if is_text(_name_of(call)) else ["name"]
        if missing:
            yield f"the first delta of call {call['index']} has no {joined(missing)}"


def _call_repeat(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    for call in _fresh(stream, frame, fresh=False):
        again = ["id"] if call.get("id") else []
        again += ["name"] if _name_of(call) else []
        if again:
            yield f"a later delta of call {call['index']} repeats its {joined(again)}"


def _fresh(stream: _Stream, frame: Frame, *, fresh: bool) -> Iterator[Json]:
    """The deltas of calls that are the first of their call, or those that are not."""
    for place, wire in _choices(frame):
        known = set(stream.choice(place).calls)
        for call in _calls(wire):
            index = call.get("index")
            if is_count(index):
                if (index not in known) is fresh:
                    yield call
                known.add(index)


def _finish_once(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    for index, wire in _choices(frame):
        if stream.choice(index).finish and wire.get("finish_reason") is not None:
            yield f"choice {index} had a finish_reason before"


def _finish_last(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    for index, wire in _choices(frame):
        delta = wire.get("delta")
        more = [k for k, value in delta.items() if value] if isinstance(delta, dict) else []
        if stream.choice(index).finish and wire.get("finish_reason") is None and more:
            yield f"choice {index} goes on after its finish_reason with {joined(more)}"


def _finish_stop(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    for index, wire in _choices(frame):
        choice = stream.choice(index)
        called = choice.finish is None and (choice.calls or _calls(wire))
        if wire.get("finish_reason") == "stop" and called:
            yield f"choice {index} has calls, but its finish_reason is 'stop'"


def _finish_calls(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    for index, wire in _choices(frame):
        if (
            wire.get("finish_reason") == "tool_calls"
            and not stream.choice(index).calls
            and not _calls(wire)
        ):
            yield f"choice {index} stops for tool calls, but there was none"


def _arguments(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    for index, wire in _choices(frame):
        if wire.get("finish_reason") != "tool_calls":
            continue
        given = {number: list(texts) for number, texts in stream.choice(index).calls.items()}
        for call in _calls(wire):
            if is_count(number := call.get("index")):
                given.setdefault(number, []).append(_arguments_of(call))
        for number, texts in given.items():
            if not is_json("".join(texts)):
                yield f"the arguments of call {number} do not add up to JSON"


def _usage_chunk(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    usage, choices = frame.value.get("usage"), frame.value.get("choices")
    if isinstance(usage, dict) and choices != []:
        yield "usage comes in a chunk that has choices"
    elif choices == [] and not isinstance(usage, dict):
        yield "a chunk has neither choices nor usage"


def _error_shape(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    if not isinstance(member(frame.value, "error", "message"), str):
        yield "error lacks message"


def _finish_missing(stream: _Stream, _frame: Frame) -> Iterator[Finding]:
    if stream.failed:
        return
    if not stream.choices:
        yield "there was no choice"
    for index, choice in sorted(stream.choices.items()):
        if choice.finish is None:
            yield f"choice {index} has no finish_reason"


def _done_missing(stream: _Stream, _frame: Frame) -> Iterator[Finding]:
    if not stream.over and not stream.failed:
        yield "the stream ends without `[DONE]`"


LINTER: Final = Linter(
    frames=sse_frames,
    kind=_kind,
    state=_Stream,
    done=True,
    follow={_CHUNK: _Stream.chunk, _ERROR: _Stream.error},
    rules=(
        NOT_JSON,
        BLANK_LINE,
        Rule("chunk-id", "all chunks have the same id", (_CHUNK,), _chunk_id),
        Rule("chunk-object", "the object is chat.completion.chunk", (_CHUNK,), _chunk_object),
        Rule("chunk-head", "a chunk has created and model", (_CHUNK,), _chunk_head),
        Rule("choice-index", "a choice has an index", (_CHUNK,), _choice_index, _is_readable),
        Rule("choice-delta", "a choice has a delta", (_CHUNK,), _choice_delta),
        Rule("role", "the first delta of a choice has the role, no other", (_CHUNK,), _role),
        Rule("content", "content is text", (_CHUNK,), _content),
        Rule("call-index", "calls are numbered 0, 1, 2 …", (_CHUNK,), _call_index),
        Rule("call-start", "a call starts with id, type, name", (_CHUNK,), _call_start),
        Rule("call-repeat", "id and name come once", (_CHUNK,), _call_repeat),
        Rule("arguments", "the arguments of a call are JSON", (_CHUNK,), _arguments),
        Rule("finish-once", "a choice has one finish_reason", (_CHUNK,), _finish_once),
        Rule("finish-last", "nothing follows a finish_reason", (_CHUNK,), _finish_last),
        Rule("finish-stop", "an answer with calls stops for them", (_CHUNK,), _finish_stop),
        Rule("finish-calls", "tool_calls needs a call", (_CHUNK,), _finish_calls),
        Rule("usage-chunk", "usage has a chunk without choices", (_CHUNK,), _usage_chunk),
        Rule("error-shape", "an error has a message", (_ERROR,), _error_shape),
        AFTER_END,
        Rule("finish-missing", "every choice has a finish_reason", (END,), _finish_missing),
        Rule("end-missing", "`[DONE]` ends the stream", (END,), _done_missing),
    ),
)

StreamCheck: Final = strict_check(LINTER)
