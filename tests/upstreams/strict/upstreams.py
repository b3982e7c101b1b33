"""The strict upstreams that tests run against: a provider, one of its protocols, a real model."""

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from toolglot.exchange import Exchange
from toolglot.gateway.config import Config, Provider
from toolglot.gateway.relay.providers import Upstream, make_upstreams

Json = dict[str, Any]

_BASES = {
    "anthropic": "/v1",
    "openai-chat": "/v1",
    "openai-responses": "/v1",
    "gemini": "/v1beta",
    "gemini-interactions": "/v1beta",
    "ollama": "/api",
    "bedrock-converse": "/model",
}


@dataclass(frozen=True)
class StrictUpstream:
    """Who plays, in which protocol, with which model."""

    provider: str
    protocol: str
    model: str

    def __str__(self) -> str:
        return f"{self.provider}-{self.model.replace('/', '_')}"

    @property
    def title(self) -> str:
        """Provider, protocol and model, for people."""
        return f"{self.provider} {self.model} ({self.protocol})"

    def at(self, url: str, **more: object) -> Provider:
        """The provider as it stands in the configuration of a gateway."""
        base_url = f"{url}/strict/{self.provider}{_BASES[self.protocol]}"
        # What is refused is not mended, so that it is seen, and seen again.
        given = {"retries": 0, "api_key": "key-of-a-test", "mend": "off", **more}
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
INTERACTIONS = StrictUpstream("google", "gemini-interactions", "gemini-3.8-flash")
OLLAMA = StrictUpstream("ollama", "ollama", "qwen3:8b")
BEDROCK = StrictUpstream(
    "bedrock", "bedrock-converse", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
)

BY_PROTOCOL: dict[str, StrictUpstream] = {
    each.protocol: each
    for each in (
        ANTHROPIC,
        OPENAI_CHAT,
        OPENAI_RESPONSES,
        GOOGLE,
        INTERACTIONS,
        OLLAMA,
        BEDROCK,
    )
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

IN_TRIALS: tuple[StrictUpstream, ...] = (
    *(each for each in BY_PROTOCOL.values() if each is not INTERACTIONS),
    *(each for each in OTHERS if str(each) in {
        "anthropic-claude-opus-4-8", "deepseek-deepseek-v4-pro", "groq-openai_gpt-oss-120b",
        "mistral-mistral-medium-latest", "xai-grok-4.5", "vllm-Qwen_Qwen3-32B",
    } and not (each.provider == "xai" and each.protocol == "openai-chat")),
)  # fmt: skip
"""Those that real clients are run against."""


@cache
def _upstream(upstream: StrictUpstream) -> Upstream:
    config = Config(providers={"strict": upstream.at("http://127.0.0.1:1")})
    return make_upstreams(config, {})["strict"]


def sent_to(upstream: StrictUpstream, client: str, body: bytes, path: str = "") -> Json:
    """What the gateway would send for the request of a client."""
    asked = json.loads(body).get("model") or ""
    options = _upstream(upstream).options(upstream.model, asked, strict=False)
    exchange = Exchange(client, upstream.protocol, options)
    sent = exchange.request(body, path)
    return json.loads(sent.data)
