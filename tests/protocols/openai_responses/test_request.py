"""Requests of OpenAI Responses."""

import json
from typing import Any

import msgspec
import openresponses_types.types as open_responses
import pytest
from tests.protocols.harness import ELSEWHERE
from tests.protocols.openai_responses.helpers import (
    HISTORY,
    TOOL,
    decode,
    encode,
    foreign,
    load,
    user,
)

from toolglot import ir
from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.protocols import openai_responses as codec

# --- law 1: identity ------------------------------------------------------------------------------


def test_model_may_be_left_to_a_prompt_template():
    body = {"prompt": {"id": "pmpt_1"}, "input": "go"}
    assert decode(body).model == ""
    assert encode(decode(body)) == body
    assert encode(decode({**body, "model": ""})) == {**body, "model": ""}


# --- law 2: totality ------------------------------------------------------------------------------


NASTY: list[Any] = [
    {"model": 3},
    {"model": "m", "input": 3},
    {"model": "m", "input": {}},
    {"model": "m", "input": [3]},
    {"model": "m", "input": [{}]},
    {"model": "m", "input": [{"type": 3}]},
    {"model": "m", "input": [{"type": ["message"]}]},
    {"model": "m", "input": [{"role": 3}]},
    {"model": "m", "input": [{"role": "tool", "content": ""}]},
    {"model": "m", "input": [{"role": "user", "content": 3}]},
    {"model": "m", "input": [{"role": "user", "content": {}}]},
    {"model": "m", "input": [{"role": "user", "content": [3]}]},
    {"model": "m", "input": [{"role": "user", "content": [{}]}]},
    {"model": "m", "input": [{"role": "user", "content": [{"type": []}]}]},
    {"model": "m", "input": [{"role": "user", "content": [{"type": "input_text"}]}]},
    {"model": "m", "input": [{"role": "user", "content": [{"type": "input_text", "text": 3}]}]},
    {"model": "m", "input": [{"role": "user", "content": [{"type": "refusal"}]}]},
    {"model": "m", "input": [{"type": "function_call", "call_id": 3, "name": "f"}]},
    {"model": "m", "input": [{"type": "function_call", "call_id": "c"}]},
    {"model": "m", "input": [{"type": "custom_tool_call", "call_id": "c", "name": 3}]},
    {"model": "m", "input": [{"type": "function_call_output", "call_id": "c", "output": 3}]},
    {"model": "m", "input": [{"type": "function_call_output", "call_id": "c", "output": [3]}]},
    {"model": "m", "input": [{"type": "reasoning", "summary": "s"}]},
    {"model": "m", "input": [{"type": "reasoning", "id": 3}]},
    {"model": "m", "instructions": 3},
    {"model": "m", "tools": 3},
    {"model": "m", "tools": [3]},
    {"model": "m", "tools": [{}]},
    {"model": "m", "tools": [{"type": 3}]},
    {"model": "m", "tools": [{"type": "function"}]},
    {"model": "m", "tools": [{"type": "function", "name": "f", "parameters": 3}]},
    {"model": "m", "tools": [{"type": "custom", "name": 3}]},
    {"model": "m", "tools": [{"type": "namespace", "name": "n", "tools": [3]}]},
    {"model": "m", "tool_choice": "any"},
    {"model": "m", "tool_choice": 3},
    {"model": "m", "tool_choice": {}},
    {"model": "m", "tool_choice": {"type": 3}},
    {"model": "m", "tool_choice": {"type": "function"}},
    {"model": "m", "tool_choice": {"type": "allowed_tools", "mode": "none", "tools": []}},
    {"model": "m", "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": 3}},
    {"model": "m", "reasoning": 3},
    {"model": "m", "reasoning": {"effort": 3}},
    {"model": "m", "text": 3},
    {"model": "m", "text": {"format": 3}},
    {"model": "m", "text": {"format": {"type": "json_schema", "schema": 3}}},
    {"model": "m", "temperature": "hot"},
    {"model": "m", "max_output_tokens": 0.5},
]


@pytest.mark.parametrize("body", NASTY, ids=json.dumps)
def test_wrong_requests_are_refused_with_a_path(body):
    with pytest.raises(DecodeError) as caught:
        decode(body)
    assert caught.value.path


def test_the_path_says_where():
    body = load("request", "media")
    body["input"][0]["content"][3]["detail"] = 7
    with pytest.raises(DecodeError) as caught:
        decode(body)
    assert caught.value.path == "input[0].content[3].detail"


# --- the official types ---------------------------------------------------------------------------


def test_foreign_history_is_what_open_responses_takes():
    request = ir.Request(
        model="m", messages=HISTORY, tools=(TOOL,), system=user(ir.Text(text="Guard."))
    )
    body = encode(request, foreign())
    open_responses.CreateResponseBody.model_validate(body)
    assert body["instructions"] == "Guard."


# --- requests: rows of the tables -----------------------------------------------------------------


def test_settings():
    request = decode(load("request", "settings"))
    told = {
        "max_tokens": 2048,
        "temperature": 0.3,
        "top_p": 0.95,
        "top_logprobs": 4,
        "logprobs": True,
        "stream": True,
        "metadata": {"desk": "poetry"},
        "user": "u-77",
        "safety_identifier": "sha-1b2c",
        "service_tier": "flex",
        "cache_key": "sonnets",
        "cache_retention": "24h",
        "store": False,
        "parallel_tool_calls": False,
        "verbosity": "low",
        "reasoning": ir.ReasoningSettings(effort="high", summary="detailed"),
    }
    assert {field: getattr(request, field) for field in told} == told


def test_what_only_this_protocol_has_is_named():
    ctx = Context(source=codec.SURFACE, target=ELSEWHERE)
    decode(load("request", "settings"), ctx)
    found = {note.path: note.code for note in ctx.receipt()}
    assert found == {
        "reasoning.context": "field-unknown",
        "stream_options": "field-minor",
        "previous_response_id": "field-unknown",
        "truncation": "field-unknown",
        "background": "field-unknown",
        "max_tool_calls": "field-unknown",
        "client_metadata": "field-minor",
        "context_management": "field-unknown",
        "prompt_cache_options": "field-minor",
        "include": "field-minor",
    }


def test_effort_none_is_reasoning_off():
    settings_ = decode(load("request", "no-reasoning")).reasoning
    assert settings_ == ir.ReasoningSettings(enabled=False, effort="none")
    off = ir.Request(model="m", messages=(), reasoning=ir.ReasoningSettings(enabled=False))
    assert encode(off)["reasoning"] == {"effort": "none"}


def test_bare_input_is_one_user_message():
    """S1-08."""
    request = decode(load("request", "bare-string"))
    assert request.messages == (user(ir.Text(text="When does the ferry to Föhr leave?")),)
    assert encode(msgspec.structs.replace(request, wire_form=""))["input"] == [
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "When does the ferry to Föhr leave?"}],
        }
    ]


def test_instructions_are_the_system_text():
    """S1-14."""
    system = decode(load("request", "bare-string")).system
    assert system == ir.Message(
        role="system", parts=(ir.Text(text="Answer like a lighthouse keeper."),)
    )


def test_several_system_texts_are_joined():
    ctx = foreign()
    system = ir.Message(role="system", parts=(ir.Text(text="a"), ir.Text(text="b"), TOOL_IMAGE))
    body = encode(ir.Request(model="m", messages=(), system=system), ctx)
    assert body["instructions"] == "a\n\nb"
    assert ctx.receipt().codes() == {"part-dropped": 1, "text-joined": 1, "default-added": 1}


TOOL_IMAGE = ir.Image(source=ir.Remote(url="https://a.example/x.png"))


def test_foreign_requests_are_stateless_and_ask_for_state():
    request = ir.Request(model="m", messages=(), reasoning=ir.ReasoningSettings(effort="low"))
    ctx = foreign()
    body = encode(request, ctx)
    assert (body["store"], body["include"]) == (False, ["reasoning.encrypted_content"])
    assert ctx.receipt().codes() == {"default-added": 1}
    plain = ir.Request(model="m", messages=(), logprobs=True, store=True)
    body = encode(plain, foreign())
    assert (body["store"], body["include"]) == (True, ["message.output_text.logprobs"])
    assert "include" not in encode(ir.Request(model="m", messages=()), foreign())


def test_structured_output():
    request = decode(load("request", "schema"))
    assert request.output is not None
    assert (request.output.kind, request.output.name, request.output.strict) == (
        "schema",
        "rivers",
        True,
    )
    assert list(request.output.schema["properties"]) == ["zulu", "names"]
    assert decode(load("request", "json-object")).output == ir.OutputFormat(kind="json")
    nameless = ir.OutputFormat(kind="schema", schema={"type": "object"})
    body = encode(ir.Request(model="m", messages=(), output=nameless), foreign())
    assert body["text"]["format"]["name"] == "response"
    odd = {"model": "m", "text": {"format": {"type": "yaml"}}}
    assert decode(odd).output is None
    assert encode(decode(odd)) == odd


def test_nothing_to_say_is_not_said():
    budget = ir.ReasoningSettings(budget=5)
    system = ir.Message(role="system", parts=())
    body = encode(ir.Request(model="m", messages=(), reasoning=budget, system=system))
    assert body == {"model": "m"}
    on = ir.Request(model="m", messages=(), reasoning=ir.ReasoningSettings(enabled=True))
    assert encode(on)["reasoning"] == {"effort": "medium"}


def test_unknown_service_tier_is_noted():
    ctx = foreign()
    assert "service_tier" not in encode(
        ir.Request(model="m", messages=(), service_tier="slow"), ctx
    )
    assert "field-dropped" in ctx.receipt().codes()
