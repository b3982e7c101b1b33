"""A gateway that runs as long as the client that needs it."""

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from toolglot.cli.ping import UnreachableError

SERVE: Final = (sys.executable, "-m", "toolglot", "serve")
_START_SECONDS: Final = 30.0
_END_SECONDS: Final = 10.0
_POLL_SECONDS: Final = 0.02


@contextmanager
def own_gateway(
    folder: Path,
    *options: str,
    log: Path | None = None,
    command: Sequence[str] = SERVE,
    patience: float = _START_SECONDS,
) -> Iterator[str]:
    """The address of a gateway that was started for this, on a free port, and ends with it.

    It has a session of its own, so that keys typed for the client do not reach it. Its
    output goes to a file, because the terminal is the client's.
    """
    port, log = folder / "port", log or folder / "gateway.log"
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - our own program
            [*command, "--port", "0", "--port-file", str(port), *options],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield f"http://127.0.0.1:{_port_of(process, port, log, patience)}"
    finally:
        process.terminate()
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _port_of(process: subprocess.Popen[bytes], port: Path, log: Path, patience: float) -> int:
    end = time.monotonic() + patience
    while time.monotonic() < end:
        ended = process.poll() is not None
        text = port.read_text().strip() if port.exists() else ""
        if text.isdecimal() and not ended:
            return int(text)
        if ended:
            words = log.read_text(errors="replace").strip() or f"exit code {process.returncode}"
            raise UnreachableError(f"the gateway did not start: {words}")
        time.sleep(_POLL_SECONDS)
    raise UnreachableError(f"the gateway did not start within {patience:g} seconds")
