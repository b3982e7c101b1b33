"""Results of pure functions of schemas are remembered by the text of the schema."""

from toolglot.schema.cache import by_text


def counting():
    seen = []

    @by_text
    def keys(schema, suffix=""):
        """The keys of a schema."""
        seen.append(schema)
        return tuple(key + suffix for key in schema)

    return keys, seen


def test_equal_schemas_are_worked_out_once():
    keys, seen = counting()
    assert keys({"a": 1, "b": 2}) == keys({"a": 1, "b": 2}) == ("a", "b")
    assert len(seen) == 1


def test_order_and_further_arguments_count():
    keys, seen = counting()
    assert keys({"b": 2, "a": 1}) == ("b", "a")
    assert keys({"a": 1, "b": 2}) == ("a", "b")
    assert keys({"a": 1, "b": 2}, suffix="!") == ("a!", "b!")
    assert len(seen) == 3


def test_the_function_never_sees_the_callers_object():
    keys, seen = counting()
    schema = {"a": {"b": 1}}
    keys(schema)
    assert seen[0] == schema
    assert seen[0]["a"] is not schema["a"]


def test_a_schema_too_deep_for_text_is_worked_out_all_the_same():
    keys, seen = counting()
    schema: dict = {}
    for _ in range(20_000):
        schema = {"items": schema}
    assert keys(schema) == ("items",)
    assert len(seen) == 1
    while schema:
        schema = schema.pop("items")


def test_the_name_and_words_stay():
    keys, _ = counting()
    assert (keys.__name__, keys.__doc__) == ("keys", "The keys of a schema.")
