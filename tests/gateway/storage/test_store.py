"""What every backend does with values: stored at once, for their owner, for a limited time."""

import asyncio
import logging
from contextlib import asynccontextmanager

import pytest

from toolglot.gateway.storage.memory_store import MemoryStore
from toolglot.gateway.storage.sqlite_store import SqliteStore
from toolglot.gateway.storage.store import Store, storable


@pytest.fixture(params=["memory", "sqlite"])
def opened(request, path, clock):
    """`async with opened(max_bytes=…) as store`: a store of either kind."""

    @asynccontextmanager
    async def opened(**limits):
        store: Store
        if request.param == "memory":
            store = MemoryStore(clock=clock, **limits)
        else:
            store = SqliteStore(path, clock=clock, **limits)
        yield store
        await store.close()

    return opened


def test_what_is_put_is_there_at_once_and_after_the_commit(opened):
    async def run():
        async with opened() as store:
            assert await store.get("response", "r1", "alice") is None
            await store.put("response", "r1", b"one", "alice")
            assert await store.get("response", "r1", "alice") == b"one"
            await store.flush()
            assert await store.get("response", "r1", "alice") == b"one"
            await store.put("response", "r1", b"", "alice")
            assert await store.get("response", "r1", "alice") == b""
            await store.flush()
            assert await store.get("response", "r1", "alice") == b""

    asyncio.run(run())


def test_a_kind_of_which_nothing_was_put_need_not_be_looked_for(opened):
    async def run():
        async with opened() as store:
            assert not await store.may_hold("state", "alice")
            await store.put("state", "s1", b"one", "alice")
            assert await store.may_hold("state", "alice")
            await store.flush()
            assert await store.may_hold("state", "alice")
            assert not await store.may_hold("other", "alice")

    asyncio.run(run())


def test_nobody_sees_what_others_own(opened):
    async def run():
        async with opened() as store:
            await store.put("response", "r1", b"alice's", "alice")
            await store.put("response", "r1", b"bob's", "bob")
            for _ in range(2):
                assert await store.get("response", "r1", "alice") == b"alice's"
                assert await store.get("response", "r1", "bob") == b"bob's"
                assert await store.get("response", "r1", "") is None
                assert await store.get("conversation", "r1", "alice") is None
                assert await store.list("response", "eve") == ()
                assert await store.delete("response", "r1", "eve") is False
                await store.flush()
            assert await store.delete("response", "r1", "alice") is True
            await store.flush()
            assert await store.get("response", "r1", "alice") is None
            assert await store.get("response", "r1", "bob") == b"bob's"

    asyncio.run(run())


def test_what_is_deleted_is_gone_at_once(opened):
    async def run():
        async with opened() as store:
            await store.put("k", "a", b"1", "o")
            assert await store.delete("k", "a", "o") is True
            assert await store.get("k", "a", "o") is None
            assert await store.delete("k", "a", "o") is False
            await store.put("k", "a", b"2", "o")
            await store.flush()
            assert await store.delete("k", "a", "o") is True
            assert await store.get("k", "a", "o") is None
            await store.put("k", "a", b"3", "o")
            assert await store.get("k", "a", "o") == b"3"

    asyncio.run(run())


def test_keys_are_listed_by_prefix_and_in_order(opened):
    async def run():
        async with opened() as store:
            for key in ("c1/2", "c1/1", "c10/1", "c1/\N{SUNFLOWER}", "c2/1", "C1/1", "c1_/%"):
                await store.put("item", key, b"", "o")
            await store.put("other", "c1/3", b"", "o")
            assert await store.list("item", "o", "c1/") == ("c1/1", "c1/2", "c1/\N{SUNFLOWER}")
            assert await store.list("item", "o", "c1/", limit=2) == ("c1/1", "c1/2")
            assert await store.list("item", "o", "c1_") == ("c1_/%",)
            assert len(await store.list("item", "o")) == 7

    asyncio.run(run())


def test_values_expire(opened, clock):
    async def run():
        async with opened(ttl_seconds=100) as store:
            await store.put("k", "a", b"old", "o")
            await store.put("k", "pending", b"old", "o")
            await store.flush()
            clock.now += 50
            await store.put("k", "b", b"new", "o")
            assert await store.list("k", "o") == ("a", "b", "pending")
            clock.now += 50
            assert await store.get("k", "a", "o") is None
            assert await store.get("k", "b", "o") == b"new"
            assert await store.delete("k", "pending", "o") is False
            assert await store.list("k", "o") == ("b",)
            await store.put("k", "c", b"pending", "o")
            clock.now += 100
            assert await store.get("k", "c", "o") is None

    asyncio.run(run())


def test_the_oldest_go_when_it_is_too_much(opened):
    async def run():
        async with opened(max_bytes=50_000) as store:
            for number in range(100):
                await store.put("k", f"{number:02}", bytes(2000), "o")
                await store.flush()
            left = await store.list("k", "o")
            assert 20 <= len(left) <= 25
            assert left[-1] == "99"
            assert left == tuple(f"{number:02}" for number in range(100 - len(left), 100))

    asyncio.run(run())


def test_a_value_larger_than_the_store_is_not_kept_and_replaces_the_old_one(opened, caplog):
    async def run():
        async with opened(max_bytes=50_000) as store:
            await store.put("k", "small", b"1", "o")
            await store.put("k", "a", b"1", "o")
            await store.put("k", "a", bytes(50_000), "o")
            assert await store.get("k", "a", "o") is None
            await store.flush()
            assert await store.list("k", "o") == ("small",)

    with caplog.at_level(logging.WARNING):
        asyncio.run(run())
    assert "kind k is too large to be stored: 50" in caplog.text


@pytest.mark.parametrize("odd", ["\ud800", "", "a\0b", "'; DROP TABLE stored; --", "x" * 9999])
def test_any_text_is_a_key(opened, odd):
    async def run():
        async with opened() as store:
            await store.put(odd, odd, b"1", odd)
            await store.flush()
            assert await store.get(odd, odd, odd) == b"1"
            assert await store.get(odd, odd, "o") is None
            assert len(await store.list(odd, odd, odd)) == 1

    asyncio.run(run())


@pytest.mark.parametrize(
    ("text", "stored"),
    [("Tür ☀", "Tür ☀"), ("a\ud800b", "a\\ud800b"), ("", "")],
)
def test_lone_surrogates_are_escaped(text, stored):
    assert storable(text) == stored
