"""The ledger: one entry for each request, and the sums that `toolglot usage` prints."""

from typing import Literal, Protocol, TypeAlias

from msgspec import Struct

GroupBy: TypeAlias = Literal["key", "model", "day", "provider"]


class LedgerEntry(Struct, frozen=True, kw_only=True):
    """One request and its outcome.

    `input` counts the tokens that the model read anew and `cached` those that it read from a cache;
    `output` includes `reasoning`. `first_ms` is None when no response began. The last three count
    the notes of the receipt by severity.
    """

    time: float
    key: str = ""
    client: str = ""
    model: str = ""
    provider: str = ""
    upstream_model: str = ""
    status: int = 200
    input: int = 0
    cached: int = 0
    output: int = 0
    reasoning: int = 0
    first_ms: float | None = None
    total_ms: float | None = None
    overhead_ms: float | None = None
    info: int = 0
    lossy: int = 0
    unsupported: int = 0

    @property
    def tokens(self) -> int:
        """The tokens that are charged to a budget."""
        return self.input + self.cached + self.output


class UsageSummary(Struct, frozen=True, kw_only=True):
    """The sums of a group; times are means. `name` is the key's name where groups are keys."""

    group: str
    name: str = ""
    requests: int
    errors: int
    input: int
    cached: int
    output: int
    reasoning: int
    first_ms: float | None
    total_ms: float | None
    overhead_ms: float | None
    lossy: int


class LedgerStore(Protocol):
    """The ledger, as the gateway writes it."""

    def record(self, entry: LedgerEntry) -> None:
        """Queue an entry. Never waits."""
        ...

    async def tokens(self, key: str, since: float = 0.0) -> int:
        """How many tokens a key has used since then, with all that was recorded so far."""
        ...

    async def close(self) -> None:
        """Write what is not written yet, and release everything."""
        ...
