"""Values as models write them."""

import contextlib
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.dialects.literals import JsonScanner, Literal, lenient, number, pieces, same


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, 2.5, "x", true, null]}', {"a": [1, 2.5, "x", True, None]}),
        ("{'a': 'b', c: None,}", {"a": "b", "c": None}),
        ('{"a": {"b": 1', {"a": {"b": 1}}),
        ('"\\x41\\u00e9\\q"', "Aé\\q"),
        ("'''a'b'''", "a'b"),
        ("12345678901234567890", 12345678901234567890),
        ("1.10000000000000000001", Decimal("1.10000000000000000001")),
    ],
)
def test_lenient(text, value):
    assert lenient(text) == value


@pytest.mark.parametrize(
    "text", ["", "{", "[1 2]", "{'a' 1}", "'open", "nope", "1x", "{1: 2}", "[" * 99]
)
def test_what_is_no_value(text):
    if text == "{":
        assert lenient(text) == {}
        return
    with pytest.raises((ValueError, ArithmeticError)):
        lenient(text)


@given(st.text(alphabet="{}[]()'\"\\,:1a ntrue\n", max_size=40))
def test_any_text_is_a_value_or_a_value_error(text):
    with contextlib.suppress(ValueError, ArithmeticError):
        Literal(text).whole()


def test_numbers():
    assert number("007") == 7
    assert number("1.5") == 1.5
    with pytest.raises(ValueError, match="out of range"):
        number("1e999")


def test_pieces_of_an_array_and_of_an_object():
    assert pieces('[{"a": "],"}, 2]') == ['{"a": "],"}', "2"]
    assert pieces('{"a": {"b": 1}, "c": 2}') == ['"a": {"b": 1}', '"c": 2']


def test_scan_goes_on_where_it_stopped():
    scan = JsonScanner(0)
    text = '{"a\\"": "}'
    assert not scan.advance(text)
    assert scan.in_string
    assert scan.advance(text + '"}')
    assert scan.complete


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (1, 1.0, True),
        (1, Decimal("1.0"), True),
        (1, True, False),
        (0, False, False),
        ("1", 1, False),
        (None, False, False),
        ({"a": [1, {"b": True}]}, {"a": [1.0, {"b": True}]}, True),
        ({"a": [1, {"b": True}]}, {"a": [1, {"b": 1}]}, False),
        ({"a": 1}, {"b": 1}, False),
        ([1], [1, 2], False),
        ({}, [], False),
    ],
)
def test_same_json(one, other, equal):
    assert same(one, other) is equal
    assert same(other, one) is equal
