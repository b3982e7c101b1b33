"""Each rule for streams of Gemini is broken alone and found under its name."""

import json

import pytest
from tests.protocols.recorded import GONE, broken, changed, put, sse

from toolglot.lint import lint_stream, rules_of

NAME = "gemini"


def chunk(*parts, finish=None, index=0):
    candidate = {"content": {"role": "model", "parts": list(parts)}, "index": index}
    return {"candidates": [candidate | ({"finishReason": finish} if finish else {})]}


GOOD = [
    chunk({"text": "Low "}),
    chunk({"functionCall": {"name": "tides", "args": {"a": 1}}}),
    chunk({"text": ""}, finish="STOP"),
]
ERROR = {"error": {"code": 503, "message": "later", "status": "UNAVAILABLE"}}
CALL = "candidates.0.content.parts.0.functionCall"

BREAKS = [
    ("not-json", 2, put(GOOD, 2, b"data: {\r\n\r\n")),
    ("done-marker", 4, [*GOOD, b"data: [DONE]\n\n"]),
    ("event-line", 2, put(GOOD, 2, b"event: message\n" + sse(GOOD[:1]))),
    ("comment", 1, put(GOOD, 2, b": keep-alive\n\n")),
    ("comment", 1, put(GOOD, 1, b": keep-alive\n\n")),
    ("comment", 3, [*GOOD, b": keep-alive\n\n"]),
    ("candidates", 2, put(GOOD, 2, {"usageMetadata": {}})),
    ("role", 1, changed(GOOD, 1, "candidates.0.content.role", GONE)),
    ("role", 1, changed(GOOD, 1, "candidates.0.content.role", "assistant")),
    ("call-name", 2, changed(GOOD, 2, f"{CALL}.name", "")),
    ("call-whole", 2, changed(GOOD, 2, f"{CALL}.args", '{"a":1}')),
    ("call-whole", 2, changed(GOOD, 2, f"{CALL}.args", GONE)),
    ("call-whole", 2, changed(GOOD, 2, f"{CALL}.willContinue", True)),
    ("finish-once", 3, changed(GOOD, 2, "candidates.0.finishReason", "STOP")),
    ("finish-last", 4, [*GOOD, chunk({"text": "more"})]),
    ("error-shape", 2, [GOOD[0], {"error": {"code": "503", "message": "later", "status": ""}}]),
    ("after-end", 3, [GOOD[0], ERROR, GOOD[2]]),
    ("end-missing", 2, GOOD[:2]),
    ("end-missing", 1, []),
]  # fmt: skip


@pytest.mark.parametrize(
    "events",
    [
        GOOD,
        [GOOD[0], ERROR],
        [ERROR],
        [{"promptFeedback": {"blockReason": "SAFETY"}}],
        [*GOOD[:2], {"candidates": [{"finishReason": "STOP"}]}],
        [chunk({"text": "a"}), chunk({"text": "b"}, finish="STOP", index=1), GOOD[2]],
    ],
)
def test_sound_streams_break_no_rule(events):
    assert lint_stream(sse(events), NAME) == []


@pytest.mark.parametrize(("rule", "number", "events"), BREAKS)
def test_a_broken_rule_is_found_alone_and_where_it_is(rule, number, events):
    assert broken(sse(events), NAME) == [(rule, number)]


def test_an_event_without_a_blank_line_is_never_seen():
    assert broken(sse(GOOD)[:-1], NAME) == [("blank-line", 3)]


def test_every_rule_is_broken_above():
    assert {rule for rule, *_ in BREAKS} | {"blank-line"} == {r.code for r in rules_of(NAME)}


def test_a_stream_may_be_one_array():
    assert lint_stream(json.dumps(GOOD).encode(), NAME) == []
    assert (
        broken(json.dumps([*GOOD[:2], 7]).encode(), NAME)
        == [("end-missing", 3), ("not-json", 3)][::-1]
    )
    assert broken(b'[{"candidates":', NAME) == [("not-json", 1), ("end-missing", 1)]


def test_each_candidate_needs_its_reason():
    two = [chunk({"text": "a"}), chunk({"text": "b"}, index=1), GOOD[2]]
    (violation,) = lint_stream(sse(two), NAME)
    assert violation.message == "the stream ends without a finishReason for candidate 1"
