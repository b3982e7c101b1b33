"""Reasoning on, off or with a budget reaches servers of Chat Completions in their own member."""

import json

import pytest

from toolglot import translate_request
from toolglot.translate import decode_request, encode_request

ASK = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
CLAUDE = {**ASK, "max_tokens": 20000}
OFF, ON = {"type": "disabled"}, {"type": "enabled", "budget_tokens": 5000}
MEMBERS = ("thinking", "enable_thinking", "thinking_budget", "chat_template_kwargs", "reasoning",
           "reasoning_effort")  # fmt: skip
TEMPLATE_OFF = {"enable_thinking": False, "thinking": False}
TEMPLATE_ON = {"enable_thinking": True, "thinking": True}


def asked(body, source, provider, model, target="openai-chat"):
    """What a request that leaves says of reasoning, and the codes of the notes."""
    wire, receipt = translate_request(
        json.dumps(body), source=source, target=target, provider=provider, model=model
    )
    said = {key: wire.body[key] for key in MEMBERS if key in wire.body}
    return said, [note.code for note in receipt.notes]


SERVERS = [
    ("deepseek", "deepseek-v4-pro", {"thinking": OFF},
     {"thinking": {"type": "enabled"}, "reasoning_effort": "medium"}),
    ("zai", "glm-4.7", {"thinking": OFF}, {"thinking": {"type": "enabled"}}),
    ("zai", "glm-5.3", {"reasoning_effort": "low"}, {"reasoning_effort": "low"}),
    ("moonshot", "kimi-k2.6", {"thinking": OFF}, {"thinking": {"type": "enabled"}}),
    ("moonshot", "kimi-k2.7-code", {}, {}),
    ("moonshot", "kimi-k3", {"reasoning_effort": "low"}, {"reasoning_effort": "low"}),
    ("minimax", "MiniMax-M3", {"thinking": OFF}, {"thinking": {"type": "adaptive"}}),
    ("minimax", "MiniMax-M2.5", {}, {}),
    ("qwen", "qwen3.5-plus", {"enable_thinking": False},
     {"enable_thinking": True, "thinking_budget": 5000}),
    ("qwen", "qwen3-235b-a22b-thinking-2507", {"enable_thinking": True, "thinking_budget": 1},
     {"enable_thinking": True, "thinking_budget": 5000}),
    ("together", "Qwen/Qwen3.5-397B", {"reasoning": {"enabled": False}},
     {"reasoning_effort": "medium"}),
    ("together", "openai/gpt-oss-120b", {"reasoning_effort": "low"},
     {"reasoning_effort": "medium"}),
    ("openrouter", "anthropic/claude-sonnet-4.5", {"reasoning": {"enabled": False}},
     {"reasoning": {"max_tokens": 5000}}),
    ("vllm", "Qwen/Qwen3-32B", {"chat_template_kwargs": TEMPLATE_OFF},
     {"chat_template_kwargs": TEMPLATE_ON, "reasoning_effort": "medium"}),
    ("sglang", "Qwen/Qwen3-32B", {"chat_template_kwargs": TEMPLATE_OFF},
     {"chat_template_kwargs": TEMPLATE_ON, "reasoning_effort": "medium"}),
    ("openai", "gpt-5.4", {"reasoning_effort": "none"}, {"reasoning_effort": "medium"}),
    ("cerebras", "gpt-oss-120b", {"reasoning_effort": "low"}, {"reasoning_effort": "medium"}),
    ("llama.cpp", "qwen3", {"chat_template_kwargs": TEMPLATE_OFF},
     {"chat_template_kwargs": TEMPLATE_ON, "reasoning_effort": "medium"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("provider", "model", "off", "on"), SERVERS, ids=[f"{each[0]}-{each[1]}" for each in SERVERS]
)
def test_a_client_of_messages_turns_it_off_and_on(provider, model, off, on):
    assert asked({**CLAUDE, "thinking": OFF}, "anthropic", provider, model)[0] == off
    assert asked({**CLAUDE, "thinking": ON}, "anthropic", provider, model)[0] == on
    assert asked(CLAUDE, "anthropic", provider, model)[0] == {}


SPELLINGS = [
    {"thinking": {"type": "disabled"}},
    {"enable_thinking": False},
    {"chat_template_kwargs": {"enable_thinking": False}},
    {"chat_template_kwargs": {"thinking": False}},
    {"reasoning": {"enabled": False}},
    {"reasoning": {"effort": "none"}},
    {"reasoning_effort": "none"},
]
BUDGETS = [
    {"thinking": {"type": "enabled", "budget_tokens": 5000}},
    {"enable_thinking": True, "thinking_budget": 5000},
    {"reasoning": {"max_tokens": 5000, "enabled": True}},
]


@pytest.mark.parametrize("spelled", SPELLINGS, ids=str)
def test_a_client_of_chat_is_understood_however_it_spells_off(spelled):
    body = {**ASK, **spelled}
    assert asked(body, "openai-chat", "anthropic", "claude-sonnet-4-5", "anthropic")[0] == {
        "thinking": OFF
    }
    for provider, model, off, _ in SERVERS:
        said, _ = asked(body, "openai-chat", provider, model)
        # What is in the provider's own member stays as the client wrote it.
        own = spelled.keys() == off.keys() and "enabled" not in str(off)
        assert said in ((off, spelled) if own or _takes_none(provider) else (off,)), provider


def _takes_none(provider):
    return provider in ("openrouter", "vllm", "sglang", "llama.cpp")


@pytest.mark.parametrize("spelled", BUDGETS, ids=str)
def test_a_budget_is_understood_however_it_is_spelled(spelled):
    body = {**ASK, **spelled}
    said, _ = asked(body, "openai-chat", "anthropic", "claude-sonnet-4-5", "anthropic")
    assert said["thinking"] == ON
    said, codes = asked(body, "openai-chat", "deepseek", "deepseek-v4-pro")
    assert said == {"thinking": {"type": "enabled"}, "reasoning_effort": "medium"}
    assert "value-mapped" in codes
    said, _ = asked(body, "openai-chat", "qwen", "qwen3.5-plus")
    assert said == {"enable_thinking": True, "thinking_budget": 5000}


def test_notes_name_the_member_that_the_client_wrote():
    body = {**ASK, "thinking": {"type": "enabled", "budget_tokens": 5000}}
    _, receipt = translate_request(
        json.dumps(body),
        source="openai-chat",
        target="openai-chat",
        provider="zai",
        model="glm-4.7",
    )
    assert [(note.code, note.path) for note in receipt.notes] == [("field-dropped", "thinking")]


def test_another_spelling_is_noted():
    said, codes = asked({**ASK, "enable_thinking": False}, "openai-chat", "zai", "glm-4.7")
    assert said == {"thinking": OFF}
    assert codes == ["spelling-normalised"]


@pytest.mark.parametrize("provider", [None, "litellm"])
@pytest.mark.parametrize("spelled", [*SPELLINGS, *BUDGETS], ids=str)
def test_a_server_of_which_the_switch_is_not_known_gets_what_was_spelled(spelled, provider):
    assert asked({**ASK, **spelled}, "openai-chat", provider, "m") == (spelled, [])


@pytest.mark.parametrize(
    "spelled",
    [
        *SPELLINGS,
        *BUDGETS,
        {"enable_thinking": False, "reasoning_effort": "high"},
        {"thinking": {"type": "enabled", "clear_thinking": False}},
        {"chat_template_kwargs": {"enable_thinking": True, "custom": 1}},
        {"thinking": True, "reasoning": "much", "enable_thinking": None},
        {"reasoning": {"effort": "high", "exclude": True, "summary": "auto"}},
    ],
    ids=str,
)
def test_what_is_decoded_is_written_as_it_was(spelled):
    body = {**ASK, **spelled}
    request = decode_request(json.dumps(body), source="openai-chat")
    assert encode_request(request, target="openai-chat").body == body


def test_members_beside_the_switch_stay():
    body = {**ASK, "thinking": {"type": "enabled", "clear_thinking": False}}
    said, codes = asked(body, "openai-chat", "zai", "glm-4.7")
    assert said == {"thinking": {"type": "enabled", "clear_thinking": False}}
    assert codes == []
    said, codes = asked(body, "openai-chat", "anthropic", "claude-sonnet-4-5", "anthropic")
    assert "field-unknown" in codes


def test_an_effort_and_a_budget_exclude_each_other_at_openrouter():
    body = {**CLAUDE, "thinking": ON, "output_config": {"effort": "high"}}
    said, codes = asked(body, "anthropic", "openrouter", "anthropic/claude-opus-4.5")
    assert said == {"reasoning": {"max_tokens": 5000}}
    assert "field-dropped" in codes


def test_hidden_thoughts_stay_hidden():
    body = {**ASK, "reasoning": {"effort": "high", "exclude": True}}
    said, codes = asked(body, "openai-chat", "openrouter", "openai/gpt-5.4")
    assert (said, codes) == ({"reasoning": {"effort": "high", "exclude": True}}, [])
