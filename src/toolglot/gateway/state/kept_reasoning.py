"""Reasoning state that clients leave out, kept between their requests.

Providers sign or encrypt the reasoning of a model and want it back with the next request. A client
whose protocol has no field for it cannot send it, so the gateway keeps it and puts it back.
"""

from collections.abc import Mapping
from typing import Final

from toolglot.adapt.reasoning.sealed_state import TAG
from toolglot.exchange import Exchange
from toolglot.gateway.storage.store import Store
from toolglot.http1.large_bodies import work_on

_KIND: Final = "state"
_SEALED: Final = TAG.encode()


class KeptReasoning:
    """Saves the reasoning state of responses, and restores it in requests that came without it."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def restore(self, owner: str, exchange: Exchange, body: bytes, path: str) -> None:
        """Put the state of earlier responses back into a request."""
        if exchange.client == exchange.provider or not await self._store.may_hold(_KIND, owner):
            return
        await work_on(len(body), exchange.decode_request, body, path)
        kept: dict[int, str] = {}
        missing = await work_on(len(body), exchange.missing_state)
        for index, keys in missing.items():
            for key in keys:
                value = await self._find(key, owner)
                if value is not None:
                    kept[index] = value
                    break
        if kept:
            exchange.restore_state(kept)

    async def _find(self, key: str, owner: str) -> str | None:
        """What is kept under a key, or under the one that it leads to."""
        value = await self._store.get(_KIND, key, owner)
        if value is not None and not value.startswith(_SEALED):
            value = await self._store.get(_KIND, value.decode(), owner)
        return None if value is None else value.decode()

    async def save(self, owner: str, state: Mapping[str, str]) -> None:
        """Save the state of a response, by its key; call this before its end reaches the client."""
        for key, sealed in state.items():
            await self._store.put(_KIND, key, sealed.encode(), owner)
