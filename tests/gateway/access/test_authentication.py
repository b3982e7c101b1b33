"""Authentication: known tokens are accepted, revoked ones are rejected within a second."""

import asyncio

import pytest
from tests.gateway.clock import Clock

from toolglot.gateway.access import authentication as module
from toolglot.gateway.access.authentication import Authenticator
from toolglot.gateway.access.virtual_keys import VirtualKey, hash_token

NOW = 1_900_000_000.0
TOKEN = "tg-" + "x" * 40


class Keys:
    """A key store in memory that counts how often it is asked."""

    def __init__(self) -> None:
        self.keys = {}
        self.lookups = 0

    def add(self, token: str, **terms) -> VirtualKey:
        key = VirtualKey(id=token, name=token, created=NOW, **terms)
        self.keys[hash_token(token)] = key
        return key

    async def find(self, hashed: bytes) -> VirtualKey | None:
        self.lookups += 1
        return self.keys.get(hashed)

    async def close(self) -> None:
        """Nothing to close."""


@pytest.fixture
def keys():
    return Keys()


@pytest.fixture
def clock():
    return Clock(NOW)


def test_only_the_token_itself_is_accepted(keys, clock):
    key = keys.add(TOKEN, rpm=3)

    async def run():
        authenticator = Authenticator(keys, clock)
        assert await authenticator.authenticate(TOKEN) == key
        for wrong in ("", "tg-", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "\ud800", "é"):
            assert await authenticator.authenticate(wrong) is None

    asyncio.run(run())


def test_revocation_counts_within_a_second(keys, clock):
    key = keys.add(TOKEN)

    async def run():
        authenticator = Authenticator(keys, clock)
        assert await authenticator.authenticate(TOKEN) == key
        keys.add(TOKEN, revoked=NOW)
        clock.now += 0.99
        assert await authenticator.authenticate(TOKEN) is None

    asyncio.run(run())


def test_a_new_key_is_accepted_at_once(keys, clock):
    async def run():
        authenticator = Authenticator(keys, clock)
        assert await authenticator.authenticate(TOKEN) is None
        key = keys.add(TOKEN)
        assert await authenticator.authenticate(TOKEN) == key

    asyncio.run(run())


def test_a_key_expires_to_the_moment_also_when_cached(keys, clock):
    key = keys.add(TOKEN, expires=NOW + 0.2)

    async def run():
        authenticator = Authenticator(keys, clock)
        assert await authenticator.authenticate(TOKEN) == key
        clock.now += 0.2
        assert await authenticator.authenticate(TOKEN) is None

    asyncio.run(run())


def test_a_known_key_is_not_looked_up_each_time(keys, clock):
    keys.add(TOKEN)

    async def run():
        authenticator = Authenticator(keys, clock)
        for _ in range(100):
            assert await authenticator.authenticate(TOKEN)
        assert keys.lookups == 1
        clock.now += 0.5
        assert await authenticator.authenticate(TOKEN)
        assert keys.lookups == 2
        clock.now -= 3600  # a clock that is set back must not keep a key for an hour
        assert await authenticator.authenticate(TOKEN)
        assert keys.lookups == 3

    asyncio.run(run())


def test_the_cache_is_bounded(keys, clock, monkeypatch):
    monkeypatch.setattr(module, "_CACHED_KEYS", 3)
    tokens = [f"tg-{number}" for number in range(5)]
    for token in tokens:
        keys.add(token)

    async def run():
        authenticator = Authenticator(keys, clock)
        for token in (*tokens, "unknown", *tokens):
            await authenticator.authenticate(token)
        assert len(authenticator._cache) == 3

    asyncio.run(run())


def test_strangers_push_nobody_out_of_the_cache(keys, clock, monkeypatch):
    monkeypatch.setattr(module, "_CACHED_KEYS", 2)
    keys.add(TOKEN)

    async def run():
        authenticator = Authenticator(keys, clock)
        await authenticator.authenticate(TOKEN)
        for stranger in ("a", "b", "c"):
            assert await authenticator.authenticate(stranger) is None
        before = keys.lookups
        await authenticator.authenticate(TOKEN)
        assert keys.lookups == before

    asyncio.run(run())
