"""Control characters in the arguments of calls, removed only where that is asked for.

Arguments are data: a file with CRLF line ends or terminal colours must arrive as it is. Some
clients break on U+0000 or on any control character, and ask for arguments without them. Only
strings that are values lose characters; keys, and everything else in the text, stay byte for byte.
"""

import re
from typing import Final

_KEPT: Final = frozenset("\t\n\r")
_REMOVED: Final[dict[str, frozenset[str]]] = {
    "off": frozenset(),
    "nul": frozenset("\0"),
    "c0": frozenset(map(chr, range(0x20))) - _KEPT,
}
"""What each mode removes."""

_SUSPECT: Final = re.compile(r"\\u00[01]|\\[bf]|[\x00-\x1f]")
_STRING: Final = re.compile(r'"((?:[^"\\]|\\.)*+)"(\s*+:)?', re.DOTALL)
_UNIT: Final = re.compile(r"\\u([0-9a-fA-F]{4})|\\.|[\x00-\x1f]", re.DOTALL)
_ESCAPES: Final = {"\\b": "\b", "\\f": "\f"}


def sanitize_text(text: str, mode: str) -> tuple[str, int]:
    """A plain text without the characters that a mode removes, and their number."""
    removed = _REMOVED[mode]
    kept = "".join(character for character in text if character not in removed)
    return kept, len(text) - len(kept)


def sanitize_arguments(text: str, mode: str) -> tuple[str, int]:
    """The same for every string value, however deep, of a JSON text."""
    removed = _REMOVED[mode]
    if not removed or not _SUSPECT.search(text):
        return text, 0
    count = 0

    def without_removed(match: re.Match[str]) -> str:
        nonlocal count
        if _character(match) not in removed:
            return match[0]
        count += 1
        return ""

    def in_value(match: re.Match[str]) -> str:
        return match[0] if match[2] else f'"{_UNIT.sub(without_removed, match[1])}"'

    return _STRING.sub(in_value, text), count


def _character(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else _ESCAPES.get(match[0], match[0])
