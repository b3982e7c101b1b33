"""The linter as a whole: any bytes, any protocol, and the streams that we write ourselves."""

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.laws.corpus import FIXTURES, NAMES, fixture_id
from tests.protocols.recorded import mutated

import toolglot
from toolglot.lint import lint_stream, rules_of

STREAMS = [
    (folder.name, file)
    for folder in sorted(FIXTURES.iterdir())
    if folder.name in NAMES
    for file in sorted(folder.glob("*.stream.txt"))
]
NAMELESS = {"odd-bytes"}
"""Streams with a call that has no name, which nobody can call and no encoder can put right."""

ASKED = {"model": "some-model", "max_tokens": 9, "messages": [], "input": [], "contents": []}
"""A request that every protocol can read: the answer then names the model that was asked for."""


def test_the_library_offers_it():
    (violation,) = toolglot.lint_stream(b"", "ollama")
    assert isinstance(violation, toolglot.Violation)
    assert (violation.event, violation.rule) == (1, "end-missing")
    with pytest.raises(AttributeError, match="no attribute 'lint_streams'"):
        _ = toolglot.lint_streams


def test_every_protocol_has_its_rules():
    for name in NAMES:
        rules = rules_of(name)
        codes = [rule.code for rule in rules]
        assert len(set(codes)) == len(codes), "a code stands for one rule"
        assert all(rule.meaning and rule.on for rule in rules)


def test_an_unknown_protocol_is_named():
    with pytest.raises(toolglot.UnknownProtocolError, match="no protocol named 'grpc'"):
        lint_stream(b"", "grpc")


@pytest.mark.parametrize(("source", "file"), STREAMS, ids=fixture_id)
@pytest.mark.parametrize("mode", ["live", "buffered"])
def test_what_we_write_breaks_no_rule(source: str, file: Path, mode: str) -> None:
    """Every stream that leaves us is one that the strictest clients of its protocol read.

    case-01 case-02 case-04 case-05 case-07 case-14 case-16 X-03 X-14
    S1-24 S1-25 S1-26 S1-27 S1-29 S1-31
    """
    data = file.read_bytes()
    found = {}
    for target in NAMES:
        if target != source:
            translator = toolglot.StreamTranslator(
                source, target, request=asked(target), stream_tools=mode
            )
            written = translator.feed(data) + translator.close()
            found[target] = [str(violation) for violation in lint_stream(written, target)]
    if fixture_id(file) in NAMELESS:
        assert all("name" in each for words in found.values() for each in words)
    else:
        assert {target: words for target, words in found.items() if words} == {}


def asked(target: str) -> dict[str, object]:
    keys = {"model", "max_tokens", toolglot.get_protocol(target).SURFACE.messages.path}
    return {key: value for key, value in ASKED.items() if key in keys}


@pytest.mark.parametrize("name", NAMES)
@given(data=st.binary(max_size=200))
def test_any_bytes_are_judged_and_none_is_refused(name: str, data: bytes) -> None:
    for framed in (data, b"data: " + data + b"\n\n", data.replace(b" ", b"\n")):
        for violation in lint_stream(framed, name):
            assert violation.event >= 1
            assert violation.message.isprintable()


@pytest.mark.parametrize(("name", "file"), STREAMS, ids=fixture_id)
def test_streams_with_anything_anywhere_are_judged(name: str, file: Path) -> None:
    dice = random.Random(file.name)
    for _ in range(8):
        lines = [mutated(line, dice) for line in file.read_bytes().split(b"\n")]
        for violation in lint_stream(b"\n".join(lines), name):
            assert violation.message.isprintable()


@pytest.mark.parametrize("name", NAMES)
def test_deep_nesting_is_no_trouble(name: str) -> None:
    deep = b"[" * 100_000
    assert lint_stream(b"data: " + deep + b"\n\n", name)[0].rule == "not-json"
    nested = b'{"type":' + b"[" * 900 + b"]" * 900 + b"}"
    for framed in (b"data: " + nested + b"\n\n", nested, b"[" + nested + b"]"):
        assert lint_stream(framed, name)
