"""`toolglot diff-sse`: compare the events and fields of two recorded streams.

Values are not compared: two answers to one question differ in ids, times and words, and cut their
text in different places. So pieces of text that follow each other count as one.
"""

import argparse
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from toolglot.cli.common import Commands, add_command
from toolglot.wire.frames import (
    BROKEN,
    COMMENT,
    Frame,
    array_frames,
    by_type,
    line_frames,
    sse_frames,
)
from toolglot.wire.json_values import joined

_FIRST: Final = 10


class EventStep(Struct, frozen=True):
    """An event, or pieces of text in a row: the number of the first, the type, all fields."""

    number: int
    kind: str
    fields: frozenset[str]

    @property
    def key(self) -> tuple[str, frozenset[str]]:
        """What must be equal: the type, or the fields of an event that has none."""
        return (self.kind, frozenset()) if self.kind else ("", self.fields)

    def __str__(self) -> str:
        return (
            self.kind
            or f"an event with {joined(sorted(self.fields)) if self.fields else 'no fields'}"
        )


def add(commands: Commands) -> None:
    """Declare the command."""
    summary = "compare the events and fields of two recorded streams, but not the values"
    parser = add_command(
        commands, "diff-sse", run, summary, "toolglot diff-sse theirs.txt ours.txt"
    )
    parser.add_argument("a", metavar="A", help="a recorded stream")
    parser.add_argument("b", metavar="B", help="the stream to compare it with")
    parser.add_argument(
        "--all", action="store_true", help=f"print all differences, not the first {_FIRST}"
    )


def run(args: argparse.Namespace) -> int:
    """Print the differences; exit with 1 if there are any."""
    first, second = (Path(file).read_bytes() for file in (args.a, args.b))
    found = differences(first, second, args.a, args.b)
    shown = list(islice(found, None if args.all else _FIRST))
    for words in shown:
        print(words)
    more = sum(1 for _ in found)
    if more:
        print(f"and {more} more (--all prints them)")
    if not shown:
        print("the same events with the same fields")
    return int(bool(shown))


def differences(first: bytes, second: bytes, a: str = "A", b: str = "B") -> Iterator[str]:
    """How two streams differ, in words, from the beginning on."""
    ours, theirs = list(steps(first)), list(steps(second))
    keys = [step.key for step in ours], [step.key for step in theirs]
    matcher = SequenceMatcher(None, *keys, autojunk=False)
    for word, i, j, k, m in matcher.get_opcodes():
        pairs = zip_longest(ours[i:j], theirs[k:m])
        for mine, other in pairs:
            if mine is None or other is None:
                here, step = (a, mine) if other is None else (b, other)
                yield f"only {here} has event {step.number}: {step}"
            elif word == "equal" or not (mine.kind or other.kind):
                yield from _fields(mine, other, a, b)
            else:
                here, there = f"event {mine.number} of {a}", f"event {other.number} of {b}"
                yield f"{here} is {mine}, {there} is {other}"


def _fields(mine: EventStep, other: EventStep, a: str, b: str) -> Iterator[str]:
    if mine.fields == other.fields:
        return
    only = [
        f"only {name} has {joined(sorted(fields))}"
        for name, fields in ((a, mine.fields - other.fields), (b, other.fields - mine.fields))
        if fields
    ]
    where = f"event {mine.number}" + (f" ({mine.kind})" if mine.kind else "")
    yield f"{where}: {'; '.join(only)}"


def steps(data: bytes) -> Iterator[EventStep]:
    """The events of a stream, with pieces of text that follow each other as one."""
    last: EventStep | None = None
    for frame in _frames(data):
        if frame.kind == COMMENT:
            continue
        kind = {BROKEN: "broken data"}.get(frame.kind, frame.kind)
        step = EventStep(frame.number, kind, frozenset(field_paths(frame.value)))
        if last is not None and _goes_on(last, step):
            last = EventStep(last.number, kind, last.fields | step.fields)
            continue
        if last is not None:
            yield last
        last = step
    if last is not None:
        yield last


def _goes_on(last: EventStep, step: EventStep) -> bool:
    return last.key == step.key and (step.kind.endswith("delta") or not step.kind)


def _frames(data: bytes) -> Iterable[Frame]:
    """Server-sent events, or JSON in lines or in one array."""
    if data.lstrip()[:1] == b"[":
        return array_frames(data, by_type)
    if data.lstrip()[:1] == b"{":
        return line_frames(data, by_type)
    return sse_frames(data, by_type)


def field_paths(value: Any) -> Iterator[str]:
    """The paths of all members, however deep; elements of an array share theirs."""
    stack: list[tuple[str, Any]] = [("", value)]
    while stack:
        path, node = stack.pop()
        if isinstance(node, dict):
            for key, child in node.items():
                inner = f"{path}.{key}" if path else key
                yield inner
                stack.append((inner, child))
        elif isinstance(node, list):
            stack.extend((f"{path}[]", child) for child in node)
