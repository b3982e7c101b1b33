"""The rules that streams of Converse keep.

Reference: `ConverseStreamOutput` in the service model of botocore 1.44.0, and what its parser does
(both read 2026-11-16): a union without a member, as in `start: {}`, makes it raise; clients that
assemble an answer wait for the contentBlockStop of every block.
"""

from collections.abc import Iterator
from typing import Final

from toolglot.ir import Json
from toolglot.wire.event_stream import ERROR, EXCEPTION
from toolglot.wire.frames import Frame, message_frames
from toolglot.wire.json_values import is_count, is_text, joined, member, object_of, show
from toolglot.wire.stream_rules import (
    AFTER_END,
    END,
    EVERY,
    NOT_JSON,
    Finding,
    Linter,
    Rule,
    State,
    strict_check,
)

_MESSAGE_START: Final = "messageStart"
_START: Final = "contentBlockStart"
_DELTA: Final = "contentBlockDelta"
_STOP: Final = "contentBlockStop"
_MESSAGE_STOP: Final = "messageStop"
_METADATA: Final = "metadata"
_FAILURE: Final = "exception"
_BLOCKS: Final = (_START, _DELTA, _STOP)
_STARTS: Final = frozenset({"toolUse", "toolResult", "image"})
_DELTAS: Final = frozenset(
    {"text", "toolUse", "toolResult", "reasoningContent", "citation", "image"}
)


def _kind(value: Json) -> str:
    """What kind of event an object is, by the members that only this kind has."""
    for key, kind in _BY_MEMBER:
        if key in value:
            return kind
    return ""


_BY_MEMBER: Final = (
    ("delta", _DELTA),
    ("start", _START),
    ("stopReason", _MESSAGE_STOP),
    ("usage", _METADATA),
    ("metrics", _METADATA),
    ("role", _MESSAGE_START),
    ("contentBlockIndex", _STOP),
    ("message", _FAILURE),
)


class _Stream(State):
    def __init__(self) -> None:
        super().__init__()
        self.begun = False
        self.open: int | None = None
        self.next = 0
        self.stopped = False
        self.counted = False

    @property
    def complete(self) -> bool:
        return self.stopped or self.over

    def message_start(self, _value: Json) -> None:
        self.begun = True

    def block(self, value: Json) -> None:
        index = value.get("contentBlockIndex")
        if type(index) is int and index >= self.next:
            self.open, self.next = index, index + 1

    def block_stop(self, _value: Json) -> None:
        self.open = None

    def message_stop(self, _value: Json) -> None:
        self.stopped = True

    def metadata(self, _value: Json) -> None:
        self.counted = True

    def failure(self, _value: Json) -> None:
        self.over = True

    def is_over(self, frame: Frame) -> bool:
        if self.over:
            return True
        return self.stopped and (self.counted or frame.kind != _METADATA)


def _begins(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    if not stream.begun and frame.kind not in (_MESSAGE_START, _FAILURE):
        yield f"the stream begins with {show(frame.kind or frame.name)} instead of messageStart"


def _once(stream: _Stream, _frame: Frame) -> Iterator[Finding]:
    if stream.begun:
        yield "there was a messageStart before"


def _role(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    role = frame.value.get("role")
    if role != "assistant":
        yield f"the role is {show(role)} instead of 'assistant'"


def _named(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    name = frame.name or ""
    kind = _FAILURE if name.startswith((EXCEPTION, ERROR)) else name
    if kind in _KNOWN and frame.kind and kind != frame.kind:
        yield f"the header says {show(name)}, the members are those of {show(frame.kind)}"


_KNOWN: Final = frozenset((_MESSAGE_START, *_BLOCKS, _MESSAGE_STOP, _METADATA, _FAILURE))


def _index(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    index = frame.value.get("contentBlockIndex")
    if not is_count(index):
        yield f"contentBlockIndex is {show(index)} instead of a number"


def _has_index(_stream: _Stream, value: Json) -> bool:
    return is_count(value.get("contentBlockIndex"))


def _order(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    index = frame.value.get("contentBlockIndex")
    if not is_count(index):
        return
    if stream.open is not None and index != stream.open:
        yield f"block {index} comes while block {stream.open} is open"
    elif frame.kind == _START and index == stream.open:
        yield f"block {index} has begun before"
    elif stream.open is None and index < stream.next:
        yield f"block {index} has ended before"
    elif stream.open is None and index > stream.next:
        yield f"block {index} comes where block {stream.next} is due"


def _open(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    index = frame.value.get("contentBlockIndex")
    if is_count(index) and index != stream.open:
        yield f"block {index} ends, and is not open"


def _one_start(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    start = frame.value.get("start")
    if not _is_union(start, _STARTS):
        yield f"start has {_members(start)} instead of one of {joined(sorted(_STARTS))}"


def _has_start(_stream: _Stream, value: Json) -> bool:
    return _is_union(value.get("start"), _STARTS)


def _one_delta(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    delta = frame.value.get("delta")
    if not _is_union(delta, _DELTAS):
        yield f"delta has {_members(delta)} instead of one of {joined(sorted(_DELTAS))}"


def _has_delta(_stream: _Stream, value: Json) -> bool:
    return _is_union(value.get("delta"), _DELTAS)


def _is_union(value: object, known: frozenset[str]) -> bool:
    if type(value) is not dict:
        return False
    given = [key for key, inner in value.items() if inner is not None]
    return len(given) == 1 and given[0] in known


def _members(value: object) -> str:
    if type(value) is not dict:
        return show(value)
    return joined(list(map(str, value))) if value else "no member"


def _call(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    start = object_of(frame.value, "start")
    if "toolUse" not in start:
        return
    missing = [
        each for each in ("toolUseId", "name") if not is_text(member(start["toolUse"], each))
    ]
    if missing:
        yield f"a toolUse lacks {joined(missing)}"


def _input(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    delta = object_of(frame.value, "delta")
    given = member(delta.get("toolUse"), "input")
    if "toolUse" in delta and not isinstance(given, str):
        yield f"the input of a toolUse is {show(given)} instead of a piece of JSON text"


def _reason(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    reason = frame.value.get("stopReason")
    if not is_text(reason):
        yield f"stopReason is {show(reason)} instead of a word"


def _counts(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    usage = frame.value.get("usage")
    keys = ("inputTokens", "outputTokens", "totalTokens")
    missing = [each for each in keys if not is_count(member(usage, each))]
    if missing:
        yield f"usage lacks {joined(missing)}"


def _closed(stream: _Stream, _frame: Frame) -> Iterator[Finding]:
    if stream.open is not None:
        yield f"block {stream.open} has no contentBlockStop"


def _ended(stream: _Stream, _frame: Frame) -> Iterator[Finding]:
    if stream.over:
        return
    if not stream.stopped:
        yield "the stream ends without a messageStop"
    elif not stream.counted:
        yield "the stream ends without metadata"


def _unknown(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    yield f"nobody knows an event {show(frame.name)}"


LINTER: Final = Linter(
    frames=message_frames,
    kind=_kind,
    state=_Stream,
    follow={
        _MESSAGE_START: _Stream.message_start,
        _START: _Stream.block,
        _DELTA: _Stream.block,
        _STOP: _Stream.block_stop,
        _MESSAGE_STOP: _Stream.message_stop,
        _METADATA: _Stream.metadata,
        _FAILURE: _Stream.failure,
    },
    rules=(
        NOT_JSON,
        Rule("event-unknown", "an event is of a known type", ("",), _unknown),
        Rule("event-type", "the header says what the event is", (EVERY,), _named),
        Rule("first", "messageStart comes first", (EVERY,), _begins),
        Rule("start-once", "there is one messageStart", (_MESSAGE_START,), _once),
        Rule("role", "the role is assistant", (_MESSAGE_START,), _role),
        Rule("index", "an event of a block has its number", _BLOCKS, _index, _has_index),
        Rule("order", "blocks come one after another", (_START, _DELTA), _order),
        Rule("stop-open", "only a block that is open ends", (_STOP,), _open),
        Rule("start-member", "start has one known member", (_START,), _one_start, _has_start),
        Rule("delta-member", "delta has one known member", (_DELTA,), _one_delta, _has_delta),
        Rule("call", "a toolUse has an id and a name", (_START,), _call),
        Rule("call-input", "the input of a call comes as text", (_DELTA,), _input),
        Rule("stop-missing", "every block ends", (_MESSAGE_STOP,), _closed),
        Rule("stop-reason", "messageStop has a reason", (_MESSAGE_STOP,), _reason),
        Rule("usage", "metadata has the counts of tokens", (_METADATA,), _counts),
        Rule("end", "messageStop and metadata end the stream", (END,), _ended),
        AFTER_END,
    ),
)
StreamCheck: Final = strict_check(LINTER)
"""Whether known clients can read a stream that passes through."""
