"""Action lines."""

import json

import pytest

from toolglot.dialects.text import TextDecoder, merged, parse_text

TOOLS = [{"name": "f", "parameters": {"properties": {"q": {"type": "string"}}}}]


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('Action: f\nAction Input: {"q": "x"}\nObservation: no', {"q": "x"}),
        ("Action: f\nAction Input: some words", {"q": "some words"}),
        ('Action 1: f\nAction 1 Input: {"q": "x"}', {"q": "x"}),
        ('Action: `f`\nAction Input: ```json\n{"q": "x"}\n```', {"q": "x"}),
        ('Action:\n```json\n{"action": "f", "action_input": {"q": "x"}}\n```', {"q": "x"}),
    ],
)
def test_actions(text, arguments):
    parsed = parse_text(text, TOOLS, "react")
    assert [json.loads(call.arguments) for call in parsed.calls] == [arguments]
    assert parsed.content == ""


@pytest.mark.parametrize(
    "text", ["Action films are fun.\nOk", "Action: f", "Action: f\nInput: x", "An Action: f\n"]
)
def test_no_action(text):
    assert parse_text(text, TOOLS, "react").content == text


def test_what_follows_an_observation_is_the_same_at_any_cut():
    text = "Action: f\nAction Input: moon\nObservation: full\nAction:"
    whole = parse_text(text, TOOLS, "react")
    assert whole.content == "\nAction:"
    decoder = TextDecoder("react", TOOLS)
    segments = [each for char in text for each in decoder.feed(char)]
    assert tuple(merged([*segments, *decoder.close()])) == whole.segments
