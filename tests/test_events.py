"""Stream events: what may follow what, and the way to and from a whole response."""

from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.errors import StreamError
from toolglot.events import (
    FOLLOWS,
    Event,
    Failed,
    Finished,
    Grammar,
    Growing,
    OpaqueEvent,
    PartDelta,
    PartEnded,
    PartStarted,
    Started,
    UsageSeen,
    fold,
    join_parts,
    merge_usage,
    unfold,
    unfold_part,
    whole_parts,
)
from toolglot.ir import (
    ApiError,
    CacheMark,
    Choice,
    Citation,
    Document,
    Image,
    Inline,
    Opaque,
    Reasoning,
    Refusal,
    Remote,
    Response,
    StopReason,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)

BEGIN = Started(id="r", model="m")
END = Finished((StopReason(kind="end"),))
ERROR = ApiError(kind="server", message="broken")
FAIL = Failed(ERROR)
USAGE = UsageSeen(Usage(output=1))
OPAQUE = OpaqueEvent("p", "ping", {})


def start(index, choice=0):
    return PartStarted(index, Text(text=""), choice)


def more(index):
    return PartDelta(index, "x")


def stop(index):
    return PartEnded(index)


# --- grammar ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "events",
    [
        [],
        [FAIL],
        [BEGIN],
        [BEGIN, END],
        [BEGIN, FAIL],
        [BEGIN, USAGE, OPAQUE, USAGE, END],
        [BEGIN, start(0), stop(0), END],
        [BEGIN, start(0), more(0), more(0), stop(0), END],
        [BEGIN, start(0), start(1), more(0), more(1), more(0), stop(1), stop(0), END],
        [BEGIN, start(0), stop(0), start(1), PartEnded(1, incomplete=True), FAIL],
        [BEGIN, start(0), more(0), FAIL],
        [BEGIN, start(0), USAGE, OPAQUE, stop(0), END],
    ],
)
def test_legal(events):
    grammar = Grammar()
    for event in events:
        grammar.check(event)
    assert grammar.begun is bool(events)
    assert grammar.complete is (bool(events) and events[-1] in (END, FAIL))


@pytest.mark.parametrize(
    ("before", "event", "message"),
    [
        ([], END, "Finished may not follow the beginning"),
        ([], start(0), "PartStarted may not follow the beginning"),
        ([], more(0), "PartDelta may not follow the beginning"),
        ([], stop(0), "PartEnded may not follow the beginning"),
        ([], USAGE, "UsageSeen may not follow the beginning"),
        ([], OPAQUE, "OpaqueEvent may not follow the beginning"),
        ([BEGIN], BEGIN, "Started may not follow Started"),
        ([BEGIN, USAGE], BEGIN, "Started may not follow UsageSeen"),
        ([BEGIN, END], END, "Finished may not follow Finished"),
        ([BEGIN, END], USAGE, "UsageSeen may not follow Finished"),
        ([BEGIN, END], FAIL, "Failed may not follow Finished"),
        ([FAIL], FAIL, "Failed may not follow Failed"),
        ([FAIL], BEGIN, "Started may not follow Failed"),
        ([BEGIN, start(0), FAIL], more(0), "PartDelta may not follow Failed"),
        ([BEGIN, start(0), FAIL], stop(0), "PartEnded may not follow Failed"),
        ([BEGIN, PartStarted(0, Text(text=""), whole=True)], more(0), "part 0 is not open"),
        ([BEGIN], start(1), "part 1 starts where part 0 is due"),
        ([BEGIN, start(0)], start(0), "part 0 starts where part 1 is due"),
        ([BEGIN, start(0), stop(0)], start(0), "part 0 starts where part 1 is due"),
        ([BEGIN], more(0), "part 0 is not open"),
        ([BEGIN, start(0)], more(1), "part 1 is not open"),
        ([BEGIN, start(0), stop(0)], more(0), "part 0 is not open"),
        ([BEGIN], stop(0), "part 0 is not open"),
        ([BEGIN, start(0), stop(0)], stop(0), "part 0 is not open"),
        ([BEGIN, start(0), start(1), stop(0)], END, "finished while part 1 is open"),
    ],
)
def test_illegal(before, event, message):
    grammar = Grammar()
    for earlier in before:
        grammar.check(earlier)
    with pytest.raises(StreamError) as caught:
        grammar.check(event)
    assert str(caught.value) == message


def test_a_refused_event_leaves_no_trace():
    grammar = Grammar()
    grammar.check(BEGIN)
    grammar.check(start(0))
    for bad in (END, more(7), stop(7), start(5), BEGIN):
        with pytest.raises(StreamError):
            grammar.check(bad)
    assert grammar.open == {0}
    assert not grammar.complete
    grammar.check(stop(0))
    grammar.check(END)
    assert grammar.complete


def test_the_table_knows_every_event():
    kinds = set(get_args(Event))
    assert set(FOLLOWS) == kinds | {None}
    assert frozenset().union(*FOLLOWS.values()) == kinds


def test_open_parts_can_be_asked_for():
    grammar = Grammar()
    for event in (BEGIN, start(0), start(1), stop(0)):
        grammar.check(event)
    assert grammar.open == {1}


# --- whole responses ----------------------------------------------------------------------------

TEXTS = st.text(max_size=8)
MAYBE = st.none() | TEXTS
EXTRAS = st.dictionaries(
    st.sampled_from(["a", "b"]), st.dictionaries(TEXTS, st.integers(), min_size=1, max_size=2)
)
CITATIONS = st.builds(Citation, url=MAYBE, quote=MAYBE, start=st.none() | st.integers(0, 9))
PARTS = st.one_of(
    st.builds(
        Text,
        text=TEXTS,
        citations=st.lists(CITATIONS, max_size=2).map(tuple),
        signature=MAYBE,
        extras=EXTRAS,
    ),
    st.builds(
        Reasoning,
        text=TEXTS,
        summary=st.lists(TEXTS, max_size=3).map(tuple),
        signature=MAYBE,
        redacted=st.booleans(),
        id=MAYBE,
        extras=EXTRAS,
    ),
    st.builds(
        ToolCall,
        id=TEXTS,
        name=TEXTS,
        arguments=TEXTS,
        type=st.sampled_from(["function", "custom"]),
        namespace=MAYBE,
        id_made=st.booleans(),
        signature=MAYBE,
        cache=st.none() | st.just(CacheMark(ttl="5m")),
        extras=EXTRAS,
    ),
    st.builds(Refusal, text=TEXTS, extras=EXTRAS),
    st.builds(Image, source=st.builds(Inline, media_type=TEXTS, data=TEXTS)),
    st.builds(Document, source=st.builds(Remote, url=TEXTS)),
    st.builds(Opaque, protocol=TEXTS, type=TEXTS, value=st.dictionaries(TEXTS, TEXTS)),
    st.builds(ToolResult, id=TEXTS, parts=st.just((Text(text="x"),))),
)
COUNTS = st.none() | st.integers(0, 99)
USAGES = st.builds(
    Usage,
    input=COUNTS,
    cache_read=COUNTS,
    cache_write=COUNTS,
    output=COUNTS,
    reasoning=COUNTS,
    extras=EXTRAS,
)
STOPS = st.builds(
    StopReason,
    kind=st.sampled_from(["end", "length", "tool_calls", "other"]),
    raw=MAYBE,
    sequence=MAYBE,
)


@st.composite
def responses(draw):
    """Any responses, with or without choices, numbered however their providers did."""
    count = draw(st.integers(0, 3))
    return Response(
        id=draw(TEXTS),
        model=draw(TEXTS),
        choices=tuple(
            Choice(
                index=draw(st.just(index) | st.integers(0, 9)),
                parts=tuple(draw(st.lists(PARTS, max_size=4))),
                stop=draw(st.none() | STOPS),
                logprobs=draw(st.none() | st.dictionaries(TEXTS, st.integers(), max_size=2)),
                wire_form=draw(TEXTS),
                extras=draw(EXTRAS),
            )
            for index in range(count)
        ),
        usage=draw(st.none() | USAGES),
        created=draw(st.none() | st.integers() | TEXTS),
        service_tier=draw(MAYBE),
        extras=draw(EXTRAS),
    )


@given(responses())
def test_fold_reverses_unfold(response):
    assert fold(unfold(response)) == response


@given(responses())
def test_parts_in_one_piece_say_the_same(response):
    assert fold(whole_parts(response)) == response
    assert join_parts(unfold(response)) == whole_parts(response)
    assert join_parts(whole_parts(response)) == whole_parts(response)


@given(responses())
@pytest.mark.parametrize("events", [unfold, whole_parts])
def test_the_events_of_a_whole_response_are_legal(events, response):
    grammar = Grammar()
    for event in events(response):
        grammar.check(event)
    assert grammar.complete


def test_a_held_part_is_released_as_it_came():
    part = ToolCall(id="c", name="f", arguments="{}")
    (whole,) = Growing(PartStarted(0, part, 1, whole=True)).events(3, part)
    assert whole == PartStarted(3, part, 1, whole=True)
    begun = ToolCall(id="c", name="f", arguments="")
    assert Growing(PartStarted(0, begun, 1)).events(3, part, incomplete=True) == [
        PartStarted(3, begun, 1),
        PartDelta(3, "{}"),
        PartEnded(3, incomplete=True),
    ]


@given(responses(), st.data())
def test_deltas_may_be_cut_anywhere(response, data):
    events = []
    for event in unfold(response):
        if isinstance(event, PartDelta) and event.field != "citation":
            place = data.draw(st.integers(0, len(event.text)))
            events += [
                msgspec.structs.replace(event, text=event.text[:place]),
                msgspec.structs.replace(event, text=event.text[place:]),
            ]
        else:
            events.append(event)
    assert fold(events) == response


@given(responses())
def test_events_survive_being_written_down(response):
    events = list(unfold(response))
    data = msgspec.json.encode(events)
    assert msgspec.json.decode(data, type=list[Event]) == events


def test_an_error_is_one_event():
    assert list(unfold(ERROR)) == [FAIL]
    assert fold([FAIL]) == ERROR
    assert fold([BEGIN, start(0), more(0), FAIL]) == ERROR


def test_the_events_of_a_response():
    response = Response(
        id="r",
        model="m",
        choices=(
            Choice(
                parts=(
                    Reasoning(text="hm", summary=("s",), signature="sig"),
                    Text(text="hi", citations=(Citation(url="u"),)),
                    ToolCall(id="c", name="f", arguments="{}"),
                    Reasoning(signature="sealed", redacted=True),
                ),
                stop=StopReason(kind="tool_calls"),
            ),
        ),
        usage=Usage(output=5),
        created=7,
    )
    assert list(unfold(response)) == [
        Started(id="r", model="m", created=7, choices=(Choice(parts=()),)),
        PartStarted(0, Reasoning()),
        PartDelta(0, "s", "summary"),
        PartDelta(0, "hm"),
        PartDelta(0, "sig", "signature"),
        PartEnded(0),
        PartStarted(1, Text(text="")),
        PartDelta(1, "hi"),
        PartDelta(1, "", "citation", citation=Citation(url="u")),
        PartEnded(1),
        PartStarted(2, ToolCall(id="c", name="f", arguments="")),
        PartDelta(2, "{}"),
        PartEnded(2),
        PartStarted(3, Reasoning(signature="sealed", redacted=True)),
        PartEnded(3),
        UsageSeen(Usage(output=5)),
        Finished((StopReason(kind="tool_calls"),)),
    ]


def test_an_empty_part_needs_no_delta():
    assert list(unfold_part(4, Text(text=""), 1)) == [
        PartStarted(4, Text(text=""), 1),
        PartEnded(4),
    ]


def test_a_choice_without_stop_reason_ends_for_another_reason():
    response = Response(id="r", model="m", choices=(Choice(parts=()),))
    assert list(unfold(response))[-1] == Finished((StopReason(kind="other"),), unstated=(0,))


def test_interleaved_parts_and_choices_are_sorted_out():
    call = ToolCall(id="c", name="f", arguments="{")
    events = [
        Started(id="r", model="m", usage=Usage(input=3)),
        PartStarted(0, call),
        PartStarted(1, Text(text="a"), 1),
        PartDelta(1, "b"),
        PartDelta(0, "}"),
        PartEnded(1),
        UsageSeen(Usage(output=2)),
        OPAQUE,
        PartEnded(0),
        Finished((StopReason(kind="tool_calls"), StopReason(kind="end"))),
    ]
    assert fold(events) == Response(
        id="r",
        model="m",
        choices=(
            Choice(
                parts=(ToolCall(id="c", name="f", arguments="{}"),),
                stop=StopReason(kind="tool_calls"),
            ),
            Choice(index=1, parts=(Text(text="ab"),), stop=StopReason(kind="end")),
        ),
        usage=Usage(input=3, output=2),
    )


def test_pieces_of_a_summary_are_put_in_order():
    events = [
        BEGIN,
        PartStarted(0, Reasoning()),
        PartDelta(0, "b1", "summary", 1),
        PartDelta(0, "a", "summary", 0),
        PartDelta(0, "b2", "summary", 1),
        PartEnded(0),
        END,
    ]
    assert fold(events).choices[0].parts == (Reasoning(summary=("a", "b1b2")),)


def test_a_stream_that_breaks_off_gives_what_came():
    response = fold([BEGIN, start(0), more(0)])
    assert response.choices == (Choice(parts=(Text(text="x"),)),)


def test_a_response_without_parts_has_one_choice():
    assert fold([BEGIN, END]).choices == (Choice(parts=(), stop=StopReason(kind="end")),)


def test_a_stream_must_begin():
    with pytest.raises(StreamError, match="the stream did not begin"):
        fold([])


def test_extras_of_beginning_and_end_are_put_together():
    events = [
        Started(id="r", model="m", extras={"a": {"x": 1, "y": 1}, "b": {"z": 1}}),
        Finished((StopReason(kind="end"),), {"a": {"y": 2}}),
    ]
    assert fold(events).extras == {"a": {"x": 1, "y": 2}, "b": {"z": 1}}


def test_a_hundred_thousand_deltas_are_folded():
    events = [BEGIN, start(0), *[more(0)] * 100_000, stop(0), END]
    assert fold(events).choices[0].parts == (Text(text="x" * 100_000),)


# --- usage --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "merged"),
    [
        (None, Usage(input=1), Usage(input=1)),
        (Usage(input=1), Usage(), Usage(input=1)),
        (Usage(input=1, output=1), Usage(output=9), Usage(input=1, output=9)),
        (Usage(input=5, cache_read=2), Usage(input=0), Usage(input=0, cache_read=2)),
        (
            Usage(cache_write=1, reasoning=2),
            Usage(cache_write=3, reasoning=0),
            Usage(cache_write=3, reasoning=0),
        ),
        (Usage(extras={"a": {"x": 1}}), Usage(input=1), Usage(input=1, extras={"a": {"x": 1}})),
        (
            Usage(extras={"a": {"x": 1}}),
            Usage(extras={"a": {"y": 2}}),
            Usage(extras={"a": {"y": 2}}),
        ),
    ],
)
def test_later_counts_replace_earlier_ones(old, new, merged):
    assert merge_usage(old, new) == merged


@given(USAGES, USAGES, USAGES)
def test_merging_usage_is_associative_and_idempotent(one, two, three):
    assert merge_usage(merge_usage(one, two), three) == merge_usage(one, merge_usage(two, three))
    assert merge_usage(one, one) == one


def test_nothing_follows_a_failure_not_even_more_of_an_open_part():
    grammar = Grammar()
    for event in (
        Started(id="r", model="m"),
        PartStarted(0, Text(text="")),
        PartDelta(0, "so far"),
        Failed(ApiError(kind="server", message="cut")),
    ):
        grammar.check(event)
    assert grammar.open == {0}
    with pytest.raises(StreamError, match="PartDelta may not follow Failed"):
        grammar.check(PartDelta(0, "more"))
