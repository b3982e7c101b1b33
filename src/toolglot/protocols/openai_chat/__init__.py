"""OpenAI Chat Completions: `POST /v1/chat/completions`, and every server compatible with it.

Reference: the types of the `openai` package 3.49.0 and what they say of the API; for what others
added, https://api-docs.deepseek.com/guides/thinking_mode and
https://openrouter.ai/docs/client-sdks/python/components/reasoningdetail (both in excerpts), and
answers recorded from vLLM 0.32, llama.cpp and llama-cpp-python. Read on 2026-11-15.

Quirks worth knowing:

- There is no place for system text but a message; `developer` is the newer word for `system`.
- A message is not ordered: one content, one refusal, one list of calls. Arguments are JSON text.
- A tool result is a message of its own, text only, without a flag for failure; a mark tells it.
- OpenAI itself shows no reasoning here. Others do, as `reasoning_content` or `reasoning`, with its
  state in `reasoning_details`; sealed state of other providers travels there, as `toolglot-v1`.
- `prompt_tokens` includes what was read from and written to a cache.
- `max_tokens` is what every server knows, `max_completion_tokens` what OpenAI now prefers.
- `functions`, `function_call` and the role `function` are read as what replaced them; a client that
  sent them gets `function_call` in the answer.

Which of several wire forms a value had is remembered in `extras` under `VARIANTS`, which no other
protocol reads and which never reaches the wire as such.
"""

from toolglot.protocols.openai_chat.api import API
from toolglot.protocols.openai_chat.calls import CALLS
from toolglot.protocols.openai_chat.lint import LINTER, StreamCheck
from toolglot.protocols.openai_chat.request import decode_request, encode_request
from toolglot.protocols.openai_chat.response import decode_response, encode_response
from toolglot.protocols.openai_chat.stream_decoder import StreamDecoder
from toolglot.protocols.openai_chat.stream_encoder import StreamEncoder
from toolglot.protocols.openai_chat.surface import NAME, SURFACE

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
