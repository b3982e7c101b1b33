"""One small request to an unknown provider, and its response."""

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
"""How a key may be sent, the usual way first."""


class Probe(Struct, frozen=True, kw_only=True):
    """One small request. The key is not in it: `signed` adds it, in the way that `auth` names."""

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


class ProbeResponse(Struct, frozen=True, kw_only=True):
    """What came back. `failure` says why nothing did; the status is then 0."""

    status: int = 0
    headers: Mapping[str, str] = {}
    body: bytes = b""
    ms: int = 0
    failure: str = ""
    probe: str = ""
    """The name of the probe, which discovery adds itself."""

    @property
    def ok(self) -> bool:
        """Whether the status says success."""
        return 200 <= self.status < 300  # noqa: PLR2004 - the meaning of the numbers is HTTP's

    @property
    def refused(self) -> bool:
        """Whether the request was read and rejected; not for the key, the path or the load."""
        return self.status in (400, 406, 413, 415, 422, 500, 501)

    @property
    def no(self) -> str:
        """The word for a rejection: `fails` where the status may also mean an accident."""
        return "refused" if self.status < 500 else "fails"  # noqa: PLR2004 - HTTP's

    @property
    def locked(self) -> bool:
        """Whether a key is missing or wrong."""
        return self.status in (401, 403)

    def header(self, name: str) -> str:
        """A header by its name, in any case."""
        return next((text for key, text in self.headers.items() if key.lower() == name), "")


class SentProbe(Struct, frozen=True, kw_only=True):
    """A probe that was sent, and how it went."""

    probe: str
    method: str
    url: str
    status: int
    ms: int
    failure: str = ""
