"""Whether a provider takes a request: its own rules of form, and the rules of its book.

`check` is a pure function of the JSON on the wire. It knows nothing of the product but the data of
its rule books, and sees only what a provider would see.
"""

from collections.abc import Mapping

from tests.upstreams.strict import (
    books,
    chat_servers,
    converse_rules,
    gemini_rules,
    interactions_rules,
    messages_rules,
    model_names,
    ollama_rules,
    responses_rules,
)
from tests.upstreams.strict.refusal import Ask, Json, Refusal, Rule, error_body

__all__ = ["AS_OF", "Ask", "Refusal", "check", "error_body", "rules_of"]

AS_OF = "2026-11-16"
"""The day of which the rules are."""

_FORM: Mapping[str, Mapping[str, tuple[Rule, ...]]] = {
    "anthropic": messages_rules.BY_PROVIDER,
    "openai-chat": chat_servers.BY_PROVIDER,
    "openai-responses": responses_rules.BY_PROVIDER,
    "gemini": gemini_rules.BY_PROVIDER,
    "gemini-interactions": interactions_rules.BY_PROVIDER,
    "ollama": ollama_rules.BY_PROVIDER,
    "bedrock-converse": converse_rules.BY_PROVIDER,
}
_USUAL: Mapping[str, tuple[Rule, ...]] = {
    "anthropic": (messages_rules.pairing,),
    "openai-chat": (chat_servers.usual,),
    "openai-responses": (responses_rules.pairing,),
    "gemini": (gemini_rules.turns,),
    "gemini-interactions": (interactions_rules.pairing,),
    "ollama": ollama_rules.OLLAMA,
    "bedrock-converse": converse_rules.CONVERSE,
}
"""For providers of whose form nothing more is known."""


def rules_of(provider: str, protocol: str) -> tuple[Rule, ...]:
    """The rules of form of a provider in a protocol."""
    return _FORM[protocol].get(provider, _USUAL[protocol])


def check(
    provider: str,
    protocol: str,
    model: str,
    body: Json,
    headers: Mapping[str, str] | None = None,
) -> list[Refusal]:
    """Why the provider refuses a request, the first reason first; nothing: it takes it."""
    ask = Ask(provider, protocol, model, body, headers or {})
    rules = (model_names.known, *rules_of(provider, protocol))
    found = [each for rule in rules for each in rule(ask)]
    return [*found, *books.refusals(ask)]
