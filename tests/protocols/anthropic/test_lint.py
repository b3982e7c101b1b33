"""Each rule for streams of Anthropic Messages is broken alone and found under its name."""

import pytest
from tests.protocols.recorded import GONE, broken, changed, put, sse, without

from toolglot.lint import lint_stream, rules_of

NAME = "anthropic"
USAGE = {"input_tokens": 9, "output_tokens": 1}


def start(index, **block):
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index, kind, **member):
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **member}}


def stop(index):
    return {"type": "content_block_stop", "index": index}


GOOD = [
    {
        "type": "message_start",
        "message": {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": USAGE,
        },
    },
    start(0, type="text", text=""),
    delta(0, "text_delta", text="Low water"),
    stop(0),
    start(1, type="tool_use", id="toolu_1", name="tides", input={}),
    delta(1, "input_json_delta", partial_json='{"a":1}'),
    stop(1),
    {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use", "stop_sequence": None},
        "usage": {"output_tokens": 7},
    },
    {"type": "message_stop"},
]
THOUGHT = [
    GOOD[0],
    start(0, type="thinking", thinking="", signature=""),
    delta(0, "thinking_delta", thinking="Hm."),
    delta(0, "signature_delta", signature="sig"),
    stop(0),
    changed(GOOD, 8, "delta.stop_reason", "end_turn")[7],
    GOOD[8],
]
OVERLAP = [GOOD[0], GOOD[1], GOOD[2], GOOD[4], *GOOD[3:4], *GOOD[5:]]
RENUMBERED = changed(changed(changed(GOOD, 5, "index", 2), 6, "index", 2), 7, "index", 2)
ERROR = {"type": "error", "error": {"type": "overloaded_error", "message": "later"}}

BREAKS = [
    ("not-json", 4, put(GOOD, 4, b"event: ping\ndata: {\n\n")),
    ("not-json", 4, put(GOOD, 4, b"event: ping\ndata: [1]\n\n")),
    ("done-marker", 9, put(GOOD, 9, b"data: [DONE]\n\n")),
    ("type-missing", 4, put(GOOD, 4, {"index": 0})),
    ("event-line", 4, put(GOOD, 4, b'event: pong\ndata: {"type":"ping"}\n\n')),
    ("event-line", 4, put(GOOD, 4, b'data: {"type":"ping"}\n\n')),
    ("start-first", 1, GOOD[1:]),
    ("start-once", 2, put(GOOD, 2, GOOD[0])),
    ("start-message", 1, changed(GOOD, 1, "message.id", GONE)),
    ("start-message", 1, changed(GOOD, 1, "message.role", "user")),
    ("start-content", 1, changed(GOOD, 1, "message.content", GONE)),
    ("start-content", 1, changed(GOOD, 1, "message.content", [{"type": "text"}])),
    ("start-usage", 1, changed(GOOD, 1, "message.usage", None)),
    ("start-usage", 1, changed(GOOD, 1, "message.usage.input_tokens", "9")),
    ("block-index", 5, RENUMBERED),
    ("block-overlap", 4, OVERLAP),
    ("block-type", 8, put(GOOD, 8, start(2, text=""), stop(2))),
    ("block-empty", 2, changed(GOOD, 2, "content_block.text", "Lo")),
    ("block-empty", 5, changed(GOOD, 5, "content_block.input", {"a": 1})),
    ("block-empty", 5, changed(GOOD, 5, "content_block.input", GONE)),
    ("block-empty", 2, changed(THOUGHT, 2, "content_block.thinking", "Hm")),
    ("call-id", 5, changed(GOOD, 5, "content_block.id", "")),
    ("call-id", 5, changed(GOOD, 5, "content_block.name", GONE)),
    ("block-open", 5, put(GOOD, 5, delta(0, "text_delta", text="late"))),
    ("block-open", 5, put(GOOD, 5, stop(0))),
    ("block-open", 3, put(GOOD, 3, delta([0], "text_delta", text="where"))),
    ("block-stopped", 8, without(GOOD, 7)),
    ("call-input", 6, without(GOOD, 6)),
    ("delta-fits", 6, put(GOOD, 6, delta(1, "text_delta", text="x"))),
    ("delta-fits", 3, put(GOOD, 3, delta(0, "input_json_delta", partial_json=""))),
    ("delta-fits", 3, put(GOOD, 3, delta(0, "thinking_delta", thinking="x"))),
    ("delta-fits", 3, put(GOOD, 3, delta(0, "signature_delta", signature="x"))),
    ("delta-fits", 6, put(GOOD, 6, delta(1, "citations_delta", citation={}))),
    ("delta-member", 3, changed(GOOD, 3, "delta.text", GONE)),
    ("delta-member", 3, changed(GOOD, 3, "delta.type", 7)),
    ("signature", 4, changed(THOUGHT, 4, "delta.signature", "")),
    ("signature", 3, changed(THOUGHT, 3, "delta.signature", "sig")),
    ("signature", 5, put(THOUGHT, 5, THOUGHT[2])),
    ("arguments", 7, changed(GOOD, 6, "delta.partial_json", '{"a":')),
    ("stop-reason", 9, changed(GOOD, 8, "delta.stop_reason", None)),
    ("stop-reason", 8, without(GOOD, 8)),
    ("stop-calls", 8, changed(GOOD, 8, "delta.stop_reason", "end_turn")),
    ("final-usage", 8, changed(GOOD, 8, "usage", GONE)),
    ("error-shape", 3, [*GOOD[:2], {"type": "error", "error": "later"}]),
    ("after-end", 10, [*GOOD, {"type": "ping"}]),
    ("after-end", 10, [*GOOD, b"data: [DONE]\n\n"]),
    ("after-end", 4, [*GOOD[:2], ERROR, GOOD[-1]]),
    ("end-missing", 8, GOOD[:-1]),
]


@pytest.mark.parametrize(
    "events",
    [
        GOOD,
        THOUGHT,
        put(GOOD, 2, {"type": "ping"}),
        put(GOOD, 2, b": a comment\n\n"),
        [*GOOD[:3], ERROR],
        [ERROR],
        put(GOOD, 4, delta(0, "new_delta", text="unknown to us")),
    ],
)
def test_sound_streams_break_no_rule(events):
    assert lint_stream(sse(events), NAME) == []


@pytest.mark.parametrize(("rule", "number", "events"), BREAKS)
def test_a_broken_rule_is_found_alone_and_where_it_is(rule, number, events):
    assert broken(sse(events), NAME) == [(rule, number)]


def test_an_event_without_a_blank_line_is_never_seen():
    assert broken(sse(GOOD)[:-1], NAME) == [("blank-line", 9)]
    assert broken(sse(GOOD)[:-2], NAME) == [("blank-line", 9)]


def test_every_rule_is_broken_above():
    assert {rule for rule, *_ in BREAKS} | {"blank-line"} == {r.code for r in rules_of(NAME)}


@pytest.mark.parametrize("reason", ["max_tokens", "refusal"])
def test_a_call_may_be_cut_where_the_answer_was_cut(reason):
    cut = changed(GOOD, 6, "delta.partial_json", '{"a":')
    assert broken(sse(changed(cut, 8, "delta.stop_reason", reason)), NAME) == []


def test_a_cut_call_is_not_reported_twice_when_the_stream_broke_off():
    cut = changed(GOOD, 6, "delta.partial_json", '{"a":')
    assert broken(sse([*cut[:7], ERROR]), NAME) == []


def test_what_is_wrong_is_said_in_words():
    (violation,) = lint_stream(sse(OVERLAP), NAME)
    assert str(violation) == "event 4: block-overlap: block 0 is still open"
    (violation,) = lint_stream(sse(changed(GOOD, 1, "message.usage", {})), NAME)
    assert violation.message == "message.usage lacks input_tokens and output_tokens"
