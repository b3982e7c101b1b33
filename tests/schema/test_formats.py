"""Formats that a target does not know are told in the description."""

import pytest

from toolglot.schema.formats import describe_formats

KNOWN = frozenset({"date"})


def test_unknown_formats_are_described_and_named_in_order():
    schema = {
        "properties": {
            "a": {"type": "string", "format": "uri", "description": "Where."},
            "b": {"type": "string", "format": "date"},
            "c": {"items": {"format": "color"}},
        }
    }
    changed, dropped = describe_formats(schema, KNOWN)
    assert dropped == ("color", "uri")
    assert changed == {
        "properties": {
            "a": {
                "type": "string",
                "description": 'Where.\n\nFurther JSON Schema: {"format": "uri"}',
            },
            "b": {"type": "string", "format": "date"},
            "c": {"items": {"description": 'Further JSON Schema: {"format": "color"}'}},
        }
    }


@pytest.mark.parametrize("schema", [{}, {"format": "date"}, {"properties": {"format": {}}}])
def test_what_has_nothing_to_drop_is_returned_itself(schema):
    changed, dropped = describe_formats(schema, KNOWN)
    assert changed is schema
    assert dropped == ()


def test_a_format_that_is_no_text_is_dropped():
    assert describe_formats({"format": 1}, KNOWN) == ({}, ("1",))
