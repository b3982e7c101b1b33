"""Streams that are written of OpenAI Responses."""

import json
from typing import Any

import openresponses_types.types as open_responses
import pytest
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter, ValidationError
from tests.protocols.harness import ELSEWHERE
from tests.protocols.openai_responses.helpers import decode, end, foreign, kinds

from toolglot import ir
from toolglot.context import Context
from toolglot.events import (
    Event,
    Failed,
    OpaqueEvent,
    PartDelta,
    PartEnded,
    PartStarted,
    Started,
    UsageSeen,
)
from toolglot.protocols import openai_responses as codec
from toolglot.protocols.openai_responses.surface import ERROR_FROM, FAILED_CODE

# --- the official types ---------------------------------------------------------------------------


EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)


OPEN_EVENTS: TypeAdapter[Any] = TypeAdapter(
    open_responses.ResponseCreatedStreamingEvent
    | open_responses.ResponseInProgressStreamingEvent
    | open_responses.ResponseCompletedStreamingEvent
    | open_responses.ResponseIncompleteStreamingEvent
    | open_responses.ResponseFailedStreamingEvent
    | open_responses.ResponseOutputItemAddedStreamingEvent
    | open_responses.ResponseOutputItemDoneStreamingEvent
    | open_responses.ResponseContentPartAddedStreamingEvent
    | open_responses.ResponseContentPartDoneStreamingEvent
    | open_responses.ResponseOutputTextDeltaStreamingEvent
    | open_responses.ResponseOutputTextDoneStreamingEvent
    | open_responses.ResponseOutputTextAnnotationAddedStreamingEvent
    | open_responses.ResponseRefusalDeltaStreamingEvent
    | open_responses.ResponseRefusalDoneStreamingEvent
    | open_responses.ResponseFunctionCallArgumentsDeltaStreamingEvent
    | open_responses.ResponseFunctionCallArgumentsDoneStreamingEvent
    | open_responses.ResponseReasoningSummaryPartAddedStreamingEvent
    | open_responses.ResponseReasoningSummaryPartDoneStreamingEvent
    | open_responses.ResponseReasoningSummaryDeltaStreamingEvent
    | open_responses.ResponseReasoningSummaryDoneStreamingEvent
)


# --- streams: out ---------------------------------------------------------------------------------


def write(events: Any, ctx: Context | None = None) -> list[Any]:
    """What is streamed, value by value; event lines and numbers are checked on the way."""
    encoder, values = codec.StreamEncoder(ctx or foreign()), []
    data = b"".join(encoder.encode(event) for event in events) + encoder.close()
    for chunk in data.decode().split("\n\n")[:-1]:
        name, _, payload = chunk.partition("\n")
        value = json.loads(payload.removeprefix("data: "))
        assert name == f"event: {value['type']}"
        assert value["sequence_number"] == len(values)
        values.append(value)
    assert "[DONE]" not in data.decode()
    return values


def begin() -> Started:
    return Started(id="chat-1", model="m")


CALL_PART = ir.ToolCall(id="call_1", name="tides", arguments="")


USAGE = UsageSeen(ir.Usage(input=3, output=4))


TURN: list[Event] = [
    begin(),
    PartStarted(0, ir.Reasoning()),
    PartDelta(0, "Two "),
    PartDelta(0, "ports."),
    PartDelta(0, "sealed", "signature"),
    PartEnded(0),
    PartStarted(1, ir.Text(text="")),
    PartDelta(1, "Let me "),
    PartDelta(1, ""),
    PartDelta(1, "look."),
    PartDelta(1, "", "citation", citation=ir.Citation(url="https://a.example", title="A")),
    PartEnded(1),
    PartStarted(2, CALL_PART),
    PartDelta(2, '{"harbour":'),
    PartDelta(2, '"Wyk"}'),
    PartEnded(2),
    USAGE,
    end("tool_calls"),
]


def test_lifecycle():
    """S1-02, S1-22, S1-30: the whole sequence."""
    values = write(TURN)
    assert kinds(values) == [
        "created",
        "in_progress",
        "output_item.added",
        "reasoning_summary_part.added",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.delta",
        "reasoning_summary_text.done",
        "reasoning_summary_part.done",
        "output_item.done",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.annotation.added",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
        "completed",
    ]
    assert {
        v["item"]["status"]
        for v in values
        if v["type"].endswith("item.done") and "status" in v["item"]
    } == {"completed"}


def test_what_is_streamed_is_what_the_official_types_read():
    for value in write(TURN):
        EVENT.validate_python(value)
        OPEN_EVENTS.validate_python(value)
        assert type(OPEN_EVENTS.validate_python(value)).__name__ != "BaseModel"


def test_the_official_client_accumulates_it():
    from openai import omit
    from openai.lib.streaming.responses._responses import ResponseStreamState

    state: Any = ResponseStreamState(input_tools=omit, text_format=omit)
    for value in write(TURN):
        state.handle_event(EVENT.validate_python(value))
    assert state._completed_response.output_text == "Let me look."


def test_created():
    """S1-23, S1-33: an id that begins with resp_, a status, and the tools of the request."""
    request = decode({"model": "m", "input": "x", "tools": [{"type": "function", "name": "tides"}]})
    ctx = Context(source=ELSEWHERE, target=codec.SURFACE, request=request)
    response = write([begin(), end()], ctx)[0]["response"]
    assert (response["id"], response["status"]) == ("resp_chat-1", "in_progress")
    assert response["tools"][0]["name"] == "tides"


def test_items_of_a_call():
    """S1-24, S1-25, S1-26, S1-32: announced once, and every event names it."""
    values = write(TURN)
    added = [v for v in values if v["type"] == "response.output_item.added"][2]
    item = added["item"]
    assert item == {
        "id": item["id"],
        "type": "function_call",
        "status": "in_progress",
        "arguments": "",
        "call_id": "call_1",
        "name": "tides",
    }
    assert item["id"].startswith("fc_")
    told = [v for v in values if "function_call_arguments" in v["type"]]
    assert {(v["item_id"], v["output_index"]) for v in told} == {(item["id"], 2)}
    assert [v["output_index"] for v in values if "output_index" in v][-1] == 2


def test_done_is_the_sum_of_the_deltas():
    """S1-28, S1-29."""
    values = write(TURN)
    deltas = [v["delta"] for v in values if v["type"] == "response.function_call_arguments.delta"]
    done = next(v for v in values if v["type"] == "response.function_call_arguments.done")
    assert "".join(deltas) == done["arguments"] == '{"harbour":"Wyk"}'
    assert all(v["delta"] for v in values if "delta" in v)


def test_completed_repeats_everything():
    """S1-31, X-13: the full output with the same ids, and the usage."""
    values = write(TURN)
    done = [v["item"] for v in values if v["type"] == "response.output_item.done"]
    response = values[-1]["response"]
    assert response["output"] == done
    assert response["id"] == values[0]["response"]["id"]
    assert response["usage"]["total_tokens"] == 7
    assert done[0]["encrypted_content"] == "sealed"
    assert done[0]["summary"] == [{"type": "summary_text", "text": "Two ports."}]


def test_usage_is_always_an_object():
    assert write([begin(), end()])[-1]["response"]["usage"]["total_tokens"] == 0


def test_sequence_numbers_have_no_gaps():
    """S1-27: checked by `write` for every stream here."""
    assert len(write(TURN)) == 23


@pytest.mark.parametrize("arguments", ["", "{}"])
def test_a_call_without_arguments(arguments):
    """S1-35, case-50."""
    events = [begin(), PartStarted(0, CALL_PART)]
    events += [PartDelta(0, arguments)] if arguments else []
    values = write([*events, PartEnded(0), end("tool_calls")])
    assert [
        v.get("delta", v.get("arguments")) for v in values if "function_call_arg" in v["type"]
    ] == [
        "{}",
        "{}",
    ]


def test_a_cut_call_is_never_done():
    """case-15: no `.done` of its arguments, status incomplete, and the response is incomplete."""
    events = [
        begin(),
        PartStarted(0, CALL_PART),
        PartDelta(0, '{"a'),
        PartEnded(0, incomplete=True),
    ]
    values = write([*events, end("length")])
    assert kinds(values)[-3:] == ["function_call_arguments.delta", "output_item.done", "incomplete"]
    assert values[-2]["item"]["status"] == "incomplete"
    assert values[-1]["response"]["incomplete_details"] == {"reason": "max_output_tokens"}
    EVENT.validate_python(values[-1])


def test_custom_calls_stream_as_such():
    """case-25."""
    part = ir.ToolCall(id="c", name="apply_patch", arguments="", type="custom", namespace="fs")
    values = write(
        [begin(), PartStarted(0, part), PartDelta(0, "*** Begin"), PartEnded(0), end("tool_calls")]
    )
    assert kinds(values)[2:-1] == [
        "output_item.added",
        "custom_tool_call_input.delta",
        "custom_tool_call_input.done",
        "output_item.done",
    ]
    item = values[-2]["item"]
    assert (item["type"], item["input"], item["namespace"]) == (
        "custom_tool_call",
        "*** Begin",
        "fs",
    )
    assert item["id"].startswith("ctc_")
    for value in values:
        EVENT.validate_python(value)


def test_overlapping_parts_keep_their_places():
    """S1-34, case-07."""
    second = ir.ToolCall(id="call_2", name="tides", arguments="")
    values = write(
        [
            begin(),
            PartStarted(0, CALL_PART),
            PartStarted(1, second),
            PartDelta(0, "{"),
            PartDelta(1, "{"),
            PartDelta(1, "}"),
            PartDelta(0, "}"),
            PartEnded(1),
            PartEnded(0),
            end("tool_calls"),
        ]
    )
    deltas = [(v["output_index"], v["delta"]) for v in values if "delta" in v]
    assert deltas == [(0, "{"), (1, "{"), (1, "}"), (0, "}")]
    assert [item["call_id"] for item in values[-1]["response"]["output"]] == ["call_1", "call_2"]


def test_summaries_come_in_pieces():
    part = ir.Reasoning(summary=("whole",), text="", signature="s")
    values = write(
        [
            begin(),
            PartStarted(0, ir.Reasoning(id="rs_up")),
            PartDelta(0, "one", "summary", 0),
            PartDelta(0, "two", "summary", 1),
            PartEnded(0),
            PartStarted(1, part),
            PartEnded(1),
            end(),
        ]
    )
    first, second = values[-1]["response"]["output"]
    assert [piece["text"] for piece in first["summary"]] == ["one", "two"]
    assert first["id"] == "rs_up"
    assert second["encrypted_content"] == "s"
    assert [v["summary_index"] for v in values if v["type"].endswith("part.added")] == [0, 1, 0]
    for value in values:
        EVENT.validate_python(value)


def test_refusals_stream_as_such():
    values = write(
        [
            begin(),
            PartStarted(0, ir.Refusal(text="")),
            PartDelta(0, "No."),
            PartEnded(0),
            end("refusal"),
        ]
    )
    assert kinds(values)[4:6] == ["refusal.delta", "refusal.done"]
    assert values[-1]["response"]["status"] == "completed"
    for value in values:
        EVENT.validate_python(value)
        OPEN_EVENTS.validate_python(value)


@pytest.mark.parametrize("kind", ERROR_FROM)
def test_failures_are_told_in_the_stream(kind):
    error = ir.ApiError(kind=kind, message="Slow.", retry_after="2")
    values = write([begin(), PartStarted(0, ir.Text(text="Ha")), Failed(error)])
    assert kinds(values)[-2:] == ["output_item.done", "failed"]
    assert values[-2]["item"]["status"] == "incomplete"
    told = values[-1]["response"]["error"]
    assert told["code"] == FAILED_CODE.get(kind, "invalid_prompt")
    assert told["message"] == ("Slow. Please try again in 2s." if kind == "rate_limit" else "Slow.")
    OPEN_EVENTS.validate_python(values[-1])


def test_a_failure_at_once():
    values = write([Failed(ir.ApiError(kind="server", message="Down."))])
    assert kinds(values) == ["created", "in_progress", "failed"]
    for value in values:
        EVENT.validate_python(value)


def test_what_has_no_form_in_a_stream_is_noted():
    ctx = foreign()
    odd = ir.Opaque(protocol="elsewhere", type="x", value={})
    picture = ir.Image(source=ir.Remote(url="https://a.example"))
    events = [
        begin(),
        PartStarted(0, odd),
        PartDelta(0, "x"),
        PartEnded(0),
        PartStarted(1, picture),
        PartEnded(1),
        PartStarted(2, ir.Text(text="")),
        PartDelta(2, "", "citation", citation=ir.Citation(title="a book")),
        PartEnded(2),
        OpaqueEvent("elsewhere", "ping", {}),
        end(),
    ]
    values = write(events, ctx)
    assert len(values[-1]["response"]["output"]) == 1
    assert ctx.receipt().codes()["part-dropped"] == 2


def test_invalid_requests_are_not_what_the_official_types_take():
    with pytest.raises(ValidationError):
        EVENT.validate_python({"type": "response.output_text.delta"})
