"""Arguments written out while they come: strict JSON, however they are cut."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.dialects.literals import lenient
from toolglot.dialects.streaming import JsonStream

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab\"'\\\n"), inner),
)  # fmt: skip


def written(pieces):
    live = JsonStream()
    return "".join(map(live.feed, pieces)), live


@given(
    value=st.dictionaries(st.text("key"), values, max_size=4),
    indent=st.none() | st.integers(0, 2),
    places=st.lists(st.integers(0, 200), max_size=5),
)
def test_json_comes_out_to_the_letter_however_it_is_cut_s3_27(value, indent, places):
    """S3-27"""
    text = json.dumps(value, indent=indent, ensure_ascii=bool(places))
    edges = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    pieces = [text[start:end] for start, end in pairwise(edges)]
    out, live = written(pieces)
    assert (out, live.done, live.failed) == (text, True, False)
    assert written(text)[0] == text


@pytest.mark.parametrize(
    "text",
    [
        "{'a': 'it is \"so\"', \"b\": [True, None,], }",
        '{"a": "two\nlines\tand \\d+ \\\'", "b": 1,}',
        '{"a": [], "b": {}}',
        "{ }",
    ],
)
def test_what_is_almost_json_comes_out_as_json_of_the_same_meaning(text):
    out, live = written(text)
    assert live.done
    assert json.loads(out) == lenient(text)
    assert written([text])[0] == out


@pytest.mark.parametrize(
    "text",
    [
        '{"a" 1}', "{a: 1}", '{"a": 01 }', '{"a": yes }', '{"a": 1 2}', '{"a": "x" "y"}', "{]",
        '{"a": }', '{"a":: 1}', '{"a": "\\x41"}', '{"a": "\\uzzzz"}', '{"a": "\ud800"}', '{"a"}',
        '{"a": (1)}',
    ],
)  # fmt: skip
def test_what_cannot_be_written_out_stops_there(text):
    out, live = written(text)
    assert live.failed
    assert not live.done
    assert written([text])[0] == out


def test_only_what_is_certain_is_written():
    live = JsonStream()
    assert live.feed('{"a": tr') == '{"a": '
    assert live.feed("ue") == ""
    assert live.feed(', "b": "x\\') == 'true, "b": "x'
    assert live.feed('u00e9"') == '\\u00e9"'
    assert live.feed(", ") == ""
    assert live.feed("}") == " }"
    assert live.done
