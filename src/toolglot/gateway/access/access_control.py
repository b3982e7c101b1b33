"""What requests pass before they are answered, and where they are charged afterwards."""

import asyncio
import time
from collections.abc import Mapping
from math import ceil, inf
from typing import Final

from toolglot.gateway import error_responses as errors
from toolglot.gateway.access.authentication import Authenticator
from toolglot.gateway.access.charged_usage import charged_usage
from toolglot.gateway.access.ledger import LedgerEntry, LedgerStore
from toolglot.gateway.access.rate_limits import (
    NO_RESERVATION,
    LimitExceeded,
    LimitStates,
    RateLimiter,
    Reservation,
)
from toolglot.gateway.access.virtual_keys import KeyStore, VirtualKey
from toolglot.gateway.error_responses import RequestRejectedError
from toolglot.gateway.telemetry.request_record import RequestRecord
from toolglot.ir import ApiError


class AccessControl:
    """Authenticates clients, holds them to their limits, and charges them.

    Without a key store everyone is let in, and without a ledger nothing is charged.
    """

    def __init__(
        self,
        keys: KeyStore | None = None,
        ledger: LedgerStore | None = None,
        limits: LimitStates | None = None,
    ) -> None:
        self._authenticator = Authenticator(keys) if keys is not None else None
        self._ledger = ledger
        self._limiter = RateLimiter(states=limits)
        self._first_sums = asyncio.Lock()
        """Held while the ledger is asked for the first time what a key has used."""

    @property
    def asks_for_keys(self) -> bool:
        """Whether clients need keys."""
        return self._authenticator is not None

    async def authenticate(self, token: str | None, name: str | None = None) -> VirtualKey | None:
        """The key of a client, by its token, or by the name that somebody who is trusted gives it;
        None where no keys are required.
        """
        if self._authenticator is None:
            return None
        key = await self._authenticator.authenticate_name(name) if name else None
        if key is None and token:
            key = await self._authenticator.authenticate(token)
        if key is None:
            raise RequestRejectedError(errors.bad_key(given=bool(token), name=name))
        return key

    async def authorize(
        self, key: VirtualKey | None, model: str, reservation: Reservation = NO_RESERVATION
    ) -> None:
        """Let a client use a model, if its key allows the model and its limits are not reached.
        What is reserved is held back until the request is charged.
        """
        if key is None:
            return
        if not key.allows(model):
            message = f"the key {key.name} may not use the model {model}"
            raise RequestRejectedError(errors.not_allowed(message))
        if key.budget is not None:
            await self._refresh_budget(key)
        exceeded = self._limiter.admit(key, time.time(), reservation, tick=time.monotonic())
        if exceeded is not None:
            raise RequestRejectedError(_limit_reached(key, exceeded))

    async def _refresh_budget(self, key: VirtualKey) -> None:
        """Ask the ledger now and then what a key has used; nobody is admitted before the first
        time.
        """
        if self._limiter.knows_budget(key, time.time()):
            await self._ask_ledger(key)
            return
        async with self._first_sums:
            await self._ask_ledger(key)

    async def _ask_ledger(self, key: VirtualKey) -> None:
        now = time.time()
        since = self._limiter.refresh_budget_since(key, now)
        if since is not None and self._ledger is not None:
            tokens = await self._ledger.tokens(key.id, since)
            self._limiter.set_spent(key, tokens, now, tick=time.monotonic())

    def rate_limit_headers(self, key: VirtualKey | None) -> Mapping[str, str]:
        """The headers of a response that say what is left of each limit."""
        if key is None:
            return {}
        headers = {}
        for each in self._limiter.status(key, time.time(), tick=time.monotonic()):
            headers[f"x-ratelimit-limit-{each.what}"] = str(each.limit)
            headers[f"x-ratelimit-remaining-{each.what}"] = str(each.remaining)
        return headers

    def charge(
        self,
        key: VirtualKey | None,
        request: RequestRecord,
        reservation: Reservation = NO_RESERVATION,
    ) -> None:
        """Enter a request that has ended into the ledger, and charge its tokens to the key, in
        place of what was reserved.
        """
        if self._ledger is None:
            return
        entry = _entry(key, request)
        self._ledger.record(entry)
        if key is not None:
            self._limiter.charge(key, entry.tokens, time.time(), reservation, tick=time.monotonic())


_PER: Final = {
    "requests": "requests per minute",
    "tokens": "tokens per minute",
    "budget": "tokens of its budget",
}


def _limit_reached(key: VirtualKey, exceeded: LimitExceeded) -> ApiError:
    wait = None if exceeded.retry_after == inf else str(max(1, ceil(exceeded.retry_after)))
    when = "" if wait is None else f"; retry in {wait} seconds"
    message = f"the key {key.name} has used up its {exceeded.limit} {_PER[exceeded.what]}{when}"
    return errors.limit_reached(message, wait)


def _entry(key: VirtualKey | None, request: RequestRecord) -> LedgerEntry:
    usage, first_byte = charged_usage(request), request.time_to_first_byte
    return LedgerEntry(
        time=time.time(),
        key=key.id if key else "",
        client=request.client,
        model=request.asked_model,
        provider=request.provider,
        upstream_model=request.model,
        status=request.status,
        input=((usage.input or 0) + (usage.cache_write or 0)) if usage else 0,
        cached=(usage.cache_read or 0) if usage else 0,
        output=(usage.output or 0) if usage else 0,
        reasoning=(usage.reasoning or 0) if usage else 0,
        first_ms=None if first_byte is None else first_byte * 1000,
        total_ms=request.duration * 1000,
        overhead_ms=request.overhead * 1000,
        **request.receipt.counts(),
    )
