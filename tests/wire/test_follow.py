"""Streams that pass: whole events from bytes cut anywhere, each judged."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.errors import DecodeError
from toolglot.wire.follow import EventSplitter, SplitEvent

STREAM = (
    b": hello\n\n"
    b"event: a\ndata: {}\n\n"
    b"data: [1]\r\n\r\n"
    b"data: {\r\ndata: }\r\n\r\n"
    b"data: two\r\r"
    b"data: {}\n\r\n"
    b'data: {"last": true}'
)
JUDGED = [True, True, False, True, False, True, True]
READ = [
    ("a", b"{}", {}),
    ("", b"[1]", None),
    ("", b"{\n}", {}),
    ("", b"two", None),
    ("", b"{}", {}),
    ("", b'{"last": true}', {"last": True}),
]


class Objects:
    """Takes objects and nothing else."""

    ended = False

    def accepts(self, name, value):
        return name in ("", "a")

    def accepts_marker(self, payload):
        return False


def judged(data: bytes, cuts: list[int], **how: bool) -> list[SplitEvent]:
    passing = EventSplitter(Objects(), **how)
    places = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    pieces = [data[start:end] for start, end in pairwise(places)]
    return [each for piece in pieces for each in passing.feed(piece)] + list(passing.close())


@given(cuts=st.lists(st.integers(0, 1000), max_size=12))
def test_every_byte_passes_wherever_it_is_cut(cuts):
    events = judged(STREAM, cuts)
    assert b"".join(raw for raw, _, _ in events) == STREAM
    assert [sound for raw, sound, _ in events if raw.strip()] == JUDGED
    assert [event for _, _, read in events for event in read] == READ


def test_byte_by_byte():
    events = judged(STREAM, list(range(len(STREAM))))
    assert b"".join(raw for raw, _, _ in events) == STREAM


def test_comments_are_left_out_where_clients_break_on_them():
    data = b": ping\n\n: a\ndata: {}\n\ndata: {}\r\n: b\r\n\r\n"
    assert [raw for raw, _, _ in judged(data, [3, 9], comments=False)] == [
        b"",
        b"data: {}\n\n",
        b"data: {}\r\n\r\n",
    ]


def test_lines():
    events = judged(b'{"a": 1}\n\n[]\n{"b"\n{}', [2, 5, 11], lines=True)
    assert [sound for _, sound, _ in events] == [True, True, False, False, True]


def test_what_was_not_whole_can_be_taken_over():
    passing = EventSplitter(Objects())
    assert list(passing.feed(b"data: {}\n\ndata: {")) == [
        (b"data: {}\n\n", True, [("", b"{}", {})])
    ]
    assert passing.take() == b"data: {"
    assert list(passing.close()) == []


def test_an_event_without_end_is_refused(monkeypatch):
    monkeypatch.setattr("toolglot.wire.follow.MAX_LINE", 100)
    passing = EventSplitter(Objects())
    with pytest.raises(DecodeError, match="longer than 100 bytes"):
        list(passing.feed(b"x" * 101))


@pytest.mark.parametrize("more", [b"", b"\n", b"\ndata: {"])
def test_a_line_end_of_which_one_half_came_is_completed(more):
    passing = EventSplitter(Objects())
    assert [raw for raw, *_ in passing.feed(b"data: {}\r\n\r")] == [b"data: {}\r\n\r"]
    assert not [*passing.feed(more)]
    assert passing.owed() == b"\n"
    assert passing.owed() == b""
    assert passing.take() == more[1:]


@pytest.mark.parametrize(
    ("passed", "lines", "ended"),
    [
        (b"", False, True),
        (b"data: {}\n\n", False, True),
        (b"data: {}\r\n\r\n", False, True),
        (b"data: {}\r\r", False, True),
        (b"data: {}\n", False, False),
        (b"data: {}", False, False),
        (b"{}\n", True, True),
        (b"{}", True, False),
    ],
)
def test_an_event_has_an_end(passed, lines, ended):
    assert EventSplitter(Objects(), lines=lines).is_ended(passed) is ended
