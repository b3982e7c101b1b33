"""Streams of Anthropic Messages: what the strictest of its clients need.

Reference: https://docs.anthropic.com/en/docs/build-with-claude/streaming and the types of the
Python SDK 2.8 (read 2026-11-15). Types of events, blocks and deltas that are not known here are let
be: the protocol says that new ones come.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from toolglot.lint.framing import by_type, sse_frames
from toolglot.lint.rules import (
    AFTER_END,
    BLANK_LINE,
    END,
    EVERY,
    NAMED,
    NO_DONE,
    NOT_JSON,
    TYPED,
    Finding,
    Frame,
    Linter,
    Rule,
    State,
    is_count,
    is_json,
    is_text,
    joined,
    member,
    show,
    text_of,
)

_START, _STOP, _ERROR = "message_start", "message_stop", "error"
_BLOCK_START, _BLOCK_DELTA, _BLOCK_STOP = (
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
)
_MESSAGE_DELTA: Final = "message_delta"
_BLOCK: Final = (_BLOCK_START, _BLOCK_DELTA, _BLOCK_STOP)

_CALLS: Final = ("tool_use", "server_tool_use", "mcp_tool_use")
_DELTAS: Final[dict[str, tuple[tuple[str, ...], str, type[Any]]]] = {
    "text_delta": (("text",), "text", str),
    "citations_delta": (("text",), "citation", dict),
    "thinking_delta": (("thinking",), "thinking", str),
    "signature_delta": (("thinking",), "signature", str),
    "input_json_delta": (_CALLS, "partial_json", str),
}
"""Delta type to the blocks it fits, its member, and what that is."""

_EMPTY: Final[dict[str, tuple[str, Any]]] = {
    "text": ("text", ""),
    "thinking": ("thinking", ""),
    **dict.fromkeys(_CALLS, ("input", {})),
}
"""What a block starts with, since deltas bring the rest."""

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
        self.open: dict[int, _Block] = {}
        self.stop_reason: str | None = None
        self.finished = False
        self.not_json: list[tuple[int, int]] = []

    def take(self, frame: Frame) -> None:
        kind, index = frame.kind, frame.value.get("index")
        self.started = self.started or kind == _START
        self.over = kind in (_STOP, _ERROR)
        self.finished = kind == _STOP
        if kind == _MESSAGE_DELTA:
            stop = text_of(member(frame.value, "delta", "stop_reason"))
            self.stop_reason = stop or self.stop_reason
        elif kind in _BLOCK and type(index) is int:
            self._block(frame, index)

    def _block(self, frame: Frame, index: int) -> None:
        if frame.kind == _BLOCK_START:
            self.blocks += 1
            self.open[index] = _Block(text_of(member(frame.value, "content_block", "type")))
        elif frame.kind == _BLOCK_STOP:
            block = self.open.pop(index, None)
            if block is not None and not is_json("".join(block.json)):
                self.not_json.append((frame.number, index))
        elif (block := self.open.get(index)) is not None:
            delta = frame.value.get("delta")
            block.json.append(text_of(member(delta, "partial_json")))
            block.signed = block.signed or member(delta, "type") == "signature_delta"

    def block(self, frame: Frame) -> _Block | None:
        index = frame.value.get("index")
        return self.open.get(index) if type(index) is int else None


def _start_first(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    if stream.count == 0 and frame.kind not in (_START, _ERROR):
        yield f"the stream begins with {show(frame.kind)} instead of {_START}"


def _start_once(stream: _Stream, _frame: Frame) -> Iterator[Finding]:
    if stream.started:
        yield f"there was a {_START} before"


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


def _start_content(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    if (content := member(frame.value, "message", "content")) != []:
        yield f"message.content must be an empty array, not {show(content)}"


def _start_usage(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    usage = member(frame.value, "message", "usage")
    missing = [k for k in ("input_tokens", "output_tokens") if not is_count(member(usage, k))]
    if missing:
        yield f"message.usage lacks {joined(missing)}"


def _block_index(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    if (index := frame.value.get("index")) != stream.blocks or type(index) is not int:
        yield f"the block is number {show(index)} where {stream.blocks} is due"


def _block_overlap(stream: _Stream, _frame: Frame) -> Iterator[Finding]:
    if stream.open:
        yield f"block {next(iter(stream.open))} is still open"


def _block_open(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    if stream.block(frame) is None:
        yield f"block {show(frame.value.get('index'))} is not open"


def _block_stopped(stream: _Stream, _frame: Frame) -> Iterator[Finding]:
    for index in stream.open:
        yield f"block {index} was never stopped"


def _block_empty(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    block = frame.value.get("content_block")
    key, empty = _EMPTY.get(text_of(member(block, "type")), ("", None))
    if key and (given := member(block, key)) != empty:
        due = "an empty object" if empty == {} else "an empty string"
        yield f"content_block.{key} must be {due} at the start, not {show(given)}"


def _block_type(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    if not is_text(member(frame.value, "content_block", "type")):
        yield "content_block has no type"


def _call_id(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    block = frame.value.get("content_block")
    missing = [key for key in ("id", "name") if not is_text(member(block, key))]
    if member(block, "type") in _CALLS and missing:
        yield f"the call has no {joined(missing)}"


def _delta_fits(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    block, kind = stream.block(frame), member(frame.value, "delta", "type")
    fits = _DELTAS.get(text_of(kind))
    if fits is not None and block is not None and block.kind not in fits[0]:
        yield f"a {kind} in a block of type {show(block.kind)}"


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
    if kind == "signature_delta" and member(delta, "signature") == "":
        yield "the signature is empty"
    elif kind == "thinking_delta" and member(delta, "signature") is not None:
        yield "a signature travels in a signature_delta; clients do not look for it here"
    elif kind == "thinking_delta" and block is not None and block.signed:
        yield "thinking goes on after its signature"


def _arguments(stream: _Stream, _frame: Frame) -> Iterator[Finding]:
    if stream.finished and stream.stop_reason not in _CUT:
        for number, index in stream.not_json:
            yield number, f"the partial_json of block {index} does not add up to JSON"


def _stop_reason(stream: _Stream, _frame: Frame) -> Iterator[Finding]:
    if stream.stop_reason is None:
        yield f"no {_MESSAGE_DELTA} with a stop_reason came before"


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
    frames=partial(sse_frames, kind=by_type),
    state=_Stream,
    rules=(
        NOT_JSON,
        BLANK_LINE,
        NO_DONE,
        TYPED,
        NAMED,
        Rule("start-first", "message_start is the first event", (EVERY,), _start_first),
        Rule("start-once", "there is one message_start", (_START,), _start_once),
        Rule("start-message", "it has id, type, role and model", (_START,), _start_message),
        Rule("start-content", "it has an empty content", (_START,), _start_content),
        Rule("start-usage", "it has a usage with token counts", (_START,), _start_usage),
        Rule("block-index", "blocks are numbered 0, 1, 2 …", (_BLOCK_START,), _block_index),
        Rule("block-overlap", "one block is open at a time", (_BLOCK_START,), _block_overlap),
        Rule("block-type", "a block says its type", (_BLOCK_START,), _block_type),
        Rule("block-empty", "a block starts empty", (_BLOCK_START,), _block_empty),
        Rule("call-id", "a call has an id and a name", (_BLOCK_START,), _call_id),
        Rule("block-open", "deltas and stops name an open block", _BLOCK[1:], _block_open),
        Rule("block-stopped", "every block is stopped", (_STOP,), _block_stopped),
        Rule("delta-fits", "a delta fits its block", (_BLOCK_DELTA,), _delta_fits),
        Rule("delta-member", "a delta has its text", (_BLOCK_DELTA,), _delta_member),
        Rule("signature", "a signature is whole and last", (_BLOCK_DELTA,), _signature),
        Rule("arguments", "the arguments of a call are JSON", (END,), _arguments),
        Rule("stop-reason", "a stop reason comes before the stop", (_STOP,), _stop_reason),
        Rule("final-usage", "message_delta has a usage", (_MESSAGE_DELTA,), _final_usage),
        Rule("error-shape", "an error has a type and a message", (_ERROR,), _error_shape),
        AFTER_END,
        Rule("end-missing", "message_stop or an error ends the stream", (END,), _end_missing),
    ),
)
