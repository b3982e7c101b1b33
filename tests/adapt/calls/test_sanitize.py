"""Control characters in arguments."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wires import answer, call, parts_of, seen, shown

from toolglot import ir
from toolglot.adapt.calls.sanitize import sanitize_arguments, sanitize_text


def test_c0_spares_tabs_and_line_ends():
    """S3-31, D-17: and carriage returns, since files have them."""
    text = json.dumps({"a": "x\0y\x1b[0m\t\r\n\b\f."})
    assert sanitize_arguments(text, "c0") == (json.dumps({"a": "xy[0m\t\r\n."}), 4)


def test_nul_takes_out_nothing_else():
    """D-17"""
    text = json.dumps({"a": "x\0y\x1b\b"})
    assert sanitize_arguments(text, "nul") == (json.dumps({"a": "xy\x1b\b"}), 1)


def test_off_is_the_same_text():
    """D-17"""
    text = json.dumps({"a": "\0\x1b"})
    assert sanitize_arguments(text, "off") == (text, 0)
    assert sanitize_text("\0", "off") == ("\0", 0)


def test_nested_values_are_reached_and_keys_stay():
    """S3-32"""
    text = json.dumps({"k\0": {"l": ["\0", {"m\0": "\0\0"}]}, "n": "ok"})
    clean, count = sanitize_arguments(text, "nul")
    assert json.loads(clean) == {"k\0": {"l": ["", {"m\0": ""}]}, "n": "ok"}
    assert count == 3


def test_everything_else_stays_byte_for_byte():
    text = r'{ "b" : 1.0, "a": "\\u0000 \"\u0000\" \u00e9", "a": 12345678901234567890 }'
    clean, count = sanitize_arguments(text, "c0")
    assert clean == r'{ "b" : 1.0, "a": "\\u0000 \"\" \u00e9", "a": 12345678901234567890 }'
    assert count == 1


def test_broken_json_loses_raw_characters_only_in_strings():
    assert sanitize_arguments('{"a": "x\0y"', "nul") == ('{"a": "xy"', 1)


@given(value=st.recursive(st.text(), lambda i: st.lists(i) | st.dictionaries(st.text(), i)))
@pytest.mark.parametrize("mode", ["nul", "c0"])
def test_any_value(mode, value):
    """S3-32: the text means what the value cleaned piece by piece means."""
    clean, count = sanitize_arguments(json.dumps(value), mode)
    expected, removed = walk(value, mode)
    assert json.loads(clean) == expected
    assert count == removed


def walk(value, mode):
    if isinstance(value, str):
        return sanitize_text(value, mode)
    if isinstance(value, list):
        pairs = [walk(child, mode) for child in value]
        return [child for child, _ in pairs], sum(count for _, count in pairs)
    pairs = {key: walk(child, mode) for key, child in value.items()}
    return {k: child for k, (child, _) in pairs.items()}, sum(c for _, c in pairs.values())


def test_in_an_answer_it_is_counted_in_a_note():
    """S3-31, D-17"""
    reply = answer(call("save", json.dumps({"text": "a\0\0\r\n"})))
    wire, receipt = shown(reply, "openai-chat", "anthropic", sanitize="nul")
    assert wire.body["content"][0]["input"] == {"text": "a\r\n"}
    [note] = [note for note in receipt if note.code == "arguments-sanitised"]
    assert "2 control characters" in note.message
    assert note.severity == "lossy"


def test_by_default_arguments_are_data():
    """D-17"""
    reply = answer(call("save", json.dumps({"text": "a\0\x1b[1m\r\n"})))
    [part] = parts_of(seen(reply, "openai-chat", "anthropic"), ir.ToolCall)
    assert json.loads(part.arguments) == {"text": "a\0\x1b[1m\r\n"}
