"""Output that a target cannot be asked for, described in the system text."""

import json

import pytest

from toolglot import translate_request

OPEN = {"type": "object", "properties": {"any": {"type": "object"}}}
NODE = {"type": "object", "properties": {"next": {"$ref": "#"}}, "additionalProperties": False}
LIST = {"type": "array", "items": {"type": "string"}}
FIXED = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}


def sent(schema, target, *, provider, model, system=(), tools=()):
    asked = {"type": "json_schema", "json_schema": {"name": "o", "schema": schema}}
    body = {
        "model": model,
        "messages": [*system, {"role": "user", "content": "hi"}],
        "response_format": asked,
        **({"tools": [*tools]} if tools else {}),
    }
    wire, receipt = translate_request(body, source="openai-chat", target=target, provider=provider)
    return wire.body, receipt.codes()


@pytest.mark.parametrize("schema", [OPEN, NODE])
def test_a_schema_that_claude_cannot_enforce_is_told(schema):
    body, codes = sent(schema, "anthropic", provider="anthropic", model="claude-sonnet-4-5")
    assert "output_config" not in body
    assert json.loads(body["system"].partition("\n")[2]) == schema
    assert codes["output-described"] == 1


def test_one_that_it_can_enforce_is_asked_for():
    body, codes = sent(FIXED, "anthropic", provider="anthropic", model="claude-sonnet-4-5")
    assert "output_config" in body
    assert "system" not in body
    assert "output-described" not in codes


def test_json_is_asked_for_where_that_is_what_there_is():
    lead = {"role": "system", "content": "Be kind."}
    body, codes = sent(
        FIXED, "openai-chat", provider="deepseek", model="deepseek-v4-pro", system=[lead]
    )
    assert body["response_format"] == {"type": "json_object"}
    assert body["messages"][0]["content"].startswith("Be kind.\n\nYour final answer is JSON")
    assert codes["output-described"] == 1


def test_a_list_is_not_asked_for_as_an_object():
    body, codes = sent(LIST, "openai-responses", provider="openai", model="gpt-5.5")
    assert "text" not in body
    assert "JSON Schema" in json.dumps(body)
    assert codes["output-described"] == 1


def test_a_local_server_is_asked_for_a_list():
    body, codes = sent(LIST, "openai-chat", provider="vllm", model="qwen3")
    assert body["response_format"]["json_schema"]["schema"] == LIST
    assert "output-described" not in codes
