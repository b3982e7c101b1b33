"""The reasoning state that clients leave out, kept between their turns."""

from collections.abc import Mapping
from typing import Final

from toolglot.exchange import Exchange
from toolglot.gateway.storage.store import Store

_KIND: Final = "state"


class Memory:
    """Keeps the state of answers for clients that do not give it back."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def recall(self, owner: str, exchange: Exchange) -> None:
        """Put the state of earlier answers back into a request that came without it."""
        kept: dict[int, str] = {}
        for index, key in exchange.missing().items():
            value = await self._store.get(_KIND, key, owner)
            if value is not None:
                kept[index] = value.decode()
        if kept:
            exchange.supply(kept)

    async def keep(self, owner: str, kept: Mapping[str, str]) -> None:
        """Keep the state of an answer before its end reaches the client."""
        for key, carrier in kept.items():
            await self._store.put(_KIND, key, carrier.encode(), owner)
