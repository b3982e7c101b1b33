"""Values in memory."""

import time
from collections import Counter, OrderedDict, defaultdict
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
    """Values in memory. When they grow too large, those used longest ago are deleted first, of the
    owner who has the most.
    """

    def __init__(
        self,
        ttl_seconds: float = TTL_SECONDS,
        max_bytes: int = _MAX_BYTES,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._ttl, self._max_bytes, self._clock = ttl_seconds, max_bytes, clock
        self._values: defaultdict[str, OrderedDict[Address, tuple[bytes, float]]]
        self._values = defaultdict(OrderedDict)
        """By owner."""
        self._sizes: Counter[str] = Counter()
        self._kinds: set[str] = set()
        """The kinds of all values that were ever put."""
        self._bytes = 0

    async def may_hold(self, kind: str, owner: str) -> bool:  # noqa: ARG002 - kinds are few, owners may be many
        return kind in self._kinds

    async def get(self, kind: str, key: str, owner: str) -> bytes | None:
        address = address_of(kind, key, owner)
        own = self._values.get(address.owner)
        found = own.get(address) if own is not None else None
        if own is None or found is None:
            return None
        if self._is_expired(found):
            self._remove(address)
            return None
        own.move_to_end(address)
        return found[0]

    async def put(self, kind: str, key: str, value: bytes, owner: str) -> None:
        address = address_of(kind, key, owner)
        self._remove(address)
        size = stored_size(address, value)
        if size > self._max_bytes:
            log_too_large(kind, size)
            return
        self._values[address.owner][address] = value, self._clock()
        self._kinds.add(kind)
        self._bytes += size
        self._sizes[address.owner] += size
        while self._bytes > self._max_bytes:
            owner = max(self._sizes, key=self._sizes.__getitem__)
            self._remove(next(iter(self._values[owner])))

    async def swap(self, kind: str, key: str, old: bytes, new: bytes, owner: str) -> bool:
        if await self.get(kind, key, owner) != old:
            return False
        await self.put(kind, key, new, owner)
        return True

    async def delete(self, kind: str, key: str, owner: str) -> bool:
        return self._remove(address_of(kind, key, owner))

    async def list(
        self, kind: str, owner: str, prefix: str = "", limit: int = 100
    ) -> tuple[str, ...]:
        wanted = address_of(kind, prefix, owner)
        keys = (
            address.key
            for address, found in self._values.get(wanted.owner, {}).items()
            if address.kind == wanted.kind
            and address.key.startswith(wanted.key)
            and not self._is_expired(found)
        )
        return tuple(sorted(keys)[:limit])

    async def flush(self) -> None:
        """Nothing survives the end of the process."""

    async def close(self) -> None:
        self._values.clear()
        self._sizes.clear()
        self._bytes = 0

    def _is_expired(self, found: tuple[bytes, float]) -> bool:
        return found[1] <= self._clock() - self._ttl

    def _remove(self, address: Address) -> bool:
        owner = address.owner
        found = self._values[owner].pop(address, None) if owner in self._values else None
        if found is None:
            return False
        size = stored_size(address, found[0])
        self._bytes -= size
        self._sizes[owner] -= size
        if not self._values[owner]:
            del self._values[owner], self._sizes[owner]
        return not self._is_expired(found)
