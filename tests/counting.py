"""Work that is counted, because time depends on what else the machine does."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def count_calls(work: Callable[[], object]) -> int:
    """How many functions are called meanwhile, those written in C among them."""
    count = 0

    def seen(_frame: FrameType, event: str, _function: Any) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def grows_linearly(work: Callable[[int], object], size: int) -> bool:
    """Whether four times as much takes about four times the calls; squared, it takes sixteen.

    What is done once is not counted: the tables are there after the first run.
    """
    work(size)
    small, large = (count_calls(lambda size=each: work(size)) for each in (size, 4 * size))
    return large < 6 * small
