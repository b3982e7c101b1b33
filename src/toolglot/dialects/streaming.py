"""The arguments of a call as strict JSON while the model is still writing them.

Models write JSON that is not quite JSON: raw line breaks in strings, single quotes, `True`, a comma
too many. What they mean is written out as it comes, as far as it is certain, and what was JSON to
the letter comes out to the letter.
"""

import re
from typing import Final

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_ATOM: Final = re.compile(r"[\w.+-]*")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?", re.ASCII)
_WORDS: Final = {
    "true": "true", "false": "false", "null": "null",
    "True": "true", "False": "false", "None": "null",
}  # fmt: skip
_STOPS: Final = {quote: re.compile(rf'[{quote}"\\\x00-\x1f\ud800-\udfff]') for quote in "\"'"}
_RAW: Final = {chr(code): f"\\u{code:04x}" for code in range(0x20)} | {
    "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"',
}  # fmt: skip
_MAX_ATOM: Final = 256
_UNICODE: Final = re.compile(r"\\u[0-9a-fA-F]{4}")
_OTHER_ESCAPES: Final = "xUav0"
"""What Python reads as one character, and JSON does not know."""


class JsonStream:
    """Writes an object out as it comes; `failed` if it is none that can be written so."""

    __slots__ = ("_comma", "_expects", "_open", "_out", "_quote", "_text", "done", "failed")

    def __init__(self) -> None:
        self.done = False
        self.failed = False
        self._text = ""
        self._out: list[str] = []
        self._open: list[str] = []
        self._quote = ""
        self._comma = ""
        """A comma that waits for what follows it, with the space behind it."""
        self._expects = "value"

    def feed(self, text: str) -> str:
        """What more of the object is certain now."""
        self._text += text
        pos, after = -1, 0
        while pos < after < len(self._text) and not (self.done or self.failed):
            pos = after
            after = self._string(pos) if self._quote else self._token(self._spaces(pos))
        self._text = self._text[max(pos, after) :]
        out, self._out = "".join(self._out), []
        return out

    # --- strings

    def _string(self, pos: int) -> int:
        match = _STOPS[self._quote].search(self._text, pos)
        end = match.start() if match else len(self._text)
        self._out.append(self._text[pos:end])
        char = match.group() if match else ""
        if char == "\\":
            return self._escape(end)
        if char == self._quote:
            self._out.append('"')
            self._quote = ""
        elif char:
            self.failed = char not in _RAW
            self._out.append(_RAW.get(char, ""))
        return end + len(char)

    def _escape(self, pos: int) -> int:
        """An escape that may not be all there yet: it is read again then."""
        kind = self._text[pos + 1 : pos + 2]
        size = 6 if kind == "u" else 2
        if len(self._text) < pos + size:
            return pos
        if kind == "u":
            self.failed = _UNICODE.match(self._text, pos) is None
        elif kind == "'":
            self._out.append("'")
            return pos + size
        elif kind not in 'bfnrt"\\/':
            self.failed = not kind.isalnum() or kind in _OTHER_ESCAPES
            self._out.append("\\")
        self._out.append(self._text[pos : pos + size])
        return pos + size

    # --- everything else

    def _spaces(self, pos: int) -> int:
        match = _SPACE.match(self._text, pos)
        if match is None or not match.group():
            return pos
        if self._comma:
            self._comma += match.group()
        else:
            self._out.append(match.group())
        return match.end()

    def _token(self, pos: int) -> int:
        char = self._text[pos : pos + 1]
        if not char:
            return pos
        expects = self._expects
        if char in "}]":
            return self._close(pos, char)
        if expects == "value":
            return self._value(pos, char)
        if expects == "key" and char in "\"'":
            self._say('"')
            self._quote, self._expects = char, "colon"
        elif expects == "colon" and char == ":":
            self._say(char)
            self._expects = "value"
        elif expects == "comma" and char == ",":
            self._comma = char
            self._expects = "key" if self._open[-1] == "{" else "value"
        else:
            self.failed = True
        return pos + 1

    def _value(self, pos: int, char: str) -> int:
        if char in "{[":
            self._say(char)
            self._open.append(char)
            self._expects = "key" if char == "{" else "value"
            return pos + 1
        if char in "\"'":
            self._say('"')
            self._quote, self._expects = char, "comma"
            return pos + 1
        match = _ATOM.match(self._text, pos)
        atom = match.group() if match else ""
        if 0 < len(atom) < _MAX_ATOM and pos + len(atom) == len(self._text):
            return pos
        self.failed = atom not in _WORDS and _NUMBER.fullmatch(atom) is None
        self._say(_WORDS.get(atom, atom))
        self._expects = "comma"
        return pos + len(atom)

    def _close(self, pos: int, char: str) -> int:
        fits = bool(self._open) and self._open[-1] == ("{" if char == "}" else "[")
        if not fits or self._expects == "colon" or (self._expects == "value" and char == "}"):
            self.failed = True
            return pos
        self._open.pop()
        self._out.append(self._comma[1:] + char)
        self._comma = ""
        self._expects = "comma"
        self.done = not self._open
        return pos + 1

    def _say(self, text: str) -> None:
        self._out.append(self._comma + text)
        self._comma = ""
