"""Ollama: `POST /api/chat`.

Reference: https://docs.ollama.com/api/chat (the project's `docs/openapi.yaml`) and the types of the
`ollama` package 0.6.3, both read on 2026-11-15.

Quirks worth knowing:

- `stream` is true unless the request says otherwise; what was not said stays None here.
- Sampling settings stand under `options`. A negative `num_predict` is "no limit" and stays there.
- Content is one string; images, thinking and calls stand beside it, so their order is not kept.
- Calls have no ids, and results name the tool: order and name pair them. Newer servers write `id`
  and `tool_call_id`, which are then kept; clients are told the ids of any provider, servers only
  their own. A call without an id is named by its place in the conversation.
- Arguments are JSON objects. Images are bare base64, of a type that their first bytes tell.
- Reasoning is readable and unsigned. State of other providers travels in `reasoning_details`.
- A response has no id, and `done_reason` is `stop` for calls, too.
- A failed request is `{"error": "text"}`; only the status and the text say of what kind.
"""

from toolglot.protocols.ollama.api import API
from toolglot.protocols.ollama.calls import CALLS
from toolglot.protocols.ollama.lint import LINTER, StreamCheck
from toolglot.protocols.ollama.request import decode_request, encode_request
from toolglot.protocols.ollama.response import decode_response, encode_response
from toolglot.protocols.ollama.stream_decoder import StreamDecoder
from toolglot.protocols.ollama.stream_encoder import StreamEncoder
from toolglot.protocols.ollama.surface import NAME, SURFACE

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
