"""Which parameters are truly required: the rules one by one, and how the schema is treated."""

import copy
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.schema.required import MARKERS, filter_required

MORE_MARKERS = (
    "set to true to",
    "set to false to",
    "if provided",
    "when provided",
    "can be omitted",
    "not required",
)
OPTIONAL = {"type": "string", "description": "(optional)"}
PLAIN = {"type": "string", "description": "a name"}


def with_property(**schema):
    """A schema with one plain parameter and one to be judged, both listed as required."""
    return {
        "type": "object",
        "properties": {"plain": PLAIN, "judged": schema},
        "required": ["plain", "judged"],
    }


def stays(*, markers=MARKERS, booleans=False, **schema):
    filtered, removed = filter_required(with_property(**schema), markers=markers, booleans=booleans)
    assert filtered["required"] == (["plain"] if removed else ["plain", "judged"])
    assert removed in ((), ("judged",))
    return not removed


def described(words, **options):
    return stays(type="string", description=words, **options)


# --- the examples -------------------------------------------------------------------------------


def test_get_weather_requires_a_location_only():
    """S0-07: the unit of the weather example is described as optional with a default."""
    schema = {
        "type": "object",
        "properties": {
            "location": {
                "type": "string",
                "description": "The city and state, e.g. San Francisco, CA",
            },
            "units": {
                "type": "string",
                "enum": ["celsius", "fahrenheit"],
                "description": "Temperature units (optional, defaults to fahrenheit)",
            },
        },
        "required": ["location", "units"],
    }
    filtered, removed = filter_required(schema)
    assert filtered == {**schema, "required": ["location"]}
    assert removed == ("units",)


def test_reading_a_file_requires_its_path_only():
    """S0-21: offset and limit are told to be given only if needed, or to have a default."""
    schema = {
        "type": "object",
        "properties": {
            "file_path": {"type": "string", "description": "The path to the file"},
            "offset": {
                "type": "number",
                "description": "Line to start from. Only provide if file is too large.",
            },
            "limit": {"type": "number", "description": "Lines to read. Defaults to 100."},
        },
        "required": ["file_path", "offset", "limit"],
    }
    filtered, removed = filter_required(schema)
    assert filtered["required"] == ["file_path"]
    assert removed == ("offset", "limit")


# --- the rules ----------------------------------------------------------------------------------


def test_nothing_becomes_required():
    """S0-13: a parameter that was not listed is never added."""
    schema = {"type": "object", "properties": {"a": PLAIN, "b": PLAIN}, "required": ["b"]}
    assert filter_required(schema) == (schema, ())
    bare = {"type": "object", "properties": {"a": PLAIN}}
    assert filter_required(bare) == (bare, ())


def test_a_listed_parameter_without_schema_stays():
    """S0-13: listed and not described means required."""
    schema = {"type": "object", "properties": {"a": PLAIN}, "required": ["a", "ghost"]}
    assert filter_required(schema) == (schema, ())


@pytest.mark.parametrize("default", [None, False, 0, "", [], {}, 100, "x"])
def test_a_default_makes_optional(default):
    """S0-14: the presence of the key decides, whatever its value."""
    assert not stays(type="string", default=default)


@pytest.mark.parametrize("nullable", [False, None, "true", 1])
def test_only_nullable_true_makes_optional(nullable):
    """S0-15: `nullable: true` makes optional, and nothing else does."""
    assert not stays(type="string", nullable=True)
    assert stays(type="string", nullable=nullable)


@pytest.mark.parametrize(
    "words", ["optional", "An optional name", "Name; optional.", "name\n(may be empty, optional)"]
)
def test_the_word_optional(words):
    """S0-16: a description that says optional."""
    assert not described(words)


@pytest.mark.parametrize("words", ["(optional)", "Name (optional)", "[optional] name"])
def test_the_word_optional_in_brackets(words):
    """S0-17: a description that says so in brackets."""
    assert not described(words)


@pytest.mark.parametrize(
    "words", ["defaults to 5", "Name, defaults to x", "name, defaults\n  to x"]
)
def test_the_words_defaults_to(words):
    """S0-18: a description that names a default."""
    assert not described(words)


def test_the_words_if_not_specified():
    """S0-19: a description that says what happens without the parameter."""
    assert not described("The current directory is used if not specified")


@pytest.mark.parametrize("marker", MARKERS)
def test_case_does_not_matter(marker):
    """S0-20: a marker counts in any mix of cases."""
    for words in (marker, marker.upper(), marker.title(), marker.capitalize(), marker.swapcase()):
        assert not described(f"Text. {words} 100.")


@pytest.mark.parametrize("marker", MORE_MARKERS)
def test_further_markers_count_if_asked_for(marker):
    """S0-22: the list of markers is the caller's to choose."""
    words = f"This, {marker}, is used."
    assert described(words)
    assert not described(words, markers=(*MARKERS, *MORE_MARKERS))
    assert not described(words, markers=(marker,))


def test_markers_are_taken_literally():
    """S0-22: a marker of the caller is a text, not a pattern."""
    assert not described("A name [may be left out]", markers=("[may be left out]",))
    assert not described("really? maybe", markers=("really?",))
    assert described("real", markers=("really?",))
    assert described("anything", markers=(".*",))


@pytest.mark.parametrize("markers", [(), ("",), (" ",)])
def test_without_markers_words_do_not_count(markers):
    """S0-22: an empty list switches the words off, and only the words."""
    assert described("optional, defaults to 5", markers=markers)
    assert not stays(type="string", default=1, markers=markers)


def test_booleans_are_required_unless_asked_otherwise():
    """S0-22: the rule that every boolean is optional is off by default."""
    assert stays(type="boolean", description="whether to")
    assert not stays(type="boolean", description="whether to", booleans=True)
    assert stays(type="string", description="whether to", booleans=True)


def test_the_key_goes_with_the_last_requirement():
    """S0-23: no empty `required` is left behind."""
    schema = {"type": "object", "properties": {"a": OPTIONAL}, "required": ["a"], "title": "t"}
    filtered, removed = filter_required(schema)
    assert filtered == {"type": "object", "properties": {"a": OPTIONAL}, "title": "t"}
    assert removed == ("a",)


def test_a_required_that_was_empty_is_left_alone():
    schema = {"type": "object", "properties": {}, "required": []}
    assert filter_required(schema)[0] is schema


INNER = {"type": "object", "properties": {"a": PLAIN, "b": OPTIONAL}, "required": ["a", "b"]}
FILTERED = {"type": "object", "properties": {"a": PLAIN, "b": OPTIONAL}, "required": ["a"]}


@pytest.mark.parametrize(
    "place",
    [
        lambda inner: {"properties": {"x": inner}},
        lambda inner: {"properties": {"x": {"properties": {"y": inner}}}},
        lambda inner: {"type": "array", "items": inner},
        lambda inner: {"type": "array", "items": [PLAIN, inner]},
        lambda inner: {"properties": {"x": {"type": "array", "items": inner}}},
        lambda inner: {"anyOf": [{"type": "null"}, inner]},
        lambda inner: {"oneOf": [inner, True]},
        lambda inner: {"allOf": [inner]},
        lambda inner: {"prefixItems": [PLAIN, inner]},
        lambda inner: {"$defs": {"Point": inner}},
        lambda inner: {"definitions": {"Point": inner}},
        lambda inner: {"patternProperties": {"^x": inner}},
        lambda inner: {"additionalProperties": inner},
        lambda inner: {"then": inner, "else": inner},
        lambda inner: {"properties": {"items": inner, "required": PLAIN, "default": PLAIN}},
        lambda inner: {"properties": {"x": {"anyOf": [{"items": inner}]}}, "$defs": {"D": inner}},
    ],
)
def test_nested_schemas_are_filtered_too(place):
    """S0-24: wherever a schema can stand inside another."""
    filtered, removed = filter_required(place(INNER))
    assert filtered == place(FILTERED)
    assert set(removed) == {"b"}
    plain = place({"type": "object", "properties": {"a": PLAIN}, "required": ["a"]})
    assert filter_required(plain)[0] is plain


@pytest.mark.parametrize("key", ["default", "enum", "const", "examples", "x-anything", "if", "not"])
def test_values_and_conditions_are_left_alone(key):
    """S0-24: what only looks like a schema, or states a condition, is not filtered."""
    schema = {"type": "object", key: INNER}
    assert filter_required(schema)[0] is schema


def test_both_levels_are_filtered_and_named_from_the_outside_in():
    """S0-24: an optional object may hold optional members."""
    schema = {
        "type": "object",
        "properties": {"outer": {**INNER, "description": "optional"}, "p": PLAIN},
        "required": ["outer", "p"],
    }
    filtered, removed = filter_required(schema)
    assert filtered["required"] == ["p"]
    assert filtered["properties"]["outer"]["required"] == ["a"]
    assert removed == ("outer", "b")


@given(st.permutations("abcdefgh"), st.sets(st.sampled_from("abcdefgh")))
def test_the_order_stays(names, optional):
    """S0-25: what stays required stays in its order, and the same input gives the same output."""
    schema = {
        "type": "object",
        "properties": {name: OPTIONAL if name in optional else PLAIN for name in sorted(names)},
        "required": list(names),
    }
    filtered, removed = filter_required(schema)
    assert filtered.get("required", []) == [name for name in names if name not in optional]
    assert removed == tuple(name for name in names if name in optional)
    assert repr(filter_required(schema)) == repr((filtered, removed))


def test_the_order_of_keys_stays():
    """S0-25: keys keep their places, so that equal requests are equal bytes."""
    schema = {"required": ["a", "b"], "z": 1, "properties": {"b": OPTIONAL, "a": PLAIN}, "y": 2}
    filtered, _ = filter_required({**schema, "items": INNER})
    assert list(filtered) == [*schema, "items"]
    assert list(filtered["properties"]) == ["b", "a"]


@pytest.mark.parametrize(
    "words",
    [
        "This is NOT optional",
        "required; there is no optional form",
        "This isn't optional.",
        "This isn\N{RIGHT SINGLE QUOTATION MARK}t optional.",
        "never optional",
        "non-optional",
        "not  an\noptional parameter",
        "no longer optional",
        "Optionally quoted text to search for",
        "The optionality of it",
        "The option to choose",
        "defaults together",
        "",
    ],
)
def test_what_is_not_optional_stays(words):
    """S0-26: a denial, or another word, does not make optional."""
    assert described(words)


# --- how the schema is treated ------------------------------------------------------------------

SCHEMAS = st.recursive(
    st.sampled_from([PLAIN, OPTIONAL, {"default": 1}, True, {}, None, 5]),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(st.sampled_from("ab"), inner) | st.just([]),
            "required": st.lists(st.sampled_from(["a", "b", "c", 1, None, ("a",)]), max_size=4)
            | st.just("a"),
            "items": inner | st.lists(inner, max_size=2),
            "anyOf": st.lists(inner, max_size=2) | st.just({}),
            "$defs": st.dictionaries(st.sampled_from("xy"), inner) | st.none(),
            "description": st.sampled_from(["optional", "a name"]) | st.none(),
        },
    ),
    max_leaves=8,
).filter(lambda schema: isinstance(schema, dict))


@given(SCHEMAS)
def test_the_input_is_never_changed(schema):
    before = copy.deepcopy(schema)
    filter_required(schema)
    assert schema == before


@given(SCHEMAS)
def test_twice_is_once_and_unchanged_is_the_same_object(schema):
    filtered, removed = filter_required(schema)
    assert (filtered is schema) is (not removed)
    again, more = filter_required(filtered)
    assert again is filtered
    assert more == ()


def test_what_did_not_change_is_shared_not_copied():
    schema = {"properties": {"same": PLAIN, "x": INNER}, "$defs": {"D": PLAIN}}
    filtered, _ = filter_required(schema)
    assert filtered["$defs"] is schema["$defs"]
    assert filtered["properties"]["same"] is PLAIN
    assert filtered["properties"]["x"]["properties"] is INNER["properties"]


def test_numbers_in_a_filtered_schema_stay_exact():
    bound = {"type": "number", "maximum": Decimal("0.1000000000000000055511151231257827")}
    schema = {"properties": {"a": bound, "b": OPTIONAL}, "required": ["a", "b"]}
    filtered, _ = filter_required(schema)
    assert filtered == {**schema, "required": ["a"]}


def test_the_same_schema_under_other_rules_is_filtered_by_those():
    schema = with_property(type="boolean", description="if provided")
    assert filter_required(schema)[1] == ()
    assert filter_required(schema, booleans=True)[1] == ("judged",)
    assert filter_required(schema, markers=MORE_MARKERS)[1] == ("judged",)
    assert filter_required(schema)[1] == ()


@pytest.mark.parametrize("required", ["a", {"a": 1}, None, True, 1])
def test_a_required_that_is_no_list_is_left_alone(required):
    schema = {"properties": {"a": OPTIONAL}, "required": required}
    assert filter_required(schema)[0] is schema


def test_entries_that_are_no_names_stay():
    schema = {"properties": {"a": OPTIONAL}, "required": [["a"], 1, None, "a", "a"]}
    filtered, removed = filter_required(schema)
    assert filtered["required"] == [["a"], 1, None]
    assert removed == ("a", "a")


@pytest.mark.parametrize("schema", [True, False, None, []])
def test_what_is_no_schema_is_returned(schema):
    assert filter_required(schema) == (schema, ())


@pytest.mark.parametrize(
    ("wrap", "unwrap"),
    [
        (lambda inner: {"properties": {"x": inner}}, lambda outer: outer["properties"]["x"]),
        (lambda inner: {"items": inner}, lambda outer: outer["items"]),
        (lambda inner: {"anyOf": [inner]}, lambda outer: outer["anyOf"][0]),
    ],
    ids=["properties", "items", "anyOf"],
)
def test_a_schema_may_be_nested_five_thousand_deep(wrap, unwrap):
    changed, same = INNER, PLAIN
    for _ in range(5000):
        changed, same = wrap(changed), wrap(same)
    assert filter_required(same)[0] is same
    filtered, removed = filter_required(changed)
    for _ in range(5000):
        filtered = unwrap(filtered)
    assert filtered == FILTERED
    assert removed == ("b",)


def test_a_schema_may_be_wide():
    names = [f"p{number}" for number in range(20_000)]
    schema = {"properties": dict.fromkeys(names, OPTIONAL), "required": names}
    assert filter_required(schema)[1] == tuple(names)
