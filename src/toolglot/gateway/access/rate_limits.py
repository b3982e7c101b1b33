"""Rate limits: requests and tokens in any minute, and a budget of tokens.

Pure: the caller brings the sums of the ledger and two clocks. `now` are seconds since 1970, which
days and months of budgets need; `tick` comes from a clock that nobody sets, which minutes are
counted by, so that a machine whose clock is put right keeps nobody out. Requests count
when they are admitted, tokens when the response is complete. Until then the tokens that a response
may have are reserved, so that requests at the same time cannot use the same rest of a limit. A
request that is alone is admitted as long as anything is left, whatever it may use.

    exceeded = limiter.admit(key, now, reservation, tick=tick)
    …                                                # the response
    limiter.charge(key, tokens, now, reservation, tick=tick)
"""

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from typing import Final, Literal, Protocol, TypeAlias

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

    def __init__(self, slots: Iterable[tuple[int, int]] = ()) -> None:
        self._slots: deque[tuple[int, int]] = deque(slots)
        self.used = sum(amount for _, amount in self._slots)

    @property
    def slots(self) -> tuple[tuple[int, int], ...]:
        """Tenths of seconds and what was used in each, the oldest first."""
        return tuple(self._slots)

    def since(self, seconds: float, now: float) -> int:
        """What was used in the last so many seconds."""
        oldest = int((now - seconds) / _SLOT)
        return sum(amount for slot, amount in self._slots if slot >= oldest)

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


class Spent(Struct, kw_only=True):
    """The tokens that a key used of its budget in a period: the ledger's sum, and those since."""

    per: Period
    start: float
    end: float
    asked: float | None = None
    known: bool = False
    before: int = 0
    since: int = 0
    meanwhile: int = 0

    @classmethod
    def of(cls, per: Period, now: float) -> "Spent":
        """Nothing, in the period that `now` is in."""
        return cls(per=per, start=period_start(per, now), end=period_end(per, now))

    @property
    def tokens(self) -> int:
        return self.before + self.since

    def is_of(self, per: Period, now: float) -> bool:
        return self.per == per and self.start <= now < self.end


class LimitState:
    """What is counted for one key."""

    __slots__ = ("requests", "reserved_budget", "reserved_tokens", "spent", "tokens")

    def __init__(self) -> None:
        self.reserved_tokens = self.reserved_budget = 0
        self.requests = SlidingWindow()
        self.tokens = SlidingWindow()
        self.spent = Spent.of("total", 0.0)


class LimitStates(Protocol):
    """Where what is counted is kept."""

    unwritten_seconds: float
    """How old tokens may be that the ledger does not have yet, because another process has them."""

    def borrow(self, key_id: str) -> AbstractContextManager[LimitState]:
        """What is counted for a key, to be read and changed by nobody else meanwhile."""
        ...

    def close(self) -> None:
        """Release everything."""
        ...


class LocalLimitStates:
    """What is counted in this process, and lost with it."""

    unwritten_seconds = 0.0

    def __init__(self) -> None:
        self._states: dict[str, LimitState] = {}

    def borrow(self, key_id: str) -> AbstractContextManager[LimitState]:
        state = self._states.get(key_id)
        if state is None:
            state = self._states[key_id] = LimitState()
        return nullcontext(state)

    def close(self) -> None:
        """Nothing is held."""


class RateLimiter:
    """The limits of all keys.

    Budgets outlive what it counts by the ledger: when `refresh_budget_since` gives a time, call
    `set_spent` with the tokens that the ledger has for the key since then.
    """

    def __init__(self, refresh: float = 5.0, states: LimitStates | None = None) -> None:
        self._refresh = refresh
        self._states = states or LocalLimitStates()

    def admit(
        self,
        key: VirtualKey,
        now: float,
        reservation: Reservation = NO_RESERVATION,
        *,
        tick: float | None = None,
    ) -> LimitExceeded | None:
        """Admit and count a request, or name the limit that keeps it out longest. The reservation
        of one that is admitted lasts until it is charged.
        """
        tick = now if tick is None else tick
        with self._states.borrow(key.id) as state:
            _age(state, key, now, tick)
            found = _exceeded(key, state, now, tick, reservation)
            exceeded = max(found, key=lambda each: each.retry_after, default=None)
            if exceeded is None:
                state.requests.add(1, tick)
                state.reserved_tokens += reservation.tokens
                state.reserved_budget += reservation.budget
            return exceeded

    def charge(
        self,
        key: VirtualKey,
        tokens: int,
        now: float,
        reservation: Reservation = NO_RESERVATION,
        *,
        tick: float | None = None,
    ) -> None:
        """Count the tokens of a response, in place of what was reserved for it."""
        tick, tokens = now if tick is None else tick, max(0, tokens)
        with self._states.borrow(key.id) as state:
            _age(state, key, now, tick)
            state.reserved_tokens -= reservation.tokens
            state.reserved_budget -= reservation.budget
            state.tokens.add(tokens, tick)
            state.spent.since += tokens
            state.spent.meanwhile += tokens

    def status(
        self, key: VirtualKey, now: float, *, tick: float | None = None
    ) -> tuple[LimitStatus, ...]:
        """What is left of each limit that the key has."""
        tick = now if tick is None else tick
        with self._states.borrow(key.id) as state:
            _age(state, key, now, tick)
            return tuple(
                LimitStatus(
                    what=what,
                    limit=limit,
                    remaining=max(0, limit - used),
                    reset=_wait(state, window, used, now, tick) if used else 0.0,
                )
                for what, limit, used, _, window in _measures(key, state)
            )

    def knows_budget(self, key: VirtualKey, now: float) -> bool:
        """Whether the ledger has told what the key used of its budget."""
        if key.budget is None:
            return True
        with self._states.borrow(key.id) as state:
            _enter_period(state, key, now)
            return state.spent.known

    def refresh_budget_since(self, key: VirtualKey, now: float) -> float | None:
        """The time from which the ledger should sum up the key's tokens; None: it need not yet."""
        if key.budget is None:
            return None
        with self._states.borrow(key.id) as state:
            _enter_period(state, key, now)
            spent = state.spent
            asked = spent.asked if spent.known else None
            if asked is not None and 0 <= now - asked < self._refresh:
                return None
            spent.asked = now
            spent.meanwhile = 0
            return spent.start

    def set_spent(
        self, key: VirtualKey, tokens: int, now: float, *, tick: float | None = None
    ) -> None:
        """Take over the sum of the ledger.

        Tokens charged since `refresh_budget_since` may be in the sum as well, and so may those
        that another process charged shortly before. They count twice then, until the next refresh:
        rather too much than too little.
        """
        tick, unwritten = now if tick is None else tick, self._states.unwritten_seconds
        with self._states.borrow(key.id) as state:
            _enter_period(state, key, now)
            spent = state.spent
            since = spent.meanwhile
            if unwritten:
                since = max(since, state.tokens.since(unwritten, tick))
            spent.before, spent.since, spent.known = tokens, since, True


def _age(state: LimitState, key: VirtualKey, now: float, tick: float) -> None:
    """Drop what no longer counts."""
    state.requests.drop_old(tick)
    state.tokens.drop_old(tick)
    _enter_period(state, key, now)


def _enter_period(state: LimitState, key: VirtualKey, now: float) -> None:
    if key.budget and not state.spent.is_of(key.budget.per, now):
        state.spent = Spent.of(key.budget.per, now)


def _measures(
    key: VirtualKey, state: LimitState
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
    key: VirtualKey, state: LimitState, now: float, tick: float, wanted: Reservation
) -> Iterator[LimitExceeded]:
    for what, limit, used, reserved, window in _measures(key, state):
        excess = used + 1 - limit  # A request needs one of everything at least.
        wants = wanted.budget if what == "budget" else wanted.tokens
        if excess > 0:
            wait = _wait(state, window, excess, now, tick)
        elif reserved and used + reserved + max(1, wants) > limit:
            wait = _SOON
        else:
            continue
        remaining = max(0, limit - used)
        yield LimitExceeded(what=what, limit=limit, remaining=remaining, retry_after=wait)


def _wait(
    state: LimitState, window: SlidingWindow | None, excess: int, now: float, tick: float
) -> float:
    """In how many seconds that much is free again."""
    return state.spent.end - now if window is None else window.wait(excess, tick)
