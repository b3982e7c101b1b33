"""The interface of storage for values.

A value is bytes under a kind, a key and an owner, and only its owner can read it. It lives for a
limited time, and when all values together grow too large, some are deleted.
"""

import logging
from typing import Final, NamedTuple, Protocol

_log = logging.getLogger(__name__)

TTL_SECONDS: Final = 30 * 86400.0
_OVERHEAD_BYTES: Final = 200
"""What an entry takes besides its value, roughly, so that empty values are not free."""


class Store(Protocol):
    """Values: stored responses, conversations and reasoning state."""

    async def get(self, kind: str, key: str, owner: str) -> bytes | None:
        """The value, if there is one."""
        ...

    async def may_hold(self, kind: str, owner: str) -> bool:
        """Whether there may be any value of a kind: False saves looking for many one by one."""
        ...

    async def put(self, kind: str, key: str, value: bytes, owner: str) -> None:
        """Store a value, in place of an older one."""
        ...

    async def delete(self, kind: str, key: str, owner: str) -> bool:
        """Delete a value; false if there was none."""
        ...

    async def list(
        self, kind: str, owner: str, prefix: str = "", limit: int = 100
    ) -> tuple[str, ...]:
        """The keys that begin with the prefix, sorted."""
        ...

    async def flush(self) -> None:
        """Return when all that was put so far would survive the end of the process."""
        ...

    async def close(self) -> None:
        """Write what is not written yet, and release everything."""
        ...


# --- what the backends share ----------------------------------------------------------------------


class Address(NamedTuple):
    """Where a value is stored."""

    owner: str
    kind: str
    key: str


def address_of(kind: str, key: str, owner: str) -> Address:
    """The address of a value, in text that every backend can store."""
    return Address(storable(owner), storable(kind), storable(key))


def storable(text: str) -> str:
    """Text as databases can hold it: lone surrogates, which JSON may carry, are escaped."""
    return text.encode("utf-8", "backslashreplace").decode()


def stored_size(address: Address, value: bytes | None) -> int:
    """The bytes that a value counts for."""
    return sum(map(len, address)) + len(value or b"") + _OVERHEAD_BYTES


def log_too_large(kind: str, size: int) -> None:
    """Log that a value is not stored."""
    _log.warning("a value of kind %s is too large to be stored: %d bytes", kind, size)
