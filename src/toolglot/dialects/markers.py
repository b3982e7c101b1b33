"""What is looked for in a text, depending on what is known of it."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from toolglot.dialects.dialect import Dialect
from toolglot.dialects.reader import Form, Stops


class SearchState(NamedTuple):
    """What is known of a text so far."""

    rows: tuple[Dialect, ...]
    auto: bool
    """Whether the dialect has to be found out."""
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


class MarkerSearch(Stops):
    """Marks that are searched for in text that is still coming."""

    __slots__ = ("_growing", "search")

    def __init__(self, *marks: str) -> None:
        super().__init__(*marks)
        self._growing = frozenset(mark[:end] for mark in self.marks for end in range(1, len(mark)))
        self.search = re.compile(_prefix_pattern(self.marks)).search
        """Finds the first mark, or what may become one at the end of the text."""

    def may_grow(self, buf: str, match: re.Match[str]) -> bool:
        """Whether what `search` found may become a mark, or another one, with more text."""
        return match.end() == len(buf) and match.group() in self._growing


def _prefix_pattern(marks: Iterable[str]) -> str:
    """A pattern for marks, letter by letter, that the end of the text may cut short."""
    branches: dict[str, list[str]] = {}
    for mark in filter(None, marks):
        branches.setdefault(mark[0], []).append(mark[1:])
    alternatives: list[str] = []
    for first, rests in branches.items():
        pattern = re.escape(first)
        if any(rests):
            pattern += f"(?:{_prefix_pattern(rests)}|\\Z{'|' if '' in rests else ''})"
        alternatives.append(pattern)
    return "|".join(alternatives)


class MarkerSet:
    """What is looked for in one state."""

    __slots__ = ("drops", "forms", "stops", "strays")

    def __init__(self, state: SearchState) -> None:
        self.forms: dict[str, list[tuple[Dialect, Form]]] = {}
        """The forms by their openers."""
        self.strays: frozenset[str] = frozenset()
        """Closers that are dropped only right behind a call."""
        self.drops: frozenset[str] = frozenset()
        """Marks that are dropped."""
        for row in state.rows:
            if row.interrupts or not state.closers:
                self._add_forms(row, state)
        others = state.closers or self._other_marks(state.rows, state)
        self.stops = MarkerSearch(*self.forms, *others, "\x00never")

    def _add_forms(self, row: Dialect, state: SearchState) -> None:
        for form in row.forms:
            if state.eligible(row, form):
                for opener in filter(None, form.openers):
                    self.forms.setdefault(opener, []).append((row, form))

    def _other_marks(self, rows: tuple[Dialect, ...], state: SearchState) -> tuple[str, ...]:
        found = reasoning_pairs(rows, marked_only=state.marked_only)
        strays = {each for row in rows for each in row.strays} if state.called else set()
        late = found.values() if state.interrupted or state.blank else ()
        drops = {each for row in rows for each in row.drops} if state.settled else set()
        self.strays = frozenset(strays - drops)
        self.drops = frozenset({*strays, *drops, *late} - found.keys())
        return (*found, *self.drops)


@lru_cache(512)
def marker_set(state: SearchState) -> MarkerSet:
    """What is looked for; worked out once for equal states."""
    return MarkerSet(state)


@lru_cache(256)
def reasoning_pairs(rows: tuple[Dialect, ...], *, marked_only: bool) -> dict[str, str]:
    """What opens reasoning, with what closes it; nothing if all is reasoning."""
    if marked_only:
        return {}
    return dict(pair for row in rows for pair in row.reasoning)
