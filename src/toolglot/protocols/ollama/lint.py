"""The rules that streams of Ollama keep.

Reference: https://docs.ollama.com/api/chat and the Python SDK 0.6 (read 2026-11-15). The
SDK needs the role in every message, so that is marked strict.
"""

from collections.abc import Iterator
from typing import Any, Final

from toolglot.ir import Json
from toolglot.wire.frames import Frame, line_frames
from toolglot.wire.json_values import is_text, member, members, show
from toolglot.wire.stream_rules import (
    AFTER_END,
    END,
    NO_DONE,
    NOT_JSON,
    Finding,
    Linter,
    Rule,
    State,
    strict_check,
)

_LINE, _ERROR = "line", "error"


def _kind(value: Json) -> str:
    return _ERROR if "error" in value else _LINE


class _Stream(State):
    def __init__(self) -> None:
        super().__init__()
        self.done = False

    @property
    def complete(self) -> bool:
        return self.done

    def line(self, value: Json) -> None:
        if value.get("done") is True:
            self.done = self.over = True

    def error(self, _value: Json) -> None:
        self.over = True


def _has_role(_stream: _Stream, value: Json) -> bool:
    message = value.get("message")
    return message is None or (type(message) is dict and bool(message.get("role")))


def _role(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    if (role := member(frame.value, "message", "role")) != "assistant":
        yield f"message.role is {show(role)} instead of 'assistant'"


def _done_flag(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    if type(done := frame.value.get("done")) is not bool:
        yield f"done is {show(done)} instead of true or false"


def _done_reason(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    if frame.value.get("done") is True and not is_text(frame.value.get("done_reason")):
        yield "the last line has no done_reason"


def _functions(frame: Frame) -> Iterator[Any]:
    for call in members(frame.value.get("message"), "tool_calls"):
        yield call.get("function")


def _call_name(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    for function in _functions(frame):
        if not is_text(member(function, "name")):
            yield "a call has no name"


def _call_arguments(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    for function in _functions(frame):
        if not isinstance(arguments := member(function, "arguments"), dict):
            yield f"the arguments of a call are {show(arguments)} instead of an object"


def _has_objects(_stream: _Stream, value: Json) -> bool:
    message = value.get("message")
    if type(message) is not dict or not message.get("tool_calls"):
        return True
    functions = (call.get("function") for call in members(message, "tool_calls"))
    return all(isinstance(member(each, "arguments"), dict) for each in functions)


def _error_shape(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    if not isinstance(error := frame.value["error"], str):
        yield f"error is {show(error)} instead of a string"


def _end_missing(stream: _Stream, _frame: Frame) -> Iterator[Finding]:
    if not stream.over:
        yield "the stream breaks off without a line that is done"


LINTER: Final = Linter(
    frames=line_frames,
    kind=_kind,
    state=_Stream,
    follow={_LINE: _Stream.line, _ERROR: _Stream.error},
    rules=(
        NOT_JSON,
        NO_DONE,
        Rule("role", "every line has a message with its role", (_LINE,), _role, _has_role),
        Rule("done-flag", "every line has done, true or false", (_LINE,), _done_flag),
        Rule("done-reason", "the last line has a done_reason", (_LINE,), _done_reason),
        Rule("call-name", "a call has a name", (_LINE,), _call_name),
        Rule(
            "call-arguments",
            "the arguments of a call are an object",
            (_LINE,),
            _call_arguments,
            _has_objects,
        ),
        Rule("error-shape", "an error is a string", (_ERROR,), _error_shape),
        AFTER_END,
        Rule(
            "end-missing", "a line that is done, or an error, ends the stream", (END,), _end_missing
        ),
    ),
)

StreamCheck: Final = strict_check(LINTER)
