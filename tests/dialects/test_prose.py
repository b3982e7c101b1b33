"""Text with marks in it that is no call: given back byte for byte, whatever the cuts."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.dialects.samples import SAMPLES, TOOLS

from toolglot.dialects.markers import SearchState, marker_set
from toolglot.dialects.table import DIALECTS
from toolglot.dialects.text import (
    ArgumentSegment,
    BrokenSegment,
    CallSegment,
    CallStartSegment,
    ReasoningSegment,
    TextDecoder,
    TextSegment,
)

FILE = Path(__file__).parents[1] / "fixtures" / "dialects" / "prose" / "texts.jsonl"
TEXTS = [json.loads(line) for line in FILE.read_text(encoding="utf-8").split("\n") if line]


def fed(decoder, pieces):
    segments = [each for piece in pieces for each in decoder.feed(piece)]
    return [*segments, *decoder.close()]


def cut(text, seed):
    rng = random.Random(seed)
    while text:
        size = rng.randint(1, 12)
        yield text[:size]
        text = text[size:]


def test_there_are_enough_texts_of_every_kind():
    assert len(TEXTS) >= 200
    assert len({each["text"] for each in TEXTS}) == len(TEXTS)
    assert {each["kind"] for each in TEXTS} == {"prose", "undeclared", "half", "cut"}


@pytest.mark.parametrize("text", [each["text"] for each in TEXTS])
def test_prose_comes_back_byte_for_byte_case_47(text):
    """case-47, case-45, D-20: prose, code, fences, unknown tools, half tags, calls cut short."""
    for seed, pieces in enumerate(([text], text, cut(text, 1), cut(text, 2))):
        for marked_only in (False, True):
            if seed > 1 and marked_only:
                continue
            decoder = TextDecoder("auto", TOOLS, live=True, marked_only=marked_only)
            segments = fed(decoder, pieces)
            assert {type(each) for each in segments} <= {TextSegment}
            assert "".join(each.text for each in segments) == text
            assert decoder.dialect is None


# --- any text -------------------------------------------------------------------------------------

MARKS = sorted(
    {mark for row in DIALECTS.values() for form in row.forms for mark in form.openers if mark}
    | {mark for row in DIALECTS.values() for mark in (*row.strays, *row.drops)}
    | {mark for row in DIALECTS.values() for pair in row.reasoning for mark in pair}
    | {'{"name": "ring_bell", "arguments": {"times": 2}}', '{"name": "look_up", "arguments": {'}
    | {"ring_bell", "(times=2)", '"query": "', "<parameter=times>", "</parameter>", "</function>"}
    | {"<arg_key>", "</arg_key>", "<arg_value>", "</invoke>", '<invoke name="ring_bell">', "}}"}
)
soup = st.lists(
    st.sampled_from(MARKS)
    | st.sampled_from(MARKS).map(lambda mark: mark[: len(mark) // 2])
    | st.sampled_from(["\n", " ", "{", "}", "[", "]", '"', "'", "`", "```", "\\", "☀", "x" * 150])
    | st.text(max_size=8),
    max_size=14,
).map("".join)
names = st.sampled_from(["auto", "auto", "auto", *DIALECTS])


def accounted(segments):
    """The text that segments stand for."""
    parts = []
    for each in segments:
        if isinstance(each, (TextSegment, ReasoningSegment)):
            parts.append(each.text)
        elif isinstance(each, (CallSegment, BrokenSegment)):
            parts.append(each.raw)
        else:
            assert isinstance(each, (CallStartSegment, ArgumentSegment))
    return parts


@given(text=soup, dialect=names, seed=st.integers(0, 99), thinking=st.booleans())
def test_no_text_is_an_error_and_no_word_is_lost(text, dialect, seed, thinking):
    """Every segment stands in the text, in order; what is between them is marks alone."""
    tools = [None, [], TOOLS][seed % 3]
    decoder = TextDecoder(dialect, tools, thinking=thinking, live=True)
    left = text
    for part in accounted(fed(decoder, cut(text, seed))):
        gap, found, left = left.partition(part)
        assert found == part
        assert len(gap) < 200
    for each in fed(TextDecoder(dialect, tools, thinking=thinking), [text]):
        if isinstance(each, CallSegment):
            assert isinstance(json.loads(each.arguments), dict)
            assert tools is None or each.name in ("ring_bell", "look_up", "note_tide")


def steps(text, dialect="auto"):
    """How many steps a text takes: what the decoder reads again and again shows here."""
    decoder = TextDecoder(dialect, TOOLS, live=True)
    count = 0
    step = decoder._step

    def counting():
        nonlocal count
        count += 1
        return step()

    decoder._step = counting
    held = 0
    for start in range(0, len(text), 16):
        decoder.feed(text[start : start + 16])
        held = max(held, len(decoder._reader.buf))
    decoder.close()
    return count, held


@pytest.mark.parametrize("mark", ["<tool_call>", '<invoke name="', "[TOOL_CALLS]", "{", "`<", " t"])
def test_steps_grow_with_the_text_and_no_faster(mark):
    """Bounds: twice the text takes about twice the steps."""
    one, _ = steps(mark * 300)
    two, _ = steps(mark * 600)
    assert two <= 2.5 * one + 50


def test_plain_text_is_not_kept():
    """Bounds: what has left is forgotten."""
    words = "A word, and (another) <one> [here]. " * 300
    assert steps(words)[1] < 64
    calls = SAMPLES["hermes"][0].text * 50
    assert steps(calls, "hermes")[1] < 4096


def test_what_is_looked_for_is_worked_out_once():
    """Bounds: equal situations share their patterns."""
    state = SearchState(
        (DIALECTS["hermes"],),
        False,
        True,
        False,
        True,
        True,
        False,
        False,
        (),
    )
    assert marker_set(state) is marker_set(state._replace())
