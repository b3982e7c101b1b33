"""The older path for one prompt."""

import pytest

from toolglot.errors import DecodeError
from toolglot.protocols.ollama._generate import chat_request, generate_response


def test_a_chat_response_becomes_a_generate_response():
    body = {"model": "m", "message": {"role": "assistant", "content": "Hello"}, "done": False}
    assert generate_response(body) == {"model": "m", "done": False, "response": "Hello"}
    thinking = {"message": {"content": "", "thinking": "Hm."}, "done": True}
    assert generate_response(thinking) == {"done": True, "response": "", "thinking": "Hm."}
    assert generate_response({"error": "later"}) == {"error": "later"}


def test_a_prompt_becomes_a_conversation():
    body = {"model": "m", "prompt": "Hi", "system": "Be brief.", "images": ["aGk="], "think": True}
    assert chat_request(body) == {
        "model": "m",
        "think": True,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi", "images": ["aGk="]},
        ],
    }
    with pytest.raises(DecodeError, match="prompt"):
        chat_request({"prompt": 3})
