"""Errors of our own, in every protocol."""

import pytest

from toolglot.errors import DecodeError
from toolglot.gateway import error_responses as errors
from toolglot.http1.server_request import BodyError, BodyTooLargeError
from toolglot.registry import PROTOCOLS
from toolglot.translate import decode_response

ERRORS = [
    errors.invalid_request("max_tokens: expected integer"),
    errors.too_large(100),
    errors.wrong_method("GET", "/x", ["POST"]),
    errors.needs_upgrade("/x"),
    errors.not_found("no model x"),
    errors.missing_item("Item with id 'x' not found."),
    errors.unknown_model("x"),
    errors.unknown_path("POST /x: there is nothing here"),
    errors.wrong_base_url("x", "http://h", "/chat/completions", "did you mean http://h/v1?"),
    errors.bad_key(given=True),
    errors.bad_key(given=False),
    errors.not_allowed("the key x may not use the model y"),
    errors.limit_reached("the key x has used up its 3 requests per minute", "7"),
    errors.unreachable("x", "connection refused"),
    errors.timed_out("x"),
    errors.broke_off("x", ConnectionResetError()),
    errors.broke_off("x", TimeoutError()),
    errors.not_an_answer("x", DecodeError("choices", "expected array")),
    errors.internal("req_1"),
]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.message[:20])
def test_every_error_in_every_protocol(error, protocol):
    wire = errors.render(error, protocol)
    assert wire.status >= errors.FIRST_ERROR
    read = decode_response(wire.body, source=protocol, status=wire.status)
    assert error.message in read.message
    if error.retry_after:
        assert wire.headers["retry-after"] == error.retry_after


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.message[:20])
def test_codes_of_our_own_are_in_every_protocol(error, protocol):
    text = errors.render(error, protocol).data().decode().lower()
    assert (error.code in errors.OWN_CODES) == any(f'"{code}"' in text for code in errors.OWN_CODES)


def test_what_is_wrong_with_a_request_is_told():
    told = {
        errors.RequestRejectedError(errors.not_found("gone")): ("gone", 404),
        DecodeError("a.b", "expected c"): ("a.b: expected c", 400),
        BodyTooLargeError(7): ("the request has more than 7 bytes", 413),
        BodyError("odd chunk", 408): ("odd chunk", 408),
    }
    for problem, (words, status) in told.items():
        assert isinstance(problem, errors.REJECTIONS)
        error = errors.from_rejection(problem)
        assert error.message.startswith(words)
        assert error.status == status


@pytest.mark.parametrize(
    ("error", "words", "status"),
    [
        (errors.bad_key(given=True), "this key is not known", 401),
        (errors.bad_key(given=False), "a key is needed", 401),
        (errors.broke_off("x", TimeoutError()), "provider x fell silent", 504),
        (errors.broke_off("x", OSError("reset")), "provider x broke off: reset", 502),
        (errors.broke_off("x", OSError()), "provider x broke off: OSError", 502),
        (errors.too_large(7), "the request has more than 7 bytes", 413),
    ],
)
def test_words_and_statuses(error, words, status):
    assert error.message.startswith(words)
    assert error.status == status


def test_a_client_is_told_how_long_to_wait():
    assert errors.limit_reached("no more", "7").retry_after == "7"
    assert errors.limit_reached("no more", None).retry_after is None
