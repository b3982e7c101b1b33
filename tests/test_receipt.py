"""Notes, receipts and the catalogue of codes."""

import re
from typing import get_args

import msgspec
import pytest

from toolglot.receipt import CATALOGUE, SEVERITIES, Note, Receipt, Severity

INFO = Note("id-made", "info", "messages[0]", "made one")
LOSSY = Note("stop-mapped", "lossy", "", "nearest one")
GONE = Note("field-dropped", "unsupported", "seed", "no such thing")


def test_a_note_in_words():
    assert str(INFO) == "info: id-made at messages[0]: made one"
    assert str(LOSSY) == "lossy: stop-mapped: nearest one"


def test_a_receipt_in_words():
    assert str(Receipt((INFO, LOSSY))) == f"{INFO}\n{LOSSY}"
    assert str(Receipt()) == "nothing was changed"


def test_a_receipt_is_a_sequence_of_notes():
    receipt = Receipt((LOSSY, INFO))
    assert list(receipt) == [LOSSY, INFO]
    assert len(receipt) == 2
    assert receipt
    assert not Receipt()
    assert len(Receipt()) == 0


def test_losses_are_everything_above_info():
    assert Receipt((INFO, LOSSY, GONE, INFO)).losses == (LOSSY, GONE)
    assert Receipt((INFO,)).losses == ()


def test_counts_name_every_severity():
    assert Receipt((INFO, LOSSY, INFO)).counts() == {"info": 2, "lossy": 1, "unsupported": 0}
    assert Receipt().counts() == {"info": 0, "lossy": 0, "unsupported": 0}
    assert tuple(Receipt().counts()) == SEVERITIES


def test_codes_are_counted_in_order_of_appearance():
    codes = Receipt((LOSSY, INFO, LOSSY)).codes()
    assert list(codes.items()) == [("stop-mapped", 2), ("id-made", 1)]


def test_receipts_are_values():
    assert Receipt((INFO,)) == Receipt((INFO,))
    with pytest.raises(AttributeError):
        INFO.code = "other"
    with pytest.raises(AttributeError):
        Receipt().notes = ()


def test_a_receipt_can_be_written_down():
    receipt = Receipt((INFO, GONE))
    assert msgspec.json.decode(msgspec.json.encode(receipt), type=Receipt) == receipt


def test_severities_are_those_of_the_type():
    assert get_args(Severity) == SEVERITIES


@pytest.mark.parametrize("code", CATALOGUE)
def test_the_catalogue_is_readable(code):
    entry = CATALOGUE[code]
    assert re.fullmatch(r"[a-z]+(-[a-z]+)+", code)
    assert entry.severity in SEVERITIES
    assert entry.meaning
    assert not entry.meaning.endswith(".")


def test_meanings_differ():
    meanings = [entry.meaning for entry in CATALOGUE.values()]
    assert len(set(meanings)) == len(meanings)
