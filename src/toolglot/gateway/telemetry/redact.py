"""Keeps secrets out of logs and recordings.

Headers and URL parameters are masked by their names. Free text, such as the message of an error, is
searched for what looks like a key, as the last safeguard.
"""

import re
from collections.abc import Mapping
from typing import Final

_SECRET_HEADER: Final = re.compile(
    r"(^|[-_])(key|token|secret|auth|authorization|cookie|password|credential|credentials)([-_]|$)"
    r"|apikey|^set-cookie",
    re.IGNORECASE,
)
_SECRET_PARAMETER: Final = re.compile(
    r"([?&;](?:key|api[-_]?key|(?:access|auth|id|refresh)?[-_]?token|sig|signature|password|secret"
    r"|client_secret|x-amz-[a-z-]+|x-goog-[a-z-]+)=)([^&;#\s\"'<>]*)",
    re.IGNORECASE,
)
_USER: Final = re.compile(r"(\w://)[^/@\s\"']+@")
_LOOKS_SECRET: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"(?:sk|pk|rk|xai|gsk|hf|tg|key|nvapi|fw|pplx|r8|csk|AQ)[-_.][A-Za-z0-9_.-]{10,}"
    r"|AIza[A-Za-z0-9_-]{20,}"
    r"|ya29\.[A-Za-z0-9_.-]{10,}"
    r"|eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_.-]{10,}"
    r")"
)
_CREDENTIALS: Final = re.compile(r"\b(Bearer|Basic)(\s+)([^\s,;\"']+)", re.IGNORECASE)
_NAMED: Final = re.compile(
    r"((?:proxy-)?authorization|(?:x-)?(?:goog-)?api-key|cookie)([\"']?\s*[:=]\s*[\"']?)"
    r"(?!Bearer|Basic)([^\s,;\"']+)",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"[A-Za-z0-9_./-]*")
"""Ids and names: text in which no secret can follow a word that announces it."""

_PREFIX: Final = re.compile(r"[A-Za-z]{2,5}[-_]")
_LONG_ENOUGH: Final = 16
"""Characters that a secret must have for its last four to give nothing away."""


SHORTEST_SECRET: Final = 8
"""Shorter keys are words such as `none` or `x`, which stand in many texts and are no secrets."""


def mask(secret: str) -> str:
    """A secret that can be recognised but not used: `sk-…abcd`."""
    kind, _, rest = secret.rpartition(" ")
    if kind.lower() in {"bearer", "basic"}:
        return f"{kind} {mask(rest)}"
    if len(secret) < _LONG_ENOUGH:
        return "…"
    prefix = _PREFIX.match(secret)
    return f"{prefix.group() if prefix else ''}…{secret[-4:]}"


def redact_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers with their secrets masked."""
    return {
        name: mask(value) if _SECRET_HEADER.search(name) else scrub(value)
        for name, value in headers.items()
    }


def redact_url(url: str) -> str:
    """A URL with its keys and passwords masked."""
    return _SECRET_PARAMETER.sub(_masked_value, _USER.sub(r"\1…@", url))


def scrub(text: str) -> str:
    """Any text with everything that looks like a secret masked."""
    if not _WORD.fullmatch(text):
        text = _NAMED.sub(_masked_third, redact_url(text))
        text = _CREDENTIALS.sub(_masked_third, text)
    return _LOOKS_SECRET.sub(lambda found: mask(found[0]), text)


def _masked_value(found: re.Match[str]) -> str:
    return found[1] + mask(found[2])


def _masked_third(found: re.Match[str]) -> str:
    return found[1] + found[2] + mask(found[3])
