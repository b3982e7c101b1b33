"""Rate limits of several workers: counted together, whatever happens to one of them."""

import os
import signal
import subprocess
import sys
import time

import pytest

from toolglot.gateway.access.rate_limits import RateLimiter, Reservation
from toolglot.gateway.access.virtual_keys import Budget, VirtualKey
from toolglot.gateway.storage.shared_limits import SharedLimitStates

NOW = 1_900_000_000.0
KEY = VirtualKey(id="k", name="k", created=0.0, rpm=3, tpm=100, budget=Budget(1000))


@pytest.fixture
def workers(tmp_path):
    """Two workers, each with a limiter of its own."""
    states = [SharedLimitStates(tmp_path / "limits") for _ in range(2)]
    yield [RateLimiter(states=each) for each in states]
    for each in states:
        each.close()


def test_requests_count_together(workers):
    one, other = workers
    tick = time.monotonic()
    admitted = [each.admit(KEY, NOW, tick=tick) for each in (one, other, one, other, one)]
    assert [found is None for found in admitted] == [True, True, True, False, False]
    assert admitted[-1].what == "requests"
    assert other.admit(KEY, NOW, tick=tick + 61) is None


def test_tokens_and_budgets_count_together(workers):
    one, other = workers
    tick = time.monotonic()
    one.charge(KEY, 60, NOW, tick=tick)
    other.charge(KEY, 40, NOW, tick=tick)
    assert one.admit(KEY, NOW, tick=tick).what == "tokens"
    (_, _, budget) = one.status(KEY, NOW, tick=tick)
    assert budget.remaining == 900


def test_what_one_reserves_another_does_not_give_away(workers):
    one, other = workers
    tick, most = time.monotonic(), Reservation(tokens=80, budget=80)
    assert one.admit(KEY, NOW, most, tick=tick) is None
    assert other.admit(KEY, NOW, most, tick=tick).what == "tokens"
    one.charge(KEY, 5, NOW, most, tick=tick)
    assert other.admit(KEY, NOW, most, tick=tick) is None


def test_the_sum_of_the_ledger_may_lack_what_another_worker_has_just_charged(workers):
    one, other = workers
    tick = time.monotonic()
    other.charge(KEY, 70, NOW, tick=tick)
    assert one.refresh_budget_since(KEY, NOW) == 0.0
    one.set_spent(KEY, 500, NOW, tick=tick)
    assert one.status(KEY, NOW, tick=tick)[2].remaining == 1000 - 500 - 70
    assert other.refresh_budget_since(KEY, NOW + 60) == 0.0
    other.set_spent(KEY, 570, NOW + 60, tick=tick + 60)
    assert one.status(KEY, NOW + 60, tick=tick + 60)[2].remaining == 1000 - 570


KILLED = """
import sys, time
from pathlib import Path
from toolglot.gateway.access.rate_limits import RateLimiter, Reservation
from toolglot.gateway.access.virtual_keys import VirtualKey
from toolglot.gateway.storage.shared_limits import SharedLimitStates
limiter = RateLimiter(states=SharedLimitStates(Path(sys.argv[1])))
key = VirtualKey(id="k", name="k", created=0.0, tpm=100)
assert limiter.admit(key, 0.0, Reservation(tokens=90), tick=time.monotonic()) is None
print("reserved", flush=True)
sys.stdin.read()
"""


def test_what_a_worker_reserved_is_free_when_it_was_killed(tmp_path):
    folder = tmp_path / "limits"
    states = SharedLimitStates(folder)
    limiter, key = RateLimiter(states=states), VirtualKey(id="k", name="k", created=0.0, tpm=100)
    worker = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with worker:
        assert worker.stdout.readline() == b"reserved\n"
        wanted = Reservation(tokens=20)
        assert limiter.admit(key, 0.0, wanted, tick=time.monotonic()) is not None
        os.kill(worker.pid, signal.SIGKILL)
        worker.wait()
    states._lives.clear()  # A second has passed.
    assert limiter.admit(key, 0.0, wanted, tick=time.monotonic()) is None
    states.close()
    assert not list(folder.glob("worker-*"))


def test_a_file_that_was_half_written_is_begun_anew(tmp_path, workers):
    one, _ = workers
    tick = time.monotonic()
    assert one.admit(KEY, NOW, tick=tick) is None
    (file,) = (each for each in (tmp_path / "limits").iterdir() if "worker" not in each.name)
    file.write_bytes(file.read_bytes()[:-3])
    assert one.status(KEY, NOW, tick=tick)[0].remaining == 3


def test_counts_of_another_boot_are_forgotten(workers):
    """The clock begins anew with the machine."""
    one, other = workers
    tick = time.monotonic()
    for _ in range(3):
        one.admit(KEY, NOW, tick=tick + 10_000)
    assert other.admit(KEY, NOW, tick=tick) is None


def test_without_a_folder_each_worker_counts_for_itself(tmp_path, caplog):
    (tmp_path / "limits").write_text("a file")
    states = SharedLimitStates(tmp_path / "limits")
    limiter = RateLimiter(states=states)
    admitted = [limiter.admit(KEY, NOW, tick=1.0) is None for _ in range(4)]
    assert admitted == [True, True, True, False]
    assert [each.levelname for each in caplog.records] == ["ERROR"]
    assert "each worker counts rate limits for itself" in caplog.text
    states.close()
