"""What stream decoders share: numbering of parts, reading of events, the end that came too soon."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.context import Context
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
    UsageSeen,
)
from toolglot.ir import ApiError, StopReason, Text, ToolCall, Usage
from toolglot.wire.fields import WireDocument
from toolglot.wire.sse import SseDecoder
from toolglot.wire.stream_base import (
    CUT,
    BaseStreamDecoder,
    BaseStreamEncoder,
    OpenParts,
    cut_off,
    parse,
)

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
        (b'{"a": "\xff', "not JSON: "),
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


def test_bytes_that_are_no_utf_8_are_replaced_with_a_note():
    """Servers cut characters into tokens; the text around them must not be lost."""
    ctx = Context()
    assert parse(b'{"a": "caf\xc3", "b": "\xa9!"}', ctx, 3) == {"a": "caf\ufffd", "b": "\ufffd!"}
    (note,) = ctx.receipt()
    assert (note.code, note.severity, note.path) == ("bytes-replaced", "lossy", "event 3")


def test_the_first_event_seeds_the_ids():
    def first_id(data, count):
        ctx = Context()
        parse(data, ctx, count)
        return ctx.new_id("")

    assert first_id(b'{"a": 1}', 1) == first_id(b'{"a": 1}', 1)
    assert first_id(b'{"a": 1}', 1) != first_id(b'{"a": 2}', 1)
    assert first_id(b'{"a": 1}', 2) == first_id(b'{"a": 2}', 2)


# --- the base classes ----------------------------------------------------------------------------


class Texts(BaseStreamDecoder):
    """A stream of objects that hold a text each; `end` ends it."""

    def read(self, name, payload, value=None, /):
        self._count += 1
        value = parse(payload, self._ctx, self._count, value)
        if value is None:
            return
        if not self._begun:
            self._begun = True
            yield Started(id="", model="")
            yield self._parts.start("text", TEXT)
        if value["text"] == "end":
            self._over = True
            yield from self._parts.end_all()
            yield Finished((StopReason(kind="end"),))
        else:
            yield self._parts.delta("text", name + value["text"])


def decoded(data, size):
    decoder = Texts(WireDocument(Context(), "texts"), SseDecoder())
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    return [*(event for piece in pieces for event in decoder.feed(piece)), *decoder.close()]


HELLO = b'data: {"text":"a"}\n\nevent: b\ndata: {"text":"c"}\n\n'


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_decoder_reads_events_from_bytes_cut_anywhere(size):
    begun = [Started(id="", model=""), PartStarted(0, TEXT), PartDelta(0, "a"), PartDelta(0, "bc")]
    ended = [PartEnded(0), Finished((StopReason(kind="end"),))]
    assert decoded(HELLO + b'data: {"text":"end"}\n\n', size) == begun + ended
    assert decoded(HELLO + b'data: {"text":"end"}', size) == begun + ended
    error = ApiError(kind="server", message=CUT, status=502)
    assert decoded(HELLO, size) == [*begun, PartEnded(0, incomplete=True), Failed(error)]


class Names(BaseStreamEncoder):
    """Writes the name of each event that it gets."""

    def _started(self, event):
        return b"started "

    def _part_started(self, event):
        return b"part_started "

    def _part_delta(self, event):
        return b"part_delta "

    def _part_ended(self, event):
        return b"part_ended "

    def _finished(self, event):
        return f"finished after {self._usage.output}".encode()

    def _failed(self, event):
        return b"failed "

    def _opaque(self, event):
        return b"opaque "


def test_an_encoder_has_a_method_for_every_kind_of_event():
    encoder = Names(Context())
    events = [
        Started(id="", model=""),
        PartStarted(0, TEXT),
        PartDelta(0, "a"),
        OpaqueEvent("a", "b", {}),
        PartEnded(0),
        UsageSeen(Usage(output=2)),
        Failed(ApiError(kind="server", message="")),
        UsageSeen(Usage(output=3)),
        Finished((StopReason(kind="end"),)),
    ]
    written = b"".join(map(encoder.encode, events)) + encoder.close()
    assert written.decode() == (
        "started part_started part_delta opaque part_ended failed finished after 3"
    )
    assert {type(event) for event in events} == set(get_args(Event))
