"""What errors say, in the shapes that servers give them."""

import json

import pytest

from toolglot.mending import ErrorWords, read_error
from toolglot.mending.error_words import MOST_WORDS

NO = "no such member"
RAW = json.dumps({"error": {"message": NO, "code": "bad"}})


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": {"message": NO}}, NO),
        ({"type": "error", "error": {"type": "invalid_request_error", "message": NO}}, NO),
        ({"error": NO}, NO),
        ({"message": NO, "type": "x"}, NO),
        ({"detail": NO}, NO),
        ({"code": "invalid-argument", "error": NO}, NO),
        ({"errors": [{"message": NO, "code": 5006}], "success": False}, NO),
        ([{"error": {"message": NO}}], NO),
        ({"detail": [{"loc": ["body", "a", 1], "msg": NO}]}, f"body.a.1: {NO}"),
        ({"message": {"detail": [{"loc": ["body", "x"], "msg": NO}]}}, f"body.x: {NO}"),
        (
            {"error": {"message": "Provider returned error", "metadata": {"raw": RAW}}},
            f"Provider returned error\n{NO}",
        ),
        ({"error": json.dumps([{"path": ["tools", 0], "message": NO}])}, f"tools.0: {NO}"),
        ({"error": {"message": "{not json"}}, "{not json"),
        ({"error": {}}, ""),
        ({}, ""),
        ("text", "text"),
        (7, ""),
    ],
)
def test_the_words(body, words):
    assert read_error(400, json.dumps(body).encode()).words == words


def test_what_is_no_json_is_its_own_words():
    assert read_error(502, b" <h1>Bad Gateway\xff</h1> ").words == "<h1>Bad Gateway\ufffd</h1>"
    assert read_error(400, b"") == ErrorWords(status=400, words="")


def test_code_and_parameter():
    body = {"error": {"message": NO, "code": 400, "param": "tools[0]"}}
    error = read_error(400, json.dumps(body).encode())
    assert (error.code, error.param) == ("400", "tools[0]")
    assert read_error(400, b'{"error":{"param":null,"code":true}}').param == ""


def test_long_and_deep_errors_are_cut():
    assert len(read_error(400, json.dumps({"error": "x" * 99_999}).encode()).words) == MOST_WORDS
    deep = b'{"error":' * 90 + b'"x"' + b"}" * 90
    assert read_error(400, deep).words == ""
