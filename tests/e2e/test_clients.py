"""Real clients through the gateway, with every upstream, in every scenario (S1-45).

The upstreams are strict simulations of providers, with real names of models, and `toolglot run`
sends its own small request first.
"""

import asyncio

import pytest
from tests.e2e import through
from tests.e2e.clients import TRIED, UnavailableError, program
from tests.e2e.trial import Trial, attempt
from tests.upstreams.scenarios import SCENARIOS
from tests.upstreams.strict.upstreams import (
    ANTHROPIC,
    BEDROCK,
    BY_PROTOCOL,
    GOOGLE,
    IN_TRIALS,
    OLLAMA,
    OPENAI_CHAT,
    OPENAI_RESPONSES,
)

from toolglot.cli.clients import CLIENTS

ONE_EACH = tuple(each for each in BY_PROTOCOL.values() if each in IN_TRIALS)
"""A provider for each protocol that clients were tried with."""

OWN_MODELS = {"codex": ("gpt-5.5", "gpt-6.1-sol")}
"""Models of its own for which a client sends other tools than for models that it does not know."""
BLIND = frozenset({("codex", "gpt-6.1-sol", "image")})
"""Where a client offers no tool that looks at pictures: it runs code for everything."""
AT_MANY = ("one-tool", "parallel")
"""Scenarios that are played with every strict upstream; the others with one for each protocol."""

TRIALS = [
    Trial(client, protocol, upstream, scenario, asks)
    for scenario in SCENARIOS
    for client, row in CLIENTS.items()
    if client in TRIED
    for asks in ("", *OWN_MODELS.get(client, ()))
    if (client, asks, scenario) not in BLIND
    for protocol in row.setups
    for upstream in (IN_TRIALS if scenario in AT_MANY else ONE_EACH)
]

SMOKE = [
    Trial("claude", "anthropic", BEDROCK, "parallel"),
    Trial("codex", "openai-responses", BEDROCK, "one-tool"),
    Trial("claude", "anthropic", OPENAI_CHAT, "parallel"),
    Trial("claude", "anthropic", GOOGLE, "sloppy"),
    Trial("claude", "anthropic", OPENAI_RESPONSES, "cut"),
    Trial("codex", "openai-responses", ANTHROPIC, "parallel"),
    Trial("codex", "openai-responses", OLLAMA, "image"),
    Trial("codex", "openai-responses", ANTHROPIC, "one-tool", "gpt-5.5"),
    Trial("gemini", "gemini", OPENAI_RESPONSES, "parallel"),
    Trial("gemini", "gemini", ANTHROPIC, "one-tool"),
    Trial("opencode", "anthropic", GOOGLE, "parallel"),
    Trial("opencode", "openai-responses", OLLAMA, "one-tool"),
    Trial("opencode", "openai-chat", OPENAI_RESPONSES, "image"),
    Trial("qwen", "anthropic", OPENAI_CHAT, "parallel"),
    Trial("qwen", "openai-chat", GOOGLE, "one-tool"),
]
"""Each client with two upstreams that are not its own, and each upstream twice."""

KNOWN: dict[Trial, str] = {
    Trial("qwen", "openai-chat", each, "parallel"): (
        "Qwen Code 0.15.10 takes what was thought out of requests for models of this name"
    )
    for each in IN_TRIALS
    if each.provider == "mistral"
}
"""What does not work, and why it cannot."""


def judge(trial, tmp_path, record_property):
    try:
        program(trial.client)
    except UnavailableError as error:
        pytest.skip(str(error))
    outcome = asyncio.run(attempt(trial, tmp_path, through.gateway))
    record_property("trial", (trial.row, trial.upstream.title, trial.scenario))
    record_property("outcome", KNOWN.get(trial) or outcome.reason or "ok")
    tail = f"{outcome.ran.out[-1500:]}\n{outcome.ran.err[-1500:]}"
    if trial in KNOWN:
        assert outcome.reason, f"works now: take it out of KNOWN\n{tail}"
        return
    assert not outcome.reason, f"{outcome.reason} (exit code {outcome.ran.code})\n{tail}"


# The first one installs its client.
pytestmark = pytest.mark.timeout(600)


@pytest.mark.e2e
@pytest.mark.parametrize("trial", TRIALS, ids=str)
def test_trial(trial, tmp_path, record_property):
    judge(trial, tmp_path, record_property)


@pytest.mark.e2e_smoke
@pytest.mark.parametrize("trial", SMOKE, ids=str)
def test_smoke(trial, tmp_path, record_property):
    judge(trial, tmp_path, record_property)


@pytest.mark.e2e_smoke
def test_smoke_is_wide_enough():
    for client in TRIED:
        trials = [t for t in SMOKE if t.client == client and t.upstream.protocol != t.protocol]
        assert len({t.upstream for t in trials}) >= 2, client
    for upstream in ONE_EACH:
        assert sum(trial.upstream == upstream for trial in SMOKE) >= 2, upstream
