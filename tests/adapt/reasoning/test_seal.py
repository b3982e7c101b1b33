"""Reasoning state, sealed into answers for clients of other protocols."""

from msgspec.structs import replace
from tests.wires import answer, call, pair

from toolglot import Options
from toolglot.adapt.answers.part_order import OrderParts
from toolglot.adapt.answers.passes import adapt_whole
from toolglot.adapt.reasoning.seal import Layout, SealState
from toolglot.adapt.reasoning.sealed_state import unpack
from toolglot.events import Finished, PartDelta, PartEnded, PartStarted, Started
from toolglot.ir import Reasoning, StopReason, Text
from toolglot.registry import get_protocol

SIGNED = Reasoning(text="Hm.", signature="c2ln", id="rs_1", extras={"anthropic": {"x": 1}})


def codes(ctx):
    return [note.code for note in ctx.receipt()]


def sealed(source, target, *parts, **more):
    ctx = pair(source, target, **more)
    passes = [SealState(ctx), *([] if ctx.target.messages.ordered else [OrderParts(ctx)])]
    return adapt_whole(answer(*parts), passes, ctx).choices[0].parts, ctx


def test_a_client_sees_the_words_and_returns_the_rest():
    (shown, text), ctx = sealed("anthropic", "openai-responses", SIGNED, "So.")
    assert (shown.text, shown.redacted) == ("Hm.", False)
    state = unpack(shown.signature)
    assert state is not None
    assert state.issuer == "anthropic"
    assert state.reasoning == replace(SIGNED, text="")
    assert text == Text(text="So.")
    assert codes(ctx) == ["reasoning-carried"]


def test_state_without_words_is_only_sealed():
    (shown,), _ = sealed("anthropic", "openai-chat", Reasoning(redacted=True, signature="x"))
    assert (shown.text, shown.redacted) == ("", True)


def test_the_issuer_is_whom_the_caller_names():
    """case-34"""
    (shown,), _ = sealed("anthropic", "openai-responses", SIGNED, options=Options(issuer="bedrock"))
    assert unpack(shown.signature).issuer == "bedrock"


def test_an_answer_without_state_is_left_alone():
    parts, ctx = sealed("openai-chat", "openai-responses", "hi", call("f", '{ "a": 1 }'))
    assert parts == (Text(text="hi"), call("f", '{ "a": 1 }'))
    assert codes(ctx) == []


def test_arguments_that_an_object_would_not_give_back_are_sealed():
    """D-04"""
    parts, _ = sealed("openai-chat", "anthropic", call("f", '{ "a": 1 }'))
    state = unpack(parts[-1].signature)
    assert state is not None
    assert [place.arguments for place in state.layout] == ['{ "a": 1 }']
    parts, _ = sealed("openai-chat", "anthropic", call("f", '{"a":1}'))
    assert parts == (call("f", '{"a":1}'),)


def test_notes_name_places_of_the_answer_that_came():
    _, ctx = sealed("gemini", "openai-responses", "So.", SIGNED)
    assert [note.path for note in ctx.receipt()] == ["candidates[0].content.parts[1]"]


def test_a_stream_of_reasoning_is_sealed_when_it_ends():
    ctx = pair("anthropic", "openai-responses")
    seal = SealState(ctx)
    events = [
        Started(id="r", model="m"),
        PartStarted(0, Reasoning()),
        PartDelta(0, "Hm."),
        PartDelta(0, "c2ln", "signature"),
        PartEnded(0),
        Finished((StopReason(kind="end"),)),
    ]
    _, start, word, signature, end, _ = [[*seal.feed(event)] for event in events]
    assert (start, signature) == ([], []), "it starts with its first word"
    assert word == [PartStarted(0, Reasoning()), PartDelta(0, "Hm.")]
    state = unpack(end[0].text)
    assert state.reasoning.signature == "c2ln"
    assert [note.path for note in ctx.receipt()] == ["content"]


def test_a_layout_that_the_client_preserves_needs_no_state():
    layout = Layout("anthropic", get_protocol("openai-chat").SURFACE)
    assert layout.add(Text(text="a"), 0) == Text(text="a")
    assert layout.add(call("f"), 1) == call("f")
    assert layout.trailing() is None
    layout.add(Text(text="b"), 2)
    assert layout.trailing() is not None
