"""Calls that a provider could not read, and sent back in its error as the model wrote them."""

from typing import Final

from toolglot.wire import jsontext

_MEMBER: Final = "failed_generation"
"""Where the text of the model is: https://console.groq.com/docs/tool-use (read 2026-11)."""


def failed_text(body: bytes) -> str | None:
    """What the model had written, of an error that says so."""
    if _MEMBER.encode() not in body:
        return None
    try:
        value = jsontext.peek(body)
    except ValueError:
        return None
    return failed_text_in(value)


def failed_text_in(value: object) -> str | None:
    """The same for an error that was read already, or for one that stands in a stream."""
    inner = value.get("error") if isinstance(value, dict) else None
    for each in (inner, value):
        if isinstance(each, dict) and isinstance(text := each.get(_MEMBER), str) and text.strip():
            return text
    return None
