"""Where a protocol may be spoken, given the address that a person has."""

import pytest

from toolglot.discovery.urls import AddressError, model_lists, name_for, normal_url, places
from toolglot.registry import get_protocol

CHAT = get_protocol("openai-chat").SURFACE
GEMINI = get_protocol("gemini").SURFACE


@pytest.mark.parametrize(
    ("given", "base"),
    [
        ("localhost:8080", "http://localhost:8080"),
        (" https://a.test/v1/ ", "https://a.test/v1"),
        ("https://a.test/v1/chat/completions?x=1#y", "https://a.test/v1"),
        ("https://a.test/v1/messages", "https://a.test/v1"),
        ("http://a.test/api/tags", "http://a.test"),
        ("https://a.test/v1beta/models/some:generateContent", "https://a.test/v1beta"),
    ],
)
def test_an_address_without_the_words_of_a_protocol(given, base):
    assert normal_url(given) == base


@pytest.mark.parametrize("given", ["", "ftp://a.test", "http://", "a b", "http://me:secret@a.test"])
def test_what_is_no_address_is_not_repeated(given):
    with pytest.raises(AddressError, match="no address") as caught:
        normal_url(given)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("base", "surface", "found"),
    [
        ("http://a.test", CHAT, ("http://a.test/v1", "http://a.test")),
        ("http://a.test/v1", CHAT, ("http://a.test/v1",)),
        ("http://a.test/v1", GEMINI, ("http://a.test/v1beta",)),
        ("http://a.test/v4", CHAT, ("http://a.test/v4",)),
        ("http://a.test/api", CHAT, ("http://a.test/api/v1", "http://a.test/v1")),
    ],
)
def test_places_of_a_protocol(base, surface, found):
    assert places(base, surface) == found


def test_models_are_looked_for_once_at_each_place():
    found = list(model_lists("http://a.test"))
    assert found[-1] == "http://a.test/models"
    assert "http://a.test/v1/models" in found
    assert len(found) == len(set(found))


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("localhost:8080", "local-8080"),
        ("127.0.0.1", "local"),
        ("http://[::1]:99/v1", "local"),
        ("https://api.Example.com/v1", "api-example-com"),
        ("https://api.example.com:8443", "api-example-com-8443"),
        ("https://---", "found"),
    ],
)
def test_a_name_for_a_provider(url, name):
    assert name_for(url) == name
