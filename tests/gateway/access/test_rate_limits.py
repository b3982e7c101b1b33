"""Limits: requests and tokens in any minute, and budgets."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.gateway.access.rate_limits import (
    Budget,
    Limited,
    Limiter,
    Window,
    period_end,
    period_start,
)
from toolglot.gateway.access.virtual_keys import Key

NOW = datetime(2030, 1, 31, 12, tzinfo=UTC).timestamp()
DAY = 86400.0


def key(**terms):
    return Key(id="k", name="k", created=0.0, **terms)


def at(*date):
    return datetime(*date, tzinfo=UTC).timestamp()


# --- requests -------------------------------------------------------------------------------------


def test_a_key_without_limits_is_never_limited():
    limiter = Limiter()
    assert all(limiter.check(key(), NOW, reserve=10**9) is None for _ in range(1000))
    assert limiter.standing(key(), NOW) == ()
    assert limiter.stale(key(), NOW) is None


def test_requests_are_counted_when_admitted():
    limiter = Limiter()
    assert limiter.check(key(rpm=2), NOW) is None
    assert limiter.check(key(rpm=2), NOW + 30) is None
    limited = limiter.check(key(rpm=2), NOW + 45)
    assert (limited.what, limited.limit, limited.remaining) == ("requests", 2, 0)
    assert 15 <= limited.retry_after <= 15.2
    assert limiter.check(key(rpm=2), NOW + 45 + limited.retry_after) is None


def test_keys_do_not_share_limits():
    limiter = Limiter()
    other = Key(id="other", name="k", created=0.0, rpm=1)
    assert limiter.check(key(rpm=1), NOW) is None
    assert limiter.check(other, NOW) is None
    assert limiter.check(other, NOW) is not None


def test_a_limit_that_was_changed_counts_at_once():
    limiter = Limiter()
    assert limiter.check(key(rpm=1), NOW) is None
    assert limiter.check(key(rpm=1), NOW) is not None
    assert limiter.check(key(rpm=2), NOW) is None


STEPS = st.lists(st.tuples(st.floats(0, 40), st.integers(1, 30)), min_size=1, max_size=120)


@given(limit=st.integers(1, 9), steps=STEPS)
def test_no_minute_has_more_requests_than_the_limit(limit, steps):
    limiter, now, admitted = Limiter(), NOW, []
    for pause, _ in steps:
        now += pause / 4
        if limiter.check(key(rpm=limit), now) is None:
            admitted.append(now)
    for first, beyond in zip(admitted, admitted[limit:], strict=False):
        assert beyond - first > 60


@given(limit=st.integers(1, 9), steps=STEPS)
def test_after_the_wait_a_request_is_admitted(limit, steps):
    limiter, now = Limiter(), NOW
    for pause, _ in steps:
        now += pause / 8
        limited = limiter.check(key(rpm=limit), now)
        if limited is not None:
            assert 0 < limited.retry_after <= 60.2
            now += limited.retry_after
            assert limiter.check(key(rpm=limit), now) is None


@given(limit=st.integers(1, 9), steps=STEPS)
def test_the_wait_is_no_longer_than_needed(limit, steps):
    limiter, now, admitted = Limiter(), NOW, []
    for pause, _ in steps:
        now += pause / 8
        limited = limiter.check(key(rpm=limit), now)
        if limited is None:
            admitted.append(now)
        else:
            assert limited.retry_after <= admitted[-limit] + 60.11 - now


# --- tokens ---------------------------------------------------------------------------------------


def test_tokens_are_charged_after_the_answer():
    limiter, mine = Limiter(), key(tpm=100)
    assert limiter.check(mine, NOW) is None
    limiter.spend(mine, 150, NOW + 1)
    limited = limiter.check(mine, NOW + 2)
    assert (limited.what, limited.limit, limited.remaining) == ("tokens", 100, 0)
    assert limiter.check(mine, NOW + 2 + limited.retry_after) is None


def test_a_reservation_holds_tokens_until_they_are_spent():
    limiter, mine = Limiter(), key(tpm=100)
    assert limiter.check(mine, NOW, reserve=80) is None
    limited = limiter.check(mine, NOW, reserve=30)
    assert (limited.what, limited.remaining, limited.retry_after) == ("tokens", 20, 1.0)
    assert limiter.check(mine, NOW, reserve=20) is None
    limiter.spend(mine, 10, NOW, reserved=80)
    limiter.spend(mine, 0, NOW, reserved=20)
    assert [each.remaining for each in limiter.standing(mine, NOW)] == [90]


def test_a_reservation_larger_than_the_limit_may_have_all_of_it():
    limiter, mine = Limiter(), key(tpm=100)
    assert limiter.check(mine, NOW, reserve=500) is None
    assert limiter.check(mine, NOW) is not None


def test_a_refused_request_reserves_and_counts_nothing():
    limiter, mine = Limiter(), key(rpm=5, tpm=10)
    limiter.spend(mine, 10, NOW)
    assert all(limiter.check(mine, NOW, reserve=3).what == "tokens" for _ in range(9))
    assert [each.remaining for each in limiter.standing(mine, NOW)] == [5, 0]
    assert limiter.check(mine, NOW + 61, reserve=10) is None


@given(limit=st.integers(1, 200), steps=STEPS)
def test_reserved_tokens_keep_every_minute_within_the_limit(limit, steps):
    """Whoever reserves what it spends never exceeds the limit."""
    limiter, now, spent, mine = Limiter(), NOW, [], key(tpm=limit)
    for pause, tokens in steps:
        now += pause / 4
        cost = min(tokens, limit)
        if limiter.check(mine, now, reserve=cost) is None:
            limiter.spend(mine, cost, now, reserved=cost)
            spent.append((now, cost))
    for end, _ in spent:
        assert sum(cost for time, cost in spent if end - 60 <= time <= end) <= limit


@given(steps=STEPS)
def test_a_window_is_bounded_and_adds_up(steps):
    window, now, added = Window(), NOW, []
    for pause, amount in steps:
        now += pause / 40
        window.add(amount, now)
        added.append((now, amount))
        window.forget(now)
        within = sum(amount for time, amount in added if now - time <= 60)
        around = sum(amount for time, amount in added if now - time <= 60.2)
        assert within <= window.used <= around
    for number in range(5000):
        window.add(1, now + number / 50)
    assert len(window._slots) <= 601


def test_a_clock_that_is_set_back_frees_nothing():
    limiter, mine = Limiter(), key(rpm=2)
    assert limiter.check(mine, NOW) is None
    assert limiter.check(mine, NOW - 3600) is None
    assert limiter.check(mine, NOW - 3600) is not None
    assert limiter.check(mine, NOW) is not None


# --- budgets --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("per", "start", "end"),
    [
        ("day", at(2030, 1, 31), at(2030, 2, 1)),
        ("month", at(2030, 1, 1), at(2030, 2, 1)),
        ("total", 0.0, float("inf")),
    ],
)
def test_periods(per, start, end):
    assert (period_start(per, NOW), period_end(per, NOW)) == (start, end)


@given(now=st.floats(0, 4e9), per=st.sampled_from(["day", "month"]))
def test_periods_follow_each_other(now, per):
    start, end = period_start(per, now), period_end(per, now)
    assert start <= now < end
    assert period_start(per, end) == end
    assert period_start(per, start) == start


def test_a_budget_is_used_up_and_comes_back_with_the_next_period():
    limiter, mine = Limiter(), key(budget=Budget(100, "day"))
    assert limiter.check(mine, NOW) is None
    limiter.spend(mine, 100, NOW)
    limited = limiter.check(mine, NOW)
    assert limited == Limited(what="budget", limit=100, remaining=0, retry_after=DAY / 2)
    assert limiter.check(mine, NOW + DAY / 2) is None


def test_a_budget_in_all_never_comes_back():
    limiter, mine = Limiter(), key(budget=Budget(100))
    limiter.spend(mine, 100, NOW)
    assert limiter.check(mine, NOW + 99 * DAY).retry_after == float("inf")


def test_the_ledger_says_what_was_spent_before():
    limiter, mine = Limiter(refresh=5), key(budget=Budget(100, "month"))
    assert limiter.stale(mine, NOW) == at(2030, 1, 1)
    limiter.settle(mine, 90, NOW)
    assert limiter.stale(mine, NOW + 4) is None
    assert limiter.check(mine, NOW) is None
    limiter.spend(mine, 10, NOW)
    assert limiter.check(mine, NOW).what == "budget"


def test_other_processes_are_heard_of_by_the_ledger():
    limiter, mine = Limiter(refresh=5), key(budget=Budget(100, "day"))
    limiter.stale(mine, NOW)
    limiter.settle(mine, 0, NOW)
    assert limiter.stale(mine, NOW + 5) == at(2030, 1, 31)
    limiter.settle(mine, 100, NOW + 5)
    assert limiter.check(mine, NOW + 5).what == "budget"


def test_what_is_spent_while_the_ledger_is_asked_is_not_lost():
    limiter, mine = Limiter(), key(budget=Budget(100, "day"))
    limiter.spend(mine, 30, NOW)
    limiter.stale(mine, NOW)
    limiter.spend(mine, 20, NOW)
    limiter.settle(mine, 30, NOW)
    assert [each.remaining for each in limiter.standing(mine, NOW)] == [50]


def test_a_new_period_asks_the_ledger_anew():
    limiter, mine = Limiter(), key(budget=Budget(100, "day"))
    limiter.stale(mine, NOW)
    limiter.settle(mine, 100, NOW)
    midnight = at(2030, 2, 1)
    assert limiter.check(mine, midnight) is None
    assert limiter.stale(mine, midnight) == midnight


def test_of_several_limits_the_longest_wait_is_said():
    limiter, mine = Limiter(), key(rpm=1, tpm=10, budget=Budget(100, "day"))
    assert limiter.check(mine, NOW) is None
    limiter.spend(mine, 10, NOW + 30)
    limited = limiter.check(mine, NOW + 31)
    assert limited.what == "tokens"
    assert limiter.check(mine, NOW + 31 + limited.retry_after) is None
    limiter.spend(mine, 90, NOW + 100)
    assert limiter.check(mine, NOW + 101).what == "budget"


def test_a_provider_that_counts_backwards_earns_nothing():
    limiter, mine = Limiter(), key(tpm=10, budget=Budget(100))
    limiter.spend(mine, -50, NOW)
    assert [each.remaining for each in limiter.standing(mine, NOW)] == [10, 100]


# --- standing -------------------------------------------------------------------------------------


def test_standing_names_every_limit_of_the_key():
    limiter = Limiter()
    mine = key(rpm=10, tpm=1000, budget=Budget(5000, "day"))
    limiter.check(mine, NOW)
    limiter.spend(mine, 400, NOW)
    found = {each.what: each for each in limiter.standing(mine, NOW)}
    assert {what: (each.limit, each.remaining) for what, each in found.items()} == {
        "requests": (10, 9),
        "tokens": (1000, 600),
        "budget": (5000, 4600),
    }
    assert 60 <= found["requests"].reset <= 60.2
    assert found["budget"].reset == DAY / 2
    later = {each.what: each for each in limiter.standing(mine, NOW + 61)}
    assert (later["requests"].remaining, later["requests"].reset) == (10, 0.0)


def test_what_was_used_counts_for_a_minute_at_least():
    window = Window()
    window.add(1, 0.05)
    window.forget(60.04)
    assert window.used == 1
    window.forget(60.2)
    assert window.used == 0


def test_what_was_used_after_the_clock_was_set_back_counts_for_a_minute_too():
    window = Window()
    window.add(1, 100.0)
    window.add(1, 40.0)
    assert window.wait(2, 100.0) >= 60
