"""Calls that lack something: what can be run of them, and ids of other protocols."""

import pytest

from toolglot import ToolCall
from toolglot.calls import translate_id
from toolglot.errors import ToolglotError
from toolglot.parsers import InvalidCallError, validate_tool_call, validated_calls

SOUND = ToolCall(id="call_1", name="look", arguments='{"at":1}')


def test_a_sound_call_stays_as_it_is():
    assert validate_tool_call(SOUND) is SOUND


def test_a_call_needs_a_name():
    """S3-28: there is nothing to run without one."""
    with pytest.raises(InvalidCallError, match=r"^tool call missing name$") as caught:
        validate_tool_call(ToolCall(id="call_1", name=""))
    assert isinstance(caught.value, ToolglotError)
    assert isinstance(caught.value, ValueError)


def test_a_missing_id_is_made():
    """S3-29: unique, and the same for the same call."""
    bare = ToolCall(id="", name="look", arguments='{"at":1}')
    made = validate_tool_call(bare).id
    assert made.startswith("call_")
    assert validate_tool_call(bare).id == made
    assert validate_tool_call(bare, taken={made}).id not in {made, ""}
    assert validate_tool_call(ToolCall(id="", name="see", arguments='{"at":1}')).id != made
    assert validate_tool_call(ToolCall(id="", name="look", raw_input='{"at":2}')).id != made


def test_many_calls_have_an_id_each():
    """S3-29, S0-47: equal calls too, and none has the id of another."""
    bare = ToolCall(id="", name="look")
    taken = ToolCall(id=validate_tool_call(bare).id, name="see")
    first, second, third, fourth = validated_calls([bare, bare, SOUND, taken])
    assert len({first.id, second.id, third.id, fourth.id}) == 4
    assert (third, fourth) == (SOUND, taken)
    assert validated_calls([bare, bare, SOUND, taken]) == [first, second, third, fourth]
    assert translate_id("", "anthropic") == "", "not the business of that function"


def test_what_a_model_wrote_is_read():
    raw = ToolCall(id="call_1", name="look", raw_input=' {"at": 1.0}\n')
    call = validate_tool_call(raw)
    assert call.arguments == '{"at": 1.0}'
    assert call.input == {"at": 1.0}
    assert call.raw_input == raw.raw_input
    assert not call.invalid


@pytest.mark.parametrize("raw", ['{"cut', "ls -la", "[1]", '"text"'])
def test_what_cannot_be_read_is_kept(raw):
    """D-11: with the reason, and without harm to other calls."""
    bad = ToolCall(id="call_1", name="look", raw_input=raw)
    call, other = validated_calls([bad, SOUND])
    assert call.invalid.startswith("failed to parse tool arguments: ")
    assert (call.raw_input, call.arguments) == (raw, "{}")
    assert call.to_canonical()["invalid"] == call.invalid
    assert validate_tool_call(call) == call, "twice is once"
    assert other == SOUND
    assert "invalid" not in other.to_canonical()


def test_arguments_count_more_than_what_was_written():
    call = ToolCall(id="call_1", name="look", arguments='{"at":1}', raw_input="ls")
    assert validate_tool_call(call) is call
