"""`toolglot keys`: make, list and revoke keys."""

import asyncio
import json
import re
import subprocess
import sys

import pytest

from toolglot.gateway.access.authentication import Authenticator
from toolglot.gateway.access.virtual_keys import Budget
from toolglot.gateway.storage.database import database, open_database
from toolglot.gateway.storage.sqlite_keys import SqliteKeyStore, list_keys


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("TOOLGLOT_HOME", str(tmp_path))
    return tmp_path


def stored(home):
    """All keys in the file."""
    with database(home / "toolglot.db") as db:
        return list_keys(db)


def authenticated(home, token):
    """The key of a token, as the gateway finds it."""

    async def run():
        keys = SqliteKeyStore(home / "toolglot.db")
        found = await Authenticator(keys).authenticate(token)
        await keys.close()
        return found

    return asyncio.run(run())


def test_a_key_is_printed_alone_and_opens_the_gateway(cli, home):
    done = cli("keys", "create", "alice")
    assert done.code == 0
    assert re.fullmatch(rb"tg-[\w-]{40}\n", done.out)
    key = authenticated(home, done.out.decode().strip())
    assert key.name == "alice"
    assert done.err == f"key {key.id}, alice: store it now, it is not printed again\n"


def test_what_a_key_is_bound_to(cli, home):
    cli(
        *("keys", "create", "ci", "--models", "gpt-*, claude-*", "--rpm", "60", "--tpm", "200k"),
        *("--budget", "2M/day", "--expires", "30d"),
    )
    (key,) = stored(home)
    assert key.models == ("gpt-*", "claude-*")
    assert (key.rpm, key.tpm, key.budget) == (60, 200_000, Budget(2_000_000, "day"))
    assert key.expires == key.created + 30 * 86400


@pytest.mark.parametrize(
    ("said", "budget"),
    [
        ("500", Budget(500)),
        ("500k", Budget(500_000)),
        ("2M/month", Budget(2_000_000, "month")),
        ("1g/day", Budget(10**9, "day")),
    ],
)
def test_budgets(cli, home, said, budget):
    cli("keys", "create", "a", "--budget", said)
    (key,) = stored(home)
    assert key.budget == budget


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--budget", "5/year", "'5/year' is not a budget like 500k, 2M/day or 50M/month"),
        ("--budget", "5/", "is not a budget"),
        ("--budget", "/day", "'' is not a number like 60, 200k or 2M"),
        ("--rpm", "0", "'0' is not a number"),
        ("--tpm", "-5", "'-5' is not a number"),
        ("--tpm", "1.5", "is not a number"),
        ("--expires", "soon", "'soon' is neither a date"),
    ],
)
def test_what_cannot_be_meant_is_a_wrong_call(cli, home, option, value, words):
    done = cli("keys", "create", "a", option, value, columns=200)
    assert (done.code, done.out) == (2, b"")
    assert words in done.err
    assert not (home / "toolglot.db").exists()


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("create", "alice"), "there is a key named 'alice' already"),
        (("create", "a\nb"), "a name has 1 to 100 printable characters"),
        (("revoke", "bob"), "there is no key 'bob'"),
    ],
)
def test_what_cannot_be_done_is_1(cli, argv, words):
    cli("keys", "create", "alice")
    done = cli("keys", *argv)
    assert (done.code, done.out) == (1, b"")
    assert done.err.startswith("toolglot: ")
    assert words in done.err


def test_keys_are_listed(cli):
    cli("keys", "create", "alice", "--models", "gpt-*", "--rpm", "60", "--budget", "2M/day")
    cli("keys", "create", "bob", "--budget", "7k", "--expires", "2030-01-31")
    cli("keys", "create", "old", "--expires", "2001-01-01")
    cli("keys", "revoke", "bob")
    done = cli("keys", "list")
    rows = [line.split() for line in done.out.decode().splitlines()]
    assert done.code == 0
    assert rows[0] == [
        "id",
        "name",
        "state",
        "created",
        "models",
        "rpm",
        "tpm",
        "budget",
        "expires",
    ]
    assert [row[1:3] for row in rows[1:]] == [
        ["alice", "valid"],
        ["bob", "revoked"],
        ["old", "expired"],
    ]
    assert rows[1][5:] == ["gpt-*", "60", "2000000/day"]
    assert rows[2][5:] == ["all", "7000", "2030-01-31", "00:00"]


def test_keys_are_listed_as_json(cli):
    assert cli("keys", "create", "alice", "--rpm", "60").code == 0
    (key,) = json.loads(cli("keys", "list", "--json").out)
    assert (key["name"], key["rpm"], "hash" in key) == ("alice", 60, False)


def test_no_keys_is_not_an_error(cli, home):
    open_database(home / "toolglot.db").close()
    done = cli("keys", "list")
    assert done == (0, b"", "no keys yet: create one with `toolglot keys create NAME`\n")
    assert json.loads(cli("keys", "list", "--json").out) == []


def test_keys_are_revoked_by_name_or_id(cli, home):
    token = cli("keys", "create", "alice").out.decode().strip()
    (key,) = json.loads(cli("keys", "list", "--json").out)
    done = cli("keys", "revoke", "alice")
    assert (done.code, done.err) == (0, "")
    assert done.out.decode().startswith(f"key {key['id']}, alice: revoked 20")
    assert cli("keys", "revoke", key["id"]).out == done.out
    assert authenticated(home, token) is None


def test_another_file(cli, tmp_path):
    other = tmp_path / "deep" / "other.db"
    cli("keys", "create", "alice", "--database", str(other))
    assert b"alice" in cli("keys", "list", "--database", str(other)).out
    assert not (tmp_path / "toolglot.db").exists()


@pytest.mark.parametrize("argv", [("list",), ("revoke", "alice")])
def test_a_file_that_is_not_there_is_named_and_not_made(cli, tmp_path, argv):
    missing = tmp_path / "typo.db"
    done = cli("keys", *argv, "--database", str(missing))
    assert done[:2] == (1, b"")
    assert f"toolglot: {missing}: there is no database yet" in done[2]
    assert not missing.exists()


def test_a_file_that_is_no_database_is_named(cli, tmp_path):
    other = tmp_path / "notes.txt"
    other.write_text("Dear diary, " * 99)
    done = cli("keys", "list", "--database", str(other))
    assert done == (1, b"", f"toolglot: {other}: file is not a database\n")


def test_the_commands_need_no_aiohttp():
    code = (
        "import sys; sys.modules['aiohttp'] = None; from toolglot.cli import main;"
        "sys.exit(main(['keys', 'create', 'a']) or main(['keys', 'list']) or main(['usage']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr


def test_commands_that_keep_nothing_do_not_pay_for_it():
    code = (
        "import sys; before = set(sys.modules); import toolglot.cli;"
        "sys.exit(bool({'sqlite3', 'asyncio'} & (set(sys.modules) - before)))"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0
