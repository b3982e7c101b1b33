"""The HTTP API around OpenAI Chat Completions: models, and how it is recognised.

Shapes were read in the types of the `openai` package 3.49.0 (2026-11-15).
"""

from collections.abc import Sequence
from typing import Any, Final

from toolglot.api import Api, ModelInfo, PromptEndpoint
from toolglot.ir import Json
from toolglot.protocols.openai_chat._completions import chat_request, completion_response
from toolglot.protocols.openai_chat._embeddings import EMBEDDINGS
from toolglot.wire.json_values import members


def _model(model: ModelInfo) -> Json:
    return {"id": model.name, "object": "model", "created": 0, "owned_by": "toolglot"}


def _model_list(models: Sequence[ModelInfo]) -> Json:
    return {"object": "list", "data": [_model(model) for model in models]}


def _has_choices(value: Json, inner: str) -> bool:
    return any(isinstance(choice.get(inner), dict) for choice in members(value, "choices"))


def _around_message(message: Any) -> Json:
    return {"choices": [{"index": 0, "message": message}]}


API: Final = Api(
    assumed=True,
    model=_model,
    model_list=_model_list,
    prompt=PromptEndpoint(
        path="/v1/completions", request=chat_request, response=completion_response
    ),
    embeddings=EMBEDDINGS,
    is_response=lambda value: _has_choices(value, "message"),
    is_event=lambda value: _has_choices(value, "delta"),
    is_error=lambda value: isinstance(value.get("error"), dict),
    fragments={"tool_calls": _around_message},
    calls_at=("choices", "message", "tool_calls"),
    streamed_names_at=("choices", "delta", "tool_calls", "function", "name"),
    answer_keys=("choices",),
    limit_keys=("max_tokens", "max_completion_tokens"),
    imitated=2,
    short_name="chat",
    sdk="openai",
    tool_style="openai",
    error_style="openai",
)
