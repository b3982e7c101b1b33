"""The file of the gateway: its place, its form, and many who open it at once."""

import os
import pickle
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from toolglot.gateway.storage.database import (
    DatabaseError,
    database,
    default_path,
    open_database,
    transaction,
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "new" / "toolglot.db"


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"TOOLGLOT_HOME": "h", "XDG_DATA_HOME": "d"}, Path("h/toolglot.db")),
        ({"XDG_DATA_HOME": "d"}, Path("d/toolglot/toolglot.db")),
        ({}, Path.home() / ".local/share/toolglot/toolglot.db"),
        (
            {"TOOLGLOT_HOME": "", "XDG_DATA_HOME": ""},
            Path.home() / ".local/share/toolglot/toolglot.db",
        ),
    ],
)
def test_where_the_file_is(environ, expected):
    assert default_path(environ) == expected


def test_a_new_file_is_made_for_its_user_alone(path):
    with closing(open_database(path)) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert {"keys", "ledger", "stored"} <= {
            name for (name,) in db.execute("SELECT name FROM sqlite_master")
        }
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_what_was_written_is_there_when_opened_again(path):
    with closing(open_database(path)) as db, transaction(db):
        db.execute("INSERT INTO stored VALUES ('o', 'k', 'a', 1, 1, x'00')")
    with closing(open_database(path, create=False)) as db:
        assert db.execute("SELECT count(*) FROM stored").fetchone() == (1,)


def test_a_transaction_is_all_or_nothing(path):
    with closing(open_database(path)) as db:
        rows = [("a", b""), ("b", None)]
        with pytest.raises(sqlite3.IntegrityError), transaction(db):
            db.executemany("INSERT INTO stored VALUES ('o', 'k', ?, 1, 1, ?)", rows)
        assert db.execute("SELECT count(*) FROM stored").fetchone() == (0,)


def test_an_absent_file_is_not_made_unasked(path):
    with pytest.raises(FileNotFoundError):
        open_database(path, create=False)
    assert not path.parent.exists()


def test_a_file_of_someone_else_is_left_alone(tmp_path):
    path = tmp_path / "theirs.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE precious (it)")
    with pytest.raises(DatabaseError, match=r"theirs\.db: not a database of toolglot"):
        open_database(path)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT name FROM sqlite_master").fetchall() == [("precious",)]


def test_a_file_that_is_no_database(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("Dear diary, " * 99)
    with pytest.raises(DatabaseError, match=r"notes\.txt: file is not a database"):
        open_database(path)


def test_a_newer_file_is_left_alone(path):
    with closing(open_database(path)) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(DatabaseError, match="written by a newer toolglot"):
        open_database(path)


def test_what_goes_wrong_inside_names_the_file(path):
    with (
        pytest.raises(DatabaseError, match=r"toolglot\.db: no such table: nope") as caught,
        database(path) as db,
    ):
        db.execute("SELECT * FROM nope")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.path) == (str(caught.value), path)


OPEN_AND_COUNT = """
import sys
from contextlib import closing
from pathlib import Path
from toolglot.gateway.storage.database import open_database, transaction
print("ready", flush=True)
sys.stdin.readline()
for number in range(20):
    with closing(open_database(Path(sys.argv[1]))) as db, transaction(db):
        db.execute("INSERT INTO ledger (time, key, client, model, provider, upstream_model, status,"
        " input, cached, output, reasoning, info, lossy, unsupported)"
        " VALUES (?, ?, '', '', '', '', 200, 1, 0, 0, 0, 0, 0, 0)", (number, sys.argv[2]))
"""


def test_many_processes_make_and_write_the_same_file(path):
    """All begin at the same moment, on a file that is not there."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", OPEN_AND_COUNT, str(path), str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for number in range(4)
    ]
    for process in processes:
        assert process.stdout.readline() == b"ready\n"
    for process in processes:
        process.stdin.write(b"go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate(timeout=60)
        assert process.returncode == 0
    with closing(open_database(path)) as db:
        assert db.execute("SELECT count(*), count(DISTINCT key) FROM ledger").fetchone() == (80, 4)
