"""How long something takes, in microseconds: the best of several rounds."""

import time
from collections.abc import Callable
from typing import Any


def micros(work: Callable[[], Any], *, rounds: int = 7, budget: float = 0.05) -> float:
    """Microseconds for one call."""
    work()
    start = time.perf_counter()
    work()
    count = max(1, int(budget / max(time.perf_counter() - start, 1e-7)))
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(count):
            work()
        best = min(best, (time.perf_counter() - start) / count)
    return best * 1e6
