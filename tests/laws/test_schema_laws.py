"""Laws of schemas: whatever a client declares, the target can take, and arguments come back."""

import copy
import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.laws.corpus import PAIRS, path_to
from tests.schema.generated import (
    conforming,
    forbidden,
    is_valid,
    schemas,
    wild_schemas,
    wild_values,
)

from toolglot import ir
from toolglot.context import Context
from toolglot.registry import get_protocol
from toolglot.schema.narrow import narrow
from toolglot.schema.openapi import from_openapi
from toolglot.schema.subsets import SUBSETS
from toolglot.translate import translate_request, translate_response
from toolglot.wire.message import WireRequest, WireResponse

slow_ok = settings(
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.filter_too_much,
    ]
)
dialects = pytest.mark.parametrize("dialect", SUBSETS)


@dialects
@given(data=st.data())
@slow_ok
def test_no_schema_breaks_a_narrower_or_its_rules(dialect: str, data: Any) -> None:
    """X-21, case-22: total, pure, within the rules, and done after one time."""
    schema = data.draw(schemas(closed=data.draw(st.booleans())))
    kept = copy.deepcopy(schema)
    narrowed = narrow(schema, SUBSETS[dialect])
    assert schema == kept, "the client's schema is not touched"
    if narrowed is None:
        assert SUBSETS[dialect].closed
        return
    assert forbidden(narrowed.schema, dialect) == []
    again = narrow(narrowed.schema, SUBSETS[dialect])
    assert again is not None
    assert again.schema is narrowed.schema, "twice is once"
    assert again.plan is None


@dialects
@given(data=st.data())
@slow_ok
def test_arguments_come_back_as_they_were_declared(dialect: str, data: Any) -> None:
    """case-23, X-21: what a client may be called with can be said to the target, and comes back."""
    rules = SUBSETS[dialect]
    schema = data.draw(schemas(closed=rules.closed))
    value = data.draw(conforming(schema, nulls=rules.all_required))
    assume(value is not None)
    narrowed = narrow(schema, rules)
    assume(narrowed is not None)
    told = narrowed.send(value)
    assert narrowed.widen(told) == value
    assert json.dumps(narrowed.widen(told)) == json.dumps(value), "in its order, 1 and true apart"
    if not rules.all_required or "anyOf" not in json.dumps(narrowed.schema):
        # Which of several objects a client meant is not guessed, so nothing is filled in there.
        assert is_valid(from_openapi(narrowed.schema), told)


@given(schema=wild_schemas(), values=st.lists(wild_values, min_size=5, max_size=20))
@slow_ok
def test_a_narrowed_schema_never_allows_less(schema: Any, values: list[Any]) -> None:
    """X-21: whatever a client may be called with, of whatever schema, can be said to Gemini; and
    what its subset allows beyond that is known, so that calls are checked.
    """
    narrowed = narrow(schema, SUBSETS["subset"])
    assert narrowed is not None
    assert forbidden(narrowed.schema, "subset") == []
    before = jsonschema_rs.validator_for(schema)
    after = jsonschema_rs.Draft202012Validator(narrowed.schema)
    for value in values:
        told = narrowed.send(value)
        if before.is_valid(value):
            assert after.is_valid(told), value
            assert narrowed.widen(told) == value
        elif after.is_valid(told):
            assert narrowed.inexact, value


# --- over all pairs ------------------------------------------------------------------------------

USER = "hello"
CALLS = {
    "anthropic": lambda args: {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "tool_use", "id": "toolu_1", "name": "f", "input": args}],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    },
    "openai-chat": lambda args: {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": "tool_calls",
                "message": {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {
                            "id": "call_1",
                            "type": "function",
                            "function": {"name": "f", "arguments": json.dumps(args)},
                        }
                    ],
                },
            }
        ],
    },
    "openai-responses": lambda args: {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": "completed",
        "output": [
            {
                "type": "function_call",
                "id": "fc_1",
                "call_id": "call_1",
                "name": "f",
                "arguments": json.dumps(args),
                "status": "completed",
            }
        ],
    },
    "gemini-interactions": lambda args: {
        "id": "v1_1",
        "object": "interaction",
        "model": "m",
        "status": "requires_action",
        "steps": [{"type": "function_call", "id": "call_1", "name": "f", "arguments": args}],
    },
    "gemini": lambda args: {
        "candidates": [
            {
                "content": {
                    "role": "model",
                    "parts": [{"functionCall": {"name": "f", "args": args}}],
                },
                "finishReason": "STOP",
            }
        ],
        "modelVersion": "m",
    },
    "ollama": lambda args: {
        "model": "m",
        "created_at": "2026-11-15T00:00:00Z",
        "message": {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"function": {"name": "f", "arguments": args}}],
        },
        "done": True,
        "done_reason": "stop",
    },
    "bedrock-converse": lambda args: {
        "output": {
            "message": {
                "role": "assistant",
                "content": [{"toolUse": {"toolUseId": "call_1", "name": "f", "input": args}}],
            }
        },
        "stopReason": "tool_use",
    },
}
"""An answer of each protocol that calls `f`."""


@pytest.mark.parametrize("dialect", [None, "openapi"])
@pytest.mark.parametrize(("source", "target"), PAIRS)
@given(data=st.data())
@slow_ok
def test_calls_come_back_as_declared_over_all_pairs(
    source: str, target: str, dialect: str | None, data: Any
) -> None:
    """X-21, D-06, case-21, case-23: the history tells the provider its form, the answer ours."""
    client, provider = get_protocol(source), get_protocol(target)
    strict = data.draw(st.booleans()) if client.SURFACE.tools.strict_default is not None else None
    schema = data.draw(schemas(closed=bool(strict)))
    value = data.draw(conforming(schema))
    assume(value is not None)
    called = ir.ToolCall(id="call_1", name="f", arguments=json.dumps(value))
    request = ir.Request(
        model="m",
        max_tokens=9,
        tools=(ir.FunctionTool(name="f", parameters=schema, strict=strict),),
        messages=(
            ir.Message(role="user", parts=(ir.Text(text=USER),)),
            ir.Message(role="assistant", parts=(called,)),
            ir.Message(role="user", parts=(ir.ToolResult(id="call_1", name="f"),)),
        ),
    )
    body = client.encode_request(request, Context(target=client.SURFACE)).body
    wire, receipt = translate_request(
        body, source=source, target=target, path=path_to(source), schema_dialect=dialect
    )
    told = provider.decode_request(
        WireRequest(body=wire.body, path=wire.path or path_to(target)), Context()
    )
    [history] = [p for m in told.messages for p in m.parts if isinstance(p, ir.ToolCall)]
    [tool] = told.tools
    assert isinstance(tool, ir.FunctionTool)
    if tool.parameters != schema:
        declared = f"{client.SURFACE.settings['tools']}[0]"
        places = {declared, f"{declared}.functionDeclarations[0]"}
        assert {note.path for note in receipt} & places
    if tool.strict and provider.SURFACE.schema.strict:
        assert forbidden(tool.parameters, provider.SURFACE.schema.strict) == []
    elif dialect or provider.SURFACE.schema.tools:
        assert forbidden(tool.parameters, dialect or provider.SURFACE.schema.tools) == []
    answer, _ = translate_response(
        CALLS[target](json.loads(history.arguments)),
        source=target,
        target=source,
        request=body,
        schema_dialect=dialect,
    )
    seen = client.decode_response(WireResponse(body=answer.body), Context())
    assert isinstance(seen, ir.Response)
    [call] = [part for part in seen.choices[0].parts if isinstance(part, ir.ToolCall)]
    assert json.loads(call.arguments) == value
