"""A progress bar on standard error, if that is a terminal."""

import sys
from typing import Final, Self, TextIO

_WIDTH: Final = 30
_STEPS: Final = 200
"""The bar is drawn at most this often."""


class Progress:
    """How much of a known number of lines is done, drawn on standard error if that is a terminal.

    Nothing is drawn if the lines themselves go to a terminal.
    """

    def __init__(self, total: int, stream: TextIO | None = None, out: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        drawn = self._stream.isatty() and not (out or sys.stdout).isatty()
        self._total = total if drawn else 0
        self._every = max(1, total // _STEPS)
        self._done = 0

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the terminal as it was."""
        if self._total:
            self._write("")

    def advance(self) -> None:
        """One more line is done."""
        self._done += 1
        if self._total and self._done % self._every == 0:
            filled = min(_WIDTH, _WIDTH * self._done // self._total)
            bar = "█" * filled + "░" * (_WIDTH - filled)
            self._write(f"{bar} {self._done}/{self._total}")

    def _write(self, text: str) -> None:
        self._stream.write(f"\r\x1b[K{text}")
        self._stream.flush()
