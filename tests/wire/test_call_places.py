"""Where protocols keep calls."""

import pytest
from tests.wires import NAMES, answer, call

from toolglot import decode_response, encode_response, get_protocol


@pytest.mark.parametrize("name", NAMES)
def test_a_response_with_a_call_is_known_by_it(name):
    places = get_protocol(name).CALLS
    assert places.has_call(encode_response(answer("hm", call("f")), target=name).body)
    assert not places.has_call(encode_response(answer("hm"), target=name).body)
    assert not any(map(places.has_call, (None, [], "text", {}, {"choices": "x"}, {"output": [1]})))


@pytest.mark.parametrize("name", NAMES)
def test_a_response_is_put_around_its_pieces(name):
    places = get_protocol(name).CALLS
    body = encode_response(answer(call("f", '{"a":1}')), target=name).body
    assert places.whole(body) is body
    [message] = places.messages(body)
    pieces = [message, message] if not places.calls else [message, *_calls(message, places.calls)]
    for piece in pieces:
        [part] = decode_response(places.whole(piece), source=name).choices[0].parts
        assert (part.name, part.input) == ("f", {"a": 1})


def _calls(message, path):
    return message[path.removesuffix("[]")]


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_response_has_no_messages(name):
    assert get_protocol(name).CALLS.messages({}) in ([], [{"role": "assistant", "content": []}])
