"""Checking a recorded stream against the rules of its protocol.

    for violation in lint_stream(data, "anthropic"):
        print(violation)  # event 7: block-overlap: block 0 is still open

One module for each protocol, each a table of rules taken from what the strictest clients need.
"""

from collections.abc import Mapping
from typing import Any, Final

from toolglot.errors import UnknownProtocolError
from toolglot.lint import anthropic, gemini, ollama, openai_chat, openai_responses
from toolglot.lint.rules import Linter, Rule, Violation

__all__ = ["Rule", "Violation", "lint_stream", "rules_of"]

_LINTERS: Final[Mapping[str, Linter[Any]]] = {
    "anthropic": anthropic.LINTER,
    "openai-chat": openai_chat.LINTER,
    "openai-responses": openai_responses.LINTER,
    "gemini": gemini.LINTER,
    "ollama": ollama.LINTER,
}


def lint_stream(data: bytes, protocol: str) -> list[Violation]:
    """The rules that a recorded stream breaks, in the order of its events; none if it is sound."""
    return _linter(protocol).run(bytes(data))


def rules_of(protocol: str) -> tuple[Rule[Any], ...]:
    """The rules that the streams of a protocol are held to."""
    return _linter(protocol).rules


def _linter(protocol: str) -> Linter[Any]:
    try:
        return _LINTERS[protocol]
    except KeyError:
        raise UnknownProtocolError(protocol, tuple(_LINTERS)) from None
