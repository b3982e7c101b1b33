"""Authentication: whose virtual key a client sends."""

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from toolglot.gateway.access.virtual_keys import KeyStore, VirtualKey, hash_token

_CACHED_SECONDS: Final = 0.5
_CACHED_KEYS: Final = 4096


class Authenticator:
    """Finds the valid key that belongs to a token.

    A key that was found is cached for half a second, so that every process rejects a revoked one
    within a second.
    """

    def __init__(self, keys: KeyStore, clock: Callable[[], float] = time.time) -> None:
        self._keys = keys
        self._clock = clock
        self._cache: OrderedDict[bytes, tuple[float, VirtualKey]] = OrderedDict()

    async def authenticate(self, token: str) -> VirtualKey | None:
        """The key of a token; None if it is unknown, revoked or expired."""
        hashed, now = hash_token(token), self._clock()
        found, key = self._cache.get(hashed, (0.0, None))
        if key is None or not 0 <= now - found < _CACHED_SECONDS:
            key = await self._keys.find(hashed)
            self._remember(hashed, key, now)
        return key if key and key.is_valid(now) else None

    def _remember(self, hashed: bytes, key: VirtualKey | None, now: float) -> None:
        self._cache.pop(hashed, None)
        # Unknown tokens are not cached: a key may be created at any moment, and strangers must not
        # fill the memory.
        if key is not None:
            self._cache[hashed] = now, key
            if len(self._cache) > _CACHED_KEYS:
                self._cache.popitem(last=False)
