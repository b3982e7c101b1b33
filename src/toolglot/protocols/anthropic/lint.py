"""The rules that streams of Anthropic Messages keep.

Reference: https://docs.anthropic.com/en/docs/build-with-claude/streaming and the types of the
Python SDK 2.8 (read 2026-11-15). Types of events, blocks and deltas that are not known here are
accepted: the protocol says that new ones come.

What is marked strict was measured (2026-11-15): Claude Code goes by `event:` lines, takes the input
of a tool from deltas alone and fails on a signature that is not a string; opencode needs `usage` at
both ends, and repeats the request for ever without a stop reason.
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

_START, _STOP, _ERROR = "message_start", "message_stop", "error"
_BLOCK_START, _BLOCK_DELTA, _BLOCK_STOP = (
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
)
_MESSAGE_DELTA: Final = "message_delta"
_SIGNATURE: Final = "signature_delta"

_CALLS: Final = ("tool_use", "server_tool_use", "mcp_tool_use")
_DELTAS: Final[dict[str, tuple[tuple[str, ...], str, type[Any]]]] = {
    "text_delta": (("text",), "text", str),
    "citations_delta": (("text",), "citation", dict),
    "thinking_delta": (("thinking",), "thinking", str),
    _SIGNATURE: (("thinking",), "signature", str),
    "input_json_delta": (_CALLS, "partial_json", str),
}
"""Delta type to the blocks it fits, its member, and what that is."""

_EMPTY: Final[dict[str, tuple[str, Any]]] = {
    "text": ("text", ""),
    "thinking": ("thinking", ""),
    **dict.fromkeys(_CALLS, ("input", {})),
}
"""What a block starts with, since deltas bring the rest."""

_COMPLETE: Final = "end_turn"
_CUT: Final = ("max_tokens", "model_context_window_exceeded", "refusal")
"""Stop reasons after which the last call may be half a call."""


class _Block:
    """An open block."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.json: list[str] = []
        self.signed = False


class _Stream(State):
    def __init__(self) -> None:
        super().__init__()
        self.started = False
        self.blocks = 0
        self.no_input = -1
        """The newest block, if that is a call without any delta so far."""
        self.open: dict[int, _Block] = {}
        self.stopped: _Block | None = None
        self.stop_reason: str | None = None
        self.finished = False
        self.called = False
        self.not_json: list[tuple[int, int]] = []

    @property
    def complete(self) -> bool:
        return self.finished and self.stop_reason is not None and not self.open

    def block_start(self, value: Json) -> None:
        kind = text_of(member(value, "content_block", "type"))
        if type(index := value.get("index")) is int:
            self.no_input = index if kind == _CALLS[0] else -1
            self.called = self.called or kind == _CALLS[0]
            self.blocks += 1
            self.open[index] = _Block(kind)

    def block_delta(self, _value: Json) -> None:
        self.no_input = -1

    def block_stop(self, value: Json) -> None:
        if type(index := value.get("index")) is int:
            self.stopped = self.open.pop(index, None)

    def message_delta(self, value: Json) -> None:
        stop = text_of(member(value, "delta", "stop_reason"))
        self.stop_reason = stop or self.stop_reason

    def message_stop(self, _value: Json) -> None:
        self.finished = True

    def take(self, frame: Frame) -> None:
        self.started = self.started or frame.kind == _START
        self.over = frame.kind in (_STOP, _ERROR)
        if frame.kind == _BLOCK_STOP:
            block, self.stopped = self.stopped, None
            if block is not None and not is_json("".join(block.json)):
                self.not_json.append((frame.number, frame.value["index"]))
        elif frame.kind == _BLOCK_DELTA and (block := self.block(frame)) is not None:
            delta = frame.value.get("delta")
            block.json.append(text_of(member(delta, "partial_json")))
            block.signed = block.signed or member(delta, "type") == _SIGNATURE

    def block(self, frame: Frame) -> _Block | None:
        index = frame.value.get("index")
        return self.open.get(index) if type(index) is int else None


def _start_first(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    if stream.count == 0 and frame.kind not in (_START, _ERROR):
        yield f"the stream begins with {show(frame.kind)} instead of {_START}"


def _start_once(stream: _Stream, _frame: Frame) -> Iterator[Finding]:
    if stream.started:
        yield f"there was a {_START} before"


def _has_id(_stream: _Stream, value: Json) -> bool:
    return type(object_of(value, "message").get("id")) is str


def _start_message(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    message = frame.value.get("message")
    missing = [key for key in ("id", "model") if not is_text(member(message, key))]
    missing += [
        f"{key} {show(word)}"
        for key, word in (("type", "message"), ("role", "assistant"))
        if member(message, key) != word
    ]
    if missing:
        yield f"message lacks {joined(missing)}"


def _has_content(_stream: _Stream, value: Json) -> bool:
    return type(object_of(value, "message").get("content")) is list


def _start_content(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    if (content := member(frame.value, "message", "content")) != []:
        yield f"message.content must be an empty array, not {show(content)}"


def _has_start_usage(_stream: _Stream, value: Json) -> bool:
    return type(object_of(value, "message").get("usage")) is dict


def _start_usage(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    usage = member(frame.value, "message", "usage")
    missing = [k for k in ("input_tokens", "output_tokens") if not is_count(member(usage, k))]
    if missing:
        yield f"message.usage lacks {joined(missing)}"


def _is_numbered(_stream: _Stream, value: Json) -> bool:
    return type(value.get("index")) is int


def _block_index(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    if (index := frame.value.get("index")) != stream.blocks or type(index) is not int:
        yield f"the block is number {show(index)} where {stream.blocks} is due"


def _none_is_open(stream: _Stream, _value: Json) -> bool:
    return not stream.open


def _block_overlap(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    if not _none_is_open(stream, frame.value):
        yield f"block {next(iter(stream.open))} is still open"


def _is_open(stream: _Stream, value: Json) -> bool:
    index = value.get("index")
    return type(index) is int and index in stream.open


def _block_open(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    if not _is_open(stream, frame.value):
        yield f"block {show(frame.value.get('index'))} is not open"


def _block_stopped(stream: _Stream, _frame: Frame) -> Iterator[Finding]:
    for index in stream.open:
        yield f"block {index} was never stopped"


def _starts_without_input(_stream: _Stream, value: Json) -> bool:
    block = object_of(value, "content_block")
    return block.get("type") != _CALLS[0] or not block.get("input")


def _block_empty(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    block = frame.value.get("content_block")
    key, empty = _EMPTY.get(text_of(member(block, "type")), ("", None))
    if key and (given := member(block, key)) != empty:
        due = "an empty object" if empty == {} else "an empty string"
        yield f"content_block.{key} must be {due} at the start, not {show(given)}"


def _has_type(_stream: _Stream, value: Json) -> bool:
    return type(object_of(value, "content_block").get("type")) is str


def _block_type(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    if not is_text(member(frame.value, "content_block", "type")):
        yield "content_block has no type"


def _is_named(_stream: _Stream, value: Json) -> bool:
    block = object_of(value, "content_block")
    return block.get("type") != _CALLS[0] or (bool(block.get("id")) and bool(block.get("name")))


def _call_id(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    block = frame.value.get("content_block")
    missing = [key for key in ("id", "name") if not is_text(member(block, key))]
    if member(block, "type") in _CALLS and missing:
        yield f"the call has no {joined(missing)}"


def _had_input(stream: _Stream, value: Json) -> bool:
    return value.get("index") != stream.no_input


def _call_input(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    if not _had_input(stream, frame.value):
        yield "the call stops without a delta of its input; clients take it from there alone"


def _delta_fits(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    block, kind = stream.block(frame), member(frame.value, "delta", "type")
    fits = _DELTAS.get(text_of(kind))
    if fits is not None and block is not None and block.kind not in fits[0]:
        yield f"a {kind} in a block of type {show(block.kind)}"


def _has_member(_stream: _Stream, value: Json) -> bool:
    delta = value.get("delta")
    if type(delta) is not dict or type(kind := delta.get("type")) is not str:
        return False
    return kind != _SIGNATURE or type(delta.get("signature")) is str


def _delta_member(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    delta = frame.value.get("delta")
    kind = text_of(member(delta, "type"))
    if not kind:
        yield "the delta has no type"
    elif kind in _DELTAS:
        _, key, wanted = _DELTAS[kind]
        if not isinstance(member(delta, key), wanted):
            yield f"the {kind} has no {key}"


def _signature(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    delta, block = frame.value.get("delta"), stream.block(frame)
    kind = member(delta, "type")
    if kind == _SIGNATURE and member(delta, "signature") == "":
        yield "the signature is empty"
    elif kind == "thinking_delta" and member(delta, "signature") is not None:
        yield "a signature travels in a signature_delta; clients do not look for it here"
    elif kind == "thinking_delta" and block is not None and block.signed:
        yield "thinking goes on after its signature"


def _arguments(stream: _Stream, _frame: Frame) -> Iterator[Finding]:
    if stream.finished and stream.stop_reason not in _CUT:
        for number, index in stream.not_json:
            yield number, f"the partial_json of block {index} does not add up to JSON"


def _stops_for_calls(stream: _Stream, value: Json) -> bool:
    return not stream.called or member(value, "delta", "stop_reason") != _COMPLETE


def _stop_calls(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    if not _stops_for_calls(stream, frame.value):
        yield f"there are calls, but the stop reason is {show(_COMPLETE)}"


def _has_stop_reason(stream: _Stream, _value: Json) -> bool:
    return stream.stop_reason is not None


def _stop_reason(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    if not _has_stop_reason(stream, frame.value):
        yield f"no {_MESSAGE_DELTA} with a stop_reason came before"


def _has_usage(_stream: _Stream, value: Json) -> bool:
    return type(value.get("usage")) is dict


def _final_usage(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    if not is_count(member(frame.value, "usage", "output_tokens")):
        yield "usage lacks output_tokens"


def _error_shape(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    error = frame.value.get("error")
    missing = [key for key in ("type", "message") if not isinstance(member(error, key), str)]
    if missing:
        yield f"error lacks {joined(missing)}"


def _end_missing(stream: _Stream, _frame: Frame) -> Iterator[Finding]:
    if not stream.over:
        yield f"the stream breaks off without {_STOP} or {_ERROR}"


LINTER: Final = Linter(
    frames=sse_frames,
    kind=by_type,
    state=_Stream,
    named=True,
    follow={
        _BLOCK_START: _Stream.block_start,
        _BLOCK_DELTA: _Stream.block_delta,
        _BLOCK_STOP: _Stream.block_stop,
        _MESSAGE_DELTA: _Stream.message_delta,
        _STOP: _Stream.message_stop,
    },
    rules=(
        NOT_JSON,
        BLANK_LINE,
        NO_DONE,
        TYPED,
        NAMED,
        Rule("start-first", "message_start is the first event", (EVERY,), _start_first),
        Rule("start-once", "there is one message_start", (_START,), _start_once),
        Rule(
            "start-message", "it has id, type, role and model", (_START,), _start_message, _has_id
        ),
        Rule("start-content", "it has an empty content", (_START,), _start_content, _has_content),
        Rule(
            "start-usage",
            "it has a usage with token counts",
            (_START,),
            _start_usage,
            _has_start_usage,
        ),
        Rule(
            "block-index",
            "blocks are numbered 0, 1, 2 …",
            (_BLOCK_START,),
            _block_index,
            _is_numbered,
        ),
        Rule(
            "block-overlap",
            "one block is open at a time",
            (_BLOCK_START,),
            _block_overlap,
            _none_is_open,
        ),
        Rule("block-type", "a block has a type", (_BLOCK_START,), _block_type, _has_type),
        Rule(
            "block-empty",
            "a block starts empty",
            (_BLOCK_START,),
            _block_empty,
            _starts_without_input,
        ),
        Rule("call-id", "a call has an id and a name", (_BLOCK_START,), _call_id, _is_named),
        Rule(
            "block-open",
            "deltas and stops name an open block",
            (_BLOCK_DELTA, _BLOCK_STOP),
            _block_open,
            _is_open,
        ),
        Rule("block-stopped", "every block is stopped", (_STOP,), _block_stopped, _none_is_open),
        Rule(
            "call-input",
            "a call has a delta of its input, if an empty one",
            (_BLOCK_STOP,),
            _call_input,
            _had_input,
        ),
        Rule("delta-fits", "a delta fits its block", (_BLOCK_DELTA,), _delta_fits),
        Rule("delta-member", "a delta has its text", (_BLOCK_DELTA,), _delta_member, _has_member),
        Rule("signature", "a signature is whole and last", (_BLOCK_DELTA,), _signature),
        Rule("arguments", "the arguments of a call are JSON", (END,), _arguments),
        Rule(
            "stop-reason",
            "a stop reason comes before the stop",
            (_STOP,),
            _stop_reason,
            _has_stop_reason,
        ),
        Rule(
            "stop-calls",
            "an answer with calls stops for them",
            (_MESSAGE_DELTA,),
            _stop_calls,
            _stops_for_calls,
        ),
        Rule(
            "final-usage", "message_delta has a usage", (_MESSAGE_DELTA,), _final_usage, _has_usage
        ),
        Rule("error-shape", "an error has a type and a message", (_ERROR,), _error_shape),
        AFTER_END,
        Rule("end-missing", "message_stop or an error ends the stream", (END,), _end_missing),
    ),
)

StreamCheck: Final = strict_check(LINTER)
