"""What can be seen to be accepted without decoding."""

import json

import pytest

from toolglot.context import Options
from toolglot.exchange import Exchange
from toolglot.providers import book_names, is_accepted, surface_for
from toolglot.registry import get_protocol

ASK = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
ITEMS = {"model": "m", "input": "Hi"}
TOOL = {"type": "function", "function": {"name": "look"}}
BODIES = [
    ("openai-chat", {**ASK, **more})
    for more in (
        {},
        {"max_tokens": 1},
        {"max_tokens": 99999},
        {"max_completion_tokens": 99},
        {"max_tokens": 9, "max_completion_tokens": 9},
        {"temperature": 0.5},
        {"temperature": 3},
        {"top_k": 3},
        {"stop": ["x"]},
        {"reasoning_effort": "minimal"},
        {"reasoning_effort": "none"},
        {"reasoning_effort": "high", "tools": [TOOL]},
        {"tools": [TOOL]},
        {"tools": [{**TOOL, "function": {"name": f"t{number}"}} for number in range(129)]},
    )
] + [
    ("openai-responses", {**ITEMS, **more})
    for more in (
        {},
        {"max_output_tokens": 1},
        {"max_output_tokens": 20000},
        {"temperature": 1},
        {"reasoning": {"effort": "minimal"}},
        {"reasoning": {"effort": "low", "summary": "auto"}},
        {"truncation": "auto"},
        {"tools": [{"type": "custom", "name": "patch"}]},
    )
]
MODELS = ("gpt-5.4", "gpt-5.6", "gpt-5", "o3", "gpt-4o", "grok-4.5", "gpt-oss-120b", "other")


def accepted(provider, protocol, model, body):
    source = get_protocol(protocol).SURFACE
    target = surface_for(provider, protocol, model)
    return is_accepted(json.dumps(body).encode(), source, target)


@pytest.mark.parametrize("provider", book_names())
def test_what_is_seen_to_be_accepted_would_not_have_changed(provider, monkeypatch):
    monkeypatch.setattr("toolglot.exchange.is_accepted", lambda *_: False)
    for model in MODELS:
        for protocol, asked in BODIES:
            body = {**asked, "model": model}
            if accepted(provider, protocol, model, body):
                data = json.dumps(body).encode()
                exchange = Exchange(protocol, protocol, Options(provider=provider))
                assert exchange.request(data).data == data, (model, body)
                assert exchange.notes == (), (model, body)


def test_plain_settings_are_seen():
    assert accepted("openai", "openai-responses", "gpt-5.4", {**ITEMS, "max_output_tokens": 16})
    assert not accepted("openai", "openai-responses", "gpt-5.4", {**ITEMS, "max_output_tokens": 1})
    assert accepted("openai", "openai-chat", "gpt-5.1", {**ASK, "reasoning_effort": "low"})
    assert not accepted("openai", "openai-chat", "gpt-5.1", {**ASK, "reasoning_effort": "minimal"})
    assert accepted("openai", "openai-chat", "gpt-5.4", {**ASK, "max_completion_tokens": 3})
    assert not accepted("openai", "openai-chat", "gpt-5.4", {**ASK, "max_tokens": 3})
    claude = {**ASK, "max_tokens": 3, "temperature": 1}
    assert accepted("anthropic", "anthropic", "claude-sonnet-4-5", claude)
    assert not accepted("anthropic", "anthropic", "claude-opus-4-7", claude)


def test_kinds_of_tools_are_seen():
    assert accepted("vllm", "openai-chat", "m", ASK)
    assert accepted("vllm", "openai-chat", "m", {**ASK, "tools": [TOOL]})
    custom = {"type": "custom", "custom": {"name": "patch"}}
    assert not accepted("vllm", "openai-chat", "m", {**ASK, "tools": [TOOL, custom]})
    called = {"role": "assistant", "tool_calls": [{"id": "c", **custom}]}
    history = [*ASK["messages"], called]
    assert not accepted("vllm", "openai-chat", "m", {**ASK, "messages": history})


def test_what_is_no_object_needs_a_closer_look():
    source = get_protocol("openai-chat").SURFACE
    target = surface_for("openai", "openai-chat", "gpt-5.4")
    assert not is_accepted(b"[", source, target)
