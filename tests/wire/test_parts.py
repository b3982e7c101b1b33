"""Arguments, text and media: each conversion and its way back."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolglot.context import Context
from toolglot.ir import Audio, Image, Inline, Opaque, Remote, Text, ToolCall
from toolglot.wire import jsontext
from toolglot.wire.parts import (
    INVALID_KEY,
    VALUE_KEY,
    arguments_object,
    arguments_text,
    cannot_carry,
    data_url,
    from_url,
    joined_text,
    mark_error,
    unmark_error,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["a", "b", VALUE_KEY, INVALID_KEY]) | st.text(max_size=3),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(
    st.sampled_from(["a", VALUE_KEY, INVALID_KEY]) | st.text(max_size=3), VALUES, max_size=3
)


def call(arguments):
    return ToolCall(id="call_1", name="f", arguments=arguments)


def convert(arguments):
    ctx = Context()
    value = arguments_object(call(arguments), ctx)
    return value, [(note.code, note.path, note.message) for note in ctx.receipt()]


# --- arguments ----------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", ["", "{}", "null"])
def test_no_arguments_are_an_empty_object(arguments):
    assert convert(arguments) == ({}, [])


def test_an_object_is_taken_as_it_is():
    value, notes = convert('{"b": 1.0, "a": 18446744073709551616}')
    assert json.dumps(value) == '{"b": 1.0, "a": 18446744073709551616}'
    assert notes == []


def test_long_decimals_stay_exact():
    text = '{"x":0.1000000000000000055511151231257827}'
    value, notes = convert(text)
    assert arguments_text(value) == text
    assert notes == []


def test_duplicate_keys_do_not_make_arguments_invalid():
    value, [note] = convert('{"a": 1, "a": 2}')
    assert value == {"a": 2}
    assert note[0] == "arguments-normalised"


@pytest.mark.parametrize("arguments", ["7", '"text"', "[1,2]", "true", "1.5"])
def test_a_value_that_is_no_object_is_wrapped_and_unwrapped(arguments):
    value, notes = convert(arguments)
    assert value == {VALUE_KEY: json.loads(arguments)}
    assert notes == [("arguments-wrapped", "call_1", "the arguments of f are not an object")]
    assert arguments_text(value) == arguments


@pytest.mark.parametrize(
    "arguments", ['{"a": ', "hello", "{'a': 1}", "NaN", " ", "[" * 100_000, "1" * 5000, "{}x"]
)
def test_what_is_no_json_is_wrapped_and_unwrapped(arguments):
    value, notes = convert(arguments)
    assert value == {INVALID_KEY: arguments}
    assert notes == [("arguments-invalid", "call_1", "the arguments of f are not JSON")]
    assert arguments_text(value) == arguments


@given(OBJECTS)
@example({VALUE_KEY: {"a": 1}})
@example({VALUE_KEY: None})
@example({INVALID_KEY: "{}"})
@example({INVALID_KEY: ""})
@example({INVALID_KEY: 1})
@example({VALUE_KEY: 1, INVALID_KEY: "x"})
def test_any_object_comes_back_as_it_was(value):
    assert arguments_object(call(arguments_text(value)), Context()) == value


@given(VALUES)
def test_any_value_becomes_a_text_that_is_read_again(value):
    text = jsontext.text(value)
    again = arguments_text(arguments_object(call(text), Context()))
    if isinstance(value, dict) and len(value) == 1 and {VALUE_KEY, INVALID_KEY} & value.keys():
        return
    assert again == ("{}" if value is None else text)


# --- text ---------------------------------------------------------------------------------------


def test_texts_are_joined_and_other_parts_passed_over():
    parts = (Text(text="a"), Image(source=Remote(url="u")), Text(text="b"))
    assert joined_text(parts) == "a\nb"
    assert joined_text(parts, "") == "ab"
    assert joined_text(()) == ""


@given(st.text())
def test_an_error_mark_comes_off_again(text):
    assert unmark_error(mark_error(text)) == (text, True)


@pytest.mark.parametrize("text", ["", "fine", " [tool error] x", "[tool error]"])
def test_a_text_without_the_mark_is_no_error(text):
    assert unmark_error(text) == (text, False)


# --- media --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/a.png",
        "data:text/plain,hello",
        "data:image/png;base64",
        "data:text/plain;base64;charset=x,aGk=",
        "gs://bucket/x",
        "",
    ],
)
def test_a_url_is_something_to_fetch(url):
    assert from_url(url) == Remote(url=url)


@pytest.mark.parametrize(
    ("url", "media_type", "data"),
    [
        ("data:image/png;base64,aGk=", "image/png", "aGk="),
        ("data:;base64,aGk=", "", "aGk="),
        ("data:image/png;base64,", "image/png", ""),
        ("data:text/plain;charset=utf-8;base64,aGk=", "text/plain;charset=utf-8", "aGk="),
        ("data:image/png;base64,a,b", "image/png", "a,b"),
    ],
)
def test_a_data_url_holds_its_bytes(url, media_type, data):
    source = from_url(url)
    assert source == Inline(media_type=media_type, data=data)
    assert data_url(source) == url


@given(st.from_regex(r"[a-z]+/[a-z.+-]+", fullmatch=True), st.binary())
def test_inline_bytes_come_back_from_their_url(media_type, data):
    source = Inline(media_type=media_type, data=data.hex())
    assert from_url(data_url(source)) == source


# --- what does not fit --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        (Audio(source=Remote(url="u")), "audio"),
        (Opaque(protocol="p", type="t", value={}), "opaque"),
    ],
)
def test_leaving_a_part_out_is_noted(part, kind):
    ctx = Context()
    cannot_carry(part, ctx)
    (note,) = ctx.receipt()
    assert (note.code, note.severity, note.path) == ("part-dropped", "unsupported", kind)
    assert note.message == f"the target has no form for this {kind}"


@pytest.mark.parametrize("raw", ["{}", "[1]", "7", ""])
def test_what_only_looks_like_wrapped_arguments_stays(raw):
    """Nothing that is JSON, or empty, would have been wrapped as invalid."""
    value = {INVALID_KEY: raw}
    assert json.loads(arguments_text(value)) == value
    assert arguments_text({INVALID_KEY: "{half"}) == "{half"
