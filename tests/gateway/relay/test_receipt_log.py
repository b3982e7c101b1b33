"""The latest receipts."""

from toolglot.gateway.relay.receipt_log import ReceiptLog


def test_the_oldest_are_forgotten():
    log = ReceiptLog()
    for number in range(4):
        log.add("me", str(number), {"n": number}, most=2)
    assert [log.get("me", str(number)) for number in range(4)] == [None, None, {"n": 2}, {"n": 3}]


def test_others_do_not_see_them():
    log = ReceiptLog()
    log.add("me", "1", {}, most=2)
    assert log.get("you", "1") is None
