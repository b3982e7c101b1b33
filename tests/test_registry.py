"""The protocols by name."""

import inspect
from collections.abc import Iterator
from contextlib import suppress
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from toolglot import PROTOCOLS, UnknownProtocolError, get_protocol
from toolglot.context import Context
from toolglot.discovery import Discovery, Probe, ProbeResponse, read_sample
from toolglot.lint import lint_stream
from toolglot.registry import default_auth, guess_caller
from toolglot.surface import Surface
from toolglot.wire import jsontext

SEVEN = (
    "decode_request",
    "encode_request",
    "decode_response",
    "encode_response",
    "StreamDecoder",
    "StreamEncoder",
    "StreamCheck",
)


def test_the_protocols():
    assert list(PROTOCOLS) == [
        "anthropic",
        "openai-chat",
        "openai-responses",
        "gemini-interactions",
        "gemini",
        "ollama",
        "bedrock-converse",
    ]


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


def test_a_sixth_protocol_is_known_to_lint_discovery_and_callers(monkeypatch):
    """What it declares is enough: nothing else names protocols."""
    known = get_protocol("ollama")
    sixth = SimpleNamespace(**{name: getattr(known, name) for name in known.__all__})
    sixth.NAME = "sixth"
    sixth.SURFACE = replace(known.SURFACE, name="sixth", path="/sixth/chat", models="/sixth/list")
    sixth.API = replace(
        known.API,
        client_paths="^/sixth/",
        is_response=lambda value: "sixth" in value,
        fragments={"half": lambda value: {"sixth": True, **value}},
        imitated=9,
    )
    monkeypatch.setitem(PROTOCOLS, "sixth", sixth)
    assert [violation.rule for violation in lint_stream(b"", "sixth")] == ["end-missing"]
    assert guess_caller("/sixth/list", (), ()) == "sixth"
    assert default_auth("sixth").header == "Authorization"
    message = {"message": {"role": "assistant", "content": "Hi"}, "sixth": 1}
    assert read_sample(jsontext.encode(message)).protocol == "sixth"
    urls = [probe.url for probe in probes("http://models.test")]
    assert "http://models.test/sixth/list" in urls
    assert "http://models.test/sixth/chat" in urls


def probes(url: str) -> Iterator[Probe]:
    """What discovery asks a server that knows nothing."""
    steps = Discovery(url).run()
    with suppress(StopIteration):
        probe = next(steps)
        while True:
            yield probe
            probe = steps.send(ProbeResponse(status=404, body=b"{}"))
