"""The rules that streams of Gemini keep.

Reference: https://ai.google.dev/api/generate-content (read 2026-11-15). Gemini CLI and the Python
SDK give up on a comment line. Without `alt=sse` the stream is one JSON array, which is read too.

Clients forgive nearly everything, but read every event as JSON; opencode repeats the request for
ever without a `finishReason`. So no rule is marked strict; only the end is followed.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from toolglot.ir import Json
from toolglot.wire.frames import COMMENT, Frame, Kind, array_frames, sse_frames
from toolglot.wire.json_values import is_text, joined, member, members, show
from toolglot.wire.stream_rules import (
    AFTER_END,
    BLANK_LINE,
    END,
    NO_DONE,
    NOT_JSON,
    UNNAMED,
    Finding,
    Linter,
    Rule,
    State,
    strict_check,
)

_CHUNK, _ERROR = "chunk", "error"


def _kind(value: Json) -> str:
    return _ERROR if "error" in value else _CHUNK


def _frames(data: bytes, kind: Kind) -> Iterable[Frame]:
    return (array_frames if data.lstrip()[:1] == b"[" else sse_frames)(data, kind)


class _Stream(State):
    def __init__(self) -> None:
        super().__init__()
        self.seen: set[int] = set()
        self.finished: set[int] = set()
        self.blocked = False
        self.stopped = False

    @property
    def complete(self) -> bool:
        return self.stopped or self.blocked

    def chunk(self, value: Json) -> None:
        candidates = value.get("candidates")
        if type(candidates) is list:
            for candidate in candidates:
                if type(candidate) is dict and candidate.get("finishReason"):
                    self.stopped = True
        if "promptFeedback" in value:
            self.blocked = True

    def take(self, frame: Frame) -> None:
        self.over = self.over or frame.kind == _ERROR
        for index, candidate in _candidates(frame):
            self.seen.add(index)
            if candidate.get("finishReason") is not None:
                self.finished.add(index)


def _candidates(frame: Frame) -> Iterator[tuple[int, Json]]:
    for place, candidate in enumerate(members(frame.value, "candidates")):
        index = candidate.get("index", place)
        yield index if type(index) is int else place, candidate


def _parts(candidate: Json) -> list[Json]:
    return members(candidate.get("content"), "parts")


def _calls(frame: Frame) -> Iterator[Any]:
    for _, candidate in _candidates(frame):
        for part in _parts(candidate):
            if "functionCall" in part:
                yield part["functionCall"]


def _comment(_stream: _Stream, _frame: Frame) -> Iterator[Finding]:
    yield "a comment line, which clients of this protocol cannot read"


def _candidates_there(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    value = frame.value
    if not isinstance(value.get("candidates"), list) and "promptFeedback" not in value:
        yield "there are neither candidates nor an error"


def _role(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    for index, candidate in _candidates(frame):
        role = member(candidate, "content", "role")
        if _parts(candidate) and role != "model":
            yield f"the role of candidate {index} is {show(role)} instead of 'model'"


def _finish_once(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    for index, candidate in _candidates(frame):
        if index in stream.finished and candidate.get("finishReason") is not None:
            yield f"candidate {index} had a finishReason before"


def _finish_last(stream: _Stream, frame: Frame) -> Iterator[Finding]:
    for index, candidate in _candidates(frame):
        if index in stream.finished and candidate.get("finishReason") is None:
            yield f"candidate {index} goes on after its finishReason"


def _call_name(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    for call in _calls(frame):
        if not is_text(member(call, "name")):
            yield "a functionCall has no name"


def _call_whole(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    for call in _calls(frame):
        pieces = [key for key in ("partialArgs", "willContinue") if member(call, key) is not None]
        if pieces:
            yield f"a functionCall comes in pieces ({joined(pieces)}), which few clients join"
        elif not isinstance(args := member(call, "args"), dict):
            yield f"the args of a functionCall are {show(args)} instead of an object"


def _error_shape(_stream: _Stream, frame: Frame) -> Iterator[Finding]:
    error = frame.value["error"]
    wanted = {"code": int, "message": str, "status": str}
    missing = [key for key, kind in wanted.items() if not isinstance(member(error, key), kind)]
    if missing:
        yield f"error lacks {joined(missing)}"


def _finish_missing(stream: _Stream, _frame: Frame) -> Iterator[Finding]:
    if stream.over or (stream.blocked and not stream.seen):
        return
    for index in sorted(stream.seen - stream.finished) if stream.seen else [0]:
        yield f"the stream ends without a finishReason for candidate {index}"


LINTER: Final = Linter(
    frames=_frames,
    kind=_kind,
    state=_Stream,
    follow={_CHUNK: _Stream.chunk, _ERROR: _Stream.chunk},
    rules=(
        NOT_JSON,
        BLANK_LINE,
        NO_DONE,
        UNNAMED,
        Rule("comment", "there are no comment lines", (COMMENT,), _comment),
        Rule("candidates", "a chunk has candidates", (_CHUNK,), _candidates_there),
        Rule("role", "the role of content is model", (_CHUNK,), _role),
        Rule("call-name", "a functionCall has a name", (_CHUNK,), _call_name),
        Rule("call-whole", "a functionCall comes whole, args an object", (_CHUNK,), _call_whole),
        Rule("finish-once", "a candidate has one finishReason", (_CHUNK,), _finish_once),
        Rule("finish-last", "finishReason is in the last chunk", (_CHUNK,), _finish_last),
        Rule("error-shape", "an error has code, message, status", (_ERROR,), _error_shape),
        AFTER_END,
        Rule("end-missing", "a finishReason or an error ends the stream", (END,), _finish_missing),
    ),
)

StreamCheck: Final = strict_check(LINTER)
