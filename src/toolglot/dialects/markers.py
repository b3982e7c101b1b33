"""What is looked for in a text, depending on what is known of it."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from toolglot.dialects.dialect import Dialect
from toolglot.dialects.reader import Form, Stops, cut_pattern


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

    def only_at_end(self, form: Form) -> bool:
        """Whether a form counts only if the answer ends with it.

        Without declared tools, a form without marks counts only if it is the whole answer.
        """
        if self.only_at_start(form) and not self.blank:
            return True
        return form.bare and self.auto and not self.tools

    def in_thought(self, row: Dialect) -> bool:
        """Whether a call would stand in reasoning, and perhaps is only part of that."""
        return bool(self.closers) and not row.calls_in_thought

    def eligible(self, row: Dialect, form: Form) -> bool:
        """Whether a form is looked for.

        A dialect whose bare form is only a fallback is not found by that form.
        """
        if self.auto and not self.tools and row.needs_tools:
            return False
        starts = self.only_at_start(form)
        if self.marked_only and (form.bare or starts):
            return False
        if form.bare and self.auto and not (row.forms[0].bare and (self.tools or starts)):
            return False
        if form.frames and not self.settled:
            return False
        return not starts or self.blank or (self.tools and bool(form.tail))


class MarkerSearch(Stops):
    """Marks that are searched for in text that is still coming."""

    __slots__ = ("_growing", "search")

    def __init__(self, *marks: str, follows: Mapping[str, str] | None = None) -> None:
        super().__init__(*marks, follows=follows)
        self._growing = frozenset(mark[:end] for mark in self.marks for end in range(1, len(mark)))
        self.search = re.compile(cut_pattern(self.marks, follows)).search
        """Finds the first mark, or what may become one at the end of the text."""

    def may_grow(self, buf: str, match: re.Match[str]) -> bool:
        """Whether what `search` found may become a mark, or another one, with more text."""
        return match.end() == len(buf) and match.group() in self._growing


class MarkerSet:
    """What is looked for in one state."""

    __slots__ = ("begins", "drops", "forms", "stops", "strays")

    def __init__(self, state: SearchState) -> None:
        self.forms: dict[str, list[tuple[Dialect, Form]]] = {}
        """The forms by their openers."""
        self.strays: frozenset[str] = frozenset()
        """Closers that are dropped only right behind a call."""
        self.drops: frozenset[str] = frozenset()
        """Marks that are dropped."""
        self.begins: dict[str, tuple[Dialect, ...]] = {}
        """Marks that are dropped and tell the dialect."""
        for row in state.rows:
            if row.interrupts or not state.closers:
                self._add_forms(row, state)
        others = state.closers or self._other_marks(state.rows, state)
        self.stops = MarkerSearch(*self.forms, *others, "\x00never", follows=self._follows(others))

    def _add_forms(self, row: Dialect, state: SearchState) -> None:
        for form in row.forms:
            if state.eligible(row, form):
                for opener in filter(None, form.openers):
                    self.forms.setdefault(opener, []).append((row, form))

    def _follows(self, others: Iterable[str]) -> dict[str, str]:
        """What must come after openers that are too common to be looked at each time."""
        found: dict[str, str] = {}
        for opener, forms in self.forms.items():
            patterns = {form.follows for _, form in forms}
            if "" not in patterns and opener not in others:
                found[opener] = f"(?={'|'.join(sorted(patterns))})"
        return found

    def _other_marks(self, rows: tuple[Dialect, ...], state: SearchState) -> tuple[str, ...]:
        found = reasoning_pairs(rows, auto=state.auto, marked_only=state.marked_only)
        strays = {each for row in rows for each in row.strays} if state.called else set()
        late = found.values() if state.interrupted or state.blank else ()
        drops = {each for row in rows for each in row.drops} if state.settled else set()
        if state.auto and state.blank and not state.settled and not state.marked_only:
            for row in rows:
                for each in row.begins:
                    self.begins[each] = (*self.begins.get(each, ()), row)
        self.strays = frozenset(strays - drops)
        self.drops = frozenset({*strays, *drops, *late} - found.keys())
        return (*found, *self.drops, *self.begins)


@lru_cache(512)
def marker_set(state: SearchState) -> MarkerSet:
    """What is looked for; worked out once for equal states."""
    return MarkerSet(state)


@lru_cache(64)
def follows(form: Form) -> Callable[[str, int], re.Match[str] | None]:
    """Tells whether what comes at a place in a text may follow the opener of a form."""
    return re.compile(form.follows).match


@lru_cache(256)
def reasoning_pairs(rows: tuple[Dialect, ...], *, auto: bool, marked_only: bool) -> dict[str, str]:
    """What opens reasoning, with what closes it; nothing if all is reasoning.

    Of dialects that need declared tools it counts when they are known: their marks are words.
    """
    if marked_only:
        return {}
    several = auto and len(rows) > 1
    return dict(pair for row in rows if not (several and row.needs_tools) for pair in row.reasoning)
