"""Building streams that break one rule: events as objects, changed one by one."""

import copy
import json
import random
from typing import Any

from toolglot.lint import lint_stream

Event = Any
"""An object, or the bytes of a frame as they are."""
GONE = object()
"""In place of a value: the member is left out."""


def sse(events: list[Event], *, named: bool = True) -> bytes:
    """Events as a stream, with `event:` lines from their types."""
    return b"".join(event if isinstance(event, bytes) else _frame(event, named) for event in events)


def _frame(event: Any, named: bool) -> bytes:
    line = f"event: {event['type']}\n" if named and "type" in event else ""
    return f"{line}data: {json.dumps(event)}\n\n".encode()


def lines(events: list[Event]) -> bytes:
    """Events as lines of JSON."""
    return b"".join(
        event if isinstance(event, bytes) else json.dumps(event).encode() + b"\n"
        for event in events
    )


def changed(events: list[Event], number: int, path: str, value: Any) -> list[Event]:
    """Event `number` (from 1) with the member at a path such as `delta.usage` replaced."""
    events = [copy.deepcopy(event) for event in events]
    *outer, key = (int(step) if step.isdecimal() else step for step in path.split("."))
    node = events[number - 1]
    for step in outer:
        node = node[step]
    if value is GONE:
        del node[key]
    else:
        node[key] = value
    return events


def put(events: list[Event], number: int, *more: Event) -> list[Event]:
    """With events put in, the first of which gets the number."""
    return [*events[: number - 1], *more, *events[number - 1 :]]


def without(events: list[Event], *numbers: int) -> list[Event]:
    """With some events left out."""
    return [event for number, event in enumerate(events, 1) if number not in numbers]


def broken(data: bytes, protocol: str) -> list[tuple[str, int]]:
    """What a stream breaks: rules and the numbers of the events."""
    return [(violation.rule, violation.event) for violation in lint_stream(data, protocol)]


JUNK = [None, True, -1, 2**70, 0.5, "", "x", [], [None], {}, {"type": 7}, [[]], "\ud800", 10**400]


def mutated(line: bytes, dice: random.Random) -> bytes:
    """A line whose JSON holds something unexpected somewhere."""
    head = b"data: " if line.startswith(b"data: ") else b""
    try:
        value = json.loads(line[len(head) :])
    except ValueError:
        return line
    places = list(walk({"": value}))
    for node, key in dice.sample(places, min(2, len(places))):
        node[key] = dice.choice(JUNK)
    return head + json.dumps(value).encode()


def walk(node):
    for key in node if isinstance(node, dict) else range(len(node)):
        yield node, key
        if isinstance(node[key], (dict, list)):
            yield from walk(node[key])
