"""What is special about values in memory."""

import asyncio

from toolglot.gateway.storage.memory_store import MemoryStore


def test_in_memory_those_used_longest_ago_go_first():
    async def run():
        store = MemoryStore(max_bytes=3 * 1300)
        for key in ("a", "b", "c"):
            await store.put("k", key, bytes(1000), "o")
        await store.get("k", "a", "o")
        await store.put("k", "d", bytes(1000), "o")
        assert await store.list("k", "o") == ("a", "c", "d")

    asyncio.run(run())


def test_nothing_is_left_after_closing():
    async def run():
        store = MemoryStore()
        await store.put("k", "a", b"1", "o")
        await store.close()
        assert await store.get("k", "a", "o") is None

    asyncio.run(run())


def test_what_is_too_old_makes_room(clock):
    async def run():
        store = MemoryStore(ttl_seconds=10, clock=clock)
        await store.put("k", "a", b"value", "me")
        assert store._bytes > 0
        clock.now += 11
        assert await store.get("k", "a", "me") is None
        assert store._bytes == 0

    asyncio.run(run())
