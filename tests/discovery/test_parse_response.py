"""A protocol is recognised by the structure of a response alone."""

import pytest

from toolglot import ir
from toolglot.context import Context
from toolglot.discovery.parse_response import error_text, keys_of, parse_response, read_models
from toolglot.events import unfold
from toolglot.registry import PROTOCOLS, get_protocol
from toolglot.translate import encode_response

CALL = ir.ToolCall(id="call_1", name="get_weather", arguments='{"city":"Oslo"}')
ANSWER = ir.Response(
    id="r_1",
    model="m",
    choices=(ir.Choice(parts=(ir.Text(text="So."), CALL), stop=ir.StopReason(kind="tool_calls")),),
    usage=ir.Usage(input=3, output=5),
)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_whole_answer(protocol):
    parsed = parse_response(encode_response(ANSWER, target=protocol).data())
    assert (parsed.protocol, parsed.streamed, parsed.cut) == (protocol, False, False)
    assert parsed.text == "So."
    assert [call.name for call in parsed.calls] == ["get_weather"]
    assert "get_weather" in parsed.example


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_stream(protocol):
    encoder = get_protocol(protocol).StreamEncoder(Context())
    parsed = parse_response(b"".join(map(encoder.encode, unfold(ANSWER))) + encoder.close())
    assert (parsed.protocol, parsed.streamed, parsed.stream_usage) == (protocol, True, True)
    assert parsed.text == "So."
    assert [call.name for call in parsed.calls] == ["get_weather"]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"", "empty"),
        (b"<!DOCTYPE html><p>", "html"),
        (b"Not here.", "text"),
        (b"[1, 2]", "text"),
        (b'[{"a": 1}]', "json"),
        (b'{"a": 1}', "json"),
        (b'{"detail": "Not Found"}', "detail"),
        (b"\xff\xfe\x00", "text"),
    ],
)
def test_what_is_no_answer_has_a_shape(body, error):
    parsed = parse_response(body)
    assert (parsed.protocol, parsed.error, parsed.parts) == ("", error, ())


def test_words_of_errors():
    assert error_text(b'{"error": {"message": "No."}}') == "No."
    assert error_text(b'{"error": "No."}') == "No."
    assert error_text(b'{"detail": [1]}') == "[1]"
    assert error_text(b"No.") == "No."


def test_keys_and_models():
    assert keys_of(b'{"id": 1, "b": 2}') == "an object of id, b"
    assert keys_of(b'data: {"c": 1}\n\n') == "an object of c"
    assert read_models(b'{"data": [{"id": "m", "object": "model"}]}')[1] == ("m",)
    assert read_models(b"<p>") == ("", ())
