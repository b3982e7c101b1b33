"""Headers, as they come and as they are sent."""

import pytest

from toolglot.http1.headers import Headers, encode_headers


def test_names_have_no_case():
    headers = Headers([(b"X-Api-Key", b"abc"), (b"accept", b"a")])
    assert headers["x-api-key"] == headers["X-API-KEY"] == headers.get("X-Api-Key") == "abc"
    assert "X-aPi-kEy" in headers
    assert "other" not in headers
    assert 1 not in headers
    assert headers.get("other") is None
    assert headers.get("other", "d") == "d"
    assert list(headers) == ["x-api-key", "accept"]
    assert len(headers) == 2
    with pytest.raises(KeyError):
        headers["other"]


def test_of_headers_that_are_repeated_lists_are_joined_and_of_others_the_first_counts():
    headers = Headers(
        [
            (b"User-Agent", b"a"),
            (b"user-agent", b"b"),
            (b"Beta", b"1"),
            (b"beta", b"2"),
            (b"C", b""),
        ]
    )
    assert dict(headers) == {"user-agent": "a", "beta": "1, 2", "c": ""}
    assert headers.repeated == {"user-agent", "beta"}


def test_any_bytes_survive():
    value = "naïve \udcff"
    headers = Headers([(b"a", value.encode("utf-8", "surrogateescape"))])
    assert headers["a"] == value
    assert encode_headers(headers) == b"a: na\xc3\xafve \xff\r\n"


def test_headers_made_of_text():
    assert dict(Headers.of({"X-A": "b"})) == {"x-a": "b"}


@pytest.mark.parametrize("value", ["a\r\nb: c", "a\nb", "a\rb", "a\0b"])
@pytest.mark.parametrize("place", ["name", "value"])
def test_a_header_cannot_become_two(value, place):
    with pytest.raises(ValueError, match="line breaks"):
        encode_headers({value: "x"} if place == "name" else {"x": value})
