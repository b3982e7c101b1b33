"""Repairs of a history, each in the protocols whose providers refuse without it."""

import pytest

from toolglot.mending import REPAIRS, repair_body

ASK = {"role": "user", "content": "Which way?"}
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
SAID = {"type": "text", "text": "West."}


def chat(*messages):
    return {"model": "m", "messages": [*messages]}


def claude(*messages):
    return {"model": "m", "max_tokens": 9, "messages": [*messages]}


def said(*content):
    return {"role": "assistant", "content": [*content]}


def marked(number):
    return {"type": "text", "text": str(number), "cache_control": {"type": "ephemeral"}}


def gemini(*contents):
    return {"contents": [{"role": role, "parts": [*parts]} for role, *parts in contents]}


LOOK = {"functionCall": {"name": "look", "args": {}}}
SEEN = {"functionResponse": {"name": "look", "response": {"a": 1}}}


@pytest.mark.parametrize(
    ("name", "protocol", "before", "after"),
    [
        (
            "reasoning",
            "anthropic",
            claude(ASK, said(THOUGHT, SAID), ASK),
            claude(ASK, {"role": "assistant", "content": "West."}, ASK),
        ),
        (
            "reasoning",
            "anthropic",
            claude(ASK, said(THOUGHT), ASK),
            claude(ASK, ASK),
        ),
        (
            "reasoning",
            "gemini",
            gemini(("user", {"text": "a"}), ("model", {**LOOK, "thoughtSignature": "c2ln"})),
            gemini(("user", {"text": "a"}), ("model", LOOK)),
        ),
        (
            "signatures",
            "gemini",
            gemini(("user", {"text": "a"}), ("model", LOOK, LOOK), ("user", SEEN, SEEN)),
            gemini(
                ("user", {"text": "a"}),
                ("model", {**LOOK, "thoughtSignature": "skip_thought_signature_validator"}, LOOK),
                ("user", SEEN, SEEN),
            ),
        ),
        (
            "empty-reasoning",
            "openai-chat",
            chat(ASK, {"role": "assistant", "content": "West."}, ASK),
            chat(ASK, {"role": "assistant", "content": "West.", "reasoning_content": " "}, ASK),
        ),
        (
            "prefill",
            "anthropic",
            claude(ASK, {"role": "assistant", "content": "We"}),
            claude(ASK),
        ),
        (
            "cache-marks",
            "anthropic",
            {**claude(ASK), "system": [marked(number) for number in range(5)]},
            {**claude(ASK), "system": [{"type": "text", "text": "0"}, *map(marked, range(1, 5))]},
        ),
        (
            "blank-text",
            "anthropic",
            claude(ASK, said({"type": "text", "text": " \n"}, SAID), ASK),
            claude(ASK, {"role": "assistant", "content": "West."}, ASK),
        ),
        (
            "blank-text",
            "openai-chat",
            chat(ASK, {"role": "assistant", "content": " "}, ASK),
            chat(ASK, ASK),
        ),
        (
            "blank-text",
            "openai-chat",
            chat(ASK, {"role": "assistant", "content": None}, ASK),
            chat(ASK, ASK),
        ),
        (
            "prefill-space",
            "anthropic",
            claude(ASK, {"role": "assistant", "content": "West is \n"}),
            claude(ASK, {"role": "assistant", "content": "West is"}),
        ),
    ],
)
def test_a_repair(name, protocol, before, after):
    body, notes = repair_body(before, protocol, [name])
    assert body == after
    assert notes, "what was changed is said"
    again, none = repair_body(body, protocol, [name])
    assert again == body
    assert not none


@pytest.mark.parametrize("name", REPAIRS)
def test_a_good_history_is_left_as_it_is(name):
    body = claude(ASK)
    if name == "empty-reasoning":
        body = chat(ASK)
    protocol = "openai-chat" if name == "empty-reasoning" else "anthropic"
    repaired, notes = repair_body(body, protocol, [name])
    assert repaired is body
    assert notes == ()


def test_pairs_are_those_of_the_doctor():
    body, notes = repair_body(
        chat(ASK, {"role": "assistant", "tool_calls": [CALL]}, ASK), "openai-chat", ["history"]
    )
    assert body["messages"][2]["role"] == "tool"
    assert [note.code for note in notes] == ["call-unanswered"]


def test_a_prefill_that_is_a_call_stays():
    body = chat(ASK, {"role": "assistant", "tool_calls": [CALL]})
    assert repair_body(body, "openai-chat", ["prefill"])[0] is body
