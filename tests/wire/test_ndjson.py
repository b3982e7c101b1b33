"""Lines of JSON from bytes that are cut anywhere."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolglot.errors import DecodeError
from toolglot.wire import ndjson
from toolglot.wire.ndjson import NdjsonDecoder

PIECES = st.sampled_from(
    [b'{"a": 1}', b"\n", b"\r\n", b"\r", b" ", "é\N{LINE SEPARATOR}".encode(), b"\xff"]
)
STREAMS = st.lists(PIECES | st.binary(max_size=4), max_size=30).map(b"".join)


def read(*pieces):
    decoder = NdjsonDecoder()
    return [line for piece in pieces for line in decoder.feed(piece)] + decoder.close()


def cut(data, places):
    edges = [0, *sorted({place % (len(data) + 1) for place in places}), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


@given(STREAMS, st.lists(st.integers(min_value=0), max_size=12))
@example(b'{"a": 1}\r\n{"b": 2}\r\n', [9, 10])
@example('{"a": "é"}\n'.encode(), [8])
def test_any_cut_gives_the_same_lines(data, places):
    assert read(*cut(data, places)) == read(data)


@given(STREAMS)
def test_byte_by_byte_gives_the_same_lines(data):
    assert read(*(data[i : i + 1] for i in range(len(data)))) == read(data)


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"\n\r\n  \n", []),
        (b"{}\n", [b"{}"]),
        (b"{}", [b"{}"]),
        (b"{}\r\n[]\r\n", [b"{}", b"[]"]),
        (b" {} \n\n\n[]", [b"{}", b"[]"]),
    ],
)
def test_lines(data, lines):
    assert read(data) == lines


def test_a_line_separator_ends_no_line():
    line = '{"a": "x\N{LINE SEPARATOR}y\N{PARAGRAPH SEPARATOR}z\N{NEXT LINE}"}'.encode()
    assert read(line + b"\n") == [line]


def test_a_line_comes_with_its_end():
    decoder = NdjsonDecoder()
    assert decoder.feed(b'{"a":') == []
    assert decoder.feed(b"1}\n{") == [b'{"a":1}']
    assert decoder.close() == [b"{"]
    assert decoder.close() == []


def test_ten_megabytes_in_many_pieces():
    piece, count = b"x" * 100, 100_000
    decoder = NdjsonDecoder()
    for _ in range(count):
        assert decoder.feed(piece) == []
    assert decoder.feed(b"\n") == [piece * count]


def test_a_line_without_end_is_refused(monkeypatch):
    monkeypatch.setattr(ndjson, "MAX_LINE", 1000)
    decoder = NdjsonDecoder()
    assert decoder.feed(b"x" * 1000) == []
    with pytest.raises(DecodeError, match="one line of the stream is longer than 1000 bytes"):
        decoder.feed(b"x")


def test_the_bound_is_for_one_line(monkeypatch):
    monkeypatch.setattr(ndjson, "MAX_LINE", 10)
    decoder = NdjsonDecoder()
    assert [line for _ in range(50) for line in decoder.feed(b"[1]\n")] == [b"[1]"] * 50
