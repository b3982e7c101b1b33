"""Whether a schema is in the subset that a target takes."""

import pytest

from toolglot.schema.subsets import (
    CLOSED,
    JSON_SUBSET,
    MOONSHOT,
    OPENAPI,
    SEALED,
    SUBSETS,
    fits,
    is_of,
    kind,
    object_depth,
    types_of,
    within,
)

TEXT = {"type": "string"}
ALL = {"openapi", "subset", "closed", "sealed", "moonshot"}


def tool(**member):
    return {"type": "object", "properties": {"a": member}, "required": ["a"]}


def closed(**member):
    return {**tool(**member), "additionalProperties": False}


def test_every_subset_is_found_by_its_name():
    assert [SUBSETS[name] for name in SUBSETS] == [OPENAPI, JSON_SUBSET, CLOSED, SEALED, MOONSHOT]
    assert set(SUBSETS) == ALL


@pytest.mark.parametrize("subset", SUBSETS.values(), ids=SUBSETS)
def test_plain_parameters_are_in_every_subset(subset):
    assert fits(closed(**TEXT) if subset.closed else tool(**TEXT), subset)
    assert not fits({"type": "array", "items": TEXT}, subset)
    assert not fits({"properties": {}}, subset)


@pytest.mark.parametrize(
    ("member", "names"),
    [
        ({"type": "string", "const": "a"}, {"closed", "sealed"}),
        ({"type": "string", "enum": ["a"]}, ALL),
        ({"type": "integer", "enum": [1]}, ALL - {"openapi"}),
        ({"type": "boolean", "enum": [True]}, {"closed", "sealed", "moonshot"}),
        ({"type": "string", "enum": []}, set()),
        ({"type": "string", "enum": [1]}, set()),
        ({"type": "string", "pattern": "x"}, {"openapi", "closed", "sealed"}),
        ({"type": "string", "format": "uri"}, {"subset", "sealed"}),
        ({"type": "string", "format": "date-time"}, ALL - {"moonshot"}),
        ({"type": ["string", "null"]}, ALL - {"openapi"}),
        ({"type": "string", "nullable": True}, {"openapi"}),
        ({"type": "string", "nullable": False}, set()),
        ({"type": "array"}, {"subset", "moonshot"}),
        ({"type": "array", "items": TEXT, "minItems": 1}, ALL),
        ({"type": "array", "items": TEXT, "minItems": 2}, ALL - {"sealed"}),
        ({"type": "integer", "minimum": 1}, ALL - {"sealed"}),
        ({"anyOf": [TEXT, {"type": "integer"}]}, ALL),
        ({"anyOf": [TEXT], "description": "d"}, ALL - {"openapi"}),
        ({"anyOf": []}, set()),
        ({"description": "no type"}, {"subset"}),
        ({"type": "STRING"}, set()),
        ({"oneOf": [TEXT]}, set()),
        ({"$ref": "#/$defs/none"}, set()),
    ],
)
def test_members(member, names):
    found = {
        name
        for name, subset in SUBSETS.items()
        if fits(closed(**member) if subset.closed else tool(**member), subset)
    }
    assert found == names


def test_closed_objects_are_closed_and_may_have_to_require_all():
    assert not fits(tool(**TEXT), CLOSED)
    loose = {**closed(**TEXT), "required": []}
    assert not fits(loose, CLOSED)
    assert fits(loose, SEALED)
    assert not fits({**closed(**TEXT), "required": ["b"]}, SEALED)


def test_definitions_may_lead_back_in_some_subsets_only():
    ref = {"$ref": "#/$defs/x"}
    back = {**closed(**ref), "$defs": {"x": closed(**ref)}}
    assert fits(back, CLOSED)
    assert not fits(back, SEALED)
    assert fits({**closed(**ref), "$defs": {"x": TEXT}}, SEALED)


def test_output_needs_an_object_in_some_subsets_only():
    schema = {"type": "array", "items": TEXT}
    assert fits(schema, SEALED, tool=False)
    assert not fits(schema, CLOSED, tool=False)


def nested(depth):
    schema = closed(**TEXT)
    for _ in range(depth - 1):
        schema = closed(**schema)
    return schema


def test_depth_is_limited():
    assert object_depth(nested(4)) == 4
    assert fits(nested(10), CLOSED)
    assert not fits(nested(11), CLOSED)
    assert fits(nested(11), SEALED)


def test_size_is_limited():
    assert within(CLOSED, 10, 5000)
    assert not within(CLOSED, 11, 1)
    assert not within(CLOSED, 1, 5001)
    assert within(OPENAPI, 99, 99_999)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, "null"), (True, "boolean"), (1, "integer"), (1.0, "number"), ("", "string"),
        ({}, "object"), ([], "array"),
    ],
)  # fmt: skip
def test_kind(value, name):
    assert kind(value) == name
    assert is_of(value, {name})


def test_numbers_that_are_whole_are_integers():
    assert is_of(1, {"number"})
    assert is_of(1.0, {"integer"})
    assert not is_of(1.5, {"integer"})
    assert not is_of(True, {"integer", "number"})


def test_types_in_capitals_and_lists():
    assert types_of({"type": "STRING"}) == ("string",)
    assert types_of({"type": ["null", "string", "null", 1]}) == ("null", "string")
    assert types_of({"type": "TYPE_UNSPECIFIED"}) == ()
    assert types_of({}) == ()
