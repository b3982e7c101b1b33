"""Responses and errors of Ollama."""

import ollama as sdk
import pytest
from tests.protocols.harness import codes
from tests.protocols.ollama.helpers import call, decode_response, encode_response, foreign, load

from toolglot.context import Context
from toolglot.ir import (
    ApiError,
    Choice,
    Response,
    StopReason,
    Text,
    Usage,
)
from toolglot.protocols import ollama


@pytest.mark.parametrize(
    ("word", "calls", "stop"),
    [
        ("stop", False, StopReason(kind="end", raw="stop")),
        ("stop", True, StopReason(kind="tool_calls", raw="stop")),
        ("length", False, StopReason(kind="length", raw="length")),
        ("length", True, StopReason(kind="length", raw="length")),
        ("load", False, StopReason(kind="other", raw="load")),
        ("unload", False, StopReason(kind="other", raw="unload")),
        (None, False, StopReason(kind="end", raw="")),
        ("", True, StopReason(kind="tool_calls", raw="")),
    ],
)
def test_stop_reasons(word, calls, stop):
    message = {"role": "assistant", "content": ""}
    if calls:
        message["tool_calls"] = [{"function": {"name": "f", "arguments": {}}}]
    body = {"model": "m", "message": message, "done": True, "done_reason": word}
    response = decode_response(body)
    assert response.choices[0].stop == stop
    assert encode_response(response) == body


@pytest.mark.parametrize(
    ("kind", "word", "exact"),
    [
        ("end", "stop", True),
        ("tool_calls", "stop", True),
        ("stop_sequence", "stop", False),
        ("length", "length", True),
        ("context_window", "length", False),
        ("content_filter", "stop", False),
        ("refusal", "stop", False),
        ("pause", "stop", False),
        ("malformed_call", "stop", False),
        ("other", "stop", False),
    ],
)
def test_stop_reasons_of_others(kind, word, exact):
    ctx = foreign()
    choice = Choice(parts=(), stop=StopReason(kind=kind, raw="weird"))
    body = encode_response(Response(id="r", model="m", choices=(choice,)), ctx)
    assert body["done_reason"] == word
    assert ("stop-mapped" in codes(ctx)) is not exact


def test_usage():
    usage = decode_response(load("response", "text")).usage
    assert usage == Usage(input=26, output=298)
    assert decode_response(load("response", "load")).usage is None
    ctx = foreign()
    usage = Usage(input=86, cache_read=1920, cache_write=4, output=300, reasoning=7)
    body = encode_response(Response(id="r", model="m", choices=(), usage=usage), ctx)
    assert (body["prompt_eval_count"], body["eval_count"]) == (2010, 300)
    assert codes(ctx) == {"usage-dropped"}
    body = encode_response(Response(id="r", model="m", choices=(), usage=Usage()), foreign())
    assert "prompt_eval_count" not in body


@pytest.mark.parametrize(
    ("created", "written"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1_700_000_000.5, "2023-11-14T22:13:20.500000Z"),
        ("2026-11-15T00:00:00Z", "2026-11-15T00:00:00Z"),
        (None, "2027-01-15T08:00:00Z"),
        (10**20, "2027-01-15T08:00:00Z"),
    ],
)
def test_time_as_text(created, written):
    response = Response(id="r", model="m", choices=(), created=created)
    assert encode_response(response, foreign())["created_at"] == written


def test_logprobs_of_another_shape_are_dropped_with_a_note():
    ctx = foreign()
    response = Response(id="r", model="m", choices=(Choice(parts=(), logprobs={"content": []}),))
    assert "logprobs" not in encode_response(response, ctx)
    assert codes(ctx) == {"logprobs-dropped"}


def test_foreign_responses_are_the_sdks():
    choice = Choice(parts=(Text(text="x"), call()), stop=StopReason(kind="tool_calls"))
    body = encode_response(Response(id="r", model="m", choices=(choice,)), foreign())
    assert "id" not in body
    assert body["message"]["tool_calls"][0]["id"] == "c1"
    assert sdk.ChatResponse.model_validate(body).done_reason == "stop"


@pytest.mark.parametrize(
    ("fixture", "kind"),
    [
        ("not_found", "not_found"),
        ("no_tools", "invalid_request"),
        ("busy", "overloaded"),
        ("unauthorized", "authentication"),
        ("overflow", "context_length"),
        ("limit", "quota"),
        ("nested", "server"),
        ("memory", "server"),
        ("wordless", "server"),
    ],
)
def test_error_kinds(fixture, kind):
    error = load("error", fixture)
    assert decode_response(error["body"], status=error["status"]).kind == kind


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("invalid_request", 400),
        ("authentication", 401),
        ("billing", 402),
        ("permission", 403),
        ("not_found", 404),
        ("conflict", 409),
        ("too_large", 413),
        ("context_length", 400),
        ("content_policy", 400),
        ("rate_limit", 429),
        ("quota", 429),
        ("overloaded", 503),
        ("timeout", 504),
        ("server", 500),
    ],
)
def test_errors_of_others(kind, status):
    ctx = foreign()
    wire = ollama.encode_response(ApiError(kind=kind, message="Oh no.", status=418), ctx)
    assert wire.status == status
    assert wire.body["error"].endswith("Oh no.")
    assert codes(ctx) == {"status-changed"}
    again = decode_response(wire.body, status=status).kind
    assert again == ("invalid_request" if kind == "content_policy" else again)


def test_a_prompt_too_long_is_told_in_words_that_are_known():
    error = ApiError(kind="context_length", message="too many tokens", request_id="req_1")
    wire = ollama.encode_response(error, foreign())
    assert wire.body == {"error": "the input length exceeds the context length: too many tokens"}
    assert wire.headers == {"x-request-id": "req_1"}
    assert decode_response(wire.body, status=wire.status).kind == "context_length"
    known = ApiError(kind="context_length", message="prompt is too long: 9 > 8")
    assert encode_response(known, foreign()) == {"error": known.message}


def test_an_error_in_a_good_response_is_an_error():
    error = decode_response({"error": "model 'x' not found"})
    assert error == ApiError(kind="server", message="model 'x' not found")
    assert ollama.encode_response(error, Context()).status == 500


@pytest.mark.parametrize(
    "body",
    [
        {"message": {}, "done": None},
        {"message": {}, "model": None},
        {"message": {"content": None, "tool_calls": None, "thinking": None}},
        {"message": {}, "created_at": 5, "done": True},
        {"message": {}, "model": "m", "prompt_eval_count": None, "eval_count": 3.0},
    ],
)
def test_poor_responses_are_read(body):
    assert isinstance(decode_response(body), Response)
