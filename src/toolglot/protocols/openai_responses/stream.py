"""Streams of OpenAI Responses, both ways.

Reference: https://developers.openai.com/api/reference/resources/responses/streaming-events, as the
types of the packages `openai` 3.49.0 and `openresponses_types` 2.4.0 have it (read 2026-11-15).

    response.created, response.in_progress,
    { response.output_item.added, { what the item holds }, response.output_item.done },
    response.completed | response.incomplete | response.failed

What an item holds comes between `.added` and `.done` of its own: `content_part` with `output_text`
or `refusal`, `function_call_arguments`, `custom_tool_call_input`, `reasoning_summary_part` with
`reasoning_summary_text`, `reasoning_text`. Items may overlap; `item_id` and `output_index` tell
them apart.
"""

from toolglot.protocols.openai_responses.stream_in import StreamDecoder
from toolglot.protocols.openai_responses.stream_out import StreamEncoder

__all__ = ["StreamDecoder", "StreamEncoder"]
