"""Rate limits: requests and tokens in any minute, and a budget of tokens.

Pure: the caller brings the clock, as seconds since 1970, and the sums of the ledger. Requests count
when they are admitted, tokens when the response is complete. Until then the tokens that a response
may have are reserved, so that requests at the same time cannot use the same rest of a limit. A
request that is alone is admitted as long as anything is left, whatever it may use.

    exceeded = limiter.admit(key, now, reservation)
    …                                                # the response
    limiter.charge(key, tokens, now, reservation)
"""

from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from toolglot.gateway.access.virtual_keys import Period, VirtualKey

LimitKind: TypeAlias = Literal["requests", "tokens", "budget"]

_SLOT: Final = 0.1
_SLOTS: Final = 600
_TICK: Final = 0.001
_NEVER: Final = float("inf")
_SOON: Final = 1.0
"""Seconds after which others of the key's requests may have ended."""


class Reservation(Struct, frozen=True, kw_only=True):
    """The tokens that a request may use."""

    tokens: int = 0
    """Of those per minute."""
    budget: int = 0


NO_RESERVATION: Final = Reservation()


class LimitStatus(Struct, frozen=True, kw_only=True):
    """How much is left of a limit; in `reset` seconds all of it is free again."""

    what: LimitKind
    limit: int
    remaining: int
    reset: float


class LimitExceeded(Struct, frozen=True, kw_only=True):
    """Why a request is rejected; in `retry_after` seconds it can be admitted."""

    what: LimitKind
    limit: int
    remaining: int
    retry_after: float


def period_start(per: Period, now: float) -> float:
    """When the period that `now` is in began."""
    if per == "total":
        return 0.0
    moment = datetime.fromtimestamp(now, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return (moment if per == "day" else moment.replace(day=1)).timestamp()


def period_end(per: Period, now: float) -> float:
    """When the period that `now` is in ends."""
    start = period_start(per, now)
    if per == "total":
        return _NEVER
    # The first of a month plus 32 days lies in the next one, plus one day in the next day.
    return period_start(per, start + (32 if per == "month" else 1) * 86400)


class SlidingWindow:
    """How much was used in the last minute, counted in slots of a tenth of a second.

    An amount counts for a minute at least and for a slot longer at most.
    """

    __slots__ = ("_slots", "used")

    def __init__(self) -> None:
        self.used = 0
        self._slots: deque[tuple[int, int]] = deque()

    def add(self, amount: int, now: float) -> None:
        """Count an amount."""
        self.drop_old(now)
        slot = int(now / _SLOT)
        # A clock that was set back must not put a slot before the last one.
        if self._slots and self._slots[-1][0] >= slot:
            slot, before = self._slots.pop()
            self._slots.append((slot, before + amount))
        else:
            self._slots.append((slot, amount))
        self.used += amount

    def drop_old(self, now: float) -> None:
        """Drop the amounts that are older than a minute."""
        oldest = int(now / _SLOT) - _SLOTS
        while self._slots and self._slots[0][0] < oldest:
            self.used -= self._slots.popleft()[1]

    def wait(self, excess: int, now: float) -> float:
        """In how many seconds this much of what was used will have been dropped."""
        for slot, amount in self._slots:
            excess -= amount
            if excess <= 0:
                return max(0.0, (slot + _SLOTS + 1) * _SLOT - now) + _TICK
        return 0.0


class _Spent:
    """The tokens that a key used of its budget in a period: the ledger's sum, and those since."""

    __slots__ = ("asked", "before", "end", "known", "meanwhile", "per", "since", "start")

    def __init__(self, per: Period, now: float) -> None:
        self.per = per
        self.start, self.end = period_start(per, now), period_end(per, now)
        self.asked: float | None = None
        self.known = False
        self.before = self.since = self.meanwhile = 0

    @property
    def tokens(self) -> int:
        return self.before + self.since

    def is_of(self, per: Period, now: float) -> bool:
        return self.per == per and self.start <= now < self.end


class _State:
    """What is counted for one key."""

    __slots__ = ("requests", "reserved_budget", "reserved_tokens", "spent", "tokens")

    def __init__(self) -> None:
        self.reserved_tokens = self.reserved_budget = 0
        self.requests = SlidingWindow()
        self.tokens = SlidingWindow()
        self.spent = _Spent("total", 0.0)


class RateLimiter:
    """The limits of all keys. What it counts is lost with the process.

    Budgets outlive that by the ledger: when `refresh_budget_since` gives a time, call `set_spent`
    with the tokens that the ledger has for the key since then.
    """

    def __init__(self, refresh: float = 5.0) -> None:
        self._refresh = refresh
        self._states: dict[str, _State] = {}

    def admit(
        self, key: VirtualKey, now: float, reservation: Reservation = NO_RESERVATION
    ) -> LimitExceeded | None:
        """Admit and count a request, or name the limit that keeps it out longest. The reservation
        of one that is admitted lasts until it is charged.
        """
        state = self._state(key, now)
        found = _exceeded(key, state, now, reservation)
        exceeded = max(found, key=lambda each: each.retry_after, default=None)
        if exceeded is None:
            state.requests.add(1, now)
            state.reserved_tokens += reservation.tokens
            state.reserved_budget += reservation.budget
        return exceeded

    def charge(
        self,
        key: VirtualKey,
        tokens: int,
        now: float,
        reservation: Reservation = NO_RESERVATION,
    ) -> None:
        """Count the tokens of a response, in place of what was reserved for it."""
        state = self._state(key, now)
        state.reserved_tokens -= reservation.tokens
        state.reserved_budget -= reservation.budget
        tokens = max(0, tokens)
        state.tokens.add(tokens, now)
        state.spent.since += tokens
        state.spent.meanwhile += tokens

    def status(self, key: VirtualKey, now: float) -> tuple[LimitStatus, ...]:
        """What is left of each limit that the key has."""
        state = self._state(key, now)
        return tuple(
            LimitStatus(
                what=what,
                limit=limit,
                remaining=max(0, limit - used),
                reset=_wait(state, window, used, now) if used else 0.0,
            )
            for what, limit, used, _, window in _measures(key, state)
        )

    def knows_budget(self, key: VirtualKey, now: float) -> bool:
        """Whether the ledger has told what the key used of its budget."""
        return key.budget is None or self._state(key, now).spent.known

    def refresh_budget_since(self, key: VirtualKey, now: float) -> float | None:
        """The time from which the ledger should sum up the key's tokens; None: it need not yet."""
        if key.budget is None:
            return None
        spent = self._state(key, now).spent
        asked = spent.asked if spent.known else None
        if asked is not None and 0 <= now - asked < self._refresh:
            return None
        spent.asked = now
        spent.meanwhile = 0
        return spent.start

    def set_spent(self, key: VirtualKey, tokens: int, now: float) -> None:
        """Take over the sum of the ledger.

        Tokens charged since `refresh_budget_since` may be in the sum as well. They count twice
        then, until the next refresh: rather too much than too little.
        """
        spent = self._state(key, now).spent
        spent.before, spent.since, spent.known = tokens, spent.meanwhile, True

    def _state(self, key: VirtualKey, now: float) -> _State:
        state = self._states.get(key.id)
        if state is None:
            state = self._states[key.id] = _State()
        state.requests.drop_old(now)
        state.tokens.drop_old(now)
        if key.budget and not state.spent.is_of(key.budget.per, now):
            state.spent = _Spent(key.budget.per, now)
        return state


def _measures(
    key: VirtualKey, state: _State
) -> Iterator[tuple[LimitKind, int, int, int, SlidingWindow | None]]:
    """Each limit that the key has, what is used and what is reserved of it, and the window it is
    counted in.
    """
    if key.rpm is not None:
        yield "requests", key.rpm, state.requests.used, 0, state.requests
    if key.tpm is not None:
        yield "tokens", key.tpm, state.tokens.used, state.reserved_tokens, state.tokens
    if key.budget is not None:
        yield "budget", key.budget.tokens, state.spent.tokens, state.reserved_budget, None


def _exceeded(
    key: VirtualKey, state: _State, now: float, wanted: Reservation
) -> Iterator[LimitExceeded]:
    for what, limit, used, reserved, window in _measures(key, state):
        excess = used + 1 - limit  # A request needs one of everything at least.
        wants = wanted.budget if what == "budget" else wanted.tokens
        if excess > 0:
            wait = _wait(state, window, excess, now)
        elif reserved and used + reserved + max(1, wants) > limit:
            wait = _SOON
        else:
            continue
        remaining = max(0, limit - used)
        yield LimitExceeded(what=what, limit=limit, remaining=remaining, retry_after=wait)


def _wait(state: _State, window: SlidingWindow | None, excess: int, now: float) -> float:
    """In how many seconds that much is free again."""
    return state.spent.end - now if window is None else window.wait(excess, now)
