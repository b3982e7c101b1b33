import json

import pytest

from toolglot.errors import DecodeError
from toolglot.gateway.relay.reframe import ArrayFraming, GenerateFraming, chat_of


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_events_become_an_array(count, size):
    stream = b"".join(b'data: {"n":%d}\r\n\r\n' % number for number in range(count))
    framing = ArrayFraming()
    pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
    written = b"".join(map(framing.feed, pieces)) + framing.close()
    assert json.loads(written) == [{"n": number} for number in range(count)]


def test_chat_lines_become_generate_lines():
    framing = GenerateFraming()
    written = framing.feed(b'{"model":"m","message":{"role":"assistant","content":"He')
    assert written == b""
    written = framing.feed(b'llo"},"done":false}\n') + framing.close()
    assert json.loads(written) == {"model": "m", "done": False, "response": "Hello"}
    thinking = framing.whole(b'{"message":{"content":"","thinking":"Hm."},"done":true}')
    assert json.loads(thinking) == {"done": True, "response": "", "thinking": "Hm."}


def test_a_prompt_becomes_a_conversation():
    body = {"model": "m", "prompt": "Hi", "system": "Be brief.", "images": ["aGk="], "think": True}
    assert chat_of(body) == {
        "model": "m",
        "think": True,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi", "images": ["aGk="]},
        ],
    }
    with pytest.raises(DecodeError, match="prompt"):
        chat_of({"prompt": 3})
