"""Small answers, and errors in the shape of whoever asks."""

import json

import pytest
from tests.gateway.handling import made_request

from toolglot.gateway.error_responses import not_found
from toolglot.gateway.http.json_response import error_response, json_response


def test_an_answer():
    response = json_response({"a": 1}, 201, {"x-b": "c"})
    assert (response.status, response.body) == (201, b'{"a":1}')
    assert response.headers == {"Content-Type": "application/json; charset=utf-8", "x-b": "c"}


@pytest.mark.parametrize(
    ("path", "place"),
    [("/v1/messages", ("error", "message")), ("/v1beta/x", ("error", "message")), ("/api/x", ())],
)
def test_an_error(path, place):
    request = made_request("POST", path, headers={"x-request-id": "mine"})
    response = error_response(request, not_found("nothing here"))
    assert (response.status, response.headers["x-request-id"]) == (404, "mine")
    body = json.loads(response.body)
    for key in place or ("error",):
        body = body[key]
    assert "nothing here" in body
