"""A sample of the tests over pairs of protocols, and the rest."""

from types import SimpleNamespace

from tests.sampling import in_sample

from toolglot.registry import PROTOCOLS


def cases(name, *params):
    return [SimpleNamespace(nodeid=f"{name}[{each}]") for each in params]


PAIRS = [f"case-{one}-{two}-{at}" for one in PROTOCOLS for two in PROTOCOLS for at in range(8)]


def test_nothing_is_lost_and_nothing_runs_twice():
    items = cases("t::pairs", *PAIRS) + cases("t::few", *PAIRS[:50]) + cases("t::words", *range(99))
    sample, rest = in_sample(items)
    assert sorted(each.nodeid for each in (*sample, *rest)) == sorted(each.nodeid for each in items)
    assert {each.nodeid.partition("[")[0] for each in rest} == {"t::pairs"}


def test_every_pair_is_in_the_sample():
    sample, _ = in_sample(cases("t::pairs", *PAIRS))
    assert 0.2 < len(sample) / len(PAIRS) < 0.45
    seen = {each.nodeid.rpartition("-")[0] for each in sample}
    assert len(seen) > 0.9 * len(PROTOCOLS) ** 2
