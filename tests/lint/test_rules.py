"""The linter as a whole: any bytes, any protocol, and the streams that we write ourselves."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.laws.corpus import FIXTURES, NAMES, fixture_id

import toolglot
from toolglot.lint import lint_stream, rules_of
from toolglot.lint.rules import is_count, is_json, joined, member, members, show

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
    keys = {"model", "max_tokens", toolglot.get_protocol(target).SURFACE.messages}
    return {key: value for key, value in ASKED.items() if key in keys}


@pytest.mark.parametrize("name", NAMES)
@given(data=st.binary(max_size=200))
def test_any_bytes_are_judged_and_none_is_refused(name: str, data: bytes) -> None:
    for framed in (data, b"data: " + data + b"\n\n", data.replace(b" ", b"\n")):
        for violation in lint_stream(framed, name):
            assert violation.event >= 1
            assert violation.message.isprintable()


JUNK = [None, True, -1, 2**70, 0.5, "", "x", [], [None], {}, {"type": 7}, [[]], "\ud800", 10**400]


@pytest.mark.parametrize(("name", "file"), STREAMS, ids=fixture_id)
def test_streams_with_anything_anywhere_are_judged(name: str, file: Path) -> None:
    dice = random.Random(file.name)
    for _ in range(8):
        lines = [mutated(line, dice) for line in file.read_bytes().split(b"\n")]
        for violation in lint_stream(b"\n".join(lines), name):
            assert violation.message.isprintable()


def mutated(line: bytes, dice: random.Random) -> bytes:
    """A line whose JSON holds something unexpected somewhere."""
    head = b"data: " if line.startswith(b"data: ") else b""
    try:
        value = json.loads(line[len(head) :])
    except ValueError:
        return line
    places = list(walk({"": value}))
    for node, key in dice.sample(places, min(2, len(places))):
        node[key] = dice.choice(JUNK)
    return head + json.dumps(value).encode()


def walk(node):
    for key in node if isinstance(node, dict) else range(len(node)):
        yield node, key
        if isinstance(node[key], (dict, list)):
            yield from walk(node[key])


@pytest.mark.parametrize("name", NAMES)
def test_deep_nesting_is_no_trouble(name: str) -> None:
    deep = b"[" * 100_000
    assert lint_stream(b"data: " + deep + b"\n\n", name)[0].rule == "not-json"
    nested = b'{"type":' + b"[" * 900 + b"]" * 900 + b"}"
    for framed in (b"data: " + nested + b"\n\n", nested, b"[" + nested + b"]"):
        assert lint_stream(framed, name)


def test_reading_values_of_any_shape():
    assert member({"a": {"b": 1}}, "a", "b") == 1
    assert member({"a": [1]}, "a", "b") is None
    assert member(None, "a") is None
    assert members({"a": [{"b": 1}, 2]}, "a") == [{"b": 1}]
    assert members({"a": {"b": 1}}, "a") == []
    assert [is_count(value) for value in (0, 7, -1, True, 1.0, "1", None)] == [
        True,
        True,
        *[False] * 5,
    ]
    assert [is_json(text) for text in ("", "{}", "[1", "1")] == [True, True, False, True]


def test_values_in_a_sentence():
    assert [show(value) for value in (None, "a", 7, True, 0.5, {}, [], 10**30)] == [
        "nothing",
        "'a'",
        "7",
        "True",
        "0.5",
        "an object",
        "an array",
        "a large number",
    ]
    assert show("x" * 90) == repr("x" * 60 + "…")
    assert [joined(words) for words in (["a"], ["a", "b"], ["a", "b", "c"])] == [
        "a",
        "a and b",
        "a, b and c",
    ]
