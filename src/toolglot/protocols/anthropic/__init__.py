"""Anthropic Messages: `POST /v1/messages`.

Reference: https://platform.claude.com/docs/en/api/messages and the types of the `anthropic` package
2.8.0 (API version 2026-10-21), both read on 2026-11-15.

Quirks worth knowing:

- `max_tokens` is required; everything else about sampling is optional and `temperature`, `top_p`
  and `top_k` left the SDK's types while servers still take them.
- System text has a slot of its own (`system`), and since 2026 also a role inside `messages`.
- Tool results are blocks of a user message; all results of a turn belong in one message, first.
- Arguments are JSON objects. Reasoning is signed and must come back unchanged or not at all.
- `input_tokens` counts fresh input only, cache reads and writes are apart.
"""

from toolglot.protocols.anthropic.api import API
from toolglot.protocols.anthropic.calls import CALLS
from toolglot.protocols.anthropic.lint import LINTER, StreamCheck
from toolglot.protocols.anthropic.request import decode_request, encode_request
from toolglot.protocols.anthropic.response import decode_response, encode_response
from toolglot.protocols.anthropic.stream_decoder import StreamDecoder
from toolglot.protocols.anthropic.stream_encoder import StreamEncoder
from toolglot.protocols.anthropic.surface import NAME, SURFACE

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
