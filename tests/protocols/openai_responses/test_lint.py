"""Each rule for streams of Responses is broken alone and found under its name."""

import pytest
from tests.protocols.recorded import GONE, broken, changed, put, sse, without

from toolglot.lint import lint_stream, rules_of

NAME = "openai-responses"
USAGE = {
    "input_tokens": 9,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 3,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 12,
}
PART = {"type": "output_text", "text": "Low", "annotations": []}
MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "status": "completed",
    "role": "assistant",
    "content": [PART],
}
CALL = {
    "id": "fc_1",
    "type": "function_call",
    "status": "completed",
    "call_id": "call_1",
    "name": "tides",
    "arguments": '{"a":1}',
}
TEXT = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
ARGUMENTS = {"item_id": "fc_1", "output_index": 1}


def response(status, **more):
    return {"response": {"id": "resp_1", "status": status, "output": [], "usage": None, **more}}


def numbered(events):
    """With their sequence numbers."""
    return [
        event if isinstance(event, bytes) else {**event, "sequence_number": number}
        for number, event in enumerate(events)
    ]


def of(kind, **members):
    return {"type": f"response.{kind}", **members}


GOOD = numbered(
    [
        of("created", **response("in_progress")),
        of("in_progress", **response("in_progress")),
        of(
            "output_item.added",
            output_index=0,
            item=MESSAGE | {"status": "in_progress", "content": []},
        ),
        of("content_part.added", **TEXT, part=PART | {"text": ""}),
        of("output_text.delta", **TEXT, delta="Low"),
        of("output_text.done", **TEXT, text="Low"),
        of("content_part.done", **TEXT, part=PART),
        of("output_item.done", output_index=0, item=MESSAGE),
        of(
            "output_item.added",
            output_index=1,
            item=CALL | {"status": "in_progress", "arguments": ""},
        ),
        of("function_call_arguments.delta", **ARGUMENTS, delta='{"a":'),
        of("function_call_arguments.delta", **ARGUMENTS, delta="1}"),
        of("function_call_arguments.done", **ARGUMENTS, arguments='{"a":1}'),
        of("output_item.done", output_index=1, item=CALL),
        of("completed", **response("completed", output=[MESSAGE, CALL], usage=USAGE)),
    ]
)
FAILED = of("failed", **response("failed", error={"code": "server_error", "message": "later"}))
CUT = of(
    "incomplete",
    **response(
        "incomplete",
        output=[MESSAGE, CALL],
        usage=USAGE,
        incomplete_details={"reason": "max_output_tokens"},
    ),
)
ERROR = {"type": "error", "code": "server_error", "message": "later", "param": None}
THOUGHT = {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]}
SUMMARY = {"item_id": "rs_1", "output_index": 0, "summary_index": 0}
REASONED = numbered(
    [
        *GOOD[:2],
        of("output_item.added", output_index=0, item=THOUGHT | {"summary": []}),
        of("reasoning_summary_part.added", **SUMMARY, part={}),
        of("reasoning_summary_text.delta", **SUMMARY, delta="Hm."),
        of("reasoning_summary_text.done", **SUMMARY, text="Hm."),
        of("reasoning_summary_part.done", **SUMMARY, part={}),
        of("output_item.done", output_index=0, item=THOUGHT),
        of("completed", **response("completed", output=[THOUGHT], usage=USAGE)),
    ]
)
PATCH = {
    "id": "ctc_1",
    "type": "custom_tool_call",
    "call_id": "call_2",
    "name": "patch",
    "input": "*** Begin",
    "status": "completed",
}
FREEFORM = numbered(
    [
        *GOOD[:2],
        of("output_item.added", output_index=0, item=PATCH | {"input": ""}),
        of("custom_tool_call_input.delta", item_id="ctc_1", output_index=0, delta="*** Begin"),
        of("custom_tool_call_input.done", item_id="ctc_1", output_index=0, input="*** Begin"),
        of("output_item.done", output_index=0, item=PATCH),
        of("completed", **response("completed", output=[PATCH], usage=USAGE)),
    ]
)
SECOND = CALL | {"id": "fc_2", "call_id": "call_9"}
BEGUN = SECOND | {"status": "in_progress", "arguments": ""}
# What comes of two calls goes back and forth between them.
OVERLAP = numbered(
    [
        *GOOD[:9],
        of(
            "output_item.added",
            output_index=2,
            item=BEGUN,
        ),
        *GOOD[9:12],
        of("function_call_arguments.delta", item_id="fc_2", output_index=2, delta='{"a":1}'),
        of("function_call_arguments.done", item_id="fc_2", output_index=2, arguments='{"a":1}'),
        GOOD[12],
        of("output_item.done", output_index=2, item=SECOND),
        of("completed", **response("completed", output=[MESSAGE, CALL, SECOND], usage=USAGE)),
    ]
)
# The call broke off: an item that is incomplete, and no end of its arguments.
HALF = changed(
    changed(
        numbered([*without(GOOD, 11, 12)[:-1], CUT]), 11, "item", CALL | {"status": "incomplete"}
    ),
    11,
    "item.arguments",
    '{"a":',
)

BREAKS = [
    ("not-json", 3, put(GOOD, 3, b"data: {\n\n")),
    ("done-marker", 14, put(GOOD, 14, b"data: [DONE]\n\n")),
    ("type-missing", 3, numbered(put(GOOD, 3, {"a": 1}))),
    ("event-line", 3, numbered(put(GOOD, 3, b'data: {"type":"ping","sequence_number":2}\n\n'))),
    ("created-first", 1, numbered(GOOD[1:])),
    ("created-first", 3, numbered(put(GOOD, 3, GOOD[0]))),
    ("in-progress", 2, numbered(without(GOOD, 2))),
    ("in-progress", 2, numbered([GOOD[0], changed(GOOD, 14, "response.output", [])[13]])),
    ("sequence", 5, changed(GOOD, 5, "sequence_number", GONE)),
    ("response-id", 14, changed(GOOD, 14, "response.id", "resp_2")),
    ("response-id", 2, changed(GOOD, 2, "response.id", GONE)),
    ("status", 14, changed(GOOD, 14, "response.status", "in_progress")),
    ("status", 1, changed(GOOD, 1, "response.status", "completed")),
    ("output-index", 5, changed(GOOD, 5, "output_index", GONE)),
    ("output-order", 3, [
        changed(REASONED, n, "output_index", 1)[n - 1] if 3 <= n <= 8 else event
        for n, event in enumerate(REASONED, 1)
    ]),
    ("item-id", 10, changed(GOOD, 10, "item_id", GONE)),
    ("item-id", 10, changed(GOOD, 10, "item_id", "msg_1")),
    ("item-added", 3, numbered(put(GOOD, 3, of("output_text.annotation.added", **TEXT)))),
    ("item-over", 9, numbered(put(GOOD, 9, GOOD[7]))),
    ("item-over", 9, numbered(put(GOOD, 9, of("output_text.delta", **TEXT, delta="")))),
    ("item-overlap", 10, OVERLAP),
    ("item-open", 13, numbered(without(GOOD, 13))),
    ("item-same", 13, changed(GOOD, 13, "item.id", "fc_2")),
    ("item-same", 13, changed(GOOD, 13, "item.call_id", "call_2")),
    ("item-same", 8, changed(GOOD, 8, "item.id", "")),
    ("item-status", 6, changed(FREEFORM, 6, "item.status", GONE)),
    ("item-status", 9, changed(GOOD, 9, "item.status", "completed")),
    ("item-status", 8, changed(GOOD, 8, "item.status", GONE)),
    ("call-id", 9, changed(GOOD, 9, "item.name", "")),
    ("part-added", 4, numbered(without(REASONED, 4))),
    ("part-done", 7, numbered(without(GOOD, 7))),
    ("delta-text", 5, numbered(put(GOOD, 5, of("output_text.delta", **TEXT)))),
    ("done-text", 6, changed(GOOD, 6, "text", "High")),
    ("done-text", 12, changed(GOOD, 12, "arguments", '{"a":2}')),
    ("item-text", 8, changed(GOOD, 8, "item.content.0.text", "High")),
    ("item-text", 8, changed(REASONED, 8, "item.summary.0.text", "Ha.")),
    ("item-text", 6, changed(FREEFORM, 6, "item.input", "***")),
    ("final-output", 14, changed(GOOD, 14, "response.output", [MESSAGE])),
    ("final-output", 14, changed(GOOD, 14, "response.output", None)),
    ("final-usage", 14, changed(GOOD, 14, "response.usage", None)),
    ("final-usage", 14, changed(GOOD, 14, "response.usage.input_tokens_details", {})),
    ("incomplete-reason", 12, changed(HALF, 12, "response.incomplete_details", None)),
    ("error-shape", 6, numbered([*GOOD[:5], changed([FAILED], 1, "response.error", None)[0]])),
    ("error-shape", 6, numbered([*GOOD[:5], {"type": "error"}])),
    ("after-end", 15, numbered([*GOOD, of("output_text.delta", **TEXT, delta="x")])),
    ("after-end", 7, numbered([*GOOD[:5], ERROR, GOOD[5]])),
    ("end-missing", 13, GOOD[:-1]),
]  # fmt: skip


@pytest.mark.parametrize(
    "events",
    [
        GOOD,
        REASONED,
        FREEFORM,
        HALF,
        numbered([*GOOD[:5], FAILED]),
        numbered([*GOOD[:5], ERROR]),
        numbered([*GOOD[:5], ERROR, FAILED]),
        numbered([ERROR]),
        numbered(put(GOOD, 2, of("queued", response={}))),
        numbered(put(GOOD, 5, of("something.new", value=1))),
    ],
)
def test_sound_streams_break_no_rule(events):
    assert lint_stream(sse(events), NAME) == []


@pytest.mark.parametrize(("rule", "number", "events"), BREAKS)
def test_a_broken_rule_is_found_where_it_is(rule, number, events):
    found = broken(sse(events), NAME)
    assert (rule, number) in found
    assert found[0] == (rule, number)


ENTAILED = {
    "output-index": {"done-text", "item-text"},
    "part-added": {"part-done"},
}
"""What a broken rule must break besides, since the one event then says nothing of its item."""


@pytest.mark.parametrize(("rule", "number", "events"), BREAKS)
def test_a_broken_rule_breaks_no_other(rule, number, events):
    found = {other for other, _ in broken(sse(events), NAME)}
    assert found - {rule} <= ENTAILED.get(rule, set())


def test_arguments_of_a_whole_call_are_json():
    bad = changed(changed(GOOD, 13, "item.arguments", '{"a":'), 12, "arguments", '{"a":')
    assert broken(sse(numbered(without(bad, 11))), NAME) == [("arguments", 11), ("arguments", 12)]
    assert ("arguments", 12) in broken(sse(changed(GOOD, 12, "arguments", "")), NAME)


def test_an_event_without_a_blank_line_is_never_seen():
    assert broken(sse(GOOD)[:-1], NAME) == [("blank-line", 14)]


def test_every_rule_is_broken_above():
    shown = {rule for rule, *_ in BREAKS} | {"blank-line", "arguments"}
    assert shown == {rule.code for rule in rules_of(NAME)}


def test_a_gap_in_the_numbers_is_told_once():
    gap = [e | {"sequence_number": e["sequence_number"] + (i > 4)} for i, e in enumerate(GOOD)]
    (violation,) = lint_stream(sse(gap), NAME)
    assert violation.message == "sequence_number is 6 where 5 is due"
