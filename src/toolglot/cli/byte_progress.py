"""A progress bar over bytes, with rate and time left, if standard error is a terminal."""

import sys
from time import monotonic
from typing import Final, Self, TextIO

_WIDTH: Final = 24
_PAUSE: Final = 0.1
_MEGA: Final = 1_000_000


class ByteProgress:
    """How many of a known number of bytes are done; of an unknown number (0), only the rate."""

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._drawn = self._stream.isatty()
        self._total = total
        self._started = self._last = monotonic()

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the terminal as it was."""
        if self._drawn:
            self._write("")

    def show(self, done: int, rows: int) -> None:
        """Draw how far it is, unless that was done a moment ago."""
        now = monotonic()
        if self._drawn and now - self._last >= _PAUSE:
            self._last = now
            self._write(describe(done, self._total, rows, now - self._started))

    def _write(self, text: str) -> None:
        self._stream.write(f"\r\x1b[K{text}")
        self._stream.flush()


def describe(done: int, total: int, rows: int, seconds: float) -> str:
    """The bar as text."""
    rate = done / seconds if seconds else 0
    words = f"{rows} conversations, {rate / _MEGA:.1f} MB/s"
    if not total:
        return words
    filled = min(_WIDTH, _WIDTH * done // total)
    left = max(total - done, 0) / rate if rate else 0
    bar = "█" * filled + "░" * (_WIDTH - filled)
    return f"{bar} {100 * min(done, total) // total} % {words}, {_spelled(left)} left"


def _spelled(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{rest:02}"
    return f"{minutes}:{rest:02}" if minutes else f"{rest} s"
