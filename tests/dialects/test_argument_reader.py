"""Long arguments leave while they come, and add up to what they are in the end."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.dialects.samples import SAMPLES, TOOLS

from toolglot.dialects.reader import STREAM_FROM
from toolglot.dialects.text import (
    ArgumentSegment,
    BrokenSegment,
    CallSegment,
    CallStartSegment,
    ReasoningSegment,
    TextDecoder,
    TextSegment,
    merged,
    parse_text,
)

LONG = 'a "b" <c> {d}\n\te \\ f ☀\r\n' * 12
ARGUMENTS = {"port": LONG, "hours": 3, "loud": True}
WRITTEN = {
    "hermes": f"<tool_call>{json.dumps({'name': 'note_tide', 'arguments': ARGUMENTS})}</tool_call>",
    "hermes-loose": '<tool_call>{"name": "note_tide", "arguments": {"port": \''
    + 'it is "so", ' * 20
    + "', 'loud': True,}}</tool_call>",
    "qwen3_coder": f"<tool_call><function=note_tide>\n<parameter=port>\n{LONG}\n</parameter>\n"
    "<parameter=hours>3</parameter><parameter=loud>true</parameter></function></tool_call>",
    "anthropic_invoke": f'<function_calls><invoke name="note_tide"><parameter name="hours">3'
    f'</parameter><parameter name="port">{LONG}</parameter></invoke></function_calls>',
    "glm45": f"<tool_call>note_tide\n<arg_key>port</arg_key>\n<arg_value>{LONG}</arg_value>\n"
    "</tool_call>",
    "mistral": f"[TOOL_CALLS]note_tide{json.dumps(ARGUMENTS)}",
    "kimi_k2": "<|tool_calls_section_begin|><|tool_call_begin|>functions.note_tide:7"
    f"<|tool_call_argument_begin|>{json.dumps(ARGUMENTS)}<|tool_call_end|>"
    "<|tool_calls_section_end|>",
}
every_text = pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN)


def live(text, sizes, dialect="auto"):
    decoder = TextDecoder(dialect, TOOLS, live=True)
    segments = []
    while text:
        size = next(sizes)
        segments += decoder.feed(text[:size])
        text = text[size:]
    return merged([*segments, *decoder.close()])


def ones():
    while True:
        yield 1


def dice(seed):
    rng = random.Random(seed)
    while True:
        yield rng.randint(1, 40)


def together(segments):
    """Segments with the pieces of each call added up."""
    done = []
    pieces = []
    for each in segments:
        if isinstance(each, CallStartSegment):
            pieces = [each]
        elif isinstance(each, ArgumentSegment):
            pieces.append(each.text)
        elif isinstance(each, (CallSegment, BrokenSegment)) and pieces:
            begun, *texts = pieces
            pieces = []
            done.append(("".join(texts), begun.name, each))
        else:
            done.append(each)
    assert pieces == []
    return done


@every_text
def test_pieces_add_up_to_the_arguments_s3_27(text):
    """S3-27: at any cut, and to the letter where the arguments were written to the letter."""
    whole = parse_text(f"Hm. {text} So.", TOOLS)
    (call,) = whole.calls
    for sizes in (ones(), dice(1), dice(2), iter([len(text) + 9])):
        before, (pieces, name, last), after = together(live(f"Hm. {text} So.", sizes))
        assert (before, last, after) == whole.segments
        assert name == call.name
        assert json.loads(pieces) == json.loads(call.arguments)
        assert pieces == call.arguments or "'" in text


@every_text
def test_the_call_is_known_before_its_arguments_s3_27(text):
    """S3-27: the caller sees name and id of the call that is coming."""
    decoder = TextDecoder("auto", TOOLS, live=True)
    seen = []
    for place, char in enumerate(text):
        segments = decoder.feed(char)
        seen += [decoder.in_progress] if decoder.in_progress not in seen else []
        if any(isinstance(each, CallStartSegment) for each in segments):
            assert place < STREAM_FROM + 150
    decoder.close()
    call_id = "functions.note_tide:7" if "functions." in text else "call_0"
    assert {call_id: "note_tide"} in seen
    assert decoder.in_progress == {}


@every_text
@given(end=st.integers(0, 2000), seed=st.integers(0, 99))
def test_a_call_that_is_cut_is_the_same_at_any_cut(text, end, seed):
    text = text[: end % len(text)]
    whole = together(live(text, iter([len(text) + 1])))
    assert together(live(text, ones())) == whole
    assert together(live(text, dice(seed))) == whole
    for each in whole:
        if isinstance(each, tuple) and isinstance(each[2], BrokenSegment):
            assert each[2].raw in text
            assert len(each[0]) >= STREAM_FROM


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_is_the_same_live(name):
    for sample in SAMPLES[name]:
        whole = parse_text(sample.text, TOOLS, name, thinking=sample.thinking)
        decoder = TextDecoder(name, TOOLS, thinking=sample.thinking, live=True)
        segments = [each for char in sample.text for each in decoder.feed(char)]
        done = merged(
            each[2] if isinstance(each, tuple) else each
            for each in together(merged([*segments, *decoder.close()]))
        )
        assert tuple(done) == whole.segments


def test_short_calls_never_leave_early():
    text = '<tool_call>{"name": "ring_bell", "arguments": {"times": 2}}</tool_call>'
    assert [type(each) for each in live(text, ones())] == [CallSegment]


@pytest.mark.parametrize(
    "end",
    ['", "x" "y"}}', '"}, "arguments": {"query": "x"}}'],
    ids=["no JSON", "other arguments"],
)
def test_a_call_that_turns_out_to_be_none_is_broken(end):
    text = '<tool_call>{"name": "look_up", "parameters": {"query": "' + "moon " * 40 + end
    text += "</tool_call> after"
    for sizes in (ones(), dice(3)):
        (pieces, name, last), after = together(live(text, sizes))
        assert isinstance(last, BrokenSegment)
        assert name == last.name == "look_up"
        assert pieces.startswith('{"query": "moon ')
        assert last.raw.removesuffix("</tool_call>") + "</tool_call>" + after.text == text
    assert not any(isinstance(each, ReasoningSegment) for each in live(text, ones()))
    assert isinstance(parse_text(text, TOOLS).segments[0], (TextSegment, CallSegment))
