"""How long a request waits for others, so that what the gateway itself takes can be told apart."""

from collections.abc import Callable
from time import perf_counter
from types import TracebackType
from typing import Self


class WaitingTime:
    """A context manager that adds up the time spent inside it.

    One object serves a request for its whole life, because a stream enters it once per chunk. It
    may be entered while it is entered already: only the outermost block counts. A block that is
    left by an exception counts like any other.
    """

    __slots__ = ("_depth", "_since", "_total", "clock")

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self.clock = clock
        self._depth = 0
        self._since = 0.0
        self._total = 0.0

    def __enter__(self) -> Self:
        if not self._depth:
            self._since = self.clock()
        self._depth += 1
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._depth -= 1
        if not self._depth:
            self._total += self.clock() - self._since

    def worked(self, since: float) -> float:
        """Inside of a block something was done that is no waiting, since then; what the clock says
        now. One call for each piece of a stream, and not two.
        """
        now = self.clock()
        self._total += since - self._since
        self._since = now
        return now

    @property
    def seconds(self) -> float:
        """The time so far; a block that has not been left counts up to now."""
        return self._total + (self.clock() - self._since if self._depth else 0.0)
