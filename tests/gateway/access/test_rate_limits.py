"""Limits: requests and tokens in any minute, and budgets."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.gateway.access.rate_limits import (
    LimitExceeded,
    RateLimiter,
    Reservation,
    SlidingWindow,
    period_end,
    period_start,
)
from toolglot.gateway.access.virtual_keys import Budget, VirtualKey

NOW = datetime(2030, 1, 31, 12, tzinfo=UTC).timestamp()
DAY = 86400.0


def key(**terms):
    return VirtualKey(id="k", name="k", created=0.0, **terms)


def at(*date):
    return datetime(*date, tzinfo=UTC).timestamp()


# --- requests -------------------------------------------------------------------------------------


def test_a_key_without_limits_is_never_limited():
    limiter = RateLimiter()
    assert all(limiter.admit(key(), NOW) is None for _ in range(1000))
    assert limiter.status(key(), NOW) == ()
    assert limiter.refresh_budget_since(key(), NOW) is None


def test_requests_are_counted_when_admitted():
    limiter = RateLimiter()
    assert limiter.admit(key(rpm=2), NOW) is None
    assert limiter.admit(key(rpm=2), NOW + 30) is None
    limited = limiter.admit(key(rpm=2), NOW + 45)
    assert (limited.what, limited.limit, limited.remaining) == ("requests", 2, 0)
    assert 15 <= limited.retry_after <= 15.2
    assert limiter.admit(key(rpm=2), NOW + 45 + limited.retry_after) is None


def test_keys_do_not_share_limits():
    limiter = RateLimiter()
    other = VirtualKey(id="other", name="k", created=0.0, rpm=1)
    assert limiter.admit(key(rpm=1), NOW) is None
    assert limiter.admit(other, NOW) is None
    assert limiter.admit(other, NOW) is not None


def test_a_limit_that_was_changed_counts_at_once():
    limiter = RateLimiter()
    assert limiter.admit(key(rpm=1), NOW) is None
    assert limiter.admit(key(rpm=1), NOW) is not None
    assert limiter.admit(key(rpm=2), NOW) is None


STEPS = st.lists(st.tuples(st.floats(0, 40), st.integers(1, 30)), min_size=1, max_size=120)


@given(limit=st.integers(1, 9), steps=STEPS)
def test_no_minute_has_more_requests_than_the_limit(limit, steps):
    limiter, now, admitted = RateLimiter(), NOW, []
    for pause, _ in steps:
        now += pause / 4
        if limiter.admit(key(rpm=limit), now) is None:
            admitted.append(now)
    for first, beyond in zip(admitted, admitted[limit:], strict=False):
        assert beyond - first > 60


@given(limit=st.integers(1, 9), steps=STEPS)
def test_after_the_wait_a_request_is_admitted(limit, steps):
    limiter, now = RateLimiter(), NOW
    for pause, _ in steps:
        now += pause / 8
        limited = limiter.admit(key(rpm=limit), now)
        if limited is not None:
            assert 0 < limited.retry_after <= 60.2
            now += limited.retry_after
            assert limiter.admit(key(rpm=limit), now) is None


@given(limit=st.integers(1, 9), steps=STEPS)
def test_the_wait_is_no_longer_than_needed(limit, steps):
    limiter, now, admitted = RateLimiter(), NOW, []
    for pause, _ in steps:
        now += pause / 8
        limited = limiter.admit(key(rpm=limit), now)
        if limited is None:
            admitted.append(now)
        else:
            assert limited.retry_after <= admitted[-limit] + 60.11 - now


# --- tokens ---------------------------------------------------------------------------------------


def test_tokens_are_charged_after_the_answer():
    limiter, mine = RateLimiter(), key(tpm=100)
    assert limiter.admit(mine, NOW) is None
    limiter.charge(mine, 150, NOW + 1)
    limited = limiter.admit(mine, NOW + 2)
    assert (limited.what, limited.limit, limited.remaining) == ("tokens", 100, 0)
    assert limiter.admit(mine, NOW + 2 + limited.retry_after) is None


def test_a_rejected_request_counts_nothing():
    limiter, mine = RateLimiter(), key(rpm=5, tpm=10)
    limiter.charge(mine, 10, NOW)
    assert all(limiter.admit(mine, NOW).what == "tokens" for _ in range(9))
    assert [each.remaining for each in limiter.status(mine, NOW)] == [5, 0]
    assert limiter.admit(mine, NOW + 61) is None


@pytest.mark.parametrize(
    ("later", "used"), [(0.0, 1), (59.9, 1), (60.0, 1), (60.01, 1), (60.15, 0), (60.2, 0)]
)
def test_an_amount_counts_for_a_minute_at_least(later, used):
    """It came at the end of its slot, so the slot lasts until a minute after its end."""
    window = SlidingWindow()
    window.add(1, NOW + 0.09)
    window.drop_old(NOW + later)
    assert window.used == used


def test_a_request_is_not_admitted_before_its_minute_is_over():
    limiter, mine = RateLimiter(), key(rpm=1)
    assert limiter.admit(mine, NOW + 0.09) is None
    assert limiter.admit(mine, NOW + 60.08) is not None
    assert limiter.admit(mine, NOW + 60.19) is None


@given(steps=STEPS)
def test_a_window_is_bounded_and_adds_up(steps):
    window, now, added = SlidingWindow(), NOW, []
    for pause, amount in steps:
        now += pause / 40
        window.add(amount, now)
        added.append((now, amount))
        window.drop_old(now)
        within = sum(amount for time, amount in added if now - time <= 60)
        around = sum(amount for time, amount in added if now - time <= 60.2)
        assert within <= window.used <= around
    for number in range(5000):
        window.add(1, now + number / 50)
    assert len(window._slots) <= 601


def test_a_clock_that_is_set_back_frees_nothing():
    limiter, mine = RateLimiter(), key(rpm=2)
    assert limiter.admit(mine, NOW) is None
    assert limiter.admit(mine, NOW - 3600) is None
    assert limiter.admit(mine, NOW - 3600) is not None
    assert limiter.admit(mine, NOW) is not None


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
    limiter, mine = RateLimiter(), key(budget=Budget(100, "day"))
    assert limiter.admit(mine, NOW) is None
    limiter.charge(mine, 100, NOW)
    limited = limiter.admit(mine, NOW)
    assert limited == LimitExceeded(what="budget", limit=100, remaining=0, retry_after=DAY / 2)
    assert limiter.admit(mine, NOW + DAY / 2) is None


def test_a_budget_in_all_never_comes_back():
    limiter, mine = RateLimiter(), key(budget=Budget(100))
    limiter.charge(mine, 100, NOW)
    assert limiter.admit(mine, NOW + 99 * DAY).retry_after == float("inf")


def test_the_ledger_says_what_was_spent_before():
    limiter, mine = RateLimiter(refresh=5), key(budget=Budget(100, "month"))
    assert limiter.refresh_budget_since(mine, NOW) == at(2030, 1, 1)
    limiter.set_spent(mine, 90, NOW)
    assert limiter.refresh_budget_since(mine, NOW + 4) is None
    assert limiter.admit(mine, NOW) is None
    limiter.charge(mine, 10, NOW)
    assert limiter.admit(mine, NOW).what == "budget"


def test_other_processes_are_heard_of_by_the_ledger():
    limiter, mine = RateLimiter(refresh=5), key(budget=Budget(100, "day"))
    limiter.refresh_budget_since(mine, NOW)
    limiter.set_spent(mine, 0, NOW)
    assert limiter.refresh_budget_since(mine, NOW + 5) == at(2030, 1, 31)
    limiter.set_spent(mine, 100, NOW + 5)
    assert limiter.admit(mine, NOW + 5).what == "budget"


def test_what_is_spent_while_the_ledger_is_asked_is_not_lost():
    limiter, mine = RateLimiter(), key(budget=Budget(100, "day"))
    limiter.charge(mine, 30, NOW)
    limiter.refresh_budget_since(mine, NOW)
    limiter.charge(mine, 20, NOW)
    limiter.set_spent(mine, 30, NOW)
    assert [each.remaining for each in limiter.status(mine, NOW)] == [50]


def test_a_new_period_asks_the_ledger_anew():
    limiter, mine = RateLimiter(), key(budget=Budget(100, "day"))
    limiter.refresh_budget_since(mine, NOW)
    limiter.set_spent(mine, 100, NOW)
    midnight = at(2030, 2, 1)
    assert limiter.admit(mine, midnight) is None
    assert limiter.refresh_budget_since(mine, midnight) == midnight


def test_of_several_limits_the_longest_wait_is_said():
    limiter, mine = RateLimiter(), key(rpm=1, tpm=10, budget=Budget(100, "day"))
    assert limiter.admit(mine, NOW) is None
    limiter.charge(mine, 10, NOW + 30)
    limited = limiter.admit(mine, NOW + 31)
    assert limited.what == "tokens"
    assert limiter.admit(mine, NOW + 31 + limited.retry_after) is None
    limiter.charge(mine, 90, NOW + 100)
    assert limiter.admit(mine, NOW + 101).what == "budget"


def test_a_provider_that_counts_backwards_earns_nothing():
    limiter, mine = RateLimiter(), key(tpm=10, budget=Budget(100))
    limiter.charge(mine, -50, NOW)
    assert [each.remaining for each in limiter.status(mine, NOW)] == [10, 100]


# --- status ---------------------------------------------------------------------------------------


def test_the_status_names_every_limit_of_the_key():
    limiter = RateLimiter()
    mine = key(rpm=10, tpm=1000, budget=Budget(5000, "day"))
    limiter.admit(mine, NOW)
    limiter.charge(mine, 400, NOW)
    found = {each.what: each for each in limiter.status(mine, NOW)}
    assert {what: (each.limit, each.remaining) for what, each in found.items()} == {
        "requests": (10, 9),
        "tokens": (1000, 600),
        "budget": (5000, 4600),
    }
    assert 60 <= found["requests"].reset <= 60.2
    assert found["budget"].reset == DAY / 2
    later = {each.what: each for each in limiter.status(mine, NOW + 61)}
    assert (later["requests"].remaining, later["requests"].reset) == (10, 0.0)


def test_what_was_used_counts_for_a_minute_at_least():
    window = SlidingWindow()
    window.add(1, 0.05)
    window.drop_old(60.04)
    assert window.used == 1
    window.drop_old(60.2)
    assert window.used == 0


def test_what_was_used_after_the_clock_was_set_back_counts_for_a_minute_too():
    window = SlidingWindow()
    window.add(1, 100.0)
    window.add(1, 40.0)
    assert window.wait(2, 100.0) >= 60


@pytest.mark.parametrize("shift", [-3600.0, 3600.0])
def test_a_clock_that_is_set_changes_no_minute(shift):
    """Minutes are counted by a clock that nobody sets."""
    limiter, limited = RateLimiter(), key(rpm=1, tpm=10)
    assert limiter.admit(limited, NOW, tick=100.0) is None
    limiter.charge(limited, 10, NOW, tick=101.0)
    exceeded = limiter.admit(limited, NOW + shift, tick=110.0)
    assert exceeded is not None
    assert 50 <= exceeded.retry_after <= 51.3
    assert limiter.admit(limited, NOW + shift, tick=161.2) is None
    assert {each.remaining for each in limiter.status(limited, NOW, tick=161.2)} == {0, 10}


def test_a_clock_that_is_set_back_into_another_day_asks_the_ledger_again():
    limiter, limited = RateLimiter(), key(budget=Budget(100, "day"))
    assert limiter.refresh_budget_since(limited, NOW) is not None
    limiter.set_spent(limited, 99, NOW)
    assert limiter.refresh_budget_since(limited, NOW + 1) is None
    assert limiter.refresh_budget_since(limited, NOW - DAY) == at(2030, 1, 30)


def test_what_is_reserved_is_not_given_to_others_until_it_is_charged():
    limiter, limited = RateLimiter(), key(tpm=100)
    most = Reservation(tokens=80)
    assert limiter.admit(limited, NOW, most) is None
    assert limiter.admit(limited, NOW, most).what == "tokens"
    assert limiter.admit(limited, NOW, Reservation(tokens=20)) is None
    limiter.charge(limited, 5, NOW, most)
    limiter.charge(limited, 5, NOW, Reservation(tokens=20))
    assert limiter.admit(limited, NOW, most) is None
