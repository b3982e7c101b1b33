"""Translating wire to wire: what passes untouched, options, refusals and receipts."""

import copy
import json

import pytest
from tests.wires import NAMES, PAIRS, answer, asking, assistant, call, path_to, result, said, user

import toolglot
from toolglot import (
    Context,
    DecodeError,
    Options,
    UnknownProtocolError,
    UntranslatableError,
    WireRequest,
    get_protocol,
    ir,
    translate_request,
    translate_response,
)

HI = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}

IN_BODY = [name for name in NAMES if "{model}" not in get_protocol(name).SURFACE.path]
"""Protocols whose requests name the model in the body."""

# --- one protocol ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_request_passes_untouched_to_its_own_protocol(name):
    body = said(asking(user("hi"), assistant(call("f")), user(result("done"))), name)
    body = {**body, "model": "some-model", "unknown": {"z": [1.0, None], "a": 2**70}}
    wire, receipt = translate_request(body, source=name, target=name, path=path_to(name))
    assert json.dumps(wire.body) == json.dumps(body)
    assert wire.path == path_to(name)
    assert not receipt


@pytest.mark.parametrize("name", NAMES)
def test_a_response_passes_untouched_to_its_own_protocol(name):
    body = {**toolglot.encode_response(answer("hi"), target=name).body, "unknown": {"z": 1}}
    wire, receipt = translate_response(body, source=name, target=name, headers={"X-A": "b"})
    assert json.dumps(wire.body) == json.dumps(body)
    assert wire.headers == {"x-a": "b"}
    assert not receipt


@pytest.mark.parametrize("name", NAMES)
def test_an_error_passes_untouched_to_its_own_protocol(name):
    body = {"error": {"message": "no", "z": 1}}
    wire, _ = translate_response(body, source=name, target=name, status=418)
    assert (wire.status, wire.body) == (418, body)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_unsound_does_not_pass_even_there(name):
    key = get_protocol(name).SURFACE.messages.path
    with pytest.raises(DecodeError) as caught:
        translate_request({"model": "m", key: 7}, source=name, target=name)
    assert caught.value.path == key


@pytest.mark.parametrize("name", IN_BODY)
def test_only_the_model_is_replaced(name):
    body = {**said(asking(user("hi")), name), "unknown": 1}
    wire, _ = translate_request(body, source=name, target=name, model="other")
    assert wire.body == {**body, "model": "other"}


def test_the_model_is_replaced_in_the_path():
    wire, _ = translate_request(
        {"contents": []}, source="gemini", target="gemini", path=path_to("gemini"), model="other"
    )
    assert wire.path == "/v1beta/models/other:generateContent"


# --- paths ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("source", IN_BODY)
def test_gemini_has_model_and_streaming_in_the_path(source, stream):
    body = said(asking(user("hi"), stream=stream), source)
    wire, _ = translate_request(body, source=source, target="gemini")
    verb = "streamGenerateContent" if stream else "generateContent"
    assert wire.path == f"/v1beta/models/some-model:{verb}"
    assert wire.query == ({"alt": "sse"} if stream else {})
    assert "model" not in wire.body
    assert "stream" not in wire.body


@pytest.mark.parametrize("target", IN_BODY)
def test_what_gemini_has_in_the_path_goes_into_the_body(target):
    path = "/v1beta/models/gemini-3-pro:streamGenerateContent"
    body = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    wire, _ = translate_request(body, source="gemini", target=target, path=path)
    assert wire.body["model"] == "gemini-3-pro"
    assert wire.body["stream"] is True
    assert wire.path == get_protocol(target).SURFACE.path


def test_gemini_without_a_path_or_model_is_refused():
    with pytest.raises(DecodeError, match="model: expected string, but it is missing"):
        translate_request({"contents": []}, source="gemini", target="anthropic")


# --- strict ---------------------------------------------------------------------------------------


def test_strict_refuses_what_loses_meaning():
    with pytest.raises(UntranslatableError) as caught:
        translate_request(
            {**HI, "top_k": 5}, source="anthropic", target="openai-responses", strict=True
        )
    assert [note.code for note in caught.value.notes] == ["field-dropped"]
    assert str(caught.value).startswith("top_k: ")


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_strict_lets_pass_what_loses_nothing(source, target):
    body = said(asking(user("hi"), assistant("yes"), user("go")), source)
    wire, receipt = translate_request(
        body, source=source, target=target, path=path_to(source), strict=True
    )
    assert receipt.losses == ()
    assert wire.body


def test_strict_refuses_responses_too():
    body = {"content": [], "stop_reason": "pause_turn"}
    with pytest.raises(UntranslatableError, match="pause_turn"):
        translate_response(body, source="anthropic", target="openai-chat", strict=True)
    translate_response(body, source="anthropic", target="openai-chat")


def test_strict_has_nothing_to_refuse_in_one_protocol():
    wire, _ = translate_request(
        {**HI, "unknown": 1}, source="anthropic", target="anthropic", strict=True
    )
    assert wire.body["unknown"] == 1


# --- refusals -------------------------------------------------------------------------------------

DEEP = b'{"model":"m","messages":' + b"[" * 10_000 + b"]" * 10_000 + b"}"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON: "),
        ("hello", "not JSON: Expecting value in line 1, column 1"),
        (b'{"model": "m",}', "not JSON"),
        (b"[]", "expected object, got array"),
        (b"null", "expected object, got null"),
        ("7", "expected object, got int"),
        (b'"x"', "expected object, got string"),
        (b'{"model": NaN}', "not JSON: NaN is not JSON"),
        (b'{"temperature": -Infinity}', "not JSON: -Infinity is not JSON"),
        (b'{"model": "\xff"}', "not UTF-8: byte 11 is 0xff"),
        (b'{"model":"m","model":"n"}', "model: the key is there twice"),
        (b'{"a":{"b":[{"c":1,"c":2}]}}', "a.b[0].c: the key is there twice"),
        (DEEP, "nested too deeply to be read"),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else None,
)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_json_object_is_refused(name, body, message):
    with pytest.raises(DecodeError) as caught:
        translate_request(body, source=name, target="anthropic", path=path_to(name))
    assert str(caught.value).startswith(message)
    with pytest.raises(DecodeError) as caught:
        translate_response(body, source=name, target="anthropic")
    assert str(caught.value).startswith(message)


def told(*parts):
    return {**HI, "messages": [{"role": "user", "content": list(parts)}]}


@pytest.mark.parametrize(
    ("source", "body", "message"),
    [
        ("anthropic", {}, "model: expected string, but it is missing"),
        ("anthropic", {"model": None}, "model: expected string, got null"),
        ("anthropic", {"model": 7}, "model: expected string, got int"),
        ("anthropic", {"model": "m"}, "messages: expected array, but it is missing"),
        ("anthropic", {**HI, "messages": {}}, "messages: expected array, got object"),
        ("anthropic", {**HI, "messages": [1]}, "messages[0]: expected object, got int"),
        (
            "anthropic",
            told({"type": "text", "text": "a"}, {"type": "text", "text": 5}),
            "messages[0].content[1].text: expected string, got int",
        ),
        ("anthropic", {**HI, "max_tokens": "9"}, "max_tokens: expected int, got string"),
        ("anthropic", {**HI, "stream": 1}, "stream: expected boolean, got int"),
        ("anthropic", {**HI, "tools": [{}]}, "tools[0].name: expected string, but it is missing"),
        (
            "openai-chat",
            {"model": "m", "messages": [{"role": "king", "content": "x"}]},
            "messages[0].role: expected one of system, developer, user, assistant, tool, function",
        ),
        ("openai-chat", {**HI, "temperature": "hot"}, "temperature: expected number, got string"),
        ("openai-chat", {**HI, "stop": [1]}, "stop[0]: expected string, got int"),
        ("openai-responses", {"model": "m", "input": 7}, "input: expected string or array"),
        (
            "openai-responses",
            {"model": "m", "input": [{"type": "function_call", "call_id": "c"}]},
            "input[0].name: expected string, but it is missing",
        ),
        ("gemini", {"contents": [{"role": "king"}]}, "contents[0].role: expected user or model"),
        (
            "gemini",
            {"contents": [{"parts": [{"functionCall": {"args": {}}}]}]},
            "contents[0].parts[0].functionCall.name: expected string, but it is missing",
        ),
        ("ollama", {"model": "m", "messages": [{}]}, "messages[0].role: expected string"),
        (
            "ollama",
            {"model": "m", "messages": [], "options": {"seed": "x"}},
            "options.seed: expected int, got string",
        ),
    ],
)
def test_what_does_not_fit_its_protocol_is_refused_with_its_path(source, body, message):
    target = "gemini" if source != "gemini" else "anthropic"
    with pytest.raises(DecodeError) as caught:
        translate_request(body, source=source, target=target, path=path_to(source))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(("source", "target"), [("nope", "anthropic"), ("anthropic", "nope")])
def test_unknown_protocols_are_refused(source, target):
    with pytest.raises(UnknownProtocolError, match="nope"):
        translate_request(HI, source=source, target=target)
    with pytest.raises(UnknownProtocolError, match="nope"):
        translate_response({}, source=source, target=target)


def test_unknown_options_are_refused():
    with pytest.raises(TypeError, match="speed"):
        translate_request(HI, source="anthropic", target="gemini", speed=9)


# --- odd letters ----------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [n for n in NAMES if n != "anthropic"])
def test_lone_surrogates_survive(target):
    """X-05"""
    raw = json.dumps({**HI, "messages": [{"role": "user", "content": "a\ud83db"}]})
    wire, receipt = translate_request(raw.encode(), source="anthropic", target=target)
    assert b"a\\ud83db" in wire.data()
    assert [(note.code, note.path) for note in receipt if note.code == "surrogate-kept"] == [
        ("surrogate-kept", "messages[0].content")
    ]
    again = toolglot.decode_request(wire.data(), source=target, path=wire.path)
    assert again.messages[0].parts == (ir.Text(text="a\ud83db"),)


def test_a_body_may_be_text_bytes_or_an_object():
    forms = [HI, json.dumps(HI), json.dumps(HI).encode(), bytearray(json.dumps(HI).encode())]
    wires = [translate_request(form, source="anthropic", target="gemini")[0] for form in forms]
    assert all(wire.body == wires[0].body for wire in wires)


# --- contexts and receipts ------------------------------------------------------------------------


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_inputs_are_not_touched(source, target):
    body = said(asking(user("hi"), assistant(call("f")), user(result("x"))), source)
    kept = copy.deepcopy(body)
    translate_request(body, source=source, target=target, path=path_to(source))
    assert body == kept
    response = toolglot.encode_response(answer("hi", call("f")), target=source).body
    kept = copy.deepcopy(response)
    translate_response(response, source=source, target=target)
    assert response == kept


def test_a_context_of_ones_own():
    surfaces = get_protocol("openai-chat").SURFACE, get_protocol("anthropic").SURFACE
    ctx = Context(Options(max_tokens=5), source=surfaces[0], target=surfaces[1], now=1)
    wire, receipt = translate_request(HI, source="openai-chat", target="anthropic", context=ctx)
    assert wire.body["max_tokens"] == 9
    assert receipt == ctx.receipt()


def test_the_time_is_the_callers():
    surfaces = get_protocol("anthropic").SURFACE, get_protocol("openai-chat").SURFACE
    ctx = Context(source=surfaces[0], target=surfaces[1], now=1_700_000_000)
    wire, _ = translate_response(
        {"content": []}, source="anthropic", target="openai-chat", context=ctx
    )
    assert wire.body["created"] == 1_700_000_000
    plain, _ = translate_response({"content": []}, source="anthropic", target="openai-chat")
    assert plain.body["created"] == 0


def test_a_receipt_speaks_of_the_source():
    body = {
        "model": "m",
        "input": "hi",
        "max_output_tokens": 9,
        "text": {"verbosity": "low"},
        "truncation": "auto",
    }
    _, receipt = translate_request(body, source="openai-responses", target="anthropic")
    assert [(note.code, note.path) for note in receipt.losses] == [
        ("field-unknown", "truncation"),
        ("field-dropped", "text.verbosity"),
    ]


def test_made_ids_differ_with_the_input():
    def made(text):
        function = {"name": "f", "arguments": {"a": text}}
        body = {"message": {"role": "assistant", "tool_calls": [{"function": function}]}}
        wire, _ = translate_response(body, source="ollama", target="openai-chat")
        return wire.body["choices"][0]["message"]["tool_calls"][0]["id"]

    assert made("x") == made("x")
    assert made("x") != made("y")


@pytest.mark.parametrize("form", [dict, json.dumps, lambda body: json.dumps(body).encode()])
def test_what_the_client_asked_may_come_in_any_form(form):
    """X-17"""
    asked = form({"model": "asked", "messages": []})
    wire, _ = translate_response(
        {"content": [], "model": "given"}, source="anthropic", target="openai-chat", request=asked
    )
    assert wire.body["model"] == "asked"


def test_encoding_and_decoding_alone():
    request = asking(user("hi"))
    wire = toolglot.encode_request(request, target="openai-chat")
    assert isinstance(wire, WireRequest)
    assert wire.path == "/v1/chat/completions"
    again = toolglot.decode_request(wire.body, source="openai-chat")
    assert again.messages[0].parts == request.messages[0].parts
    response = toolglot.encode_response(answer("hi"), target="gemini")
    told_again = toolglot.decode_response(response.data(), source="gemini")
    assert isinstance(told_again, ir.Response)
    assert told_again.choices[0].parts == (ir.Text(text="hi"),)
    error = toolglot.decode_response({"error": {"message": "no"}}, source="openai-chat", status=404)
    assert isinstance(error, ir.ApiError)
    assert (error.kind, error.status) == ("not_found", 404)


@pytest.mark.parametrize("name", NAMES)
def test_a_carrier_does_not_pass_to_a_provider_of_the_clients_own_protocol(name):
    """X-18, case-36: the one thing that does not pass untouched."""
    source = "anthropic" if name != "anthropic" else "openai-responses"
    thought = ir.Reasoning(text="Hm.", signature="c2ln")
    body = toolglot.encode_response(answer(thought, "So."), target=source).body
    shown, _ = translate_response(body, source=source, target=name)
    decoded = toolglot.decode_response(shown.body, source=name)
    assert isinstance(decoded, ir.Response)
    history = said(asking(assistant(*decoded.choices[0].parts)), name)
    mark = get_protocol(name).SURFACE.reasoning.foreign_prefix or "tg1."
    assert mark in json.dumps(history)
    wire, receipt = translate_request(history, source=name, target=name, path=path_to(name))
    assert mark not in json.dumps(wire.body)
    assert "So." in json.dumps(wire.body)
    assert "reasoning-dropped" in receipt.codes()


@pytest.mark.parametrize("source", IN_BODY)
def test_what_a_client_asked_may_come_with_its_path(source):
    """X-17: and without, the model of the answer stands."""
    asked = toolglot.encode_request(asking(user("hi")), target="gemini")
    body = toolglot.encode_response(answer("hi"), target=source).body
    wire, _ = translate_response(body, source=source, target="gemini", request=asked)
    assert wire.body["modelVersion"] == "some-model"
    wire, _ = translate_response(body, source=source, target="gemini", request=asked.body)
    assert wire.body["modelVersion"] == "that-model"


@pytest.mark.parametrize("target", ["anthropic", "gemini", "ollama"])
def test_the_code_of_an_error_is_named_where_a_client_does_not_get_it(target):
    error = {"message": "no", "type": "invalid_request_error", "code": "odd_one", "param": "tools"}
    _, receipt = translate_response(
        {"error": error}, source="openai-chat", target=target, status=400
    )
    lost = {note.path for note in receipt if note.code == "field-dropped"}
    assert lost == {"error.code", "error.param"}


def test_the_code_of_an_error_is_kept_where_there_is_one():
    error = {"message": "no", "type": "invalid_request_error", "code": "odd_one", "param": None}
    wire, receipt = translate_response(
        {"error": error}, source="openai-chat", target="openai-responses", status=400
    )
    assert wire.body["error"]["code"] == "odd_one"
    assert not receipt


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses", "gemini", "ollama"])
def test_the_sequence_that_stopped_an_answer_is_named(target):
    body = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": "a"}],
        "stop_reason": "stop_sequence",
        "stop_sequence": "END",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    _, receipt = translate_response(body, source="anthropic", target=target)
    assert "stop_sequence" in {note.path for note in receipt}
