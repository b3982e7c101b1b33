"""Arguments of calls, and ids that were made up."""

import pytest
from msgspec.structs import replace
from tests.wires import call, codes, pair

from toolglot import get_protocol
from toolglot.adapt.calls.arguments import made_id, normalise


def normalised(arguments: str, **more: object) -> tuple[str, set[str]]:
    ctx = pair("openai-chat", "anthropic")
    given = replace(call("f", arguments), **more)
    return normalise(given, "messages[1].content[0]", ctx).arguments, codes(ctx)


@pytest.mark.parametrize("arguments", ["{}", '{"a":1}', '{"cut', "[1]", "7", "rm -rf", " {}"])
def test_what_needs_nothing_is_left_alone(arguments):
    assert normalised(arguments) == (arguments, set())


@pytest.mark.parametrize("arguments", ["", " ", "null", "\nnull "])
def test_no_arguments_are_an_empty_object(arguments):
    assert normalised(arguments) == ("{}", {"arguments-normalised"})


def test_arguments_encoded_twice_are_decoded_once():
    assert normalised('"{\\"a\\":1}"') == ('{"a":1}', {"arguments-normalised"})


@pytest.mark.parametrize(
    "arguments", ['"plain"', '"{cut"', '"[1]"', '"', '"{\\"a\\":1}', '"\\"{}\\""']
)
def test_other_strings_are_arguments_themselves(arguments):
    assert normalised(arguments) == (arguments, set())


def test_free_text_is_not_looked_into():
    assert normalised("", type="custom") == ("", set())
    assert normalised('"{\\"a\\":1}"', type="custom")[1] == set()


def test_a_note_says_where_and_whose():
    ctx = pair("openai-chat", "anthropic")
    normalise(call("get_tides", ""), "messages[1].tool_calls[0]", ctx)
    [note] = ctx.receipt()
    assert note.path == "messages[1].tool_calls[0]"
    assert "get_tides" in note.message


def test_made_ids_begin_as_the_targets_do():
    anthropic, gemini = (get_protocol(name).SURFACE for name in ("anthropic", "gemini"))
    made = replace(call("f", id="call_0"), id_made=True)
    assert made_id(made, anthropic) == "toolu_0"
    assert made_id(made, gemini) == "call_0"


@pytest.mark.parametrize("given", [call("f", id="call_0"), call("f", id="toolu_7")])
def test_given_ids_are_never_touched(given):
    assert made_id(given, get_protocol("anthropic").SURFACE) == given.id
    odd = replace(given, id="other", id_made=True)
    assert made_id(odd, get_protocol("anthropic").SURFACE) == "other"
