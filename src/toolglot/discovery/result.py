"""The result of a discovery, and the same as a profile."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from msgspec import Struct

from toolglot.discovery.probe import AUTHS, SentProbe
from toolglot.discovery.probe_findings import Findings, ProbeFinding
from toolglot.registry import PROTOCOLS, default_auth, get_protocol

Format = Literal["json", "xml", "custom", "unknown"]


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
}
"""Findings that are worth a word."""


class Spoken(Struct, frozen=True, kw_only=True):
    """A protocol that the server speaks, and where."""

    protocol: str
    base_url: str


class ProviderInfo(Struct, frozen=True, kw_only=True):
    """The provider. `auth` is a word of `AUTHS`, `none`, or empty where it is unknown."""

    base_url: str = ""
    protocols: tuple[Spoken, ...] = ()
    auth: str = ""
    models: tuple[str, ...] = ()
    model: str = ""
    """The model that was asked."""


class SdkInfo(Struct, frozen=True, kw_only=True):
    """A client library that can talk to it, and the address to give to that library."""

    name: str
    base_url: str


class ToolingInfo(Struct, frozen=True, kw_only=True):
    """How tools are called, in five words.

    `parser` reads the calls: a protocol, or a dialect where they are written as text.
    """

    format: Format = "unknown"
    example: str = ""
    parser: str = ""
    quirks: tuple[str, ...] = ()
    schema_style: str = "unknown"


class DiscoveryResult(Struct, frozen=True, kw_only=True):
    """All that was found out. Only what was seen is in it."""

    provider: ProviderInfo
    sdk: SdkInfo | None
    tooling: ToolingInfo
    findings: tuple[ProbeFinding, ...] = ()
    asked: tuple[SentProbe, ...] = ()
    rules: Mapping[str, Any] = {}
    """What the server said of itself when it refused a probe, as facts of a rule book."""

    def get(self, subject: str) -> str | None:
        """The value of a finding; None is unknown."""
        return next((each.value for each in self.findings if each.subject == subject), None)

    @property
    def protocol(self) -> str:
        """The protocol to speak; empty if none was found."""
        spoken = self.provider.protocols
        return spoken[0].protocol if spoken else ""

    @property
    def locked(self) -> bool:
        """Whether nothing was found because a valid key is missing."""
        return not self.provider.protocols and self.get("key") in ("needed", "not accepted")


_MARKUP: Final = re.compile(r"^<.*>$", re.DOTALL)


def make_result(
    findings: Findings,
    *,
    base_url: str = "",
    spoken: tuple[Spoken, ...] = (),
    models: tuple[str, ...] = (),
    asked: tuple[SentProbe, ...] = (),
    rules: Mapping[str, Any] | None = None,
) -> DiscoveryResult:
    """The result of everything that was found."""
    protocol = spoken[0].protocol if spoken else ""
    model = (findings.get("model") or "") if spoken else ""
    return DiscoveryResult(
        provider=ProviderInfo(
            base_url=spoken[0].base_url if spoken else base_url,
            protocols=spoken,
            auth=findings.get("auth") or "",
            models=models,
            model=model,
        ),
        sdk=_sdk(spoken[0]) if spoken and spoken[0].base_url else None,
        tooling=ToolingInfo(
            format=_format(findings),
            example=findings.example,
            parser=_parser(findings, protocol),
            quirks=tuple(f"{word}: {text}" for word, text in _quirks(findings, protocol)),
            schema_style=PROTOCOLS[protocol].API.tool_style if protocol else "unknown",
        ),
        findings=findings.sorted(),
        asked=asked,
        rules=rules or {},
    )


def _sdk(spoken: Spoken) -> SdkInfo | None:
    api = get_protocol(spoken.protocol).API
    if not spoken.base_url.endswith(api.sdk_adds):
        return None
    return SdkInfo(name=api.sdk, base_url=spoken.base_url.removesuffix(api.sdk_adds))


def _parser(findings: Findings, protocol: str) -> str:
    return protocol if findings.get("tools") == "called" else (findings.get("dialect") or "")


def _format(findings: Findings) -> Format:
    if findings.get("tools") == "called":
        return "json"
    if findings.get("dialect") is None:
        return "unknown"
    text = findings.example.strip()
    if text.startswith(("{", "[{")):
        return "json"
    return "xml" if _MARKUP.match(text) and "{" not in text else "custom"


def _quirks(findings: Findings, protocol: str) -> Iterator[tuple[str, str]]:
    yield from findings.quirks.items()
    for each in findings.sorted():
        known = _QUIRKS.get((each.subject, each.value))
        if known:
            yield known
    if not protocol:
        return
    api, limit, shape = get_protocol(protocol).API, findings.get("limit"), findings.get("errors")
    usual, other = api.limit_keys or ("", "")
    if limit and limit == other:
        yield "other-limit", f"The limit must be called {other}."
    elif limit and limit == usual:
        yield "old-limit", f"{other} is ignored."
    auth = AUTHS.get(findings.get("auth") or "")
    if auth and auth.header != api.key_header:
        yield "key-header", f"The key is sent as {auth.header}."
    if shape not in (None, api.error_style):
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
    }
    return profile


def _auth(result: DiscoveryResult) -> dict[str, Any]:
    protocol = result.protocol
    home = default_auth(protocol) if protocol else AUTHS["bearer"]
    auth = AUTHS.get(result.provider.auth, home)
    return {
        "header": auth.header,
        "prefix": auth.prefix,
        "required": result.provider.auth != "none",
        "headers": dict(home.headers),
    }


def _tools(result: DiscoveryResult) -> dict[str, Any]:
    dialect = result.get("dialect")
    known: dict[str, Any] = {"format": result.tooling.format}
    return known | ({"dialects": [dialect]} if dialect else {})
