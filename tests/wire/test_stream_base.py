"""What stream decoders share: numbering of parts, reading of events, the end that came too soon."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.context import Context
from toolglot.events import Failed, Grammar, PartDelta, PartEnded, PartStarted, Started
from toolglot.ir import ApiError, Text, ToolCall
from toolglot.wire.stream_base import CUT, OpenParts, cut_off, parse

TEXT = Text(text="")
CALL = ToolCall(id="c", name="f", arguments="")


def test_parts_are_numbered_as_they_start():
    parts = OpenParts()
    assert parts.start("text", TEXT) == PartStarted(0, TEXT)
    assert parts.start(("call", 0), CALL, 1) == PartStarted(1, CALL, 1)
    assert parts.delta(("call", 0), "{") == PartDelta(1, "{")
    assert parts.delta("text", "a") == PartDelta(0, "a")
    assert parts.end("text") == PartEnded(0)
    assert parts.start("text", TEXT) == PartStarted(2, TEXT)
    assert parts.end(("call", 0), incomplete=True) == PartEnded(1, incomplete=True)
    assert parts.count == 3


def test_it_knows_what_is_open():
    parts = OpenParts()
    assert ("x" in parts, len(parts), parts.index("x")) == (False, 0, None)
    parts.start("x", TEXT)
    assert ("x" in parts, len(parts), parts.index("x")) == (True, 1, 0)
    parts.end("x")
    assert ("x" in parts, len(parts), parts.index("x")) == (False, 0, None)


@pytest.mark.parametrize("incomplete", [False, True])
def test_all_that_is_open_ends_in_order(incomplete):
    parts = OpenParts()
    for key in "abc":
        parts.start(key, TEXT)
    parts.end("b")
    ended = list(parts.end_all(incomplete=incomplete))
    assert ended == [PartEnded(0, incomplete), PartEnded(2, incomplete)]
    assert len(parts) == 0


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["start", "delta", "end"]))))
def test_whatever_it_makes_is_legal(steps):
    grammar, parts = Grammar(), OpenParts()
    grammar.check(Started(id="", model=""))
    for key, step in steps:
        if (step == "start") == (key in parts):
            continue
        if step == "start":
            grammar.check(parts.start(key, TEXT))
        elif step == "delta":
            grammar.check(parts.delta(key, "x"))
        else:
            grammar.check(parts.end(key))
    assert len(grammar.open) == len(parts)
    for event in cut_off(parts):
        grammar.check(event)
    assert grammar.complete
    assert grammar.open == frozenset()


def test_a_stream_that_just_ends_has_failed():
    parts = OpenParts()
    parts.start("a", TEXT)
    error = ApiError(kind="server", message=CUT, status=502)
    assert list(cut_off(parts)) == [PartEnded(0, incomplete=True), Failed(error)]
    assert list(cut_off(OpenParts())) == [Failed(error)]


# --- reading ------------------------------------------------------------------------------------


def test_an_object_is_read():
    ctx = Context()
    assert parse(b'{"a": "\\ud800", "b": 18446744073709551616}', ctx, 2) == {
        "a": "\ud800",
        "b": 2**64,
    }
    assert not ctx.receipt()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a": ', "not JSON: "),
        (b"", "not JSON: "),
        (b'{"a": "\xff"}', "not JSON: "),
        (b"NaN", "not JSON: "),
        (b"[" * 100_000, "not JSON: "),
        (b"[]", "not a JSON object"),
        (b"null", "not a JSON object"),
    ],
)
def test_a_broken_event_is_passed_over_with_a_note(data, message):
    ctx = Context()
    assert parse(data, ctx, 3) is None
    (note,) = ctx.receipt()
    assert (note.code, note.severity, note.path) == ("event-skipped", "lossy", "event 3")
    assert note.message.startswith(message)


def test_the_first_event_seeds_the_ids():
    def first_id(data, count):
        ctx = Context()
        parse(data, ctx, count)
        return ctx.new_id("")

    assert first_id(b'{"a": 1}', 1) == first_id(b'{"a": 1}', 1)
    assert first_id(b'{"a": 1}', 1) != first_id(b'{"a": 2}', 1)
    assert first_id(b'{"a": 1}', 2) == first_id(b'{"a": 2}', 2)
