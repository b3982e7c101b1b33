"""Schemas that are `true` or `false`, as objects."""

from toolglot import translate_request
from toolglot.schema.booleans import write_booleans


def test_booleans_become_objects_wherever_schemas_are():
    schema = {
        "type": "object",
        "properties": {"a": True, "b": {"anyOf": [False, {"type": "string"}]}},
        "additionalProperties": False,
    }
    made, count = write_booleans(schema)
    assert made == {
        "type": "object",
        "properties": {"a": {}, "b": {"anyOf": [{"not": {}}, {"type": "string"}]}},
        "additionalProperties": False,
    }
    assert count == 2
    assert schema["properties"]["a"] is True


def test_what_has_none_is_returned_itself():
    schema = {"type": "object", "properties": {"a": {"default": True, "enum": [True]}}}
    assert write_booleans(schema) == (schema, 0)
    assert write_booleans(schema)[0] is schema


def test_ollama_gets_objects():
    parameters = {"type": "object", "properties": {"x": True}}
    tool = {"type": "function", "function": {"name": "f", "parameters": parameters}}
    wire, receipt = translate_request(
        {"model": "m", "messages": [{"role": "user", "content": "hi"}], "tools": [tool]},
        source="openai-chat",
        target="ollama",
    )
    assert wire.body["tools"][0]["function"]["parameters"]["properties"] == {"x": {}}
    assert ("schema-narrowed", "tools[0]") in [(note.code, note.path) for note in receipt]
