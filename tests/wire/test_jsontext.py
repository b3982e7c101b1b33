"""JSON text: nothing is lost, or a `DecodeError` says why."""

import json
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.wire import jsontext

LONE = "\ud800"


def values(texts):
    scalars = (
        st.none()
        | st.booleans()
        | st.integers()
        | st.integers(min_value=-(10**400), max_value=10**400)
        | st.floats(allow_nan=False, allow_infinity=False)
        | texts
    )
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
        max_leaves=12,
    )


# A lone surrogate between letters: two that meet would make one character.
LONE_TEXTS = st.lists(
    st.characters(categories=("Cs",)).map(lambda lone: f"a{lone}b") | st.text(max_size=3),
    max_size=3,
).map("".join)


def same(one, other):
    """Equal, types and key order included: 1 is not 1.0 and not True."""
    return repr(one) == repr(other)


# --- there and back -----------------------------------------------------------------------------


@given(values(st.text()))
@example(2**64)
@example(-(2**63) - 1)
@example(10**4299)
@example([1.0, 1e22, 5e-324, -0.0, 0.1, 1.7976931348623157e308])
@example({"b": 1, "a": 2, "": {}})
@example('\x00\x1f\x7f\N{LINE SEPARATOR}\N{GRINNING FACE}"\\/')
def test_decode_reverses_encode(value):
    assert same(jsontext.decode(jsontext.encode(value)), value)
    assert same(jsontext.decode(jsontext.text(value)), value)
    assert same(jsontext.peek(jsontext.encode(value)), value)


@given(values(st.text()))
def test_decode_reads_what_the_standard_library_writes(value):
    assert same(jsontext.decode(json.dumps(value)), value)
    assert same(jsontext.decode(json.dumps(value, indent=1, ensure_ascii=False)), value)


@given(values(st.text()))
def test_pretty_is_the_same_value(value):
    assert same(jsontext.decode(jsontext.pretty(value)), value)


@given(values(LONE_TEXTS))
@example({LONE: [LONE, {"a": LONE}], "é": "ü"})
@example([{}, [], LONE])
def test_lone_surrogates_survive(value):
    assert same(jsontext.decode(jsontext.encode(value)), value)
    assert same(jsontext.decode(jsontext.pretty(value)), value)
    assert same(jsontext.peek(jsontext.encode(value)), value)


@given(st.binary(max_size=40) | st.text(max_size=40))
@example(b'"\xff"')
@example(b"1e99999999999999999999")
@example(b"-1E-99999999999999999999")
@example(f'"{LONE}"')
def test_any_bytes_are_read_or_refused(data):
    try:
        value = jsontext.decode(data)
    except DecodeError:
        return
    assert same(jsontext.decode(jsontext.encode(value)), value)


def test_encoding_is_compact_and_keeps_the_order_of_keys():
    value = {"b": [1, 2.5, None, True], "a": {"é": "\N{GRINNING FACE}"}}
    text = '{"b":[1,2.5,null,true],"a":{"é":"\N{GRINNING FACE}"}}'
    assert jsontext.text(value) == text
    assert jsontext.encode(value) == text.encode()
    assert jsontext.encode((1, {"a": (2, LONE)})) == b'[1,{"a":[2,"\\ud800"]}]'


def test_pretty_is_indented():
    assert jsontext.pretty({"a": [1]}) == b'{\n  "a": [\n    1\n  ]\n}'


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_decode_takes_any_kind_of_bytes(kind):
    assert jsontext.decode(kind(b'{"a": "\\u00e9"}')) == {"a": "é"}


# --- numbers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "1.0",
        "-0.0",
        "0.1",
        "18446744073709551616",
        "-9223372036854775809",
        "123456789012345678901234567890",
        "0.1000000000000000055511151231257827",
        "123456789012345678901234567890.5",
        "3.14159265358979323846264338327950288",
    ],
)
def test_numbers_stay_as_they_were_written(text):
    assert jsontext.text(jsontext.decode(text)) == text
    beside_a_surrogate = f'{{"a":[{text},"\\ud800"]}}'
    assert jsontext.text(jsontext.decode(beside_a_surrogate)) == beside_a_surrogate


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e5", 100000.0),
        ("1E+2", 100.0),
        ("1.50", 1.5),
        ("1e22", 1e22),
        ("1e400", Decimal("1e400")),
        ("1e-400", Decimal("1e-400")),
        ("0.30000000000000001", Decimal("0.30000000000000001")),
    ],
)
def test_a_decimal_is_a_float_if_that_is_exact(text, value):
    assert same(jsontext.decode(text), value)
    assert jsontext.decode(jsontext.encode(value)) == value


def test_a_number_beyond_floats_is_never_infinite():
    assert jsontext.peek("[1e400]") == [Decimal("1e400")]
    assert jsontext.encode([Decimal("1e400"), LONE]) == b'[1E+400,"\\ud800"]'


# --- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "path", "message"),
    [
        (b"NaN", "", "not JSON: NaN is not JSON"),
        (b'{"a": Infinity}', "", "not JSON: Infinity is not JSON"),
        (b"[-Infinity]", "", "not JSON: -Infinity is not JSON"),
        (b"", "", "not JSON: Expecting value in line 1, column 1"),
        (b'{"a": 1', "", "not JSON: Expecting ',' delimiter in line 1, column 8"),
        (b'{"a":\n tru', "", "not JSON: Expecting value in line 2, column 2"),
        (b'"abc', "", "not JSON: Unterminated string starting at in line 1, column 1"),
        (b"[1,]", "", None),
        (b"{} {}", "", "not JSON: Extra data in line 1, column 4"),
        (b"01", "", "not JSON: Extra data in line 1, column 2"),
        (b'"\x01"', "", "not JSON: Invalid control character at in line 1, column 2"),
        (b"{'a': 1}", "", None),
        (b'"\xff"', "", "not UTF-8: byte 1 is 0xff"),
        (b'{"a": "\xc3"}', "", "not UTF-8: byte 7 is 0xc3"),
        (b'"\xed\xa0\x80"', "", "not UTF-8: byte 1 is 0xed"),
        ('"é"'.encode("latin-1"), "", "not UTF-8: byte 1 is 0xe9"),
        ("{}".encode("utf-16"), "", "not UTF-8: byte 0 is 0xff"),
        (b"1" * 5000, "", None),
        (b'{"a": -' + b"1" * 5000 + b"}", "", None),
        (b"1e" + b"9" * 50, "", "not JSON: a number is out of range"),
        (b"[" * 100_000, "", "nested too deeply to be read"),
        (b"[" * 100_000 + b"]" * 100_000, "", "nested too deeply to be read"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "", "nested too deeply to be read"),
        (b' "\\u00e9"' + b"[" * 100_000, "", None),
        (b'["\\ud800",' + b"[" * 100_000 + b"]" * 100_001, "", "nested too deeply to be read"),
        (b'{"a": 1, "a": 1}', "a", "the key is there twice"),
        (b'{"a": {"b": [0, 1, {"c": 1, "d": 2, "c": 3}]}}', "a.b[2].c", "the key is there twice"),
        (b'[[{"a": 1, "\\u0061": 2}]]', "[0][0].a", "the key is there twice"),
        (b'{"x": {"b": 1, "b": 2}, "y": {"c": 1, "c": 2}}', "x.b", "the key is there twice"),
        (b'{"\\ud800": {"a": 1, "a": 2}}', "\\ud800.a", "the key is there twice"),
    ],
)
def test_refusals(data, path, message):
    with pytest.raises(DecodeError) as caught:
        jsontext.decode(data)
    assert caught.value.path == path
    assert message is None or caught.value.message == message


@pytest.mark.parametrize(
    "data",
    [b"NaN", b"", b'{"a": 1', b'"\xff"', b"1" * 5000, b"[" * 100_000, b"1e" + b"9" * 50, "{'a'}"],
)
def test_peek_refuses_with_a_value_error(data):
    with pytest.raises(ValueError):
        jsontext.peek(data)


def test_peek_takes_the_last_of_duplicate_keys():
    assert jsontext.peek(b'{"a": 1, "a": 2}') == {"a": 2}


def test_a_value_too_deep_to_be_written_is_refused():
    value = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(DecodeError, match="nested too deeply to be written"):
        jsontext.encode(value)


# --- notes --------------------------------------------------------------------------------------


def notes(data):
    ctx = Context()
    jsontext.decode(data, ctx)
    return [(note.code, note.severity, note.path) for note in ctx.receipt()]


def test_lone_surrogates_are_noted_where_they_are():
    data = b'{"a": {"b": ["x", "\\ud800"]}, "c": "\\udfff!", "\\ud800": 1}'
    assert notes(data) == [
        ("surrogate-kept", "info", "\\ud800"),
        ("surrogate-kept", "info", "a.b[1]"),
        ("surrogate-kept", "info", "c"),
    ]


def test_a_lone_surrogate_in_a_string_is_noted_too():
    assert notes(f'["{LONE}"]') == [("surrogate-kept", "info", "[0]")]


@pytest.mark.parametrize("data", [b'{"a": "\\u00e9"}', b'["\\ud83d\\ude00"]', b"1e5", b'{"a":1}'])
def test_ordinary_text_needs_no_note(data):
    assert notes(data) == []


def test_spaced():
    assert jsontext.spaced({"a": [1, {"b": "é"}], "c": {}}) == '{"a": [1, {"b": "é"}], "c": {}}'
    assert json.loads(jsontext.spaced({"a": LONE})) == {"a": LONE}


def test_members_and_elements_are_not_read_until_asked_for():
    data = b'{"a": [1, {"b":  1.0}], "c": 7}'
    found = jsontext.members(data)
    assert jsontext.encode(found) == b'{"a":[1, {"b":  1.0}],"c":7}'
    first, second = jsontext.elements(found["a"])
    assert jsontext.read(first) == 1
    assert bytes(second) == b'{"b":  1.0}'
    assert jsontext.read(second) == {"b": 1.0}
    assert jsontext.read(None) is None


def test_members_that_must_be_read_are():
    """A lone surrogate, which the fast reader refuses."""
    found = jsontext.members(b'{"a": "\\ud800", "b": ["\\udc00"]}')
    assert jsontext.read(found["a"]) == "\ud800"
    assert jsontext.encode(found) == b'{"a":"\\ud800","b":["\\udc00"]}'
    assert jsontext.elements(b'["\\ud800"]') == ["\ud800"]


@pytest.mark.parametrize(("part", "data"), [("members", b"[1]"), ("elements", b'{"a":1}')])
def test_parts_of_something_else(part, data):
    with pytest.raises(DecodeError, match="expected a JSON"):
        getattr(jsontext, part)(data)


@pytest.mark.parametrize(
    "data",
    [b'{"a":1,"a":2}', b'{"b":1,"a":2,"b":3}', b'{"b\\u003ac":1,"a":2}', b'{"b":2}', b"[]", b"{"],
)
def test_what_is_not_split(data):
    assert jsontext.split(data, "a") is None


@pytest.mark.parametrize("data", [b'{"a":1,"b":":"}', b' {"b" : ":", "\\u0061":1}'])
def test_split_in_any_spelling(data):
    assert jsontext.split(data, "a") == jsontext.Split(b"1", b'{"b":":"}')


@pytest.mark.parametrize(
    "data", [b'{"\\u003a":{"x":1},"a":1,"a":{"x":2}}', b'{"k":"\\u003A\\u003a","k":":"}']
)
def test_escaped_colons_hide_no_duplicate_key(data):
    with pytest.raises(DecodeError, match="twice"):
        jsontext.decode(data)


SPELLINGS = [
    {"separators": (",", ":")},
    {},
    {"indent": 2},
    {"indent": "\t"},
    {"separators": (" ,\n", " : ")},
]


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("doubled", ["", ', "model": "two"', ',"model":1', ',\n  "model": "two"'])
def test_an_object_is_split_in_every_spelling_unless_a_key_is_there_twice(spelling, doubled):
    value = {"model": "a: b", "tools": [{"name": "é", "n": 1}], "é": {}, "stream": True}
    text = json.dumps(value, ensure_ascii=False, **spelling)
    if doubled:
        text = text[:-1].rstrip() + doubled + "}"
    found = jsontext.split(text.encode(), "tools")
    if doubled:
        assert found is None
        return
    assert found is not None
    assert json.loads(found.member) == value.pop("tools")
    assert json.loads(found.rest) == value
