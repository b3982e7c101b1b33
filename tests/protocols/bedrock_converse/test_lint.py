"""Each rule for streams of Converse is broken alone and found under its name."""

import copy

import pytest
from tests.protocols.bedrock_converse.helpers import stream, stream_of

from toolglot.lint import lint_stream, rules_of
from toolglot.wire.event_stream import encode_event

NAME = "bedrock-converse"
GOOD = [
    ("messageStart", {"role": "assistant"}),
    ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "Low"}}),
    ("contentBlockStop", {"contentBlockIndex": 0}),
    (
        "contentBlockStart",
        {"contentBlockIndex": 1, "start": {"toolUse": {"toolUseId": "t", "name": "f"}}},
    ),
    ("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"toolUse": {"input": "{}"}}}),
    ("contentBlockStop", {"contentBlockIndex": 1}),
    ("messageStop", {"stopReason": "tool_use"}),
    (
        "metadata",
        {
            "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
            "metrics": {"latencyMs": 1},
        },
    ),
]
FAILED = ("exception:throttlingException", {"message": "No."})


def broken(events):
    return [(each.rule, each.event) for each in lint_stream(stream(*events), NAME)]


def changed(number, **members):
    events = copy.deepcopy(GOOD)
    name, value = events[number - 1]
    events[number - 1] = (name, {**value, **members})
    return events


def without(*numbers):
    return [event for number, event in enumerate(GOOD, 1) if number not in numbers]


def put(number, *events):
    return [*GOOD[: number - 1], *events, *GOOD[number - 1 :]]


def test_a_good_stream_breaks_nothing():
    assert broken(GOOD) == []
    assert broken([*GOOD[:2], FAILED]) == []
    assert broken([FAILED]) == []


CASES = {
    "event-unknown": (put(2, ("tide", {"rows": 3})), [2]),
    "event-type": ([*GOOD[:1], ("metadata", GOOD[1][1]), *GOOD[2:]], [2]),
    "first": (without(1), [1, 2, 3, 4, 5, 6, 7]),
    "start-once": (put(2, GOOD[0]), [2]),
    "role": (changed(1, role="user"), [1]),
    "index": (changed(3, contentBlockIndex=None), [3]),
    "order": (put(4, GOOD[1]), [4]),
    "stop-open": (put(4, GOOD[2]), [4]),
    "start-member": (changed(4, start={}), [4]),
    "delta-member": (changed(2, delta={}), [2]),
    "call": (changed(4, start={"toolUse": {"toolUseId": "t"}}), [4]),
    "call-input": (changed(5, delta={"toolUse": {"input": {}}}), [5]),
    "stop-missing": (without(6), [6]),
    "stop-reason": (changed(7, stopReason=""), [7]),
    "usage": (changed(8, usage={}), [8]),
    "end": (without(8), [7]),
    "after-end": ([*GOOD, GOOD[1]], [9]),
}


@pytest.mark.parametrize("rule", CASES)
def test_a_rule_is_found_under_its_name(rule):
    events, numbers = CASES[rule]
    assert broken(events) == [(rule, number) for number in numbers]


def test_bytes_that_are_no_message_are_found():
    data = stream(*GOOD)
    assert [each.rule for each in lint_stream(data + b"\0\0\0\x10" * 4, NAME)] == ["after-end"]
    assert [each.rule for each in lint_stream(stream_of("cut"), NAME)] == ["not-json", "end"]
    junk = stream(GOOD[0]) + encode_event("metadata", b"[") + stream(*GOOD[1:])
    assert [(each.rule, each.event) for each in lint_stream(junk, NAME)] == [("not-json", 2)]


def test_every_rule_is_tried():
    assert {rule.code for rule in rules_of(NAME)} == {*CASES, "not-json"}
