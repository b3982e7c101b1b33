"""What discovery passes around: probes, answers, findings and the result."""

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

from toolglot.ir import Json
from toolglot.profiles import Auth

AUTHS: Final[Mapping[str, Auth]] = {
    "bearer": Auth(header="Authorization", prefix="Bearer "),
    "x-api-key": Auth(header="x-api-key"),
    "x-goog-api-key": Auth(header="x-goog-api-key"),
    "api-key": Auth(header="api-key"),
}
"""The ways of sending a key, the usual one first."""

EXCERPT: Final = 120
"""Characters of an answer that a finding may quote."""


class Probe(Struct, frozen=True, kw_only=True):
    """One small request. The key is not in it: whoever sends it adds the key in the way `auth`."""

    name: str
    method: Literal["GET", "POST"]
    url: str
    headers: Mapping[str, str] = {}
    body: Json | None = None
    auth: str = ""
    """A word of `AUTHS`; none: without a key."""

    def signed(self, key: str | None) -> dict[str, str]:
        """The headers to send, with the key if this probe is to carry it."""
        auth = AUTHS.get(self.auth)
        return {**self.headers, **(auth.with_key(key) if auth else {})}


class Answer(Struct, frozen=True, kw_only=True):
    """What came back. `failure` says in words why nothing did; the status is then 0."""

    status: int = 0
    headers: Mapping[str, str] = {}
    body: bytes = b""
    ms: int = 0
    failure: str = ""

    @property
    def ok(self) -> bool:
        """Whether the status says success."""
        return 200 <= self.status < 300  # noqa: PLR2004 - the meaning of the numbers is HTTP's

    @property
    def refused(self) -> bool:
        """Whether the request was read and declined; not for the key, the path or the load."""
        return self.status in (400, 406, 413, 415, 422, 500, 501)

    @property
    def no(self) -> str:
        """The word for a refusal: `fails` where the server does not say that it means it."""
        return "refused" if self.status < 500 else "fails"  # noqa: PLR2004 - HTTP's

    @property
    def locked(self) -> bool:
        """Whether a key is missing or wrong."""
        return self.status in (401, 403)

    def header(self, name: str) -> str:
        """A header by its name, in any case."""
        return next((text for key, text in self.headers.items() if key.lower() == name), "")


class Evidence(Struct, frozen=True, kw_only=True):
    """What a finding rests on."""

    probe: str
    status: int
    excerpt: str


class Finding(Struct, frozen=True, kw_only=True):
    """One thing that was found out. What was not found out has no finding."""

    subject: str
    value: str
    evidence: Evidence


class Spoken(Struct, frozen=True, kw_only=True):
    """A protocol that the server speaks, and where."""

    protocol: str
    base_url: str


class ProviderInfo(Struct, frozen=True, kw_only=True):
    """Who was asked. `auth` is a word of `AUTHS`, `none`, or empty where it is unknown."""

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

    format: Literal["json", "xml", "custom", "unknown"] = "unknown"
    example: str = ""
    parser: str = ""
    quirks: tuple[str, ...] = ()
    schema_style: Literal["openai", "anthropic", "custom", "unknown"] = "unknown"


class Asked(Struct, frozen=True, kw_only=True):
    """A probe that was sent and how it went."""

    probe: str
    method: str
    url: str
    status: int
    ms: int
    failure: str = ""


class DiscoveryResult(Struct, frozen=True, kw_only=True):
    """All that was found out. Only what was seen is in it."""

    provider: ProviderInfo
    sdk: SdkInfo | None
    tooling: ToolingInfo
    findings: tuple[Finding, ...] = ()
    asked: tuple[Asked, ...] = ()

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
        """Whether there was nothing to be found out without a key that is taken."""
        return not self.provider.protocols and self.get("key") in ("needed", "not accepted")
