"""`toolglot capabilities`: what is known about providers."""

import json

import pytest

from toolglot.cli import main
from toolglot.profiles import get_profile, profiles


def test_all_providers_fit_into_a_hundred_columns(capsys, monkeypatch):
    """D-18: what is known today, and what is not, in one table."""
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["capabilities"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line) for line in lines) <= 100
    named = [line.split()[0] for line in lines[1:] if line and not line.startswith(("?", "many"))]
    assert named[: len(profiles())] == [profile.name for profile in profiles()]
    openai = next(line for line in lines if line.startswith("openai "))
    assert openai.split() == [
        "openai",
        "chat,",
        "responses",
        "json",
        "yes",
        "yes",
        "deltas",
        "128",
        "encrypted",
    ]
    cerebras = next(line for line in lines if line.startswith("cerebras"))
    assert cerebras.split()[3] == "?"


def test_one_provider_is_shown_with_its_sources(capsys, monkeypatch):
    """D-18: every group of facts says where and when it was read."""
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["capabilities", "openrouter"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("openrouter: OpenRouter\n")
    assert "optional: HTTP-Referer, X-Title" in " ".join(out.split())
    profile = get_profile("openrouter")
    for facts in (*profile.endpoints, profile.auth, profile.tools, *profile.quirks):
        assert f"read {facts.date}: {facts.source}" in out
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
    assert one["reasoning"]["must_return"] is True


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
