"""What is looked for in a text, depending on what is known of it."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from toolglot.dialects.dialect import Dialect
from toolglot.dialects.reader import Form, Stops


class Situation(NamedTuple):
    """What is known of a text so far."""

    rows: tuple[Dialect, ...]
    auto: bool
    """Whether nobody said which dialect it is."""
    tools: bool
    """Whether the tools are declared."""
    marked_only: bool
    settled: bool
    """Whether the dialect is known."""
    blank: bool
    """Whether no word came yet."""
    called: bool
    interrupted: bool
    """Whether a call ended reasoning that was not closed."""
    closers: tuple[str, ...]
    """What ends the reasoning that is open."""

    def only_at_start(self, form: Form) -> bool:
        """Whether a form counts only where an answer begins."""
        return form.at == "start" or (form.at == "loose" and self.auto)

    def eligible(self, row: Dialect, form: Form) -> bool:
        """Whether a form is looked for: bare ones need declared tools, or a dialect that was named.

        A dialect whose bare form is only a fallback is not found by that form.
        """
        bare = self.tools or not self.auto
        if self.marked_only and (form.bare or self.only_at_start(form)):
            return False
        if form.bare and (not bare or (self.auto and not row.forms[0].bare)):
            return False
        if form.frames and not self.settled:
            return False
        return not self.only_at_start(form) or self.blank


class Marks(Stops):
    """Marks that are searched for in text that is still coming."""

    __slots__ = ("_growing", "search")

    def __init__(self, *marks: str) -> None:
        super().__init__(*marks)
        self._growing = frozenset(mark[:end] for mark in self.marks for end in range(1, len(mark)))
        self.search = re.compile(_tree(self.marks)).search
        """Finds the first mark, or what may become one at the end of the text."""

    def may_grow(self, buf: str, match: re.Match[str]) -> bool:
        """Whether what `search` found may become a mark, or another one, with more text."""
        return match.end() == len(buf) and match.group() in self._growing


def _tree(marks: Iterable[str]) -> str:
    """A pattern for marks, letter by letter, that the end of the text may cut short."""
    branches: dict[str, list[str]] = {}
    for mark in filter(None, marks):
        branches.setdefault(mark[0], []).append(mark[1:])
    ways: list[str] = []
    for first, rests in branches.items():
        way = re.escape(first)
        if any(rests):
            way += f"(?:{_tree(rests)}|\\Z{'|' if '' in rests else ''})"
        ways.append(way)
    return "|".join(ways)


class Armed:
    """What is looked for in one situation."""

    __slots__ = ("drops", "forms", "stops", "strays")

    def __init__(self, situation: Situation) -> None:
        rows = situation.rows
        self.forms: dict[str, list[tuple[Dialect, Form]]] = {}
        """The forms by their openers."""
        self.strays: frozenset[str] = frozenset()
        """Closers that go only right behind a call."""
        self.drops: frozenset[str] = frozenset()
        """Marks that go."""
        for row in rows:
            if situation.closers and not row.interrupts:
                continue
            for form in row.forms:
                if situation.eligible(row, form):
                    for opener in filter(None, form.openers):
                        self.forms.setdefault(opener, []).append((row, form))
        others = situation.closers or self._others(rows, situation)
        self.stops = Marks(*self.forms, *others, "\x00never")

    def _others(self, rows: tuple[Dialect, ...], situation: Situation) -> tuple[str, ...]:
        found = pairs(situation.rows, marked_only=situation.marked_only)
        strays = {each for row in rows for each in row.strays} if situation.called else set()
        late = found.values() if situation.interrupted or situation.blank else ()
        drops = {each for row in rows for each in row.drops} if situation.settled else set()
        self.strays = frozenset(strays - drops)
        self.drops = frozenset({*strays, *drops, *late} - found.keys())
        return (*found, *self.drops)


@lru_cache(512)
def armed(situation: Situation) -> Armed:
    """What is looked for."""
    return Armed(situation)


@lru_cache(256)
def pairs(rows: tuple[Dialect, ...], *, marked_only: bool) -> dict[str, str]:
    """What opens reasoning, with what closes it; nothing if all is reasoning."""
    if marked_only:
        return {}
    return dict(pair for row in rows for pair in row.reasoning)
