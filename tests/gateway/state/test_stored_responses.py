"""The stored responses and conversations of one owner."""

import asyncio

from msgspec import msgpack

from toolglot.gateway.state.stored_responses import ResponseStore, StoredResponse, new_conversation
from toolglot.gateway.storage.memory_store import MemoryStore


def stored(number, previous=None):
    return StoredResponse(
        response=b'{"id":"r%d","output":[{"type":"message"}]}' % number,
        input=b'[{"n":%d}]' % number,
        previous=previous,
    )


def test_a_history_is_found_from_its_end():
    async def run():
        responses = ResponseStore(MemoryStore(), "ann")
        for number in range(3):
            previous = f"r{number - 1}" if number else None
            await responses.put_response(f"r{number}", stored(number, previous), store=True)
        assert list(await responses.history("r2")) == ["r0", "r1", "r2"]
        assert len((await responses.get_response("r2")).items) == 2
        assert await responses.delete_response("r1")
        assert not await responses.delete_response("r1")
        assert await responses.history("r2") is None
        assert list(await responses.history("r0")) == ["r0"]

    asyncio.run(run())


def test_a_history_that_runs_in_a_circle_has_no_end():
    async def run():
        responses = ResponseStore(MemoryStore(), "")
        await responses.put_response("a", stored(1, "b"), store=True)
        await responses.put_response("b", stored(2, "a"), store=True)
        assert await responses.history("a") is None

    asyncio.run(run())


def test_what_shall_not_be_stored_lasts_as_long_as_its_connection():
    async def run():
        store, connection = MemoryStore(), MemoryStore()
        responses = ResponseStore(store, "", connection)
        assert responses.keeps_unstored
        assert not ResponseStore(store, "").keeps_unstored
        await responses.put_response("r1", stored(1), store=False)
        assert await responses.get_response("r1") == stored(1)
        assert await ResponseStore(store, "").get_response("r1") is None

    asyncio.run(run())


def test_a_conversation_grows_and_shrinks():
    async def run():
        responses = ResponseStore(MemoryStore(), "ann")
        made = (
            new_conversation({"a": "b"})
            .with_items([{"id": "i1"}, {"id": "i2"}], "them")
            .without_item("i1")
        )
        await responses.put_conversation(made.with_metadata({"c": "d"}))
        found = await responses.get_conversation(made.id)
        assert found.metadata == {"c": "d"}
        assert [(issuer, bytes(item)) for issuer, item in found.issued_items] == [
            ("them", b'{"id":"i2"}')
        ]
        assert await responses.delete_conversation(made.id)
        assert await responses.get_conversation(made.id) is None

    asyncio.run(run())


def test_responses_of_earlier_versions_can_be_read():
    """The names in the database stay as they were."""
    old = {"response": b"{}", "input": b"[]", "provider": "them", "held": True}

    async def run():
        store = MemoryStore()
        await store.put("response", "r1", msgpack.encode(old), "ann")
        found = await ResponseStore(store, "ann").get_response("r1")
        assert found.stored_upstream
        await ResponseStore(store, "ann").put_response("r1", found, store=True)
        assert msgpack.decode(await store.get("response", "r1", "ann")) == old

    asyncio.run(run())
