"""Blocks whose meaning depends on what follows them, in one piece and by the character."""

import pytest
from tests.dialects.samples import TOOLS

from toolglot.dialects import reader
from toolglot.dialects.text import CallSegment, TextDecoder, TextSegment, merged, parse_text

OBJECT = '{"name": "ring_bell", "arguments": {"times": 2}}'
TAGGED = f"<tool_call>{OBJECT}</tool_call>"
LIST = "[ring_bell(times=2)]"


def taken_apart(text, tools=TOOLS, dialect="auto", *, thinking=False):
    """Content, reasoning and the names of the calls, which no cut changes."""
    results = []
    for pieces in ([text], text, [text[:9], text[9:]]):
        decoder = TextDecoder(dialect, tools, thinking=thinking)
        found = [each for piece in pieces for each in decoder.feed(piece)]
        results.append(merged([*found, *decoder.close()]))
    assert results[0] == results[1] == results[2]
    words = {"TextSegment": "", "ReasoningSegment": ""}
    for each in results[0]:
        if not isinstance(each, CallSegment):
            words[type(each).__name__] += each.text
    calls = [each.name for each in results[0] if isinstance(each, CallSegment)]
    return (*words.values(), calls)


# --- without marks --------------------------------------------------------------------------------


@pytest.mark.parametrize("call", [OBJECT, f"[{OBJECT}]", LIST])
def test_without_declared_tools_a_bare_call_is_the_whole_answer(call):
    assert taken_apart(call, None)[2] == ["ring_bell"]
    assert taken_apart(f"\n {call}\n ", None)[2] == ["ring_bell"]
    assert taken_apart(f"<think>so</think>{call}", None)[1:] == ("so", ["ring_bell"])
    for text in (f"{call} is a call.", f"A call: {call}", f"```\n{call}\n```", f"Hm.\n{call}"):
        assert taken_apart(text, None) == (text, "", [])


@pytest.mark.parametrize("call", [OBJECT, f"[{OBJECT}]", LIST])
def test_among_declared_tools_an_answer_may_end_with_a_bare_call(call):
    assert taken_apart(f"I will ring.\n\n{call}\n") == ("I will ring.\n\n\n", "", ["ring_bell"])
    for text in (f"Send this:\n{call}\nand wait.", f"Hm.\n{call.replace('ring', 'sing')}"):
        assert taken_apart(text) == (text, "", [])


def test_a_list_of_calls_may_end_a_line_and_an_object_may_not():
    assert taken_apart(f"Now: {LIST}") == ("Now: ", "", ["ring_bell"])
    assert taken_apart(f"Such as: {OBJECT}")[2] == []
    assert taken_apart(f"Such as: `{LIST}`")[2] == []


def test_an_object_that_is_no_call_does_not_wait_for_its_end():
    decoder = TextDecoder("auto", TOOLS)
    decoder.feed("Here it is:\n")
    assert decoder.feed('{"port": "Oslo",') == [TextSegment('{"port": "Oslo",')]


def test_a_name_on_the_first_line_is_a_declared_one():
    call = 'ring_bell\n{"times": 2}'
    assert taken_apart(call) == ("", "", ["ring_bell"])
    assert taken_apart(call, None) == (call, "", [])
    decoder = TextDecoder("auto", TOOLS)
    assert decoder.feed("Ring") == [TextSegment("Ring")]


# --- marks without a call -------------------------------------------------------------------------


def test_marks_that_begin_an_answer_tell_the_dialect():
    text = "<|START_RESPONSE|>Hello <co>there</co: 0:[1]>.<|END_RESPONSE|>"
    assert taken_apart(text) == ("Hello there.", "", [])
    assert parse_text(text).dialect is None
    mention = f"Say {text}"
    assert taken_apart(mention) == (mention, "", [])


def test_empty_blocks():
    assert taken_apart("<tool_call></tool_call>Nothing to do.") == ("Nothing to do.", "", [])
    section = "<|tool_calls_section_begin|><|tool_calls_section_end|>"
    assert taken_apart(f"Nothing to do.{section}") == ("Nothing to do.", "", [])
    for text in ("<tool_call></tool_call>", "Write <tool_call></tool_call>so."):
        assert taken_apart(text) == (text, "", [])


# --- in reasoning ---------------------------------------------------------------------------------


def test_calls_in_reasoning_count_if_the_answer_is_nothing_else():
    assert taken_apart(f"<think>so {TAGGED}") == ("", "so ", ["ring_bell"])
    assert taken_apart(f"<think>so {TAGGED} yes</think>\n")[1:] == ("so  yes", ["ring_bell"])
    assert taken_apart(f"<think>so {TAGGED}{TAGGED} done") == (" done", "so ", ["ring_bell"] * 2)


def test_calls_in_reasoning_are_thoughts_if_an_answer_follows():
    thought = f"so {TAGGED} or not"
    assert taken_apart(f"<think>{thought}</think>No.") == ("No.", thought, [])
    assert taken_apart(f"{thought}</think>{TAGGED}", thinking=True) == ("", thought, ["ring_bell"])
    assert taken_apart(f"<think>{thought}</think>Ok", dialect="trinity")[2] == ["ring_bell"]


def test_reasoning_that_is_too_long_to_wait_for(monkeypatch):
    monkeypatch.setattr(reader, "MAX_BLOCK", 500)
    text = f"<think>so {TAGGED}" + "x" * 2000
    assert taken_apart(text) == ("x" * 2000, "so ", ["ring_bell"])
