"""Several processes that answer on one port, and one that looks after them.

That one answers no requests itself, so that nothing a request does can end it. A worker that dies
is replaced; all end when it does, at a signal or in any other way.
"""

import logging
import os
import signal
import socket
import time
import traceback
from collections.abc import Callable
from typing import Final

from toolglot.gateway.http.server import Application, Ready, listen, serve

_FIRST_PAUSE: Final = 0.1
_LONGEST_PAUSE: Final = 30.0
_HEALTHY: Final = 60.0
"""Seconds after which the death of a worker says nothing of how its successor will fare."""
_log: Final = logging.getLogger("toolglot")


class Supervisor:
    """Starts workers, and starts them again."""

    def __init__(self, start: Callable[[int], int]) -> None:
        self._start = start
        """Starts the worker with a number; its process id."""
        self._running: dict[int, tuple[int, float]] = {}
        self._pause = _FIRST_PAUSE
        self.stopping = False

    def run(self, workers: int) -> None:
        """Keep so many workers running until `stopping` is set; then until they have ended."""
        for number in range(workers):
            self._running[self._start(number)] = number, time.monotonic()
        while self._running:
            pid, status = os.waitpid(-1, 0)
            if pid not in self._running:
                continue
            number, since = self._running.pop(pid)
            if not self.stopping:
                self._replace(number, pid, status, time.monotonic() - since)

    def _replace(self, number: int, pid: int, status: int, lived: float) -> None:
        pause = self._pause = (
            _FIRST_PAUSE if lived > _HEALTHY else min(2 * self._pause, _LONGEST_PAUSE)
        )
        words = "worker %d (process %d) %s after %.0f seconds; it is started again in %.1f seconds"
        _log.error(words, number, pid, _how(status), lived, pause)
        until = time.monotonic() + pause
        while not self.stopping and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, _FIRST_PAUSE))
        if not self.stopping:
            self._running[self._start(number)] = number, time.monotonic()


def _how(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return f"ended with code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"


def serve_many(
    app: Callable[[], Application], sock: socket.socket, ready: Ready, workers: int
) -> None:
    """Serve in several processes, each with its own socket on the port of this one."""
    host, port = sock.getsockname()[:2]
    # The port stays ours while no worker listens; what only is bound is not sent connections.
    held = socket.socket(sock.family, socket.SOCK_STREAM)
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    held.bind((host, port))
    sock.close()
    reading, writing = os.pipe()
    follow, lead = os.fdopen(reading, "rb"), os.fdopen(writing, "wb")

    first = [ready]
    """Only one of the processes reports that they are ready."""

    def start(_number: int) -> int:
        report = first.pop() if first else _silently
        pid = os.fork()
        if pid == 0:
            lead.close()
            _work(app, host, port, reading, report)
        return pid

    supervisor = Supervisor(start)

    def stop(_number: int, _frame: object) -> None:
        supervisor.stopping = True
        lead.close()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    with held, follow, lead:
        supervisor.run(workers)


def _work(app: Callable[[], Application], host: str, port: int, leader: int, ready: Ready) -> None:
    """What a worker does, from its first moment to its last."""
    code = 1
    try:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        serve(app, listen(host, port, shared=True), ready, leader=leader)
        code = 0
    except BaseException:  # noqa: BLE001 - nothing of a worker may go on in the code that forked it
        traceback.print_exc()
    finally:
        os._exit(code)


def _silently() -> None:
    """Only one of the processes reports that they are ready."""
