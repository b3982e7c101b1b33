"""The protocols by name."""

import inspect

import pytest

from toolglot import PROTOCOLS, UnknownProtocolError, get_protocol
from toolglot.context import Context
from toolglot.surface import Surface

SEVEN = (
    "decode_request",
    "encode_request",
    "decode_response",
    "encode_response",
    "StreamDecoder",
    "StreamEncoder",
    "StreamCheck",
)


def test_the_five_protocols():
    assert list(PROTOCOLS) == ["anthropic", "openai-chat", "openai-responses", "gemini", "ollama"]


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_protocol_has_its_names(name):
    codec = get_protocol(name)
    assert name == codec.NAME
    assert isinstance(codec.SURFACE, Surface)
    assert codec.SURFACE.name == name
    assert all(callable(getattr(codec, each)) for each in SEVEN)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_protocol_has_nothing_else_in_public(name):
    codec = get_protocol(name)
    assert set(codec.__all__) == {"API", "CALLS", "LINTER", "NAME", "SURFACE", *SEVEN}
    assert inspect.getdoc(codec)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_streams_begin_with_a_context(name):
    codec = get_protocol(name)
    decoder, encoder = codec.StreamDecoder(Context()), codec.StreamEncoder(Context())
    assert callable(decoder.feed)
    assert callable(decoder.close)
    assert callable(encoder.encode)
    assert callable(encoder.close)


@pytest.mark.parametrize("name", ["", "openai", "Anthropic", "nope"])
def test_an_unknown_protocol_is_refused_with_those_that_are(name):
    with pytest.raises(UnknownProtocolError) as caught:
        get_protocol(name)
    assert caught.value.name == name
    assert caught.value.known == tuple(PROTOCOLS)
    assert str(caught.value).endswith("known: " + ", ".join(PROTOCOLS))
