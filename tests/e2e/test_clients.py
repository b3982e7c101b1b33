"""Real clients through the gateway, with every upstream, in every scenario (S1-45)."""

import asyncio

import pytest
from tests.e2e import through
from tests.e2e.clients import UnavailableError, program
from tests.e2e.trial import Trial, attempt
from tests.upstreams.scenarios import SCENARIOS

from toolglot.cli.clients import CLIENTS
from toolglot.registry import PROTOCOLS

TRIALS = [
    Trial(client, protocol, upstream, scenario)
    for scenario in SCENARIOS
    for client, row in CLIENTS.items()
    for protocol in row.setups
    for upstream in PROTOCOLS
]

SMOKE = [
    Trial("claude", "anthropic", "openai-chat", "parallel"),
    Trial("claude", "anthropic", "gemini", "sloppy"),
    Trial("claude", "anthropic", "openai-responses", "cut"),
    Trial("codex", "openai-responses", "anthropic", "parallel"),
    Trial("codex", "openai-responses", "ollama", "image"),
    Trial("gemini", "gemini", "openai-responses", "parallel"),
    Trial("gemini", "gemini", "anthropic", "one-tool"),
    Trial("opencode", "anthropic", "gemini", "parallel"),
    Trial("opencode", "openai-responses", "ollama", "one-tool"),
    Trial("opencode", "openai-chat", "openai-responses", "image"),
    Trial("qwen", "anthropic", "openai-chat", "parallel"),
    Trial("qwen", "openai-chat", "gemini", "one-tool"),
]
"""Each client with two upstreams that are not its own, and each upstream twice."""

KNOWN: dict[Trial, str] = {}
"""What does not work, and why it cannot."""


def judge(trial, tmp_path, record_property):
    try:
        program(trial.client)
    except UnavailableError as error:
        pytest.skip(str(error))
    outcome = asyncio.run(attempt(trial, tmp_path, through.gateway))
    parts = (trial.client, trial.protocol, trial.upstream, trial.scenario)
    record_property("trial", parts)
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
    for client in CLIENTS:
        foreign = {t.upstream for t in SMOKE if t.client == client and t.upstream != t.protocol}
        assert len(foreign) >= 2, client
    for upstream in PROTOCOLS:
        assert sum(trial.upstream == upstream for trial in SMOKE) >= 2, upstream
