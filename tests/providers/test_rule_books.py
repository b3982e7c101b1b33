"""Rule books: read, checked, and every rule of every book counts."""

import pytest

from toolglot.profiles import get_profile, profiles
from toolglot.providers import (
    UNKNOWN,
    RuleBookError,
    book_names,
    load_book,
    protocols_for,
    read_book,
    rules_for,
    surface_for,
)
from toolglot.providers.facts import facts
from toolglot.registry import PROTOCOLS, get_protocol
from toolglot.surface import differences

ALL = [(name, rule) for name in book_names() for rule in load_book(name).rules]
WHOLE = 'id = "R-1"\nset = { "limits.least" = 16 }\nsource = "a page"\ndate = "2026-11-16"\n'


def model_of(rule):
    """A name that the rule holds for."""
    if not rule.models:
        return "any-model"
    return next(
        name
        for pattern in rule.models
        for name in (pattern.replace("*", ""), pattern.replace("*", "x"))
        if rule.holds_for(rule.protocol, name)
    )


@pytest.mark.parametrize(("name", "rule"), ALL, ids=[f"{name} {rule.id}" for name, rule in ALL])
def test_every_rule_holds_for_some_model_and_changes_something(name, rule):
    model = model_of(rule)
    spoken = (rule.protocol,) if rule.protocol else get_profile(name).protocols
    for protocol in spoken:
        assert rule in rules_for(name, protocol, model)
    if rule.speaks:
        assert protocols_for(name, model) == rule.speaks
    for fact in (*rule.set, *rule.add):
        assert any(
            fact in differences(surface_for(name, protocol, model), get_protocol(protocol).SURFACE)
            for protocol in spoken
        ), fact


@pytest.mark.parametrize(("name", "rule"), ALL, ids=[f"{name} {rule.id}" for name, rule in ALL])
def test_every_rule_says_where_and_when_it_was_read(name, rule):
    assert rule.source
    assert rule.date[:2] == "20"
    assert len(rule.words) < 200


def test_every_book_is_of_a_provider_with_a_profile():
    known = {profile.name for profile in profiles()}
    assert {*book_names()} - {UNKNOWN} <= known


def test_what_a_book_speaks_its_provider_offers():
    for name in {*book_names()} - {UNKNOWN}:
        assert {*load_book(name).speaks} <= {*get_profile(name).protocols}, name


def test_a_provider_without_a_book_goes_by_that_of_unknown_servers():
    assert load_book("reef").provider == UNKNOWN
    assert rules_for("reef", "openai-chat", "m") == rules_for(UNKNOWN, "openai-chat", "m")
    assert rules_for("reef", "anthropic", "m") == ()


def test_models_match_in_any_case_and_behind_a_vendor():
    ids = {rule.id for rule in rules_for("openai", "openai-chat", "OpenAI/GPT-5.4")}
    assert {"OAI-010", "OAI-040"} <= ids
    assert "OAI-041" not in ids


def test_some_models_can_be_left_out():
    def dropped(model):
        return surface_for("openai", "openai-chat", model).sampling.dropped

    assert "stop" in dropped("o3")
    assert "stop" not in dropped("o3-mini")


def test_a_book_can_be_like_another():
    assert load_book("azure").all_rules()[0] is load_book("openai").rules[0]
    assert surface_for("azure", "openai-responses", "gpt-5.4").limits.least == 16


def test_which_protocol_a_model_is_asked_in():
    assert protocols_for("openai", "gpt-5.4") == ("openai-responses", "openai-chat")
    assert protocols_for("openai", "gpt-5.1-codex") == ("openai-responses",)
    assert protocols_for("deepseek", "deepseek-chat") == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("= 3", "b.toml: "),
        ("spokes = []", "b.toml: Object contains unknown field `spokes`"),
        ('speaks = ["telex"]', "b.toml: speaks: 'telex' is none of"),
        ("[[rules]]\nid = 'R-1'", "b.toml: rule R-1: Object missing required field `source`"),
        ("[[rules]]\nsource = 'x'", "b.toml: rule (without id): "),
        ("[[rules]]\n" + WHOLE + "sets = 3", "rule R-1: Object contains unknown field `sets`"),
        ("[[rules]]\n" + WHOLE.replace("a page", ""), "rule R-1: source: a rule names where"),
        ("[[rules]]\n" + WHOLE.replace("set =", "#"), "rule R-1: it changes nothing"),
        ("[[rules]]\n" + WHOLE + "protocol = 'telex'", "rule R-1: protocol: 'telex' is none of"),
        (
            "[[rules]]\n" + WHOLE.replace("least", "leasts"),
            "limits.leasts: there is no such fact; ",
        ),
        ("[[rules]]\n" + WHOLE.replace("16", "'x'"), "rule R-1: limits.least: Expected `int | nul"),
        (
            "[[rules]]\n" + WHOLE.replace("set =", "add ="),
            "limits.least: only sets can be added to",
        ),
        (("[[rules]]\n" + WHOLE) * 2, "rule R-1: id: another rule has it already"),
    ],
)
def test_an_error_names_file_rule_and_key(text, words):
    with pytest.raises(RuleBookError) as caught:
        read_book("b.toml", text)
    assert str(caught.value).startswith("b.toml: ")
    assert words in str(caught.value)


def test_a_fact_that_is_close_is_named():
    with pytest.raises(RuleBookError, match=r"perhaps tools\.kinds\?"):
        read_book("b.toml", "[[rules]]\n" + WHOLE.replace("limits.least", "tools.kind"))


def test_all_facts_are_facts_of_a_surface():
    for name in facts():
        for codec in PROTOCOLS.values():
            group, _, fact = name.rpartition(".")
            assert hasattr(getattr(codec.SURFACE, group) if group else codec.SURFACE, fact)
