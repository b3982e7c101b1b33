"""What the strictest clients need of a stream (measured 2026-11-15).

The `openai` package goes by `object` and indices; opencode needs the index of every piece of a
call, its id and name in the first one, and asks again for ever without a finish reason.
"""

from typing import Any

from toolglot.ir import Json


class StreamCheck:
    """Judges one stream, event by event."""

    __slots__ = ("_calls", "_choices", "_failed", "_finished")

    def __init__(self) -> None:
        self._choices: set[int] = set()
        self._finished: set[int] = set()
        self._calls: set[tuple[int, int]] = set()
        self._failed = False

    @property
    def ended(self) -> bool:
        """Whether every choice said why it ended, or an error did; the mark is not missed."""
        return self._failed or (bool(self._choices) and self._choices <= self._finished)

    def sound(self, _name: str, value: Json) -> bool:
        """Whether all clients can read this event."""
        self._failed = self._failed or bool(value.get("error"))
        choices = value.get("choices")
        if not choices or type(choices) is not list:
            return True
        return bool(value.get("object")) and all(map(self._choice, choices))

    def sound_mark(self, payload: bytes) -> bool:
        """The mark of the end, where there is one."""
        return payload == b"[DONE]" and self.ended

    def _choice(self, choice: Any) -> bool:
        if type(choice) is not dict or type(index := choice.get("index")) is not int:
            return False
        self._choices.add(index)
        if choice.get("finish_reason"):
            self._finished.add(index)
        delta = choice.get("delta")
        calls = delta.get("tool_calls") if type(delta) is dict else None
        return not calls or (
            type(calls) is list and all(self._piece(index, piece) for piece in calls)
        )

    def _piece(self, choice: int, piece: Any) -> bool:
        if type(piece) is not dict or type(index := piece.get("index")) is not int:
            return False
        if (choice, index) in self._calls:
            return True
        self._calls.add((choice, index))
        inner = piece.get("function") or piece.get("custom")
        return bool(piece.get("id")) and type(inner) is dict and bool(inner.get("name"))
