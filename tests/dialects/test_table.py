"""Every dialect reads its own texts, however they are cut, and is found where it can be."""

import json

import pytest
from tests.dialects.samples import HAND_MADE, SAMPLES, TOOLS, Sample, rendered

from toolglot import profiles
from toolglot.dialects.table import DIALECTS
from toolglot.dialects.text import ParsedText, TextDecoder, merged, parse_text

CASES = [
    pytest.param(name, sample, id=f"{name}-{number}")
    for name, samples in SAMPLES.items()
    for number, sample in enumerate(samples)
]
NEEDS_TOOLS = {row.name for row in DIALECTS.values() if row.needs_tools} | {"tool_code"}
"""Dialects that nothing but a declared name tells from ordinary text."""


def cut(pieces: list[str], name: str, sample: Sample) -> ParsedText:
    decoder = TextDecoder(name, TOOLS, thinking=sample.thinking)
    segments = [each for piece in pieces for each in decoder.feed(piece)]
    return ParsedText(decoder.dialect, tuple(merged([*segments, *decoder.close()])))


def test_every_dialect_has_a_text_of_its_own():
    assert SAMPLES.keys() == DIALECTS.keys()
    assert HAND_MADE.keys() <= DIALECTS.keys()


@pytest.mark.parametrize("name", DIALECTS)
def test_a_row_without_hand_made_texts_gets_them_from_its_writer(name):
    for sample in rendered(name):
        parsed = parse_text(sample.text, TOOLS, name)
        assert [(call.name, json.loads(call.arguments)) for call in parsed.calls] == sample.calls


@pytest.mark.parametrize(("name", "sample"), CASES)
def test_text_is_taken_apart_s3_26(name, sample):
    """S3-26: what surrounds the calls comes back with its white space. S3-29: ids are unique."""
    parsed = parse_text(sample.text, TOOLS, name, thinking=sample.thinking)
    calls = [(call.name, json.loads(call.arguments)) for call in parsed.calls]
    assert calls == sample.calls
    assert parsed.content == sample.content
    assert parsed.reasoning == sample.reasoning
    ids = [call.id for call in parsed.calls]
    assert ids == (sample.ids or [f"call_{n}" for n in range(len(ids))])
    assert parsed.dialect == name


@pytest.mark.parametrize(("name", "sample"), CASES)
@pytest.mark.parametrize("dialect", ["own", "auto"])
def test_text_is_the_same_however_it_is_cut_s3_25(name, sample, dialect):
    """S3-06, S3-25: a tag cut in two changes nothing; every two pieces, and every character."""
    asked = name if dialect == "own" else "auto"
    text = sample.text
    whole = cut([text], asked, sample)
    assert cut(list(text), asked, sample) == whole
    for place in range(1, len(text)):
        assert cut([text[:place], text[place:]], asked, sample) == whole, text[:place]


@pytest.mark.parametrize("name", DIALECTS)
def test_example_is_one_call(name):
    city = {"type": "object", "properties": {"city": {"type": "string"}}}
    tools = [*TOOLS, {"name": "get_weather", "input_schema": city}, "code_interpreter"]
    parsed = parse_text(DIALECTS[name].example, tools, name)
    assert len(parsed.calls) == 1
    assert parsed.content.strip() == ""


@pytest.mark.parametrize("name", [row.name for row in DIALECTS.values() if row.auto])
def test_dialect_is_found_s3_04(name):
    """S3-04: a text in an unknown format says itself which it is."""
    example = DIALECTS[name].example
    found = next(row.name for row in DIALECTS.auto if row.example == example)
    assert parse_text(example, ["get_weather"]).dialect == found
    alone = parse_text(example)
    assert alone.dialect == (None if found in NEEDS_TOOLS else found)
    if found in NEEDS_TOOLS:
        assert alone.content == example


@pytest.mark.parametrize("name", DIALECTS)
def test_undeclared_call_stays_text_byte_for_byte(name):
    """D-20: only a declared tool is called."""
    row = DIALECTS[name]
    parsed = parse_text(row.example, ["something_else"], name)
    assert parsed.calls == ()
    marks = (*row.drops, *(mark for pair in row.reasoning for mark in pair))

    def bare(text: str) -> str:
        for mark in marks:
            text = text.replace(mark, "")
        return text

    assert bare("".join(each.text for each in parsed.segments)) == bare(row.example)


def test_dialects_that_profiles_name_exist():
    named = {each.dialect for each in profiles.families() if each.dialect}
    named |= {dialect for each in profiles.profiles() for dialect in each.tools.dialects}
    assert named
    assert named <= DIALECTS.keys()
