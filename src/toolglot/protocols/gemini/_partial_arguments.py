"""Arguments that come in pieces: values, each with the JSON path of its place.

Only Vertex streams calls so, when `streamFunctionCallArguments` asks for it.
"""

import re
from itertools import pairwise
from typing import Any, Final

from toolglot.ir import Json, ToolCall

_STEP: Final = re.compile(r"""\.([^.\[\]]+)|\[(\d{1,9})\]|\[(?:'([^']*)'|"([^"]*)")\]""")
_VALUES: Final = ("stringValue", "numberValue", "boolValue")
_MOST: Final = 10_000
"""Elements that a path may ask an array to have."""


class PartialCall:
    """A call whose arguments are still coming."""

    __slots__ = ("_args", "_texts", "call")

    def __init__(self, call: ToolCall, args: Json) -> None:
        self.call = call
        self._args = args
        self._texts: dict[str, list[str]] = {}

    def add(self, pieces: Any) -> None:
        """Take in some pieces; whatever is no piece is passed over."""
        for piece in pieces if isinstance(pieces, list) else ():
            path = piece.get("jsonPath") if isinstance(piece, dict) else None
            if isinstance(path, str):
                self._add(path, piece)

    def arguments(self) -> Json:
        """The arguments so far."""
        for path, texts in self._texts.items():
            self._put(path, "".join(texts))
        self._texts.clear()
        return self._args

    def _add(self, path: str, piece: Json) -> None:
        value = next((piece[key] for key in _VALUES if piece.get(key) is not None), None)
        if isinstance(value, str):
            self._texts.setdefault(path, []).append(value)
        elif value is not None or "nullValue" in piece:
            self._put(path, value)

    def _put(self, path: str, value: Any) -> None:
        steps: list[str | int] = [
            int(match[2]) if match[2] else match[1] or match[3] or match[4] or ""
            for match in _STEP.finditer(path)
        ]
        if not steps:
            return
        here: Any = self._args
        for step, after in pairwise(steps):
            empty: Any = [] if isinstance(after, int) else {}
            here = _child(here, step, empty)
        _child(here, steps[-1], value, fresh=True)


def _child(parent: Any, step: str | int, value: Any, *, fresh: bool = False) -> Any:
    """The value at one step, put there if it is missing or `fresh`."""
    if isinstance(parent, dict):
        key = str(step)
        if fresh or not isinstance(parent.get(key), (dict, list)):
            parent[key] = value
        return parent[key]
    if isinstance(parent, list) and isinstance(step, int) and step < _MOST:
        parent.extend([None] * (step + 1 - len(parent)))
        if fresh or not isinstance(parent[step], (dict, list)):
            parent[step] = value
        return parent[step]
    return value
