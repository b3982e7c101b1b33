"""A framework in a process of its own: one line of JSON in for each cell, one line out."""

import json
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from queue import Empty, Queue
from threading import Thread
from time import monotonic
from typing import IO, Any

from tests.frameworks.catalogue import Framework
from tests.frameworks.environments import command

LIMIT = 60.0
"""Seconds that a cell may take."""
START_LIMIT = 120.0
"""Seconds until a driver is ready: some frameworks take long to import."""


@dataclass(frozen=True)
class Cell:
    """What a driver is asked to do."""

    scenario: str
    protocol: str
    base_url: str
    model: str
    stream: bool
    prompt: str
    image: str = ""
    """A picture as base64, for the user's message."""


class DriverError(Exception):
    """A driver did not answer."""


class Driver:
    """The process of one framework, started when it is needed and again after it failed."""

    def __init__(self, framework: Framework) -> None:
        self._framework = framework
        self._command, self._folder = command(framework)
        self._process: subprocess.Popen[str] | None = None
        self._lines = Queue[str]()
        self._errors: IO[str] = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed with the driver

    def run(self, cell: Cell) -> dict[str, Any]:
        """What the framework made of a cell: `text`, or `object`, or `error`."""
        process = self._started()
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(asdict(cell)) + "\n")
            process.stdin.flush()
        except BrokenPipeError:
            self.close()
            raise DriverError(f"the driver ended: {self._said()}") from None
        return self._answer(LIMIT)

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = subprocess.Popen(
                self._command,
                cwd=self._folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                text=True,
            )
            self._lines = Queue[str]()
            Thread(target=_read, args=(self._process.stdout, self._lines), daemon=True).start()
            self._answer(START_LIMIT)
        return self._process

    def _answer(self, limit: float) -> dict[str, Any]:
        """The next line that is an answer; frameworks print things of their own."""
        assert self._process is not None
        end = monotonic() + limit
        while (left := end - monotonic()) > 0:
            try:
                line = self._lines.get(timeout=left)
            except Empty:
                break
            if not line:
                self._process.wait()
                break
            if line.startswith('{"toolglot":'):
                answer: dict[str, Any] = json.loads(line)["toolglot"]
                return answer
        ended = self._process.poll() is not None
        self.close()
        if ended:
            raise DriverError(f"the driver ended: {self._said()}")
        raise DriverError(f"no answer after {limit:g} s: {self._said()}")

    def _said(self) -> str:
        self._errors.seek(0)
        return " ".join(self._errors.read()[-600:].split())

    def close(self) -> None:
        """End the process; the next cell starts another."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            assert self._process.stdin is not None
            with suppress(BrokenPipeError):
                self._process.stdin.close()
            self._process = None


def _read(out: IO[str], lines: "Queue[str]") -> None:
    """All lines of a process, and an empty one at its end."""
    with out:
        for line in out:
            lines.put(line)
    lines.put("")
