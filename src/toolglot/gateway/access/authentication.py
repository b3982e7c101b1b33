"""Who may ask for what, and who used how much."""

import time
from collections.abc import Mapping
from math import ceil, inf
from pathlib import Path
from typing import Final

from toolglot.gateway import errors
from toolglot.gateway.access.ledger import Ledger, Row
from toolglot.gateway.access.rate_limits import Limited, Limiter
from toolglot.gateway.access.virtual_keys import Key, KeyRing
from toolglot.gateway.config import Server
from toolglot.gateway.errors import RequestRejectedError
from toolglot.gateway.storage.database import default_path
from toolglot.gateway.telemetry.metrics import Observation
from toolglot.ir import ApiError
from toolglot.receipt import Receipt


class Guard:
    """Checks keys, holds clients to their limits, and keeps the ledger."""

    def __init__(self, server: Server) -> None:
        path = Path(server.database) if server.database else default_path()
        self._ring = KeyRing(path) if server.keys else None
        self._ledger = Ledger(path) if server.keys or server.database else None
        self._limiter = Limiter()

    async def admit(self, key: Key | None, model: str) -> None:
        """Let a client ask for a model, as far as its key goes."""
        if key is None:
            return
        if not key.allows(model):
            message = f"the key {key.name} may not use the model {model}"
            raise RequestRejectedError(errors.not_allowed(message))
        await self._limit(key)

    async def know(self, token: str | None) -> Key | None:
        """The key of a client; anyone where no keys are asked for."""
        if self._ring is None:
            return None
        key = await self._ring.check(token) if token else None
        if key is None:
            raise RequestRejectedError(errors.bad_key(given=bool(token)))
        return key

    async def _limit(self, key: Key) -> None:
        now = time.time()
        since = self._limiter.stale(key, now)
        if since is not None and self._ledger is not None:
            self._limiter.settle(key, await self._ledger.spent(key.id, since), now)
        limited = self._limiter.check(key, now)
        if limited is not None:
            raise RequestRejectedError(_limited(key, limited))

    def standing(self, key: Key | None) -> Mapping[str, str]:
        """What a client is told of its limits with an answer."""
        if key is None:
            return {}
        headers = {}
        for each in self._limiter.standing(key, time.time()):
            headers[f"x-ratelimit-limit-{each.what}"] = str(each.limit)
            headers[f"x-ratelimit-remaining-{each.what}"] = str(each.remaining)
        return headers

    def settle(self, key: Key | None, seen: Observation, receipt: Receipt) -> None:
        """Write down what a request used."""
        if self._ledger is None:
            return
        row = _row(key, seen, receipt)
        self._ledger.record(row)
        if key is not None:
            self._limiter.spend(key, row.tokens, time.time())

    async def close(self) -> None:
        """Write down what is not written yet."""
        if self._ledger is not None:
            await self._ledger.close()
        if self._ring is not None:
            await self._ring.close()


_PER: Final = {
    "requests": "requests per minute",
    "tokens": "tokens per minute",
    "budget": "tokens of its budget",
}


def _limited(key: Key, limited: Limited) -> ApiError:
    wait = None if limited.retry_after == inf else str(max(1, ceil(limited.retry_after)))
    per = _PER[limited.what]
    when = "" if wait is None else f"; it can ask again in {wait} seconds"
    message = f"the key {key.name} has used up its {limited.limit} {per}{when}"
    return errors.limit_reached(message, wait)


def _row(key: Key | None, seen: Observation, receipt: Receipt) -> Row:
    now, usage, counts = time.perf_counter(), seen.usage, receipt.counts()
    total = now - seen.started
    first = None if seen.first_byte is None else (seen.first_byte - seen.started) * 1000
    return Row(
        time=time.time(),
        key=key.id if key else "",
        client=seen.client,
        model=seen.asked_model,
        provider=seen.provider,
        upstream_model=seen.model,
        status=seen.status,
        input=((usage.input or 0) + (usage.cache_write or 0)) if usage else 0,
        cached=(usage.cache_read or 0) if usage else 0,
        output=(usage.output or 0) if usage else 0,
        reasoning=(usage.reasoning or 0) if usage else 0,
        first_ms=first,
        total_ms=total * 1000,
        overhead_ms=max(0.0, total - seen.waited) * 1000 if seen.waited is not None else None,
        **counts,
    )
