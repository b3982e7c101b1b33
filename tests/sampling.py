"""A sample of a cross product, for tests of which each case takes long."""

from collections.abc import Iterable
from itertools import product
from typing import Any


def sampled(every: int, *axes: Iterable[Any]) -> list[tuple[Any, ...]]:
    """The cases of a product whose places on all axes add up to a multiple of `every`.

    It is the same in every run. Each value of each axis is in it; and so is each pair of values of
    two axes if a third has at least `every` values.
    """
    lists = [list(axis) for axis in axes]
    found = [
        tuple(value for _, value in case)
        for case in product(*map(enumerate, lists))
        if sum(place for place, _ in case) % every == 0
    ]
    for number, axis in enumerate(lists):
        missing = [value for value in axis if all(case[number] is not value for case in found)]
        assert missing == [], f"{missing} would not be tested"
    return found
