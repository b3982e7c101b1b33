"""Virtual keys in SQLite: functions for commands, and `SqliteKeyStore` for the gateway."""

import secrets
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Unpack

from toolglot.gateway.access.virtual_keys import (
    Budget,
    InvalidKeyError,
    KeyTerms,
    UnknownKeyError,
    VirtualKey,
    check_key,
    hash_token,
    new_token,
)
from toolglot.gateway.storage.database import transaction
from toolglot.gateway.storage.sqlite_threads import DatabaseWorker
from toolglot.gateway.storage.store import storable


class SqliteKeyStore:
    """The virtual keys in a file, for the event loop."""

    def __init__(self, path: Path) -> None:
        self._reader = DatabaseWorker(path)

    async def find(self, hashed: bytes) -> VirtualKey | None:
        return await self._reader.run(find_key, hashed)

    async def find_named(self, name: str) -> VirtualKey | None:
        return await self._reader.run(find_named_key, name)

    async def close(self) -> None:
        await self._reader.close()


def create_key(
    db: sqlite3.Connection,
    name: str,
    now: float,
    **terms: Unpack[KeyTerms],
) -> tuple[str, VirtualKey]:
    """A new token and its key. The token cannot be shown again."""
    token = new_token()
    key = VirtualKey(id=secrets.token_hex(4), name=name, created=now, **terms)
    check_key(key)
    try:
        with transaction(db):
            db.execute(_INSERT, (hash_token(token), *_to_row(key)))
    except sqlite3.IntegrityError:
        raise InvalidKeyError(f"there is a key named {name!r} already") from None
    return token, key


def list_keys(db: sqlite3.Connection) -> tuple[VirtualKey, ...]:
    """All keys, the oldest first, revoked ones included."""
    return _select(db, "ORDER BY created, rowid")


def revoke_key(db: sqlite3.Connection, which: str, now: float) -> VirtualKey:
    """Revoke the key of this id, or else of this name. A key is revoked only once."""
    with transaction(db):
        found = _select(db, "WHERE id = ?", storable(which)) or _select(
            db, "WHERE name = ? ORDER BY revoked IS NULL DESC, revoked DESC", storable(which)
        )
        if not found:
            raise UnknownKeyError(f"there is no key {which!r}")
        db.execute(
            "UPDATE keys SET revoked = coalesce(revoked, ?) WHERE id = ?", (now, found[0].id)
        )
        return _select(db, "WHERE id = ?", found[0].id)[0]


def find_key(db: sqlite3.Connection, hashed: bytes) -> VirtualKey | None:
    """The key with this hash, valid or not. Comparing hashes leaks nothing through its timing."""
    return next(iter(_select(db, "WHERE hash = ?", hashed)), None)


def find_named_key(db: sqlite3.Connection, name: str) -> VirtualKey | None:
    """The key with this name that was not revoked."""
    return next(iter(_select(db, "WHERE name = ? AND revoked IS NULL", storable(name))), None)


# --- rows -----------------------------------------------------------------------------------------

_COLUMNS: Final = "id, name, created, expires, revoked, models, rpm, tpm, budget, per, inspect"
_INSERT: Final = f"INSERT INTO keys (hash, {_COLUMNS}) VALUES (?{', ?' * 11})"  # noqa: S608


def _select(db: sqlite3.Connection, which: str, *values: str | bytes) -> tuple[VirtualKey, ...]:
    rows = db.execute(f"SELECT {_COLUMNS} FROM keys {which}", values)  # noqa: S608
    return tuple(_from_row(row) for row in rows)


def _to_row(key: VirtualKey) -> tuple[str | float | None, ...]:
    budget = (key.budget.tokens, key.budget.per) if key.budget else (None, None)
    models = "\n".join(key.models)
    return (
        key.id,
        key.name,
        key.created,
        key.expires,
        key.revoked,
        models,
        key.rpm,
        key.tpm,
        *budget,
        key.inspect,
    )


def _from_row(row: Sequence[Any]) -> VirtualKey:
    key_id, name, created, expires, revoked, models, rpm, tpm, tokens, per, inspect = row
    return VirtualKey(
        id=key_id,
        name=name,
        created=created,
        expires=expires,
        revoked=revoked,
        models=tuple(models.split("\n")) if models else (),
        rpm=rpm,
        tpm=tpm,
        budget=Budget(tokens, per) if per else None,
        inspect=bool(inspect),
    )
