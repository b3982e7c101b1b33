"""Aliases: what a target takes, in place of an id or a name that it forbids.

An alias follows from the text alone: as much of it as may stand, and a digest of all of it, so that
`call.0` and `call:0` stay two. What a target takes stays as it is. Should two texts still come to
the same, the one that was seen first has it; so what was said once keeps its alias however long the
conversation grows.
"""

import re
import sys
from collections.abc import Collection
from functools import lru_cache
from itertools import count
from typing import Final

from toolglot.digest import digest
from toolglot.surface import IdentifierRule

DIGEST: Final = 8
_LONGEST: Final = 64
_ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_FOREIGN: Final = re.compile(r"[^a-zA-Z0-9_-]")
FREE: Final = IdentifierRule(least=0)
"""Takes everything."""


@lru_cache(maxsize=64)
def pattern(rule: IdentifierRule) -> re.Pattern[str]:
    """The texts that a rule takes, to be matched in full."""
    first = f"(?=[{rule.first}])" if rule.first else ""
    chars = f"[{rule.chars}]" if rule.chars else "."
    most = "" if rule.most is None else rule.most
    return re.compile(f"{first}{chars}{{{rule.least},{most}}}", re.DOTALL)


def all_fit(texts: Collection[str], rule: IdentifierRule) -> bool:
    """Whether the rule takes all of these, which is nearly always so and must not take long."""
    if rule.first:
        return all(map(pattern(rule).fullmatch, texts))
    lengths = [*map(len, texts)]
    if lengths and (min(lengths) < rule.least or max(lengths) > (rule.most or sys.maxsize)):
        return False
    return rule.chars is None or _only(rule.chars).fullmatch("".join(texts)) is not None


@lru_cache(maxsize=64)
def _only(chars: str) -> re.Pattern[str]:
    return re.compile(f"[{chars}]*")


def make_alias(
    text: str, rule: IdentifierRule, *, stem: str | None = None, attempt: int = 0
) -> str:
    """A text that the rule takes, made of a readable stem and a digest of the text."""
    most = min(rule.most or _LONGEST, _LONGEST)
    room = most - DIGEST - 1
    if room < 1 or (rule.chars is not None and "_" not in rule.chars):
        return _digest(text, attempt, most)
    stem = _FOREIGN.sub("_", text if stem is None else stem)
    if rule.first and not re.match(f"[{rule.first}]", stem):
        stem = f"_{stem}"
    return f"{stem[:room]}_{_digest(text, attempt, DIGEST)}"


def _digest(text: str, attempt: int, length: int) -> str:
    data = text.encode("utf-8", "surrogatepass")
    hashed = digest(data, 48, attempt)
    number = int.from_bytes(hashed, "big")
    letters = []
    for _ in range(length):
        number, rest = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[rest])
    return "".join(letters)


class Aliases:
    """What the texts of one conversation are called, in the order in which they are seen."""

    __slots__ = ("_given", "_rule", "_taken")

    def __init__(self, rule: IdentifierRule, taken: set[str] | None = None) -> None:
        self._rule = rule
        self._given: dict[str, str] = {}
        self._taken = set(taken or ())

    def of(self, text: str, wanted: str | None = None) -> str:
        """The text, or as it is wanted, if the rule takes that and it is free; else an alias."""
        given = self._given.get(text)
        if given is None:
            given = self._given[text] = self._new(text, text if wanted is None else wanted)
            self._taken.add(given)
        return given

    def _new(self, text: str, wanted: str) -> str:
        if wanted not in self._taken and pattern(self._rule).fullmatch(wanted):
            return wanted
        for attempt in count():
            alias = make_alias(text, self._rule, stem=wanted, attempt=attempt)
            if alias not in self._taken:
                return alias
        raise AssertionError  # pragma: no cover - count() has no end
