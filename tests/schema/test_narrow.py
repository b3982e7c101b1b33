"""Narrowing: depth, growth, sharing, and the plan that turns arguments back."""

import pytest
from tests.counting import grows_linearly
from tests.schema.generated import forbidden

from toolglot.schema.convert import Texts
from toolglot.schema.formats import describe_formats
from toolglot.schema.narrow import narrow
from toolglot.schema.openapi import from_openapi
from toolglot.schema.subsets import CLOSED, JSON_SUBSET, OPENAPI, SEALED, SUBSETS, fits

DEPTH = 2000


def deep(*kinds):
    """A schema nested very deep, each level of the next kind."""
    schema = {"type": "string", "format": "uri", "nullable": True}
    for level in range(DEPTH):
        kind = kinds[level % len(kinds)]
        schema = {
            "object": lambda held: {"type": "object", "properties": {"a": held, "b": {"const": 1}}},
            "array": lambda held: {"type": "array", "items": held},
            "union": lambda held: {"anyOf": [held, {"type": "null"}]},
            "pair": lambda held: {
                "properties": {"a": held},
                "anyOf": [{"required": ["a"]}, {"minProperties": 1}],
            },
            "all": lambda held: {"allOf": [held]},
            "not": lambda held: {"type": "string", "not": held},
        }[kind](schema)
    return {"type": "object", "properties": {"top": schema}}


@pytest.mark.parametrize("subset", SUBSETS)
@pytest.mark.parametrize(
    "kinds", [("object",), ("array", "union"), ("all", "object"), ("pair",), ("not",)]
)
def test_depth_is_no_danger(subset, kinds):
    """X-21, case-22: no schema is too deep to be walked."""
    schema = deep(*kinds)
    narrowed = narrow(schema, SUBSETS[subset])
    if narrowed is not None:
        assert fits(narrowed.schema, SUBSETS[subset])
        assert narrowed.widen({"top": {"a": None}}) in ({"top": {"a": None}}, {"top": {}})


def test_other_walks_do_not_mind_depth_either():
    """S0-64, X-21."""
    schema = deep("object", "array", "union", "not")
    assert describe_formats(schema, frozenset())[1] == ("uri",)
    assert from_openapi(schema) is not schema


@pytest.mark.parametrize("subset", [OPENAPI, JSON_SUBSET])
def test_references_cannot_blow_a_schema_up(subset):
    """X-21: definitions that double at every step."""
    steps = {
        f"d{n}": {
            "type": "object",
            "properties": {key: {"$ref": f"#/$defs/d{n + 1}"} for key in ("a", "b", "c")},
        }
        for n in range(30)
    }
    steps["d30"] = {"$ref": "#/$defs/d0"}
    schema = {"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": steps}
    narrowed = narrow(schema, subset)
    assert narrowed is not None
    assert forbidden(narrowed.schema, subset.name) == []
    assert len(str(narrowed.schema)) < 500_000
    assert narrowed.lossy is (subset is OPENAPI), "where references can be kept, nothing is lost"


def test_what_was_made_of_a_schema_is_nobody_elses():
    """X-21: changing one in place changes no other."""
    schema = {"type": "object", "properties": {"a": {"const": "x"}}}
    one = narrow(schema, OPENAPI)
    assert one is not None
    one.schema["properties"]["a"]["enum"].append("y")
    two = narrow(schema, OPENAPI)
    assert two is not None
    assert two.schema["properties"]["a"]["enum"] == ["x"]


def test_what_fits_is_returned_itself():
    """S0-27, X-21."""
    schema = {"type": "object", "properties": {"enum": {"type": "string", "description": "d"}}}
    assert narrow(schema, OPENAPI).schema is schema
    assert narrow(schema, JSON_SUBSET).schema is schema


@pytest.mark.parametrize(
    ("text", "client"),
    [
        ('{"n": "2", "big": 12345678901234567890}', '{"n":2,"big":12345678901234567890}'),
        ('{"n": "7"}', '{"n": "7"}'),
        ('{"n": ', '{"n": '),
        ("[]", "[]"),
    ],
)
def test_texts_change_only_where_values_do(text, client):
    """case-23: what is no JSON, or nothing to turn back, stays byte for byte."""
    schema = {"type": "object", "properties": {"n": {"enum": [1, 2]}, "big": {"type": "integer"}}}
    assert Texts(narrow(schema, OPENAPI).plan).widen(text) == client


def test_a_text_that_could_be_something_else_is_not_listed():
    """case-23: beside free text, numbers stay numbers, so that "2" is a text and 2 a number."""
    schema = {
        "type": "object",
        "properties": {"n": {"anyOf": [{"type": "string"}, {"enum": [1, 2]}]}},
    }
    narrowed = narrow(schema, OPENAPI)
    assert narrowed.schema["properties"]["n"] == {
        "anyOf": [
            {"type": "string"},
            {"type": "integer", "description": 'Further JSON Schema: {"enum": [1, 2]}'},
        ]
    }
    assert narrowed.plan is None
    assert narrowed.loosened == ("enum",)


def test_null_that_is_a_value_in_one_of_several_objects_stays():
    """D-06."""

    def closed(required, **members):
        return {
            "type": "object",
            "properties": members,
            "required": required,
            "additionalProperties": False,
        }

    one = closed([], a={"type": "string"}, b={"type": "string"})
    two = closed(["a"], a={"type": "null"})
    narrowed = narrow(closed(["x"], x={"anyOf": [one, two]}), CLOSED)
    assert narrowed is not None
    assert narrowed.widen({"x": {"a": None, "b": None}}) == {"x": {"a": None}}
    assert narrowed.send({"x": {"a": "s"}}) == {"x": {"a": "s"}}


def narrowed_member(member, subset):
    schema = {
        "type": "object",
        "properties": {"a": member},
        "required": ["a"],
        "additionalProperties": False,
    }
    narrowed = narrow(schema, subset)
    assert narrowed is not None
    return narrowed.schema["properties"]["a"], narrowed


@pytest.mark.parametrize(("given", "kept"), [(0, 0), (1, 1), (2, 1), (9, 1)])
def test_min_items_above_what_the_target_takes_is_lowered(given, kept):
    """D-06: fewer items are allowed, and the description tells how many there must be."""
    member = {"type": "array", "items": {"type": "string"}, "minItems": given}
    made, narrowed = narrowed_member(member, SEALED)
    assert made["minItems"] == kept
    assert fits(narrowed.schema, SEALED)
    assert narrowed.dropped == ()
    assert narrowed.loosened == (("minItems",) if given > kept else ())
    words = f'Further JSON Schema: {{"minItems": {given}}}'
    assert made.get("description") == (words if given > kept else None)
    assert narrowed_member(member, CLOSED)[0]["minItems"] == given


def test_required_names_that_are_not_described():
    schema = {"type": "object", "properties": {"a": {"const": 1}}, "required": ["b", "a", "b"]}
    openapi = narrow(schema, OPENAPI)
    assert openapi.schema["required"] == ["a"]
    assert "required" in openapi.described
    assert openapi.schema["description"] == 'Further JSON Schema: {"required": ["b"]}'
    assert narrow(schema, JSON_SUBSET).schema["required"] == ["a", "b"]


def test_the_order_of_members_is_kept_for_those_that_are_left():
    schema = {
        "type": "object",
        "properties": {"a": {"const": "x"}, "b": False},
        "propertyOrdering": ["b", "a", "c"],
    }
    assert narrow(schema, OPENAPI).schema["propertyOrdering"] == ["a"]


@pytest.mark.parametrize("subset", [OPENAPI, JSON_SUBSET], ids=lambda subset: subset.name)
def test_an_array_of_nothing_is_empty(subset):
    schema = {"type": "object", "properties": {"none": {"type": "array", "items": False}}}
    assert narrow(schema, subset).schema["properties"]["none"]["maxItems"] == 0


def test_a_format_that_the_target_does_not_know_goes_from_listed_values_too():
    subset = next(each for each in SUBSETS.values() if each.formats is not None)
    listed = {"type": "string", "enum": ["ebb", "flow"], "format": "tide"}
    schema = {
        "type": "object",
        "properties": {"tide": listed},
        "required": ["tide"],
        "additionalProperties": False,
    }
    narrowed = narrow(schema, subset)
    assert narrowed.schema["properties"]["tide"]["enum"] == ["ebb", "flow"]
    assert "format" not in narrowed.schema["properties"]["tide"]
    assert "format" in narrowed.described


def test_a_tilde_in_a_pointer_is_unescaped_last():
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/x~01y"}},
        "$defs": {"x~1y": {"type": "integer"}, "x/y": {"type": "string"}},
    }
    assert narrow(schema, OPENAPI).schema["properties"]["a"]["type"] == "integer"


# --- cost ----------------------------------------------------------------------------------------

TEXT = {"type": "string", "minLength": 1}
WIDE = {
    "texts": lambda n: {"enum": [f"text {i}" for i in range(n)]},
    "values": lambda n: {"enum": [each for i in range(n) for each in (i, f"{i}", {"a": i})]},
    "constants": lambda n: {"oneOf": [{"const": i, "description": f"{i}"} for i in range(n)]},
    "alternatives": lambda n: {"anyOf": [{"type": "string", "maxLength": i} for i in range(n)]},
    "objects": lambda n: {
        "properties": {f"p{i}": TEXT for i in range(n)},
        "anyOf": [{"required": [f"p{i}"]} for i in range(n)],
    },
    "members": lambda n: {
        "type": "object",
        "properties": {f"p{i}": TEXT for i in range(n)},
        "required": [f"p{i}" for i in range(n)],
    },
    "merged": lambda n: {
        "allOf": [{"properties": {f"p{i}": TEXT}, "required": [f"p{i}"]} for i in range(n)]
    },
    "patterns": lambda n: {"allOf": [{"pattern": f"p{i}"} for i in range(n)]},
    "tuple": lambda n: {"type": "array", "prefixItems": [TEXT] * n},
    "uses": lambda n: {
        "type": "object",
        "properties": {f"p{i}": {"$ref": "#/$defs/d0"} for i in range(n)},
    },
    "chain": lambda _: {"$ref": "#/$defs/d0"},
}


def wide(kind, size):
    defs = {
        f"d{i}": {"type": "object", "properties": {"a": TEXT, "b": {"$ref": f"#/$defs/d{i + 1}"}}}
        for i in range(size if kind == "chain" else 1)
    }
    return {"type": "object", "properties": {"a": WIDE[kind](size)}, "$defs": defs}


@pytest.mark.parametrize("subset", ["openapi", "subset", "moonshot"])
@pytest.mark.parametrize("kind", WIDE)
def test_the_cost_grows_with_the_schema_and_no_faster(kind, subset):
    """X-21: nobody can stop a server with one large schema."""
    assert grows_linearly(lambda size: narrow(wide(kind, size), SUBSETS[subset]), 100)


@pytest.mark.parametrize("kind", ["objects", "members", "merged"])
def test_so_does_the_cost_of_a_top(kind):
    assert grows_linearly(lambda size: narrow(WIDE[kind](size), JSON_SUBSET), 100)
