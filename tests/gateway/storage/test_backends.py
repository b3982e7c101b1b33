"""Which storage a configuration opens."""

import asyncio

from toolglot.gateway.config import Server
from toolglot.gateway.storage.backends import open_storage
from toolglot.gateway.storage.memory_store import MemoryStore
from toolglot.gateway.storage.sqlite_store import SqliteStore


def opened(**server):
    """The kinds of what is opened, which is closed again."""

    async def run():
        storage = open_storage(Server(**server))
        await storage.close()
        return type(storage.values), storage.keys is not None, storage.ledger is not None

    return asyncio.run(run())


def test_without_a_database_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.setenv("TOOLGLOT_HOME", str(tmp_path))
    assert opened() == (MemoryStore, False, False)
    assert not list(tmp_path.iterdir())


def test_a_database_holds_values_and_the_ledger(path):
    assert opened(database=str(path)) == (SqliteStore, False, True)


def test_keys_need_a_database_but_values_do_not(tmp_path, monkeypatch):
    monkeypatch.setenv("TOOLGLOT_HOME", str(tmp_path))
    assert opened(keys=True) == (MemoryStore, True, True)
    assert (tmp_path / "toolglot.db").exists()
