"""What the strictest clients need of a stream (measured 2026-11-15).

Who numbers events also says the rest, so the first one tells careful servers from others. The
`openai` package goes by `response.created` and indices, opencode by ids of items and the status of
calls, and it asks again for ever if the usage is missing at the end; Codex CLI reads that in full.
"""

from collections.abc import Callable
from typing import Any, Final

from toolglot.ir import Json

_CALLS: Final = frozenset({"function_call", "custom_tool_call"})
_INSIDE: Final = ("_text.delta", "_arguments.delta", "_input.delta", "_part.added")
_ENDS: Final = frozenset({"response.completed", "response.incomplete", "response.failed", "error"})


class StreamCheck:
    """Judges one stream, event by event."""

    __slots__ = ("_items", "ended")

    def __init__(self) -> None:
        self.ended = False
        self._items: set[int] = set()

    def sound(self, _name: str, value: Json) -> bool:
        """Whether all clients can read this event."""
        kind = value.get("type")
        if type(kind) is not str:
            return False
        self.ended = self.ended or kind in _ENDS
        check = _CHECKS.get(kind)
        if check is not None:
            return check(self, value)
        return not kind.endswith(_INSIDE) or (
            type(value.get("item_id")) is str and value.get("output_index") in self._items
        )

    def sound_mark(self, payload: bytes) -> bool:
        """The mark of another protocol, if all was said before it."""
        return payload == b"[DONE]" and self.ended

    def _created(self, value: Json) -> bool:
        numbered = type(value.get("sequence_number")) is int
        return numbered and type(_object(value, "response").get("id")) is str

    def _item_added(self, value: Json) -> bool:
        index = value.get("output_index")
        if type(index) is not int or index in self._items:
            return False
        self._items.add(index)
        return type(_object(value, "item").get("id")) is str

    def _item_done(self, value: Json) -> bool:
        item = _object(value, "item")
        if value.get("output_index") not in self._items or type(item.get("id")) is not str:
            return False
        called = bool(item.get("status")) and bool(item.get("call_id"))
        return called or item.get("type") not in _CALLS

    def _completed(self, value: Json) -> bool:
        response = _object(value, "response")
        usage = _object(response, "usage")
        details = usage.get("input_tokens_details")
        return (
            type(response.get("id")) is str
            and type(response.get("output")) is list
            and type(usage.get("total_tokens")) is int
            and (details is None or (type(details) is dict and "cached_tokens" in details))
        )


def _object(value: Json, key: str) -> Json:
    inner: Any = value.get(key)
    return inner if type(inner) is dict else {}


_CHECKS: Final[dict[str, Callable[[StreamCheck, Json], bool]]] = {
    "response.created": StreamCheck._created,
    "response.output_item.added": StreamCheck._item_added,
    "response.output_item.done": StreamCheck._item_done,
    "response.completed": StreamCheck._completed,
    "response.incomplete": StreamCheck._completed,
}
