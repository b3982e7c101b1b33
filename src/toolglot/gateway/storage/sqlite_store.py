"""Values in SQLite."""

import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from toolglot.gateway.storage.sqlite_threads import BatchWriter, DatabaseWorker
from toolglot.gateway.storage.store import (
    TTL_SECONDS,
    Address,
    address_of,
    log_too_large,
    stored_size,
)

MAX_BYTES: Final = 256 << 20
COMMIT_SECONDS: Final = 0.05
_QUEUE_BYTES: Final = 128 << 20
_SWEEP_SECONDS: Final = 60.0
_SWEEP_SHARE: Final = 16
_SWEEP_ROWS: Final = 1000


class _Write(NamedTuple):
    """A value to be stored, or None for one to be deleted."""

    address: Address
    value: bytes | None
    at: float


class SqliteStore:
    """Values in a file, which several processes may share.

    A value can be read at once by this process, and by others and after a crash from its commit on,
    which is at most 50 ms later. `flush` waits for that. When the values grow too large, the oldest
    are deleted first.
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
        self._pending: dict[Address, _Write] = {}
        self._unswept = max_bytes  # sweep with the first commit
        self._swept = 0.0
        self._reader = DatabaseWorker(path)
        self._writer = BatchWriter(
            path,
            self._apply,
            delay=COMMIT_SECONDS,
            capacity=_QUEUE_BYTES,
            weigh=lambda write: stored_size(write.address, write.value),
            committed=self._committed,
            idle=_SWEEP_SECONDS,
        )

    @property
    def dropped(self) -> int:
        """How many values were lost because the disk failed."""
        return self._writer.dropped

    async def get(self, kind: str, key: str, owner: str) -> bytes | None:
        address = address_of(kind, key, owner)
        with self._lock:
            pending = self._pending.get(address)
        if pending is not None:
            return pending.value if self._oldest() < pending.at else None
        return await self._reader.run(_get, address, self._oldest())

    async def may_hold(self, kind: str, owner: str) -> bool:
        if self._pending:
            return True  # It is not worth looking which.
        return await self._reader.run(_holds, address_of(kind, "", owner))

    async def put(self, kind: str, key: str, value: bytes, owner: str) -> None:
        address = address_of(kind, key, owner)
        size = stored_size(address, value)
        if size > min(self._max_bytes, _QUEUE_BYTES):
            log_too_large(kind, size)
            self._queue(_Write(address, None, self._clock()))
        else:
            self._queue(_Write(address, bytes(value), self._clock()))

    async def delete(self, kind: str, key: str, owner: str) -> bool:
        there = await self.get(kind, key, owner) is not None
        self._queue(_Write(address_of(kind, key, owner), None, self._clock()))
        return there

    async def list(
        self, kind: str, owner: str, prefix: str = "", limit: int = 100
    ) -> tuple[str, ...]:
        await self.flush()
        return await self._reader.run(_list, address_of(kind, prefix, owner), limit, self._oldest())

    async def flush(self) -> None:
        await self._writer.flush()

    async def close(self) -> None:
        await self._writer.close()
        await self._reader.close()

    def _oldest(self) -> float:
        return self._clock() - self._ttl

    def _queue(self, write: _Write) -> None:
        with self._lock:
            if self._writer.put(write):
                self._pending[write.address] = write

    # --- in the writing thread --------------------------------------------------------------------

    def _apply(self, db: sqlite3.Connection, batch: Sequence[_Write]) -> None:
        for address, value, at in batch:
            if value is None:
                db.execute(_DELETE, address)
            else:
                db.execute(_REPLACE, (*address, at, stored_size(address, value), value))
                self._unswept += stored_size(address, value)
        self._sweep(db)

    def _committed(self, batch: Sequence[_Write]) -> None:
        with self._lock:
            for write in batch:
                if self._pending.get(write.address) is write:
                    del self._pending[write.address]

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


def _get(db: sqlite3.Connection, address: Address, oldest: float) -> bytes | None:
    question = """
        SELECT value FROM stored WHERE owner = ? AND kind = ? AND key = ? AND written > ?
    """
    row = db.execute(question, (*address, oldest)).fetchone()
    return None if row is None else bytes(row[0])


def _holds(db: sqlite3.Connection, address: Address) -> bool:
    question = "SELECT 1 FROM stored WHERE owner = ? AND kind = ? LIMIT 1"
    return db.execute(question, address[:2]).fetchone() is not None


def _list(db: sqlite3.Connection, address: Address, limit: int, oldest: float) -> tuple[str, ...]:
    # No text that begins with the prefix comes behind the prefix and the last character of Unicode.
    question = """
        SELECT key FROM stored
        WHERE owner = ? AND kind = ? AND key >= ? AND key < ? || char(1114111) AND written > ?
        ORDER BY key LIMIT ?
    """
    rows = db.execute(question, (*address, address.key, oldest, limit))
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
