"""Typed reading of objects: messages, paths, and the rest that nobody took."""

from collections import OrderedDict
from decimal import Decimal
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.ir import NO_EXTRAS
from toolglot.surface import MediaSupport, MessageSupport, Surface
from toolglot.wire.fields import Fields, WireDocument, kind_of, merge, read_settings, write_settings

MINOR = frozenset({"object"})

A = Surface(
    name="a",
    path="/a",
    settings={},
    messages=MessageSupport(
        path="messages",
    ),
    media=MediaSupport(
        accepted={},
    ),
)
B = Surface(
    name="b",
    path="/b",
    settings={},
    messages=MessageSupport(
        path="messages",
    ),
    media=MediaSupport(
        accepted={},
    ),
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3)


@pytest.fixture
def ctx():
    return Context(source=A, target=B)


def fields(value, ctx=None):
    return Fields(value, WireDocument(ctx or Context(), "a", MINOR))


def notes(ctx):
    return [(note.code, note.path) for note in ctx.receipt()]


# --- the readers --------------------------------------------------------------------------------

READERS = {
    "text": ("string", "x"),
    "maybe_text": ("string", "x"),
    "maybe_bool": ("boolean", False),
    "maybe_int": ("int", 7),
    "maybe_number": ("number", 0.5),
    "maybe_object": ("object", {"b": 1}),
    "maybe_list": ("array", [1, "b"]),
    "maybe_texts": ("array", ["x", "y"]),
    "fields": ("object", {"b": 1}),
    "maybe_fields": ("object", {"b": 1}),
}


def plain(value):
    return value.whole() if isinstance(value, Fields) else value


@pytest.mark.parametrize("reader", READERS)
def test_a_reader_takes_its_value_once(reader):
    _, value = READERS[reader]
    wire = fields({"k": value, "other": 1})
    assert plain(getattr(wire, reader)("k")) == (tuple(value) if reader == "maybe_texts" else value)
    assert "k" not in wire
    assert wire.rest() == {"a": {"other": 1}}


@pytest.mark.parametrize("reader", [name for name in READERS if name.startswith("maybe")])
def test_null_counts_as_absent_and_stays_in_the_rest(reader):
    wire = fields({"k": None})
    assert getattr(wire, reader)("k") is None
    assert getattr(wire, reader)("missing") is None
    assert wire.rest() == {"a": {"k": None}}


@pytest.mark.parametrize("reader", ["text", "fields"])
def test_what_must_be_there_is_missing_or_null(reader):
    wanted, _ = READERS[reader]
    with pytest.raises(DecodeError, match=rf"^k: expected {wanted}, but it is missing$"):
        getattr(fields({}), reader)("k")
    with pytest.raises(DecodeError, match=rf"^k: expected {wanted}, got null$"):
        getattr(fields({"k": None}), reader)("k")


KINDS = {
    "string": "x",
    "boolean": True,
    "int": 1,
    "number": 1.5,
    "array": [1],
    "object": {"x": 1},
}


@pytest.mark.parametrize(
    ("reader", "kind"),
    [
        (reader, kind)
        for reader, (wanted, _) in READERS.items()
        for kind in KINDS
        if kind != wanted and (reader, kind) != ("maybe_number", "int")
    ],
)
def test_a_wrong_type_is_named_with_its_path(reader, kind):
    wanted, _ = READERS[reader]
    outer = fields({"messages": [{}, {"content": {"k": KINDS[kind]}}]})
    inner = list(outer.each("messages"))[1].fields("content")
    with pytest.raises(DecodeError) as caught:
        getattr(inner, reader)("k")
    assert str(caught.value) == f"messages[1].content.k: expected {wanted}, got {kind}"
    assert caught.value.path == "messages[1].content.k"


def test_the_message_of_the_documentation():
    wire = fields({"messages": [{}, {}, {}, {"content": [{}, {"text": 7}]}]})
    part = list(list(wire.each("messages"))[3].each("content"))[1]
    with pytest.raises(DecodeError) as caught:
        part.text("text")
    assert str(caught.value) == "messages[3].content[1].text: expected string, got int"


@pytest.mark.parametrize(
    ("value", "expected"), [(8, 8), (8.0, 8), (-0.0, 0), (1e22, 10**22), (2**70, 2**70)]
)
def test_an_integer_may_be_written_as_a_decimal(value, expected):
    taken = fields({"k": value}).maybe_int("k")
    assert taken == expected
    assert type(taken) is int


@pytest.mark.parametrize("value", [8.5, Decimal("1e400"), Decimal("0.30000000000000001")])
def test_a_fraction_is_no_integer(value):
    with pytest.raises(DecodeError, match="k: expected int, got number"):
        fields({"k": value}).maybe_int("k")


@pytest.mark.parametrize("value", [1, 1.0, 2**70, 0, Decimal("0.30000000000000001")])
def test_a_number_stays_what_it_is(value):
    taken = fields({"k": value}).maybe_number("k")
    assert taken == value
    assert type(taken) is type(value)


def test_texts_name_the_one_that_is_wrong():
    with pytest.raises(DecodeError, match=r"^k\[1\]: expected string, got null$"):
        fields({"k": ["x", None]}).maybe_texts("k")


def test_each_names_the_one_that_is_wrong():
    wire = fields({"k": [{}, 5]})
    with pytest.raises(DecodeError, match=r"^k\[1\]: expected object, got int$"):
        list(wire.each("k"))
    assert list(fields({}).each("k")) == []
    assert list(fields({"k": None}).each("k")) == []
    with pytest.raises(DecodeError, match=r"^k: expected array, got object$"):
        list(fields({"k": {}}).each("k"))


def test_an_element_of_a_list_taken_whole_knows_its_place():
    wire = fields({"k": ["text", {"x": 1}]})
    values = wire.maybe_list("k")
    element = wire.element(values[1], "k", 1)
    assert element.path("x") == "k[1].x"
    with pytest.raises(DecodeError, match=r"^k\[0\]: expected object, got string$"):
        wire.element(values[0], "k", 0)


@pytest.mark.parametrize("value", [None, 1, "x", [], True])
def test_the_document_must_be_an_object(value):
    with pytest.raises(DecodeError) as caught:
        fields(value)
    assert caught.value.path == ""
    assert str(caught.value) == f"expected object, got {kind_of(value)}"


@pytest.mark.parametrize("kind", [OrderedDict, MappingProxyType])
def test_any_mapping_is_an_object(kind):
    assert fields(kind({"k": "x"})).text("k") == "x"


def test_fail_and_note_know_the_place(ctx):
    inner = fields({"k": {}}, ctx).fields("k")
    with pytest.raises(DecodeError, match=r"^k\.x: no such thing$"):
        inner.fail("x", "no such thing")
    inner.note("legacy-upgraded", "y", "old")
    inner.note("legacy-upgraded")
    assert notes(ctx) == [("legacy-upgraded", "k.y"), ("legacy-upgraded", "k")]


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("x", "string"),
        (True, "boolean"),
        (1, "int"),
        (1.5, "number"),
        (Decimal(1), "number"),
        ([], "array"),
        ({}, "object"),
        (None, "null"),
        ((), "tuple"),
    ],
)
def test_kinds(value, name):
    assert kind_of(value) == name


# --- asking, and taking anything ----------------------------------------------------------------


def test_peek_leaves_and_take_takes():
    wire = fields({"k": [1], "n": None})
    assert wire.peek("k") == [1]
    assert "k" in wire
    assert wire.take("k") == [1]
    assert "k" not in wire
    assert wire.take("k") is None
    assert wire.take("n") is None
    assert "n" in wire
    assert wire.peek("missing") is None


def test_a_constant_is_taken_only_if_it_says_so():
    wire = fields({"type": "message", "role": "user", "n": None})
    wire.constant("type", "message")
    wire.constant("role", "assistant")
    wire.constant("missing", "x")
    wire.constant("missing", None)
    wire.constant("n", None)
    assert wire.rest() == {"a": {"role": "user"}}


def test_whole_is_a_copy_of_what_is_left():
    wire = fields({"k": 1, "l": 2})
    wire.take("k")
    whole = wire.whole()
    whole["m"] = 3
    assert wire.rest() == {"a": {"l": 2}}


# --- the rest -----------------------------------------------------------------------------------


def test_nothing_left_is_no_extras(ctx):
    wire = fields({"k": 1}, ctx)
    wire.take("k")
    assert wire.rest() == NO_EXTRAS
    assert notes(ctx) == []


def test_what_nobody_took_is_kept_and_noted(ctx):
    wire = fields({"messages": [{"k": "x", "new": {"y": 1}, "object": "z"}], "top": 0}, ctx)
    (message,) = wire.each("messages")
    message.text("k")
    assert message.rest() == {"a": {"new": {"y": 1}, "object": "z"}}
    assert wire.rest() == {"a": {"top": 0}}
    assert notes(ctx) == [
        ("field-unknown", "messages[0].new"),
        ("field-minor", "messages[0].object"),
        ("field-unknown", "top"),
    ]


@pytest.mark.parametrize("reader", ["maybe_list", "maybe_texts"])
def test_an_empty_list_is_read_and_stays_in_the_rest(ctx, reader):
    wire = fields({"k": []}, ctx)
    assert getattr(wire, reader)("k") in ([], ())
    assert wire.rest() == {"a": {"k": []}}
    assert notes(ctx) == []


def test_an_empty_object_is_read_and_stays_in_the_rest(ctx):
    wire = fields({"k": {}}, ctx)
    assert wire.maybe_fields("k").rest() == NO_EXTRAS
    assert wire.rest() == {"a": {"k": {}}}
    assert notes(ctx) == []


@given(OBJECTS)
def test_reading_never_changes_the_input(value):
    before = repr(value)
    wire = fields(value)
    for key in "abc":
        wire.take(key)
    merge(wire.whole(), wire.rest(), "a")
    assert repr(value) == before


@given(OBJECTS, st.sets(st.sampled_from("abc")))
def test_what_is_taken_and_what_is_left_make_the_whole(value, keys):
    wire = fields(value)
    taken = {key: got for key in sorted(keys) if (got := wire.take(key)) is not None}
    assert merge(taken, wire.rest(), "a") == value


def test_respell_sees_every_object_first():
    def lower(value, at):
        return {key.lower(): child for key, child in value.items()}

    home = WireDocument(Context(), "a", normalise=lower)
    wire = Fields({"Outer": {"INNER": "x"}}, home)
    assert wire.fields("outer").text("inner") == "x"


# --- absorbing ----------------------------------------------------------------------------------


def test_a_parent_absorbs_what_is_left_of_its_members(ctx):
    wire = fields({"k": {"x": 1, "y": {"z": 2, "w": 3}}, "other": True}, ctx)
    inner = wire.fields("k")
    assert inner.maybe_int("x") == 1
    innermost = inner.fields("y")
    assert innermost.maybe_int("z") == 2
    inner.absorb(innermost)
    wire.absorb(inner)
    assert wire.rest() == {"a": {"other": True, "k": {"y": {"w": 3}}}}
    assert notes(ctx) == [("field-unknown", "k.y.w"), ("field-unknown", "other")]


def test_absorbing_what_is_empty_adds_nothing(ctx):
    wire = fields({"k": {"x": 1}}, ctx)
    inner = wire.fields("k")
    inner.take("x")
    wire.absorb(inner)
    assert wire.rest() == NO_EXTRAS


def test_absorbed_members_come_back_by_merging():
    value = {"k": {"x": 1, "new": 2}, "l": {"y": None}}
    wire = fields(value)
    for key in ("k", "l"):
        inner = wire.fields(key)
        inner.take("x")
        wire.absorb(inner)
    assert merge({"k": {"x": 1}}, wire.rest(), "a") == value


# --- merging ------------------------------------------------------------------------------------


def test_merge_adds_only_its_own_protocols_extras():
    extras = {"a": {"x": 1}, "b": {"y": 2}}
    assert merge({"k": 0}, extras, "a") == {"k": 0, "x": 1}
    assert merge({"k": 0}, extras, "c") == {"k": 0}
    assert merge({"k": 0}, NO_EXTRAS, "a") == {"k": 0}


def test_merge_goes_deep_and_never_overrides():
    extras = {"a": {"k": {"x": 0, "y": {"z": 1, "w": 2}}, "list": [9], "n": 5}}
    wire = {"k": {"x": 1, "y": {"z": None}}, "list": [], "n": None}
    assert merge(wire, extras, "a") == {
        "k": {"x": 1, "y": {"z": None, "w": 2}},
        "list": [],
        "n": None,
    }
    assert extras == {"a": {"k": {"x": 0, "y": {"z": 1, "w": 2}}, "list": [9], "n": 5}}


@given(OBJECTS, OBJECTS)
def test_merge_keeps_what_was_written_and_changes_no_extras(wire, own):
    before = repr((wire, own))
    merged = merge({"k": wire}, {"a": {"k": own}}, "a")
    assert repr((wire, own)) == before
    assert_holds(merged["k"], wire)
    assert set(merged["k"]) == set(wire) | set(own)


def assert_holds(merged, wire):
    for key, value in wire.items():
        if isinstance(value, dict):
            assert_holds(merged[key], value)
        else:
            assert merged[key] == value


def test_merge_does_not_touch_a_member_that_others_share():
    schema = {"type": "object"}
    merge({"parameters": schema}, {"a": {"parameters": {"title": "x"}}}, "a")
    assert schema == {"type": "object"}


# --- settings -----------------------------------------------------------------------------------

TABLE = (
    ("name", "Name", "text"),
    ("on", "isOn", "bool"),
    ("count", "n", "int"),
    ("heat", "temperature", "number"),
    ("map", "bias", "object"),
    ("stop", "stops", "texts"),
)


class Settings(Struct):
    name: str | None = None
    on: bool | None = None
    count: int | None = None
    heat: float | None = None
    map: dict[str, int] | None = None
    stop: tuple[str, ...] | None = None


WIRE = {
    "Name": "",
    "isOn": False,
    "n": 0,
    "temperature": 0,
    "bias": {"7": 1},
    "stops": ["x"],
}


def test_settings_are_read_and_written_by_one_table():
    wire = fields({**WIRE, "more": 1})
    found = read_settings(wire, TABLE)
    assert found == {
        "name": "",
        "on": False,
        "count": 0,
        "heat": 0,
        "map": {"7": 1},
        "stop": ("x",),
    }
    assert wire.rest() == {"a": {"more": 1}}
    written = {}
    write_settings(written, Settings(**found), TABLE)
    assert written == WIRE
    assert type(written["stops"]) is list


def test_settings_that_are_absent_or_null_are_neither_read_nor_written():
    wire = fields({"Name": None})
    assert read_settings(wire, TABLE) == {}
    assert wire.rest() == {"a": {"Name": None}}
    written = {}
    write_settings(written, Settings(), TABLE)
    assert written == {}


def test_a_setting_of_the_wrong_type_is_refused():
    with pytest.raises(DecodeError, match=r"^isOn: expected boolean, got string$"):
        read_settings(fields({"isOn": "yes"}), TABLE)
