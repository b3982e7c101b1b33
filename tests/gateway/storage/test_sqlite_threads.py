"""The threads that keep SQLite off the event loop."""

import asyncio
import logging
import sqlite3
import threading
from contextlib import closing

import pytest

from toolglot.gateway.storage import sqlite_threads as threads
from toolglot.gateway.storage.database import DatabaseError, open_database
from toolglot.gateway.storage.sqlite_threads import BatchWriter, DatabaseWorker

NEVER = 3600.0


def write(db, batch):
    db.executemany(
        "INSERT OR REPLACE INTO stored VALUES ('', '', ?, 0, 1, x'')",
        [(str(item),) for item in batch],
    )


def count(path):
    with closing(open_database(path)) as db:
        return db.execute("SELECT count(*) FROM stored").fetchone()[0]


def test_a_worker_works_in_its_own_thread(path):
    def task(db, number, *, more):
        return threading.current_thread(), db.execute("SELECT ? + ?", (number, more)).fetchone()

    async def run():
        worker = DatabaseWorker(path)
        thread, found = await worker.run(task, 40, more=2)
        assert thread is not threading.current_thread()
        assert found == (42,)
        with pytest.raises(DatabaseError, match=r"toolglot\.db: near"):
            await worker.run(lambda db: db.execute("nonsense"))
        await worker.close()

    asyncio.run(run())


def test_what_comes_within_the_delay_is_one_batch(path):
    batches = []

    async def run():
        writer = BatchWriter(path, write, delay=NEVER, capacity=1000, committed=batches.append)
        assert all(writer.put(number) for number in range(100))
        assert count(path) == 0
        await writer.flush()
        assert count(path) == 100
        await writer.close()

    asyncio.run(run())
    assert [len(batch) for batch in batches] == [100, 0]


def test_the_delay_ends_by_itself(path):
    done = threading.Event()

    async def run():
        writer = BatchWriter(path, write, delay=0.01, capacity=9, committed=lambda _: done.set())
        writer.put(1)
        assert await asyncio.to_thread(done.wait, 60)
        assert count(path) == 1
        await writer.close()

    asyncio.run(run())


def test_a_queue_half_full_is_written_without_delay(path):
    done = threading.Event()

    async def run():
        writer = BatchWriter(path, write, delay=NEVER, capacity=10, committed=lambda _: done.set())
        for number in range(6):
            writer.put(number)
        assert await asyncio.to_thread(done.wait, 60)
        await writer.close()

    asyncio.run(run())
    assert count(path) == 6


def test_close_loses_nothing_and_afterwards_nothing_is_taken(path):
    async def run():
        writer = BatchWriter(path, write, delay=NEVER, capacity=10)
        writer.put(1)
        await writer.close()
        assert writer.put(2) is False
        assert writer.dropped == 1
        with pytest.raises(DatabaseError, match="closed"):
            await writer.flush()

    asyncio.run(run())
    assert count(path) == 1


def test_nothing_to_do_is_heard_of_when_asked_for(path):
    idle = threading.Event()

    def apply(db, batch):
        assert not batch
        idle.set()

    async def run():
        writer = BatchWriter(path, apply, delay=NEVER, capacity=10, idle=0.01)
        assert await asyncio.to_thread(idle.wait, 60)
        await writer.close()

    asyncio.run(run())


class Disk:
    """Writes, unless it is full."""

    def __init__(self) -> None:
        self.full = True
        self.tries = 0

    def apply(self, db, batch):
        self.tries += 1
        if self.full:
            raise sqlite3.OperationalError("database or disk is full")
        write(db, batch)


def test_a_failing_disk_is_tried_again_and_logged_once(path, caplog, monkeypatch):
    monkeypatch.setattr(threads, "_RETRY_SECONDS", 0.001)
    disk = Disk()

    async def run():
        writer = BatchWriter(path, disk.apply, delay=0, capacity=10)
        for number in range(12):
            writer.put(number)
        for _ in range(3):
            with pytest.raises(DatabaseError, match="disk is full"):
                await writer.flush()
        assert writer.dropped == 2
        disk.full = False
        await writer.flush()
        await writer.close()

    with caplog.at_level(logging.WARNING):
        asyncio.run(run())
    assert disk.tries >= 4
    assert count(path) == 10
    messages = [record.message for record in caplog.records]
    assert len(messages) == 2
    assert messages[0].endswith("cannot be written, will retry: database or disk is full")
    assert messages[1].endswith("can be written again; 2 entries were lost")


def test_a_disk_that_fails_to_the_end_is_not_waited_for(path, caplog):
    async def run():
        writer = BatchWriter(path, Disk().apply, delay=NEVER, capacity=10)
        writer.put(1)
        await writer.close()
        assert writer.dropped == 1

    asyncio.run(run())
    assert caplog.records[-1].message.endswith("could not be written; 1 entries were lost")


@pytest.mark.parametrize(
    "bad", [None, 2**70, "\ud800", object()], ids=["null", "huge", "surrogate", "object"]
)
def test_an_item_that_no_disk_could_take_is_dropped_alone(path, caplog, bad):
    def apply(db, batch):
        rows = [(item,) for item in batch]
        db.executemany("INSERT INTO stored VALUES ('', '', 'x' || abs(?), 0, 1, x'')", rows)

    async def run():
        writer = BatchWriter(path, apply, delay=NEVER, capacity=10)
        for item in (1, bad, 2):
            writer.put(item)
        await writer.flush()
        assert writer.dropped == 1
        await writer.close()

    asyncio.run(run())
    assert count(path) == 2
    assert "cannot store an entry" in caplog.text


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_nobody_waits_for_a_thread_that_died(path):
    """A bug in what is to be done ends the thread: loudly, and without hanging anyone."""

    def apply(db, batch):
        raise ZeroDivisionError

    async def run():
        writer = BatchWriter(path, apply, delay=NEVER, capacity=10)
        with pytest.raises(DatabaseError, match="the writing thread died"):
            await writer.flush()
        await writer.close()
        assert writer.put(1) is False

    asyncio.run(run())


def test_a_flush_that_nobody_waits_for_any_more(path):
    """A client that goes away cancels what it waits for; the writing goes on."""
    begun, proceed = threading.Event(), threading.Event()

    def apply(db, batch):
        begun.set()
        proceed.wait(60)
        write(db, batch)

    async def run():
        writer = BatchWriter(path, apply, delay=NEVER, capacity=10)
        writer.put(1)
        async with asyncio.TaskGroup() as group:
            first = group.create_task(writer.flush())
            await asyncio.to_thread(begun.wait, 60)
            second = group.create_task(writer.flush())
            await asyncio.sleep(0)
            first.cancel()
            second.cancel()
        proceed.set()
        await writer.flush()
        await writer.close()

    asyncio.run(run())
    assert count(path) == 1
