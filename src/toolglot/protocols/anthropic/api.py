"""The HTTP API around Anthropic Messages: keys, models, counts, and how it is recognised.

Shapes and paths were read in the types of the `anthropic` package 2.8.0 (2026-11-15).
"""

from collections.abc import Sequence
from typing import Final

from toolglot.api import Api, CountEndpoint, ModelInfo
from toolglot.ir import Json


def _model(model: ModelInfo) -> Json:
    return {
        "type": "model",
        "id": model.name,
        "display_name": model.name,
        "created_at": model.created,
    }


def _model_list(models: Sequence[ModelInfo]) -> Json:
    return {
        "data": [_model(model) for model in models],
        "has_more": False,
        "first_id": models[0].name,
        "last_id": models[-1].name,
    }


def _is_response(value: Json) -> bool:
    return value.get("type") == "message" and isinstance(value.get("content"), list)


def _is_error(value: Json) -> bool:
    return value.get("type") == "error" and isinstance(value.get("error"), dict)


def _is_listed_model(entry: Json) -> bool:
    return entry.get("type") == "model" and "display_name" in entry


_EVENTS: Final = frozenset(
    {
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    }
)

API: Final = Api(
    key_header="x-api-key",
    key_prefix="",
    fixed_headers={"anthropic-version": "2023-06-01"},
    client_headers=frozenset({"anthropic-version"}),
    client_paths="/messages",
    model=_model,
    model_list=_model_list,
    count=CountEndpoint(
        path="/v1/messages/count_tokens",
        answer="input_tokens",
        keys=frozenset(
            ("model", "messages", "system", "tools", "tool_choice", "thinking", "output_config")
        ),
    ),
    is_response=_is_response,
    is_event=lambda value: str(value.get("type")) in _EVENTS,
    is_error=_is_error,
    is_listed_model=_is_listed_model,
    fragments={
        "content": lambda value: {"type": "message", "role": "assistant", **value},
        "input": lambda value: {"type": "message", "role": "assistant", "content": [value]},
    },
    calls_at=("content",),
    answer_keys=("message", "content", "content_block"),
    imitated=3,
    sdk="anthropic",
    sdk_adds="/v1",
    tool_style="anthropic",
    error_style="anthropic",
)
