"""How much CPU time something takes, in microseconds: the best of several rounds."""

import time
from collections.abc import Callable
from typing import Any


def micros(work: Callable[[], Any], *, rounds: int = 7, budget: float = 0.05) -> float:
    """Microseconds for one call."""
    work()
    start = time.process_time()
    work()
    count = max(1, int(budget / max(time.process_time() - start, 1e-7)))
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        for _ in range(count):
            work()
        best = min(best, (time.process_time() - start) / count)
    return best * 1e6
