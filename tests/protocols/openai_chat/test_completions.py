"""The older path for one prompt."""

import pytest

from toolglot.errors import DecodeError
from toolglot.protocols.openai_chat._completions import chat_request, completion_response


def test_a_prompt_becomes_a_conversation():
    body = {"model": "m", "prompt": ["Hi"], "max_tokens": 5, "stop": ["."], "echo": False}
    assert chat_request(body) == {
        "model": "m",
        "max_tokens": 5,
        "stop": ["."],
        "messages": [{"role": "user", "content": "Hi"}],
    }
    assert chat_request({"prompt": "Hi", "best_of": 1, "suffix": None})["max_tokens"] == 16


@pytest.mark.parametrize(
    "body",
    [
        {"prompt": ["a", "b"]},
        {"prompt": [1, 2]},
        {},
        {"prompt": "a", "suffix": "b"},
        {"prompt": "a", "echo": True},
        {"prompt": "a", "best_of": 2},
        {"prompt": "a", "logprobs": 1},
        {"prompt": "a", "logprobs": 0},
    ],
)
def test_what_no_chat_model_does_is_refused(body):
    with pytest.raises(DecodeError):
        chat_request(body)


def test_an_answer_and_a_chunk():
    message = {"index": 0, "message": {"content": "Hello"}, "finish_reason": "stop"}
    whole = completion_response({"id": "chatcmpl-7", "created": 3, "choices": [message]})
    choice = {"index": 0, "text": "Hello", "logprobs": None, "finish_reason": "stop"}
    assert whole == {
        "id": "cmpl-7",
        "object": "text_completion",
        "created": 3,
        "choices": [choice],
    }
    chunk = completion_response({"choices": [{"index": 1, "delta": {"role": "assistant"}}]})
    assert chunk["choices"] == [{"index": 1, "text": "", "logprobs": None, "finish_reason": None}]
    assert completion_response({"error": {"message": "no"}}) == {"error": {"message": "no"}}
