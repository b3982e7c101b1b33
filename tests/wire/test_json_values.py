"""JSON values of any shape are read without surprise and named in a sentence."""

from toolglot.wire.json_values import is_count, is_json, joined, member, members, object_of, show


def test_reading_values_of_any_shape():
    assert member({"a": {"b": 1}}, "a", "b") == 1
    assert member({"a": [1]}, "a", "b") is None
    assert member(None, "a") is None
    assert members({"a": [{"b": 1}, 2]}, "a") == [{"b": 1}]
    assert members({"a": {"b": 1}}, "a") == []
    assert [object_of({"a": value}, "a") for value in ({"b": 1}, [1], None)] == [{"b": 1}, {}, {}]
    assert [is_count(value) for value in (0, 7, -1, True, 1.0, "1", None)] == [
        True,
        True,
        *[False] * 5,
    ]
    assert [is_json(text) for text in ("", "{}", "[1", "1")] == [True, True, False, True]


def test_values_in_a_sentence():
    assert [show(value) for value in (None, "a", 7, True, 0.5, {}, [], 10**30)] == [
        "nothing",
        "'a'",
        "7",
        "True",
        "0.5",
        "an object",
        "an array",
        "a large number",
    ]
    assert show("x" * 90) == repr("x" * 60 + "…")
    assert [joined(words) for words in (["a"], ["a", "b"], ["a", "b", "c"])] == [
        "a",
        "a and b",
        "a, b and c",
    ]
