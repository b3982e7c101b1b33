"""Schemas whose empty parts are written out."""

import pytest

from toolglot.schema.spelled_out import spell_out

LIST = {"type": "array"}
FULL = {"type": "array", "items": {}}


@pytest.mark.parametrize(
    ("given", "made", "count"),
    [
        ({"type": "object"}, {"type": "object", "properties": {}}, 1),
        (
            {"type": "object", "properties": {"a": LIST, "b": {"type": "object"}}},
            {"type": "object", "properties": {"a": FULL, "b": {"type": "object"}}},
            1,
        ),
        (
            {"type": "object", "$defs": {"d": {"anyOf": [LIST, {"type": "null"}]}}},
            {
                "type": "object",
                "$defs": {"d": {"anyOf": [FULL, {"type": "null"}]}},
                "properties": {},
            },
            2,
        ),
        ({"type": ["array", "null"]}, {"type": ["array", "null"], "items": {}}, 1),
    ],
)
def test_what_is_left_out_is_written(given, made, count):
    before = repr(given)
    assert spell_out(given) == (made, count)
    assert repr(given) == before


def test_a_schema_that_says_all_stays_the_same_object():
    schema = {"type": "object", "properties": {"a": FULL}}
    assert spell_out(schema)[0] is schema
