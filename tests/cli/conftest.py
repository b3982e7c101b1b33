"""Running a command in this process, with bytes in and bytes out."""

import io
import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from toolglot.cli import main


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: bytes
    err: str


class _Input:
    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsysbinary) -> Callable[..., Done]:
    """`cli("translate", "--from", …, data=b"…")`; a number of columns to be seen in."""

    def run(*argv: str, data: bytes = b"", columns: int = 80) -> Done:
        monkeypatch.setattr(sys, "stdin", _Input(data))
        monkeypatch.setenv("COLUMNS", str(columns))
        try:
            code = main(argv)
        except SystemExit as error:
            code = int(error.code or 0)
        out, err = capsysbinary.readouterr()
        return Done(code, out, err.decode())

    return run
