"""What is particular to streams of Gemini Interactions."""

import json

import pytest
from tests.protocols import frames
from tests.protocols.gemini_interactions.helpers import (
    bytes_of,
    codes,
    events_of,
    foreign,
    sse,
    stream_of,
)

from toolglot import StreamTranslator
from toolglot.context import Context
from toolglot.events import (
    Failed,
    Finished,
    OpaqueEvent,
    PartDelta,
    PartEnded,
    PartStarted,
    Started,
    fold,
    unfold,
)
from toolglot.ir import Choice, Opaque, Reasoning, Response, StopReason, Text, ToolCall

CREATED = {"event_type": "interaction.created", "interaction": {"id": "v1_1", "status": "x"}}


def parts(name):
    return fold(events_of(stream_of(name))).choices[0].parts


def test_calls_that_interleave_are_told_apart_by_their_index():
    events = events_of(stream_of("calls"))
    *_, first, second = parts("calls")
    assert first.arguments == '{"gauge":"Erwood","days":2}'
    assert (second.name, second.arguments) == ("tide", "{}")
    starts = [event.index for event in events if isinstance(event, PartStarted)]
    assert starts == [0, 1, 2, 3]


def test_pieces_are_passed_on_as_they_come():
    data = stream_of("calls")
    lines = data.split(b"\n\n")
    translator = StreamTranslator("gemini-interactions", "anthropic")
    seen = [translator.feed(line + b"\n\n") for line in lines if line]
    told = [b"Two tools" in each for each in seen]
    assert told.index(True) == 3
    assert any(b"I will look " in each and b"both up" not in each for each in seen)


def test_the_arguments_of_a_start_count_if_no_others_come():
    first, second = parts("whole-call")
    assert (first.arguments, second.arguments) == ('{"gauge":"Hay"}', "{}")


def test_a_call_that_was_cut_is_never_told_as_whole():
    (call,) = parts("length-in-call")
    assert call.arguments == '{"gauge":"E'
    events = events_of(stream_of("length-in-call"))
    assert PartEnded(0, incomplete=True) in events
    written = frames.interactions(bytes_of(events))
    assert "step.stop" not in [event["event_type"] for event in written]


def test_tools_of_the_provider_are_kept_whole():
    thought, call, result, _ = parts("searched")
    assert thought == Reasoning(signature="dGhpbms=")
    assert call.value["arguments"] == {"queries": ["wye level"]}
    assert result.value == {
        "type": "google_search_result",
        "call_id": "s1",
        "result": [{"search_suggestions": "<div></div>"}],
        "signature": "Zm91bmQ=",
    }


def test_unknown_events_steps_and_deltas_are_kept_and_told_of():
    events = events_of(stream_of("unknown"))
    assert [event.type for event in events if isinstance(event, OpaqueEvent)] == [
        "interaction.weather"
    ]
    kinds = [part.type for part in parts("unknown") if isinstance(part, Opaque)]
    assert kinds == ["weather_call", "hologram"]
    translator = StreamTranslator("gemini-interactions", "anthropic")
    assert translator.feed(stream_of("unknown")) + translator.close()
    found = [note.code for note in translator.receipt]
    assert found.count("part-dropped") == 2
    assert "event-skipped" in found


def test_an_agent_may_leave_out_what_its_deltas_are():
    first, *_ = parts("agent")
    assert first == Text(text="Working.")


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("error-at-once", "rate_limit", "Slow down."),
        ("error-midway", "timeout", "It took too long."),
        ("failed", "server", "The weir broke."),
        ("cut", "server", "the stream ended before the response did"),
    ],
)
def test_streams_that_fail(name, kind, message):
    *_, last = events_of(stream_of(name))
    assert isinstance(last, Failed)
    assert (last.error.kind, last.error.message) == (kind, message)


def test_a_stream_may_end_with_an_update_and_its_marker():
    *_, last = events_of(stream_of("no-completed"))
    assert isinstance(last, Finished)
    *_, cut = events_of(stream_of("no-completed").replace(b"event: done\ndata: [DONE]\n\n", b""))
    assert isinstance(cut, Failed)


def test_events_that_cannot_be_read_are_noted():
    ctx = Context(seed=b"x")
    assert fold(events_of(stream_of("bad-events"), ctx)).choices[0].parts == (
        Text(text="Still here."),
    )
    assert codes(ctx).count("event-skipped") >= 3


def test_the_last_signature_counts():
    thought = {"event_type": "step.start", "index": 0, "step": {"type": "thought"}}
    signed = [
        {
            "event_type": "step.delta",
            "index": 0,
            "delta": {"type": "thought_signature", "signature": signature},
        }
        for signature in ("Zmlyc3Q=", "bGFzdA==")
    ]
    end = {"event_type": "interaction.completed", "interaction": {"id": "a", "status": "completed"}}
    stop = {"event_type": "step.stop", "index": 0}
    (part,) = fold(events_of(sse([CREATED, thought, *signed, stop, end]))).choices[0].parts
    assert part.signature == "bGFzdA=="


def test_reasoning_of_others_is_written_as_it_comes_with_its_state_last():
    events = [
        Started(id="r", model="m"),
        PartStarted(0, Reasoning()),
        PartDelta(0, "One"),
        PartDelta(0, " two."),
        PartDelta(0, "c2ln", "signature"),
        PartEnded(0),
        Finished((StopReason(kind="end"),)),
    ]
    written = frames.interactions(bytes_of(events, foreign()))
    deltas = [event["delta"] for event in written if event["event_type"] == "step.delta"]
    assert [each["type"] for each in deltas] == [
        "thought_summary",
        "thought_summary",
        "thought_signature",
    ]
    assert "".join(each["content"]["text"] for each in deltas[:2]) == "One two."


def test_state_of_a_call_comes_in_a_step_before_it():
    call = ToolCall(id="c", name="tide", arguments="{}", signature="c2ln")
    response = Response(id="r", model="m", choices=(Choice(parts=(call,)),))
    written = frames.interactions(bytes_of(unfold(response), foreign()))
    steps = [event["step"] for event in written if event["event_type"] == "step.start"]
    assert [step["type"] for step in steps] == ["thought", "function_call"]
    assert [event["index"] for event in written if event["event_type"] == "step.stop"] == [0, 1]


def test_counts_of_updates_and_steps_are_seen():
    response = fold(events_of(stream_of("agent")))
    assert response.usage.output == 40
    assert fold(events_of(stream_of("no-completed"))).usage.input == 3


def test_every_delta_of_text_is_one_frame():
    data = bytes_of(events_of(stream_of("text")))
    deltas = [json.loads(line[6:]) for line in data.split(b"\n") if b'"step.delta"' in line]
    assert [each["delta"] for each in deltas] == [
        {"type": "text", "text": text} for text in ("Knee deep, ", "and cold: ", "über 40 cm.")
    ]
