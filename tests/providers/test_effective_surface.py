"""The surface as one model of one provider accepts it."""

from toolglot.providers import check_overrides, surface_for
from toolglot.registry import get_protocol

CHAT = get_protocol("openai-chat").SURFACE


def test_without_rules_it_is_that_of_the_protocol():
    assert surface_for(None, "openai-chat", "gpt-5.4") is CHAT
    anthropic = get_protocol("anthropic").SURFACE
    assert surface_for("_unknown", "anthropic", "m") is anthropic


def test_equal_rules_give_the_same_object():
    one = surface_for("openai", "openai-chat", "gpt-5.4")
    assert one is surface_for("openai", "openai-chat", "openai/gpt-5.4")
    assert one is not surface_for("openai", "openai-chat", "gpt-5")


def test_later_rules_win_and_sets_grow():
    surface = surface_for("openai", "openai-responses", "gpt-6-astra")
    assert surface.sampling.dropped == {"temperature", "top_p", "top_k"}
    assert surface.reasoning.efforts[0] == "low"


def test_overrides_are_laid_over_rules():
    over = {"tools.kinds": ["function", "custom"], "limits": {"least": 2}}
    surface = surface_for("llama.cpp", "openai-chat", "m", over)
    assert surface.tools.kinds == {"function", "custom"}
    assert surface.limits.least == 2
    assert surface is surface_for("llama.cpp", "openai-chat", "m", dict(over))


def test_any_lifts_a_restriction():
    lifted = surface_for("vllm", "openai-responses", "m", {"messages.items": "any"})
    assert lifted.messages.items is None
    assert surface_for("vllm", "openai-responses", "m").messages.items == frozenset()


def test_overrides_without_rules():
    assert surface_for(None, "openai-chat", "m", {"limits.most": 9}).limits.most == 9
    assert surface_for(None, "openai-chat", "m", {"limits.most": "any"}) is CHAT


def test_wrong_overrides_are_named():
    wrong = {"tools.kinds": "function", "tools": {"kind": []}, "limits.most": 3}
    assert dict(check_overrides(wrong)) == {
        "tools.kinds": "Expected `array`, got `str`",
        "tools.kind": "there is no such fact; perhaps tools.kinds?",
    }
