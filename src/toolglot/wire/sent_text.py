"""What was sent of a text so far, in bounded memory.

Some protocols repeat a text whole when it ends, and a decoder has to know what of it is new. The
beginning of a long one is remembered by its length and digest alone.
"""

from hashlib import blake2b
from typing import Final

_PIECES: Final = 256
"""Pieces that are kept apart; tokens are small, and each piece costs more than its text."""
_KEPT: Final = 64 * 1024
"""Characters that are kept as they are."""


class SentText:
    """A text that grows."""

    __slots__ = ("_before", "_digest", "_kept", "_pieces")

    def __init__(self, kept: int = _KEPT) -> None:
        self._kept = kept
        self._pieces: list[str] = []
        self._before = 0
        self._digest = blake2b(digest_size=16)

    def __bool__(self) -> bool:
        return self._before > 0 or bool(self._pieces)

    def append(self, text: str) -> None:
        """More of it."""
        self._pieces.append(text)
        if len(self._pieces) >= _PIECES:
            self._shorten()

    def _shorten(self) -> None:
        text = "".join(self._pieces)
        if len(text) > self._kept:
            self._before += len(text)
            self._digest.update(_bytes(text))
            text = ""
        self._pieces = [text] if text else []

    def beyond(self, full: str) -> str:
        """What a whole text has beyond this; nothing, if it does not begin with it."""
        start = self._before
        if start:
            beginning = blake2b(_bytes(full[:start]), digest_size=16)
            if beginning.digest() != self._digest.digest():
                return ""
        before = "".join(self._pieces)
        return full[start + len(before) :] if full.startswith(before, start) else ""

    def text(self) -> str | None:
        """All of it, unless that was too long to be kept."""
        return None if self._before else "".join(self._pieces)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
