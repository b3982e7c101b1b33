"""Calls, results and signatures in requests of Gemini."""

import base64

import pytest
from google.genai import types as sdk
from msgspec.structs import replace
from tests.protocols.frames import gemini as chunks_of
from tests.protocols.gemini.helpers import bytes_of, codes, decode, encode, foreign, load, said

from toolglot.context import Context
from toolglot.events import (
    unfold,
)
from toolglot.ir import (
    Choice,
    Reasoning,
    Response,
    StopReason,
    Text,
    ToolCall,
    ToolResult,
)
from toolglot.protocols import gemini
from toolglot.protocols.gemini._variants import is_base64


def test_an_id_that_a_client_made_up_for_a_result_finds_its_call():
    """case-19: some clients name results although the calls have no ids."""
    calls = [{"functionCall": {"name": name, "args": {}}} for name in ("f", "g", "f")]
    results = [
        {"functionResponse": {"id": f"{name}-{place}", "name": name, "response": {"output": text}}}
        for place, (name, text) in enumerate((("f", "one"), ("g", "two"), ("f", "three")))
    ]
    body = {"contents": [{"role": "model", "parts": calls}, {"role": "user", "parts": results}]}
    request = decode(body)
    parts = [part for message in request.messages for part in message.parts]
    assert [part.id for part in parts] == ["call_0", "call_1", "call_2"] * 2
    assert encode(request)["contents"] == body["contents"]


def test_a_client_gets_ids_also_for_calls_that_had_none():
    """S0-04: or it makes up others for the results."""
    call = ToolCall(id="call_7", name="f", arguments="{}", id_made=True)
    choice = Choice(parts=(call,), stop=StopReason(kind="tool_calls"))
    response = Response(id="r", model="m", choices=(choice,))
    own = gemini.SURFACE
    for source, told in ((replace(own, name="another"), "call_7"), (own, None)):
        wire = gemini.encode_response(response, Context(source=source, target=own))
        (part,) = wire.body["candidates"][0]["content"]["parts"]
        assert part["functionCall"].get("id") == told


def test_ids_are_made_by_position():
    """case-19: no ids on the wire; equal ones between turns, results matched by order in a name."""
    request = decode(load("request", "calls-without-ids"))
    parts = [part for message in request.messages for part in message.parts]
    calls = [part for part in parts if isinstance(part, ToolCall)]
    results = [part for part in parts if isinstance(part, ToolResult)]
    assert [(call.id, call.name, call.id_made) for call in calls] == [
        ("call_0", "get_weather", True),
        ("call_1", "get_time", True),
        ("call_2", "get_weather", True),
        ("call_3", "get_time", True),
    ]
    assert [(result.id, result.parts[0].text) for result in results] == [
        ("call_0", "18 °C, drizzle"),
        ("call_2", "27 °C, clear"),
        ("call_1", "14:05"),
        ("call_3", "14:05"),
        ("result_4", "?"),
    ]
    earlier = decode({"contents": load("request", "calls-without-ids")["contents"][:2]})
    assert earlier.messages == request.messages[:2]


def test_given_ids_are_kept_and_never_made_twice():
    call = {"name": "f", "args": {}}
    body = {
        "contents": [
            {
                "role": "model",
                "parts": [
                    {"functionCall": {"id": "call_1", **call}},
                    {"functionCall": call},
                    {"functionCall": {"id": "call_1", **call}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {
                        "functionResponse": {
                            "id": "call_1",
                            "name": "f",
                            "response": {"output": "a"},
                        }
                    },
                    {"functionResponse": {"name": "f", "response": {"output": "b"}}},
                ],
            },
        ]
    }
    request = decode(body)
    assert [part.id for part in request.messages[0].parts] == ["call_1", "call_2", "call_1"]
    assert [part.id for part in request.messages[1].parts] == ["call_1", "call_2"]
    assert encode(request) == body


@pytest.mark.parametrize(
    ("response", "text", "is_error"),
    [
        ({"output": "fine"}, "fine", None),
        ({"error": "broken"}, "broken", True),
        ({"result": "fine"}, "fine", None),
        ({"content": "fine"}, "fine", None),
        ({"name": "f", "content": "fine"}, "fine", None),
        ({"name": "g", "content": "fine"}, '{"name":"g","content":"fine"}', None),
        ({"error": {"code": 7}}, '{"error":{"code":7}}', True),
        ({"output": 5}, '{"output":5}', None),
        ({"n": 12345678901234567890, "x": 1.0}, '{"n":12345678901234567890,"x":1.0}', None),
        ({}, "{}", None),
    ],
)
def test_results(response, text, is_error):
    """X-05, case-31: what a tool said, readable elsewhere and exact on the way back."""
    body = {
        "contents": [
            {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": response}}]}
        ]
    }
    request = decode(body)
    result = request.messages[0].parts[0]
    assert (result.parts, result.is_error, result.name) == ((Text(text=text),), is_error, "f")
    assert encode(request) == body


def test_an_edited_result_wins():
    body = {"contents": [{"parts": [{"functionResponse": {"name": "f", "response": {"a": 1}}}]}]}
    message = decode(body).messages[0]
    edited = replace(message.parts[0], parts=(Text(text="shortened …"),))
    wire = encode(said(edited))
    assert wire["contents"][0]["parts"][0]["functionResponse"]["response"] == {
        "output": "shortened …"
    }


def test_signature_stands_beside_the_call():
    """case-33: never inside functionCall, and on the very part that it came on."""
    request = decode(load("request", "agent-turn"))
    call = request.messages[1].parts[2]
    assert call.signature == base64.b64encode(b"sig of the first call").decode()
    wire = encode(said(replace(call, extras={})))["contents"][0]["parts"][0]
    assert wire.keys() == {"functionCall", "thoughtSignature"}
    assert "thoughtSignature" not in wire["functionCall"]


def test_signatures():
    """X-18: state on thoughts, texts, calls and parts of their own is kept."""
    parts = decode(load("request", "signatures")).messages[1].parts
    assert [type(part) for part in parts] == [
        Reasoning,
        Reasoning,
        Text,
        Text,
        Reasoning,
        ToolCall,
        ToolCall,
    ]
    assert [getattr(part, "redacted", False) for part in parts[:5]] == [
        False,
        True,
        False,
        False,
        True,
    ]
    assert all(part.signature for part in parts)
    assert parts[5].signature == "skip_thought_signature_validator"
    assert parts[6].signature == "not base64: at all"


@pytest.mark.parametrize(
    "signature", ["tg1.eyJhIjoxfQ==", "plain words", "é", "\ud800", "a", "YR==", "/-+_"]
)
def test_foreign_state_looks_like_base64_to_clients(signature):
    """X-18: google-genai decodes signatures, so what is no base64 is wrapped and unwrapped."""
    parts = (
        Reasoning(text="hm", signature=signature),
        Reasoning(signature=signature, redacted=True),
        Text(text="t", signature=signature),
        ToolCall(id="c", name="f", arguments="{}", signature=signature),
    )
    response = Response(id="r", model="m", choices=(Choice(parts=parts),))
    body = gemini.encode_response(response, foreign()).body
    sdk.GenerateContentResponse.model_validate(body)
    content = body["candidates"][0]["content"]
    assert decode({"contents": [content]}).messages[0].parts == parts
    for chunk in chunks_of(bytes_of(unfold(response), foreign())):
        sdk.GenerateContentResponse.model_validate(chunk)
    # The SDK writes the other alphabet, without changing the bytes.
    for part in content["parts"]:
        raw = base64.b64decode(part["thoughtSignature"])
        part["thoughtSignature"] = base64.urlsafe_b64encode(raw).decode()
    assert decode({"contents": [content]}).messages[0].parts == parts


def test_restored_state_goes_back_as_it_was():
    call = ToolCall(id="c", name="f", arguments="{}", signature="sig-of-a-proxy")
    assert (
        encode(said(call), foreign())["contents"][0]["parts"][0]["thoughtSignature"]
        == "sig-of-a-proxy"
    )


def test_a_broken_wrapping_is_left_alone():
    broken = base64.b64encode(b"toolglot:\xff").decode()
    body = {"contents": [{"parts": [{"text": "", "thoughtSignature": broken}]}]}
    request = decode(body)
    assert request.messages[0].parts[0].signature == broken
    assert encode(request) == body


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("", True),
        ("YQ", True),
        ("YQ==", True),
        ("YWI=", True),
        ("YWJj", True),
        ("-_-_", True),
        ("+/+/", True),
        ("Y", False),
        ("YQ=", True),
        ("YR==", False),
        ("YWJ=", False),
        ("YWJj====", False),
        ("-/-/", False),
        ("a b", False),
    ],
)
def test_base64_as_the_sdk_sees_it(text, valid):
    assert is_base64(text) is valid
    try:
        sdk.Part.model_validate({"text": "", "thoughtSignature": text})
    except ValueError:
        assert not valid
    else:
        assert valid


def test_calls_of_other_models_are_marked_for_gemini_3():
    """case-33: the documented word stands in for a signature that cannot be there."""
    calls = (ToolCall(id="a", name="f", arguments="{}"), ToolCall(id="b", name="f", arguments="{}"))
    request = said(Text(text="t"), *calls, role="assistant")

    def signatures(model, ctx):
        parts = encode(replace(request, model=model), ctx)["contents"][0]["parts"]
        return [part.get("thoughtSignature") for part in parts]

    ctx = foreign()
    assert signatures("gemini-3-pro", ctx) == [None, "skip_thought_signature_validator", None]
    assert codes(ctx) == ["default-added"]
    assert signatures("gemini-2.5-pro", foreign()) == [None, None, None]
    assert signatures("gemini-3-pro", Context()) == [None, None, None]
    signed = said(calls[0], replace(calls[1], signature="YQ=="), role="assistant")
    body = encode(replace(signed, model="gemini-3-pro"), foreign())
    assert "thoughtSignature" not in body["contents"][0]["parts"][0]


def test_arguments_that_are_no_object():
    ctx = foreign()
    parts = (
        ToolCall(id="a", name="f", arguments="[1]"),
        ToolCall(id="b", name="f", arguments="{oops"),
        ToolCall(id="c", name="f", arguments=""),
    )
    wires = encode(said(*parts), ctx)["contents"][0]["parts"]
    assert [wire["functionCall"]["args"] for wire in wires] == [
        {"$value": [1]},
        {"$invalid": "{oops"},
        {},
    ]
    assert codes(ctx) == ["arguments-wrapped", "arguments-invalid"]
