"""From findings to a result, and from a result to a profile."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from toolglot.discovery.asking import home_auth
from toolglot.discovery.facts import Notebook
from toolglot.discovery.values import (
    AUTHS,
    Asked,
    DiscoveryResult,
    ProviderInfo,
    SdkInfo,
    Spoken,
    ToolingInfo,
)

Format = Literal["json", "xml", "custom", "unknown"]
Style = Literal["openai", "anthropic", "custom", "unknown"]

_STYLES: Final[Mapping[str, Style]] = {
    "anthropic": "anthropic",
    "openai-chat": "openai",
    "openai-responses": "openai",
    "ollama": "openai",
    "gemini": "custom",
}
"""How tools are declared, by protocol."""

_SDKS: Final[Mapping[str, tuple[str, str]]] = {
    "anthropic": ("anthropic", "/v1"),
    "openai-chat": ("openai", ""),
    "openai-responses": ("openai", ""),
    "gemini": ("google-genai", "/v1beta"),
    "ollama": ("ollama", "/api"),
}
"""The library of who made a protocol, and the end of an address that it adds itself."""

_ERRORS: Final = {"openai-chat": "openai", "openai-responses": "openai"}
"""The shape of errors where it is not called as the protocol."""

_QUIRKS: Final[Mapping[tuple[str, str], tuple[str, str]]] = {
    ("tools", "refused"): ("no-tools", "A request with tools is refused."),
    ("tools", "fails"): ("no-tools", "A request with tools fails."),
    ("tools", "not called"): ("tools-ignored", "Tools are taken, but were not called."),
    ("tools", "in text"): ("calls-in-text", "Calls are written into the text."),
    ("stream", "no stream"): ("never-streams", "It does not stream although it was asked to."),
    ("streaming", "refused"): ("no-streams", "A request for a stream is refused."),
    ("stream-usage", "no"): ("no-stream-usage", "Streams do not say the usage."),
    ("required", "refused"): ("no-required-choice", "Tool choice `required` is refused."),
    ("named", "refused"): ("no-named-choice", "A tool choice by name is refused."),
    ("strict", "refused"): ("no-strict", "Strict tools are refused."),
    ("schemas", "refused"): ("plain-schemas", "Schemas with $ref, anyOf or const are refused."),
    ("foreign-ids", "refused"): ("own-ids", "Long ids of other providers are refused."),
    ("system", "refused"): ("no-system", "System text is refused."),
    ("developer", "refused"): ("no-developer-role", "The developer role is refused."),
    ("limit", "max_completion_tokens"): (
        "other-limit",
        "The limit must be called max_completion_tokens.",
    ),
    ("limit", "max_tokens"): ("old-limit", "max_completion_tokens is not kept to."),
}
"""Findings that are worth a word."""

_MARKUP: Final = re.compile(r"^<.*>$", re.DOTALL)


def make_result(
    book: Notebook,
    *,
    base_url: str = "",
    spoken: tuple[Spoken, ...] = (),
    models: tuple[str, ...] = (),
    asked: tuple[Asked, ...] = (),
) -> DiscoveryResult:
    """The result of everything that was found."""
    protocol = spoken[0].protocol if spoken else ""
    model = (book.get("model") or "") if spoken else ""
    return DiscoveryResult(
        provider=ProviderInfo(
            base_url=spoken[0].base_url if spoken else base_url,
            protocols=spoken,
            auth=book.get("auth") or "",
            models=models,
            model=model,
        ),
        sdk=_sdk(spoken[0]) if spoken and spoken[0].base_url else None,
        tooling=ToolingInfo(
            format=_format(book),
            example=book.example,
            parser=_parser(book, protocol),
            quirks=tuple(f"{word}: {text}" for word, text in _quirks(book, protocol)),
            schema_style=_STYLES.get(protocol, "unknown"),
        ),
        findings=book.sorted(),
        asked=asked,
    )


def _sdk(spoken: Spoken) -> SdkInfo | None:
    name, end = _SDKS[spoken.protocol]
    if not spoken.base_url.endswith(end):
        return None
    return SdkInfo(name=name, base_url=spoken.base_url.removesuffix(end))


def _parser(book: Notebook, protocol: str) -> str:
    return protocol if book.get("tools") == "called" else (book.get("dialect") or "")


def _format(book: Notebook) -> Format:
    if book.get("tools") == "called":
        return "json"
    if book.get("dialect") is None:
        return "unknown"
    text = book.example.strip()
    if text.startswith(("{", "[{")):
        return "json"
    return "xml" if _MARKUP.match(text) and "{" not in text else "custom"


def _quirks(book: Notebook, protocol: str) -> Iterator[tuple[str, str]]:
    yield from book.quirks.items()
    for each in book.sorted():
        known = _QUIRKS.get((each.subject, each.value))
        if known:
            yield known
    auth = AUTHS.get(book.get("auth") or "")
    if protocol and auth and auth.header != home_auth(protocol).header:
        yield "key-header", f"The key is sent as {auth.header}."
    shape = book.get("errors")
    if protocol and shape not in (None, _ERRORS.get(protocol, protocol)):
        yield "other-errors", f"Errors have the shape of {shape}."


# --- profiles -------------------------------------------------------------------------------------


def to_profile(result: DiscoveryResult, *, date: str = "") -> dict[str, Any]:
    """What `register_profile` takes: only what was found, with where it was seen."""
    seen = {"source": f"observed: {result.provider.base_url or 'sample'}", "date": date}
    profile: dict[str, Any] = {
        "endpoints": [
            {"protocol": each.protocol, "base_url": each.base_url, **seen}
            for each in result.provider.protocols
        ],
        "auth": _auth(result) | seen,
        "tools": _tools(result) | seen,
        "quirks": [
            {"word": word, "text": text, **seen}
            for word, _, text in (quirk.partition(": ") for quirk in result.tooling.quirks)
        ],
    }
    field = result.get("reasoning")
    if field not in (None, "tags"):
        profile["reasoning"] = {"field": field, **seen}
    return profile


def _auth(result: DiscoveryResult) -> dict[str, Any]:
    protocol = result.protocol
    home = home_auth(protocol) if protocol else AUTHS["bearer"]
    auth = AUTHS.get(result.provider.auth, home)
    return {
        "header": auth.header,
        "prefix": auth.prefix,
        "required": result.provider.auth != "none",
        "headers": dict(home.headers),
    }


def _tools(result: DiscoveryResult) -> dict[str, Any]:
    known: dict[str, Any] = {
        "format": result.tooling.format,
        "parallel": True if result.get("parallel") == "yes" else None,
        "strict": False if result.get("strict") == "refused" else None,
        "streaming": result.get("stream") if result.get("stream") != "no stream" else None,
        "ids": id_rule(result),
    }
    dialect = result.get("dialect")
    if dialect:
        known["dialects"] = [dialect]
    return {key: value for key, value in known.items() if value is not None}


def id_rule(result: DiscoveryResult) -> str | None:
    """The rule for ids as the profiles call it; None is unknown."""
    made = result.get("ids")
    if made == "none":
        return "optional"
    if result.get("foreign-ids") == "accepted":
        return "any"
    return "nine" if made == "9 letters and digits" else None
