"""What the gateway keeps between requests: answers, conversations, reasoning, receipts.

A value is bytes under a kind, a key and an owner. Nobody but its owner sees it. It lives for a
limited time, and when all values together grow too large the oldest go first.
"""

import logging
import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from toolglot.gateway.storage.database import plain
from toolglot.gateway.storage.sqlite_threads import Worker, Writer

_log = logging.getLogger(__name__)

TTL_SECONDS: Final = 30 * 86400.0
MAX_BYTES: Final = 256 << 20
COMMIT_SECONDS: Final = 0.05
_MEMORY_BYTES: Final = 64 << 20
_QUEUE_BYTES: Final = 128 << 20
_OVERHEAD_BYTES: Final = 200
"""What an entry takes besides its value, roughly, so that empty values are not free."""
_SWEEP_SECONDS: Final = 60.0
_SWEEP_SHARE: Final = 16
_SWEEP_ROWS: Final = 1000


class Store(Protocol):
    """Where values are kept."""

    async def get(self, kind: str, key: str, owner: str) -> bytes | None:
        """The value, if there is one."""
        ...

    async def put(self, kind: str, key: str, value: bytes, owner: str) -> None:
        """Keep a value, in place of an older one."""
        ...

    async def delete(self, kind: str, key: str, owner: str) -> bool:
        """Forget a value; false if there was none."""
        ...

    async def list(
        self, kind: str, owner: str, prefix: str = "", limit: int = 100
    ) -> tuple[str, ...]:
        """The keys that begin with the prefix, in their order."""
        ...

    async def flush(self) -> None:
        """Return when all that was put so far would survive the end of the process."""
        ...

    async def close(self) -> None:
        """Lose nothing, and end."""
        ...


class _Slot(NamedTuple):
    owner: str
    kind: str
    key: str


class _Write(NamedTuple):
    """A value to be kept, or None for one to be forgotten."""

    slot: _Slot
    value: bytes | None
    at: float


def _slot(kind: str, key: str, owner: str) -> _Slot:
    return _Slot(plain(owner), plain(kind), plain(key))


def _size(slot: _Slot, value: bytes | None) -> int:
    return sum(map(len, slot)) + len(value or b"") + _OVERHEAD_BYTES


def _too_large(kind: str, size: int) -> None:
    _log.warning("a value of kind %s is too large to be kept: %d bytes", kind, size)


class MemoryStore:
    """Values in memory: gone with the process, and those used longest ago go first."""

    def __init__(
        self,
        ttl_seconds: float = TTL_SECONDS,
        max_bytes: int = _MEMORY_BYTES,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._ttl, self._max_bytes, self._clock = ttl_seconds, max_bytes, clock
        self._values: OrderedDict[_Slot, tuple[bytes, float]] = OrderedDict()
        self._bytes = 0

    async def get(self, kind: str, key: str, owner: str) -> bytes | None:
        """The value, if there is one."""
        slot = _slot(kind, key, owner)
        found = self._values.get(slot)
        if found is None:
            return None
        if self._is_expired(found):
            self._forget(slot)
            return None
        self._values.move_to_end(slot)
        return found[0]

    async def put(self, kind: str, key: str, value: bytes, owner: str) -> None:
        """Keep a value, in place of an older one."""
        slot = _slot(kind, key, owner)
        self._forget(slot)
        size = _size(slot, value)
        if size > self._max_bytes:
            _too_large(kind, size)
            return
        self._values[slot] = value, self._clock()
        self._bytes += size
        while self._bytes > self._max_bytes:
            self._forget(next(iter(self._values)))

    async def delete(self, kind: str, key: str, owner: str) -> bool:
        """Forget a value; false if there was none."""
        return self._forget(_slot(kind, key, owner))

    async def list(
        self, kind: str, owner: str, prefix: str = "", limit: int = 100
    ) -> tuple[str, ...]:
        """The keys that begin with the prefix, in their order."""
        wanted = _slot(kind, prefix, owner)
        keys = (
            slot.key
            for slot, found in self._values.items()
            if slot[:2] == wanted[:2]
            and slot.key.startswith(wanted.key)
            and not self._is_expired(found)
        )
        return tuple(sorted(keys)[:limit])

    async def flush(self) -> None:
        """Nothing survives the end of the process."""

    async def close(self) -> None:
        """Forget everything."""
        self._values.clear()
        self._bytes = 0

    def _is_expired(self, found: tuple[bytes, float]) -> bool:
        return found[1] <= self._clock() - self._ttl

    def _forget(self, slot: _Slot) -> bool:
        found = self._values.pop(slot, None)
        if found is None:
            return False
        self._bytes -= _size(slot, found[0])
        return not self._is_expired(found)


class SqliteStore:
    """Values in a file, which several processes may share.

    A value that was put is seen at once here, in other processes and after a crash from its commit
    on, which is at most 50 ms later. `flush` waits for that.
    """

    def __init__(
        self,
        path: Path,
        ttl_seconds: float = TTL_SECONDS,
        max_bytes: int = MAX_BYTES,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._ttl, self._max_bytes, self._clock = ttl_seconds, max_bytes, clock
        self._lock = threading.Lock()
        self._pending: dict[_Slot, _Write] = {}
        self._unswept = max_bytes  # sweep with the first commit
        self._swept = 0.0
        self._worker = Worker(path)
        self._writer = Writer(
            path,
            self._apply,
            delay=COMMIT_SECONDS,
            capacity=_QUEUE_BYTES,
            weigh=lambda write: _size(write.slot, write.value),
            committed=self._settle,
            idle=_SWEEP_SECONDS,
        )

    @property
    def dropped(self) -> int:
        """How many values were lost because the disk failed."""
        return self._writer.dropped

    async def get(self, kind: str, key: str, owner: str) -> bytes | None:
        """The value, if there is one."""
        slot = _slot(kind, key, owner)
        with self._lock:
            pending = self._pending.get(slot)
        if pending is not None:
            return pending.value if self._oldest() < pending.at else None
        return await self._worker.run(_get, slot, self._oldest())

    async def put(self, kind: str, key: str, value: bytes, owner: str) -> None:
        """Keep a value, in place of an older one."""
        slot = _slot(kind, key, owner)
        size = _size(slot, value)
        if size > min(self._max_bytes, _QUEUE_BYTES):
            _too_large(kind, size)
            self._queue(_Write(slot, None, self._clock()))
        else:
            self._queue(_Write(slot, bytes(value), self._clock()))

    async def delete(self, kind: str, key: str, owner: str) -> bool:
        """Forget a value; false if there was none."""
        there = await self.get(kind, key, owner) is not None
        self._queue(_Write(_slot(kind, key, owner), None, self._clock()))
        return there

    async def list(
        self, kind: str, owner: str, prefix: str = "", limit: int = 100
    ) -> tuple[str, ...]:
        """The keys that begin with the prefix, in their order."""
        await self.flush()
        return await self._worker.run(_list, _slot(kind, prefix, owner), limit, self._oldest())

    async def flush(self) -> None:
        """Return when all that was put so far is committed."""
        await self._writer.flush()

    async def close(self) -> None:
        """Commit what was put, and end."""
        await self._writer.close()
        await self._worker.close()

    def _oldest(self) -> float:
        return self._clock() - self._ttl

    def _queue(self, write: _Write) -> None:
        with self._lock:
            if self._writer.put(write):
                self._pending[write.slot] = write

    # --- in the writing thread --------------------------------------------------------------------

    def _apply(self, db: sqlite3.Connection, batch: Sequence[_Write]) -> None:
        for slot, value, at in batch:
            if value is None:
                db.execute(_DELETE, slot)
            else:
                db.execute(_REPLACE, (*slot, at, _size(slot, value), value))
                self._unswept += _size(slot, value)
        self._sweep(db)

    def _settle(self, batch: Sequence[_Write]) -> None:
        with self._lock:
            for write in batch:
                if self._pending.get(write.slot) is write:
                    del self._pending[write.slot]

    def _sweep(self, db: sqlite3.Connection) -> None:
        """Delete what is too old or too much, when enough was written or some time has passed."""
        now = time.monotonic()
        if self._unswept * _SWEEP_SHARE < self._max_bytes and now - self._swept < _SWEEP_SECONDS:
            return
        old = db.execute(_DELETE_EXPIRED, (self._oldest(), _SWEEP_ROWS)).rowcount
        much = _shrink(db, self._max_bytes)
        if _SWEEP_ROWS not in (old, much):
            self._unswept, self._swept = 0, now


_DELETE: Final = "DELETE FROM stored WHERE owner = ? AND kind = ? AND key = ?"
_REPLACE: Final = "INSERT OR REPLACE INTO stored VALUES (?, ?, ?, ?, ?, ?)"
_DELETE_EXPIRED: Final = """
    DELETE FROM stored WHERE rowid IN (
        SELECT rowid FROM stored WHERE written <= ? ORDER BY written LIMIT ?
    )
"""


def _get(db: sqlite3.Connection, slot: _Slot, oldest: float) -> bytes | None:
    question = """
        SELECT value FROM stored WHERE owner = ? AND kind = ? AND key = ? AND written > ?
    """
    row = db.execute(question, (*slot, oldest)).fetchone()
    return None if row is None else bytes(row[0])


def _list(db: sqlite3.Connection, slot: _Slot, limit: int, oldest: float) -> tuple[str, ...]:
    # No text that begins with the prefix comes behind the prefix and the last character of Unicode.
    question = """
        SELECT key FROM stored
        WHERE owner = ? AND kind = ? AND key >= ? AND key < ? || char(1114111) AND written > ?
        ORDER BY key LIMIT ?
    """
    rows = db.execute(question, (*slot, slot.key, oldest, limit))
    return tuple(key for (key,) in rows)


def _shrink(db: sqlite3.Connection, max_bytes: int) -> int:
    """Delete the oldest until the rest fits, a bounded number at a time; how many were deleted."""
    excess = db.execute("SELECT coalesce(sum(size), 0) FROM stored").fetchone()[0] - max_bytes
    rows: list[tuple[int]] = []
    if excess > 0:
        oldest = db.execute(
            "SELECT rowid, size FROM stored ORDER BY written, rowid LIMIT ?", (_SWEEP_ROWS,)
        )
        for row, size in oldest:
            if excess <= 0:
                break
            rows.append((row,))
            excess -= size
        db.executemany("DELETE FROM stored WHERE rowid = ?", rows)
    return len(rows)
