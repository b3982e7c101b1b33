"""Places in a text, which Gemini Interactions counts in bytes of UTF-8."""

from bisect import bisect_left
from itertools import accumulate

_WIDTHS = ((0x80, 1), (0x800, 2), (0x10000, 3))


class Offsets:
    """Bytes to characters of one text and back."""

    __slots__ = ("_size", "_starts")

    def __init__(self, text: str) -> None:
        self._size = len(text)
        self._starts = None if text.isascii() else [*accumulate(map(_width, text), initial=0)]
        """The byte at which each character starts, and the end; None: they are the same."""

    def characters(self, at: int) -> int | None:
        """The character that starts at a byte; None: none does."""
        if self._starts is None:
            return at if 0 <= at <= self._size else None
        place = bisect_left(self._starts, at)
        return place if place <= self._size and self._starts[place] == at else None

    def bytes(self, at: int) -> int:
        """The byte at which a character starts; the end for one that is behind it."""
        place = min(max(at, 0), self._size)
        return place if self._starts is None else self._starts[place]


def _width(character: str) -> int:
    number = ord(character)
    return next((width for limit, width in _WIDTHS if number < limit), 4)
