"""Raw text under a schema."""

import pytest

from toolglot.dialects.coerce import kinds, parameter, typed, untyped

ROOT = {"$defs": {"n": {"type": "integer"}, "loop": {"$ref": "#/$defs/loop"}}}


@pytest.mark.parametrize(
    ("raw", "rule", "value"),
    [
        ("1", {"type": "string"}, "1"),
        ("1", {"type": "int"}, 1),
        ("1", {"$ref": "#/$defs/n"}, 1),
        ("1", {"$ref": "#/$defs/loop"}, "1"),
        ("1", {"$ref": "#/nowhere"}, "1"),
        ("null", {"type": "string", "nullable": True}, None),
        ("1", {"anyOf": [{"type": "null"}, {"type": "number"}]}, 1),
        ("1", {"allOf": [{"type": "integer"}]}, 1),
        ("2", {"enum": [1, 2]}, 2),
        ("a", {"enum": ["a", 1]}, "a"),
        ("[1", {"type": "array"}, [1]),
        ("(1, 2)", {"type": "array"}, [1, 2]),
        ("{1}", {"type": "object"}, "{1}"),
        ('{\\"a\\": 1}', {"type": "object"}, {"a": 1}),
        ("x", {"type": 7}, "x"),
        ("x", {"anyOf": 7}, "x"),
        ("x", "no rule", "x"),
    ],
)
def test_typed(raw, rule, value):
    assert typed(raw, rule, ROOT) == value


def test_without_a_schema():
    assert typed("12", None, {}) == "12"
    assert typed("12", None, {}, plain=False) == 12
    assert typed("12 x", None, {}, plain=False) == "12 x"


def test_lookup():
    assert parameter({"properties": {"a": {"type": "null"}}}, "a") == {"type": "null"}
    assert parameter({}, "a") is None
    assert kinds({"type": ["integer", "null"]}, {}) == {"integer", "null"}


@pytest.mark.parametrize(
    ("value", "rule", "plain", "text"),
    [
        ("00123", {"type": "string"}, True, "00123"),
        (123, {"type": "integer"}, True, "123"),
        ({"a": [True]}, {"type": "object"}, True, '{"a":[true]}'),
        ("12", None, True, "12"),
        ("12", None, False, '"12"'),
        ("x", None, False, "x"),
        (12, None, False, "12"),
        (12, None, True, None),
        (12, {"type": "string"}, True, None),
        ("12", {"type": ["integer", "string"]}, True, None),
        (None, {"type": ["string", "null"]}, True, "null"),
    ],
)
def test_untyped_is_the_way_back(value, rule, plain, text):
    assert untyped(value, rule, {}, plain=plain) == text
    assert text is None or typed(text, rule, {}, plain=plain) == value
