"""Each rule for streams of Chat Completions is broken alone and found under its name."""

import pytest
from tests.protocols.recorded import GONE, broken, changed, put, sse, without

from toolglot.lint import lint_stream, rules_of

NAME = "openai-chat"
DONE = b"data: [DONE]\n\n"


def chunk(finish=None, index=0, **delta):
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 5,
        "model": "gpt",
        "choices": [choice],
    }


def call(index, text, **first):
    function = {"arguments": text} | ({"name": first.pop("name")} if "name" in first else {})
    return chunk(tool_calls=[{"index": index, **first, "function": function}])


GOOD = [
    chunk(role="assistant", content=None),
    chunk(content="Low water"),
    call(0, "", id="call_1", type="function", name="tides"),
    call(0, '{"a":'),
    call(0, "1}"),
    chunk("tool_calls"),
    chunk() | {"choices": [], "usage": {"total_tokens": 3}},
    DONE,
]
ERROR = {"error": {"message": "later", "type": "server_error"}}
CUSTOM = chunk(
    tool_calls=[
        {"index": 0, "id": "c", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}
    ]
)

BREAKS = [
    ("not-json", 3, put(GOOD, 3, b"data: {\n\n")),
    ("chunk-id", 2, changed(GOOD, 2, "id", "chatcmpl-2")),
    ("chunk-id", 2, changed(GOOD, 2, "id", GONE)),
    ("chunk-object", 2, changed(GOOD, 2, "object", "chat.completion")),
    ("chunk-head", 2, changed(GOOD, 2, "model", GONE)),
    ("chunk-head", 2, changed(GOOD, 2, "created", "5")),
    ("choice-index", 2, changed(GOOD, 2, "choices.0.index", GONE)),
    ("choice-index", 2, changed(GOOD, 2, "choices", None)),
    ("choice-delta", 2, changed(GOOD, 2, "choices.0.delta", None)),
    ("role", 2, changed(GOOD, 2, "choices.0.delta.role", "assistant")),
    ("role", 1, changed(GOOD, 1, "choices.0.delta.role", GONE)),
    ("call-index", 4, put(GOOD, 4, chunk(tool_calls=[{"function": {"arguments": ""}}]))),
    ("call-index", 6, put(GOOD, 6, call(2, "{}", id="b", type="function", name="tides"))),
    ("call-start", 3, changed(GOOD, 3, "choices.0.delta.tool_calls.0.id", GONE)),
    ("call-start", 3, changed(GOOD, 3, "choices.0.delta.tool_calls.0.function.name", "")),
    ("call-repeat", 4, changed(GOOD, 4, "choices.0.delta.tool_calls.0.id", "call_1")),
    ("call-repeat", 4, changed(GOOD, 4, "choices.0.delta.tool_calls.0.function.name", "tides")),
    ("arguments", 5, without(GOOD, 5)),
    ("arguments", 5, [*GOOD[:3], changed(GOOD, 4, "choices.0.finish_reason", "tool_calls")[3]]),
    ("finish-once", 7, put(GOOD, 7, chunk("stop"))),
    ("finish-last", 7, put(GOOD, 7, chunk(content="more"))),
    ("finish-stop", 6, changed(GOOD, 6, "choices.0.finish_reason", "stop")),
    ("finish-calls", 3, [*GOOD[:2], *GOOD[5:]]),
    ("usage-chunk", 2, changed(GOOD, 2, "usage", {"total_tokens": 1})),
    ("usage-chunk", 7, changed(GOOD, 7, "usage", None)),
    ("error-shape", 3, [*GOOD[:2], {"error": "later"}]),
    ("after-end", 9, [*GOOD, chunk(content="late")]),
    ("after-end", 9, [*GOOD, DONE]),
    ("finish-missing", 7, without(GOOD, 6)),
    ("finish-missing", 1, [DONE]),
    ("end-missing", 7, GOOD[:-1]),
    ("call-index", 4, put(GOOD, 4, chunk(tool_calls=["half a call"]))),
    ("call-index", 4, put(GOOD, 4, chunk(tool_calls={"index": 0}))),
    ("content", 2, put(GOOD, 2, chunk(content=[{"type": "text", "text": "Low water"}]))),
]
BREAKS[18] = ("arguments", 4, [*BREAKS[18][2], *GOOD[6:]])


@pytest.mark.parametrize(
    "events",
    [
        GOOD,
        without(GOOD, 7),
        [*GOOD[:2], ERROR],
        [*GOOD[:2], ERROR, DONE],
        put(GOOD, 2, b": keep-alive\n\n"),
        [*GOOD[:4], chunk("length"), *GOOD[6:]],
        [GOOD[0], CUSTOM, *GOOD[5:]],
        [GOOD[0], chunk(index=1, role="assistant"), chunk("stop"), chunk("stop", index=1), DONE],
    ],
)
def test_sound_streams_break_no_rule(events):
    assert lint_stream(sse(events), NAME) == []


@pytest.mark.parametrize(("rule", "number", "events"), BREAKS)
def test_a_broken_rule_is_found_alone_and_where_it_is(rule, number, events):
    assert broken(sse(events), NAME) == [(rule, number)]


def test_an_event_without_a_blank_line_is_never_seen():
    assert broken(sse(GOOD)[:-1], NAME) == [("blank-line", 8)]


def test_every_rule_is_broken_above():
    assert {rule for rule, *_ in BREAKS} | {"blank-line"} == {r.code for r in rules_of(NAME)}


def test_a_call_in_the_last_chunk_counts_too():
    nowhere = {"function": {"arguments": "{"}}
    last = chunk("tool_calls", tool_calls=[nowhere])
    found = broken(sse([*GOOD[:5], last, *GOOD[6:]]), NAME)
    assert found == [("call-index", 6)], "its arguments belong to no call"


def test_several_calls_in_one_chunk_are_each_looked_at():
    both = chunk(
        tool_calls=[
            {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}},
            {"index": 1, "type": "function", "function": {"name": "g", "arguments": ""}},
            {"index": 1, "id": "b", "function": {"arguments": "{}"}},
        ]
    )
    found = broken(sse([GOOD[0], both, *GOOD[5:]]), NAME)
    assert found == [("call-start", 2), ("call-repeat", 2)]
