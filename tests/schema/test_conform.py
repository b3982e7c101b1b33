"""Whether values conform to a schema, and where they do not."""

import builtins
import pickle

import pytest

from toolglot import MissingExtraError, Problem, ToolglotError
from toolglot.schema import conform
from toolglot.schema.conform import SchemaError, WrongType, checker, path_of

TRIP = {
    "type": "object",
    "properties": {
        "days": {
            "type": "array",
            "items": {"type": "object", "properties": {"n": {"type": "integer"}}},
        },
        "mode": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    },
    "required": ["days"],
}


def test_problems_have_a_path_and_words():
    problems = checker(TRIP).problems({"days": [{"n": 1}, {"n": "x"}]})
    assert problems == [Problem("days[1].n", '"x" is not of type "integer"')]
    assert str(problems[0]) == 'days[1].n: "x" is not of type "integer"'


def test_the_whole_has_no_path():
    [problem] = checker(TRIP).problems({})
    assert problem.path == ""
    assert str(problem) == problem.message == '"days" is a required property'


def test_wrong_types_are_found_in_branches_too():
    value = {"days": [{"n": "2"}], "mode": "7"}
    assert checker(TRIP).wrong_types(value) == [
        WrongType(("days", 0, "n"), ("integer",)),
        WrongType(("mode",), ("integer", "null")),
    ]


def test_lone_surrogates_are_characters():
    check = checker({"type": "object", "properties": {"a": {"type": "string", "maxLength": 1}}})
    assert check.problems({"a": "\ud83d"}) == []
    assert [p.path for p in check.problems({"a": ["\ud83d"], "\udc00": {"b": "\ud83d"}})] == ["a"]


def test_big_numbers_are_exact():
    assert checker({"properties": {"a": {"maximum": 2**70}}}).problems({"a": 2**70}) == []
    assert checker({"properties": {"a": {"maximum": 2**70}}}).problems({"a": 2**70 + 1})


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "STRING"},
        {"$ref": "https://schemas.example/other.json"},
        {"$ref": "#/$defs/none"},
        {"properties": {"a": {"pattern": "("}}},
    ],
)
def test_schemas_that_cannot_be_read(schema):
    """Nothing is fetched either."""
    with pytest.raises(SchemaError):
        checker(schema)


def test_a_long_value_is_not_quoted_whole():
    [problem] = checker({"properties": {"a": {"type": "integer"}}}).problems({"a": "x" * 9999})
    assert len(problem.message) <= 200


def test_paths():
    assert path_of(["a", 0, "b"]) == "a[0].b"
    assert path_of([0]) == "[0]"
    assert path_of([]) == ""


def test_a_missing_package_says_how_to_get_it(monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name == "jsonschema_rs":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(conform, "import_module", without)
    conform._compiled.cache_clear()
    with pytest.raises(MissingExtraError, match=r"pip install 'toolglot\[validate\]'") as caught:
        checker({"type": "object"})
    assert isinstance(caught.value, ToolglotError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
