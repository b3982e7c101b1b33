"""The rules for the streams of a protocol, and two ways to run them.

A linter is a table of rules over one state. A rule names the kinds of event that it looks at and
yields a sentence for everything wrong; it sees the state as it was before the event. What known
clients require is marked in the rule itself, as `strict`: a cheap predicate for each kind of event.

- `Linter.run` reports every rule that a recorded stream breaks.
- `StrictCheck` follows a stream that passes through, and runs the marked predicates alone.

Whatever the check rejects, the linter reports too.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final, Generic, TypeAlias, TypeVar

from msgspec import Struct

from toolglot.ir import Json
from toolglot.wire.frames import BROKEN, COMMENT, DONE, Frame, Kind, by_type
from toolglot.wire.json_values import show

EVERY: Final = "\0every"
"""Every event that could be read."""
AFTER: Final = "\0after"
"""Whatever comes when the stream is over."""
END: Final = "\0end"
"""The end of the bytes."""


class Violation(Struct, frozen=True):
    """A rule that an event of a stream breaks. Events are counted from 1."""

    event: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"event {self.event}: {self.rule}: {self.message}"


class State:
    """What is known of the events so far."""

    def __init__(self) -> None:
        self.count = 0
        self.over = False

    @property
    def complete(self) -> bool:
        """Whether clients know that the answer is complete."""
        return self.over

    def is_over(self, _frame: Frame) -> bool:
        """Whether this frame comes too late."""
        return self.over

    def take(self, frame: Frame) -> None:
        """Update the state by an event, for the linter only."""

    def mark(self) -> None:
        """Update the state by `[DONE]`."""


S = TypeVar("S", bound=State)
Finding: TypeAlias = str | tuple[int, str]
"""What is wrong, in words; with the number of the event if it is not the current one."""


class Rule(Struct, Generic[S], frozen=True):
    """A short stable code, what it requires, the kinds of event it applies to, and the check."""

    code: str
    meaning: str
    on: tuple[str, ...]
    check: Callable[[S, Frame], Iterator[Finding]]
    strict: Callable[[S, Json], bool] | None = None
    """False for events on which known clients fail; None: they tolerate it."""
    strict_on: tuple[str, ...] = ()
    """The kinds of event for which that is known; none: all that the rule applies to."""


class Linter(Struct, Generic[S], frozen=True, kw_only=True):
    """How the streams of one protocol are read, and their rules."""

    frames: Callable[[bytes, Kind], Iterable[Frame]]
    kind: Kind
    state: Callable[[], S]
    follow: Mapping[str, Callable[[S, Json], None]]
    """What updates the state for strict predicates, by kind of event."""
    rules: tuple[Rule[S], ...]
    named: bool = False
    """Clients dispatch on the `event:` line, so they ignore an event without it."""
    done: bool = False
    """Clients accept `[DONE]` after a complete answer."""

    def run(self, data: bytes) -> list[Violation]:
        """Every rule that a stream breaks, in the order of its events."""
        state, found, last = self.state(), _Found(self.rules), 1
        for frame in self.frames(data, self.kind):
            late = frame.kind != COMMENT and state.is_over(frame)
            found.check(state, frame, AFTER if late else frame.kind)
            last = frame.number
            if frame.kind == DONE:
                state.mark()
            elif not late and frame.kind not in (BROKEN, COMMENT):
                if (follow := self.follow.get(frame.kind)) is not None:
                    follow(state, frame.value)
                state.take(frame)
                state.count += 1
        found.check(state, Frame(number=last, kind=END), END)
        return sorted(found.violations, key=lambda violation: violation.event)


class _Found(Generic[S]):
    """Violations so far, and the rules by the kind of frame they look at."""

    def __init__(self, rules: tuple[Rule[S], ...]) -> None:
        self.violations: list[Violation] = []
        self._rules = rules
        self._known: dict[str, list[Rule[S]]] = {}

    def check(self, state: S, frame: Frame, kind: str) -> None:
        rules = self._known.get(kind)
        if rules is None:
            readable = kind not in (BROKEN, DONE, COMMENT, AFTER, END)
            rules = self._known[kind] = [
                rule for rule in self._rules if kind in rule.on or (readable and EVERY in rule.on)
            ]
        for rule in rules:
            for finding in rule.check(state, frame):
                number, words = finding if isinstance(finding, tuple) else (frame.number, finding)
                self.violations.append(Violation(number, rule.code, words))


_Strict: TypeAlias = tuple[Callable[[Any, Json], bool], ...]
_Step: TypeAlias = tuple[_Strict, Callable[[Any, Json], None] | None]
"""For a kind of event: the predicates, and what updates the state."""


class StrictCheck:
    """Whether the strictest known clients can read a stream, event by event."""

    __slots__ = ("_done", "_kind", "_named", "_state", "_steps")

    def __init__(self, linter: Linter[Any], steps: Mapping[str, _Step]) -> None:
        self._state: Any = linter.state()
        # A call less for most events of the protocols whose events have a type.
        self._kind = None if linter.kind is by_type else linter.kind
        self._named, self._done = linter.named, linter.done
        self._steps = steps

    @property
    def ended(self) -> bool:
        """Whether clients know that the answer is complete."""
        complete: bool = self._state.complete
        return complete

    def accepts(self, name: str, value: Json) -> bool:
        """Whether they can read this event."""
        kind = value.get("type") if self._kind is None else self._kind(value)
        if self._named and kind != name:
            return False
        if type(kind) is not str:
            kind = ""
        if (step := self._steps.get(kind)) is not None:
            state, (strict, follow) = self._state, step
            for holds in strict:
                if not holds(state, value):
                    return False
            if follow is not None:
                follow(state, value)
        return True

    def accepts_marker(self, payload: bytes) -> bool:
        """Whether they can read an event that is not a JSON object."""
        return self._done and payload == DONE.encode() and self.ended


def strict_check(linter: Linter[S]) -> Callable[[], StrictCheck]:
    """What makes a check for each stream, with the strict predicates looked up once."""
    strict: dict[str, _Strict] = {}
    for rule in linter.rules:
        if rule.strict is not None:
            for kind in rule.strict_on or rule.on:
                strict[kind] = (*strict.get(kind, ()), rule.strict)
    kinds = {*strict, *linter.follow}
    steps = {kind: (strict.get(kind, ()), linter.follow.get(kind)) for kind in kinds}
    return partial(StrictCheck, linter, steps)


# --- rules that several protocols have ------------------------------------------------------------


def broken(_state: State, frame: Frame) -> Iterator[Finding]:
    """The data must be a JSON object."""
    yield f"the data is not a JSON object: {frame.why}"


def blank_line(_state: State, frame: Frame) -> Iterator[Finding]:
    """A reader of events waits for the blank line."""
    if not frame.ended:
        yield "no blank line ends the last event, so many clients never see it"


def no_done(_state: State, _frame: Frame) -> Iterator[Finding]:
    """Only one protocol ends in `[DONE]`."""
    yield "`[DONE]` does not belong in this protocol"


def after_end(_state: State, frame: Frame) -> Iterator[Finding]:
    """What ends a stream is its last event."""
    words = {BROKEN: "broken data", DONE: "`[DONE]`"}.get(frame.kind, show(frame.kind))
    yield f"{words} comes after the end of the stream"


def named(_state: State, frame: Frame) -> Iterator[Finding]:
    """The `event:` line repeats the type."""
    if not frame.kind:
        return
    if frame.name is None:
        yield f"there is no `event:` line; it should say {show(frame.kind)}"
    elif frame.name != frame.kind:
        yield f"the `event:` line says {show(frame.name)}, the type is {show(frame.kind)}"


def unnamed(_state: State, frame: Frame) -> Iterator[Finding]:
    """The protocol has no `event:` lines."""
    if frame.name is not None:
        yield f"there is an `event:` line ({show(frame.name)}), which clients do not expect"


def typed(_state: State, _frame: Frame) -> Iterator[Finding]:
    """Every event has a type."""
    yield "the event has no type"


def never(_state: State, _value: Json) -> bool:
    """No known client can read it."""
    return False


NOT_JSON: Final[Rule[Any]] = Rule("not-json", "data is one JSON object", (BROKEN,), broken)
BLANK_LINE: Final[Rule[Any]] = Rule(
    "blank-line", "a blank line ends every event", (EVERY, DONE, BROKEN), blank_line
)
NO_DONE: Final[Rule[Any]] = Rule("done-marker", "there is no `[DONE]`", (DONE,), no_done)
AFTER_END: Final[Rule[Any]] = Rule("after-end", "nothing follows the end", (AFTER,), after_end)
NAMED: Final[Rule[Any]] = Rule(
    "event-line", "the `event:` line is the type of the event", (EVERY,), named
)
UNNAMED: Final[Rule[Any]] = Rule("event-line", "there are no `event:` lines", (EVERY,), unnamed)
TYPED: Final[Rule[Any]] = Rule("type-missing", "every event has a type", ("",), typed, never)
