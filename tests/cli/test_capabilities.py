"""`toolglot capabilities`: what is known about providers."""

import json

import pytest

from toolglot.cli import main
from toolglot.profiles import get_profile, profiles
from toolglot.providers import load_book, rules_for


def test_all_providers_fit_into_a_hundred_columns(capsys, monkeypatch):
    """How each is asked, and how many rules there are for it."""
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["capabilities"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line) for line in lines) <= 100
    named = [line.split()[0] for line in lines[1:] if line]
    assert named[: len(profiles())] == [profile.name for profile in profiles()]
    openai = next(line for line in lines if line.startswith("openai "))
    count = str(len(load_book("openai").rules))
    assert openai.split() == ["openai", "responses,", "chat", "OPENAI_API_KEY", count]


def test_one_provider_is_shown_with_its_sources(capsys, monkeypatch):
    """D-18: every group of facts says where and when it was read."""
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["capabilities", "openrouter"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("openrouter: OpenRouter\n")
    assert "optional: HTTP-Referer, X-Title" in " ".join(out.split())
    profile = get_profile("openrouter")
    for facts in (*profile.endpoints, profile.auth, *load_book("openrouter").rules):
        assert f"read {facts.date}: {facts.source}" in " ".join(out.split())
    assert all(note in " ".join(out.split()) for note in profile.notes)
    assert max(len(line) for line in out.splitlines()) <= 100


def test_optional_keys_are_called_so(capsys):
    assert main(["capabilities", "ollama"]) == 0
    assert "only if the server asks for one" in " ".join(capsys.readouterr().out.split())


def test_fixed_headers_are_shown(capsys):
    assert main(["capabilities", "claude"]) == 0
    assert "anthropic-version: 2023-06-01" in " ".join(capsys.readouterr().out.split())


def test_json_is_what_the_profiles_say(capsys):
    assert main(["capabilities", "--json"]) == 0
    every = json.loads(capsys.readouterr().out)
    assert [entry["name"] for entry in every] == [profile.name for profile in profiles()]
    assert main(["capabilities", "kimi", "--json"]) == 0
    one = json.loads(capsys.readouterr().out)
    assert one["name"] == "moonshot"
    assert {rule["id"] for rule in one["rules"]} >= {"MO-03", "MO-37"}


def test_an_unknown_provider_is_a_wrong_call(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["capabilities", "nope"])
    assert stopped.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "no profile for provider nope; known: openai, anthropic" in captured.err


def test_the_rules_that_hold_for_a_model_are_shown_with_their_sources(capsys):
    assert main(["capabilities", "openai", "--model", "gpt-5.4"]) == 0
    shown = capsys.readouterr().out
    assert "OAI-040: tools.effort = drop" in shown
    assert "https://github.com/pipecat-ai/pipecat/issues/4043" in shown
    assert "OAI-041" not in shown
    assert main(["capabilities", "openai", "--model", "gpt-5.6", "--json"]) == 0
    ids = {rule["id"] for rule in json.loads(capsys.readouterr().out)["rules"]}
    assert "OAI-041" in ids
    assert "OAI-040" not in ids


def test_only_what_is_asked_of_a_model_is_shown(capsys):
    """Rules and addresses of protocols in which the model is not asked are left out."""
    assert main(["capabilities", "vertex", "--model", "claude-sonnet-4-5@20250929"]) == 0
    shown = capsys.readouterr().out
    assert "anthropic at https://aiplatform" in " ".join(shown.split())
    assert "AP-015-form" in shown
    assert "GE-" not in shown
    assert main(["capabilities", "openai", "--model", "gpt-5.4", "--protocol", "openai-chat"]) == 0
    shown = capsys.readouterr().out
    assert "OAI-080" in shown
    assert "OAI-012" not in shown


def test_a_model_is_one_of_a_provider(capsys):
    with pytest.raises(SystemExit):
        main(["capabilities", "--model", "gpt-5.4"])
    assert "need the name of a provider" in capsys.readouterr().err


def test_what_is_shown_is_what_is_used(capsys):
    for provider, model in (
        ("openai", "o3"),
        ("bedrock", "us.anthropic.claude-opus-5"),
        ("groq", "m"),
    ):
        assert main(["capabilities", provider, "--model", model, "--json"]) == 0
        shown = json.loads(capsys.readouterr().out)
        used = {rule.id for each in shown["asked_in"] for rule in rules_for(provider, each, model)}
        assert {rule["id"] for rule in shown["rules"]} == used
