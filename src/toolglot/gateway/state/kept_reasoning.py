"""Reasoning state that clients leave out, kept between their requests.

Providers sign or encrypt the reasoning of a model and want it back with the next request. A client
whose protocol has no field for it cannot send it, so the gateway keeps it and puts it back.
"""

from typing import Final

from toolglot.exchange import Exchange
from toolglot.gateway.relay.incoming import Call
from toolglot.gateway.storage.store import Store

_KIND: Final = "state"


class KeptReasoning:
    """Saves the reasoning state of responses, and restores it in requests that came without it."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def restore(self, call: Call, exchange: Exchange) -> None:
        """Put the state of earlier responses back into a request."""
        kept: dict[int, str] = {}
        for index, key in exchange.missing().items():
            value = await self._store.get(_KIND, key, call.owner)
            if value is not None:
                kept[index] = value.decode()
        if kept:
            exchange.supply(kept)

    async def save(self, call: Call, exchange: Exchange) -> None:
        """Save the state of a response; call this before its end reaches the client."""
        for key, carrier in exchange.keepsakes().items():
            await self._store.put(_KIND, key, carrier.encode(), call.owner)
