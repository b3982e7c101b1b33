"""Simple expressions that say which conversations are kept.

has-calls  no-calls  has-tools  lossless  valid  invalid
model=gpt-*  model!=gpt-*  messages>=4  calls<10  note=part-dropped  note!=part-dropped
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Final

from toolglot.errors import ToolglotError


class FilterError(ToolglotError, ValueError):
    """An expression that means nothing."""


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What a filter can ask of a conversation."""

    model: str
    messages: int
    calls: int
    tools: int
    lossy: bool
    invalid: bool
    codes: frozenset[str]


@dataclass(frozen=True)
class Filter:
    """One expression, taken apart; pure data, so that it can go to other processes."""

    name: str
    operator: str = ""
    value: str = ""


_WORDS: Final[dict[str, Callable[[Seen], bool]]] = {
    "has-calls": lambda seen: seen.calls > 0,
    "no-calls": lambda seen: seen.calls == 0,
    "has-tools": lambda seen: seen.tools > 0,
    "lossless": lambda seen: not seen.lossy,
    "valid": lambda seen: not seen.invalid,
    "invalid": lambda seen: seen.invalid,
}
_COMPARED: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "=": eq,
    "!=": ne,
    ">=": ge,
    "<=": le,
    ">": gt,
    "<": lt,
}
_NUMBERS: Final = ("messages", "calls", "tools")
_MATCHED: Final[dict[str, Callable[[Seen, str], bool]]] = {
    "model": lambda seen, value: fnmatchcase(seen.model, value),
    "note": lambda seen, value: any(fnmatchcase(code, value) for code in seen.codes),
}
_EXPRESSION: Final = re.compile(r"([a-z]+)\s*(!=|>=|<=|=|>|<)\s*(.+)")
NEED_VALIDATION: Final = ("valid", "invalid")
"""Words that ask for what only checking calls tells."""


def parse_filter(text: str) -> Filter:
    """An expression, or a `FilterError` that says what there is."""
    if text in _WORDS:
        return Filter(text)
    match = _EXPRESSION.fullmatch(text.strip())
    if match is not None:
        name, operator, value = match.groups()
        if name in _NUMBERS and value.isdecimal():
            return Filter(name, operator, value)
        if name in _MATCHED and operator in ("=", "!="):
            return Filter(name, operator, value)
    words = ", ".join(_WORDS)
    raise FilterError(
        f"cannot read the filter {text!r}: expected {words}, model=PATTERN, note=CODE, or "
        "messages, calls or tools compared with a number, as in messages>=4"
    )


def keeps(filters: Iterable[Filter], seen: Seen) -> bool:
    """Whether a conversation passes all filters."""
    return all(_passes(each, seen) for each in filters)


def _passes(each: Filter, seen: Seen) -> bool:
    if each.name in _WORDS:
        return _WORDS[each.name](seen)
    if each.name in _MATCHED:
        return _MATCHED[each.name](seen, each.value) is (each.operator == "=")
    return _COMPARED[each.operator](getattr(seen, each.name), int(each.value))
