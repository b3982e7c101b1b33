"""Facts by their dotted names."""

import pytest

from toolglot.providers.facts import flatten, read_fact, with_facts
from toolglot.registry import get_protocol
from toolglot.surface import IdentifierRule


def test_values_become_those_of_the_surface():
    assert read_fact("tools.kinds", ["function"]) == frozenset({"function"})
    assert read_fact("sampling.temperature", [0, 1]) == (0.0, 1.0)
    rule = {"chars": "a-z", "least": 9, "most": 9}
    assert read_fact("calls.id_rule", rule) == IdentifierRule(chars="a-z", least=9, most=9)
    assert read_fact("limits.most", "any") is None


def test_a_wrong_value_is_an_error():
    with pytest.raises(ValueError, match="Expected `int"):
        read_fact("limits.most", "many")
    with pytest.raises(ValueError, match="no such fact"):
        read_fact("messages.path", "input")


def test_tables_inside_of_tables_are_dotted_names():
    rule = {"most": 9}
    nested = {"calls": {"id_rule": rule}, "tools.most": 3, "outputs": ["text"]}
    assert flatten(nested) == {"calls.id_rule": rule, "tools.most": 3, "outputs": ["text"]}


def test_facts_of_the_surface_itself():
    surface = get_protocol("openai-chat").SURFACE
    assert with_facts(surface, {"outputs": ["text"]}).outputs == {"text"}
    joined = with_facts(surface, {"tools.kinds": ["namespace"]}, lambda old, new: old | new)
    assert joined.tools.kinds == {"function", "custom", "namespace"}
