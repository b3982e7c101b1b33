"""The kind, status and headers of errors."""

from typing import get_args

import pytest

from toolglot.context import Context
from toolglot.ir import ApiError, ErrorKind
from toolglot.surface import MediaSupport, MessageSupport, Surface
from toolglot.wire.error_kinds import error_kind, headers_of, is_error, reply_status

A = Surface(
    name="a",
    path="/a",
    settings={},
    messages=MessageSupport(
        path="messages",
    ),
    media=MediaSupport(
        accepted={},
    ),
)
B = Surface(
    name="b",
    path="/b",
    settings={},
    messages=MessageSupport(
        path="messages",
    ),
    media=MediaSupport(
        accepted={},
    ),
)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request"),
        (401, "authentication"),
        (402, "billing"),
        (403, "permission"),
        (404, "not_found"),
        (408, "timeout"),
        (409, "conflict"),
        (413, "too_large"),
        (418, "invalid_request"),
        (422, "invalid_request"),
        (429, "rate_limit"),
        (499, "invalid_request"),
        (500, "server"),
        (501, "server"),
        (502, "server"),
        (503, "overloaded"),
        (504, "timeout"),
        (529, "overloaded"),
        (200, "server"),
        (None, "server"),
    ],
)
def test_kind_by_status(status, kind):
    assert error_kind(None, status, "no") == kind


@pytest.mark.parametrize("kind", get_args(ErrorKind))
def test_the_protocols_own_word_wins(kind):
    assert error_kind(kind, 418, "no") == kind


@pytest.mark.parametrize(
    "message",
    [
        "prompt is too long: 210000 tokens > 200000 maximum",
        "This model's maximum context length is 8192 tokens.",
        "Your input exceeds the context window of this model.",
        "The input token count (2000000) exceeds the maximum number of tokens allowed",
        "PROMPT IS TOO LONG",
    ],
)
@pytest.mark.parametrize(
    ("known", "status"), [(None, 400), ("invalid_request", None), (None, 413), ("too_large", 400)]
)
def test_a_prompt_that_does_not_fit_is_known_by_its_message(known, status, message):
    assert error_kind(known, status, message) == "context_length"


@pytest.mark.parametrize(("known", "status"), [("rate_limit", 400), (None, 429), (None, 500)])
def test_other_kinds_are_not_taken_for_it(known, status):
    assert error_kind(known, status, "prompt is too long") != "context_length"


def reply(error, usual, source):
    ctx = Context(source=source, target=A)
    status = reply_status(error, usual, "a", ctx)
    return status, [(note.code, note.message) for note in ctx.receipt()]


def error(status):
    return ApiError(kind="overloaded", message="busy", status=status)


def test_a_status_is_kept_within_a_protocol():
    assert reply(error(503), 529, A) == (503, [])
    assert reply(error(503), 529, None) == (503, [])


def test_a_status_becomes_the_usual_one_between_protocols():
    told = [("status-changed", "status 503 becomes 529")]
    assert reply(error(503), 529, B) == (529, told)
    assert reply(error(529), 529, B) == (529, [])


@pytest.mark.parametrize("source", [None, A, B])
def test_an_error_without_status_gets_the_usual_one(source):
    assert reply(error(None), 529, source) == (529, [])


def test_headers_that_a_client_acts_on():
    plain = ApiError(kind="rate_limit", message="slow down")
    assert headers_of(plain, "request-id") == {}
    full = ApiError(kind="rate_limit", message="slow down", retry_after="0", request_id="req_1")
    assert headers_of(full, "x-request-id") == {"retry-after": "0", "x-request-id": "req_1"}


@pytest.mark.parametrize(
    ("status", "failed"), [(200, False), (399, False), (400, True), (529, True)]
)
def test_a_status_says_whether_a_request_failed(status, failed):
    assert is_error(status) is failed
