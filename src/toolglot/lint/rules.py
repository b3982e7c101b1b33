"""What all stream linters share: frames, rules over frames, and running them.

A linter is a state and a table of rules. A rule names the kinds of frame that it looks at and
yields a sentence for everything wrong; it sees the state as it was before the frame. A new rule is
one entry.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Generic, TypeAlias, TypeGuard, TypeVar

from msgspec import Struct

from toolglot.ir import Json
from toolglot.wire import jsontext

EVERY: Final = "\0every"
"""Every event that could be read."""
BROKEN: Final = "\0broken"
"""Data that is no JSON object."""
DONE: Final = "[DONE]"
"""The mark that ends some streams."""
COMMENT: Final = "\0comment"
"""A line for nobody; it has the number of the event before it."""
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


class Frame(Struct, frozen=True, kw_only=True):
    """One event as it was sent: its number, what kind it is, its `event:` line and its object."""

    number: int
    kind: str
    value: Json = {}
    name: str | None = None
    ended: bool = True
    why: str = ""


class State:
    """What a linter remembers of the frames so far."""

    def __init__(self) -> None:
        self.count = 0
        self.over = False

    def is_over(self, _frame: Frame) -> bool:
        """Whether this frame comes too late."""
        return self.over

    def take(self, frame: Frame) -> None:
        """Learn from an event, after the rules have seen it."""

    def mark(self) -> None:
        """Learn that `[DONE]` came."""


S = TypeVar("S", bound=State)
Finding: TypeAlias = str | tuple[int, str]
"""What is wrong, in words; with the number of the event if it is not the one at hand."""


class Rule(Struct, Generic[S], frozen=True):
    """A short stable code, what it demands, the kinds of frame it looks at, and the check."""

    code: str
    meaning: str
    on: tuple[str, ...]
    check: Callable[[S, Frame], Iterator[Finding]]


class Linter(Struct, Generic[S], frozen=True):
    """How the streams of one protocol are read and what holds for them."""

    frames: Callable[[bytes], Iterable[Frame]]
    state: Callable[[], S]
    rules: tuple[Rule[S], ...]

    def run(self, data: bytes) -> list[Violation]:
        """Every rule that a stream breaks, in the order of its events."""
        state, found, last = self.state(), _Found(self.rules), 1
        for frame in self.frames(data):
            late = frame.kind != COMMENT and state.is_over(frame)
            found.look(state, frame, AFTER if late else frame.kind)
            last = frame.number
            if frame.kind == DONE:
                state.mark()
            elif not late and frame.kind not in (BROKEN, COMMENT):
                state.take(frame)
                state.count += 1
        found.look(state, Frame(number=last, kind=END), END)
        return sorted(found.violations, key=lambda violation: violation.event)


class _Found(Generic[S]):
    """Violations so far, and the rules by the kind of frame they look at."""

    def __init__(self, rules: tuple[Rule[S], ...]) -> None:
        self.violations: list[Violation] = []
        self._rules = rules
        self._known: dict[str, list[Rule[S]]] = {}

    def look(self, state: S, frame: Frame, kind: str) -> None:
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


# --- reading values of any shape ------------------------------------------------------------------


def member(value: Any, *keys: str) -> Any:
    """A member of a member; None where there is none."""
    for key in keys:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def members(value: Any, key: str) -> list[Json]:
    """The objects of an array."""
    found = member(value, key)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def is_count(value: Any) -> TypeGuard[int]:
    """Whether a value can be an index or a number of tokens."""
    return type(value) is int and value >= 0


def is_text(value: Any) -> TypeGuard[str]:
    """Whether a value is a string that says something."""
    return isinstance(value, str) and value != ""


def text_of(value: Any) -> str:
    """A string, or an empty one."""
    return value if isinstance(value, str) else ""


def is_json(text: str) -> bool:
    """Whether a text is JSON; no text at all stands for an empty object."""
    try:
        jsontext.peek(text or "{}")
    except ValueError:
        return False
    return True


_LONG: Final = 60


def show(value: Any) -> str:
    """A value in a sentence."""
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return repr(value if len(value) <= _LONG else value[:_LONG] + "…")
    if isinstance(value, (bool, float)):
        return str(value)
    if isinstance(value, int):
        return str(value) if abs(value) < 10**18 else "a large number"
    return "an object" if isinstance(value, dict) else "an array"


def joined(words: Iterable[str]) -> str:
    """Words in a sentence: a, b and c."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


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
    """Every event says what it is."""
    yield "the event has no type"


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
TYPED: Final[Rule[Any]] = Rule("type-missing", "every event has a type", ("",), typed)
