"""The top of a tool's schema is an object."""

import pytest

from toolglot.schema.merge import References
from toolglot.schema.roots import is_object_root, object_root

TEXT, NUMBER = {"type": "string"}, {"type": "number"}


def root(schema):
    return object_root(schema, References(schema))


@pytest.mark.parametrize(
    ("schema", "fits"),
    [
        ({"type": "object"}, True),
        ({"type": "object", "properties": {"anyOf": {}}}, True),
        ({"type": "object", "anyOf": [{}]}, False),
        ({"type": "object", "not": {}}, False),
        ({"properties": {}}, False),
        ({"type": ["object"]}, False),
    ],
)
def test_what_is_an_object_and_nothing_else(schema, fits):
    assert is_object_root(schema) is fits


def test_a_schema_without_a_type_gets_one():
    made = root({"properties": {"a": TEXT}})
    assert made.schema == {"type": "object", "properties": {"a": TEXT}}
    assert (made.rewritten, made.lossy, made.wrapped) == (("type",), False, False)


def test_null_beside_an_object_is_dropped():
    made = root({"type": ["object", "null"], "nullable": True})
    assert made.schema == {"type": "object"}
    assert made.rewritten == ("type",)


def test_references_and_all_of_are_resolved():
    made = root({"$ref": "#/$defs/a", "$defs": {"a": {"type": "object", "required": ["x"]}}})
    assert made.schema["required"] == ["x"]
    assert made.schema["type"] == "object"
    assert "$ref" not in made.schema
    assert made.rewritten == ("$ref",)


@pytest.mark.parametrize("key", ["anyOf", "oneOf"])
def test_a_union_becomes_one_object(key):
    one = {"type": "object", "properties": {"a": TEXT, "b": TEXT}, "required": ["a", "b"]}
    two = {"type": "object", "properties": {"a": TEXT, "b": NUMBER}, "required": ["b"]}
    made = root({"description": "d", key: [one, two, {"type": "string"}]})
    assert made.schema == {
        "description": "d",
        "type": "object",
        "properties": {"a": TEXT, "b": {"anyOf": [TEXT, NUMBER]}},
        "required": ["b"],
    }
    assert made.lossy
    assert key in made.rewritten


@pytest.mark.parametrize("closed", [True, False])
def test_a_union_is_closed_if_all_branches_are(closed):
    branches = [
        {"type": "object", "additionalProperties": False},
        {"type": "object", "additionalProperties": not closed},
    ]
    made = root({"anyOf": branches})
    assert ("additionalProperties" in made.schema) is closed
    assert "required" not in made.schema


def test_what_is_no_object_is_wrapped_with_its_definitions_outside():
    made = root({"type": "array", "items": {"$ref": "#/$defs/a"}, "$defs": {"a": TEXT}})
    assert made.schema == {
        "type": "object",
        "properties": {"value": {"type": "array", "items": {"$ref": "#/$defs/a"}}},
        "required": ["value"],
        "$defs": {"a": TEXT},
    }
    assert made.wrapped
    assert made.rewritten == ("type",)


@pytest.mark.parametrize("schema", [{"enum": ["a", "b"]}, {"const": 1}])
def test_listed_values_that_are_no_objects_are_wrapped(schema):
    assert root(schema).wrapped


def test_conditions_at_the_top_are_a_loss():
    made = root({"type": "object", "not": {"required": ["a"]}})
    assert made.schema == {"type": "object"}
    assert made.lossy
