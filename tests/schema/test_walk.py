"""All schemas inside a schema are found, and changed without changing what is given."""

import copy

import pytest

from toolglot.schema.walk import CHILDREN, INNER, LISTS, TABLES, children, edit, schemas

LEAF = {"type": "string"}


@pytest.mark.parametrize("key", sorted(CHILDREN))
def test_a_schema_under_a_key_is_found(key):
    assert children({key: LEAF}) == [LEAF]
    assert children({key: True}) == []


@pytest.mark.parametrize("key", sorted(LISTS))
def test_schemas_in_a_list_are_found(key):
    assert children({key: [LEAF, True, {}]}) == [LEAF, {}]


@pytest.mark.parametrize("key", sorted(TABLES))
def test_schemas_by_name_are_found(key):
    assert children({key: {"a": LEAF, "b": False}}) == [LEAF]


def test_values_are_no_schemas():
    node = {"enum": [{"type": "x"}], "default": {"properties": {}}, "const": {}, "required": ["a"]}
    assert children(node) == []
    assert children({"properties": [LEAF], "anyOf": LEAF}) == []


def test_each_schema_comes_after_the_one_that_holds_it():
    inner = {"items": LEAF}
    top = {"properties": {"a": inner, "b": LEAF}}
    assert schemas(top) == [top, inner, LEAF, LEAF]


def marked(node):
    return {**node, "seen": True} if "type" in node else node


def test_every_schema_is_changed_and_what_was_given_is_not():
    union = {"anyOf": [LEAF, {"not": LEAF}]}
    schema = {"properties": {"a": union}, "items": [LEAF], "enum": [LEAF]}
    before = copy.deepcopy(schema)
    seen = {**LEAF, "seen": True}
    assert edit(schema, marked) == {
        "properties": {"a": {"anyOf": [seen, {"not": seen}]}},
        "items": [seen],
        "enum": [LEAF],
    }
    assert schema == before


def test_what_does_not_change_is_the_same_object():
    schema = {"properties": {"a": {"items": {}}, "b": LEAF}}
    assert edit(schema, lambda node: node) is schema
    changed = edit(schema, marked)
    assert changed["properties"]["a"] is schema["properties"]["a"]


def test_inner_schemas_are_changed_before_those_that_hold_them():
    order = []
    edit({"items": {"items": LEAF}}, lambda node: order.append("type" in node) or node)
    assert order == [True, False, False]


def test_only_some_keys_are_looked_into_if_wanted():
    schema = {"not": LEAF, "items": LEAF}
    changed = edit(schema, marked, keys=INNER - {"not"})
    assert changed["not"] is LEAF
    assert changed["items"] is not LEAF
