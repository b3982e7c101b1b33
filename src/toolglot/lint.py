"""Checking a recorded stream against the rules of its protocol.

    for violation in lint_stream(data, "anthropic"):
        print(violation)  # event 7: block-overlap: block 0 is still open

The rules of a protocol are in its own folder, `protocols/<name>/lint.py`.
"""

from typing import Any

from toolglot.registry import get_protocol
from toolglot.wire.stream_rules import Rule, Violation

__all__ = ["Rule", "Violation", "lint_stream", "rules_of"]


def lint_stream(data: bytes, protocol: str) -> list[Violation]:
    """The rules that a recorded stream breaks, in the order of its events; none if it is valid."""
    return get_protocol(protocol).LINTER.run(bytes(data))


def rules_of(protocol: str) -> tuple[Rule[Any], ...]:
    """The rules that the streams of a protocol must keep."""
    return get_protocol(protocol).LINTER.rules
