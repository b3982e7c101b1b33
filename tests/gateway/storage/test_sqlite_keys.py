"""Virtual keys in SQLite: stored as hashes, with all their terms."""

import asyncio
import re
from contextlib import closing

import pytest

from toolglot.gateway.access.virtual_keys import (
    Budget,
    InvalidKeyError,
    UnknownKeyError,
    VirtualKey,
    hash_token,
)
from toolglot.gateway.storage.database import DatabaseError, open_database
from toolglot.gateway.storage.sqlite_keys import (
    SqliteKeyStore,
    create_key,
    list_keys,
    revoke_key,
)

NOW = 1_900_000_000.0


@pytest.fixture
def db(path):
    with closing(open_database(path)) as db:
        yield db


def test_a_key_is_40_random_characters_and_only_its_hash_is_kept(db, path):
    made = [create_key(db, f"key {number}", NOW)[0] for number in range(50)]
    assert all(re.fullmatch(r"tg-[A-Za-z0-9_-]{40}", token) for token in made)
    assert len(set(made)) == 50
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = path.read_bytes()
    assert b"key 49" in content
    assert not any(token[3:].encode() in content for token in made)


def test_what_a_key_is_bound_to_is_kept(db):
    terms = {
        "models": ("gpt-*", "claude-*"),
        "rpm": 60,
        "tpm": 10**6,
        "budget": Budget(5, "month"),
        "expires": NOW + 9,
    }
    _, bound = create_key(db, "bound", NOW, **terms)
    _, free = create_key(db, "free", NOW + 1)
    assert list_keys(db) == (bound, free)
    assert bound == VirtualKey(id=bound.id, name="bound", created=NOW, **terms)
    assert free == VirtualKey(id=free.id, name="free", created=NOW + 1)


def test_valid_keys_have_different_names(db):
    create_key(db, "alice", NOW)
    with pytest.raises(InvalidKeyError, match="there is a key named 'alice' already"):
        create_key(db, "alice", NOW)
    revoke_key(db, "alice", NOW)
    create_key(db, "alice", NOW)


@pytest.mark.parametrize(
    ("name", "terms", "message"),
    [
        ("", {}, "a name has 1 to 100 printable characters, not ''"),
        ("a\nb", {}, "a name has"),
        (" a", {}, "a name has"),
        ("\ud800", {}, "a name has"),
        ("x" * 101, {}, "a name has"),
        ("a", {"models": ("gpt-*", "")}, "a model has"),
        ("a", {"models": ("gpt\n*",)}, "a model has"),
        ("a", {"rpm": 0}, "rpm is a number from 1 to"),
        ("a", {"tpm": -1}, "tpm is a number from 1 to"),
        ("a", {"budget": Budget(2**80)}, "budget is a number from 1 to"),
    ],
)
def test_what_cannot_be_meant_is_refused(db, name, terms, message):
    with pytest.raises(InvalidKeyError, match=message):
        create_key(db, name, NOW, **terms)
    assert list_keys(db) == ()


def test_keys_are_revoked_by_id_or_name(db):
    _, old = create_key(db, "alice", NOW)
    assert revoke_key(db, "alice", NOW + 1) == VirtualKey(
        id=old.id, name="alice", created=NOW, revoked=NOW + 1
    )
    _, new = create_key(db, "alice", NOW + 2)
    assert revoke_key(db, "alice", NOW + 3).id == new.id
    assert revoke_key(db, old.id, NOW + 4).revoked == NOW + 1
    for unknown in ("bob", "", "\ud800"):
        with pytest.raises(UnknownKeyError, match="there is no key"):
            revoke_key(db, unknown, NOW)


def test_a_key_is_found_by_the_hash_of_its_token(path, db):
    async def run():
        keys = SqliteKeyStore(path)
        token, key = create_key(db, "alice", NOW, rpm=3)
        assert await keys.find(hash_token(token)) == key
        assert await keys.find(hash_token("tg-other")) is None
        revoked = revoke_key(db, "alice", NOW)
        assert await keys.find(hash_token(token)) == revoked
        await keys.close()

    asyncio.run(run())


def test_a_broken_file_is_an_error_not_an_unknown_key(path, db):
    async def run():
        keys = SqliteKeyStore(path)
        db.execute("DROP TABLE keys")
        with pytest.raises(DatabaseError, match="no such table"):
            await keys.find(hash_token("tg-x"))
        await keys.close()

    asyncio.run(run())
