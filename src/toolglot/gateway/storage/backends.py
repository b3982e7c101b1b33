"""The storage that a configuration asks for.

A backend implements `Store` for values, `KeyStore` for virtual keys and `LedgerStore` for the
ledger; to add one, write its module and choose it here.
"""

from pathlib import Path

from msgspec import Struct

from toolglot.gateway.access.ledger import LedgerStore
from toolglot.gateway.access.rate_limits import LimitStates, LocalLimitStates
from toolglot.gateway.access.virtual_keys import KeyStore
from toolglot.gateway.config import Server
from toolglot.gateway.storage.memory_store import MemoryStore
from toolglot.gateway.storage.store import Store


class Storage(Struct, frozen=True, kw_only=True):
    """All that the gateway stores."""

    values: Store
    keys: KeyStore | None = None
    """None where no keys are required."""
    ledger: LedgerStore | None = None
    """None where nobody can ask for it later."""
    limits: LimitStates
    """Where is counted what is used of rate limits."""

    async def close(self) -> None:
        """Write what is not written yet, and release everything."""
        for each in (self.ledger, self.keys, self.values):
            if each is not None:
                await each.close()
        self.limits.close()


def open_storage(server: Server) -> Storage:
    """Values in memory unless there is a database; keys and ledger in a database only."""
    if not (server.database or server.keys):
        values = MemoryStore(server.store_ttl, server.store_size)
        return Storage(values=values, limits=LocalLimitStates())
    # SQLite is loaded only where it is used.
    from toolglot.gateway.storage.database import default_path  # noqa: PLC0415
    from toolglot.gateway.storage.sqlite_keys import SqliteKeyStore  # noqa: PLC0415
    from toolglot.gateway.storage.sqlite_ledger import SqliteLedger  # noqa: PLC0415

    path = Path(server.database) if server.database else default_path()
    return Storage(
        values=_open_values(server),
        keys=SqliteKeyStore(path) if server.keys else None,
        ledger=SqliteLedger(path),
        limits=_open_limits(server, path),
    )


def _open_limits(server: Server, database: Path) -> LimitStates:
    """Workers of one gateway count together."""
    if server.workers == 1 or not server.keys:
        return LocalLimitStates()
    try:
        from toolglot.gateway.storage.shared_limits import SharedLimitStates  # noqa: PLC0415
    except ImportError:  # pragma: no cover - no locks of files on Windows, nor several workers
        return LocalLimitStates()
    return SharedLimitStates(database.with_name(f"{database.name}-limits"))


def _open_values(server: Server) -> Store:
    if server.database:
        from toolglot.gateway.storage.sqlite_store import SqliteStore  # noqa: PLC0415

        return SqliteStore(Path(server.database), server.store_ttl, server.store_size)
    return MemoryStore(server.store_ttl, server.store_size)
