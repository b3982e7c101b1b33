"""The latest receipts, so that clients can request them afterwards."""

from collections import OrderedDict
from typing import Final

from toolglot.ir import Json

_MOST_BYTES: Final = 2**25
"""Bytes of the words of all receipts together, roughly."""
_OVERHEAD: Final = 500


class ReceiptLog:
    """Receipts by their owner and the id of the request, the oldest first."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._receipts: OrderedDict[tuple[str, str], tuple[int, Json]] = OrderedDict()
        self._bytes, self._most_bytes = 0, most_bytes

    def add(self, owner: str, request_id: str, receipt: Json, most: int) -> None:
        """Store a receipt, and no more than `most` in all."""
        before = self._receipts.pop((owner, request_id), None)
        size = _OVERHEAD + sum(
            len(each.path) + len(each.message) for each in receipt.get("notes", ())
        )
        self._receipts[owner, request_id] = size, receipt
        self._bytes += size - (before[0] if before is not None else 0)
        while len(self._receipts) > most or (self._bytes > self._most_bytes and self._receipts):
            _, (gone, _) = self._receipts.popitem(last=False)
            self._bytes -= gone

    def get(self, owner: str, request_id: str) -> Json | None:
        """A receipt of the same owner; None if it is not stored."""
        found = self._receipts.get((owner, request_id))
        return found[1] if found is not None else None

    def of(self, owner: str) -> list[Json]:
        """All receipts of an owner, the oldest first."""
        return [receipt for (whose, _), (_, receipt) in self._receipts.items() if whose == owner]
