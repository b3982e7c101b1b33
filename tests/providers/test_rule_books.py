"""Rule books: read, checked, and every rule of every book counts."""

import re

import pytest

from toolglot import profiles as profile_book
from toolglot.profiles import (
    UnknownProviderError,
    families,
    family_of,
    get_profile,
    profiles,
    register_profile,
)
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
from toolglot.providers.effective_surface import _Key, _made
from toolglot.providers.facts import facts
from toolglot.registry import PROTOCOLS, get_protocol

ALL = [(name, rule) for name in book_names() for rule in load_book(name).rules]
WHOLE = 'id = "R-1"\nset = { "limits.least" = 16 }\nsource = "a page"\ndate = "2026-11-16"\n'


def spelled(pattern):
    """Names that a pattern fits."""
    plain = re.sub(r"\[(.).*?\]", r"\1", pattern)
    return [plain.replace("*", ""), plain.replace("*", "x"), plain.replace("*", "-x")]


def models_of(rule):
    """Names that the rule holds for: of its own patterns, and of all families of models."""
    patterns = [*rule.models, "any-model", *(each for one in families() for each in one.match)]
    names = [name for pattern in patterns for name in spelled(pattern)]
    return [name for name in names if rule.holds_for(rule.protocol, name)]


def without(provider, protocol, model, left_out):
    """The surface, if there were not that rule."""
    rules = tuple(each for each in rules_for(provider, protocol, model) if each is not left_out)
    return _made(_Key(protocol, family_of(model), rules, None))


def fact_of(surface, name):
    group, _, last = name.rpartition(".")
    return getattr(getattr(surface, group) if group else surface, last)


@pytest.mark.parametrize(("name", "rule"), ALL, ids=[f"{name} {rule.id}" for name, rule in ALL])
def test_every_rule_holds_for_some_model_and_changes_something(name, rule):
    models = models_of(rule)
    spoken = (rule.protocol,) if rule.protocol else PROTOCOLS
    for protocol in spoken:
        assert rule in rules_for(name, protocol, models[0])
    if rule.speaks:
        assert protocols_for(name, models[0]) == rule.speaks
    for fact in (*rule.set, *rule.add):
        assert any(
            fact_of(surface_for(name, protocol, model), fact) != fact_of(other, fact)
            for protocol in spoken
            for model in models
            for other in (get_protocol(protocol).SURFACE, without(name, protocol, model, rule))
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


def test_a_provider_without_a_book_goes_by_that_of_unknown_servers(monkeypatch):
    monkeypatch.setattr(profile_book, "_profiles", {})
    register_profile("reef", {"endpoints": [], "auth": {"header": "Authorization"}})
    assert load_book("reef").provider == UNKNOWN
    assert rules_for("reef", "openai-chat", "m") == rules_for(UNKNOWN, "openai-chat", "m")
    assert rules_for("reef", "anthropic", "m") == ()


def test_a_provider_has_several_names_and_a_wrong_one_is_an_error():
    assert load_book("gemini") == load_book("google")
    assert rules_for("kimi", "openai-chat", "kimi-k3") == rules_for(
        "moonshot", "openai-chat", "kimi-k3"
    )
    with pytest.raises(UnknownProviderError, match="opnai"):
        surface_for("opnai", "openai-chat", "gpt-5.4")


def test_models_match_behind_what_clouds_put_before_them():
    ids = {rule.id for rule in rules_for("bedrock", "anthropic", "us.anthropic.claude-opus-4-1-v1")}
    assert {"AN-019", "AN-038"} <= ids


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
        ("[[rules]]\n" + WHOLE + "models = ['']", "rule R-1: models: '' is no pattern of names"),
        ("[[rules]]\n" + WHOLE + "models = ['a[1']", "models: 'a[1' is no pattern of names"),
        ("[[rules]]\n" + WHOLE + "unless = ['b]']", "unless: 'b]' is no pattern of names"),
        (
            "[[rules]]\n" + WHOLE + "models = 'a*'",
            "rule R-1: Expected `array`, got `str` - at `$",
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
