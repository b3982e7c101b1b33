"""Authentication: whose virtual key a client sends."""

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from toolglot.gateway.access.virtual_keys import KeyStore, VirtualKey, hash_token

_T = TypeVar("_T")
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
        self._cache: OrderedDict[bytes | str, tuple[float, VirtualKey]] = OrderedDict()

    async def authenticate(self, token: str) -> VirtualKey | None:
        """The key of a token; None if it is unknown, revoked or expired."""
        hashed = hash_token(token)
        return await self._find(hashed, self._keys.find, hashed)

    async def authenticate_name(self, name: str) -> VirtualKey | None:
        """The key with a name, for a client whom somebody else has authenticated."""
        return await self._find(name, self._keys.find_named, name)

    async def _find(
        self, place: bytes | str, find: Callable[[_T], Awaitable[VirtualKey | None]], what: _T
    ) -> VirtualKey | None:
        now = self._clock()
        found, key = self._cache.get(place, (0.0, None))
        if key is None or not 0 <= now - found < _CACHED_SECONDS:
            key = await find(what)
            self._remember(place, key, now)
        return key if key and key.is_valid(now) else None

    def _remember(self, place: bytes | str, key: VirtualKey | None, now: float) -> None:
        self._cache.pop(place, None)
        # Unknown tokens are not cached: a key may be created at any moment, and strangers must not
        # fill the memory.
        if key is not None:
            self._cache[place] = now, key
            if len(self._cache) > _CACHED_KEYS:
                self._cache.popitem(last=False)
