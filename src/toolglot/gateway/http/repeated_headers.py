"""Requests whose headers are harmlessly repeated.

Some clients send a header twice that should come once: two `User-Agent` lines (the Google model of
pydantic-ai, 2026-11-16), or the same `Content-Type` again. Services accept that; the HTTP parser of
the server rejects it before any handler runs. So the head of a request is mended before it is
parsed. Headers that say where a request ends or to whom it goes are never touched: repeated, they
are a sign of request smuggling, and the parser rejects them.
"""

import asyncio
import re
from collections.abc import Callable
from typing import Final

from aiohttp import web

_END: Final = b"\r\n\r\n"
_MAX_HEAD: Final = 1 << 16
_JOINED: Final = frozenset({b"user-agent"})
"""Headers of which different values are joined; they are lists of products."""
_ONCE: Final = frozenset(
    {b"content-type", b"content-location", b"content-range", b"etag", b"max-forwards", b"server"}
)
"""Headers that may be repeated with the same value."""
_MAY_REPEAT: Final = re.compile(
    rb"\r\n(" + b"|".join(sorted(_JOINED | _ONCE)) + rb"):.*?\r\n\1:", re.IGNORECASE | re.DOTALL
)
_LENGTH: Final = re.compile(rb"\r\ncontent-length:[ \t]*(\d+)[ \t]*\r\n", re.IGNORECASE)
_UNCLEAR: Final = re.compile(rb"\r\n(?:transfer-encoding:|upgrade:|[ \t])", re.IGNORECASE)
"""Where it is not known from the head alone where the next one begins, or where a line ends."""


def without_repeats(head: bytes) -> bytes:
    """The head of a request without headers that are harmlessly repeated."""
    if _MAY_REPEAT.search(head) is None:
        return head
    lines: list[bytes] = []
    places: dict[bytes, int] = {}
    for line in head[: -len(_END)].split(b"\r\n"):
        name, _, value = line.partition(b":")
        name, value = name.lower(), value.strip(b" \t")
        at = places.get(name)
        if at is None:
            places[name] = len(lines)
        elif name in _JOINED or (name in _ONCE and lines[at].partition(b":")[2].strip() == value):
            if value not in lines[at]:
                lines[at] += b" " + value
            continue
        lines.append(line)
    return b"\r\n".join(lines) + _END


class HeadMender:
    """Mends the heads of the requests of one connection, and lets everything else pass."""

    __slots__ = ("_body", "_head", "_passes")

    def __init__(self) -> None:
        self._head = b""
        self._body = 0
        """How many bytes of the current body are still to come."""
        self._passes = False
        """Whether heads can no longer be told from bodies."""

    def feed(self, data: bytes) -> bytes:
        """The bytes for the parser."""
        if self._passes:
            return data
        if self._body >= len(data):
            self._body -= len(data)
            return data
        mended: list[bytes] = []
        while data and not self._passes:
            if self._body:
                body, data = data[: self._body], data[self._body :]
                self._body -= len(body)
                mended.append(body)
                continue
            data = self._head + data
            end = data.find(_END) + len(_END)
            if end < len(_END):
                self._head, data = self._incomplete(data)
                break
            self._head, head, data = b"", data[:end], data[end:]
            mended.append(self._mend(head))
        return b"".join((*mended, data))

    def _incomplete(self, head: bytes) -> tuple[bytes, bytes]:
        """What is kept of a head without an end, and what goes on."""
        self._passes = len(head) > _MAX_HEAD
        return (b"", head) if self._passes else (head, b"")

    def _mend(self, head: bytes) -> bytes:
        lengths = _LENGTH.findall(head)
        self._passes = len(lengths) > 1 or _UNCLEAR.search(head) is not None
        self._body = int(lengths[0]) if lengths else 0
        return head if self._passes else without_repeats(head)


class _Connection:
    """A connection of the server, whose bytes are mended on their way in."""

    __slots__ = (
        "_feed", "_mender", "connection_lost", "connection_made", "eof_received", "pause_writing",
        "resume_writing",
    )  # fmt: skip

    def __init__(self, handler: asyncio.Protocol) -> None:
        self._mender = HeadMender()
        self._feed = handler.data_received
        self.connection_made = handler.connection_made
        self.connection_lost = handler.connection_lost
        self.eof_received = handler.eof_received
        self.pause_writing = handler.pause_writing
        self.resume_writing = handler.resume_writing

    def data_received(self, data: bytes) -> None:
        mended = self._mender.feed(data)
        if mended:
            self._feed(mended)


class Runner(web.AppRunner):
    """Runs an application, and accepts what clients harmlessly repeat."""

    @property
    def server(self) -> Callable[[], _Connection] | None:  # type: ignore[override]  # a factory
        """What makes the protocol of each connection."""
        make = super().server
        return None if make is None else lambda: _Connection(make())
