"""Values in memory."""

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from toolglot.gateway.storage.store import (
    TTL_SECONDS,
    Address,
    address_of,
    log_too_large,
    stored_size,
)

_MAX_BYTES: Final = 64 << 20


class MemoryStore:
    """Values in memory. When they grow too large, those used longest ago are deleted first."""

    def __init__(
        self,
        ttl_seconds: float = TTL_SECONDS,
        max_bytes: int = _MAX_BYTES,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._ttl, self._max_bytes, self._clock = ttl_seconds, max_bytes, clock
        self._values: OrderedDict[Address, tuple[bytes, float]] = OrderedDict()
        self._kinds: set[str] = set()
        """The kinds of all values that were ever put."""
        self._bytes = 0

    async def may_hold(self, kind: str, owner: str) -> bool:  # noqa: ARG002 - kinds are few, owners may be many
        return kind in self._kinds

    async def get(self, kind: str, key: str, owner: str) -> bytes | None:
        address = address_of(kind, key, owner)
        found = self._values.get(address)
        if found is None:
            return None
        if self._is_expired(found):
            self._remove(address)
            return None
        self._values.move_to_end(address)
        return found[0]

    async def put(self, kind: str, key: str, value: bytes, owner: str) -> None:
        address = address_of(kind, key, owner)
        self._remove(address)
        size = stored_size(address, value)
        if size > self._max_bytes:
            log_too_large(kind, size)
            return
        self._values[address] = value, self._clock()
        self._kinds.add(kind)
        self._bytes += size
        while self._bytes > self._max_bytes:
            self._remove(next(iter(self._values)))

    async def delete(self, kind: str, key: str, owner: str) -> bool:
        return self._remove(address_of(kind, key, owner))

    async def list(
        self, kind: str, owner: str, prefix: str = "", limit: int = 100
    ) -> tuple[str, ...]:
        wanted = address_of(kind, prefix, owner)
        keys = (
            address.key
            for address, found in self._values.items()
            if address[:2] == wanted[:2]
            and address.key.startswith(wanted.key)
            and not self._is_expired(found)
        )
        return tuple(sorted(keys)[:limit])

    async def flush(self) -> None:
        """Nothing survives the end of the process."""

    async def close(self) -> None:
        self._values.clear()
        self._bytes = 0

    def _is_expired(self, found: tuple[bytes, float]) -> bool:
        return found[1] <= self._clock() - self._ttl

    def _remove(self, address: Address) -> bool:
        found = self._values.pop(address, None)
        if found is None:
            return False
        self._bytes -= stored_size(address, found[0])
        return not self._is_expired(found)
