"""The passes of a stream, one by one."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wires import PAIRS

from toolglot.adapt.answers.adapt_parts import AdaptParts
from toolglot.adapt.answers.part_order import BufferCalls, OrderParts, SerializeParts
from toolglot.adapt.answers.passes import adapt_whole, answer_passes, chain
from toolglot.adapt.calls.arguments import WrapArguments
from toolglot.adapt.calls.text_calls import FindTextCalls
from toolglot.adapt.reasoning.seal import SealState
from toolglot.adapt.reasoning.sealed_state import TAG, unpack
from toolglot.context import Context, Options
from toolglot.events import (
    Event,
    Failed,
    Finished,
    Grammar,
    OpaqueEvent,
    PartDelta,
    PartEnded,
    PartStarted,
    Started,
    StreamPass,
    fold,
)
from toolglot.ir import (
    ApiError,
    Choice,
    Citation,
    Image,
    Inline,
    Opaque,
    Part,
    Reasoning,
    Refusal,
    Request,
    Response,
    StopReason,
    Text,
    ToolCall,
)
from toolglot.registry import PROTOCOLS, get_protocol
from toolglot.undo import Undo, UndoStep

STARTED = Started(id="resp_1", model="tide-1")
END = Finished((StopReason(kind="end"),))
CALLED = Finished((StopReason(kind="tool_calls"),))


def call(number: int, arguments: str = "", **more: Any) -> ToolCall:
    return ToolCall(id=f"call_{number}", name=f"tool_{number}", arguments=arguments, **more)


def context(source: str, target: str, **options: Any) -> Context:
    surfaces = get_protocol(source).SURFACE, get_protocol(target).SURFACE
    return Context(Options(**options), source=surfaces[0], target=surfaces[1])


def adapting(ctx: Context) -> list[StreamPass]:
    """The passes that every translated stream goes through."""
    objects = ctx.surfaces[1].calls.arguments == "object"
    return [AdaptParts(ctx), SealState(ctx), *([WrapArguments(ctx)] if objects else [])]


def through(ctx: Context, *events: Event) -> list[Event]:
    adapt = chain(adapting(ctx))
    return [adapted for event in events for adapted in adapt(event)]


def shown(target: str, *events: Event, source: str = "", **options: Any) -> list[Event]:
    """What a translated stream becomes, which must be legal."""
    source = source or ("anthropic" if target != "anthropic" else "openai-chat")
    adapted = through(context(source, target, **options), *events)
    grammar = Grammar()
    for event in adapted:
        grammar.check(event)
    return adapted


# --- which passes --------------------------------------------------------------------------------


@pytest.mark.parametrize("target", PROTOCOLS)
def test_passes_by_target(target):
    source = "anthropic" if target != "anthropic" else "gemini"
    surface = get_protocol(target).SURFACE
    one_by_one = surface.stream.one_open_part or surface.calls.arguments == "object"
    objects = [WrapArguments] if surface.calls.arguments == "object" else []
    serial = [SerializeParts] if one_by_one else []
    kinds = [type(each) for each in answer_passes(context(source, target))]
    assert kinds == [*serial, AdaptParts, SealState, *objects]
    buffered = answer_passes(context(source, target, stream_tools="buffered"))
    assert [type(each) for each in buffered] == [
        SerializeParts,
        AdaptParts,
        SealState,
        *objects,
        BufferCalls,
    ]


@pytest.mark.parametrize("target", PROTOCOLS)
def test_passes_of_a_whole_answer_by_what_is_in_it(target):
    """From the first pass that changes something on, all are needed."""
    source = "anthropic" if target != "anthropic" else "gemini"
    order = [] if get_protocol(target).SURFACE.messages.ordered else [OrderParts]

    def kinds(*parts: Part, **options: Any) -> list[Any]:
        choice = Choice(parts=parts, stop=StopReason(kind="tool_calls"))
        whole = Response(id="r", model="m", choices=(choice,))
        return [type(each) for each in answer_passes(context(source, target, **options), whole)]

    assert kinds(Text(text="hi"), call(0, "{}"), stream_tools="buffered") == []
    assert kinds(Reasoning(text="hm"), Text(text="hi")) == [SealState, *order]
    assert kinds(Text(text="hi"), call(0, "null")) == [AdaptParts, SealState, *order]
    assert kinds(Text(text="hi"), dialect="auto") == [FindTextCalls, AdaptParts, SealState, *order]


SIGNATURES = st.none() | st.just("sig")
TEXTS = st.builds(Text, text=st.sampled_from(["", "hi"]), signature=SIGNATURES)
CITED = st.just(Text(text="hi", citations=(Citation(url="https://a.example"),)))
CALLS = st.builds(
    ToolCall,
    id=st.sampled_from(["call_1", "call_2"]),
    name=st.sampled_from(["", "look"]),
    arguments=st.sampled_from(["", "{}", '{"a":1}', '{"a": 1}', "null", "{"]),
    type=st.sampled_from(["function", "custom"]),
    id_made=st.booleans(),
    signature=SIGNATURES,
)
PARTS = st.one_of(
    TEXTS,
    TEXTS,
    CITED,
    CALLS,
    st.builds(Reasoning, text=st.sampled_from(["", "hm"]), signature=SIGNATURES),
    st.just(Refusal(text="no")),
    st.just(Opaque(protocol="gemini", type="executableCode", value={})),
)
CHOICES = st.builds(
    Choice,
    parts=st.lists(PARTS, max_size=4).map(tuple),
    stop=st.none() | st.just(StopReason(kind="end")),
    logprobs=st.none() | st.just({"content": []}),
)


@pytest.mark.parametrize("adapt", [AdaptParts, SealState, OrderParts])
@pytest.mark.parametrize(("source", "target"), PAIRS)
@given(choices=st.lists(CHOICES, max_size=2).map(tuple))
def test_a_pass_that_is_left_out_would_change_nothing(source, target, adapt, choices):
    response = Response(id="r", model="m", choices=choices)
    ctx = context(source, target)
    ctx.kept_state = {}
    if not adapt.changes(response, ctx):
        assert adapt_whole(response, [adapt(ctx)], ctx) == response
        assert not ctx.receipt()
        assert ctx.kept_state == {}


def test_a_held_call_is_not_overtaken():
    """Where arguments are undone whole, later parts wait, so that the order stays."""
    undo = Undo()
    undo.tool("wrapped", UndoStep(name="tool_0", arguments=str.upper))
    ctx = context("openai-chat", "openai-responses")
    ctx.undo = undo
    events = [
        STARTED,
        PartStarted(0, ToolCall(id="call_0", name="wrapped", arguments="")),
        PartStarted(1, Text(text="")),
        PartDelta(1, "meanwhile"),
        PartDelta(0, '{"a":1}'),
        PartEnded(1),
        PartEnded(0),
        CALLED,
    ]
    for each in answer_passes(ctx):
        events = [adapted for event in events for adapted in each.feed(event)]
    response = fold(events)
    assert isinstance(response, Response)
    first, second = response.choices[0].parts
    assert isinstance(first, ToolCall)
    assert (first.name, first.arguments) == ("tool_0", '{"A":1}')
    assert second == Text(text="meanwhile")


# --- translated streams --------------------------------------------------------------------------


def test_the_client_sees_the_model_that_it_asked_for():
    ctx = context("openai-chat", "anthropic")
    ctx.request = Request(model="claude-opus-5", messages=())
    (event,) = through(ctx, STARTED)
    assert isinstance(event, Started)
    assert (event.id, event.model) == ("resp_1", "claude-opus-5")


def test_text_passes_untouched():
    events = [STARTED, PartStarted(0, Text(text="")), PartDelta(0, " \n"), PartEnded(0), END]
    assert shown("anthropic", *events) == events


def test_reasoning_starts_with_its_first_word_and_ends_with_its_state():
    events = shown(
        "anthropic",
        STARTED,
        PartStarted(0, Reasoning()),
        PartDelta(0, "sig", "signature"),
        PartDelta(0, "Hm"),
        PartDelta(0, "."),
        PartEnded(0),
        END,
        source="gemini",
    )
    assert events[1:4] == [PartStarted(0, Reasoning()), PartDelta(0, "Hm"), PartDelta(0, ".")]
    signed = events[4]
    assert isinstance(signed, PartDelta)
    assert (signed.index, signed.field) == (0, "signature")
    state = unpack(signed.text)
    assert state is not None
    assert (state.issuer, state.reasoning) == ("gemini", Reasoning(signature="sig"))
    assert events[5:] == [PartEnded(0), END]


def test_reasoning_without_words_is_only_state():
    events = shown(
        "openai-responses", STARTED, PartStarted(0, Reasoning(signature="s")), PartEnded(0), END
    )
    started = events[1]
    assert isinstance(started, PartStarted)
    assert isinstance(started.part, Reasoning)
    assert started.part.redacted
    assert str(started.part.signature).startswith(TAG)


def test_pieces_of_a_summary_are_set_apart():
    events = shown(
        "anthropic",
        STARTED,
        PartStarted(0, Reasoning(id="rs_1")),
        PartDelta(0, "One", "summary", 0),
        PartDelta(0, ".", "summary", 0),
        PartDelta(0, "Two.", "summary", 1),
        PartEnded(0),
        END,
        source="openai-responses",
    )
    words = [e.text for e in events if isinstance(e, PartDelta) and e.field == "text"]
    assert words == ["One", ".", "\n\nTwo."]


def test_a_summary_or_the_text_is_shown_but_never_both():
    events = shown(
        "anthropic",
        STARTED,
        PartStarted(0, Reasoning(id="rs_1")),
        PartDelta(0, "In short", "summary"),
        PartDelta(0, "At length"),
        PartEnded(0),
        END,
        source="openai-responses",
    )
    words = [e.text for e in events if isinstance(e, PartDelta) and e.field == "text"]
    assert words == ["In short"]
    (signature,) = [e.text for e in events if isinstance(e, PartDelta) and e.field == "signature"]
    state = unpack(signature)
    assert state is not None
    kept = state.reasoning
    assert kept is not None
    assert (kept.text, kept.summary) == ("At length", ("In short",)), "both reach their issuer"


def test_reasoning_that_starts_with_words_shows_them():
    part = Reasoning(summary=("One", "Two"))
    events = shown("anthropic", STARTED, PartStarted(0, part), PartEnded(0), END)
    words = [e.text for e in events if isinstance(e, PartDelta) and e.field == "text"]
    assert words == ["One", "\n\nTwo"]


def test_state_of_reasoning_that_broke_off_is_not_passed_on():
    """case-05: a signature of something incomplete would be refused when it is sent back."""
    failed = Failed(ApiError(kind="server", message="gone"))
    events = shown(
        "anthropic",
        STARTED,
        PartStarted(0, Reasoning()),
        PartDelta(0, "Hm"),
        PartDelta(0, "par", "signature"),
        PartEnded(0, incomplete=True),
        PartStarted(1, Reasoning()),
        PartDelta(1, "tial", "signature"),
        PartEnded(1, incomplete=True),
        failed,
    )
    assert events[1:] == [
        PartStarted(0, Reasoning()),
        PartDelta(0, "Hm"),
        PartEnded(0, incomplete=True),
        failed,
    ]


@pytest.mark.parametrize("target", PROTOCOLS)
def test_a_call_without_arguments_has_an_empty_object(target):
    events = shown(target, STARTED, PartStarted(0, call(0)), PartEnded(0), CALLED)
    response = fold(events)
    assert isinstance(response, Response)
    (part, *_) = response.choices[0].parts
    assert isinstance(part, ToolCall)
    assert part.arguments == "{}"


@pytest.mark.parametrize(
    ("pieces", "whole"),
    [
        (["nu", "ll"], "{}"),
        ([" ", "\n"], "{}"),
        (['"{', '\\"a\\":1', '}"'], '{"a":1}'),
        (["[1", ",2]"], '{"$value":[1,2]}'),
        (["not ", "JSON"], '{"$invalid":"not JSON"}'),
    ],
)
def test_arguments_that_are_no_object_leave_whole_and_normalised(pieces, whole):
    """Clients parse what they get piece by piece, and some give up on what is no JSON."""
    deltas = [PartDelta(0, piece) for piece in pieces]
    events = shown("anthropic", STARTED, PartStarted(0, call(0)), *deltas, PartEnded(0), CALLED)
    assert events[2:4] == [PartDelta(0, whole), PartEnded(0)]


def test_arguments_that_are_an_object_leave_as_they_come():
    events = [
        STARTED,
        PartStarted(0, call(0)),
        PartDelta(0, " "),
        PartDelta(0, "\n{"),
        PartDelta(0, "}"),
    ]
    assert shown("anthropic", *events)[2:] == [PartDelta(0, " \n{"), PartDelta(0, "}")]


def test_arguments_that_broke_off_stay_as_they_are():
    """X-07: nothing is added to a call that was cut, so it cannot look complete."""
    cut = PartEnded(0, incomplete=True)
    assert shown("anthropic", STARTED, PartStarted(0, call(0)), cut)[2:] == [cut]
    quoted = shown("anthropic", STARTED, PartStarted(0, call(0)), PartDelta(0, '"{'), cut)
    assert quoted[2:] == [PartDelta(0, '"{'), cut]


def test_arguments_stay_as_they_are_for_a_client_that_takes_them_as_text():
    deltas = [PartDelta(0, "not "), PartDelta(0, "JSON")]
    events = shown("openai-chat", STARTED, PartStarted(0, call(0)), *deltas, PartEnded(0), CALLED)
    assert events[2:4] == [PartDelta(0, "not JSON"), PartEnded(0)]


def test_free_form_input_that_a_client_has_no_tools_for_is_wrapped():
    custom = PartStarted(0, call(0, type="custom"))
    deltas = [PartDelta(0, "{-a"), PartDelta(0, "\n+b")]
    events = shown("anthropic", STARTED, custom, *deltas, PartEnded(0), CALLED)
    assert events[2:4] == [PartDelta(0, '{"$invalid":"{-a\\n+b"}'), PartEnded(0)]


def test_a_call_without_a_name_gets_one():
    nameless = PartStarted(0, ToolCall(id="call_0", name="", arguments=""))
    ctx = context("gemini", "anthropic")
    (_, started) = through(ctx, STARTED, nameless)
    assert isinstance(started, PartStarted)
    assert isinstance(started.part, ToolCall)
    assert started.part.name == "tool_0"
    assert ctx.receipt().codes() == {"default-added": 1}


def test_free_form_input_is_not_looked_at():
    events = [STARTED, PartStarted(0, call(0, type="custom")), PartDelta(0, "null"), PartEnded(0)]
    assert shown("openai-responses", *events) == events


def test_citations_only_where_they_can_be_shown():
    cited = PartDelta(0, "", "citation", citation=Citation(url="https://a.example", title="A"))
    bare = PartDelta(0, "", "citation", citation=Citation(quote="page 3"))
    ctx = context("anthropic", "openai-chat")
    adapted = through(ctx, STARTED, PartStarted(0, Text(text="")), cited, bare)
    assert adapted[2:] == [cited]
    assert ctx.receipt().codes() == {"citation-dropped": 1}


def test_parts_that_the_client_cannot_show_leave_no_gap_in_the_numbers():
    picture = Image(source=Inline(media_type="image/png", data="aGk="))
    refusal = Refusal(text="")
    events = shown(
        "ollama",
        STARTED,
        PartStarted(0, Text(text="")),
        PartEnded(0),
        PartStarted(1, Text(text=""), 1),
        PartDelta(1, "another answer"),
        PartEnded(1),
        OpaqueEvent("gemini", "candidates[0]", {}),
        PartStarted(2, refusal),
        PartDelta(2, "no"),
        PartEnded(2),
        PartStarted(3, picture),
        PartEnded(3),
        END,
        source="gemini",
    )
    starts = [e for e in events if isinstance(e, PartStarted)]
    assert [e.index for e in starts] == list(range(len(starts)))
    assert PartDelta(1, "no") in events
    assert not [
        e for e in events if isinstance(e, (PartDelta, OpaqueEvent)) and "another" in str(e)
    ]


def test_each_choice_has_a_layout_of_its_own():
    """Sealed state has the layout of the choice that it belongs to, and of no other."""
    events = shown(
        "openai-chat",
        STARTED,
        PartStarted(0, Text(text="")),
        PartStarted(1, Text(text=""), 1),
        PartDelta(1, "tails"),
        PartDelta(0, "heads"),
        PartEnded(0),
        PartEnded(1),
        Finished((StopReason(kind="end"),) * 2),
        source="gemini",
    )
    assert not [e for e in events if isinstance(e, PartStarted) and isinstance(e.part, Reasoning)]
    events = shown(
        "openai-chat",
        STARTED,
        PartStarted(0, Text(text="")),
        PartDelta(0, "heads"),
        PartEnded(0),
        PartStarted(1, call(1), 1),
        PartDelta(1, "{}"),
        PartEnded(1),
        PartStarted(2, Text(text=""), 1),
        PartDelta(2, "tails"),
        PartEnded(2),
        Finished((StopReason(kind="end"),) * 2),
        source="gemini",
    )
    (trailing,) = [
        e for e in events if isinstance(e, PartStarted) and isinstance(e.part, Reasoning)
    ]
    assert trailing.choice == 1
    assert isinstance(trailing.part, Reasoning)
    state = unpack(trailing.part.signature)
    assert state is not None
    assert [(place.call, place.text) for place in state.layout] == [("call_1", None), (None, 5)]
