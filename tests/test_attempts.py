"""Whom to ask next: every status at every position, and laws over anything that may happen."""

import math
from email.utils import formatdate
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot import attempts as module
from toolglot.attempts import (
    FIRST_PAUSE,
    KEY_REST,
    LONGEST_PAUSE,
    PATIENCE,
    REMEDIES,
    Ask,
    Attempts,
    Candidate,
    Deliver,
    GiveUp,
    NoReply,
    ReplyStarted,
    ReplyUnusable,
    pause_before,
    remedy,
    retry_after,
)
from toolglot.ir import ApiError

GONE = ApiError(kind="server", message="gone", status=502)
LATE = ApiError(kind="timeout", message="late", status=504)
STATUSES = sorted({*REMEDIES, 200, 201, 301, 400, 405, 413, 422, 501, 505, 520})
AGAIN = {408, 409, 425, 429, 500, 502, 503, 504, 529}
OTHER_KEY = {401, 402, 403, 429}
NEXT = AGAIN | OTHER_KEY | {404}
MEND = {400, 404, 413, 422, 500}


def started(*targets):
    attempts = Attempts([Candidate(**each) for each in targets])
    return attempts, attempts.start()


def unusable(status):
    return ReplyUnusable(ApiError(kind="server", message="no", status=status))


# --- the table of statuses ------------------------------------------------------------------------


@pytest.mark.parametrize("status", STATUSES)
def test_the_table(status):
    helps = remedy(status)
    assert helps.again == (status in AGAIN)
    assert helps.key == (status in OTHER_KEY)
    assert helps.next == (status in NEXT)
    assert helps.mend == (status in MEND)


def test_the_table_is_complete():
    assert set(REMEDIES) == AGAIN | OTHER_KEY | NEXT | MEND


def test_what_may_succeed_later_may_succeed_elsewhere():
    assert all(helps.next for helps in REMEDIES.values() if helps.again or helps.key)


WAITS = {"none": None, "short": 3.0, "patience": PATIENCE, "long": PATIENCE + 0.1}
POSITIONS = {
    "only": [{"retries": 0}],
    "first": [{"retries": 0}, {}],
    "retries": [{"retries": 1}],
    "retries-first": [{"retries": 1}, {}],
    "keys": [{"retries": 1, "keys": 2}],
    "keys-first": [{"retries": 1, "keys": 2}, {}],
    "keys-no-retry": [{"retries": 0, "keys": 2}, {}],
}


def expected(status, wait, should_retry, targets):
    """The same decisions, in other words: kind of step, target, key, pause, rest of the key."""
    first, more = targets[0], len(targets) > 1
    keys = first.get("keys", 1)
    rest = 0.0
    if status in OTHER_KEY and keys > 1:
        rest = KEY_REST if wait is None else wait
    if status in OTHER_KEY and keys > 1 and first["retries"]:
        return ("ask", 0, 1, 0.0, rest)
    patient = should_retry and (wait is None or wait <= PATIENCE)
    if status in AGAIN and first["retries"] and patient:
        return ("ask", 0, 1 if keys > 1 else 0, FIRST_PAUSE if wait is None else wait, rest)
    if status in NEXT and more:
        return ("ask", 1, 0, 0.0, rest)
    return ("deliver", None, None, None, rest)


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("status", STATUSES)
def test_every_status_at_every_position_with_all_headers(status, position):
    targets = POSITIONS[position]
    for wait, should_retry in product(WAITS.values(), (True, False)):
        attempts, _ = started(*targets)
        outcome = ReplyStarted(status=status, retry_after=wait, should_retry=should_retry)
        step = attempts.after(outcome)
        kind, target, key, pause, rest = expected(status, wait, should_retry, targets)
        # What is one client's or one request's own says nothing of a server.
        told = (False if status >= 500 else None) if status in AGAIN else True
        assert step.healthy is told
        assert step.key_rest == rest
        if kind == "deliver":
            assert isinstance(step, Deliver)
        else:
            assert (step.target, step.key, step.pause) == (target, key, pause)
            assert step.retry == (target == 0)


@pytest.mark.parametrize("status", STATUSES)
def test_when_retries_are_used_up_the_reply_is_delivered_or_the_next_is_asked(status):
    for more in ([], [{}]):
        attempts, step = started({"retries": 2}, *more)
        asked = 0
        while isinstance(step, Ask) and step.target == 0:
            asked += 1
            step = attempts.after(ReplyStarted(status=status))
        assert asked == (3 if status in AGAIN else 1)
        moves_on = more and status in NEXT
        assert isinstance(step, Ask if moves_on else Deliver)


# --- keys -----------------------------------------------------------------------------------------


def test_keys_take_turns_until_all_were_refused():
    attempts, step = started({"retries": 9, "keys": 3})
    used = [step.key]
    while isinstance(step := attempts.after(ReplyStarted(status=401)), Ask):
        used.append(step.key)
    assert used == [0, 1, 2], "a key that was refused is not tried twice"
    assert isinstance(step, Deliver)


def test_a_busy_provider_is_waited_for_when_no_key_is_left():
    attempts, _ = started({"retries": 9, "keys": 2})
    at_once = attempts.after(ReplyStarted(status=429))
    later = attempts.after(ReplyStarted(status=429), jitter=1.0)
    assert (at_once.key, at_once.pause) == (1, 0.0)
    assert (later.key, later.pause) == (0, pause_before(1, 1.0))


def test_another_key_is_tried_even_if_asking_again_is_of_no_use():
    attempts, _ = started({"retries": 1, "keys": 2})
    step = attempts.after(ReplyStarted(status=429, retry_after=3600.0, should_retry=False))
    assert (step.key, step.pause, step.key_rest) == (1, 0.0, 3600.0)


def test_a_refused_key_of_one_target_is_no_refused_key_of_the_next():
    attempts, _ = started({"retries": 0, "keys": 2}, {"retries": 1, "keys": 2})
    assert attempts.after(ReplyStarted(status=401)).target == 1
    step = attempts.after(ReplyStarted(status=401))
    assert (step.target, step.key) == (1, 1)


def test_when_all_keys_of_a_target_were_refused_those_of_the_next_are_all_left():
    attempts, _ = started({"retries": 9, "keys": 2}, {"retries": 1, "keys": 2})
    assert attempts.after(ReplyStarted(status=401)).key == 1
    assert attempts.after(ReplyStarted(status=401)).target == 1
    step = attempts.after(ReplyStarted(status=401))
    assert (step.target, step.key) == (1, 1)


def test_a_retry_takes_the_next_key_and_not_a_refused_one():
    attempts, _ = started({"retries": 9, "keys": 3})
    assert attempts.after(ReplyStarted(status=403)).key == 1
    assert attempts.after(ReplyStarted(status=500)).key == 2
    assert attempts.after(ReplyStarted(status=500)).key == 1


# --- no reply -------------------------------------------------------------------------------------


def test_after_a_stale_connection_there_is_no_pause_once():
    attempts, _ = started({"retries": 2}, {})
    stale = NoReply(error=GONE, stale=True)
    step = attempts.after(stale)
    assert (step.target, step.pause, step.retry, step.healthy) == (0, 0.0, True, None)
    step = attempts.after(stale)
    assert (step.target, step.pause, step.retry, step.healthy) == (0, 2 * FIRST_PAUSE, True, False)
    step = attempts.after(stale)
    assert (step.target, step.retry, step.healthy) == (1, False, False)
    assert attempts.after(stale) == GiveUp(error=GONE, healthy=False)


@pytest.mark.parametrize("stale", [True, False])
@pytest.mark.parametrize("retries", [0, 1, 2, 3])
def test_a_target_is_asked_as_often_as_its_retries_say(retries, stale):
    attempts, step = started({"retries": retries})
    asked = 0
    while isinstance(step, Ask):
        asked += 1
        step = attempts.after(NoReply(error=GONE, stale=stale))
    assert asked == 1 + retries


@pytest.mark.parametrize("error", [GONE, LATE])
def test_no_reply_is_tried_again_then_elsewhere_then_given_up(error):
    attempts, _ = started({"retries": 1}, {})
    steps = [attempts.after(NoReply(error=error)) for _ in range(3)]
    assert [getattr(step, "target", None) for step in steps] == [0, 1, None]
    assert steps[-1] == GiveUp(error=error, healthy=False)
    assert all(step.healthy is False for step in steps)


# --- replies that turn out to be none -------------------------------------------------------------


@pytest.mark.parametrize("status", [*STATUSES, None])
def test_an_unusable_reply(status):
    attempts, _ = started({"retries": 5}, {"retries": 5})
    assert isinstance(attempts.after(ReplyStarted(status=200)), Deliver)
    step = attempts.after(unusable(status))
    if status in NEXT or status is None:
        assert step == Ask(target=1), "the same target is not asked again"
        assert isinstance(attempts.after(ReplyStarted(status=200)), Deliver)
        step = attempts.after(unusable(status))
    assert isinstance(step, GiveUp)
    assert step.error.status == status


# --- refusals that were understood ----------------------------------------------------------------


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("status", STATUSES)
def test_a_changed_request_is_sent_once_to_a_target_and_uses_up_a_retry(status, position):
    attempts, _ = started(*POSITIONS[position])
    assert attempts.may_mend(status) == (status in MEND)
    step = attempts.after(ReplyStarted(status=status, mendable=True))
    if status not in MEND:
        plain, _ = started(*POSITIONS[position])
        assert step == plain.after(ReplyStarted(status=status))
        return
    assert step == Ask(target=0, mended=True, healthy=True)
    assert not attempts.may_mend(status)
    after = attempts.after(ReplyStarted(status=status, mendable=True))
    first, *others = POSITIONS[position]
    left = max(0, first.get("retries", 0) - 1)
    plain, _ = started({**first, "retries": left}, *others)
    fewer = plain.after(ReplyStarted(status=status))
    assert after == fewer, "as if there had been a retry less"


def test_a_changed_request_keeps_its_key():
    attempts, _ = started({"retries": 2, "keys": 3})
    assert attempts.after(ReplyStarted(status=401)).key == 1
    step = attempts.after(ReplyStarted(status=400, mendable=True))
    assert (step.key, step.mended, step.retry, step.pause) == (1, True, False, 0.0)


def test_each_target_may_be_sent_a_changed_request():
    attempts, _ = started({"retries": 0}, {"retries": 0})
    assert attempts.after(ReplyStarted(status=404, mendable=True)).mended
    assert attempts.after(ReplyStarted(status=404, mendable=True)) == Ask(target=1, healthy=True)
    assert attempts.after(ReplyStarted(status=404, mendable=True)).mended


def test_a_stream_that_begins_with_a_refusal_is_mended_once():
    attempts, _ = started({"retries": 0}, {"retries": 0})
    refusal = ReplyUnusable(ApiError(kind="server", message="no", status=500), True)
    assert isinstance(attempts.after(ReplyStarted(status=200)), Deliver)
    assert attempts.may_mend(500)
    assert attempts.after(refusal) == Ask(target=0, mended=True, healthy=True)
    assert isinstance(attempts.after(ReplyStarted(status=200)), Deliver)
    assert attempts.after(refusal) == Ask(target=1), "not twice"


def test_nothing_can_be_mended_before_the_start_or_after_the_end():
    attempts = Attempts([Candidate()])
    assert not attempts.may_mend(400)
    attempts.start()
    assert isinstance(attempts.after(NoReply(error=GONE)), GiveUp)
    assert not attempts.may_mend(400)


# --- order, pauses --------------------------------------------------------------------------------


def test_those_that_rest_are_asked_last():
    attempts, step = started({"resting": True}, {}, {"resting": True}, {})
    order = [step.target]
    while isinstance(step := attempts.after(NoReply(error=GONE)), Ask):
        order.append(step.target)
    assert order == [1, 3, 0, 2]


def test_pauses_grow_up_to_a_bound():
    whole = [pause_before(retry, 1.0) for retry in range(8)]
    assert whole == [0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0, 8.0]
    assert [pause_before(retry, 0.0) for retry in range(8)] == [each / 2 for each in whole]
    assert pause_before(10**9, 1.0) == LONGEST_PAUSE


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after-ms": "-5"}, 0.0),
        ({"retry-after-ms": "soon"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": formatdate(1000, usegmt=True)}, 40.0),
        ({"retry-after": formatdate(0, usegmt=True)}, 0.0),
    ],
)
def test_how_long_a_server_asks_to_wait(headers, seconds):
    assert retry_after(headers, 960.0) == seconds


def test_the_head_of_a_reply():
    headers = {"retry-after": "7", "x-should-retry": "false"}
    outcome = ReplyStarted(status=429, retry_after=7.0, should_retry=False)
    assert ReplyStarted.of(429, headers, 0.0) == outcome
    assert ReplyStarted.of(200, {"x-should-retry": "true"}, 0.0) == ReplyStarted(status=200)


# --- the machine ----------------------------------------------------------------------------------


def test_outcomes_that_cannot_be():
    with pytest.raises(ValueError, match="target"):
        Attempts([])
    attempts = Attempts([Candidate()])
    with pytest.raises(RuntimeError, match="READY"):
        attempts.after(ReplyStarted(status=200))
    attempts.start()
    with pytest.raises(RuntimeError, match="started"):
        attempts.start()
    with pytest.raises(RuntimeError, match="ASKING"):
        attempts.after(unusable(502))
    assert isinstance(attempts.after(ReplyStarted(status=200)), Deliver)
    with pytest.raises(RuntimeError, match="DELIVERING"):
        attempts.after(ReplyStarted(status=200))
    assert isinstance(attempts.after(unusable(502)), GiveUp)
    with pytest.raises(RuntimeError, match="DONE"):
        attempts.after(unusable(502))


candidates = st.lists(
    st.builds(
        Candidate,
        retries=st.integers(0, 6),
        keys=st.integers(0, 4),
        resting=st.booleans(),
    ),
    min_size=1,
    max_size=5,
)
errors = st.sampled_from([None, *STATUSES]).map(
    lambda status: ApiError(kind="server", message="", status=status)
)
asked_outcomes = st.one_of(
    st.builds(NoReply, error=errors, stale=st.booleans()),
    st.builds(
        ReplyStarted,
        status=st.sampled_from(STATUSES),
        retry_after=st.none() | st.floats(0, 1e6),
        should_retry=st.booleans(),
        mendable=st.booleans(),
    ),
)


@given(candidates, st.data())
def test_it_always_ends_within_its_bounds(targets, data):
    attempts = Attempts(targets)
    step = attempts.start()
    asked, retried, order = dict.fromkeys(range(len(targets)), 0), 0, []
    while not isinstance(step, GiveUp):
        if isinstance(step, Deliver):
            if data.draw(st.booleans(), label="delivered"):
                break
            step = attempts.after(ReplyUnusable(data.draw(errors), data.draw(st.booleans())))
            continue
        target = targets[step.target]
        asked[step.target] += 1
        retried = retried + 1 if step.retry else retried
        order += [step.target] if step.target not in order else []
        assert order[-1] == step.target, "nobody is gone back to"
        assert 0 <= step.pause <= max(LONGEST_PAUSE, PATIENCE)
        assert 0 <= step.key < max(1, target.keys)
        jitter = data.draw(st.floats(0, 1), label="jitter")
        step = attempts.after(data.draw(asked_outcomes), jitter=jitter)
        assert math.isfinite(step.key_rest)
    for place, count in asked.items():
        assert count <= max(targets[place].retries, 1) + 1, "without retries, one that is mended"
    assert retried <= sum(target.retries for target in targets)
    awake = [not targets[place].resting for place in order]
    assert awake == sorted(awake, reverse=True)


def test_the_docstring_names_every_status_of_the_table():
    assert all(str(status) in module.__doc__ for status in REMEDIES)
