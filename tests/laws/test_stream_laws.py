"""The laws of the architecture that speak of streams, over the registry."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.laws.corpus import NAMES, PAIRS, fixture_id, objects, some_words
from tests.laws.streams import (
    NAMESAKES,
    STREAMS,
    TWINS,
    arguments,
    assembled,
    assert_legal,
    body_of,
    call_ids,
    cut_at,
    decode,
    encode,
    failed,
    fixture,
    ids_were_made,
    loose,
    merged,
    one_by_one,
    plain,
    responses,
    stem_of,
    stream_of,
    translate,
    was_cut,
)
from tests.laws.turns import assert_comes_back, can_be_sent_back

from toolglot import ir
from toolglot.context import Context
from toolglot.events import Event, fold, unfold
from toolglot.lint import lint_stream
from toolglot.registry import get_protocol
from toolglot.translate import decode_response, translate_response

slow_ok = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
every_stream = pytest.mark.parametrize(("name", "file"), STREAMS, ids=fixture_id)
every_protocol = pytest.mark.parametrize("name", NAMES)
every_twin = pytest.mark.parametrize(("name", "file"), TWINS, ids=fixture_id)
every_target = pytest.mark.parametrize("target", NAMES)
every_pair = pytest.mark.parametrize(("source", "target"), PAIRS)
seeds = st.integers(0, 2**16)


def recorded(name: str, data: st.DataObject) -> bytes:
    """One of the recorded streams of a protocol."""
    return data.draw(
        st.sampled_from([file for owner, file in STREAMS if owner == name])
    ).read_bytes()


def essentials(events: list[Event]) -> Any:
    """Texts and calls of the answer, in which nothing may be missing."""
    response = fold(events)
    assert isinstance(response, ir.Response)
    return [list(choice.parts) for choice in response.choices]


def test_the_corpus_is_large_enough_to_prove_something() -> None:
    assert {name for name, _ in STREAMS} == {name for name, _ in TWINS} == set(NAMES)
    assert len(STREAMS) > 60
    assert len(TWINS) > 30


@pytest.mark.parametrize("stem", sorted(NAMESAKES))
def test_namesakes_are_different_answers(stem: str) -> None:
    ((name, file),) = [each for each in STREAMS if stem_of(each[1]) == stem]
    streamed, whole = fold(decode(name, [file.read_bytes()])), fixture(name, file)[1]
    assert isinstance(streamed, ir.Response)
    assert isinstance(whole, ir.Response)
    assert streamed.id != whole.id


# --- 3. cut anywhere -----------------------------------------------------------------------------


@every_stream
def test_law_3_byte_by_byte_gives_the_same_events(name: str, file: Path) -> None:
    data = file.read_bytes()
    one, other = (Context(source=get_protocol(name).SURFACE) for _ in range(2))
    assert decode(name, one_by_one(data), one) == decode(name, [data], other)
    assert one.receipt() == other.receipt()


@every_protocol
@given(data=st.data(), places=st.lists(st.integers(0, 2**20), max_size=9))
def test_law_3_any_cut_gives_the_same_events(
    name: str, data: st.DataObject, places: list[int]
) -> None:
    stream = recorded(name, data)
    assert decode(name, cut_at(stream, places)) == decode(name, [stream])


@every_target
@every_stream
def test_law_3_any_cut_gives_the_client_the_same_bytes(name: str, file: Path, target: str) -> None:
    data = file.read_bytes()
    whole = translate(name, target, [data])
    assert translate(name, target, one_by_one(data)) == whole
    rng = random.Random(len(data))
    for _ in range(3):
        places = [rng.randrange(len(data) + 1) for _ in range(rng.randint(1, 9))]
        assert translate(name, target, cut_at(data, places)) == whole


@every_pair
@given(response=responses(), seed=seeds, places=st.lists(st.integers(0, 2**20), max_size=9))
@slow_ok
def test_law_3_generated_streams_cut_anywhere(
    source: str, target: str, response: ir.Response, seed: int, places: list[int]
) -> None:
    data = stream_of(source, response, seed)
    assert translate(source, target, cut_at(data, places)) == translate(source, target, [data])


LINE_ENDS = [b"\n", b"\r\n", b"\r"]


@pytest.mark.parametrize("end", LINE_ENDS, ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize(
    ("name", "file"), [each for each in STREAMS if each[0] != "ollama"], ids=fixture_id
)
def test_law_3_any_line_end_gives_the_same_events(name: str, file: Path, end: bytes) -> None:
    """case-10: a character, a CRLF or a JSON escape may be split anywhere."""
    data = file.read_bytes()
    if not data.lstrip().startswith((b"data", b"event", b":", b"\xef\xbb\xbf")):
        return
    plain_ends = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    other_ends = plain_ends.replace(b"\n", end)
    assert decode(name, one_by_one(other_ends)) == decode(name, [plain_ends])


# --- 4. a stream equals its body -----------------------------------------------------------------


@every_twin
def test_law_4_a_stream_says_what_its_body_says(name: str, file: Path) -> None:
    data, whole = fixture(name, file)
    events = decode(name, [data])
    streamed = fold(events)
    if was_cut(events):
        streamed, whole = without_last_call(streamed), without_last_call(whole)
    assert plain(streamed) == plain(whole)
    assert call_ids(streamed) == call_ids(whole)


def without_last_call(response: ir.Response | ir.ApiError) -> ir.Response:
    """An answer without the call in which it was cut, of which bodies show what they please."""
    assert isinstance(response, ir.Response)
    (choice,) = response.choices
    assert isinstance(choice.parts[-1], ir.ToolCall)
    return replace(response, choices=(replace(choice, parts=choice.parts[:-1]),))


@pytest.mark.parametrize("name", NAMES)
@given(response=responses(), seed=seeds)
@slow_ok
def test_law_4_generated_streams_say_what_their_bodies_say(
    name: str, response: ir.Response, seed: int
) -> None:
    streamed = fold(decode(name, [stream_of(name, response, seed)]))
    whole = decode_response(assembled(name, response), source=name)
    assert loose(streamed, name) == loose(whole, name)


@every_target
@every_twin
def test_law_4_the_client_gets_as_a_stream_what_it_gets_as_a_body(
    name: str, file: Path, target: str
) -> None:
    if name == target:
        return
    data = file.read_bytes()
    if was_cut(decode(name, [data])):
        return
    streamed = fold(decode(target, [translate(name, target, [data])[0]]))
    wire, _ = translate_response(body_of(file).read_bytes(), source=name, target=target)
    whole = decode_response(wire.body, source=target, status=wire.status)
    assert loose(streamed, name, target) == loose(whole, name, target)


@every_pair
@given(response=responses(), seed=seeds)
@slow_ok
def test_law_4_generated_streams_and_bodies_reach_the_client_alike(
    source: str, target: str, response: ir.Response, seed: int
) -> None:
    data = stream_of(source, response, seed)
    streamed = fold(decode(target, [translate(source, target, [data])[0]]))
    wire, _ = translate_response(assembled(source, response), source=source, target=target)
    whole = decode_response(wire.body, source=target, status=wire.status)
    assert loose(streamed, source, target) == loose(whole, source, target)


# --- 5. grammar ----------------------------------------------------------------------------------


@every_stream
def test_law_5_decoders_emit_only_legal_sequences(name: str, file: Path) -> None:
    assert_legal(decode(name, [file.read_bytes()]))


@every_protocol
@given(draw=st.data(), end=st.integers(0, 2**20))
def test_law_5_a_cut_stream_is_legal_and_no_success(
    name: str, draw: st.DataObject, end: int
) -> None:
    """case-09: what was cut off says less than the whole, or the same, but never claims more."""
    data = recorded(name, draw)
    events, whole = decode(name, [data[: end % (len(data) + 1)]]), decode(name, [data])
    assert_legal(events)
    if not failed(events):
        assert not failed(whole)
        assert essentials(events) == essentials(whole), "a success has everything"


@every_protocol
@given(data=st.data())
def test_law_5_mutated_streams_are_legal(name: str, data: st.DataObject) -> None:
    """Frames shuffled, repeated, left out, and bytes changed: the sequence is legal."""
    separator = b"\n" if name == "ollama" else b"\n\n"
    frames = recorded(name, data).replace(b"\r\n", b"\n").split(separator)
    picked = data.draw(st.lists(st.sampled_from(frames), max_size=2 * len(frames)))
    order = data.draw(st.permutations(frames)) if data.draw(st.booleans()) else picked
    mutated = bytearray(separator.join(order))
    for place, byte in data.draw(
        st.lists(st.tuples(st.integers(0, 2**20), st.integers(0, 255)), max_size=4)
    ):
        if mutated:
            mutated[place % len(mutated)] = byte
    assert_legal(decode(name, [bytes(mutated)]))


@every_pair
@given(data=st.data())
@slow_ok
def test_law_5_clients_get_only_legal_sequences(
    source: str, target: str, data: st.DataObject
) -> None:
    file = data.draw(st.sampled_from([file for name, file in STREAMS if name == source]))
    separator = b"\n" if source == "ollama" else b"\n\n"
    frames = file.read_bytes().replace(b"\r\n", b"\n").split(separator)
    order = data.draw(st.permutations(frames) | st.lists(st.sampled_from(frames)))
    written, receipt = translate(source, target, [separator.join(order)])
    assert_legal(decode(target, [written]))
    assert not [note for note in receipt if note.message.startswith("the rest of the stream")]


ASKED = ir.Request(model="asked-for", messages=())
TOOLED = replace(
    ASKED,
    tools=(ir.FunctionTool(name="tell", parameters={"type": "object"}),),
    include_usage=True,
)


@pytest.mark.parametrize("mode", ["live", "buffered"])
@every_target
@every_stream
def test_law_5_clients_get_what_their_protocol_allows(
    name: str, file: Path, target: str, mode: str
) -> None:
    if name != target:
        pieces = [file.read_bytes()]
        written, _ = translate(name, target, pieces, request=ASKED, stream_tools=mode)
        assert lint_stream(written, target) == []


@every_pair
@given(response=responses(), seed=seeds)
@slow_ok
def test_law_5_generated_streams_are_what_a_protocol_allows(
    source: str, target: str, response: ir.Response, seed: int
) -> None:
    data = stream_of(source, response, seed)
    assert lint_stream(data, source) == []
    assert lint_stream(translate(source, target, [data])[0], target) == []


@pytest.mark.parametrize("name", NAMES)
@given(response=responses(), seed=seeds)
@slow_ok
@example(
    response=ir.Response(
        id="resp_1",
        model="m",
        choices=(
            ir.Choice(
                parts=(ir.ToolCall(id="call_1", name="now", arguments="{}"),),
                stop=ir.StopReason(kind="tool_calls"),
            ),
        ),
        usage=ir.Usage(input=1, output=1),
    ),
    seed=0,
)
def test_law_5_what_is_written_is_read_the_same(
    name: str, response: ir.Response, seed: int
) -> None:
    """Up to merged deltas, raw words of the protocol and what it has no place for."""
    events = decode(name, [stream_of(name, response, seed)])
    assert_legal(events)
    again = decode(name, [encode(name, events)])
    assert plain(fold(again)) == plain(fold(events))
    assert [type(event) for event in merged(again)] == [type(event) for event in merged(events)]


@every_stream
def test_law_5_streams_are_written_and_read_the_same(name: str, file: Path) -> None:
    events = decode(name, [file.read_bytes()])
    again = decode(name, [encode(name, events)])
    assert_legal(again)
    if not was_cut(events):
        assert loose(fold(again), name) == loose(fold(events), name)


# --- 11. round trip of a turn --------------------------------------------------------------------


@pytest.mark.parametrize("client", NAMES)
@every_stream
def test_law_11_a_streamed_turn_comes_back_to_its_issuer_as_it_was(
    name: str, file: Path, client: str
) -> None:
    """case-33, case-36, case-37: state, ids and argument text, without any memory in between."""
    events = decode(name, [file.read_bytes()])
    answer = fold(events)
    if client == name or was_cut(events) or not can_be_sent_back(answer):
        return
    shown = fold(decode(client, [translate(name, client, [file.read_bytes()])[0]]))
    assert_comes_back(
        name,
        assembled(name, answer),
        client,
        assembled(client, shown),
        ids=not ids_were_made(answer),
    )


@every_pair
@given(response=responses(), seed=seeds)
@slow_ok
def test_law_11_generated_streamed_turns_come_back(
    source: str, target: str, response: ir.Response, seed: int
) -> None:
    data = stream_of(source, response, seed)
    answer = fold(decode(source, [data]))
    if not can_be_sent_back(answer) or _is_refused_back(source, answer):
        return
    shown = fold(decode(target, [translate(source, target, [data])[0]]))
    assert_comes_back(source, assembled(source, answer), target, assembled(target, shown))


def _is_refused_back(source: str, answer: ir.Response | ir.ApiError) -> bool:
    """Whether a turn is one that its provider never says, because it refuses it in a history:
    nothing but thoughts, or text behind calls.
    """
    assert isinstance(answer, ir.Response)
    parts, messages = answer.choices[0].parts, get_protocol(source).SURFACE.messages
    if all(isinstance(part, ir.Reasoning) for part in parts):
        return not messages.blank_text
    called = any(isinstance(part, ir.ToolCall) for part in parts)
    return messages.text_before_calls and called and isinstance(parts[-1], ir.Text)


# --- dialects ------------------------------------------------------------------------------------


@every_target
@every_stream
def test_looking_for_calls_changes_nothing_where_there_are_none(
    name: str, file: Path, target: str
) -> None:
    data = file.read_bytes()
    plain_, looked = (
        translate(name, target, [data], dialect=dialect, request=TOOLED)
        for dialect in (None, "auto")
    )
    events, others = (decode(target, [written]) for written, _ in (plain_, looked))
    if name != target:
        assert lint_stream(looked[0], target) == lint_stream(plain_[0], target)
    elif was_cut(decode(name, [data])):
        # A call that broke off passes through untouched, but cannot be written in every protocol.
        return
    assert loose(fold(others), target) == loose(fold(events), target)
    assert "call-promoted" not in looked[1].codes()


STRAY_END = ir.Response(
    id="r1",
    model="m",
    choices=(
        ir.Choice(
            parts=(
                ir.Text(text="*Ùn"),
                ir.ToolCall(id="call_1", name="tell", arguments="{}"),
                ir.Text(text="</thinking>"),
            ),
            stop=ir.StopReason(kind="tool_calls"),
        ),
    ),
)


def closes_reasoning(part: ir.Part) -> bool:
    return isinstance(part, ir.Text) and part.text.lstrip().startswith("</")


@every_target
@pytest.mark.parametrize("source", NAMES)
@given(response=responses(), seed=seeds)
@example(response=STRAY_END, seed=0)
@slow_ok
def test_looking_for_calls_changes_no_generated_answer(
    source: str, target: str, response: ir.Response, seed: int
) -> None:
    data = stream_of(source, response, seed)
    plain_, looked = (
        translate(source, target, [data], dialect=dialect) for dialect in (None, "auto")
    )
    if "marks-dropped" in looked[1].codes():
        # The end of reasoning that began in the prompt may stand before the first word of a text.
        assert any(closes_reasoning(part) for part in response.choices[0].parts)
        return
    streams = [fold(decode(target, [written])) for written, _ in (plain_, looked)]
    assert loose(streams[0], target) == loose(streams[1], target)
    body = assembled(source, response)
    wires = [
        translate_response(body, source=source, target=target, dialect=dialect)
        for dialect in (None, "auto")
    ]
    assert wires[0] == wires[1]


unquoted = some_words.map(lambda text: text.replace("`", ".").replace("~", "."))
WRITTEN = '<tool_call>\n{"name": "tell", "arguments": %s}\n</tool_call>'


@every_target
@pytest.mark.parametrize("source", NAMES)
@given(
    written=st.lists(st.tuples(unquoted, objects), min_size=1, max_size=3),
    seed=seeds,
    places=st.lists(st.integers(0, 2**20), max_size=9),
)
@slow_ok
def test_written_calls_reach_the_client_whole_or_streamed_and_however_cut(
    source: str, target: str, written: list[tuple[str, Any]], seed: int, places: list[int]
) -> None:
    """X-08, S3-24, S3-25: the same calls and words, in order, and the stop says so."""
    text = "".join(f"{words}{WRITTEN % json.dumps(value)}" for words, value in written)
    response = ir.Response(
        id="resp_1",
        model="m",
        choices=(ir.Choice(parts=(ir.Text(text=text),), stop=ir.StopReason(kind="end")),),
        usage=ir.Usage(input=1, output=1),
    )
    asked = {"request": TOOLED, "dialect": "auto"}
    data = stream_of(source, response, seed)
    sent, receipt = translate(source, target, cut_at(data, places), **asked)
    assert (sent, receipt) == translate(source, target, [data], **asked)
    assert lint_stream(sent, target) == []
    wire, _ = translate_response(assembled(source, response), source=source, target=target, **asked)
    whole, streamed = (decode_response(wire.body, source=target), fold(decode(target, [sent])))
    assert loose(whole, target)[0] == loose(streamed, target)[0]
    assert isinstance(whole, ir.Response)
    (choice,) = whole.choices
    calls = [part for part in choice.parts if isinstance(part, ir.ToolCall)]
    assert [(call.name, arguments(call)) for call in calls] == [("tell", v) for _, v in written]
    assert choice.stop is not None
    assert choice.stop.kind == "tool_calls"


# --- buffered is live ----------------------------------------------------------------------------


@every_target
@every_stream
def test_buffered_calls_make_the_same_response(name: str, file: Path, target: str) -> None:
    """D-03, S0-59: calls that leave whole say the same as calls that leave as they come."""
    if name == target:
        return
    data = [file.read_bytes()]
    live, buffered = (
        fold(decode(target, [translate(name, target, data, stream_tools=mode)[0]]))
        for mode in ("live", "buffered")
    )
    assert loose(buffered, target) == loose(live, target)
    if not ids_were_made(fold(decode(name, data))):
        assert call_ids(buffered) == call_ids(live)


@every_pair
@given(response=responses(), seed=seeds)
@slow_ok
def test_buffered_generated_calls_make_the_same_response(
    source: str, target: str, response: ir.Response, seed: int
) -> None:
    data = [stream_of(source, response, seed)]
    live, buffered = (
        fold(decode(target, [translate(source, target, data, stream_tools=mode)[0]]))
        for mode in ("live", "buffered")
    )
    assert loose(buffered, target) == loose(live, target)


def test_unfold_and_fold_are_inverse_for_errors() -> None:
    error = ir.ApiError(kind="overloaded", message="busy", status=529)
    assert fold(unfold(error)) == error
