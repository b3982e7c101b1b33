"""Amazon Bedrock Converse: `POST /model/{modelId}/converse` and `/converse-stream`.

Reference: the service model of botocore 1.44.0 (`data/bedrock-runtime/2023-09-30/service-2.json`)
and https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html, both read on
2026-11-16. What a server refuses beyond that is in the rule book of its provider.

Quirks worth knowing:

- The model and streaming are in the path; a body has neither. boto3 calls the model `modelId`, and
  a body without a path may have it under that name.
- A block has no type: it has exactly one member, which tells what it is. An empty one, as in
  `start: {}`, makes boto3 raise.
- A cache mark is a block of its own, behind what it marks. So is cited text: `citationsContent`.
- Arguments are JSON values. A result has texts, JSON values, images and documents, and a `status`.
- There is no tool choice `none`, and tools must be declared wherever the history has calls.
- An answer has no id, no model and no time. `inputTokens` counts fresh input only.
- What a model takes beyond the common settings goes into `additionalModelRequestFields`, in the
  words of its maker: see `_model_fields`.
- Streams are binary messages (`wire/event_stream.py`). Blocks of text have no start event, all have
  a stop event; usage comes after the event that says why the model stopped.
- Bytes are base64 in JSON. The type of an error is in a header, `x-amzn-errortype`.
"""

from toolglot.protocols.bedrock_converse.api import API
from toolglot.protocols.bedrock_converse.calls import CALLS
from toolglot.protocols.bedrock_converse.lint import LINTER, StreamCheck
from toolglot.protocols.bedrock_converse.request import decode_request, encode_request
from toolglot.protocols.bedrock_converse.response import decode_response, encode_response
from toolglot.protocols.bedrock_converse.stream_decoder import StreamDecoder
from toolglot.protocols.bedrock_converse.stream_encoder import StreamEncoder
from toolglot.protocols.bedrock_converse.surface import NAME, SURFACE

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
