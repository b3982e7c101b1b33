"""OpenAPI 3.0 schemas as JSON Schema."""

import pytest

from toolglot.schema.openapi import from_openapi


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ({"type": "STRING"}, {"type": "string"}),
        ({"type": "TYPE_UNSPECIFIED"}, {}),
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        ({"type": "string", "nullable": False}, {"type": "string"}),
        (
            {"type": "STRING", "enum": ["a"], "nullable": True},
            {"type": ["string", "null"], "enum": ["a", None]},
        ),
        (
            {"anyOf": [{"type": "STRING"}], "nullable": True},
            {"anyOf": [{"type": "string"}, {"type": "null"}]},
        ),
        ({"type": "ARRAY", "minItems": "2"}, {"type": "array", "minItems": 2}),
        ({"type": "ARRAY", "maxItems": "many"}, {"type": "array", "maxItems": "many"}),
        ({"nullable": True}, {}),
        (
            {"type": "OBJECT", "properties": {"a": {"type": "INTEGER"}}},
            {"type": "object", "properties": {"a": {"type": "integer"}}},
        ),
    ],
)
def test_spellings_of_openapi_are_read(given, read):
    assert from_openapi(given) == read


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"type": ["string", "null"]}])
def test_json_schema_is_returned_itself(schema):
    assert from_openapi(schema) is schema
