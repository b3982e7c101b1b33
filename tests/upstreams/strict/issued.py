"""Reasoning state that this upstream did not issue: a provider refuses that of others."""

from collections.abc import Iterator

from tests.upstreams.gemini_interactions import steps
from tests.upstreams.strict.gemini_rules import SKIPS, contents, get, parts
from tests.upstreams.strict.refusal import Ask, Refusal
from tests.upstreams.values import opaque


def foreign_state(ask: Ask) -> Iterator[Refusal]:
    """Signatures and sealed content that are not as they were given out."""
    yield from _STATE.get(ask.protocol, _none)(ask)


def _none(_ask: Ask) -> Iterator[Refusal]:
    yield from ()


def _anthropic(ask: Ask) -> Iterator[Refusal]:
    for index, message in enumerate(ask.body.get("messages") or ()):
        content = message.get("content")
        for number, block in enumerate(content if isinstance(content, list) else ()):
            if block.get("type") == "thinking" and block.get("signature") != opaque("anthropic"):
                at = f"messages.{index}.content.{number}"
                yield Refusal("AN-062", f"{at}: Invalid `signature` in `thinking` block")


def _responses(ask: Ask) -> Iterator[Refusal]:
    given = ask.body.get("input")
    for item in given if isinstance(given, list) else ():
        sealed = item.get("encrypted_content") if item.get("type") == "reasoning" else None
        if sealed is not None and sealed != opaque("openai-responses"):
            words = (
                f"The encrypted content for item {item.get('id')} could not be verified. Reason: "
                "Encrypted content could not be decrypted or parsed."
            )
            yield Refusal("OAI-136", words, param="input", code="invalid_encrypted_content")


def _gemini(ask: Ask) -> Iterator[Refusal]:
    import base64

    own = {opaque("gemini"), *SKIPS, *(base64.b64encode(each.encode()).decode() for each in SKIPS)}
    for content in contents(ask):
        for part in parts(content):
            signature = get(part, "thoughtSignature")
            if signature and signature.replace("-", "+").replace("_", "/") not in {
                each.replace("-", "+").replace("_", "/") for each in own
            }:
                yield Refusal("GE-029", "Corrupted thought signature.")


def _interactions(ask: Ask) -> Iterator[Refusal]:
    for step in steps(ask.body):
        signature = step.get("signature") if step.get("type") == "thought" else None
        if signature and signature != opaque("gemini-interactions"):
            yield Refusal("GI-010", "Corrupted thought signature.")


def _converse(ask: Ask) -> Iterator[Refusal]:
    for message in ask.body.get("messages") or ():
        for block in message.get("content") or ():
            words = (block.get("reasoningContent") or {}).get("reasoningText") or {}
            if "signature" in words and words["signature"] != opaque("bedrock-converse"):
                yield Refusal("AN-062", "Invalid `signature` in `thinking` block")


_STATE = {
    "anthropic": _anthropic,
    "openai-responses": _responses,
    "gemini": _gemini,
    "gemini-interactions": _interactions,
    "bedrock-converse": _converse,
}
