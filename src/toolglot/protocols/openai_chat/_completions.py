"""The older path `/v1/completions`: one prompt in, and `text` where chat has a message.

Read in `types/completion_create_params.py` and `types/completion.py` of the `openai` package 3.49.0
(2026-11-16). A chat model is asked, so what only a model that continues text can do is refused.
"""

from collections.abc import Mapping
from typing import Any, Final

from toolglot.errors import DecodeError
from toolglot.ir import Json
from toolglot.wire.json_values import members

_REFUSED: Final = {
    "suffix": "a chat model does not fill in text before a suffix; leave it out",
    "echo": "the prompt is not repeated in the answer; leave it out",
    "best_of": "only one answer is made for each choice; leave it out",
    "logprobs": "its form here differs from that of chat; ask at /v1/chat/completions",
}
_USUAL: Final[Mapping[str, tuple[Any, ...]]] = {
    "suffix": (None, ""),
    "echo": (None, False),
    "best_of": (None, 1),
}
"""Values that ask for what is done anyway."""
_MOST_TOKENS: Final = 16
"""What the API takes where `max_tokens` is left out."""


def chat_request(body: Json) -> Json:
    """A request for `/v1/completions` as one for `/v1/chat/completions`."""
    for name, words in _REFUSED.items():
        if name in body and body[name] not in _USUAL.get(name, (None,)):
            raise DecodeError(name, words)
    rest = {key: value for key, value in body.items() if key not in ("prompt", *_REFUSED)}
    message: Json = {"role": "user", "content": _prompt(body.get("prompt"))}
    return {"max_tokens": _MOST_TOKENS, **rest, "messages": [message]}


def _prompt(value: Any) -> str:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, str):
        raise DecodeError("prompt", "expected one text; several, or token ids, are not taken here")
    return value


def completion_response(body: Json) -> Json:
    """A response, or a chunk of a stream, of chat as one of `/v1/completions`."""
    if "choices" not in body:
        return body
    choices = [_choice(choice) for choice in members(body, "choices")]
    number = str(body.get("id", ""))
    return {
        **body,
        "id": f"cmpl-{number.removeprefix('chatcmpl-')}",
        "object": "text_completion",
        "choices": choices,
    }


def _choice(choice: Json) -> Json:
    said = choice.get("message") or choice.get("delta") or {}
    text = said.get("content") or said.get("refusal") or ""
    stop = choice.get("finish_reason")
    return {
        "index": choice.get("index", 0),
        "text": text,
        "logprobs": None,
        "finish_reason": "stop" if stop == "tool_calls" else stop,
    }
