"""When an answer was made: seconds since the epoch in some protocols, RFC 3339 text in others."""

from datetime import UTC, datetime
from typing import TypeAlias

Timestamp: TypeAlias = int | float | str | None
"""A time as the wire had it."""


def epoch_seconds(created: Timestamp, default: int) -> int:
    """A time in whole seconds; the default for none, and for a text that is no time."""
    if isinstance(created, str):
        try:
            moment = datetime.fromisoformat(created)
        except ValueError:
            return default
        return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    return default if created is None else int(created)


def rfc3339(created: float | str, default: int = 0) -> str:
    """A time as text; the default for a number that no calendar has."""
    if isinstance(created, str):
        return created
    try:
        moment = datetime.fromtimestamp(created, UTC)
    except (OverflowError, OSError, ValueError):
        moment = datetime.fromtimestamp(default, UTC)
    return moment.isoformat().replace("+00:00", "Z")
