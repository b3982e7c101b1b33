"""Server-sent events from bytes that are cut anywhere."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolglot.errors import DecodeError
from toolglot.wire import sse
from toolglot.wire.sse import SseDecoder, frame

SEPARATOR = "\N{LINE SEPARATOR}"

# Bytes that mean something in the format, so that their neighbourhoods are met often.
PIECES = st.sampled_from(
    [
        b"data: ",
        b"data:",
        b"data",
        b"event: ",
        b"event:",
        b"id: 7",
        b"retry: 10",
        b": comment",
        b":",
        b" ",
        b"\n",
        b"\r",
        b"\r\n",
        b"\n\n",
        b"\r\n\r\n",
        b"\xef\xbb\xbf",
        '{"é": "\N{GRINNING FACE}"}'.encode(),
        SEPARATOR.encode(),
        "\N{NEXT LINE}\x0b\x0c\x1c".encode(),
        b"\xff\xfe",
    ]
)
STREAMS = st.lists(PIECES | st.binary(max_size=4), max_size=30).map(b"".join)


def read(*pieces):
    decoder = SseDecoder()
    return [event for piece in pieces for event in decoder.feed(piece)] + decoder.close()


def cut(data, places):
    edges = [0, *sorted({place % (len(data) + 1) for place in places}), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


# --- cut anywhere -------------------------------------------------------------------------------


@given(STREAMS, st.lists(st.integers(min_value=0), max_size=12))
@example(b"data: a\r\n\r\ndata: b\r\n\r\n", [8, 10])
@example(b"data: a\r\rdata: b\r\r", [8, 9])
@example(b"event: x\r\ndata: 1\r\n\r\n", [9])
@example("data: é\N{GRINNING FACE}\n\n".encode(), [7, 9, 10])
@example(b"\xef\xbb\xbfdata: a\n\n", [1, 2])
def test_any_cut_gives_the_same_events(data, places):
    assert read(*cut(data, places)) == read(data)


@given(STREAMS)
def test_byte_by_byte_gives_the_same_events(data):
    assert read(*(data[i : i + 1] for i in range(len(data)))) == read(data)


@given(STREAMS, st.lists(st.integers(min_value=0), max_size=6))
def test_empty_pieces_change_nothing(data, places):
    pieces = [piece for part in cut(data, places) for piece in (b"", part, b"")]
    assert read(*pieces) == read(data)


@given(STREAMS)
def test_line_ends_are_interchangeable(data):
    unix = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    assert read(unix.replace(b"\n", b"\r\n")) == read(unix)
    assert read(unix.replace(b"\n", b"\r")) == read(unix)
    assert read(data) == read(unix)


@given(st.lists(st.tuples(st.sampled_from(["", "ping", "délta"]), st.text()), max_size=5))
def test_frames_read_back(events):
    clean = [(name, "".join(text.splitlines()).encode()) for name, text in events]
    written = b"".join(frame(data, name.encode()) for name, data in clean)
    assert read(written) == clean


def test_the_decoder_gives_an_event_with_its_blank_line():
    decoder = SseDecoder()
    assert decoder.feed(b"data: a\n") == []
    assert decoder.feed(b"\nda") == [("", b"a")]
    assert decoder.feed(b"ta: b\n\n") == [("", b"b")]
    assert decoder.close() == []


def test_a_carriage_return_ends_a_line_at_once():
    decoder = SseDecoder()
    assert decoder.feed(b"data: a\r\r") == [("", b"a")]
    assert decoder.feed(b"\ndata: b\r\n\r\n") == [("", b"b")]


# --- fields -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "events"),
    [
        (b"", []),
        (b"\n\n\n", []),
        (b"data: a\n\n", [("", b"a")]),
        (b"data:a\n\n", [("", b"a")]),
        (b"data:  a \n\n", [("", b" a ")]),
        (b"data:\n\n", [("", b"")]),
        (b"data\n\n", [("", b"")]),
        (b"data: a\ndata: b\n\n", [("", b"a\nb")]),
        (b"data: a\ndata\ndata: b\n\n", [("", b"a\n\nb")]),
        (b"event: x\ndata: a\n\n", [("x", b"a")]),
        (b"event:x\ndata: a\n\n", [("x", b"a")]),
        (b"data: a\nevent: x\n\n", [("x", b"a")]),
        (b"event: x\nevent: y\ndata: a\n\n", [("y", b"a")]),
        (b"event: x\n\ndata: a\n\n", [("", b"a")]),
        (b"event: x\ndata: a\n\ndata: b\n\n", [("x", b"a"), ("", b"b")]),
        (b": hello\n\n: again\ndata: a\n:\n\n", [("", b"a")]),
        (b":data: a\n\n", []),
        (b"id: 1\nretry: 5\nother: x\ndata: a\n\n", [("", b"a")]),
        (b"database: a\n\n", []),
        (b"Data: a\n\n", []),
        (b" data: a\n\n", []),
        (b"\xef\xbb\xbfdata: a\n\n", [("", b"a")]),
        (b"data: a\n\n\xef\xbb\xbfdata: b\n\n", [("", b"a")]),
        (b"data: [DONE]\n\n", [("", b"[DONE]")]),
        (b"event: \xff\ndata: \xff\n\n", [("\N{REPLACEMENT CHARACTER}", b"\xff")]),
    ],
)
def test_fields(data, events):
    assert read(data) == events


def test_a_line_separator_ends_no_line():
    text = f'{{"a": "x{SEPARATOR}y\N{PARAGRAPH SEPARATOR}z\N{NEXT LINE}\x0b\x0c\x1c"}}'
    assert read(frame(text.encode())) == [("", text.encode())]


@pytest.mark.parametrize("tail", [b"", b"\n", b"\r", b"\r\n", b"\n\n"])
def test_the_last_blank_line_may_be_missing(tail):
    assert read(b"data: a\n\nevent: x\ndata: b" + tail) == [("", b"a"), ("x", b"b")]


def test_closing_a_stream_that_ended_well_gives_nothing():
    assert read() == []
    assert read(b"data: a\n\n") == [("", b"a")]
    assert read(b"data: a\n\n: bye") == [("", b"a")]


@pytest.mark.parametrize(
    ("event", "wire"), [(b"", b"data: {}\n\n"), (b"ping", b"event: ping\ndata: {}\n\n")]
)
def test_frame(event, wire):
    assert frame(b"{}", event) == wire


# --- bounds -------------------------------------------------------------------------------------


def test_ten_megabytes_in_many_pieces():
    piece, count = b"x" * 100, 100_000
    decoder = SseDecoder()
    assert decoder.feed(b"data: ") == []
    for _ in range(count):
        assert decoder.feed(piece) == []
    assert decoder.feed(b"\n\n") == [("", piece * count)]


def test_many_events_in_one_piece():
    assert len(read(b"data: x\n\n" * 100_000)) == 100_000


@pytest.mark.parametrize("endless", [b"x", b"data: x\n", b"data:\n", b"data\n", b"data: x\ndata: "])
def test_an_event_without_end_is_refused(monkeypatch, endless):
    monkeypatch.setattr(sse, "MAX_LINE", 1000)
    with pytest.raises(DecodeError, match="one event of the stream is longer than 1000 bytes"):
        read(*[endless] * 1001)


def test_the_bound_is_for_one_event(monkeypatch):
    monkeypatch.setattr(sse, "MAX_LINE", 100)
    decoder = SseDecoder()
    events = [event for _ in range(50) for event in decoder.feed(b"data: 12345678\n: c\n\n")]
    assert events == [("", b"12345678")] * 50


def test_comments_are_not_held(monkeypatch):
    monkeypatch.setattr(sse, "MAX_LINE", 100)
    decoder = SseDecoder()
    assert [event for _ in range(50) for event in decoder.feed(b": keep-alive\n")] == []


@pytest.mark.parametrize(
    "pieces",
    [
        (b"event: tide\r", b"\ndata: 1\r", b"\n\r", b"\n"),
        (b"event: tide\r\ndata: 1\r", b"\n\r\n"),
        (b"event: tide\r", b"\n", b"data: 1\r\n\r", b"\n"),
    ],
)
def test_a_line_end_that_is_cut_in_two_is_one(pieces):
    assert read(*pieces) == [("tide", b"1")]


def test_a_carriage_return_inside_a_piece_ends_a_line():
    assert read(b"data: x\n\n", b"data: a\rdata: b\n\n") == [("", b"x"), ("", b"a\nb")]
