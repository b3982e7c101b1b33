"""What a client says of itself."""

import pytest
from tests.gateway.handling import made_request

from toolglot.gateway.http.request_info import PROTOCOL, given_key, id_of, protocol_of, request_id


@pytest.mark.parametrize(
    ("headers", "path", "key"),
    [
        ({"Authorization": "Bearer abc"}, "/", "abc"),
        ({"authorization": "bearer  abc "}, "/", "abc"),
        ({"x-api-key": "abc"}, "/", "abc"),
        ({"x-goog-api-key": "abc"}, "/", "abc"),
        ({"api-key": "abc"}, "/", "abc"),
        ({}, "/?key=abc", "abc"),
        ({"Authorization": "Basic abc"}, "/", None),
        ({}, "/", None),
    ],
)
def test_a_key_stands_where_the_protocol_has_it(headers, path, key):
    assert given_key(made_request("POST", path, headers=headers)) == key


def test_the_id_of_a_request_is_the_clients_own_if_it_is_usable():
    assert request_id("mine-1") == "mine-1"
    for odd in ("", "x" * 129, "two\nlines", "naïve"):
        assert request_id(odd).startswith("req_")
    request = made_request("POST", "/")
    assert id_of(request) == id_of(request)


@pytest.mark.parametrize(
    ("path", "headers", "protocol"),
    [
        ("/v1/messages", {}, "anthropic"),
        ("/v1/models", {"anthropic-version": "2023-06-01"}, "anthropic"),
        ("/v1/models", {"x-goog-api-key": "k"}, "gemini"),
        ("/v1beta/models", {}, "gemini"),
        ("/api/tags", {}, "ollama"),
        ("/v1/responses/x", {}, "openai-responses"),
        ("/v1/models", {}, "openai-chat"),
    ],
)
def test_whoever_asks_likely_speaks_a_protocol(path, headers, protocol):
    request = made_request("GET", path, headers=headers)
    assert protocol_of(request) == protocol
    request[PROTOCOL] = "ollama"
    assert protocol_of(request) == "ollama"
