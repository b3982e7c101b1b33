"""Whom to ask next: retries, other keys and other targets, decided without any I/O.

A request has a list of targets. The first that answers wins; but a target can be busy, refuse a
key, hang up, answer with an error page or say what it does not accept, and then something has to be
decided: ask it again after a pause, ask it with another key, ask it with a changed request, ask the
next target, or tell the client. All such decisions are made here, and nowhere else. There are three
rules for this file:

1. Everything that decides whether a request is sent again is in this file. Whoever drives it only
   sends requests, waits, and says what happened.
2. This file knows no clock, no randomness and no sockets. Jitter is passed in; a date in
   `retry-after` is read against a `now` that is passed in.
3. This file does not know what is asked. Targets are numbers, keys are numbers. Whether a refusal
   was understood, and a request can be changed so that it may be accepted, is passed in.

Driving it
----------
The machine gives steps, and takes outcomes::

    attempts = Attempts([Candidate(retries=2, keys=2), Candidate()])
    step = attempts.start()
    while isinstance(step, Ask):
        sleep(step.pause)
        reply, outcome = send(targets[step.target], step.key)
        step = attempts.after(outcome, jitter=random())
        if isinstance(step, Deliver):
            failure = deliver(reply)  # None: the client has its answer
            if failure is None:
                return
            step = attempts.after(ReplyUnusable(failure))
    tell_the_client(step.error)  # GiveUp

It is in one of three states::

    ASKING      an `Ask` is out: a `NoReply` or a `ReplyStarted` comes next
    DELIVERING  a reply is being carried to the client. If it turns out to be none before its first
                byte is on its way, a `ReplyUnusable` comes next; if not, nothing does: once the
                client has seen a byte, no other target can answer
    DONE        it gave up; nothing comes next

What follows from what
----------------------
The columns are tried from left to right. "mend" needs a refusal that was understood, and that the
request was not changed for this target before; "again" needs a retry that is left; "key" needs,
besides, a key that this request has not been refused with; "next" needs another target. Where
nothing is left, a reply is delivered as it is, error or not, and what is no reply is given up with
its error.

    what happened                                  mend  key      again      next  healthy
    ---------------------------------------------  ----  -------  ---------  ----  -------
    kept connection dropped, first time at target                 at once *  yes   no
    connection dropped otherwise, cannot connect                  pause      yes   no
    no reply in time                                              pause      yes   no
    502, 503, 504, 529                                            pause **   yes   no
    500                                            ****           pause **   yes   no
    408, 409, 425                                                 pause **   yes
    429                                                  at once  pause **   yes
    401, 402, 403                                        at once             yes   yes
    404                                            ****                      yes   yes
    400, 413, 422                                  ****                            yes
    any other status                                                               yes
    a reply that turns out to be none              ****                      ***

    *    A server may close a kept connection at any moment, and some do after every answer. Whether
         the request was read cannot be known; most likely it was not, so there is nothing to wait
         for. It is a retry as any other, since the request may have been read and billed.
    **   As long as `retry-after` says, or a growing pause if it says nothing. Not at all if it says
         more than `PATIENCE`, or if the server says `x-should-retry: false`: a client that is told
         so waits better itself.
    ***  If the status of its error is one of those with "next"; it is 502 if it has none. This is
         how an error page, an empty body and a stream that begins with an error end.
    **** At once, with the changed request and the same key, once for each target, even if no retry
         is left; if one is, it is used up. It says that the target is healthy. Whoever drives this
         reads the body of such a reply before it says what happened.

A target is so never asked more often than once and `retries` times, or twice where that is more.

A target that failed often of late is `resting`: it is asked after all others. "healthy" says what
an outcome tells of a target, for whoever counts; nothing here depends on the count. Nothing stands
there where it tells of one request or one client only: another's may well be answered.
"""

from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime
from enum import Enum, auto
from typing import Final

from msgspec import Struct

from toolglot.ir import ApiError

FIRST_PAUSE: Final = 0.5
"""Seconds before the first retry; each pause is up to twice as long as the one before."""
LONGEST_PAUSE: Final = 8.0
PATIENCE: Final = 10.0
"""Seconds that a provider may ask us to wait."""
KEY_REST: Final = 30.0
"""Seconds for which a refused key is left alone, unless the provider says how long."""

_DOUBLINGS: Final = 16
"""After so many the pause has long been the longest."""
_NO_STATUS: Final = 502
"""The status of an error that has none: what stands behind us is at fault."""


class Remedy(Struct, frozen=True, kw_only=True):
    """What may help after a status."""

    mend: bool = False
    """A changed request, if the reply says what was wrong with it."""
    again: bool = False
    """The same request, a while later."""
    key: bool = False
    """Another key."""
    next: bool = False
    """Another target."""


_NONE: Final = Remedy()
_PASSING: Final = Remedy(again=True, next=True)
_REFUSED: Final = Remedy(key=True, next=True)
_INVALID: Final = Remedy(mend=True)

REMEDIES: Final[Mapping[int, Remedy]] = {
    400: _INVALID,
    401: _REFUSED,
    402: _REFUSED,
    403: _REFUSED,
    404: Remedy(mend=True, next=True),  # It may not have the model, or what a request refers to.
    408: _PASSING,
    409: _PASSING,
    413: _INVALID,
    422: _INVALID,
    425: _PASSING,
    429: Remedy(again=True, key=True, next=True),
    500: Remedy(mend=True, again=True, next=True),  # So some servers report what is invalid.
    502: _PASSING,
    503: _PASSING,
    504: _PASSING,
    529: _PASSING,  # Anthropic: overloaded.
}
"""The table of statuses. Of any other status only the client can make something."""


_FIRST_FAULT: Final = 500
"""The statuses from here on are the server's fault; those below say something of one request."""


def _healthy(status: int, helps: Remedy) -> bool | None:
    """What a status tells of a server, for all who use it."""
    if not helps.again:
        return True
    return False if status >= _FIRST_FAULT else None


def remedy(status: int) -> Remedy:
    """What may help after a status."""
    return REMEDIES.get(status, _NONE)


# --- what is known before -------------------------------------------------------------------------


class Candidate(Struct, frozen=True, kw_only=True):
    """A target that can be asked."""

    retries: int = 0
    """How often it may be asked again."""
    keys: int = 1
    """How many keys there are for it."""
    resting: bool = False
    """It failed often of late."""


# --- what happened --------------------------------------------------------------------------------


class NoReply(Struct, frozen=True, kw_only=True):
    """Nothing came back: no connection, or no answer in time."""

    error: ApiError
    stale: bool = False
    """A connection that had been kept from an earlier request was closed without a word."""


class ReplyStarted(Struct, frozen=True, kw_only=True):
    """The head of a reply came."""

    status: int
    retry_after: float | None = None
    """Seconds that the server asks to wait."""
    should_retry: bool = True
    """False: the server says that asking again is of no use."""
    mendable: bool = False
    """It is a refusal that was understood, and there is a changed request to send."""

    @classmethod
    def of(
        cls, status: int, headers: Mapping[str, str], now: float, *, mendable: bool = False
    ) -> "ReplyStarted":
        """The same, read from headers whose names may be given in lower case."""
        if status not in REMEDIES:
            return cls(status=status)
        return cls(
            status=status,
            retry_after=retry_after(headers, now),
            should_retry=headers.get("x-should-retry") != "false",
            mendable=mendable,
        )


class ReplyUnusable(Struct, frozen=True):
    """A reply that was to be delivered turned out to be none before its first byte was."""

    error: ApiError
    mendable: bool = False
    """It is a refusal that was understood, and there is a changed request to send."""


Outcome = NoReply | ReplyStarted | ReplyUnusable


# --- what to do -----------------------------------------------------------------------------------


class _Step(Struct, frozen=True, kw_only=True):
    """What to do next, and what the outcome before says of the target that was asked."""

    healthy: bool | None = None
    """Whether it works; None: nothing new is known."""
    key_rest: float = 0.0
    """Seconds for which the key that was used should not be used."""


class Ask(_Step, frozen=True, kw_only=True):
    """Ask a target, after a pause."""

    target: int
    key: int = 0
    """Which of its keys to use."""
    pause: float = 0.0
    retry: bool = False
    """The same target is asked again, which counts."""
    mended: bool = False
    """The changed request is to be sent."""


class Deliver(_Step, frozen=True, kw_only=True):
    """Carry the reply to the client, whatever its status is."""


class GiveUp(_Step, frozen=True, kw_only=True):
    """Tell the client this error."""

    error: ApiError


Step = Ask | Deliver | GiveUp


class _State(Enum):
    READY = auto()
    ASKING = auto()
    DELIVERING = auto()
    DONE = auto()


_EXPECTED: Final = {
    _State.READY: (),
    _State.ASKING: (NoReply, ReplyStarted),
    _State.DELIVERING: (ReplyUnusable,),
    _State.DONE: (),
}


class Attempts:
    """The attempts of one request."""

    __slots__ = (
        "_key", "_left", "_mended", "_refused", "_resent", "_retried", "_state", "_targets",
    )  # fmt: skip

    def __init__(self, targets: Sequence[Candidate]) -> None:
        if not targets:
            raise ValueError("a request needs a target")
        self._targets = targets
        self._left = [0]
        """The one that is being asked, and those after it."""
        if len(targets) > 1:
            # The sort is stable: those that rest come last, and the order stays otherwise.
            self._left = sorted(range(len(targets)), key=lambda each: targets[each].resting)
        self._state = _State.READY
        self._retried = 0
        self._resent = False
        self._mended = False
        self._key = 0
        self._refused: set[int] = set()

    def start(self) -> Ask:
        """Whom to ask first."""
        if self._state is not _State.READY:
            raise RuntimeError("it was started already")
        self._state = _State.ASKING
        return Ask(target=self._left[0])

    def after(self, outcome: Outcome, *, jitter: float = 1.0) -> Step:
        """What to do now that this happened; `jitter` is a number from 0 to 1, anew each time."""
        if not isinstance(outcome, _EXPECTED[self._state]):
            raise RuntimeError(f"{type(outcome).__name__} while {self._state.name}")  # noqa: TRY004
        if isinstance(outcome, NoReply):
            return self._after_no_reply(outcome, jitter)
        if isinstance(outcome, ReplyStarted):
            return self._after_status(outcome, jitter)
        if outcome.mendable and self._may_mend(outcome.error.status or _NO_STATUS):
            return self._mend()
        if remedy(outcome.error.status or _NO_STATUS).next:
            return self._next_target() or self._give_up(outcome.error)
        return self._give_up(outcome.error)

    def _after_no_reply(self, outcome: NoReply, jitter: float) -> Step:
        if self._may_retry:
            at_once = outcome.stale and not self._resent
            self._resent = self._resent or at_once
            if at_once:
                return self._again(0.0, healthy=None)
            return self._again(pause_before(self._retried, jitter), healthy=False)
        return self._next_target(healthy=False) or self._give_up(outcome.error, healthy=False)

    def _after_status(self, outcome: ReplyStarted, jitter: float) -> Step:
        helps, wait = remedy(outcome.status), outcome.retry_after
        if outcome.mendable and self._may_mend(outcome.status):
            return self._mend()
        healthy = _healthy(outcome.status, helps)
        rest = 0.0
        if helps.key and self._candidate.keys > 1:
            rest = KEY_REST if wait is None else wait
            self._refused.add(self._key)
            if self._may_retry and len(self._refused) < self._candidate.keys:
                return self._again(0.0, healthy=healthy, rest=rest)
        patient = outcome.should_retry and (wait is None or wait <= PATIENCE)
        if helps.again and patient and self._may_retry:
            pause = pause_before(self._retried, jitter) if wait is None else wait
            return self._again(pause, healthy=healthy, rest=rest)
        step = self._next_target(healthy=healthy, rest=rest) if helps.next else None
        if step is not None:
            return step
        self._state = _State.DELIVERING
        return Deliver(healthy=healthy, key_rest=rest)

    def may_mend(self, status: int) -> bool:
        """Whether it matters if a reply with this status is a refusal that can be mended."""
        return self._state in (_State.ASKING, _State.DELIVERING) and self._may_mend(status)

    # --- the four ways on -------------------------------------------------------------------------

    def _mend(self) -> Ask:
        self._mended, self._state = True, _State.ASKING
        self._retried += 1
        return Ask(target=self._left[0], key=self._key, mended=True, healthy=True)

    def _again(self, pause: float, *, healthy: bool | None, rest: float = 0.0) -> Ask:
        self._retried += 1
        self._key = self._next_key()
        return Ask(
            target=self._left[0],
            key=self._key,
            pause=pause,
            retry=True,
            healthy=healthy,
            key_rest=rest,
        )

    def _next_target(self, *, healthy: bool | None = None, rest: float = 0.0) -> Ask | None:
        if len(self._left) == 1:
            return None
        del self._left[0]
        self._state = _State.ASKING
        self._retried, self._key = 0, 0
        self._resent = self._mended = False
        self._refused.clear()
        return Ask(target=self._left[0], healthy=healthy, key_rest=rest)

    def _give_up(self, error: ApiError, *, healthy: bool | None = None) -> GiveUp:
        self._state = _State.DONE
        return GiveUp(error=error, healthy=healthy)

    # --- what is left -----------------------------------------------------------------------------

    @property
    def _candidate(self) -> Candidate:
        return self._targets[self._left[0]]

    def _may_mend(self, status: int) -> bool:
        """Once, and as one of the retries; where there are none, all the same."""
        spared = self._may_retry or not self._candidate.retries
        return spared and not self._mended and remedy(status).mend

    @property
    def _may_retry(self) -> bool:
        return self._retried < self._candidate.retries

    def _next_key(self) -> int:
        """The keys take turns; one that was refused comes only if all were."""
        keys = max(1, self._candidate.keys)
        turn = [(self._key + step) % keys for step in range(1, keys + 1)]
        return next((key for key in turn if key not in self._refused), turn[0])


def pause_before(retry: int, jitter: float) -> float:
    """Seconds before a retry, the first of which is number 0: between half of a growing time and
    all of it.
    """
    longest: float = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(retry, _DOUBLINGS))
    return longest * (0.5 + 0.5 * jitter)


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """The seconds that a server asks to wait, given as a number or a date."""
    milliseconds, value = headers.get("retry-after-ms"), headers.get("retry-after")
    try:
        if milliseconds is not None:
            return max(0.0, float(milliseconds) / 1000)
        if value is None:
            return None
        if value.strip().replace(".", "", 1).isdigit():
            return float(value)
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, OverflowError):
        return None
