"""What a client says of itself."""

import pytest
from aiohttp.test_utils import make_mocked_request

from toolglot.gateway.relay.incoming import given_key, id_of, request_id


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
    assert given_key(make_mocked_request("POST", path, headers=headers)) == key


def test_the_id_of_a_request_is_the_clients_own_if_it_is_sound():
    assert request_id("mine-1") == "mine-1"
    for odd in ("", "x" * 129, "two\nlines", "naïve"):
        assert request_id(odd).startswith("req_")
    request = make_mocked_request("POST", "/")
    assert id_of(request) == id_of(request)
