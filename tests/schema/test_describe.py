"""Limits that are told in descriptions, and read back."""

import pytest

from toolglot.schema.describe import Telling, read_told

LIMITS = {"minLength": 2, "pattern": '^a"b\n'}


def test_limits_follow_the_description():
    schema, told = Telling().describe({"type": "string", "description": "A name."}, LIMITS)
    assert told == ["minLength", "pattern"]
    assert schema == {
        "type": "string",
        "description": 'A name.\n\nFurther JSON Schema: {"minLength": 2, "pattern": "^a\\"b\\n"}',
    }


@pytest.mark.parametrize("words", [{}, {"description": "A name."}, {"description": "Two\n\nlines"}])
def test_what_is_told_can_be_read_back(words):
    schema = {"type": "object", "properties": {"a": {"type": "string", **words}}}
    told, _ = Telling().describe(schema["properties"]["a"], LIMITS)
    read = read_told({**schema, "properties": {"a": told}})
    assert read == {"type": "object", "properties": {"a": {"type": "string", **words, **LIMITS}}}


def test_what_is_told_beside_the_same_keyword_holds_as_well():
    told, _ = Telling().describe({"type": "object", "required": ["a"]}, {"required": ["b"]})
    assert read_told(told) == {
        "type": "object",
        "required": ["a"],
        "allOf": [{"required": ["b"]}],
    }


@pytest.mark.parametrize(
    "limits",
    [
        {"pattern": "x" * 2000},
        {"not": {"$ref": "#/$defs/gone"}},
        {"x-own": 1},
        {"$comment": "no limit"},
    ],
)
def test_what_would_be_too_long_or_means_nothing_there_is_not_told(limits):
    schema = {"type": "string"}
    assert Telling().describe(schema, limits) == (schema, [])


def test_all_descriptions_together_are_bounded():
    telling = Telling()
    texts = [telling.describe({}, {"pattern": "x" * 900})[0] for _ in range(500)]
    assert 50_000 < sum(len(str(each)) for each in texts) < 150_000


@pytest.mark.parametrize(
    "words",
    ["Further JSON Schema: {", "Further JSON Schema: [1]", "see Further JSON Schema: {}", ""],
)
def test_other_words_stay_words(words):
    schema = {"type": "string", "description": words}
    assert read_told(schema) == schema
