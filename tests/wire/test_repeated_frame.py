"""One more event that differs from the last in one text alone is read without the rest."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.wire.repeated_frame import RepeatedFrame

TEXTS = st.text(max_size=12) | st.sampled_from(
    ['"', "\\", ":", '":"', ",", "}", "tide", " tide", "é", "\n", "\x7f", "\u2028", "a\\", '\\"']
)
OTHERS = st.dictionaries(st.sampled_from("abc") | TEXTS, TEXTS | st.lists(TEXTS), max_size=4)


def event(text: str, others: dict, ascii_only: bool) -> bytes:
    value = {**others, "choices": [{"delta": {"content": text}}], "last": "one"}
    written = json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":"))
    return b"data: %b\n\n" % written.encode()


@given(TEXTS, TEXTS, OTHERS, st.booleans(), st.booleans())
def test_a_frame_gives_the_text_and_never_another(first, second, others, one, two):
    frame = RepeatedFrame.learn(event(first, others, one), first)
    if frame is not None:
        found = frame.text(event(second, others, two))
        assert found is None or found == second


@given(st.text("abc xyz", min_size=1), TEXTS)
def test_plain_words_are_learned_and_any_text_is_read(first, second):
    frame = RepeatedFrame.learn(event(first, {"id": "chatcmpl-1"}, ascii_only=True), first)
    assert (frame is None) == (first in ("last", "one"))
    if frame is not None:
        assert frame.text(event(second, {"id": "chatcmpl-1"}, ascii_only=True)) == second


@pytest.mark.parametrize(
    "other",
    [
        b'data: {"a":"tide","b":2}\n\n',
        b'data: {"a":"ti"de","b":1}\n\n',
        b'data: {"a":"tide","b":1,"c":"tide","b":1}\n\n',
        b'data: {"a":"\xff","b":1}\n\n',
        b'data: {"a":"line\nend","b":1}\n\n',
        b'data: {"a":"tide","b":1}\n\ndata: {"a":"tide","b":1}\n\n',
        b'data: {"a":","b":1}\n\n',
        b'data: {"a":"","b":1}',
        b"",
    ],
)
def test_another_event_is_not_taken_for_one(other):
    frame = RepeatedFrame.learn(b'data: {"a":"flood","b":1}\n\n', "flood")
    assert frame is not None
    assert frame.text(other) is None


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b'data: {"a":"tide","b":"tide"}\n\n', "tide"),
        (b'data: {"a":"t\\u0069de","b":"tide"}\n\n', "tide"),
        (b'data: {"a":":","b":1}\n\n', ":"),
        (b'data: {"a":"x"}\n\n', "tide"),
    ],
)
def test_a_text_whose_place_is_not_certain_is_not_learned(data, text):
    assert RepeatedFrame.learn(data, text) is None
