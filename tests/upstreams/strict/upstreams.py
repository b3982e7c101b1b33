"""The strict upstreams that tests run against: a provider, one of its protocols, a real model."""

from dataclasses import dataclass

from toolglot.gateway.config import Provider

_BASES = {
    "anthropic": "/v1",
    "openai-chat": "/v1",
    "openai-responses": "/v1",
    "gemini": "/v1beta",
    "ollama": "/api",
}


@dataclass(frozen=True)
class StrictUpstream:
    """Who plays, in which protocol, with which model."""

    provider: str
    protocol: str
    model: str

    def __str__(self) -> str:
        return f"{self.provider}-{self.model.replace('/', '_')}"

    def at(self, url: str, **more: object) -> Provider:
        """The provider as it stands in the configuration of a gateway."""
        base_url = f"{url}/strict/{self.provider}{_BASES[self.protocol]}"
        given = {"retries": 0, "api_key": "key-of-a-test", **more}
        return Provider(
            profile=self.provider,
            protocol=self.protocol,
            base_url=base_url,
            **given,  # type: ignore[arg-type]
        )


ANTHROPIC = StrictUpstream("anthropic", "anthropic", "claude-sonnet-4-5")
OPENAI_CHAT = StrictUpstream("openai", "openai-chat", "gpt-5.1")
OPENAI_RESPONSES = StrictUpstream("openai", "openai-responses", "gpt-5.5")
GOOGLE = StrictUpstream("google", "gemini", "gemini-3-pro-preview")
OLLAMA = StrictUpstream("ollama", "ollama", "qwen3:8b")

BY_PROTOCOL: dict[str, StrictUpstream] = {
    each.protocol: each for each in (ANTHROPIC, OPENAI_CHAT, OPENAI_RESPONSES, GOOGLE, OLLAMA)
}
"""One for each protocol: the provider that made it."""

OTHERS: tuple[StrictUpstream, ...] = (
    StrictUpstream("anthropic", "anthropic", "claude-opus-4-8"),
    StrictUpstream("anthropic", "anthropic", "claude-sonnet-5"),
    StrictUpstream("openai", "openai-chat", "gpt-5.6"),
    StrictUpstream("openai", "openai-chat", "gpt-4o"),
    StrictUpstream("openai", "openai-chat", "o3"),
    StrictUpstream("openai", "openai-responses", "o4-mini"),
    StrictUpstream("openai", "openai-responses", "gpt-4.1"),
    StrictUpstream("google", "gemini", "gemini-2.5-flash"),
    StrictUpstream("google", "gemini", "gemini-3-flash-preview"),
    StrictUpstream("deepseek", "openai-chat", "deepseek-v4-pro"),
    StrictUpstream("groq", "openai-chat", "openai/gpt-oss-120b"),
    StrictUpstream("mistral", "openai-chat", "mistral-medium-latest"),
    StrictUpstream("openrouter", "openai-chat", "google/gemini-3-pro-preview"),
    StrictUpstream("xai", "openai-responses", "grok-4.5"),
    StrictUpstream("xai", "openai-chat", "grok-4.5"),
    StrictUpstream("vllm", "openai-chat", "Qwen/Qwen3-32B"),
    StrictUpstream("llama.cpp", "openai-chat", "qwen3"),
    StrictUpstream("ollama", "openai-chat", "qwen3:8b"),
)
"""More models, and others who speak these protocols."""
