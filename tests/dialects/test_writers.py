"""Calls as text: what surrounds them, and the spelling without marks."""

import pytest

from toolglot.dialects.writers import JsonWriter, Unwritable, WantedCall, Writer

CALL = WantedCall("ring", {"a": "<b>"}, '{"a": "<b>"}', id="call_7")
PLAIN = WantedCall("ring", {"n": 1}, '{"n": 1}', index=1)


def test_the_usual_text_comes_first_and_one_without_marks_after_it():
    usual, careful = JsonWriter(begin="<c>", end="</c>").write([CALL])
    assert usual == '<c>{"name": "ring", "arguments": {"a": "<b>"}}</c>'
    assert careful == '<c>{"name": "ring", "arguments": {"a":"\\u003cb\\u003e"}}</c>'


def test_what_surrounds_all_calls_and_each():
    writer = JsonWriter(open="({name}:", begin="[", between=", ", end="]", close=")", keyed=True)
    assert next(writer.write([PLAIN, PLAIN])) == '(ring:[{"ring": {"n": 1}}], [{"ring": {"n": 1}}])'


@pytest.mark.parametrize(
    ("writer", "text"),
    [
        (JsonWriter(name="tool", arguments="args"), '{"tool": "ring", "args": {"n": 1}}'),
        (
            JsonWriter(nested=True),
            '{"type": "function", "function": {"name": "ring", "arguments": "{\\"n\\": 1}"}}',
        ),
        (JsonWriter(id="id"), '{"id": "1", "name": "ring", "arguments": {"n": 1}}'),
    ],
)
def test_members_of_a_call(writer, text):
    assert next(writer.write([PLAIN])) == text


def test_an_id_of_its_own_comes_before_a_number():
    assert (CALL.id_or_number(), PLAIN.id_or_number()) == ("call_7", "1")


def test_what_cannot_be_written_is_said_after_what_can():
    class Careful(Writer):
        def body(self, call, *, careful):
            if not careful:
                raise Unwritable(call.name)
            return call.text

    texts = Careful().write([PLAIN])
    assert next(texts) == '{"n": 1}'
    with pytest.raises(Unwritable, match="ring"):
        next(texts)
