"""Answers that break off, told so that agent clients ask again by themselves.

Some take an answer whose parts are all closed for a whole one, whatever error follows it, and
ask again only after errors that they know to pass. What they need is a fact of their protocol.
"""

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.events import Event, Failed, PartEnded
from toolglot.ir import ApiError, ErrorKind

_PASSING: Final[frozenset[ErrorKind]] = frozenset({"server", "timeout", "overloaded"})
"""Errors that say nothing against asking the same again."""


def breaks_open(ctx: Context) -> bool:
    """Whether the part that an answer breaks off in stays open."""
    return ctx.options.broken == "open" and ctx.surfaces[1].broken_open


def retold(error: ApiError, ctx: Context) -> ApiError:
    """The error that ends an answer, as one after which the client asks again if that may help."""
    kind = ctx.surfaces[1].retried
    if ctx.options.broken == "closed" or kind is None or error.kind not in _PASSING:
        return error
    return replace(error, kind=kind, raw=None)


class Breaking:
    """The last pass over a stream: the end of a part that broke off waits for what follows it."""

    __slots__ = ("_ctx", "_ends")

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._ends: list[Event] = []

    def feed(self, event: Event) -> Iterable[Event]:
        """What one event becomes."""
        if isinstance(event, PartEnded) and event.incomplete:
            self._ends.append(event)
            return ()
        if isinstance(event, Failed):
            return (Failed(retold(event.error, self._ctx)),)
        if not self._ends:
            return (event,)
        events, self._ends = [*self._ends, event], []
        return events
