"""Time spent waiting, on a clock that the test moves."""

import pytest
from tests.gateway.clock import Clock

from toolglot.gateway.telemetry.waiting import WaitingTime


@pytest.fixture
def clock():
    return Clock()


def test_only_the_time_inside_counts(clock):
    waiting = WaitingTime(clock)
    clock.now += 1
    with waiting:
        clock.now += 2
    clock.now += 4
    with waiting:
        clock.now += 8
    assert waiting.seconds == 10


def test_the_outermost_block_counts(clock):
    waiting = WaitingTime(clock)
    with waiting:
        clock.now += 1
        with waiting:
            clock.now += 2
        clock.now += 4
    clock.now += 8
    assert waiting.seconds == 7


def test_a_block_that_raises_counts_and_ends(clock):
    waiting = WaitingTime(clock)

    def fail():
        with waiting:
            clock.now += 1
            raise ConnectionError

    with pytest.raises(ConnectionError):
        fail()
    clock.now += 2
    with waiting:
        clock.now += 4
    clock.now += 8
    assert waiting.seconds == 5


def test_a_block_that_is_still_open_counts_up_to_now(clock):
    waiting = WaitingTime(clock)
    with waiting:
        clock.now += 3
        assert waiting.seconds == 3
