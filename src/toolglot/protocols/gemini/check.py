"""What the strictest clients need of a stream (measured 2026-11-15).

They forgive nearly everything, but read every event as JSON; opencode asks again for ever without a
`finishReason`.
"""

from toolglot.ir import Json


class StreamCheck:
    """Judges one stream, event by event."""

    __slots__ = ("ended",)

    def __init__(self) -> None:
        self.ended = False

    def sound(self, _name: str, value: Json) -> bool:
        """Whether all clients can read this event."""
        candidates = value.get("candidates")
        if type(candidates) is list:
            for candidate in candidates:
                if type(candidate) is dict and candidate.get("finishReason"):
                    self.ended = True
        self.ended = self.ended or "promptFeedback" in value
        return True

    def sound_mark(self, _payload: bytes) -> bool:
        """Nothing but JSON is readable."""
        return False
