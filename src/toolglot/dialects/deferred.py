"""Blocks that are calls only if what follows them says so.

Their segments are held back until that is known.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final

from toolglot.dialects.reader import (
    CallSegment,
    NotACall,
    Reader,
    ReasoningSegment,
    Segment,
    Steps,
    Stops,
    plausible,
)

_WORD: Final = re.compile(r"[^\s<({]*")
Fits = Callable[[str, int], "re.Match[str] | None"]
"""Looks for something at a place in a text."""


def followed(steps: Steps[None], reader: Reader, fits: Fits) -> Steps[None]:
    """Read a block whose opener counts only where something certain follows it."""
    while True:
        match = fits(reader.buf, reader.pos)
        if match is None:
            raise NotACall
        if match.end() < len(reader.buf) or not (yield from reader.more()):
            break
    yield from steps


def known_what_follows(steps: Steps[None], reader: Reader) -> Steps[None]:
    """Read a block and, if it gave nothing, wait for one character more."""
    start = reader.emitted
    yield from steps
    if reader.emitted == start:
        yield from reader.peek()


def declared(steps: Steps[None], reader: Reader) -> Steps[None]:
    """Read a block that begins with the name of a declared tool."""
    start = reader.pos
    while True:
        match = _WORD.match(reader.buf, start)
        word = match.group() if match else ""
        if start + len(word) < len(reader.buf):
            if word not in reader.tools:
                raise NotACall
            break
        if not reader.tools.any_begins(word):
            raise NotACall
        if not (yield from reader.more()):
            break
    yield from steps


def at_the_end(steps: Steps[None], reader: Reader, drops: Sequence[str]) -> Steps[None]:
    """Read a block that counts only if the answer ends with it, but for marks that are dropped."""
    start, used = reader.emitted, set(reader.used)
    found = yield from _hold(steps, reader)
    end = reader.pos
    calls = [each for each in found if isinstance(each, CallSegment)]
    if calls and all(plausible(each.name) for each in calls):
        try:
            yield from reader.spaces()
            while drops and (yield from reader.literal(*drops)):
                yield from reader.spaces()
        except NotACall:
            reader.pos = end
        if reader.pos >= len(reader.buf):
            reader.pos = end
            reader.out += found
            return
        reader.pos = end
    _take_back(reader, start, used)
    raise NotACall


def unless_closed(steps: Steps[None], reader: Reader, closers: Sequence[str]) -> Steps[None]:
    """Read a block inside reasoning.

    It is a call if the reasoning is never closed, or if nothing comes after its end. Otherwise the
    model went on with its answer, and the block is one of its thoughts.
    """
    start, used = reader.emitted, set(reader.used)
    found = yield from _hold(steps, reader)
    if not any(isinstance(each, CallSegment) for each in found):
        reader.out += found
        return
    end = reader.pos
    stops = Stops(*closers) if closers else Stops("\x00never")
    try:
        _, stop = yield from reader.until(stops)
        close = reader.pos - len(stop)
        yield from reader.spaces()
    except NotACall:
        stop, close = "", end
    if stop:
        if reader.pos < len(reader.buf):
            _take_back(reader, start, used)
            reader.out.append(ReasoningSegment(reader.buf[start:close]))
            reader.emitted = reader.pos = close
            return
        if end < close:
            found.append(ReasoningSegment(reader.buf[end:close]))
        end = close + len(stop)
        reader.emitted = end
    reader.pos = end
    reader.out += found


def _hold(steps: Steps[None], reader: Reader) -> Steps[list[Segment]]:
    """Read a block; what came of it, which nobody has seen yet."""
    found: list[Segment] = []
    start, used = reader.emitted, set(reader.used)
    live, reader.live = reader.live, False
    done: bool | None = None
    while not done:
        seen = len(reader.out)
        try:
            done = next(steps, True)
        except NotACall:
            if not reader.accepted:
                _take_back(reader, start, used)
                reader.live = live
                raise
            reader.pos = reader.emitted
            done = True
        found += reader.out[seen:]
        del reader.out[seen:]
        if not done:
            yield
    reader.live = live
    return found


def _take_back(reader: Reader, start: int, used: set[str]) -> None:
    reader.emitted = start
    reader.used = used
    reader.accepted = reader.rejected = 0
    reader.forget()
