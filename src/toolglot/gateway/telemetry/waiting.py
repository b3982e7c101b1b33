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

    __slots__ = ("_clock", "_depth", "_since", "_total")

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self._depth = 0
        self._since = 0.0
        self._total = 0.0

    def __enter__(self) -> Self:
        if not self._depth:
            self._since = self._clock()
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
            self._total += self._clock() - self._since

    def interrupt(self) -> None:
        """Inside of a block something is done that is no waiting; `resume` ends that."""
        now = self._clock()
        self._total += now - self._since
        self._since = now

    def resume(self) -> None:
        self._since = self._clock()

    @property
    def seconds(self) -> float:
        """The time so far; a block that has not been left counts up to now."""
        return self._total + (self._clock() - self._since if self._depth else 0.0)
