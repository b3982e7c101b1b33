"""The SQLite file that holds virtual keys, the ledger and stored values.

The file is in WAL mode. Several processes may have it open: one writes at a time, the others
wait for it, and readers never wait. A commit survives the death of the process.
"""

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from toolglot.errors import ToolglotError

BUSY_SECONDS: Final = 10.0
"""How long to wait for another process that is writing."""

_APPLICATION: Final = 0x746F676C
"""Marks the file as ours, "togl" in ASCII."""

_MIGRATIONS: Final = (
    (
        """
        CREATE TABLE keys (
            id TEXT PRIMARY KEY,
            hash BLOB NOT NULL UNIQUE,
            name TEXT NOT NULL,
            created REAL NOT NULL,
            expires REAL,
            revoked REAL,
            models TEXT NOT NULL,
            rpm INTEGER,
            tpm INTEGER,
            budget INTEGER,
            per TEXT
        )
        """,
        "CREATE UNIQUE INDEX keys_by_name ON keys (name) WHERE revoked IS NULL",
        """
        CREATE TABLE ledger (
            time REAL NOT NULL,
            key TEXT NOT NULL,
            client TEXT NOT NULL,
            model TEXT NOT NULL,
            provider TEXT NOT NULL,
            upstream_model TEXT NOT NULL,
            status INTEGER NOT NULL,
            input INTEGER NOT NULL,
            cached INTEGER NOT NULL,
            output INTEGER NOT NULL,
            reasoning INTEGER NOT NULL,
            first_ms REAL,
            total_ms REAL,
            overhead_ms REAL,
            info INTEGER NOT NULL,
            lossy INTEGER NOT NULL,
            unsupported INTEGER NOT NULL
        )
        """,
        "CREATE INDEX ledger_by_time ON ledger (time)",
        "CREATE INDEX ledger_by_key ON ledger (key, time, input, cached, output)",
        # The value is the last column, so that queries for the others need not read it.
        """
        CREATE TABLE stored (
            owner TEXT NOT NULL,
            kind TEXT NOT NULL,
            key TEXT NOT NULL,
            written REAL NOT NULL,
            size INTEGER NOT NULL,
            value BLOB NOT NULL,
            PRIMARY KEY (owner, kind, key)
        )
        """,
        "CREATE INDEX stored_by_age ON stored (written, size)",
    ),
    ("ALTER TABLE keys ADD COLUMN inspect INTEGER NOT NULL DEFAULT 0",),
)
"""The statements that migrate a file from each version to the next. Only append, never change."""


class DatabaseError(ToolglotError):
    """The file cannot be opened, read or written."""

    def __init__(self, path: Path, message: str) -> None:
        self.path = path
        self.message = message
        super().__init__(f"{path}: {message}")

    def __reduce__(self) -> tuple[type["DatabaseError"], tuple[Path, str]]:
        """Pickle by the two values."""
        return DatabaseError, (self.path, self.message)


def default_path(environ: Mapping[str, str] = os.environ) -> Path:
    """Where the file is unless the configuration or an option says otherwise."""
    if home := environ.get("TOOLGLOT_HOME"):
        return Path(home) / "toolglot.db"
    data = environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "toolglot" / "toolglot.db"


def open_database(path: Path, *, create: bool = True) -> sqlite3.Connection:
    """A connection to the file, migrated; created if absent, readable by its user alone.

    The connection may be used by one thread at a time, which need not be this one, and must not be
    carried through a fork.
    """
    if create:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = create and not path.exists()
    if not create:
        path.stat()  # an absent file is an error that says so
    try:
        return _connect(path, new=new)
    except sqlite3.Error as error:
        raise DatabaseError(path, str(error)) from error


_NONE_YET: Final = (
    "there is no database yet; `toolglot keys create NAME` and `toolglot serve --database FILE` "
    "make one"
)


@contextlib.contextmanager
def database(path: Path, *, create: bool = True) -> Iterator[sqlite3.Connection]:
    """A connection for commands; errors of SQLite become `DatabaseError`."""
    if not create and not path.exists():
        raise DatabaseError(path, _NONE_YET)
    with contextlib.closing(open_database(path, create=create)) as db:
        try:
            yield db
        except sqlite3.Error as error:
            raise DatabaseError(path, str(error)) from error


@contextlib.contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """A transaction, rolled back if the block raises."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield db
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")


def _connect(path: Path, *, new: bool) -> sqlite3.Connection:
    with contextlib.ExitStack() as undo:
        db = sqlite3.connect(
            path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        undo.callback(db.close)
        if new:
            # Not by a file descriptor of our own: to close one would release the locks that all
            # connections of this process hold on the file.
            path.chmod(0o600)
        _enter_wal(db)
        db.execute("PRAGMA synchronous = NORMAL")
        _migrate(db, path)
        undo.pop_all()
    return db


def _enter_wal(db: sqlite3.Connection) -> None:
    """Switch to WAL. SQLite does not wait here for others who are doing the same, so we do."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _migrate(db: sqlite3.Connection, path: Path) -> None:
    if _pragma(db, "user_version") == len(_MIGRATIONS) and _is_ours(db):
        return
    with transaction(db):
        version = _pragma(db, "user_version")
        if not _is_ours(db) and (version or _has_tables(db)):
            raise DatabaseError(path, "not a database of toolglot")
        if version > len(_MIGRATIONS):
            raise DatabaseError(path, "written by a newer toolglot")
        for statements in _MIGRATIONS[version:]:
            for statement in statements:
                db.execute(statement)
        db.execute(f"PRAGMA application_id = {_APPLICATION}")
        db.execute(f"PRAGMA user_version = {len(_MIGRATIONS)}")


def _is_ours(db: sqlite3.Connection) -> bool:
    return _pragma(db, "application_id") == _APPLICATION


def _has_tables(db: sqlite3.Connection) -> bool:
    return db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None


def _pragma(db: sqlite3.Connection, name: str) -> int:
    return int(db.execute(f"PRAGMA {name}").fetchone()[0])
