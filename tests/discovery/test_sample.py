"""What one answer alone shows."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.discovery.scripted import JSON, Faithful, chat, chunk, sse

from toolglot.discovery import Probe, read_sample
from toolglot.discovery.probe_requests import PROBE_REQUESTS
from toolglot.errors import DecodeError
from toolglot.parsers import parse_tool_calls
from toolglot.registry import PROTOCOLS
from toolglot.translate import encode_request


def answer_of(protocol, question="tools"):
    """What a faithful server of a protocol answers."""
    request = replace(PROBE_REQUESTS[question], model="tiny")
    wire = encode_request(request, target=protocol)
    probe = Probe(name=question, method="POST", url=f"http://x{wire.path}", body=wire.body)
    return Faithful(protocols=(protocol,))(probe).body


@pytest.mark.parametrize("question", ["tools", "stream"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_sample_of_each_protocol_is_recognised(protocol, question):
    """S3-04, S3-43, S3-44: a body or a stream shows by its structure what it is."""
    data = answer_of(protocol, question)
    result = read_sample(data)
    assert result.protocol == protocol
    assert result.tooling.parser == protocol
    assert result.tooling.format == "json"
    assert "Paris" in result.tooling.example
    assert result.get("tools") == "called"
    assert (result.get("stream") is not None) is (question == "stream")
    assert result.provider.auth == ""
    assert result.sdk is None
    if question == "tools":
        assert parse_tool_calls(data, result.tooling.parser)[0].name == "get_weather"


@pytest.mark.parametrize(
    ("value", "protocol"),
    [
        (
            {"content": [{"type": "tool_use", "id": "1", "name": "calc", "input": {"x": 5}}]},
            "anthropic",
        ),
        ({"type": "tool_use", "id": "1", "name": "calc", "input": {"x": 5}}, "anthropic"),
        (
            {
                "role": "assistant",
                "tool_calls": [
                    {"id": "1", "type": "function", "function": {"name": "calc", "arguments": "{}"}}
                ],
            },
            "openai-chat",
        ),
        (
            {"type": "function_call", "call_id": "1", "name": "calc", "arguments": "{}"},
            "openai-responses",
        ),
        ({"functionCall": {"name": "calc", "args": {"x": 5}}}, "gemini"),
        ({"role": "model", "parts": [{"functionCall": {"name": "calc", "args": {}}}]}, "gemini"),
    ],
    ids=lambda value: value if isinstance(value, str) else ",".join(value),
)
def test_a_piece_of_an_answer_is_enough(value, protocol):
    result = read_sample(json.dumps(value).encode())
    assert result.protocol == protocol
    assert "calc" in result.tooling.example


def test_a_stream_as_an_array_of_json():
    part = {"functionCall": {"name": "look", "args": {}}}
    first = {"candidates": [{"content": {"role": "model", "parts": [part]}}]}
    last = {"candidates": [{"finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 3}}
    result = read_sample(json.dumps([first, last]).encode())
    assert result.protocol == "gemini"
    assert result.get("stream") == "whole"
    assert result.tooling.parser == "gemini"


def test_several_calls_in_a_sample():
    result = read_sample(answer_of("anthropic", "parallel"))
    assert result.get("parallel") == "yes"


@pytest.mark.parametrize(
    ("text", "dialect", "form"),
    [
        ('<tool_call>{"name": "look", "arguments": {}}</tool_call>', "hermes", "custom"),
        ('<tool name="look" at="sky"/>', "generic_tool_xml", "xml"),
        ("<tool>ls -la</tool>", "generic_tool_xml", "xml"),
        ("[TOOL_CALLS]look{}", "mistral", "custom"),
    ],
)
def test_plain_words_of_a_model(text, dialect, form):
    """S3-04: the dialect of calls in a text is found without being named."""
    result = read_sample(text.encode())
    assert result.protocol == ""
    assert result.get("tools") == "in text"
    assert result.get("dialect") == result.tooling.parser == dialect
    assert result.tooling.format == form


def test_calls_in_the_text_of_an_answer():
    text = '<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>'
    for data in (chat({"content": text}).body, sse(chunk({"content": text}), chunk({}, "stop"))):
        result = read_sample(data)
        assert result.protocol == "openai-chat"
        assert result.tooling.parser == "hermes"


def test_an_answer_in_words_says_nothing_about_tools():
    assert read_sample(chat({"content": "Hello."}).body).get("tools") is None


def test_reasoning_between_tags():
    assert read_sample(b"<think>Hm.</think>Hello.").get("reasoning") == "tags"


def test_errors_have_a_shape_too():
    assert (
        read_sample(b'{"type": "error", "error": {"message": "no"}}').get("errors") == "anthropic"
    )
    assert read_sample(b'{"error": {"code": 400, "status": "BAD_THING"}}').get("errors") == "gemini"
    assert read_sample(b'{"error": "no"}').get("errors") == "ollama"
    assert read_sample(b'{"detail": "no"}').findings == ()


def test_an_empty_sample_is_an_error():
    with pytest.raises(DecodeError, match="empty"):
        read_sample(b" \n")


@example(b'{"parts": {"type": {}, "content": []}}')
@given(st.binary(min_size=1, max_size=80) | JSON.map(lambda value: json.dumps(value).encode()))
def test_no_sample_raises_anything_else(data):
    try:
        result = read_sample(data)
    except DecodeError:
        return
    assert all(each.evidence.probe == "sample" for each in result.findings)


def places_in(value):
    """Every place of a JSON value: what holds it, and under which key."""
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from places_in(value[key])


@given(st.sampled_from(list(PROTOCOLS)), st.integers(0, 999), JSON)
def test_an_answer_with_one_thing_wrong_raises_nothing(protocol, number, wrong):
    """S3-06: whatever stands in the place of anything in an answer."""
    body = json.loads(answer_of(protocol))
    places = list(places_in(body))
    holder, key = places[number % len(places)]
    holder[key] = wrong
    assert read_sample(json.dumps(body).encode()).protocol in ("", *PROTOCOLS)


@given(st.sampled_from(list(PROTOCOLS)), st.integers(0, 999), st.binary(max_size=9))
def test_a_stream_with_one_piece_wrong_raises_nothing(protocol, start, wrong):
    data = answer_of(protocol, "stream")
    at = start % len(data)
    assert read_sample(data[: at + 1] + wrong + data[at + 5 :]).protocol in ("", *PROTOCOLS)
