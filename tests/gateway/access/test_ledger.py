"""Entries of the ledger."""

from toolglot.gateway.access.ledger import LedgerEntry


def test_a_budget_is_charged_for_all_that_was_read_and_written():
    entry = LedgerEntry(time=0.0, input=100, cached=50, output=30, reasoning=20)
    assert entry.tokens == 180, "reasoning is part of the output"
