"""Gemini: `POST /v1beta/models/{model}:generateContent` and `:streamGenerateContent?alt=sse`.

Reference: https://ai.google.dev/api/generate-content, the guides on function calling, thinking,
thought signatures, file input methods and troubleshooting beside it, and the types of the
`google-genai` package 3.1.0, all read on 2026-11-15.

Quirks worth knowing:

- The model and streaming are in the path; a body has neither. Without `alt=sse` a stream is one
  JSON array, written piece by piece.
- Every field has two names. Clients mix `snake_case` into `camelCase`; we write what a client
  wrote, and `camelCase` otherwise.
- A part has no type: the member that is there tells what it is. Roles are `user` and `model`,
  system text has a slot of its own, and there is no system role.
- Ids of calls are optional. Without them results find their calls by name and order.
- Arguments and results are JSON objects. A result says `output` or `error` by convention only.
- Reasoning state is `thoughtSignature`, base64, on any part: thought, text or call.
- A call ends with `finishReason: STOP` like any answer. A blocked prompt has no candidate at all.
- `promptTokenCount` includes cached tokens, `candidatesTokenCount` excludes thoughts.
"""

from toolglot.protocols.gemini.api import API
from toolglot.protocols.gemini.calls import CALLS
from toolglot.protocols.gemini.lint import LINTER, StreamCheck
from toolglot.protocols.gemini.request import decode_request, encode_request
from toolglot.protocols.gemini.response import decode_response, encode_response
from toolglot.protocols.gemini.stream_decoder import StreamDecoder
from toolglot.protocols.gemini.stream_encoder import StreamEncoder
from toolglot.protocols.gemini.surface import NAME, SURFACE

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
