"""What the keywords of a schema say, as far as they can be understood."""

import pytest

from toolglot.schema.keywords import (
    bound,
    conforming,
    inferred,
    is_filled,
    is_limit,
    is_null,
    is_open,
    labels_of,
    listed_values,
    table,
    texts,
    type_of,
)


def test_values_of_another_type_count_as_nothing():
    assert [is_filled(each) for each in ([1], [], None, "x", (1,))] == [True] + [False] * 4
    assert table({"a": 1}) == {"a": 1}
    assert table([1]) == {}
    assert texts(["a", 1, "b", "a"]) == ["a", "b"]
    assert texts("ab") == []


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ({"properties": {}}, ("object",)),
        ({"minProperties": 1}, ("object",)),
        ({"items": {}}, ("array",)),
        ({"pattern": "x"}, ("string",)),
        ({"multipleOf": 2}, ("number",)),
        ({"description": "x"}, ()),
    ],
)
def test_a_type_is_inferred_from_other_keywords(schema, types):
    assert inferred(schema) == types


def test_open_and_null():
    assert is_open({"patternProperties": {"x": {}}})
    assert not is_open({"patternProperties": {}})
    assert all(map(is_null, ({"type": "null"}, {"enum": [None]}, {"const": None})))
    assert not any(map(is_null, ({"type": ["null"]}, {"enum": [None, 1]}, {}, None)))


@pytest.mark.parametrize(
    ("key", "value", "fits"),
    [
        ("pattern", "x", True), ("pattern", 1, False),
        ("minimum", 1.5, True), ("minimum", True, False), ("minimum", "1", False),
        ("minItems", 2, True), ("minItems", 2.0, False),
    ],
)  # fmt: skip
def test_limits_have_values_that_fit(key, value, fits):
    assert is_limit(key, value) is fits


@pytest.mark.parametrize(
    ("flat", "types", "kept", "exact"),
    [
        ({"exclusiveMinimum": 3}, ("integer",), {"minimum": 4}, True),
        ({"exclusiveMaximum": 3}, ("integer",), {"maximum": 2}, True),
        ({"exclusiveMinimum": 3}, ("number",), {"minimum": 3}, False),
        ({"exclusiveMinimum": 3, "minimum": 9}, ("integer",), {"minimum": 9}, True),
        ({"exclusiveMaximum": 3, "maximum": 1}, ("integer",), {"maximum": 1}, True),
        ({"exclusiveMinimum": True}, ("integer",), {}, False),
    ],
)
def test_bounds_that_are_not_reached(flat, types, kept, exact):
    found: dict = {}
    assert bound(found, flat, next(iter(flat)), types) is exact
    assert found == kept


@pytest.mark.parametrize(
    ("branches", "values"),
    [
        ([{"const": 1}, {"enum": [2, 3]}, {"type": "null"}], [1, 2, 3, None]),
        ([{"const": 1, "title": "one"}], [1]),
        ([{"const": 1, "description": "one"}], None),
        ([{"type": "string"}], None),
        ([True], None),
    ],
)
def test_values_of_a_union_that_only_lists_them(branches, values):
    assert listed_values(branches) == values


@pytest.mark.parametrize(
    ("values", "types", "kept"),
    [
        ([1, 1, True, 1.5], (), [1, True, 1.5]),
        ([1, "a"], ("string",), ["a"]),
        ([1, 2], ("string",), ["1", "2"]),
        (["1", "x"], ("integer",), [1, "x"]),
        (["2"], ("boolean",), ["2"]),
    ],
)
def test_values_are_brought_to_their_types_if_none_fits(values, types, kept):
    found = conforming(values, types)
    assert found == kept
    assert [type(each) for each in found] == [type(each) for each in kept]


def test_every_value_has_a_text_of_its_own():
    assert labels_of([1, "1", True, "a"]) == {"1": 1, "true": True, '"1"': "1", "a": "a"}


def test_types_of_values():
    assert type_of(["a"]) == {"type": "string"}
    assert type_of([1, 1.5]) == {"type": "number"}
    assert type_of([1, "a"]) == {"type": ["integer", "string"]}
