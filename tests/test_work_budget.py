"""Translations take no more steps than they did: a guard that no busy machine disturbs."""

import json

import pytest
from bench import work

BUDGET = json.loads(work.BUDGET.read_text())
MORE = 1.15
FEW = 10
"""Steps that may always be added: a share of little is less than one line of code."""


@pytest.mark.skipif(BUDGET["python"] != work.PYTHON, reason="steps differ between Pythons")
def test_no_case_takes_more_than_its_budget():
    allowed, counted = BUDGET["steps"], dict(work.cases())
    assert counted.keys() == allowed.keys(), "make budget"
    over = {
        name: f"{count:,.0f} steps, {count / allowed[name] - 1:+.0%}"
        for name, count in counted.items()
        if count > MORE * allowed[name] + FEW
    }
    assert not over, f"if that is worth it, run: make budget\n{json.dumps(over, indent=1)}"


def test_a_step_is_one_instruction():
    assert 100 < work.steps(lambda: [each for each in range(50)]) < 500  # noqa: C416
    once, twice = (work.steps(lambda n=n: sum(i for i in range(n))) for n in (100, 200))
    assert 1.8 < twice / once < 2.2


def test_a_request_costs_the_same_in_every_spelling():
    """Only for pairs that are translated: in its own protocol a request passes unread."""
    for name, count in BUDGET["steps"].items():
        kind, _, spelling = name.partition(", ")
        if kind.startswith("request ") and spelling in work.SPELLINGS:
            cheapest = min(BUDGET["steps"][f"{kind}, {each}"] for each in work.SPELLINGS)
            assert count <= 1.5 * cheapest + 200, name
