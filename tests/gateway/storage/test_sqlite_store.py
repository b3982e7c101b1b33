"""What is special about values in SQLite: durability, sharing, and threads."""

import asyncio
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing

import pytest

from toolglot.gateway.storage import sqlite_store as module
from toolglot.gateway.storage.database import DatabaseError, open_database
from toolglot.gateway.storage.sqlite_store import SqliteStore


def test_a_file_keeps_values_when_closed(path):
    async def write():
        store = SqliteStore(path)
        await store.put("k", "a", b"kept", "o")
        await store.close()

    async def read():
        store = SqliteStore(path)
        assert await store.get("k", "a", "o") == b"kept"
        await store.close()

    asyncio.run(write())
    asyncio.run(read())


def test_a_second_store_on_the_file_sees_what_was_flushed(path):
    async def run():
        one, two = SqliteStore(path), SqliteStore(path)
        await one.put("k", "a", b"1", "o")
        await one.flush()
        assert await two.get("k", "a", "o") == b"1"
        await two.delete("k", "a", "o")
        await two.flush()
        assert await one.get("k", "a", "o") is None
        await one.close()
        await two.close()

    asyncio.run(run())


def test_the_event_loop_goes_on_while_the_file_is_locked(path):
    """Someone else is writing: to put, read and wait does not hold up the loop."""

    async def run():
        store = SqliteStore(path)
        await store.put("k", "before", b"0", "o")
        await store.flush()
        with closing(open_database(path)) as other:
            other.execute("BEGIN IMMEDIATE")
            await store.put("k", "a", b"1", "o")
            async with asyncio.TaskGroup() as group:
                flushing = group.create_task(store.flush())
                for _ in range(100):
                    await asyncio.sleep(0)
                assert await store.get("k", "a", "o") == b"1"
                assert await store.get("k", "before", "o") == b"0"
                assert not flushing.done()
                other.execute("ROLLBACK")
        await store.close()

    asyncio.run(run())


def test_no_sqlite_call_is_made_on_the_event_loop(path, monkeypatch):
    used = set()
    opened = module.DatabaseWorker.__init__

    def watch(connection):
        connection.set_trace_callback(lambda _: used.add(threading.get_ident()))

    def init(self, path):
        opened(self, path)
        watch(self._db)

    monkeypatch.setattr(module.DatabaseWorker, "__init__", init)

    async def run():
        store = SqliteStore(path)
        watch(store._writer._db)
        await store.put("k", "a", b"1", "o")
        await store.flush()
        await store.get("k", "a", "o")
        await store.delete("k", "a", "o")
        await store.list("k", "o")
        await store.close()

    asyncio.run(run())
    assert len(used) == 2
    assert threading.get_ident() not in used


def test_expired_values_leave_the_file_some_at_a_time(path, clock, monkeypatch):
    monkeypatch.setattr(module, "_SWEEP_ROWS", 10)

    async def run():
        store = SqliteStore(path, ttl_seconds=100, max_bytes=6000, clock=clock)
        for number in range(25):
            await store.put("k", str(number), b"", "o")
        await store.flush()
        clock.now += 100
        await store.put("k", "enough to look what is too old", bytes(200), "o")
        left = []
        for _ in range(4):
            await store.flush()
            with closing(open_database(path)) as db:
                left += db.execute("SELECT count(*) FROM stored").fetchone()
        await store.close()
        assert left == [16, 6, 1, 1]

    asyncio.run(run())


def test_a_full_disk_is_counted_and_the_values_stay_in_reach(path, caplog):
    async def run():
        store = SqliteStore(path)
        # The file may not grow: as good as a full disk.
        pages = store._writer._db.execute("PRAGMA page_count").fetchone()[0]
        store._writer._db.execute(f"PRAGMA max_page_count = {pages}")
        await store.put("k", "a", bytes(100_000), "o")
        with pytest.raises(DatabaseError, match="full"):
            await store.flush()
        assert await store.get("k", "a", "o") == bytes(100_000)
        await store.close()
        assert store.dropped == 1

    asyncio.run(run())
    assert "disk is full" in caplog.text


# --- the end of the process -----------------------------------------------------------------------

CHILD = """
import asyncio, os, signal, sys, threading
from pathlib import Path
from toolglot.gateway.storage import sqlite_store as module

path, how = Path(sys.argv[1]), sys.argv[2]
if how != "delay":
    module.COMMIT_SECONDS = 3600.0  # nothing is committed unless asked for

async def main():
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    committed, settled = threading.Event(), []
    store = module.SqliteStore(path)
    settle = store._writer._committed

    def count(batch):
        settle(batch)
        settled.extend(batch)
        if len(settled) == 1000:
            committed.set()

    store._writer._committed = count
    for number in range(1000):
        await store.put("k", str(number), b"value", "o")
    if how == "flush":
        await store.flush()
    if how == "delay":
        await asyncio.to_thread(committed.wait)
    await store.put("k", "late", b"value", "o")
    print("ready", flush=True)
    await stop.wait()
    await store.close()

asyncio.run(main())
"""


def end(path, how, number):
    """Run a process that puts a thousand values and one more, and end it when it has."""
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(path), how], stdout=subprocess.PIPE
    )
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(number)
    process.communicate(timeout=60)
    with closing(open_database(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        keys = {key for (key,) in db.execute("SELECT key FROM stored")}
    return process.returncode, keys


ALL = {str(number) for number in range(1000)}

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")


@posix
def test_a_killed_process_keeps_what_was_flushed(path):
    """kill -9: what was committed stays, what was not is lost, and the file is sound."""
    code, keys = end(path, "flush", signal.SIGKILL)
    assert code == -signal.SIGKILL
    assert keys == ALL


@posix
def test_a_killed_process_keeps_what_its_delay_committed(path):
    """Nobody asked for the commit: it came by itself."""
    code, keys = end(path, "delay", signal.SIGKILL)
    assert code == -signal.SIGKILL
    assert keys >= ALL


@posix
def test_a_terminated_process_loses_nothing(path):
    """SIGTERM closes the store, and everything queued is committed."""
    code, keys = end(path, "close", signal.SIGTERM)
    assert code == 0
    assert keys == ALL | {"late"}


def test_the_delay_is_at_most_50_ms():
    assert module.COMMIT_SECONDS <= 0.05


SHARING = """
import asyncio, sys
from pathlib import Path
from toolglot.gateway.storage.sqlite_store import SqliteStore

async def main():
    store = SqliteStore(Path(sys.argv[1]))
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(200):
        await store.put("k", f"{sys.argv[2]}/{number}", b"value", "o")
        if number % 10 == 0:
            await store.flush()
    await store.close()
    assert store.dropped == 0

asyncio.run(main())
"""


def test_processes_share_a_file(path):
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SHARING, str(path), str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for number in range(3)
    ]
    for process in processes:
        assert process.stdout.readline() == b"ready\n"
    for process in processes:
        process.stdin.write(b"go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate(timeout=60)
        assert process.returncode == 0
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT count(*) FROM stored").fetchone() == (600,)


def test_a_newer_value_is_read_although_an_older_was_committed(path, monkeypatch):
    monkeypatch.setattr(module, "COMMIT_SECONDS", 60.0)  # Nothing is committed by itself.

    async def run():
        store = SqliteStore(path)
        await store.put("k", "a", b"older", "o")
        older = list(store._pending.values())
        await store.put("k", "a", b"newer", "o")
        store._committed(older)
        assert await store.get("k", "a", "o") == b"newer"
        await store.close()

    asyncio.run(run())
