"""OpenAI Responses: `POST /v1/responses`, and Open Responses, which other servers speak.

Reference: https://developers.openai.com/api/reference/resources/responses and
https://www.openresponses.org. What is written here follows the types of the packages `openai`
3.49.0 and `openresponses_types` 2.4.0, read on 2026-11-15, and what servers were seen to send.

Quirks worth knowing:

- A conversation is a flat list of items: messages, calls, results and reasoning stand side by side.
  Each is one message of the interlingua; a message with several parts is written as several items.
- An item has an `id` of its own (`msg_`, `fc_`, `rs_`), which is not the `call_id` that pairs calls
  and results. The server checks its prefix, so history from elsewhere is sent without one.
- A tool without `strict` is strict. A response is stored unless `store` is false.
- Reasoning comes back as `encrypted_content`, only when asked for through `include`.
- `input_tokens` counts cached tokens too. A call does not change the status: it is `completed`.
- Streams number their events, name item and place in each, and end without `[DONE]`.
- Codex learns of a prompt that is too long only from `response.failed`, never from an HTTP error.
"""

from toolglot.protocols.openai_responses.api import API
from toolglot.protocols.openai_responses.calls import CALLS
from toolglot.protocols.openai_responses.lint import LINTER, StreamCheck
from toolglot.protocols.openai_responses.request import decode_request, encode_request
from toolglot.protocols.openai_responses.response import decode_response, encode_response
from toolglot.protocols.openai_responses.stream_decoder import StreamDecoder
from toolglot.protocols.openai_responses.stream_encoder import StreamEncoder
from toolglot.protocols.openai_responses.surface import NAME, SURFACE

__all__ = [
    "API",
    "CALLS",
    "LINTER",
    "NAME",
    "SURFACE",
    "StreamCheck",
    "StreamDecoder",
    "StreamEncoder",
    "decode_request",
    "decode_response",
    "encode_request",
    "encode_response",
]
