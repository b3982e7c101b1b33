"""Gemini Interactions: `POST /v1beta/interactions`, Google's API of steps (`/v1` as well).

Reference: https://ai.google.dev/api/interactions-api, the guides on interactions, function calling
and streaming beside it, and the types of the `google-genai` package 3.1.0, all read on 2026-11-16.
This is the schema of steps, the only one since June 2026; before, answers had `outputs`.

Quirks worth knowing:

- A conversation is a flat list of steps without roles: `user_input`, `model_output`, `thought`,
  `function_call`, `function_result`, and a pair of steps for each tool that Google runs. Each is
  one message of the interlingua. `input` may also be a string, a content or a list of contents.
- Reasoning state is the `signature` of a `thought`, which stands before what it signs. A call or a
  text of `generateContent` with a signature of its own becomes a thought and that.
- Arguments are objects, but a stream has their text in pieces. Results are a string, any object or
  contents, and say `is_error`.
- Tool choice is a member of `generation_config`. There is no thinking budget, only a level.
- Nothing says why an answer ended but its `status`. There is one answer, never several.
- An answer is stored unless `store` is false; `previous_interaction_id` brings back what was said,
  and neither tools nor settings.
- `total_output_tokens` excludes thoughts, `total_input_tokens` includes what was cached. Places in
  a text are counted in bytes.
- Streams name their events twice, in `event:` and in `event_type`, and end in `[DONE]`.
"""

from toolglot.protocols.gemini_interactions.api import API
from toolglot.protocols.gemini_interactions.calls import CALLS
from toolglot.protocols.gemini_interactions.lint import LINTER, StreamCheck
from toolglot.protocols.gemini_interactions.request import decode_request, encode_request
from toolglot.protocols.gemini_interactions.response import decode_response, encode_response
from toolglot.protocols.gemini_interactions.stream_decoder import StreamDecoder
from toolglot.protocols.gemini_interactions.stream_encoder import StreamEncoder
from toolglot.protocols.gemini_interactions.surface import NAME, SURFACE

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
