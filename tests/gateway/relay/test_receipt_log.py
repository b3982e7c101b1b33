"""The latest receipts."""

from toolglot.gateway.relay.receipt_log import ReceiptLog
from toolglot.receipt import Note


def test_the_oldest_are_forgotten():
    log = ReceiptLog()
    for number in range(4):
        log.add("me", str(number), {"n": number}, most=2)
    assert [log.get("me", str(number)) for number in range(4)] == [None, None, {"n": 2}, {"n": 3}]


def test_others_do_not_see_them():
    log = ReceiptLog()
    log.add("me", "1", {}, most=2)
    assert log.get("you", "1") is None


def test_long_ones_are_fewer():
    log = ReceiptLog(most_bytes=10_000)
    note = Note("field-dropped", "info", "a", "x" * 4000)
    for number in range(4):
        log.add("me", str(number), {"notes": (note,)}, most=9)
    assert [log.get("me", str(number)) is not None for number in range(4)] == [
        False, False, True, True,
    ]  # fmt: skip
    log.add("me", "3", {"notes": ()}, most=9)
    log.add("me", "4", {"notes": (note,)}, most=9)
    assert log.get("me", "2") is not None
    log.add("me", "huge", {"notes": (note,) * 9}, most=9)
    assert log.get("me", "huge") is None
