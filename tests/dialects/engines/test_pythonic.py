"""Python calls, read without running anything."""

import json

import pytest

from toolglot.dialects.text import parse_text


def calls(text: str, dialect: str = "pythonic") -> list:
    parsed = parse_text(text, None, dialect)
    return [(call.name, json.loads(call.arguments)) for call in parsed.calls]


@pytest.mark.parametrize(
    ("inside", "arguments"),
    [
        ("", {}),
        ("a=1, b=-2.5, c=1e3", {"a": 1, "b": -2.5, "c": 1000.0}),
        ("a='it\\'s', b=\"]\"", {"a": "it's", "b": "]"}),
        ("a=True, b=None, c=false, d=null", {"a": True, "b": None, "c": False, "d": None}),
        (
            "a=[1, [2]], b={'x': (1, 2)}, c={'u', 'v'}",
            {"a": [1, [2]], "b": {"x": [1, 2]}, "c": ["u", "v"]},
        ),
        ("day=07", {"day": 7}),
        ("from='x', class='y'", {"from": "x", "class": "y"}),
        ("a=12345678901234567890", {"a": 12345678901234567890}),
        ("a='x' 'y'", {"a": "xy"}),
        ("a='\\ud83d\\ude00'", {"a": "😀"}),
        ("a=1,", {"a": 1}),
        ("**{'a': 1}", {"a": 1}),
    ],
)
def test_literals(inside, arguments):
    assert calls(f"[f({inside})]") == [("f", arguments)]


@pytest.mark.parametrize(
    "text",
    [
        "[f(1)]",
        "[f(a=g())]",
        "[f(a=__import__('os'))]",
        "[f(a=x)]",
        "[f(a=1+1)]",
        "[f]",
        "[f(a=1]",
        "[f(a='x)]",
        "[1, 2]",
        "[]",
        "[f(a=" + "[" * 100 + "]" * 100 + ")]",
    ],
)
def test_no_call(text):
    assert parse_text(text, None, "pythonic").content == text


def test_several_lines_and_dotted_names():
    text = "<function_calls>a.b(x=1)\nc(y='2')</function_calls>"
    assert calls(text, "olmo3") == [("a.b", {"x": 1}), ("c", {"y": "2"})]


def test_undeclared_list_stays_text():
    text = "[g(a=1)]"
    assert parse_text(text, ["f"], "pythonic").content == text
