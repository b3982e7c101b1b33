"""The ledger: a row for each request, sums over them, and what survives."""

import asyncio
import signal
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime

import pytest
from msgspec import structs

from toolglot.gateway.access.ledger import LedgerEntry, UsageSummary
from toolglot.gateway.storage import sqlite_ledger as module
from toolglot.gateway.storage.database import DatabaseError, open_database
from toolglot.gateway.storage.sqlite_keys import create_key
from toolglot.gateway.storage.sqlite_ledger import SqliteLedger, read_tokens, read_usage

NOON = datetime(2030, 1, 31, 12, tzinfo=UTC).timestamp()
DAY = 86400.0


def recorded(path, *rows):
    """The database with these rows."""

    async def run():
        ledger = SqliteLedger(path)
        for row in rows:
            ledger.record(row)
        await ledger.close()
        assert ledger.dropped == 0

    asyncio.run(run())
    return closing(open_database(path))


FULL = LedgerEntry(
    time=NOON,
    key="k1",
    client="anthropic",
    model="sonnet",
    provider="openai",
    upstream_model="gpt-9",
    status=200,
    input=100,
    cached=50,
    output=30,
    reasoning=20,
    first_ms=12.5,
    total_ms=80.0,
    overhead_ms=1.5,
    info=3,
    lossy=2,
    unsupported=1,
)


def test_columns_are_the_fields_of_an_entry(path):
    with closing(open_database(path)) as db:
        columns = [row[1] for row in db.execute("PRAGMA table_info(ledger)")]
    assert columns == list(LedgerEntry.__struct_fields__)


def test_an_entry_is_stored_as_it_is(path):
    with recorded(path, FULL, LedgerEntry(time=NOON)) as db:
        kept = db.execute("SELECT * FROM ledger ORDER BY key DESC").fetchall()
    assert kept == [structs.astuple(FULL), structs.astuple(LedgerEntry(time=NOON))]


def test_odd_values_are_kept_as_far_as_they_go(path):
    """Whatever a provider counts or a client calls its model, the other rows are not lost."""
    odd = LedgerEntry(time=NOON, key="k", model="\ud800", input=10**30, output=-(10**30))
    with recorded(path, odd, FULL) as db:
        assert db.execute("SELECT model, input FROM ledger ORDER BY input DESC").fetchall() == [
            ("\\ud800", 10**12),
            ("sonnet", 100),
        ]
        assert read_tokens(db, "k") == 0


def test_sums_by_key_have_the_names_of_the_keys(path):
    with closing(open_database(path)) as db:
        _, alice = create_key(db, "alice", NOON)
    mine = structs.replace(FULL, key=alice.id)
    slow = structs.replace(mine, status=529, first_ms=None, total_ms=100.0)
    with recorded(path, mine, slow, FULL, LedgerEntry(time=NOON)) as db:
        first, second, third = read_usage(db, "key")
    assert first == UsageSummary(
        group=alice.id,
        name="alice",
        requests=2,
        errors=1,
        input=200,
        cached=100,
        output=60,
        reasoning=40,
        first_ms=12.5,
        total_ms=90.0,
        overhead_ms=1.5,
        lossy=4,
    )
    assert (second.group, second.name, second.requests) == ("k1", "", 1)
    assert (third.group, third.input, third.first_ms) == ("", 0, None)


@pytest.mark.parametrize(
    ("by", "groups"),
    [
        ("key", [("k1", 3), ("k2", 1)]),
        ("model", [("sonnet", 4)]),
        ("provider", [("openai", 2), ("zai", 2)]),
        ("day", [("2030-01-30", 1), ("2030-01-31", 2), ("2030-02-01", 1)]),
    ],
)
def test_sums_by_anything(path, by, groups):
    """Days in their order; the rest by tokens, then by name."""
    change = structs.replace
    with recorded(
        path,
        change(FULL, time=NOON + DAY),
        change(FULL, time=NOON - DAY, provider="zai"),
        change(FULL, provider="zai"),
        change(FULL, key="k2"),
    ) as db:
        assert [(each.group, each.requests) for each in read_usage(db, by)] == groups


def test_sums_of_a_time(path):
    hours = [structs.replace(FULL, time=NOON + hour * 3600) for hour in range(5)]
    with recorded(path, *hours) as db:
        (part,) = read_usage(db, "key", NOON + 3600, NOON + 3 * 3600)
        assert part.requests == 2
        assert read_usage(db, "key", NOON + DAY) == ()
        assert read_tokens(db, "k1", NOON + 3 * 3600) == 360
        assert read_tokens(db, "nobody") == 0


def test_what_was_recorded_is_in_the_sums_at_once(path):
    async def run():
        ledger = SqliteLedger(path)
        ledger.record(FULL)
        assert await ledger.tokens("k1") == 180
        ledger.record(FULL)
        assert await ledger.tokens("k1", NOON) == 360
        await ledger.flush()
        await ledger.close()

    asyncio.run(run())


def test_to_record_never_waits(path):
    """Someone else has the file locked: rows are queued, and written when it is free."""

    async def run():
        ledger = SqliteLedger(path)
        with closing(open_database(path)) as other:
            other.execute("BEGIN IMMEDIATE")
            for _ in range(1000):
                ledger.record(FULL)
            other.execute("ROLLBACK")
        assert await ledger.tokens("k1") == 180_000
        await ledger.close()

    asyncio.run(run())


def test_what_a_failing_disk_cannot_take_is_counted_and_logged_once(path, caplog, monkeypatch):
    monkeypatch.setattr(module, "_QUEUE_ROWS", 500)

    async def run():
        ledger = SqliteLedger(path)
        # The file may not grow: as good as a full disk.
        pages = ledger._writer._db.execute("PRAGMA page_count").fetchone()[0]
        ledger._writer._db.execute(f"PRAGMA max_page_count = {pages}")
        for _ in range(600):
            ledger.record(FULL)
        with pytest.raises(DatabaseError, match="full"):
            await ledger.flush()
        assert ledger.dropped == 100
        ledger._writer._db.execute("PRAGMA max_page_count = 1000000")
        assert await ledger.tokens("k1") == 500 * 180
        await ledger.close()

    asyncio.run(run())
    assert caplog.text.count("cannot be written") == 1


CHILD = """
import asyncio, signal, sys, threading
from pathlib import Path
from toolglot.gateway.storage import sqlite_ledger as module

async def main():
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    committed, written = threading.Event(), []
    ledger = module.SqliteLedger(Path(sys.argv[1]))

    def count(batch):
        written.extend(batch)
        if len(written) == 1000:
            committed.set()

    ledger._writer._committed = count
    for number in range(1000):
        ledger.record(module.LedgerEntry(time=float(number), key="early"))
    if sys.argv[2] == "delay":
        await asyncio.to_thread(committed.wait)
    ledger.record(module.LedgerEntry(time=0.0, key="late"))
    print("ready", flush=True)
    await stop.wait()
    await ledger.close()

if sys.argv[2] != "delay":
    module.COMMIT_SECONDS = 3600.0
asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize(
    ("how", "number", "kept"),
    [
        ("delay", signal.SIGKILL, {"early": 1000}),
        ("close", signal.SIGTERM, {"early": 1000, "late": 1}),
    ],
    ids=["killed: what is older than a second is kept", "terminated: all is kept"],
)
def test_the_end_of_the_process(path, how, number, kept):
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(path), how], stdout=subprocess.PIPE
    )
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(number)
    process.communicate(timeout=60)
    with closing(open_database(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        found = dict(db.execute("SELECT key, count(*) FROM ledger GROUP BY key"))
    # The late row may or may not have made it, if nobody waited for it.
    assert kept.items() <= found.items()


def test_the_delay_is_at_most_a_second():
    assert module.COMMIT_SECONDS <= 1.0


def test_statuses_from_400_on_are_errors(path):
    with recorded(
        path, LedgerEntry(time=NOON, status=399), LedgerEntry(time=NOON, status=400)
    ) as db:
        (every,) = read_usage(db, "model")
    assert (every.requests, every.errors) == (2, 1)
