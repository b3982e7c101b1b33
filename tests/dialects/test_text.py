"""Text in, segments out: what is no call stays text, whatever the text and however it is cut."""

import json
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.counting import grows_linearly
from tests.dialects.samples import SAMPLES, TOOLS

from toolglot.dialects import reader
from toolglot.dialects.table import DIALECTS
from toolglot.dialects.text import (
    CallSegment,
    ParsedText,
    ReasoningSegment,
    TextDecoder,
    TextSegment,
    merged,
    parse_text,
)

BELL = '<tool_call>{"name": "ring_bell", "arguments": {"times": 2}}</tool_call>'

PROSE = [
    "Write `<function=name>` inside `<tool_call>` to call a tool.",
    "The wrapper is <tool_call> and its end is </tool_call>, that is all.",
    "For example:\n```xml\n" + BELL + "\n```\nis how a call looks.",
    "~~~\n<function=ring_bell><parameter=times>2</parameter></function>\n~~~",
    'Quote: `<invoke name="ring_bell"><parameter name="times">2</parameter></invoke>`.',
    "Mistral begins with [TOOL_CALLS] and a list.",
    'The answer is {"name": "Ann", "age": 3}.',
    '{"name": "Ann", "age": 3}',
    '[{"name": "Ann"}, {"name": "Bob"}]',
    "[1](https://example.org) and [ring_bell](x)",
    "[]",
    "{",
    "[",
    "<",
    "<tool",
    "<tool_call",
    '<tool_call>{"name": "ring_bell", "arguments": {"times": ',
    '<tool_call>{"name": "ring_bell", "arguments": {"times": 2',
    "<function=ring_bell><parameter=times>2",
    "<|tool_call>call:ring_bell{times:",
    "<tool_call>ring_bell\n<arg_key>times</arg_key><arg_value>2",
    "a < b && c > d; if (x) { y[0](1) }",
    "My plan of Action: first we talk.",
    "functools is a module; functools[0] is an error.",
    '<tool_call>{"name": "unknown_tool", "arguments": {}}</tool_call>',
    "<tool_call>\n[not json]\n</tool_call>",
    "<tool>a <b>bold</b> word</tool>",
    "to=you<3 and <|message",
]


@pytest.mark.parametrize("text", PROSE)
def test_prose_is_no_call_d_20(text):
    """D-20, case-49: a marker in prose, in a fence or cut off is text, and none of it is lost."""
    for tools in (TOOLS, []):
        parsed = parse_text(text, tools)
        assert parsed.calls == ()
        assert parsed.content == text
        assert parsed.dialect is None


@pytest.mark.parametrize("text", PROSE)
@pytest.mark.parametrize("dialect", ["hermes", "qwen3_coder", "glm45", "mistral", "gemma4"])
def test_prose_is_no_call_in_a_dialect_that_was_named(text, dialect):
    assert parse_text(text, TOOLS, dialect) == ParsedText(dialect, (TextSegment(text),))


def test_text_around_calls_keeps_its_order_and_white_space_s3_26():
    """S3-26, S3-09: words before, between and after; each call knows its own text."""
    parsed = parse_text(f" a \n{BELL}\n\tb\n{BELL} c ", TOOLS)
    first, call, between, again, last = parsed.segments
    assert (first, between, last) == (
        TextSegment(" a \n"),
        TextSegment("\n\tb\n"),
        TextSegment(" c "),
    )
    assert isinstance(call, CallSegment)
    assert isinstance(again, CallSegment)
    assert (call.raw, again.raw) == (BELL, BELL)
    assert (call.id, again.id) == ("call_0", "call_1")


def test_undeclared_call_beside_a_declared_one_stays_text():
    other = '{"name": "other", "arguments": {"a": 1}}'
    declared = '{"name": "ring_bell", "arguments": {"times": 2}}'
    parsed = parse_text(f"<tool_calls>[{declared}, {other}]</tool_calls>", TOOLS)
    assert [call.name for call in parsed.calls] == ["ring_bell"]
    assert parsed.content == other


def test_undeclared_call_before_a_declared_one_stays_text():
    other = '<invoke name="other"><parameter name="a">1</parameter></invoke>'
    declared = '<invoke name="ring_bell"><parameter name="times">2</parameter></invoke>'
    parsed = parse_text(f"<function_calls>{other}{declared}</function_calls>", TOOLS)
    assert [call.name for call in parsed.calls] == ["ring_bell"]
    assert parsed.content == f"<function_calls>{other}"


def test_any_name_counts_if_nothing_was_declared():
    assert [call.name for call in parse_text(BELL).calls] == ["ring_bell"]
    assert parse_text(BELL, []).calls == ()


def test_namespace_of_a_name_is_forgiven_if_one_tool_is_meant():
    text = BELL.replace("ring_bell", "functions.ring_bell")
    assert [call.name for call in parse_text(text, TOOLS).calls] == ["ring_bell"]
    twice = ["a.ring_bell", "b.ring_bell"]
    assert parse_text(BELL, twice).calls == ()


def test_argument_text_is_kept_as_written():
    arguments = '{"times":  2, "x": 1.10, "y": 12345678901234567890, "z": "\\u00e9"}'
    text = f'<tool_call>{{"name": "ring_bell", "arguments": {arguments}}}</tool_call>'
    assert [call.arguments for call in parse_text(text, TOOLS).calls] == [arguments]


# --- detection ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("<x.ai:tool_call>" + BELL[11:-12] + "</x.ai:tool_call>", "xai_tool_call"),
        ("<tool>ls -la</tool>", "generic_tool_xml"),
        (
            (
                '{"tool_calls": [{"function": {"name": "f", '
                '"arguments": "{\\"q\\": \\"tool_use\\"}"}}]}'
            ),
            "openai_json",
        ),
        ('{"content": [{"type": "tool_use", "name": "f", "input": {}}]}', "openai_json"),
        ("nothing of the kind", None),
    ],
)
def test_detection_s3_17(text, dialect):
    """S3-17, S3-18, S3-19: by structure, in order, and nothing for plain text."""
    assert parse_text(text).dialect == dialect


def test_earliest_marker_wins_s3_19():
    """S3-19: the first call decides; marks of other dialects after it are text."""
    qwen = "<function=ring_bell><parameter=times>2</parameter></function>"
    mistral = '[TOOL_CALLS]ring_bell{"times": 2}'
    first = parse_text(f"{mistral} {qwen}", TOOLS)
    assert (first.dialect, len(first.calls), first.content) == ("mistral", 1, f" {qwen}")
    second = parse_text(f"{qwen} {mistral}", TOOLS)
    assert (second.dialect, len(second.calls), second.content) == ("qwen3_coder", 1, f" {mistral}")


@pytest.mark.parametrize(
    ("inside", "dialect"),
    [
        ('{"name": "f", "arguments": {}}', "hermes"),
        ("<function=f><parameter=a>1</parameter></function>", "qwen3_coder"),
        ("f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>", "glm45"),
        ("<id>1</id><name>f</name><arguments>{}</arguments>", "xml_id_name_args"),
    ],
)
def test_what_follows_settles_ties(inside, dialect):
    assert parse_text(f"<tool_call>{inside}</tool_call>").dialect == dialect


def test_detection_is_the_same_every_time_s3_19():
    text = SAMPLES["harmony"][0].text + SAMPLES["mistral"][0].text + BELL
    assert len({parse_text(text, TOOLS).dialect for _ in range(20)}) == 1


def test_unknown_dialect_is_refused():
    with pytest.raises(ValueError, match="unknown dialect klingon"):
        TextDecoder("klingon")


# --- streaming ------------------------------------------------------------------------------------


def test_segments_come_as_soon_as_they_are_certain_s3_24():
    """S3-24, S3-25: text at once, a call when it is complete, once, and what follows it is kept."""
    decoder = TextDecoder("auto", TOOLS)
    assert decoder.feed("Hello.") == [TextSegment("Hello.")]
    assert decoder.feed("<tool") == []
    assert decoder.feed("_call>") == []
    call = decoder.feed(BELL[11:] + "after <")
    assert [type(each) for each in call] == [CallSegment, TextSegment]
    assert call[1] == TextSegment("after ")
    assert decoder.feed("b") == [TextSegment("<b")]
    assert decoder.close() == []


def test_held_text_is_flushed_at_the_end():
    decoder = TextDecoder("hermes")
    assert decoder.feed("x <tool_c") == [TextSegment("x ")]
    assert decoder.close() == [TextSegment("<tool_c")]


def test_first_of_two_calls_does_not_wait_for_the_second():
    decoder = TextDecoder("minimax_m2", TOOLS)
    one = '<invoke name="ring_bell"><parameter name="times">1</parameter></invoke>'
    found = decoder.feed(f"<minimax:tool_call>{one}<inv")
    assert [each.name for each in found if isinstance(each, CallSegment)] == ["ring_bell"]


def test_reasoning_comes_as_it_is_written():
    decoder = TextDecoder("hermes")
    assert decoder.feed("<think>a") == [ReasoningSegment("a")]
    assert decoder.feed("b</thi") == [ReasoningSegment("b")]
    assert decoder.feed("nk>c") == [TextSegment("c")]


def test_call_ends_reasoning_that_was_not_closed():
    parsed = parse_text(f"<think>so {BELL} done", TOOLS)
    assert (parsed.reasoning, parsed.content) == ("so ", " done")
    assert len(parsed.calls) == 1


# --- any text -------------------------------------------------------------------------------------

MARKS = sorted(
    {opener for row in DIALECTS.values() for form in row.forms for opener in form.openers}
    | {mark for row in DIALECTS.values() for pair in row.reasoning for mark in pair}
    | {'{"name": "ring_bell", ', '"arguments": {', '"times": 2', "}", "]", "}}", "</tool_call>"}
    | {"<parameter=times>", "</parameter>", "</function>", "</invoke>", "ring_bell", "\n", "```"}
    | {"<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", "(times=2)", "'", "\\", "😀"}
    | {'<|"|>', "<tool_call|>", "<|message|>", "<|call|>", "call:", "<|tool_call_end|>", "\ud800"}
)
SOUP = st.lists(st.one_of(st.sampled_from(MARKS), st.text(max_size=5)), max_size=25).map("".join)
NAMES = st.sampled_from(["auto", *DIALECTS])


def fed(pieces: list[str], dialect: str, *, thinking: bool = False) -> ParsedText:
    decoder = TextDecoder(dialect, TOOLS, thinking=thinking)
    segments = [each for piece in pieces for each in decoder.feed(piece)]
    return ParsedText(decoder.dialect, tuple(merged([*segments, *decoder.close()])))


@given(text=SOUP, dialect=NAMES, thinking=st.booleans(), data=st.data())
def test_any_text_is_read_and_cuts_do_not_matter(text, dialect, thinking, data):
    """S3-06: no text is an error, and every cut gives the same."""
    whole = fed([text], dialect, thinking=thinking)
    for call in whole.calls:
        assert isinstance(json.loads(call.arguments), dict)
        assert call.name in {"note_tide", "ring_bell", "look_up"}
    assert len({call.id for call in whole.calls}) == len(whole.calls)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert fed(pieces, dialect, thinking=thinking) == whole
    assert fed(list(text), dialect, thinking=thinking) == whole


@given(text=SOUP)
def test_no_text_is_lost_where_nothing_was_promoted(text):
    parsed = parse_text(text, ["nobody_calls_this"])
    assert parsed.calls == ()
    if not parsed.reasoning and not any(m in text for m in REASONING):
        assert "".join(each.text for each in parsed.segments) == text


REASONING = [
    *(mark for row in DIALECTS.values() if row.auto for pair in row.reasoning for mark in pair),
    "<|channel|>",
    "<|start|>assistant",
    "<|message|>",
]
"""Marks that are not text even without a call."""


@given(text=st.text(), dialect=NAMES)
def test_ordinary_text_comes_back(text, dialect):
    marks = DIALECTS[dialect].drops if dialect != "auto" else ()
    pairs = () if dialect == "auto" else sum(DIALECTS[dialect].reasoning, ())
    if not any(mark in text for mark in (*marks, *pairs)):
        assert parse_text(text, TOOLS, dialect).content == text


# --- limits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", ["auto", "hermes", "qwen3_coder", "glm45", "gemma4", "harmony"])
@pytest.mark.parametrize(
    "piece",
    [
        "<tool_call>",
        '<tool_call>{"name": "x", "a": "',
        "<function=f><parameter=a>",
        '<invoke name="f"><parameter name="a">',
        "[TOOL_CALLS][",
        "<|channel|>",
        '<|tool_call>call:f{a:<|"|>',
        "{[",
        "<tool><a>",
        "</parameter> ",
    ],
)
def test_work_is_linear(piece, dialect):
    """Hostile text takes no more than its length."""

    def parse(size):
        parse_text(piece * (size // len(piece)), TOOLS, dialect)

    assert grows_linearly(parse, 2000)


@pytest.mark.parametrize("place", ["call_start|>", "Oslo')]", "name="])
@pytest.mark.parametrize("dialect", ["minicpm3", "lfm2", "minimax_m3"])
def test_white_space_in_a_call_is_linear(dialect, place):
    """No count sees what a pattern tries again, so this is the time of the processor."""
    text = DIALECTS[dialect].example.replace(place, place + " " * 65536)
    for name in (dialect, "auto"):
        start = process_time()
        parse_text(text, None, name)
        assert process_time() - start < 2


def test_growing_call_is_linear():
    def feed(size):
        decoder = TextDecoder("hermes", TOOLS)
        for char in BELL[:-12] + " " * size + "</tool_call>":
            decoder.feed(char)

    assert grows_linearly(feed, 2000)


def test_block_that_never_ends_is_given_back(monkeypatch):
    monkeypatch.setattr(reader, "MAX_BLOCK", 1000)
    decoder = TextDecoder("hermes", TOOLS)
    text = '<tool_call>{"name": "ring_bell", "arguments": {"a": "' + "x" * 3000
    out = [each for char in text for each in decoder.feed(char)]
    assert sum(len(each.text) for each in out) > 1000
    assert "".join(each.text for each in [*out, *decoder.close()]) == text


@pytest.mark.parametrize("dialect", [name for name in DIALECTS if name != "langchain_xml"])
def test_deep_nesting_is_no_error(dialect):
    opener = SAMPLES[dialect][0].text[:40]
    for deep in ("[" * 5000, '{"a":' * 5000, "{" * 5000, "<a>" * 3000, "(" * 5000):
        assert parse_text(opener + deep, TOOLS, dialect).calls == ()
