"""Requests and responses as they travel."""

import pytest

from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.wire.message import WireRequest, WireResponse, read_body


def test_a_request_has_a_body_and_the_http_around_it():
    wire = WireRequest(body={"b": 1, "a": "é"}, path="/v1/x", query={"alt": "sse"})
    assert wire.data() == '{"b":1,"a":"é"}'.encode()
    assert wire.headers == {}
    with pytest.raises(AttributeError):
        wire.path = "/v2"


def test_a_response_is_ok_by_its_status():
    wire = WireResponse(body={})
    assert (wire.status, wire.ok, wire.data()) == (200, True, b"{}")


@pytest.mark.parametrize(
    ("status", "ok"),
    [(199, False), (200, True), (299, True), (300, False), (404, False), (529, False)],
)
def test_success_is_what_http_calls_success(status, ok):
    assert WireResponse(body={}, status=status).ok is ok


@pytest.mark.parametrize(
    "body",
    [
        b'{"a": [1.0]}',
        bytearray(b'{"a": [1.0]}'),
        memoryview(b'{"a": [1.0]}'),
        '{"a": [1.0]}',
        {"a": [1.0]},
    ],
)
def test_a_body_may_be_bytes_text_or_parsed(body):
    assert read_body(body) == {"a": [1.0]}


def test_a_parsed_body_is_not_copied():
    body = {"a": 1}
    assert read_body(body) is body


@pytest.mark.parametrize(
    ("body", "kind"),
    [(b"[]", "array"), ("1", "int"), (b"null", "null"), (b'"x"', "string"), ([1], "array")],
)
def test_a_body_must_be_an_object(body, kind):
    with pytest.raises(DecodeError) as caught:
        read_body(body)
    assert str(caught.value) == f"expected object, got {kind}"


@pytest.mark.parametrize("body", [b"", b"{", b'{"a": 1, "a": 2}', "NaN", b'{"a": "\xff"}'])
def test_a_broken_body_is_refused(body):
    with pytest.raises(DecodeError):
        read_body(body)


def test_reading_notes_what_it_keeps():
    ctx = Context()
    assert read_body(b'{"a": "\\ud800"}', ctx) == {"a": "\ud800"}
    assert ctx.receipt().codes() == {"surrogate-kept": 1}
