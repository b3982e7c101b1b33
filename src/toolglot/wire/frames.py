"""Recorded streams to frames: server-sent events, lines of JSON, one JSON array, or messages.

Unlike the decoders that translate, these keep what a linter must see: comments, `event:` lines, and
whether the last event was ended.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from msgspec import Struct

from toolglot.ir import Json
from toolglot.wire import jsontext
from toolglot.wire.event_stream import EventStreamDecoder
from toolglot.wire.json_values import show

BROKEN: Final = "\0broken"
"""The kind of data that is not a JSON object."""
DONE: Final = "[DONE]"
"""The marker that ends some streams."""
COMMENT: Final = "\0comment"
"""A comment line; it has the number of the event before it."""

Kind = Callable[[Json], str]
"""What kind of event an object is."""

_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_BOM: Final = b"\xef\xbb\xbf"


class Frame(Struct, frozen=True, kw_only=True):
    """One event as it was sent: its number, what kind it is, its `event:` line and its object."""

    number: int
    kind: str
    value: Json = {}
    name: str | None = None
    ended: bool = True
    """Whether a blank line followed."""
    why: str = ""
    """Why the data is not a JSON object."""


def by_type(value: Json) -> str:
    """The kind of an event that has a type."""
    kind = value.get("type")
    return kind if isinstance(kind, str) else ""


def sse_frames(data: bytes, kind: Kind) -> Iterator[Frame]:
    """The events and comments of a stream of server-sent events."""
    count, name, held = 0, None, list[bytes]()
    lines = _LINE_END.split(data.removeprefix(_BOM))
    for place, line in enumerate((*lines, b"")):
        field, _, rest = line.partition(b":")
        if not line and held:
            count += 1
            ended = place < len(lines) - 1
            yield _frame(count, b"\n".join(held), kind, name, ended=ended)
        if not line:
            name, held = None, []
        elif line.startswith(b":"):
            yield Frame(number=max(count, 1), kind=COMMENT)
        elif field == b"data":
            held.append(rest.removeprefix(b" "))
        elif field == b"event":
            name = rest.strip().decode("utf-8", "replace")


def line_frames(data: bytes, kind: Kind) -> Iterator[Frame]:
    """The lines of a stream of JSON lines; blank ones are skipped."""
    lines = (line.strip() for line in data.split(b"\n"))
    for count, line in enumerate((line for line in lines if line), 1):
        yield _frame(count, line, kind)


def array_frames(data: bytes, kind: Kind) -> Iterator[Frame]:
    """The elements of one JSON array."""
    try:
        values = jsontext.peek(data)
    except ValueError as error:
        yield Frame(number=1, kind=BROKEN, why=str(error))
        return
    for count, value in enumerate(values if isinstance(values, list) else [values], 1):
        yield _of_value(count, value, kind)


def message_frames(data: bytes, kind: Kind) -> Iterator[Frame]:
    """The messages of a binary event stream; what follows them and is none is one broken frame."""
    decoder, count = EventStreamDecoder(), 0
    for count, (name, payload) in enumerate(decoder.feed(data), 1):
        yield _frame(count, payload, kind, name)
    rest = decoder.take()
    if rest:
        why = decoder.broken or f"{len(rest)} bytes of a message that did not end"
        yield Frame(number=count + 1, kind=BROKEN, why=why)


def _frame(
    count: int, data: bytes, kind: Kind, name: str | None = None, *, ended: bool = True
) -> Frame:
    if data.strip() == DONE.encode():
        return Frame(number=count, kind=DONE, name=name, ended=ended)
    try:
        value = jsontext.peek(data)
    except ValueError as error:
        return Frame(number=count, kind=BROKEN, name=name, ended=ended, why=str(error))
    return _of_value(count, value, kind, name, ended=ended)


def _of_value(
    count: int, value: Any, kind: Kind, name: str | None = None, *, ended: bool = True
) -> Frame:
    if not isinstance(value, dict):
        why = f"it is {show(value)}"
        return Frame(number=count, kind=BROKEN, name=name, ended=ended, why=why)
    return Frame(number=count, kind=kind(value), value=value, name=name, ended=ended)
