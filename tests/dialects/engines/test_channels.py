"""Messages and whom they are for."""

import json

import pytest

from toolglot.dialects.text import ReasoningSegment, TextDecoder, TextSegment, parse_text


@pytest.mark.parametrize(
    "head",
    [
        "<|channel|>commentary to=functions.f <|constrain|>json<|message|>",
        " to=functions.f<|channel|>analysis<|message|>",
        "<|start|>assistant to=functions.f<|channel|>commentary json<|message|>",
        "<|channel|>commentary to=functions.f<|channel|>commentary<|message|>",
    ],
)
@pytest.mark.parametrize("end", ["<|call|>", ""])
def test_headers_of_calls(head, end):
    parsed = parse_text(f'{head}{{"a": 1}}{end}', None, "harmony")
    assert [(call.name, json.loads(call.arguments)) for call in parsed.calls] == [("f", {"a": 1})]
    assert parsed.content == ""


def test_final_words_come_as_they_are_written():
    decoder = TextDecoder("harmony")
    assert decoder.feed("<|channel|>analysis<|message|>hm") == [ReasoningSegment("hm")]
    assert decoder.feed("<|end|><|start|>assistant<|channel|>fin") == []
    assert decoder.feed("al<|message|>Hel") == [TextSegment("Hel")]
    assert decoder.feed("lo<|ret") == [TextSegment("lo")]
    assert [*decoder.feed("urn|>"), *decoder.close()] == []


@pytest.mark.parametrize(
    "text", ["plain", "<|channel|>", "<|channel|>final", '<|message|>{"a": 1}']
)
def test_odd_headers_are_text(text):
    assert parse_text(text, None, "harmony").content == text


def test_call_quoted_to_the_user_is_text():
    quoted = 'like <atem:invoke name="f"></atem:invoke>'
    parsed = parse_text(f" to=user<|message|>{quoted}<|eot|>", ["f"], "muse_glimmer")
    assert (parsed.content, parsed.calls) == (quoted, ())


def test_citations_are_left_out():
    text = "a <co>b</co: 0:[1]> c </co: "
    assert parse_text(text, None, "cohere_command3").content == "a b c </co: "


def test_a_message_that_the_next_one_ends():
    """The header of the next message ends one that was not closed; in words it is quoted."""
    call = (
        "<|start|>assistant to=ring<|message|><atem:function_calls>\n"
        '<atem:invoke name="ring">\n</atem:invoke>\n</atem:function_calls>'
    )
    text = f" to=self<|message|>Think{call}<|start|>assistant to=user<|message|>Done<|eot|>"
    for dialect in ("muse_glimmer", "auto"):
        parsed = parse_text(text, None, dialect)
        assert (parsed.reasoning, parsed.content) == ("Think", "Done")
        assert [each.name for each in parsed.calls] == ["ring"]
    quoted = parse_text(f" to=user<|message|>See:\n{call}", None, "muse_glimmer")
    assert (quoted.content, quoted.calls) == (f"See:\n{call}", ())
