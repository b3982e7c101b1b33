"""`toolglot usage`: sums over the ledger."""

import asyncio
import csv
import io
import json
import time
from contextlib import closing

import pytest

from toolglot.gateway.access.ledger import LedgerEntry
from toolglot.gateway.storage.database import open_database
from toolglot.gateway.storage.sqlite_keys import create_key
from toolglot.gateway.storage.sqlite_ledger import SqliteLedger

DAY = 86400


@pytest.fixture
def path(tmp_path, monkeypatch):
    """A file with three requests: two of today, one of ten days ago."""
    monkeypatch.setenv("TOOLGLOT_HOME", str(tmp_path))
    path, now = tmp_path / "toolglot.db", time.time()
    with closing(open_database(path)) as db:
        _, alice = create_key(db, "alice", now)

    async def run():
        ledger = SqliteLedger(path)
        for row in (
            LedgerEntry(
                time=now, key=alice.id, model="sonnet", provider="openai", input=100, output=5
            ),
            LedgerEntry(
                time=now, key="gone", model="gpt", provider="openai", status=429, total_ms=7.6
            ),
            LedgerEntry(
                time=now - 10 * DAY, key=alice.id, model="gpt", provider="zai", cached=9, lossy=2
            ),
        ):
            ledger.record(row)
        await ledger.close()

    asyncio.run(run())
    return path


def table(done):
    return [line.split() for line in done.out.decode().splitlines()]


def test_a_table_by_key(cli, path):
    done = cli("usage")
    assert (done.code, done.err) == (0, "")
    head, *rows = done.out.decode().splitlines()
    assert head.split() == [
        *("key", "requests", "errors", "input", "cached", "output", "reasoning"),
        *("first", "ms", "total", "ms", "own", "ms", "lossy"),
    ]
    assert [row.split() for row in rows] == [
        ["alice", "2", "0", "100", "9", "5", "0", "2"],
        ["gone", "1", "1", "0", "0", "0", "0", "8", "0"],
    ]
    assert len({len(line) for line in (head, *rows)}) == 1


@pytest.mark.parametrize(
    ("argv", "groups"),
    [
        (("--by", "model"), ["sonnet", "gpt"]),
        (("--by", "provider"), ["openai", "zai"]),
        (("--by", "provider", "--since", "7d"), ["openai"]),
        (("--by", "provider", "--until", "7d"), ["zai"]),
        (("--by", "provider", "--since", "2w", "--until", "1h"), ["zai"]),
        (("--by", "provider", "--since", "2001-01-01"), ["openai", "zai"]),
        (("--by", "model", "--until", "2001-01-01"), []),
    ],
)
def test_groups_and_times(cli, path, argv, groups):
    assert [row[0] for row in table(cli("usage", *argv))[1:]] == groups


def test_days_are_in_their_order(cli, path):
    days = [row[0] for row in table(cli("usage", "--by", "day"))[1:]]
    assert len(days) == 2
    assert days == sorted(days)


def test_json_and_csv_say_the_same(cli, path):
    sums = json.loads(cli("usage", "--json").out)
    assert [(each["name"], each["requests"], each["total_ms"]) for each in sums] == [
        ("alice", 2, None),
        ("", 1, 7.6),
    ]
    rows = list(csv.DictReader(io.StringIO(cli("usage", "--csv").out.decode())))
    assert rows == [
        {name: "" if value is None else str(value) for name, value in each.items()} for each in sums
    ]


def test_files_name_the_group_by_its_kind(cli, path):
    (first, *_) = json.loads(cli("usage", "--by", "model", "--json").out)
    assert list(first)[:2] == ["model", "requests"]
    assert cli("usage", "--by", "day", "--csv").out.startswith(b"day,requests,errors,input,")


def test_nothing_used(cli, path):
    done = cli("usage", "--until", "2001-01-01")
    assert done == (0, b"", "there were no requests in that time\n")
    assert json.loads(cli("usage", "--until", "2001-01-01", "--json").out) == []


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("--by", "colour"), "there is no 'colour'"),
        (("--since", "yesterday"), "'yesterday' is neither a date"),
        (("--csv", "--json"), "not allowed with"),
    ],
)
def test_wrong_calls(cli, path, argv, words):
    done = cli("usage", *argv)
    assert (done.code, done.out) == (2, b"")
    assert words in done.err


def test_a_file_that_is_not_there_is_named(cli, tmp_path):
    missing = tmp_path / "typo.db"
    done = cli("usage", "--database", str(missing))
    assert done[:2] == (1, b"")
    assert f"toolglot: {missing}: there is no database yet" in done[2]
