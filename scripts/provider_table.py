"""What is sent to each provider and family of models by each client: the protocol, and the rules.

Every cell is made by translating what the client sends. A rule shaped a request if the same request
would have been sent in another way without it.
"""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from toolglot.context import Context, Options
from toolglot.profiles import family_of, profiles
from toolglot.providers import ProviderRule, protocol_for, rules_for
from toolglot.providers.effective_surface import made_of
from toolglot.registry import get_protocol
from toolglot.surface import Surface
from toolglot.translate import translate_request

CLIENTS = Path(__file__).resolve().parent.parent / "tests" / "fixtures" / "clients"

MODELS: dict[str, tuple[str, ...]] = {
    "openai": (
        *("gpt-4o", "gpt-4.1", "o3", "gpt-5", "gpt-5.1", "gpt-5.1-codex-max", "gpt-5.4"),
        *("gpt-5.6-sol", "gpt-6-astra", "gpt-6.1-terra"),
    ),
    "anthropic": (
        *("claude-haiku-4-5", "claude-sonnet-4-5", "claude-opus-4-5", "claude-opus-4-6"),
        *("claude-opus-4-8", "claude-sonnet-5", "claude-opus-5-5", "claude-fable-5-1"),
    ),
    "google": (
        "gemini-2.5-flash",
        "gemini-2.5-pro",
        "gemini-3-pro",
        "gemini-3.8-flash",
        "gemma-4-31b-it",
    ),
    "vertex": ("gemini-3.1-pro", "claude-sonnet-4-5@20250929", "claude-opus-5", "xai/grok-4.5"),
    "azure": ("gpt-4.1", "gpt-5.4", "gpt-5.6-sol", "DeepSeek-V4-Pro"),
    "bedrock": ("us.anthropic.claude-sonnet-4-5-v1:0", "anthropic.claude-opus-5", "gpt-oss-120b"),
    "xai": ("grok-3-mini", "grok-4-1-fast-reasoning", "grok-4.3", "grok-4.5", "grok-4.7"),
    "deepseek": ("deepseek-v4-flash", "deepseek-v4-pro"),
    "mistral": ("mistral-large-latest", "mistral-medium-2604", "devstral-latest"),
    "groq": ("llama-3.3-70b", "openai/gpt-oss-120b", "qwen/qwen3-32b", "moonshotai/kimi-k2"),
    "cerebras": ("gpt-oss-120b", "zai-glm-4.7", "qwen-3-235b"),
    "together": ("deepseek-ai/DeepSeek-V4-Pro", "Qwen/Qwen3.5", "openai/gpt-oss-120b"),
    "fireworks": (
        *("accounts/fireworks/models/gpt-oss-120b", "accounts/fireworks/models/glm-4.7"),
        "accounts/fireworks/models/kimi-k2.6",
    ),
    "openrouter": (
        *("anthropic/claude-sonnet-4.5", "openai/gpt-5.4", "google/gemini-3-pro"),
        "qwen/qwen3-coder",
    ),
    "moonshot": ("kimi-k2.6", "kimi-k3"),
    "zai": ("glm-4.7", "glm-5.2", "glm-5.3"),
    "minimax": ("MiniMax-M2.5", "MiniMax-M3"),
    "qwen": ("qwen3-coder-plus", "qwen3.5-plus"),
    "huggingface": ("openai/gpt-oss-120b", "Qwen/Qwen3-32B:cerebras"),
    "cloudflare": ("@cf/openai/gpt-oss-120b", "@cf/meta/llama-4-scout"),
    "github": ("openai/gpt-5", "xai/grok-3-mini"),
    "ollama": ("qwen3:8b", "gpt-oss:20b"),
    "vllm": ("Qwen/Qwen3-Coder-30B", "gpt-oss-120b"),
    "sglang": ("deepseek-ai/DeepSeek-V3.2", "gpt-oss-120b"),
    "llama.cpp": ("qwen3-8b", "gpt-oss-20b"),
    "lmstudio": ("qwen3-8b", "gpt-oss-20b"),
    "litellm": ("gpt-5.4", "claude-sonnet-5", "groq/llama-3.3-70b"),
}
"""Models as their providers spell them, at least one of each family that rules speak of."""

_SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "day": {"type": ["string", "null"]}},
    "required": ["city"],
}
_CHAT = {
    "model": "m",
    "messages": [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": "Hi"},
    ],
    "tools": [{"type": "function", "function": {"name": "look", "parameters": _SCHEMA}}],
    "tool_choice": "required",
    "parallel_tool_calls": False,
    "reasoning_effort": "high",
    "max_tokens": 200000,
    "temperature": 1.5,
    "presence_penalty": 0.5,
    "stop": ["END"],
    "user": "u1",
    "store": True,
}
_MESSAGES = {
    "model": "m",
    "max_tokens": 200000,
    "temperature": 0.5,
    "top_k": 5,
    "stop_sequences": ["END"],
    "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
    "cache_control": {"type": "ephemeral"},
    "messages": [{"role": "user", "content": "Hi"}],
    "tools": [
        {"name": "look", "input_schema": _SCHEMA, "cache_control": {"type": "ephemeral"}},
        {"type": "web_search_20250305", "name": "web_search"},
    ],
    "tool_choice": {"type": "any"},
}
_GENAI = {
    "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
    "tools": [{"functionDeclarations": [{"name": "look", "parametersJsonSchema": _SCHEMA}]}],
    "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["look"]}},
    "generationConfig": {
        "temperature": 1.5,
        "topK": 5,
        "maxOutputTokens": 200000,
        "presencePenalty": 0.5,
        "thinkingConfig": {"thinkingBudget": 0},
    },
}
_OLLAMA = {
    "model": "m",
    "messages": [{"role": "user", "content": "Hi"}],
    "tools": [{"type": "function", "function": {"name": "look", "parameters": _SCHEMA}}],
    "think": "high",
    "options": {"temperature": 1.5, "num_predict": 200000, "top_k": 5},
}


@cache
def _recorded(name: str) -> dict[str, Any]:
    body: dict[str, Any] = json.loads((CLIENTS / f"{name}.request.json").read_text())["body"]
    return body


def requests_of_clients() -> Iterator[tuple[str, str, tuple[dict[str, Any], ...]]]:
    """Yield each client, its protocol, and requests of it."""
    yield "Claude Code", "anthropic", tuple(map(_recorded, ("claude-code-thinking",)))
    own = ("codex-freeform", "codex-lite", "codex-namespace")
    yield "Codex, its own models", "openai-responses", tuple(map(_recorded, own))
    yield "Codex, other models", "openai-responses", (_recorded("codex-turn"),)
    yield "Gemini CLI", "gemini", (_recorded("gemini-cli-turn"),)
    yield "OpenAI SDK, Chat", "openai-chat", (_CHAT,)
    yield "Anthropic SDK", "anthropic", (_MESSAGES,)
    yield "google-genai", "gemini", (_GENAI,)
    yield "ollama", "ollama", (_OLLAMA,)


def rows() -> Iterator[tuple[str, str, str, str, str]]:
    """Yield provider, model, clients that are treated alike, their protocol, and rules."""
    for profile in profiles():
        for model in MODELS.get(profile.name, ()):
            alike: dict[tuple[str, str], list[str]] = {}
            for client, spoken, bodies in requests_of_clients():
                protocol = protocol_for(profile.name, spoken, model)
                rules = rules_for(profile.name, protocol, model)
                shaped = {
                    rule.id: None
                    for body in bodies
                    for rule in _shaping(rules, model, spoken, protocol, body)
                }
                ids = [rule.id for rule in rules if rule.id in shaped]
                alike.setdefault((protocol, ", ".join(ids) or "-"), []).append(client)
            for (protocol, named), clients in alike.items():
                yield f"`{profile.name}`", f"`{model}`", "; ".join(clients), protocol, named


def _shaping(
    rules: tuple[ProviderRule, ...], model: str, client: str, protocol: str, body: dict[str, Any]
) -> Iterator[ProviderRule]:
    """Yield the rules without which something else would be sent.

    What is known of the family of a model may say the same as a rule, so it is left out as well.
    """
    for family in (family_of(model), None):
        usual = _sent(made_of(protocol, family, rules), model, client, body)
        for rule in rules:
            rest = tuple(each for each in rules if each is not rule)
            without = made_of(protocol, family, rest)
            if (rule.set or rule.add) and _sent(without, model, client, body) != usual:
                yield rule


def _sent(
    target: Surface, model: str, client: str, body: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    source = get_protocol(client).SURFACE
    path, in_path = source.path.format(model=model), "{model}" in source.path
    wire, _ = translate_request(
        body if in_path else {**body, "model": model},
        source=client,
        target=target.name,
        path=path,
        context=Context(Options(), source=source, target=target),
    )
    return wire.path, wire.body
