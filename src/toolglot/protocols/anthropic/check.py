"""What the strictest clients need of a stream (measured 2026-11-15).

Claude Code goes by `event:` lines, takes a tool's input from deltas alone and fails on a signature
that is none; opencode needs `usage` at both ends, and asks again for ever without a stop reason.
"""

from collections.abc import Callable
from typing import Any, Final

from toolglot.ir import Json


class StreamCheck:
    """Judges one stream, event by event."""

    __slots__ = ("_empty", "_open", "_stopped", "ended")

    def __init__(self) -> None:
        self.ended = False
        self._open: int | None = None
        self._empty = self._stopped = False

    def sound(self, name: str, value: Json) -> bool:
        """Whether all clients can read this event."""
        kind = value.get("type")
        if kind != name:
            return False
        check = _CHECKS.get(kind)
        return check is None or check(self, value)

    def sound_mark(self, _payload: bytes) -> bool:
        """Nothing but JSON is readable."""
        return False

    def _message_start(self, value: Json) -> bool:
        message = _object(value, "message")
        return (
            type(message.get("id")) is str
            and type(message.get("content")) is list
            and type(message.get("usage")) is dict
        )

    def _block_start(self, value: Json) -> bool:
        index, block = value.get("index"), _object(value, "content_block")
        if type(index) is not int or self._open is not None:
            return False
        self._open, self._empty = index, block.get("type") == "tool_use"
        if not self._empty:
            return type(block.get("type")) is str
        return bool(block.get("id")) and bool(block.get("name")) and not block.get("input")

    def _block_delta(self, value: Json) -> bool:
        delta, self._empty = _object(value, "delta"), False
        kind = delta.get("type")
        signed = kind != "signature_delta" or type(delta.get("signature")) is str
        return self._is_open(value) and type(kind) is str and signed

    def _block_stop(self, value: Json) -> bool:
        known = self._is_open(value)
        self._open = None
        return known and not self._empty

    def _is_open(self, value: Json) -> bool:
        return self._open is not None and value.get("index") == self._open

    def _message_delta(self, value: Json) -> bool:
        self._stopped = self._stopped or bool(_object(value, "delta").get("stop_reason"))
        return type(value.get("usage")) is dict

    def _message_stop(self, _value: Json) -> bool:
        self.ended = self._stopped and self._open is None
        return self.ended


def _object(value: Json, key: str) -> Json:
    inner: Any = value.get(key)
    return inner if type(inner) is dict else {}


_CHECKS: Final[dict[Any, Callable[[StreamCheck, Json], bool]]] = {
    "message_start": StreamCheck._message_start,
    "content_block_start": StreamCheck._block_start,
    "content_block_delta": StreamCheck._block_delta,
    "content_block_stop": StreamCheck._block_stop,
    "message_delta": StreamCheck._message_delta,
    "message_stop": StreamCheck._message_stop,
}
