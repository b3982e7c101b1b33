"""Who used what: one row for each request, and sums over them."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal, TypeAlias

from msgspec import Struct, structs

from toolglot.gateway.storage.database import plain
from toolglot.gateway.storage.sqlite_threads import Worker, Writer

COMMIT_SECONDS: Final = 1.0
_QUEUE_ROWS: Final = 100_000
_MAX_COUNT: Final = 10**12
"""More than any answer has; beyond it a provider is joking, and sums could overflow."""


class Row(Struct, frozen=True, kw_only=True):
    """One request and what became of it.

    `input` is what the model read anew and `cached` what it read from a cache; `output` includes
    `reasoning`. `first_ms` is None when nothing came. The last three count the notes of the receipt
    by severity.
    """

    time: float
    key: str = ""
    client: str = ""
    model: str = ""
    provider: str = ""
    upstream_model: str = ""
    status: int = 200
    input: int = 0
    cached: int = 0
    output: int = 0
    reasoning: int = 0
    first_ms: float | None = None
    total_ms: float | None = None
    overhead_ms: float | None = None
    info: int = 0
    lossy: int = 0
    unsupported: int = 0

    @property
    def tokens(self) -> int:
        """What the request costs a budget."""
        return self.input + self.cached + self.output


class Usage(Struct, frozen=True, kw_only=True):
    """The sum of a group; times are means. `name` is the key's name where groups are keys."""

    group: str
    name: str = ""
    requests: int
    errors: int
    input: int
    cached: int
    output: int
    reasoning: int
    first_ms: float | None
    total_ms: float | None
    overhead_ms: float | None
    lossy: int


By: TypeAlias = Literal["key", "model", "day", "provider"]

_GROUPS: Final[dict[By, str]] = {
    "key": "key",
    "model": "model",
    "day": "strftime('%Y-%m-%d', time, 'unixepoch')",
    "provider": "provider",
}
_LATEST: Final = float("inf")


class Ledger:
    """The ledger in a file. Rows are committed at most a second after they were recorded."""

    def __init__(self, path: Path) -> None:
        self._worker = Worker(path)
        self._writer = Writer(path, _write, delay=COMMIT_SECONDS, capacity=_QUEUE_ROWS)

    @property
    def dropped(self) -> int:
        """How many rows were lost because the disk failed."""
        return self._writer.dropped

    def record(self, row: Row) -> None:
        """Queue a row. Never waits."""
        self._writer.put(row)

    async def usage(
        self, by: By = "key", since: float = 0.0, until: float = _LATEST
    ) -> Sequence[Usage]:
        """Sums by group, with what was recorded so far."""
        await self._writer.flush()
        return await self._worker.run(read_usage, by, since, until)

    async def spent(self, key: str, since: float = 0.0) -> int:
        """How many tokens a key has used since then, with what was recorded so far."""
        await self._writer.flush()
        return await self._worker.run(read_spent, key, since)

    async def flush(self) -> None:
        """Return when all that was recorded so far is committed."""
        await self._writer.flush()

    async def close(self) -> None:
        """Commit what was recorded, and end."""
        await self._writer.close()
        await self._worker.close()


def read_usage(
    db: sqlite3.Connection, by: By = "key", since: float = 0.0, until: float = _LATEST
) -> tuple[Usage, ...]:
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
    names = Usage.__struct_fields__
    return tuple(Usage(**dict(zip(names, row, strict=True))) for row in rows)


def read_spent(db: sqlite3.Connection, key: str, since: float = 0.0) -> int:
    """How many tokens a key has used since then."""
    question = "SELECT sum(input + cached + output) FROM ledger WHERE key = ? AND time >= ?"
    return int(db.execute(question, (plain(key), since)).fetchone()[0] or 0)


_INSERT: Final = f"INSERT INTO ledger VALUES (?{', ?' * (len(Row.__struct_fields__) - 1)})"  # noqa: S608


def _write(db: sqlite3.Connection, batch: Sequence[Row]) -> None:
    db.executemany(_INSERT, [tuple(map(_storable, structs.astuple(row))) for row in batch])


def _storable(value: str | float | None) -> str | float | None:
    """A value that SQLite takes and can add up, whatever a client or provider said."""
    if isinstance(value, str):
        return plain(value)
    return value if value is None else max(-_MAX_COUNT, min(value, _MAX_COUNT))
