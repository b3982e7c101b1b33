"""What each place of a schema may hold."""

import pytest

from toolglot.schema.places import ImpossibleError, SchemaPlaces
from toolglot.schema.subsets import CLOSED, JSON_SUBSET, OPENAPI, SEALED

NODE = {
    "type": "object",
    "properties": {"n": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}},
    "required": ["n", "next"],
}


def schema(member, **defs):
    whole = {"type": "object", "properties": {"a": member}, "required": ["a"]}
    return {**whole, "$defs": defs} if defs else whole


def read(subset, member, *, keeps=True, **defs):
    return SchemaPlaces(schema(member, **defs), subset, tool=True, keeps=keeps)


def test_a_place_knows_where_it_is():
    inner = {"type": "object", "properties": {"b": {"type": "array", "items": {"const": 1}}}}
    places = read(JSON_SUBSET, {"anyOf": [inner, {"type": "null"}]})
    assert places.all[-1].path() == "a.b[]"


def test_references_are_kept_or_followed():
    kept = read(JSON_SUBSET, {"$ref": "#/$defs/node"}, node=NODE)
    assert kept.names == {"#/$defs/node": "node"}
    assert [place.ref for place in kept.all if place.ref] == ["#/$defs/node"] * 2
    followed = read(OPENAPI, {"$ref": "#/$defs/node"}, keeps=False, node=NODE)
    assert followed.definitions == {}
    assert [place.same_as for place in followed.all if place.same_as] == ["node"]


def test_a_member_that_leads_back_is_not_required():
    places = read(JSON_SUBSET, {"$ref": "#/$defs/node"}, node=NODE)
    assert places.definitions["#/$defs/node"].relaxed == {"next"}
    assert read(CLOSED, {"$ref": "#/$defs/node"}, node=NODE).root.relaxed == set()


@pytest.mark.parametrize(
    ("subset", "definition"),
    [
        (SEALED, NODE),
        (JSON_SUBSET, {"type": "array", "items": {"$ref": "#/$defs/node"}}),
    ],
)
def test_circles_that_a_subset_cannot_have(subset, definition):
    with pytest.raises(ImpossibleError):
        read(subset, {"$ref": "#/$defs/node"}, node=definition)


def test_names_of_definitions_are_plain_and_differ():
    refs = ["#/$defs/a~1b", "#/definitions/a_b", "#/properties/x/items"]
    whole = {
        "type": "object",
        "properties": {
            "x": {"type": "array", "items": {"type": "string"}},
            **{str(n): {"$ref": ref} for n, ref in enumerate(refs)},
        },
        "$defs": {"a/b": {"type": "string"}},
        "definitions": {"a_b": {"type": "integer"}},
    }
    places = SchemaPlaces(whole, JSON_SUBSET, tool=True, keeps=True)
    assert sorted(places.names.values()) == ["a_1b", "a_b", "items"]


def test_what_is_merged_in_part_is_lost_in_part():
    both = {"type": "string", "allOf": [{"pattern": "a"}, {"pattern": "b"}]}
    place = read(OPENAPI, both).all[1]
    assert place.flat["pattern"] == "a"
    assert place.lost == {"allOf": [{"pattern": "b"}]}
