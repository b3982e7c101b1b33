"""What one owner keeps of responses and conversations."""

import asyncio

from toolglot.gateway.state.stored_responses import Kept, Shelf, new_conversation
from toolglot.gateway.storage.memory_store import MemoryStore


def kept(number, previous=None):
    return Kept(
        response=b'{"id":"r%d","output":[{"type":"message"}]}' % number,
        input=b'[{"n":%d}]' % number,
        previous=previous,
    )


def test_a_chain_is_found_from_its_end():
    async def run():
        shelf = Shelf(MemoryStore(), "ann")
        for number in range(3):
            previous = f"r{number - 1}" if number else None
            await shelf.keep(f"r{number}", kept(number, previous), store=True)
        assert list(await shelf.chain("r2")) == ["r0", "r1", "r2"]
        assert len((await shelf.response("r2")).items) == 2
        assert await shelf.forget("r1")
        assert not await shelf.forget("r1")
        assert await shelf.chain("r2") is None
        assert list(await shelf.chain("r0")) == ["r0"]

    asyncio.run(run())


def test_a_chain_that_bites_its_tail_has_no_end():
    async def run():
        shelf = Shelf(MemoryStore(), "")
        await shelf.keep("a", kept(1, "b"), store=True)
        await shelf.keep("b", kept(2, "a"), store=True)
        assert await shelf.chain("a") is None

    asyncio.run(run())


def test_what_shall_not_be_stored_is_kept_near_only():
    async def run():
        far, near = MemoryStore(), MemoryStore()
        shelf = Shelf(far, "", near)
        assert shelf.remembers
        assert not Shelf(far, "").remembers
        await shelf.keep("r1", kept(1), store=False)
        assert await shelf.response("r1") == kept(1)
        assert await Shelf(far, "").response("r1") is None

    asyncio.run(run())


def test_a_conversation_grows_and_shrinks():
    async def run():
        shelf = Shelf(MemoryStore(), "ann")
        made = new_conversation({"a": "b"}).plus([{"id": "i1"}, {"id": "i2"}], "them").minus("i1")
        await shelf.keep_conversation(made.labelled({"c": "d"}))
        found = await shelf.conversation(made.id)
        assert found.metadata == {"c": "d"}
        assert [(issuer, bytes(item)) for issuer, item in found.issued] == [
            ("them", b'{"id":"i2"}')
        ]
        assert await shelf.forget_conversation(made.id)
        assert await shelf.conversation(made.id) is None

    asyncio.run(run())
