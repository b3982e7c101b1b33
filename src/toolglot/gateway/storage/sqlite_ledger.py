"""The ledger in SQLite: sums for commands, and `SqliteLedger` for the gateway."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import structs

from toolglot.gateway.access.ledger import GroupBy, LedgerEntry, UsageSummary
from toolglot.gateway.storage.sqlite_threads import BatchWriter, DatabaseWorker
from toolglot.gateway.storage.store import storable

COMMIT_SECONDS: Final = 1.0
_QUEUE_ROWS: Final = 100_000
_MAX_COUNT: Final = 10**12
"""More than any response has. Sums of what a faulty provider counts beyond it could overflow."""

_GROUPS: Final[dict[GroupBy, str]] = {
    "key": "key",
    "model": "model",
    "day": "strftime('%Y-%m-%d', time, 'unixepoch')",
    "provider": "provider",
}
_LONGEST: Final = 256
"""Characters of a name."""
_LATEST: Final = float("inf")


class SqliteLedger:
    """The ledger in a file. Entries are committed at most a second after they were recorded."""

    def __init__(self, path: Path) -> None:
        self._reader = DatabaseWorker(path)
        self._writer = BatchWriter(path, _write, delay=COMMIT_SECONDS, capacity=_QUEUE_ROWS)

    @property
    def dropped(self) -> int:
        """How many entries were lost because the disk failed."""
        return self._writer.dropped

    def record(self, entry: LedgerEntry) -> None:
        self._writer.put(entry)

    async def tokens(self, key: str, since: float = 0.0) -> int:
        await self._writer.flush()
        return await self._reader.run(read_tokens, key, since)

    async def flush(self) -> None:
        """Return when all that was recorded so far is committed."""
        await self._writer.flush()

    async def close(self) -> None:
        await self._writer.close()
        await self._reader.close()


def read_usage(
    db: sqlite3.Connection, by: GroupBy = "key", since: float = 0.0, until: float = _LATEST
) -> tuple[UsageSummary, ...]:
    """Sums by group: days in their order, others by tokens, the most first."""
    name = "(SELECT name FROM keys WHERE id = ledger.key)" if by == "key" else "''"
    order = "1" if by == "day" else "sum(input + cached + output) DESC, 1"
    rows = db.execute(
        f"""
        SELECT
            {_GROUPS[by]}, coalesce({name}, ''), count(*), sum(status >= 400),
            sum(input), sum(cached), sum(output), sum(reasoning),
            avg(first_ms), avg(total_ms), avg(overhead_ms), sum(lossy)
        FROM ledger WHERE time >= ? AND time < ? GROUP BY 1 ORDER BY {order}
        """,  # noqa: S608
        (since, until),
    )
    names = UsageSummary.__struct_fields__
    return tuple(UsageSummary(**dict(zip(names, row, strict=True))) for row in rows)


def read_tokens(db: sqlite3.Connection, key: str, since: float = 0.0) -> int:
    """How many tokens a key has used since then."""
    question = "SELECT sum(input + cached + output) FROM ledger WHERE key = ? AND time >= ?"
    return int(db.execute(question, (storable(key), since)).fetchone()[0] or 0)


_INSERT: Final = f"INSERT INTO ledger VALUES (?{', ?' * (len(LedgerEntry.__struct_fields__) - 1)})"  # noqa: S608


def _write(db: sqlite3.Connection, batch: Sequence[LedgerEntry]) -> None:
    db.executemany(_INSERT, [tuple(map(_storable, structs.astuple(entry))) for entry in batch])


def _storable(value: str | float | None) -> str | float | None:
    """A value that SQLite can store and add up, whatever a client or provider sent."""
    if isinstance(value, str):
        return storable(value[:_LONGEST])
    return value if value is None else max(-_MAX_COUNT, min(value, _MAX_COUNT))
