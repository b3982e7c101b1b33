"""The latest receipts, so that clients can request them afterwards."""

from collections import OrderedDict

from toolglot.ir import Json


class ReceiptLog:
    """Receipts by their owner and the id of the request, the oldest first."""

    def __init__(self) -> None:
        self._receipts: OrderedDict[tuple[str, str], Json] = OrderedDict()

    def add(self, owner: str, request_id: str, receipt: Json, most: int) -> None:
        """Store a receipt, and no more than `most` in all."""
        self._receipts[owner, request_id] = receipt
        while len(self._receipts) > most:
            self._receipts.popitem(last=False)

    def get(self, owner: str, request_id: str) -> Json | None:
        """A receipt of the same owner; None if it is not stored."""
        return self._receipts.get((owner, request_id))

    def of(self, owner: str) -> list[Json]:
        """All receipts of an owner, the oldest first."""
        return [receipt for (whose, _), receipt in self._receipts.items() if whose == owner]
