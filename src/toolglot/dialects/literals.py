"""Values as models write them: JSON, almost JSON, and Python literals. No eval, bounded depth."""

import re
from decimal import Decimal
from typing import Any, Final

from toolglot.wire import jsontext

MAX_DEPTH: Final = 64
_SIGNIFICANT: Final = re.compile(r"[\"'{}\[\](),:<`|]")
_CLOSES: Final = {"}": "{", "]": "[", ")": "("}
_WORDS: Final = {
    "true": True, "false": False, "null": None,
    "True": True, "False": False, "None": None,
}  # fmt: skip
_NUMBER: Final = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_WORD: Final = re.compile(r"[^\W\d]\w*(?:[.\-]\w+)*")
_SPACE: Final = re.compile(r"\s*")
_STRING_STOP: Final = {quote: re.compile(rf"[{quote}\\]") for quote in "\"'"}
_ESCAPES: Final = {
    "n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "a": "\a", "v": "\v", "0": "\0",
    "\\": "\\", "/": "/", '"': '"', "'": "'", "\n": "",
}  # fmt: skip
_HEX: Final = {"x": 2, "u": 4, "U": 8}
_MAX_DIGITS: Final = 4000
_MAX_SPACE: Final = 64
_BEHIND_STRING: Final = frozenset(":}])\"'<`|;")
_NEXT: Final = re.compile(
    r"[\"'{\[\]})\d+.-]|(?:true|false|null|True|False|None)\b|\w{1,64}\s{0,8}[=:]|\w{0,64}\s{0,8}\Z"
)
"""What may follow the comma behind a string: a value, the key or the name of one, or the end."""


def _ends_string(text: str, pos: int) -> bool | None:
    """Whether a quote before this place ends its string; none if only more text can tell.

    Models forget to escape quotes in strings. A quote that ends one has punctuation behind it, and
    a comma is followed by the next value or key.
    """
    char, pos = _significant(text, pos)
    if char == ",":
        match = _NEXT.match(text, _significant(text, pos + 1)[1])
        if match is None:
            return False
        return None if match.end() == len(text) else True
    return None if not char and pos == len(text) else not char or char in _BEHIND_STRING


def _significant(text: str, pos: int) -> tuple[str, int]:
    """The next character that is no space, and its place; nothing if there is too much space."""
    end = min(len(text), pos + _MAX_SPACE)
    while pos < end and text[pos].isspace():
        pos += 1
    return (text[pos] if pos < end else ""), pos


class JsonScanner:
    """Finds the end of an object or array, going on where it stopped when more text has come."""

    __slots__ = ("_before", "_depth", "_quote", "complete", "in_string", "loose", "pos")

    def __init__(self, pos: int, *, loose: bool = False) -> None:
        self.pos = pos
        self.loose = loose
        self.complete = False
        self.in_string = False
        self._quote = ""
        self._depth: list[str] = []
        self._before = ""

    def advance(self, buf: str, *, final: bool = False) -> bool:
        """Read on; true when the end, or something that no JSON holds, was found."""
        while self.pos < len(buf):
            if self._quote:
                if not self._string(buf, final=final):
                    return False
                continue
            match = _SIGNIFICANT.search(buf, self.pos)
            if match is None:
                self.pos = len(buf)
                return False
            self.pos = match.start()
            if self._mark(match.group()):
                return True
        return False

    def _string(self, buf: str, *, final: bool) -> bool:
        match = _STRING_STOP[self._quote].search(buf, self.pos)
        if match is None:
            self.pos = len(buf)
            return False
        if match.group() == "\\":
            if match.end() == len(buf):
                self.pos = match.start()
                return False
            self.pos = match.end() + 1
            return True
        ends = _ends_string(buf, match.end())
        if ends is None and not final:
            self.pos = match.start()
            return False
        self.pos = match.end()
        if ends is False:
            return True
        self._before = self._quote
        self._quote = ""
        self.in_string = False
        return True

    def _mark(self, char: str) -> bool:
        """One character outside strings; true when reading ends here."""
        if char in "<`|" and not self.loose:
            return True
        if char == '"' or (char == "'" and self._before in "{[,:(="):
            self._quote = char
            self.in_string = True
        elif char in "{[(":
            self._depth.append(char)
        elif char in _CLOSES:
            if not self._depth or self._depth[-1] != _CLOSES[char]:
                return True
            self._depth.pop()
        self.pos += 1
        self._before = char
        self.complete = not self._depth
        return self.complete


class Literal:
    """A reader of one value in JSON, or in Python where that differs; `ValueError` if neither.

    It forgives what models get wrong without making the meaning doubtful: raw line breaks in
    strings, single quotes, trailing commas, leading zeros, closing brackets missing at the end.
    """

    __slots__ = ("_depth", "pos", "text")

    def __init__(self, text: str, pos: int = 0) -> None:
        self.text = text
        self.pos = pos
        self._depth = 0

    def whole(self) -> Any:
        """The value, if there is nothing else."""
        value = self.value()
        self.spaces()
        if self.pos != len(self.text):
            raise ValueError("more than one value")
        return value

    def spaces(self) -> str:
        """Skip white space; the character after it."""
        match = _SPACE.match(self.text, self.pos)
        self.pos = match.end() if match else self.pos
        return self.text[self.pos : self.pos + 1]

    def value(self) -> Any:
        """The value that comes next."""
        char = self.spaces()
        if char in ('"', "'"):
            return self._strings()
        if char in ("{", "[", "("):
            self._depth += 1
            if self._depth > MAX_DEPTH:
                raise ValueError("nested too deeply")
            value = self._object() if char == "{" else self._array("]" if char == "[" else ")")
            self._depth -= 1
            return value
        return self._number() if char and (char.isdigit() or char in "+-.") else self._word()

    def _object(self) -> Any:
        self.pos += 1
        members: dict[str, Any] = {}
        while (char := self.spaces()) not in ("}", ""):
            key = self._strings() if char in "\"'" else self.key()
            if not members and self.spaces() in (",", "}"):
                return self._set(key)
            if self.spaces() != ":":
                raise ValueError("no colon")
            self.pos += 1
            members[str(key)] = self.value()
            self._comma("}")
        self.pos += 1
        return members

    def _set(self, first: str) -> list[Any]:
        """The rest of a Python set."""
        self._comma("}")
        items: list[Any] = [first]
        while self.spaces() not in ("}", ""):
            items.append(self.value())
            self._comma("}")
        self.pos += 1
        return items

    def _array(self, close: str) -> list[Any]:
        self.pos += 1
        items: list[Any] = []
        while self.spaces() not in (close, ""):
            items.append(self.value())
            self._comma(close)
        self.pos += 1
        return items

    def _comma(self, close: str) -> None:
        char = self.spaces()
        if char == ",":
            self.pos += 1
        elif char not in (close, ""):
            raise ValueError("no comma")

    def key(self) -> str:
        """A name without quotes."""
        match = _WORD.match(self.text, self.pos)
        if match is None:
            raise ValueError("no name")
        self.pos = match.end()
        return match.group()

    def _strings(self) -> str:
        """A string, or several in a row, which Python joins."""
        pieces = [self._string()]
        while True:
            before = self.pos
            if self.spaces() not in ('"', "'"):
                self.pos = before
                return "".join(pieces)
            pieces.append(self._string())

    def _string(self) -> str:
        text, quote = self.text, self.text[self.pos]
        if text.startswith(quote * 3, self.pos):
            end = text.find(quote * 3, self.pos + 3)
            if end < 0:
                raise ValueError("open string")
            start, self.pos = self.pos + 3, end + 3
            return text[start:end]
        self.pos += 1
        pieces: list[str] = []
        while True:
            match = _STRING_STOP[quote].search(text, self.pos)
            if match is None:
                raise ValueError("open string")
            pieces.append(text[self.pos : match.start()])
            self.pos = match.end()
            if match.group() != quote:
                pieces.append(self._escape())
            elif _ends_string(text, self.pos) is False:
                pieces.append(quote)
            else:
                return _joined("".join(pieces))

    def _escape(self) -> str:
        char = self.text[self.pos : self.pos + 1]
        self.pos += 1
        width = _HEX.get(char, 0)
        digits = self.text[self.pos : self.pos + width]
        if width and len(digits) == width and all(d in "0123456789abcdefABCDEF" for d in digits):
            code = int(digits, 16)
            if code <= 0x10FFFF:  # noqa: PLR2004 - the last character of Unicode
                self.pos += width
                return chr(code)
        return _ESCAPES.get(char, "\\" + char)

    def _number(self) -> Any:
        match = _NUMBER.match(self.text, self.pos)
        if match is None or match.end() - match.start() > _MAX_DIGITS:
            raise ValueError("no number")
        digits = match.group()
        after = self.text[match.end() : match.end() + 1]
        if after.isalnum() or after == "_":
            raise ValueError("no number")
        self.pos = match.end()
        return number(digits)

    def _word(self) -> Any:
        word = self.key()
        if word not in _WORDS:
            raise ValueError(f"unknown word {word}")
        return _WORDS[word]


def number(digits: str) -> int | float | Decimal:
    """A number as exact as it is written."""
    bare = digits.lstrip("+-")
    if bare.isdigit():
        return int(digits)
    value = float(digits)
    exact = Decimal(digits)
    if value in (float("inf"), float("-inf")):
        raise ValueError("out of range")
    return value if Decimal(repr(value)) == exact else exact


def _joined(text: str) -> str:
    """Halves of a surrogate pair put together."""
    if text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def lenient(text: str) -> Any:
    """The value of JSON text or, where it is not quite JSON, of what it must mean."""
    try:
        return jsontext.exact(text)
    except ValueError:
        return Literal(text).whole()


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON: `1` and `1.0` are, `1` and `true` are not."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def is_json(text: str) -> bool:
    """Whether a text is JSON to the letter."""
    try:
        jsontext.peek(text)
    except ValueError:
        return False
    return True


def pieces(text: str) -> list[str]:
    """The texts of the elements of an array, or of the members of an object, broken ones too."""
    found: list[str] = []
    start = pos = 1
    depth = 0
    quote = ""
    while pos < len(text):
        char = text[pos]
        if quote:
            pos += char == "\\"
            quote = "" if char == quote else quote
        elif char == '"':
            quote = char
        elif char in "{[":
            depth += 1
        elif char in "}]":
            depth -= 1
        if depth < 0 or (not quote and not depth and char == ","):
            found.append(text[start:pos])
            start = pos + 1
            if depth < 0:
                return [each.strip() for each in found if each.strip()]
        pos += 1
    found.append(text[start:])
    return [each.strip() for each in found if each.strip()]
