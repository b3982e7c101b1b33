"""Streams that are read of OpenAI Responses."""

import json
from typing import Any

import pytest
from tests.protocols.openai_responses.helpers import HARNESS, decode_body, load, read
from tests.protocols.streamed import bare

from toolglot import ir
from toolglot.context import Context
from toolglot.events import (
    Event,
    Failed,
    Finished,
    OpaqueEvent,
    PartDelta,
    PartEnded,
    fold,
)


def sse(*values: Any) -> bytes:
    return b"".join(b"data: " + json.dumps(value).encode() + b"\n\n" for value in values)


def stream(name: str) -> list[Event]:
    return read(HARNESS.stream(name))


def called(events: list[Event]) -> list[tuple[str, str, str]]:
    response = fold(events)
    assert isinstance(response, ir.Response)
    return [
        (p.id, p.name, p.arguments) for p in response.choices[0].parts if isinstance(p, ir.ToolCall)
    ]


def test_interleaved_calls():
    """X-01, case-07: routed by item, never joined."""
    assert called(stream("parallel")) == [
        ("call_1", "tides", '{"harbour": "Wyk"}'),
        ("call_2", "tides", '{"harbour": "List"}'),
    ]


@pytest.mark.parametrize("key", ["item_id", "output_index"])
def test_interleaved_calls_by_one_key_alone(key):
    """X-01: either key is enough."""
    values = [
        {name: each for name, each in json.loads(line[6:]).items() if name != key}
        for line in HARNESS.stream("parallel").decode().split("\n")
        if line.startswith("data: ")
    ]
    assert called(read(sse(*values))) == called(stream("parallel"))


def test_done_without_deltas():
    """case-11, case-12: what `.done` says once is said once; an empty delta is nothing."""
    events = stream("done-only")
    assert called(events) == [("call_d", "probe", '{"x":1}')]
    assert sum(isinstance(event, PartDelta) for event in events) == 2


def test_only_the_last_event_tells():
    assert bare("openai-responses", fold(stream("completed-only"))) == bare(
        "openai-responses", decode_body(load("response", "calls"))
    )


def test_a_server_without_indices():
    assert called(stream("bare-indices")) == [("call_b1", "signal", '{"horn": 2}')]


def test_junk_is_passed_over():
    """case-09: a broken line does not end a stream that ends well."""
    ctx = Context()
    events = read(HARNESS.stream("junk"), ctx=ctx)
    assert bare("openai-responses", fold(events)) == bare(
        "openai-responses", decode_body(load("response", "text"))
    )
    assert ctx.receipt().codes()["event-skipped"] == 2
    assert [e.type for e in events if isinstance(e, OpaqueEvent)] == ["codex.rate_limits"]


def test_a_cut_is_an_error():
    """case-09: open parts are incomplete, the end is an error."""
    events = stream("cut")
    assert isinstance(events[-1], Failed)
    assert events[-2] == PartEnded(3, incomplete=True)
    assert isinstance(read(b"")[-1], Failed)


def test_a_cut_call_is_incomplete():
    """case-15."""
    events = stream("length")
    assert PartEnded(1, incomplete=True) in events
    assert PartEnded(0) in events
    last = events[-1]
    assert isinstance(last, Finished)
    assert last.stops[0].kind == "length"


def test_failures():
    failed, broken = stream("failed")[-1], stream("error-event")[-1]
    assert isinstance(failed, Failed)
    assert (failed.error.kind, failed.error.code) == ("rate_limit", "rate_limit_exceeded")
    assert isinstance(broken, Failed)
    assert broken.error.message == "The pump broke."
    bare_error = read(sse({"error": {"message": "no", "code": "context_length_exceeded"}}))[-1]
    assert isinstance(bare_error, Failed)
    assert bare_error.error.kind == "context_length"
    assert isinstance(read(sse({"type": "response.failed"}))[-1], Failed)


def test_a_call_without_a_name():
    """case-06: arguments that came are not lost."""
    ((call_id, name, arguments),) = called(stream("nameless"))
    assert (name, arguments) == ("tool_0", '{"a":1}')
    assert call_id


CALL = {"type": "function_call", "id": "fc", "call_id": "c", "name": "f", "arguments": "{}"}


DONE = {"type": "response.completed", "response": {"id": "r"}}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        # the item is announced after its first delta
        (
            [
                {"type": "response.function_call_arguments.delta", "item_id": "fc", "delta": "{"},
                {"type": "response.output_item.added", "item": {**CALL, "arguments": ""}},
                {"type": "response.function_call_arguments.delta", "item_id": "fc", "delta": "}"},
                {"type": "response.output_item.done", "item": CALL},
            ],
            [("c", "f", "{}")],
        ),
        # the announcement has no name, `.done` does
        (
            [
                {
                    "type": "response.output_item.added",
                    "item": {**CALL, "name": "", "arguments": ""},
                },
                {"type": "response.function_call_arguments.delta", "item_id": "fc", "delta": "{}"},
                {
                    "type": "response.function_call_arguments.done",
                    "item_id": "fc",
                    "name": "late",
                    "arguments": "{}",
                },
            ],
            [("c", "late", "{}")],
        ),
        # never announced, held until the item is done
        (
            [
                {
                    "type": "response.function_call_arguments.done",
                    "item_id": "fc",
                    "arguments": "{}",
                },
                {"type": "response.output_item.done", "item": CALL},
            ],
            [("c", "f", "{}")],
        ),
        # whole in its announcement
        ([{"type": "response.output_item.added", "item": CALL}], [("c", "f", "{}")]),
        # something else after it is done
        (
            [
                {"type": "response.output_item.done", "item": CALL},
                {"type": "response.output_item.done", "item": CALL},
                {"type": "response.function_call_arguments.delta", "item_id": "fc", "delta": "x"},
                {
                    "type": "response.function_call_arguments.done",
                    "item_id": "fc",
                    "arguments": "x",
                },
            ],
            [("c", "f", "{}")],
        ),
        # `.done` says something else than the deltas did
        (
            [
                {"type": "response.output_item.added", "item": {**CALL, "arguments": ""}},
                {
                    "type": "response.function_call_arguments.delta",
                    "item_id": "fc",
                    "delta": '{"a":1}',
                },
                {"type": "response.output_item.done", "item": {**CALL, "arguments": '{"a": 1}'}},
            ],
            [("c", "f", '{"a":1}')],
        ),
    ],
)
def test_odd_calls(values, expected):
    """X-02: arguments are never lost, whatever comes first."""
    assert called(read(sse(*values, DONE))) == expected


@pytest.mark.parametrize(
    "value",
    [
        {"type": "response.created"},
        {"type": "response.created", "response": {"id": 3, "model": [], "created_at": "x"}},
        {"type": "response.output_item.added"},
        {"type": "response.output_item.done", "item": 7},
        {
            "type": "response.output_item.added",
            "item": {"type": "function_call", "name": "f", "call_id": 3},
        },
        {"type": "response.output_item.done", "item": {"type": "function_call", "name": 3}},
        {"type": "response.content_part.added", "part": 3},
        {"type": "response.content_part.done", "part": {"type": "output_text", "text": 3}},
        {"type": "response.output_text.delta", "delta": 3},
        {"type": "response.output_text.delta", "item_id": [], "output_index": {}, "delta": ""},
        {"type": "response.output_text.annotation.added", "annotation": 3},
        {"type": "response.refusal.done", "refusal": None},
        {"type": "response.function_call_arguments.delta", "delta": 3},
        {"type": "response.function_call_arguments.done", "arguments": 3},
        {"type": "response.reasoning_summary_text.delta", "delta": 3},
        {"type": "response.reasoning_text.delta", "delta": None},
        {"type": "response.completed", "response": 3},
        {"type": "response.completed", "response": {"usage": 3, "output": [3]}},
        {"type": "response.completed", "response": {"usage": {"input_tokens": "x"}}},
        {"type": 3},
        {"type": ""},
        {"error": None},
    ],
    ids=json.dumps,
)
def test_broken_events_end_in_a_legal_stream(value):
    text = {"type": "response.output_text.delta", "delta": "hello"}
    events = read(sse(text, value, DONE))
    assert PartDelta(0, "hello") in events
    assert isinstance(events[-1], Finished)
    assert read(sse(value, text, DONE))[-1]


THOUGHT = {"type": "reasoning", "id": "rs", "summary": []}


MESSAGE = {"type": "message", "id": "msg", "role": "assistant", "content": []}


@pytest.mark.parametrize(
    "values",
    [
        [
            {"type": "response.output_item.done", "item": THOUGHT},
            {"type": "response.reasoning_text.delta", "item_id": "rs", "delta": "late"},
        ],
        [
            {"type": "response.output_item.done", "item": MESSAGE},
            {"type": "response.content_part.added", "item_id": "msg", "part": {"type": "refusal"}},
        ],
        [
            {"type": "response.content_part.added", "part": {"type": "output_text", "text": "a"}},
            {"type": "response.content_part.added", "part": {"type": "output_text", "text": "b"}},
        ],
        [
            {"type": "response.output_item.added", "item": {**CALL, "arguments": ""}},
            {"type": "response.function_call_arguments.done", "item_id": "fc", "arguments": 3},
        ],
        [
            {"type": "response.output_text.delta", "item_id": "msg", "delta": "x"},
            {"type": "response.output_item.done", "item": {**MESSAGE, "content": [{"type": "zz"}]}},
        ],
    ],
)
def test_events_that_do_not_fit_end_in_a_legal_stream(values):
    assert isinstance(read(sse(*values, DONE))[-1], Finished)


def test_a_stream_that_ends_as_another_protocol_does():
    """case-16: everything whole and `[DONE]` is an end; junk after it is dropped."""
    item = {"type": "response.output_item.done", "item": CALL}
    events = read(sse(item) + b"data: [DONE]\n\n")
    assert events[-1] == Finished((ir.StopReason(kind="tool_calls"),), {"openai-responses": {}})
    open_item = {"type": "response.output_text.delta", "delta": "x"}
    assert isinstance(read(sse(open_item) + b"data: [DONE]\n\n")[-1], Failed)


def test_what_only_the_end_tells():
    """Citations, summaries and items without ids that no delta spoke of."""
    cited = {"type": "url_citation", "url": "https://a.example", "title": "A"}
    part = {
        "type": "output_text",
        "text": "hey",
        "annotations": [{**cited, "start_index": 0, "end_index": 3}],
    }
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "so"}]}
    message = {"type": "message", "role": "assistant", "content": [part]}
    values = [
        {"type": "response.output_item.added", "item": {"type": "reasoning"}},
        {"type": "response.content_part.done", "part": {"type": "reasoning_text", "text": "x"}},
        {"type": "response.reasoning_summary_text.delta", "delta": "s"},
        {"type": "response.output_text.delta", "delta": "he"},
        {"type": "response.content_part.done", "part": part},
        {"type": "response.completed", "response": {"id": "r", "output": [thought, message]}},
    ]
    response = fold(read(sse(*values).rstrip()))
    assert isinstance(response, ir.Response)
    first, second = response.choices[0].parts
    assert first.summary == ("so",)
    assert (second.text, [each.url for each in second.citations]) == ("hey", ["https://a.example"])


def test_event_lines_stand_in_for_types():
    data = b'event: response.output_text.delta\ndata: {"delta":"x"}\n\n' + sse(DONE)
    assert PartDelta(0, "x") in read(data)


def test_open_responses_calls_the_text_of_reasoning_otherwise():
    values = [
        {"type": "response.reasoning.delta", "delta": "a", "content_index": 0},
        {"type": "response.reasoning.delta", "delta": "b", "content_index": 1},
        {"type": "response.reasoning.done", "text": "b"},
    ]
    response = fold(read(sse(*values, DONE)))
    assert isinstance(response, ir.Response)
    assert response.choices[0].parts[0].text == "a\n\nb"
