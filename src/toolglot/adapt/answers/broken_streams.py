"""Streams that break off, ended so that agent clients retry by themselves.

Some take an answer whose parts have all ended for a complete one, whatever error follows it, and
retry only after errors that they know to be temporary. What they need is a fact of their protocol.
"""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.events import Direct, Event, Failed, PartDelta, PartEnded
from toolglot.ir import ApiError, ErrorKind

_TEMPORARY: Final[frozenset[ErrorKind]] = frozenset({"server", "timeout", "overloaded"})
"""Errors after which the same request may succeed."""


def leaves_part_open(ctx: Context) -> bool:
    """Whether the part that a stream breaks off in is left without its end."""
    return ctx.options.broken == "open" and ctx.surfaces[1].stream.cut_leaves_part_open


def retryable_error(error: ApiError, ctx: Context) -> ApiError:
    """The error that ends a stream, as one after which the client retries if that may help."""
    kind = ctx.surfaces[1].stream.retried_error
    if ctx.options.broken == "closed" or kind is None or error.kind not in _TEMPORARY:
        return error
    return replace(error, kind=kind, raw=None)


class LeavePartOpen:
    """The last pass over a stream: drops the end of a part that broke off if an error follows."""

    __slots__ = ("_ctx", "_ends")

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._ends: list[Event] = []

    def feed(self, event: Event) -> Sequence[Event]:
        if type(event) is PartDelta and not self._ends:
            return (event,)
        if isinstance(event, PartEnded) and event.incomplete:
            self._ends.append(event)
            return ()
        if isinstance(event, Failed):
            return (Failed(retryable_error(event.error, self._ctx)),)
        if not self._ends:
            return (event,)
        events, self._ends = [*self._ends, event], []
        return events

    def direct(self, index: int) -> Direct | None:
        """What follows the end of a part that broke off has to go through."""
        return None if self._ends else (index, None)
