"""What is kept of refusals, for how long, and how a user would write it."""

import tomllib

from toolglot.context import Options
from toolglot.gateway.relay.learned_facts import NOTHING, LearnedFacts, rule_hint
from toolglot.mending import Mending


def mending(**more):
    return Mending(row="r", words="no", **more)


def test_facts_are_kept_by_provider_protocol_and_model():
    learned = LearnedFacts()
    learned.add("a", "p", "m", mending(facts={"limits.least": 16}))
    learned.add("a", "p", "m", mending(options={"tools": "emulated"}))
    known = learned.get("a", "p", "m")
    assert dict(known.items()) == {"limits.least": 16, "tools": "emulated"}
    assert str(known) == "limits.least = 16, tools = 'emulated'"
    options = known.options_for(Options(overrides={"tools": {"most": 9}}))
    assert options.overrides == {"tools.most": 9, "limits.least": 16}
    assert options.tools == "emulated"
    for other in (("b", "p", "m"), ("a", "q", "m"), ("a", "p", "n")):
        assert learned.get(*other) is NOTHING


def test_facts_expire():
    now = [0.0]
    learned = LearnedFacts(kept=10, clock=lambda: now[0])
    learned.add("a", "p", "m", mending(facts={"limits.least": 16}))
    now[0] = 9.9
    assert learned.get("a", "p", "m") is not NOTHING
    now[0] = 10.0
    assert learned.get("a", "p", "m") is NOTHING
    assert len(learned) == 0


def test_those_used_least_lately_go_first():
    learned = LearnedFacts(most=2)
    for model in ("one", "two"):
        learned.add("a", "p", model, mending(facts={"limits.least": 16}))
    learned.get("a", "p", "one")
    learned.add("a", "p", "three", mending(facts={"limits.least": 16}))
    assert [bool(learned.get("a", "p", each).facts) for each in ("one", "two", "three")] == [
        True,
        False,
        True,
    ]


def test_a_provider_whose_configuration_changed_is_forgotten():
    learned = LearnedFacts()
    for name in ("a", "b"):
        learned.add(name, "p", "m", mending(facts={"limits.least": 16}))
    learned.keep(["b"])
    assert learned.get("a", "p", "m") is NOTHING
    assert learned.get("b", "p", "m") is not NOTHING


def test_the_hint_is_toml():
    facts = {
        "limits.least": 16,
        "schema.object_root": True,
        "sampling.dropped": ["a", 'b"c'],
        "calls.id_rule": {"chars": "a-z", "first": None, "most": 9},
        "sampling.temperature": [0.0, 1.5],
    }
    hint = rule_hint("them", mending(facts=facts, options={"tools": "emulated"}))
    rules, _, provider = hint.partition(" and ")
    assert provider == '[providers.them] tools = "emulated"'
    head, _, entries = rules.partition("] ")
    assert head == "[providers.them.rules"
    read = tomllib.loads(entries.replace("; ", "\n"))
    assert read == {**facts, "calls.id_rule": {"chars": "a-z", "most": 9}}
