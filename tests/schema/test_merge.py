"""References are followed and `allOf` is merged; where that is not exact, more is allowed."""

import pytest

from toolglot.schema.merge import UNROLLED, References, cut, flatten

ROOT = {
    "$id": "https://x.example/s",
    "$defs": {
        "a": {"type": "string"},
        "b/c~d": {"type": "integer"},
        "anchored": {"$anchor": "here", "type": "boolean"},
    },
    "oneOf": [{"type": "null"}],
}


@pytest.mark.parametrize(
    ("ref", "found"),
    [
        ("#", ROOT),
        ("", ROOT),
        ("#/$defs/a", ROOT["$defs"]["a"]),
        ("https://x.example/s#/$defs/a", ROOT["$defs"]["a"]),
        ("#/$defs/b~1c~0d", ROOT["$defs"]["b/c~d"]),
        ("#/$defs/b%7E1c~0d", ROOT["$defs"]["b/c~d"]),
        ("#/oneOf/0", {"type": "null"}),
        ("#here", ROOT["$defs"]["anchored"]),
        ("#/oneOf/7", None),
        ("#/oneOf/x", None),
        ("#/$defs/none", None),
        ("#/$defs/a/type", None),
        ("#nowhere", None),
        ("https://elsewhere.example", None),
        (7, None),
    ],
)
def test_what_references_lead_to(ref, found):
    assert References(ROOT).find(ref) == found


def merged(*parts):
    return flatten({"allOf": list(parts)}, References({})).schema


@pytest.mark.parametrize(
    ("one", "two", "both"),
    [
        ({"minimum": 1}, {"minimum": 2}, {"minimum": 2}),
        ({"maximum": 1}, {"maximum": 2}, {"maximum": 1}),
        ({"minLength": 3}, {"minLength": 1}, {"minLength": 3}),
        ({"maxItems": 3}, {"maxItems": 9}, {"maxItems": 3}),
        ({"minimum": "x"}, {"minimum": 2}, {"minimum": "x"}),
        ({"type": "number"}, {"type": "integer"}, {"type": "integer"}),
        ({"type": ["string", "null"]}, {"type": "string"}, {"type": "string"}),
        ({"type": "string"}, {"type": "object"}, {"type": "string"}),
        ({"enum": [1, 2]}, {"enum": [2, 3]}, {"enum": [2]}),
        ({"enum": [1]}, {"enum": [2]}, {"enum": [1]}),
        ({"required": ["a"]}, {"required": ["b", "a"]}, {"required": ["a", "b"]}),
        ({"required": 1}, {"required": ["b"]}, {"required": ["b"]}),
        ({"title": "first"}, {"title": "second"}, {"title": "first"}),
        (
            {"properties": {"a": {"type": "string"}}},
            {"properties": {"a": {"minLength": 1}, "b": {}}},
            {"properties": {"a": {"allOf": [{"type": "string"}, {"minLength": 1}]}, "b": {}}},
        ),
        (
            {"items": {"type": "string"}},
            {"items": [{"minLength": 1}]},
            {
                "items": {"type": "string"},
                "prefixItems": [{"allOf": [{"type": "string"}, {"minLength": 1}]}],
            },
        ),
        (
            {"prefixItems": [{"type": "string"}]},
            {"prefixItems": [True, {"type": "null"}], "items": False},
            {"prefixItems": [{"type": "string"}, {"type": "null"}], "items": False},
        ),
    ],
)
def test_two_schemas_that_hold_at_once(one, two, both):
    assert merged(one, two) == both


def test_words_that_were_resolved_are_named():
    flat = flatten({"allOf": [{"$ref": "#/$defs/a"}]}, References(ROOT))
    assert flat.schema == {"type": "string"}
    assert flat.words == {"allOf", "$ref"}
    assert flat.refs == ("#/$defs/a",)
    assert not flat.cut


def test_false_is_never():
    assert flatten({"allOf": [False, {}]}, References({})).never
    assert flatten(False, References({})).never
    assert not flatten(True, References({})).never


def test_references_that_lead_nowhere_or_back_are_cut():
    assert flatten({"$ref": "#/none"}, References({})).cut
    root = {"$defs": {"a": {"type": "object", "properties": {"x": {"$ref": "#/$defs/a"}}}}}
    ref = "#/$defs/a"
    assert not flatten({"$ref": ref}, References(root), (ref,) * (UNROLLED - 1)).cut
    again = flatten({"$ref": ref}, References(root), (ref,) * UNROLLED)
    assert again.cut
    assert again.schema == {"type": "object"}


@pytest.mark.parametrize(
    ("schema", "left"),
    [
        (True, True),
        ({"type": "string", "pattern": "x", "title": "t"}, {"type": "string"}),
        ({"nullable": True, "description": "d"}, {"nullable": True, "description": "d"}),
        ({"properties": {}}, {"type": "object"}),
        ({"anyOf": []}, {}),
    ],
)
def test_what_is_left_of_a_schema_that_is_not_looked_into(schema, left):
    assert cut(schema) == left
