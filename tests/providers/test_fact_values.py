"""Values of facts that have the right type and mean nothing."""

import pytest

from toolglot.providers import check_overrides
from toolglot.providers.facts import read_fact

RULE = {"chars": "a-zA-Z0-9_-", "most": 64}


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("tools.most", 0, "less than 1"),
        ("tools.most", -3, "less than 1"),
        ("limits.least", -1, "less than 1"),
        ("sampling.most_stops", -1, "less than 0"),
        ("sampling.temperature", [2, 0], "more than the highest"),
        ("sampling.ranges", {"top_p": [1, 0]}, "more than the highest"),
        ("sampling.ranges", {"top_pp": [0, 1]}, "'top_pp' is none of"),
        ("sampling.lengths", {"user": 0}, "less than 1"),
        ("sampling.metadata", {"pair": 3}, "'pair' is none of"),
        ("sampling.renamed", {"sed": "random_seed"}, "'sed' is none of"),
        ("sampling.dropped", ["temprature"], "perhaps temperature"),
        ("sampling.user_chars", "[", "no list of characters"),
        ("reasoning.efforts", ["lots"], "'lots' is none of"),
        ("reasoning.efforts", ["high", "low"], "from least to most: low, high"),
        ("tools.name_rule", {**RULE, "chars": "z-a"}, "no list of characters"),
        ("tools.name_rule", {**RULE, "chars": ""}, "no list of characters"),
        ("calls.id_rule", {**RULE, "most": 0}, "the longest is 0"),
        ("calls.id_rule", {**RULE, "least": 9, "most": 8}, "the shortest 9"),
        ("media.accepted", {"usr": ["text"]}, "'usr' is none of"),
        ("media.accepted", {"user": ["picture"]}, "'picture' is none of"),
        ("media.types", {"film": ["video/mp4"]}, "'film' is none of"),
        ("tools.choices", ["any"], "`auto` is missing"),
        ("form.path", "/x/{modell}", "only {model} is filled in"),
    ],
)
def test_a_value_that_means_nothing_is_an_error(name, value, words):
    with pytest.raises(ValueError) as caught:
        read_fact(name, value)
    assert words in str(caught.value)


def test_a_setting_of_the_wire_may_have_any_name():
    assert read_fact("sampling.dropped", ["safe_prompt", "top_k"]) == {"safe_prompt", "top_k"}


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"limits": {"least": 100, "most": 10}}, "limits.most"),
        ({"limits.least": 100, "limits.most_whole": 10}, "limits.most_whole"),
        ({"reasoning.least_budget": 9, "reasoning.most_budget": 8}, "reasoning.most_budget"),
    ],
)
def test_facts_that_contradict_each_other_are_an_error(given, key):
    [(name, words)] = check_overrides(given)
    assert name == key
    assert "is less than" in words
