"""Tools as clients declare them, over every provider: the model is told all of a schema, and its
arguments come back as the client's own schema wants them.

The model is the demo, which sees only what the provider would.
"""

import json
from typing import Any

import jsonschema_rs
import pytest
from msgspec.structs import replace
from tests.schema.generated import forbidden
from tests.schema.tool_cases import CASES, parameters

from toolglot import ir
from toolglot.context import Context
from toolglot.demo import events, reply
from toolglot.registry import PROTOCOLS, get_protocol
from toolglot.streams import StreamTranslator
from toolglot.translate import translate_request, translate_response
from toolglot.wire.message import WireRequest

PROVIDERS: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, {}) for name in PROTOCOLS},
    "gemini, older": ("gemini", {"schema_dialect": "openapi"}),
    "moonshot": (
        "openai-chat",
        {"overrides": {"schema.tools": "moonshot", "schema.enforced": True}},
    ),
}


def asked(schema: dict[str, Any], *, strict: bool, stream: bool) -> dict[str, Any]:
    function = {"name": "moor", "description": "Moor a ship.", "parameters": schema}
    return {
        "model": "kimi-k2.6",
        "messages": [{"role": "user", "content": "Moor the ship."}],
        "tools": [{"type": "function", "function": {**function, "strict": strict}}],
        "tool_choice": "required",
        "stream": stream,
    }


def called(provider: str, body: dict[str, Any]) -> tuple[str, list[Any]]:
    """The arguments that a client gets for a request, and all notes on the way."""
    name, options = PROVIDERS[provider]
    wire, receipt = translate_request(body, source="openai-chat", target=name, **options)
    codec = get_protocol(name)
    request = codec.decode_request(
        WireRequest(body=wire.body, path=wire.path or "/v1beta/models/m:generateContent"), Context()
    )
    ctx = Context(source=codec.SURFACE, target=codec.SURFACE, seed=b"1")
    answer = reply(replace(request, tool_choice=ir.ToolChoice(mode="required")), ctx)
    assert isinstance(answer, ir.Response)
    more = {"request": body, **options}
    if body["stream"]:
        translator = StreamTranslator(name, "openai-chat", **more)
        encoder = codec.StreamEncoder(ctx)
        sent = b"".join(translator.feed(encoder.encode(event)) for event in events(answer))
        sent += translator.feed(encoder.close()) + translator.close()
        lines = [line[6:] for line in sent.decode().split("\n") if line.startswith("data: {")]
        deltas = [choice["delta"] for line in lines for choice in json.loads(line)["choices"]]
        calls = [call for delta in deltas for call in delta.get("tool_calls", ())]
        text = "".join(call["function"].get("arguments", "") for call in calls)
        return text, [*receipt, *translator.receipt]
    whole = codec.encode_response(answer, ctx)
    made, notes = translate_response(whole.body, source=name, target="openai-chat", **more)
    [call] = made.body["choices"][0]["message"]["tool_calls"]
    return call["function"]["arguments"], [*receipt, *notes]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("kind", CASES)
def test_arguments_are_what_the_client_declared(kind: str, provider: str, stream: bool) -> None:
    """X-21: limits are told where they cannot be declared, and arguments conform to the schema."""
    for case in CASES[kind]:
        if provider == "gemini, older" and kind == "recursion":
            continue  # It has no references: only two levels can be said.
        schema = parameters(case)
        for strict in (False, True):
            text, notes = called(provider, asked(schema, strict=strict, stream=stream))
            validator = jsonschema_rs.validator_for(schema)
            problems = [str(error) for error in validator.iter_errors(json.loads(text))]
            assert problems == [], (case, strict, text)
            codes = {note.code for note in notes}
            assert not codes & {"arguments-mismatch", "arguments-repaired"}, (case, notes)


@pytest.mark.parametrize("kind", CASES)
def test_what_is_sent_keeps_to_the_subset(kind: str) -> None:
    """X-21: for each provider that takes a subset."""
    for case in CASES[kind]:
        body = asked(parameters(case), strict=False, stream=False)
        for provider, subset in (("moonshot", "moonshot"), ("gemini", "subset")):
            name, options = PROVIDERS[provider]
            wire, _ = translate_request(body, source="openai-chat", target=name, **options)
            tool = wire.body["tools"][0]
            sent = (
                tool["function"]["parameters"]
                if provider == "moonshot"
                else tool["functionDeclarations"][0]["parametersJsonSchema"]
            )
            assert forbidden(sent, subset) == [], case
