"""What a prompt offers to fill arguments with: paths, places, quoted texts, commands, numbers.

Nothing here makes a command that changes anything: a command comes from backticks in the prompt,
word for word, or from a short list of harmless ones.
"""

import re
import shlex
from collections.abc import Callable
from typing import Final

from msgspec import Struct

_CODE: Final = re.compile(r"`([^`\n]+)`")
_QUOTED: Final = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|“([^”\n]+)”|(?<!\w)'([^'\n]+)'(?!\w)")
_URL: Final = re.compile(r"https?://[^\s<>\"'`)]+[^\s<>\"'`).,;:!?]")
_EMAIL: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_DATE: Final = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_NUMBER: Final = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w])")
_MATHS: Final = re.compile(r"[\d(][\d\s().]*[-+*/^%][\d\s().+*/^%-]*[\d)]")
_PATH: Final = re.compile(
    r"(?<![\w:/.()])(?:[~.]{0,2}/[\w.@+/-]*[\w/]|[\w@+-][\w.@+-]*/[\w.@+/-]*\w|[\w-]+\.[a-zA-Z]\w{0,5}\b"
    r"|\.[a-z]\w+|README|LICENSE|Makefile|Dockerfile)(?![\w@])"
)
_CAPITALS: Final = r"[A-Z][\w'’-]*(?:,? [A-Z][\w'’-]*)*"  # noqa: RUF001 - as people type it
_PLACE: Final = re.compile(
    rf"\b(?:in|at|near|for|from|to|of|around)\s+({_CAPITALS}(?:(?:,| and|, and| or) {_CAPITALS})*)"
)
_SMALL_PLACE: Final = re.compile(
    r"\b(?:in|near)\s+(?!(?:the|my|our|your|this|that|what|which|all|any|one|here)\b)([a-z]{3,})"
)
_SOUGHT: Final = re.compile(r"\b(?:for|about|named|called)\s+([^.?!\n]+)")
_IDENTITY: Final = re.compile(r"#?\b([A-Z]{2,}-?\d+|\d{2,}|[0-9a-f]{8,})\b")
_TAG: Final = re.compile(r"</?[a-z][\w-]*>")
_TOKEN: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")

HARMLESS: Final = ("ls", "pwd", "date", "whoami", "uname", "hostname")
"""Commands that may be run because the prompt says their name."""

_READING: Final = frozenset({"read", "show", "open", "cat", "view", "print", "display"})
_SHORT: Final = 60
_WHOLE: Final = 500


def tokens(name: str) -> list[str]:
    """The words of a name: `filePath` and `file_path` are file and path."""
    return [word.lower() for word in _TOKEN.findall(name)]


def quoted(prompt: str) -> list[str]:
    """Texts in quotation marks or backticks."""
    return [next(filter(None, found)) for found in _QUOTED.findall(prompt)]


def commands(prompt: str) -> list[str]:
    """Shell commands: those in backticks, to show a file that is named, or harmless ones."""
    found = _CODE.findall(prompt)
    if found:
        return found
    said = tokens(prompt)
    if not _READING.isdisjoint(said):
        found = [f"cat {shlex.quote(path)}" for path in paths(prompt)]
    return found + [word for word in HARMLESS if word in said]


def paths(prompt: str) -> list[str]:
    """Words that look like the path of a file."""
    return list(dict.fromkeys(_PATH.findall(_URL.sub(" ", prompt))))


def urls(prompt: str) -> list[str]:
    """Addresses of pages."""
    return _URL.findall(prompt)


def places(prompt: str) -> list[str]:
    """Names after words such as `in`."""
    said = [
        place.strip()
        for group in _PLACE.findall(prompt)
        for place in re.split(r",? and |,? or ", group)
    ]
    return said or _SMALL_PLACE.findall(prompt)


def numbers(prompt: str) -> list[int | float]:
    """Numbers, in order."""
    return [float(word) if "." in word else int(word) for word in _NUMBER.findall(prompt)]


def short(prompt: str, most: int = _SHORT) -> str:
    """The beginning of the prompt, on one line, without tags and without a torn word."""
    line = " ".join(_TAG.sub(" ", prompt).split())
    return line if len(line) <= most else line[: most - 1].rsplit(" ", 1)[0] + "…"


def _sought(prompt: str) -> list[str]:
    return quoted(prompt) or [each.strip() for each in _SOUGHT.findall(prompt)]


def _nothing(_prompt: str) -> list[str]:
    return []


class _Slot(Struct, frozen=True):
    """Parameters of one meaning: the words in their names, what to look for, what else to say."""

    words: frozenset[str]
    find: Callable[[str], list[str]]
    otherwise: tuple[str, ...] = ()


def _slot(words: str, find: Callable[[str], list[str]], *otherwise: str) -> _Slot:
    return _Slot(frozenset(words.split()), find, otherwise)


_FOLDER: Final = _slot("dir directory folder cwd workdir root", paths, ".", "..")
_FILE: Final = _slot("path paths file files filename filepath notebook", paths, "README.md")
_SLOTS: Final = (
    _slot("old", lambda prompt: quoted(prompt)[:1], "old text"),
    _slot("new replacement", lambda prompt: quoted(prompt)[1:2], "new text"),
    _slot("id ids identifier", _IDENTITY.findall, "1", "2"),
    _slot("email mail recipient", _EMAIL.findall, "someone@example.com", "other@example.com"),
    _slot("url urls uri link href", urls, "https://example.com/", "https://example.org/"),
    _slot("date day", _DATE.findall, "2026-01-01", "2026-01-02"),
    _slot("command commands cmd script shell argv", commands, "ls", "pwd"),
    _slot("code source", _CODE.findall, 'print("Hello from toolglot")'),
    _FOLDER,
    _FILE,
    _slot(
        "city location place town destination origin address harbour harbor region country",
        places,
        "Paris",
        "Tokyo",
    ),
    _slot("expression formula equation calculation", _MATHS.findall, "1 + 1", "2 + 2"),
    _slot("query q pattern search keyword keywords term regex", _sought),
    _slot(
        "content contents body text data input chars",
        quoted,
        "Hello from toolglot's demo model.",
        "Hello again from toolglot's demo model.",
    ),
    _slot("prompt question message instruction instructions task request", _nothing),
)


class Hints:
    """One prompt, as a source of arguments. Another `variant` prefers other values."""

    __slots__ = ("prompt", "said", "variant")

    def __init__(self, prompt: str, variant: int = 0) -> None:
        self.prompt = prompt
        self.variant = variant
        self.said = frozenset(tokens(prompt))

    def found(self, name: str, about: str = "") -> list[str]:
        """What the prompt itself says for a parameter, the best first."""
        slot = _slot_of(name, about)
        return self._turned(slot.find(self.prompt)) if slot else []

    def texts(self, name: str, about: str = "") -> list[str]:
        """Values for a parameter whether the prompt says any or not, the best first."""
        slot = _slot_of(name, about)
        if slot is None:
            return [*self._turned(quoted(self.prompt)), self._brief(_SHORT)]
        known = slot.find(self.prompt)
        spare = [each for each in slot.otherwise if each not in known]
        usual = self._turned([*known[:2], *spare] if known else spare)
        return [*usual, self._brief(_WHOLE)]

    def numbers(self) -> list[int | float]:
        """Numbers in the prompt."""
        found = numbers(self.prompt)
        return found[self.variant % len(found) :] if found else []

    def mentions(self, value: object) -> bool:
        """Whether the prompt says a value."""
        words = tokens(str(value))
        return bool(words) and self.said.issuperset(words)

    def _turned(self, found: list[str]) -> list[str]:
        """The same values, beginning with that of the variant."""
        at = self.variant % len(found) if found else 0
        return found[at:] + found[:at]

    def _brief(self, most: int) -> str:
        words = short(self.prompt, most) or "demo"
        return f"{words} ({self.variant + 1})" if self.variant else words


def _slot_of(name: str, about: str) -> _Slot | None:
    words = set(tokens(name))
    for slot in _SLOTS:
        if words & slot.words:
            lists = slot is _FILE and "director" in about.lower() and "file" not in words
            return _FOLDER if lists else slot
    return None
