"""Virtual keys: what clients show the gateway, so that nobody hands out the keys of providers.

A key is shown once, when it is made. The file holds its hash alone; a plain hash will do, because
240 random bits cannot be guessed.
"""

import hashlib
import secrets
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, TypedDict, Unpack

from msgspec import Struct

from toolglot.errors import ToolglotError
from toolglot.gateway.access.rate_limits import Budget
from toolglot.gateway.storage.database import plain, transaction
from toolglot.gateway.storage.sqlite_threads import Worker

PREFIX: Final = "tg-"
_RANDOM_BYTES: Final = 30  # 40 characters of base64
_CACHED_SECONDS: Final = 0.5
_CACHED_KEYS: Final = 4096
_MAX_TEXT: Final = 100
_MAX_LIMIT: Final = 10**15


class InvalidKeyError(ToolglotError, ValueError):
    """A key cannot be made like this."""


class UnknownKeyError(ToolglotError, LookupError):
    """There is no such key."""


class Key(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is known of a key; times are seconds since 1970. No models means all of them."""

    id: str
    name: str
    created: float
    expires: float | None = None
    revoked: float | None = None
    models: tuple[str, ...] = ()
    rpm: int | None = None
    tpm: int | None = None
    budget: Budget | None = None

    def is_valid(self, now: float) -> bool:
        """Whether the key opens the door."""
        return self.revoked is None and (self.expires is None or now < self.expires)

    def allows(self, model: str) -> bool:
        """Whether the key may be used for a model."""
        return not self.models or any(fnmatchcase(model, glob) for glob in self.models)


class Terms(TypedDict, total=False):
    """What a key may be bound to."""

    models: tuple[str, ...]
    rpm: int | None
    tpm: int | None
    budget: Budget | None
    expires: float | None


# --- in a file ------------------------------------------------------------------------------------


def create_key(
    db: sqlite3.Connection,
    name: str,
    now: float,
    **terms: Unpack[Terms],
) -> tuple[str, Key]:
    """A new key and its record. Nothing can show the key again."""
    token = PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)
    key = Key(id=secrets.token_hex(4), name=name, created=now, **terms)
    _check(key)
    try:
        with transaction(db):
            db.execute(_INSERT, (_hash(token), *_to_row(key)))
    except sqlite3.IntegrityError:
        raise InvalidKeyError(f"there is a key named {name!r} already") from None
    return token, key


def list_keys(db: sqlite3.Connection) -> tuple[Key, ...]:
    """All keys, the oldest first, revoked ones included."""
    return _select(db, "ORDER BY created, rowid")


def revoke_key(db: sqlite3.Connection, which: str, now: float) -> Key:
    """Revoke the key of this id, or else of this name. A revoked key stays as it is."""
    with transaction(db):
        found = _select(db, "WHERE id = ?", plain(which)) or _select(
            db, "WHERE name = ? ORDER BY revoked IS NULL DESC, revoked DESC", plain(which)
        )
        if not found:
            raise UnknownKeyError(f"there is no key {which!r}")
        db.execute(
            "UPDATE keys SET revoked = coalesce(revoked, ?) WHERE id = ?", (now, found[0].id)
        )
        return _select(db, "WHERE id = ?", found[0].id)[0]


def find_key(db: sqlite3.Connection, hashed: bytes) -> Key | None:
    """The key with this hash, valid or not. Only hashes are compared, so time tells nothing."""
    return next(iter(_select(db, "WHERE hash = ?", hashed)), None)


# --- for the event loop ---------------------------------------------------------------------------


class KeyRing:
    """The keys in a file, for the event loop.

    `check` remembers a key for half a second, so a revoked one is out within a second in every
    process.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._worker = Worker(path)
        self._cache: OrderedDict[bytes, tuple[float, Key]] = OrderedDict()

    async def create(self, name: str, **terms: Unpack[Terms]) -> tuple[str, Key]:
        """A new key and its record."""
        return await self._worker.run(create_key, name, self._clock(), **terms)

    async def list(self) -> tuple[Key, ...]:
        """All keys, the oldest first."""
        return await self._worker.run(list_keys)

    async def revoke(self, which: str) -> Key:
        """Revoke a key, by its id or name; here it counts at once."""
        key = await self._worker.run(revoke_key, which, self._clock())
        self._cache.clear()
        return key

    async def check(self, token: str) -> Key | None:
        """The key behind a token, if it is known and valid."""
        hashed, now = _hash(token), self._clock()
        seen, key = self._cache.get(hashed, (0.0, None))
        if key is None or not 0 <= now - seen < _CACHED_SECONDS:
            key = await self._worker.run(find_key, hashed)
            self._remember(hashed, key, now)
        return key if key and key.is_valid(now) else None

    async def close(self) -> None:
        """Close the file."""
        await self._worker.close()

    def _remember(self, hashed: bytes, key: Key | None, now: float) -> None:
        self._cache.pop(hashed, None)
        # Unknown ones may be made at any moment, and strangers must not fill the memory.
        if key is not None:
            self._cache[hashed] = now, key
            if len(self._cache) > _CACHED_KEYS:
                self._cache.popitem(last=False)


# --- rows -----------------------------------------------------------------------------------------

_COLUMNS: Final = "id, name, created, expires, revoked, models, rpm, tpm, budget, per"
_INSERT: Final = f"INSERT INTO keys (hash, {_COLUMNS}) VALUES (?{', ?' * 10})"  # noqa: S608


def _select(db: sqlite3.Connection, which: str, *values: str | bytes) -> tuple[Key, ...]:
    rows = db.execute(f"SELECT {_COLUMNS} FROM keys {which}", values)  # noqa: S608
    return tuple(_from_row(row) for row in rows)


def _to_row(key: Key) -> tuple[str | float | None, ...]:
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
    )


def _from_row(row: Sequence[Any]) -> Key:
    key_id, name, created, expires, revoked, models, rpm, tpm, tokens, per = row
    return Key(
        id=key_id,
        name=name,
        created=created,
        expires=expires,
        revoked=revoked,
        models=tuple(models.split("\n")) if models else (),
        rpm=rpm,
        tpm=tpm,
        budget=Budget(tokens, per) if per else None,
    )


def _check(key: Key) -> None:
    """Refuse what could not be kept, shown or meant."""
    for what, text in (("name", key.name), *(("model", glob) for glob in key.models)):
        if not (0 < len(text) <= _MAX_TEXT and text.isprintable() and text == text.strip()):
            raise InvalidKeyError(
                f"a {what} has 1 to {_MAX_TEXT} printable characters, not {text!r}"
            )
    budget = key.budget.tokens if key.budget else None
    for what, limit in (("rpm", key.rpm), ("tpm", key.tpm), ("budget", budget)):
        if limit is not None and not 0 < limit <= _MAX_LIMIT:
            raise InvalidKeyError(f"{what} is a number from 1 to {_MAX_LIMIT}, not {limit}")


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
