"""Two parts of the tests that go over pairs of protocols: a sample, and the rest.

With seven protocols half of all tests are cases of a few functions, each over fixtures and targets.
`make test` runs a third of such cases, `make pairs` the others; together they are all of them.
"""

from collections import defaultdict
from collections.abc import Iterable
from zlib import crc32

import pytest

from toolglot.registry import PROTOCOLS

MANY = 60
"""Cases of a function above which only some of them are in the sample."""
SHARE = 3
"""One of so many is."""


def in_sample(items: Iterable[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """The tests of the sample, and the others. A test has its place by its name."""
    functions = defaultdict(list)
    for item in items:
        functions[item.nodeid.partition("[")[0]].append(item)
    sample, rest = list[pytest.Item](), list[pytest.Item]()
    for cases in functions.values():
        if len(cases) <= MANY or not _over_protocols(cases):
            sample += cases
            continue
        for item in cases:
            (rest if crc32(item.nodeid.encode()) % SHARE else sample).append(item)
    return sample, rest


def _over_protocols(cases: list[pytest.Item]) -> bool:
    """Whether protocols are what most cases differ in."""
    naming = sum(any(name in item.nodeid for name in PROTOCOLS) for item in cases)
    return naming > len(cases) * 0.9
