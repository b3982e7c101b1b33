"""Virtual keys: shown once, kept as a hash, gone within a second."""

import asyncio
import re
from contextlib import closing

import pytest
from tests.gateway.clock import Clock

from toolglot.gateway.access import virtual_keys as module
from toolglot.gateway.access.rate_limits import Budget
from toolglot.gateway.access.virtual_keys import (
    InvalidKeyError,
    Key,
    KeyRing,
    UnknownKeyError,
    create_key,
    list_keys,
    revoke_key,
)
from toolglot.gateway.storage.database import DatabaseError, open_database

NOW = 1_900_000_000.0


@pytest.fixture
def path(tmp_path):
    return tmp_path / "toolglot.db"


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
    assert bound == Key(id=bound.id, name="bound", created=NOW, **terms)
    assert free == Key(id=free.id, name="free", created=NOW + 1)


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
    assert revoke_key(db, "alice", NOW + 1) == Key(
        id=old.id, name="alice", created=NOW, revoked=NOW + 1
    )
    _, new = create_key(db, "alice", NOW + 2)
    assert revoke_key(db, "alice", NOW + 3).id == new.id
    assert revoke_key(db, old.id, NOW + 4).revoked == NOW + 1
    for unknown in ("bob", "", "\ud800"):
        with pytest.raises(UnknownKeyError, match="there is no key"):
            revoke_key(db, unknown, NOW)


@pytest.mark.parametrize(
    ("globs", "model", "allowed"),
    [
        ((), "anything", True),
        (("gpt-*",), "gpt-9", True),
        (("gpt-*",), "my-gpt-9", False),
        (("gpt-*",), "GPT-9", False),
        (("claude-*", "o?"), "o3", True),
        (("openrouter/*",), "openrouter/meta/llama", True),
    ],
)
def test_globs_say_which_models_a_key_may_ask_for(globs, model, allowed):
    assert Key(id="", name="", created=0.0, models=globs).allows(model) is allowed


def test_a_ring_knows_its_keys(path):
    clock = Clock(NOW)

    async def run():
        ring = KeyRing(path, clock)
        token, key = await ring.create("alice", rpm=3)
        assert await ring.check(token) == key
        assert await ring.list() == (key,)
        for wrong in ("", "tg-", token[:-1], token + "x", token.upper(), "\ud800", "é"):
            assert await ring.check(wrong) is None
        await ring.revoke("alice")
        assert await ring.check(token) is None
        await ring.close()

    asyncio.run(run())


def test_revocation_elsewhere_counts_within_a_second(path, db):
    clock = Clock(NOW)

    async def run():
        ring = KeyRing(path, clock)
        token, key = create_key(db, "alice", NOW)
        assert await ring.check(token) == key
        revoke_key(db, "alice", NOW)
        clock.now += 0.99
        assert await ring.check(token) is None
        await ring.close()

    asyncio.run(run())


def test_a_key_made_elsewhere_is_known_at_once(path, db, monkeypatch):
    monkeypatch.setattr(module.secrets, "token_urlsafe", lambda _: "x" * 40)

    async def run():
        ring = KeyRing(path, Clock(NOW))
        assert await ring.check("tg-" + "x" * 40) is None
        _, key = create_key(db, "alice", NOW)
        assert await ring.check("tg-" + "x" * 40) == key
        await ring.close()

    asyncio.run(run())


def test_a_key_expires_to_the_moment_also_when_remembered(path):
    clock = Clock(NOW)

    async def run():
        ring = KeyRing(path, clock)
        token, key = await ring.create("alice", expires=NOW + 0.2)
        assert await ring.check(token) == key
        clock.now += 0.2
        assert await ring.check(token) is None
        await ring.close()

    asyncio.run(run())


def test_a_known_key_is_not_looked_up_each_time(path, monkeypatch):
    clock, looked = Clock(NOW), []

    def find(db, hashed):
        looked.append(hashed)
        return find_key(db, hashed)

    find_key = module.find_key
    monkeypatch.setattr(module, "find_key", find)

    async def run():
        ring = KeyRing(path, clock)
        token, _ = await ring.create("alice")
        for _ in range(100):
            assert await ring.check(token)
        assert len(looked) == 1
        clock.now += 0.5
        assert await ring.check(token)
        assert len(looked) == 2
        clock.now -= 3600  # a clock that is set back must not keep a key for an hour
        assert await ring.check(token)
        assert len(looked) == 3
        await ring.close()

    asyncio.run(run())


def test_what_is_remembered_is_bounded(path, monkeypatch):
    monkeypatch.setattr(module, "_CACHED_KEYS", 3)

    async def run():
        ring = KeyRing(path, Clock(NOW))
        made = [(await ring.create(str(number)))[0] for number in range(5)]
        for token in (*made, "unknown", *made):
            await ring.check(token)
        assert len(ring._cache) == 3
        await ring.close()

    asyncio.run(run())


def test_a_broken_file_is_an_error_not_a_refusal(path, db):
    async def run():
        ring = KeyRing(path, Clock(NOW))
        db.execute("DROP TABLE keys")
        with pytest.raises(DatabaseError, match="no such table"):
            await ring.check("tg-x")
        await ring.close()

    asyncio.run(run())
