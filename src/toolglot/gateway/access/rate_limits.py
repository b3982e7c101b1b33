"""How much a key may use: requests and tokens in any minute, and a budget of tokens.

Pure: the caller brings the clock, as seconds since 1970, and what the ledger says. Requests count
when they are admitted. Tokens count when the answer is known; until then a reservation can stand
for them.

    limited = limiter.check(key, now, reserve=estimate)
    ...                                  # the answer
    limiter.spend(key, tokens, now, reserved=estimate)
"""

from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from msgspec import Struct

if TYPE_CHECKING:
    from toolglot.gateway.access.virtual_keys import Key

Period: TypeAlias = Literal["day", "month", "total"]
What: TypeAlias = Literal["requests", "tokens", "budget"]

_WINDOW: Final = 60.0
_SLOT: Final = 0.1
_SLOTS: Final = 600
_TICK: Final = 0.001
_SOON: Final = 1.0
_NEVER: Final = float("inf")


class Budget(Struct, frozen=True):
    """Tokens that a key may use in each period; days and months begin at midnight UTC."""

    tokens: int
    per: Period = "total"


class Standing(Struct, frozen=True, kw_only=True):
    """Where a key stands with one of its limits; `reset` is in how many seconds all is free."""

    what: What
    limit: int
    remaining: int
    reset: float


class Limited(Struct, frozen=True, kw_only=True):
    """Why a request is refused; `retry_after` is in how many seconds it can succeed."""

    what: What
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


class Window:
    """How much was used in the last minute, counted in slots of a tenth of a second.

    What was used counts for a minute at least and a slot more at most.
    """

    __slots__ = ("_slots", "used")

    def __init__(self) -> None:
        self.used = 0
        self._slots: deque[tuple[int, int]] = deque()

    def add(self, amount: int, now: float) -> None:
        """Count an amount."""
        self.forget(now)
        slot = int(now / _SLOT)
        # A clock that was set back must not put a slot before the last one.
        if self._slots and self._slots[-1][0] >= slot:
            slot, before = self._slots.pop()
            self._slots.append((slot, before + amount))
        else:
            self._slots.append((slot, amount))
        self.used += amount

    def forget(self, now: float) -> None:
        """Drop what is older than a minute."""
        oldest = int(now / _SLOT) - _SLOTS
        while self._slots and self._slots[0][0] < oldest:
            self.used -= self._slots.popleft()[1]

    def wait(self, excess: int, now: float) -> float | None:
        """In how many seconds this much will be forgotten; None if there is not so much."""
        for slot, amount in self._slots:
            excess -= amount
            if excess <= 0:
                return max(0.0, (slot + _SLOTS + 1) * _SLOT - now) + _TICK
        return None


class _Spent:
    """What a key used of its budget in one period: what the ledger said, and what came since."""

    __slots__ = ("asked", "before", "end", "meanwhile", "per", "since", "start")

    def __init__(self, per: Period, now: float) -> None:
        self.per = per
        self.start, self.end = period_start(per, now), period_end(per, now)
        self.asked: float | None = None
        self.before = self.since = self.meanwhile = 0

    @property
    def tokens(self) -> int:
        return self.before + self.since

    def is_of(self, per: Period, now: float) -> bool:
        return self.per == per and self.start <= now < self.end


class _State:
    """What is known of one key."""

    __slots__ = ("held", "requests", "spent", "tokens")

    def __init__(self) -> None:
        self.requests = Window()
        self.tokens = Window()
        self.held = 0
        self.spent = _Spent("total", 0.0)


class Limiter:
    """The limits of all keys. What it knows of them is forgotten with the process.

    Budgets outlive that by the ledger: when `stale` gives a time, tell `settle` how many tokens the
    ledger has for the key since then.
    """

    def __init__(self, refresh: float = 5.0) -> None:
        self._refresh = refresh
        self._states: dict[str, _State] = {}

    def check(self, key: "Key", now: float, reserve: int = 0) -> Limited | None:
        """Admit and count a request, or name the limit that keeps it out longest."""
        state = self._state(key, now)
        refusals = _refusals(key, state, now, reserve)
        limited = max(refusals, key=lambda each: each.retry_after, default=None)
        if limited is None:
            state.requests.add(1, now)
            state.held += reserve
        return limited

    def spend(self, key: "Key", tokens: int, now: float, reserved: int = 0) -> None:
        """Charge what an answer cost, in place of what was reserved for it."""
        state = self._state(key, now)
        state.held = max(0, state.held - reserved)
        tokens = max(0, tokens)
        state.tokens.add(tokens, now)
        state.spent.since += tokens
        state.spent.meanwhile += tokens

    def standing(self, key: "Key", now: float) -> tuple[Standing, ...]:
        """Where the key stands with each limit it has."""
        state = self._state(key, now)
        return tuple(
            Standing(
                what=what,
                limit=limit,
                remaining=max(0, limit - used),
                reset=_wait(state, window, used, now) if used else 0.0,
            )
            for what, limit, used, window in _measures(key, state)
        )

    def stale(self, key: "Key", now: float) -> float | None:
        """The time from which the ledger should be asked for the key's tokens, if it should."""
        if key.budget is None:
            return None
        spent = self._state(key, now).spent
        if spent.asked is not None and 0 <= now - spent.asked < self._refresh:
            return None
        spent.asked = now
        spent.meanwhile = 0
        return spent.start

    def settle(self, key: "Key", tokens: int, now: float) -> None:
        """What the ledger says to the question of `stale`.

        Tokens spent since the question may be in the answer as well. They count twice then, until
        the next answer: rather too much than too little.
        """
        spent = self._state(key, now).spent
        spent.before, spent.since = tokens, spent.meanwhile

    def _state(self, key: "Key", now: float) -> _State:
        state = self._states.get(key.id)
        if state is None:
            state = self._states[key.id] = _State()
        state.requests.forget(now)
        state.tokens.forget(now)
        if key.budget and not state.spent.is_of(key.budget.per, now):
            state.spent = _Spent(key.budget.per, now)
        return state


def _measures(key: "Key", state: _State) -> Iterator[tuple[What, int, int, Window | None]]:
    """Each limit that the key has, what is used of it, and the window it is counted in."""
    if key.rpm is not None:
        yield "requests", key.rpm, state.requests.used, state.requests
    if key.tpm is not None:
        yield "tokens", key.tpm, state.tokens.used + state.held, state.tokens
    if key.budget is not None:
        yield "budget", key.budget.tokens, state.spent.tokens + state.held, None


def _refusals(key: "Key", state: _State, now: float, reserve: int) -> Iterator[Limited]:
    for what, limit, used, window in _measures(key, state):
        # At least one must fit, and a request larger than the limit may have all of it.
        wanted = 1 if what == "requests" else max(1, min(reserve, limit))
        excess = used + wanted - limit
        if excess <= 0:
            continue
        yield Limited(
            what=what,
            limit=limit,
            remaining=max(0, limit - used),
            retry_after=_wait(state, window, excess, now),
        )


def _wait(state: _State, window: Window | None, excess: int, now: float) -> float:
    """In how many seconds that much is free again."""
    if window is None:
        return state.spent.end - now
    # What is not in the window is held for requests that have not been answered yet.
    return window.wait(excess, now) or _SOON
