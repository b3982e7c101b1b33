"""What is counted for rate limits, shared by all workers of a gateway.

There is a small file for each key, locked while somebody reads and changes it. A request costs some
system calls, none of which waits for a disk. Locks end with the process that has them, so a worker
that is killed blocks nobody; what it had reserved for its requests is given back, because each has
a file that it keeps locked as long as it lives.
"""

import errno
import fcntl
import hashlib
import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from toolglot.gateway.access.rate_limits import (
    LimitState,
    LocalLimitStates,
    SlidingWindow,
    Spent,
)

_LONGEST: Final = 2**20
"""Bytes that a state may have; it has at most some ten thousand."""
_ALIVE: Final = 1.0
"""Seconds for which another worker is taken to live on."""
_LEDGER_DELAY: Final = 3.0
"""Seconds after which the ledger has what another worker charged."""
_AHEAD: Final = 600
"""Tenths of seconds that another process may be ahead: more means that the machine was restarted,
and its clock with it.
"""
_log: Final = logging.getLogger("toolglot")


class _Saved(Struct, array_like=True):
    """A state as it is in its file."""

    requests: tuple[tuple[int, int], ...] = ()
    tokens: tuple[tuple[int, int], ...] = ()
    reserved: dict[str, tuple[int, int]] = {}
    """Tokens and budget, by the worker that reserved them."""
    spent: Spent | None = None


_decode: Final = msgspec.msgpack.Decoder(_Saved).decode
_encode: Final = msgspec.msgpack.Encoder().encode


class SharedLimitStates:
    """What is counted for all keys, in a folder."""

    unwritten_seconds = _LEDGER_DELAY

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._own = f"{os.getpid()}-{time.monotonic_ns()}"
        self._files: dict[str, int] = {}
        self._lives: dict[str, float] = {}
        self._alone = LocalLimitStates()
        self._failed = False
        self._life = -1
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._life = self._open(_life_of(self._own))
            fcntl.flock(self._life, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._complain(error)

    def close(self) -> None:
        """Give back what is reserved, and release everything."""
        for each in (*self._files.values(), *((self._life,) if self._life >= 0 else ())):
            os.close(each)
        self._files.clear()
        self._life = -1
        with suppress(OSError):
            (self._folder / _life_of(self._own)).unlink()

    @contextmanager
    def borrow(self, key_id: str) -> Iterator[LimitState]:
        try:
            file = self._file(key_id)
            fcntl.flock(file, fcntl.LOCK_EX)
            saved = _read(file)
        except OSError as error:
            # Rather a limit for each worker than none, or no answers.
            self._complain(error)
            with self._alone.borrow(key_id) as state:
                yield state
            return
        try:
            reserved = {
                worker: amounts
                for worker, amounts in saved.reserved.items()
                if worker == self._own or self._lives_on(worker)
            }
            others = [each for worker, each in reserved.items() if worker != self._own]
            tokens, budget = sum(each[0] for each in others), sum(each[1] for each in others)
            state = _state(saved)
            own = reserved.get(self._own, (0, 0))
            state.reserved_tokens, state.reserved_budget = tokens + own[0], budget + own[1]
            yield state
            reserved[self._own] = (
                max(0, state.reserved_tokens - tokens),
                max(0, state.reserved_budget - budget),
            )
            if reserved[self._own] == (0, 0):
                del reserved[self._own]
            made = _Saved(state.requests.slots, state.tokens.slots, reserved, state.spent)
            self._write(file, _encode(made))
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)

    def _write(self, file: int, data: bytes) -> None:
        try:
            os.pwrite(file, data, 0)
            os.ftruncate(file, len(data))
            self._failed = False
        except OSError as error:
            self._complain(error)

    def _file(self, key_id: str) -> int:
        file = self._files.get(key_id)
        if file is None:
            name = hashlib.sha256(key_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
            file = self._files[key_id] = self._open(name)
        return file

    def _open(self, name: str) -> int:
        return os.open(self._folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def _lives_on(self, worker: str) -> bool:
        """Whether a worker still has its file locked; it is looked at once a second."""
        now = time.monotonic()
        if now - self._lives.get(worker, -_ALIVE) < _ALIVE:
            return True
        try:
            file = os.open(self._folder / _life_of(worker), os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EAGAIN):
                raise
            self._lives[worker] = now
            return True
        finally:
            os.close(file)
        self._lives.pop(worker, None)
        with suppress(OSError):
            (self._folder / _life_of(worker)).unlink()
        return False

    def _complain(self, error: OSError) -> None:
        """Log a failure, once until it works again."""
        if not self._failed:
            words = "%s cannot be used (%s); each worker counts rate limits for itself"
            _log.error(words, self._folder, error.strerror or error)
        self._failed = True


def _life_of(worker: str) -> str:
    return f"worker-{worker}"


def _read(file: int) -> _Saved:
    data = os.pread(file, _LONGEST, 0)
    try:
        return _decode(data) if data else _Saved()
    except msgspec.DecodeError:
        return _Saved()  # A worker was killed while it wrote.


def _state(saved: _Saved) -> LimitState:
    state = LimitState()
    latest = int(time.monotonic() * 10) + _AHEAD
    state.requests = SlidingWindow(each for each in saved.requests if each[0] <= latest)
    state.tokens = SlidingWindow(each for each in saved.tokens if each[0] <= latest)
    if saved.spent is not None:
        state.spent = saved.spent
    return state
