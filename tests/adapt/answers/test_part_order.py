"""When parts of an answer are delivered."""

from typing import Any

from tests.wires import answer, pair
from tests.wires import call as called

from toolglot.adapt.answers.part_order import BufferCalls, OrderParts, SerializeParts
from toolglot.adapt.answers.passes import adapt_whole
from toolglot.events import (
    Event,
    Failed,
    Finished,
    PartDelta,
    PartEnded,
    PartStarted,
    Started,
    StreamPass,
    UsageSeen,
)
from toolglot.ir import ApiError, StopReason, Text, ToolCall, Usage

STARTED = Started(id="resp_1", model="tide-1")
END = Finished((StopReason(kind="end"),))
CALLED = Finished((StopReason(kind="tool_calls"),))


def call(number: int, arguments: str = "", **more: Any) -> ToolCall:
    return ToolCall(id=f"call_{number}", name=f"tool_{number}", arguments=arguments, **more)


def through(adapt: StreamPass, *events: Event) -> list[Event]:
    return [adapted for event in events for adapted in adapt.feed(event)]


# --- one part at a time --------------------------------------------------------------------------


def test_serial_lets_sequential_parts_pass():
    events = [
        STARTED,
        PartStarted(0, Text(text="")),
        PartDelta(0, "a"),
        PartEnded(0),
        PartStarted(1, call(1)),
        PartDelta(1, "{}"),
        UsageSeen(Usage(output=1)),
        PartEnded(1),
        CALLED,
    ]
    assert through(SerializeParts(), *events) == events


def test_serial_keeps_one_part_open():
    a, b, c = (PartStarted(n, call(n)) for n in range(3))
    events = [
        *(STARTED, a, b, PartDelta(1, "{b"), PartDelta(0, "{a"), c, PartDelta(2, "{c")),
        *(PartEnded(1), PartDelta(0, "}"), PartEnded(0), PartDelta(2, "}"), PartEnded(2), CALLED),
    ]
    assert through(SerializeParts(), *events) == [
        *(STARTED, a, PartDelta(0, "{a"), PartDelta(0, "}"), PartEnded(0)),
        *(b, PartDelta(1, "{b"), PartEnded(1)),
        *(c, PartDelta(2, "{c"), PartDelta(2, "}"), PartEnded(2)),
        CALLED,
    ]


def test_serial_is_live_again_once_a_part_is_the_only_one():
    serial = SerializeParts()
    through(serial, STARTED, PartStarted(0, call(0)), PartStarted(1, call(1)))
    assert list(serial.feed(PartEnded(0))) == [PartEnded(0), PartStarted(1, call(1))]
    assert list(serial.feed(PartDelta(1, "{"))) == [PartDelta(1, "{")]


def test_serial_lets_out_everything_before_a_failure():
    failed = Failed(ApiError(kind="server", message="gone"))
    events = [
        STARTED,
        PartStarted(0, call(0)),
        PartStarted(1, Text(text="")),
        PartDelta(1, "kept"),
        PartEnded(0, incomplete=True),
        PartEnded(1, incomplete=True),
        failed,
    ]
    adapted = through(SerializeParts(), *events)
    assert adapted[-1] == failed
    assert PartDelta(1, "kept") in adapted


# --- calls at once -------------------------------------------------------------------------------


def test_buffered_lets_calls_leave_whole_and_texts_live():
    """D-03, S0-59: on request, a call leaves when it is complete; texts are not held up."""
    buffered = BufferCalls()
    assert list(buffered.feed(PartStarted(0, Text(text="")))) == [PartStarted(0, Text(text=""))]
    assert list(buffered.feed(PartDelta(0, "now"))) == [PartDelta(0, "now")]
    assert list(buffered.feed(PartEnded(0))) == [PartEnded(0)]
    held = through(buffered, PartStarted(1, call(1), 2), PartDelta(1, '{"a"'), PartDelta(1, ":1}"))
    assert held == []
    assert list(buffered.feed(UsageSeen(Usage(output=3)))) == [UsageSeen(Usage(output=3))]
    assert list(buffered.feed(PartEnded(1))) == [
        PartStarted(1, call(1), 2),
        PartDelta(1, '{"a":1}'),
        PartEnded(1),
    ]


def test_buffered_keeps_the_mark_of_a_call_that_was_cut():
    events = through(
        BufferCalls(), PartStarted(0, call(0)), PartDelta(0, '{"a'), PartEnded(0, incomplete=True)
    )
    assert events == [
        PartStarted(0, call(0)),
        PartDelta(0, '{"a'),
        PartEnded(0, incomplete=True),
    ]


# --- texts before calls --------------------------------------------------------------------------


def test_whole_answers_have_one_text_before_all_calls():
    ctx = pair("anthropic", "openai-chat")
    response = answer("a", called("f"), "b")
    ordered = adapt_whole(response, [OrderParts(ctx)], ctx)
    assert ordered.choices[0].parts == (Text(text="ab"), called("f"))
    assert [note.code for note in ctx.receipt()] == ["part-moved", "text-joined"]
    assert adapt_whole(ordered, [OrderParts(ctx)], ctx) == ordered
