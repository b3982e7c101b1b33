"""Frames: what a linter must see of a stream and a decoder may forget."""

import pytest

from toolglot.wire.frames import (
    BROKEN,
    COMMENT,
    DONE,
    array_frames,
    by_type,
    line_frames,
    sse_frames,
)


def read(data):
    return list(sse_frames(data, by_type))


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_lines_may_end_in_three_ways(end):
    data = end.join([b"event: a", b'data: {"type":"a"}', b"", b'data:{"type":"b"}', b"", b""])
    first, second = read(data)
    assert (first.number, first.kind, first.name, first.ended) == (1, "a", "a", True)
    assert (second.number, second.kind, second.name, second.ended) == (2, "b", None, True)


def test_a_line_separator_inside_json_is_no_line_end():
    (frame,) = read('data: {"type":"a","x":"1\u20282"}\n\n'.encode())
    assert frame.value["x"] == "1\u20282"


def test_data_in_several_lines_is_one_text():
    (frame,) = read(b'data: {"type":\ndata: "a"}\n\n')
    assert frame.kind == "a"


@pytest.mark.parametrize(
    ("data", "ended"),
    [
        (b"data: {}\n\n", True),
        (b"data: {}\n", False),
        (b"data: {}", False),
        (b"data: {}\r\r", True),
    ],
)
def test_whether_the_last_event_was_ended_is_known(data, ended):
    (frame,) = read(data)
    assert frame.ended is ended


def test_a_comment_has_the_number_of_the_event_before_it():
    frames = read(b": hello\n\ndata: {}\n\n: more\ndata: {}\n\n: last\n")
    assert [(frame.number, frame.kind == COMMENT) for frame in frames] == [
        (1, True),
        (1, False),
        (1, True),
        (2, False),
        (2, True),
    ]


def test_broken_data_and_the_mark_of_the_end_are_kinds_of_their_own():
    frames = read(b"\xef\xbb\xbfdata: {\n\ndata: [1]\n\ndata: [DONE]\n\ndata: \xff\n\n")
    assert [frame.kind for frame in frames] == [BROKEN, BROKEN, DONE, BROKEN]
    assert frames[1].why == "it is an array"


def test_an_event_without_data_is_none():
    assert read(b"event: ping\n\nid: 7\nretry: 5\n\n") == []


def test_lines_of_json():
    frames = list(line_frames(b'{"type":"a"}\r\n\n \n{"type":"b"}', by_type))
    assert [(frame.number, frame.kind) for frame in frames] == [(1, "a"), (2, "b")]


def test_an_array_of_json():
    frames = list(array_frames(b'[{"type":"a"},5]', by_type))
    assert [(frame.number, frame.kind) for frame in frames] == [(1, "a"), (2, BROKEN)]
    assert [frame.kind for frame in array_frames(b"[", by_type)] == [BROKEN]
    assert [frame.kind for frame in array_frames(b'{"type":"a"}', by_type)] == ["a"]
