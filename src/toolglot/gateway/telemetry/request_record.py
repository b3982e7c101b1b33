"""What is known of one request: the values that metrics, logs, traces and the ledger report."""

from typing import Any, Final

from msgspec import Struct

from toolglot.ir import Usage
from toolglot.receipt import Receipt

TOKEN_KINDS: Final = ("input", "cache_read", "cache_write", "output", "reasoning")
"""The fields of `Usage` that are reported; `reasoning` is part of `output`."""


class RequestRecord(Struct, kw_only=True):
    """One request. `started` and `first_byte` are readings of one monotonic clock, in seconds."""

    request_id: str
    client: str
    """The protocol that the client speaks."""

    started: float
    key_id: str = ""
    """The id of the virtual key that was used, never the key."""

    asked_model: str = ""
    provider: str = ""
    """The provider's name in the configuration."""

    protocol: str = ""
    """The protocol that the provider speaks."""

    model: str = ""
    """The model that the provider was asked for."""

    address: str = ""
    port: int | None = None
    stream: bool = False
    status: int = 0
    error: str = ""
    """The kind of the error, if it ended in one: `rate_limit`, `timeout`, …"""

    first_byte: float | None = None
    duration: float = 0.0
    """Seconds from the request to the end of its response; known at the end."""

    waited: float = 0.0
    """Seconds of these spent waiting for a provider or for the client; known at the end."""

    sent: bool = False
    """A provider was asked."""

    body_size: int = 0
    """Bytes of the request."""

    received: int = 0
    """Bytes of the provider's response, where they are counted."""

    received_lines: int = 0
    usage: Usage | None = None
    finish_reasons: tuple[str, ...] = ()
    receipt: Receipt = Receipt()
    retries: int = 0
    mended: str = ""
    """The refusal after which the request was changed and sent again, by its name in the table."""

    trace: Any = None
    """The trace that the request belongs to, if there is one."""

    @property
    def overhead(self) -> float:
        """Seconds that the gateway itself added."""
        return max(0.0, self.duration - self.waited)

    @property
    def time_to_first_byte(self) -> float | None:
        """Seconds from the request to the first byte of its response."""
        return None if self.first_byte is None else self.first_byte - self.started
