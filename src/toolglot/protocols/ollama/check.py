"""What the strictest clients need of a stream (measured 2026-11-15).

The `ollama` package wants the role in every message.
"""

from toolglot.ir import Json


class StreamCheck:
    """Judges one stream, line by line."""

    __slots__ = ("ended",)

    def __init__(self) -> None:
        self.ended = False

    def sound(self, _name: str, value: Json) -> bool:
        """Whether all clients can read this line."""
        self.ended = self.ended or value.get("done") is True
        message = value.get("message")
        return message is None or (type(message) is dict and bool(message.get("role")))

    def sound_mark(self, _payload: bytes) -> bool:
        """Nothing but JSON is readable."""
        return False
