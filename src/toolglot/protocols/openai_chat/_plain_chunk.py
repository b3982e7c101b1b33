"""The shape of nearly all chunks of a stream, read in one step.

A chunk that holds more of one text or of the arguments of one call for the first choice, and
nothing else that means something, fits; every other one is read by `stream_decoder.py`, which
would find the same in those that fit. A third of the cost of an event is saved.
"""

from typing import Any, Final, Literal

from msgspec import Struct

from toolglot.wire import jsontext


class _Function(Struct, forbid_unknown_fields=True):
    arguments: str
    name: None = None


class _Piece(Struct, forbid_unknown_fields=True):
    index: int
    function: _Function
    id: None = None


class _Delta(Struct, forbid_unknown_fields=True):
    content: str | None = None
    role: Any = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: tuple[_Piece] | None = None
    refusal: None = None
    function_call: None = None


class _Choice(Struct, forbid_unknown_fields=True):
    delta: _Delta
    index: Literal[0] = 0
    finish_reason: None = None
    logprobs: None = None


class _Chunk(Struct):
    choices: tuple[_Choice]
    error: None = None
    object: str = ""
    usage: None = None


_read: Final = jsontext.reader(_Chunk)


def plain_delta(payload: bytes) -> _Delta | None:
    """The delta of a chunk that has the usual shape."""
    chunk = _read(payload)
    return None if chunk is None or chunk.object == "error" else chunk.choices[0].delta
