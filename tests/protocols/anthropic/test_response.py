"""Responses and errors of Anthropic Messages."""

import json

import anthropic as sdk
import pytest
from msgspec.structs import replace
from tests.protocols.anthropic.helpers import (
    answer,
    call,
    decode_response,
    encode_response,
    foreign,
    load,
)
from tests.protocols.harness import codes

import toolglot
from toolglot.context import Context
from toolglot.exchange import encode_stream
from toolglot.ir import (
    ApiError,
    Choice,
    Response,
    StopReason,
    Text,
    ToolCall,
    Usage,
)
from toolglot.protocols import anthropic


def test_a_call_of_another_protocol():
    """S0-29, S0-30 and S0-31: whoever said it, a call is a block with its input as an object."""
    arguments = '{"room":"cellar"}'
    response = answer(
        call("read_thermometer", arguments, "call_1"), stop=StopReason(kind="tool_calls")
    )
    body = encode_response(response, foreign())
    assert body["content"] == [
        {
            "type": "tool_use",
            "id": "call_1",
            "name": "read_thermometer",
            "input": {"room": "cellar"},
        }
    ]
    assert body["stop_reason"] == "tool_use"
    sdk.types.Message.model_validate(body)


def test_a_call_is_read_with_its_input_as_text():
    """S0-32: the reverse, as far as this protocol goes."""
    response = decode_response(load("response", "one_call"))
    assert response.choices[0].parts == (
        call("read_thermometer", '{"room":"cellar"}', "toolu_01W"),
    )
    assert response.choices[0].stop == StopReason(kind="tool_calls", raw="tool_use")


def test_text_before_a_call_stays_before_it():
    """S0-33 and S0-34: the text stays in its place, and no text makes no block."""
    response = decode_response(load("response", "calls"))
    assert [type(part) for part in response.choices[0].parts] == [Text, ToolCall, ToolCall]
    assert [block["type"] for block in encode_response(answer(call()), foreign())["content"]] == [
        "tool_use"
    ]


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("end_turn", "end"),
        ("stop_sequence", "stop_sequence"),
        ("max_tokens", "length"),
        ("tool_use", "tool_calls"),
        ("refusal", "refusal"),
        ("pause_turn", "pause"),
        ("model_context_window_exceeded", "context_window"),
        ("too_hot", "other"),
    ],
)
def test_stop_reasons(word, kind):
    """S1-21, the reading side."""
    body = load("response", "text") | {"stop_reason": word}
    response = decode_response(body)
    assert response.choices[0].stop == StopReason(kind=kind, raw=word)
    assert encode_response(response) == body


@pytest.mark.parametrize(
    ("kind", "word", "exact"),
    [
        ("end", "end_turn", True),
        ("content_filter", "refusal", False),
        ("malformed_call", "end_turn", False),
        ("other", "end_turn", False),
    ],
)
def test_stop_reasons_of_others(kind, word, exact):
    ctx = foreign()
    body = encode_response(answer(stop=StopReason(kind=kind, raw="weird")), ctx)
    assert body["stop_reason"] == word
    assert ("stop-mapped" in codes(ctx)) is not exact


def test_usage():
    response = decode_response(load("response", "thinking"))
    assert replace(response.usage, extras={}) == Usage(
        input=21, cache_write=4, cache_read=300, output=57, reasoning=40
    )
    assert encode_response(answer(), foreign())["usage"] == {"input_tokens": 0, "output_tokens": 0}
    partial = replace(answer(), usage=Usage(cache_read=3))
    assert encode_response(partial, foreign())["usage"] == {
        "input_tokens": 0,
        "output_tokens": 0,
        "cache_read_input_tokens": 3,
    }


@pytest.mark.parametrize(
    ("fixture", "kind"),
    [
        ("too_long", "context_length"),
        ("overloaded", "overloaded"),
        ("rate_limit", "rate_limit"),
        ("auth", "authentication"),
        ("too_large", "too_large"),
        ("unknown", "invalid_request"),
    ],
)
def test_error_kinds(fixture, kind):
    error = load("error", fixture)
    decoded = decode_response(error["body"], status=error["status"], headers=error["headers"])
    assert decoded.kind == kind
    assert decoded.request_id == error["headers"].get("request-id")
    assert decoded.retry_after == error["headers"].get("retry-after")


@pytest.mark.parametrize(
    ("kind", "word", "status"),
    [
        ("invalid_request", "invalid_request_error", 400),
        ("authentication", "authentication_error", 401),
        ("billing", "billing_error", 402),
        ("permission", "permission_error", 403),
        ("not_found", "not_found_error", 404),
        ("conflict", "conflict_error", 409),
        ("too_large", "request_too_large", 413),
        ("context_length", "invalid_request_error", 400),
        ("content_policy", "invalid_request_error", 400),
        ("rate_limit", "rate_limit_error", 429),
        ("quota", "rate_limit_error", 429),
        ("overloaded", "overloaded_error", 529),
        ("timeout", "timeout_error", 504),
        ("server", "api_error", 500),
    ],
)
def test_errors_of_others(kind, word, status):
    ctx = foreign()
    error = ApiError(
        kind=kind, message="Oh no.", status=418, raw="x", request_id="r", retry_after="4"
    )
    wire = anthropic.encode_response(error, ctx)
    assert wire.status == status
    assert wire.body["error"]["type"] == word
    assert wire.body["request_id"] == "r"
    waiting = {"x-should-retry": "false"} if kind == "quota" else {}
    assert wire.headers == {"request-id": "r", "retry-after": "4", **waiting}
    assert codes(ctx) == {"status-changed"}


@pytest.mark.parametrize(
    ("message", "written"),
    [
        (
            "This model's maximum context length is 8192 tokens. You asked for 9001 tokens.",
            (
                "prompt is too long: 9001 tokens > 8192 maximum: This model's maximum context "
                "length is 8192 tokens. You asked for 9001 tokens."
            ),
        ),
        ("exceeds the context window", "prompt is too long: exceeds the context window"),
        ("Prompt is too long", "Prompt is too long"),
    ],
)
def test_a_prompt_too_long_is_told_in_words_that_are_known(message, written):
    error = ApiError(kind="context_length", message=message)
    body = encode_response(error, foreign())
    assert body["error"] == {"type": "invalid_request_error", "message": written}
    assert decode_response(body, status=400).kind == "context_length"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": {"message": "no", "type": "invalid_request_error", "code": None}}, "no"),
        ({"error": "plain"}, "plain"),
        ({"message": "outside"}, "outside"),
        ({"error": {"message": 5, "type": []}}, ""),
        ({"error": {}, "request_id": 7}, ""),
        ({}, ""),
        ({"detail": "Not Found"}, "Not Found"),
        ({"detail": [{"loc": []}]}, ""),
    ],
)
def test_errors_in_other_shapes_are_read(body, message):
    error = decode_response(body, status=400)
    assert (error.kind, error.message, error.status) == ("invalid_request", message, 400)
    assert anthropic.encode_response(error, Context()).status == 400


def test_an_error_in_a_good_response_is_an_error():
    error = decode_response(
        {"type": "error", "error": {"type": "overloaded_error", "message": "x"}}
    )
    assert (error.kind, error.status) == ("overloaded", 529)


@pytest.mark.parametrize(
    "body",
    [{"content": [], "usage": None, "id": None}, {"content": [], "stop_reason": None}],
)
def test_poor_responses_are_read(body):
    assert isinstance(decode_response(body), Response)
    assert encode_response(Response(id="r", model="m", choices=()))["content"] == []


def test_the_word_that_came_goes_with_the_reason_that_it_stood_for():
    stop = StopReason(kind="tool_calls", raw="end_turn")
    assert encode_response(answer(call(), stop=stop))["stop_reason"] == "tool_use"
    paused = StopReason(kind="pause", raw="pause_turn")
    assert encode_response(answer(call(), stop=paused))["stop_reason"] == "pause_turn"


MADE = Response(
    id="r1",
    model="m",
    choices=(
        Choice(
            parts=(Text(text="Hm."), ToolCall(id="c1", name="f", arguments="{}")),
            stop=StopReason(kind="tool_calls"),
        ),
    ),
    usage=Usage(input=3, output=2, cache_read=1),
)
EXPECTED = {"container", "stop_details"}
COUNTED = {
    "cache_creation",
    "cache_creation_input_tokens",
    "inference_geo",
    "output_tokens_details",
    "server_tool_use",
    "service_tier",
}


def test_answers_of_others_can_have_every_member():
    """As the API has them: null where nobody said anything."""
    exchange = toolglot.Exchange(
        "anthropic", "openai-chat", toolglot.Options(complete_answers=True)
    )
    exchange.request(b'{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}]}')
    body = json.loads(
        exchange.response(toolglot.encode_response(MADE, target="openai-chat").data()).data
    )
    sdk.types.Message.model_validate(body)
    assert {key for key in EXPECTED if key in body and body[key] is None} == EXPECTED
    assert {key for key in COUNTED if body["usage"].get(key, 0) is None} == COUNTED
    assert body["usage"]["cache_read_input_tokens"] == 1
    text, call = body["content"]
    assert text == {"type": "text", "text": "Hm.", "citations": []}
    assert call["caller"] == {"type": "direct"}
    translator = toolglot.StreamTranslator("openai-chat", "anthropic", complete_answers=True)
    data = encode_stream(MADE, "openai-chat", Context())
    written = (translator.feed(data) + translator.close()).decode()
    assert '"caller":{"type":"direct"}' in written
    assert '"stop_details":null' in written
    [ended] = [line[6:] for line in written.split("\n") if '"message_delta"' in line[:40]]
    last = json.loads(ended)
    sdk.types.RawMessageDeltaEvent.model_validate(last)
    assert last["delta"].keys() == sdk.types.raw_message_delta_event.Delta.model_fields.keys()
    assert last["usage"].keys() >= sdk.types.MessageDeltaUsage.model_fields.keys()
    plain, _ = toolglot.translate_response(
        toolglot.encode_response(MADE, target="openai-chat").body,
        source="openai-chat",
        target="anthropic",
    )
    assert plain.body["content"][1].keys() == {"type", "id", "name", "input"}


def test_a_caller_that_is_meant_anyway_is_no_news_to_others():
    call = {"type": "tool_use", "id": "c", "name": "f", "input": {}}
    turn = {"role": "assistant", "content": [{**call, "caller": {"type": "direct"}}]}
    body = {"model": "m", "max_tokens": 9, "messages": [turn]}
    _, receipt = toolglot.translate_request(body, source="anthropic", target="openai-chat")
    assert not any("caller" in note.path for note in receipt)
    turn["content"][0]["caller"] = {"type": "code_execution_20250825", "tool_id": "t"}
    _, receipt = toolglot.translate_request(body, source="anthropic", target="openai-chat")
    assert any("caller" in note.path for note in receipt)
