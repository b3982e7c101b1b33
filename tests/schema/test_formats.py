"""Formats that a target does not know are left out."""

import pytest

from toolglot.schema.formats import drop_formats

KNOWN = frozenset({"date"})


def test_unknown_formats_are_dropped_and_named_in_order():
    schema = {
        "properties": {
            "a": {"type": "string", "format": "uri"},
            "b": {"type": "string", "format": "date"},
            "c": {"items": {"format": "color"}},
        }
    }
    changed, dropped = drop_formats(schema, KNOWN)
    assert dropped == ("color", "uri")
    assert changed == {
        "properties": {
            "a": {"type": "string"},
            "b": {"type": "string", "format": "date"},
            "c": {"items": {}},
        }
    }


@pytest.mark.parametrize("schema", [{}, {"format": "date"}, {"properties": {"format": {}}}])
def test_what_has_nothing_to_drop_is_returned_itself(schema):
    changed, dropped = drop_formats(schema, KNOWN)
    assert changed is schema
    assert dropped == ()


def test_a_format_that_is_no_text_is_dropped():
    assert drop_formats({"format": 1}, KNOWN) == ({}, ("1",))
