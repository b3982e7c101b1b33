"""The HTTP API around Ollama: models, and how it is recognised.

Shapes and paths were read in the types of the `ollama` package 0.6.3 (2026-11-15).
"""

from typing import Final

from toolglot.api import Api, ModelInfo, PromptEndpoint, ShowEndpoint
from toolglot.ir import Json
from toolglot.protocols.ollama._embeddings import EMBEDDINGS
from toolglot.protocols.ollama._generate import chat_request, generate_response

_DETAILS: Final[Json] = {
    "parent_model": "",
    "format": "remote",
    "family": "toolglot",
    "families": ["toolglot"],
    "parameter_size": "",
    "quantization_level": "",
}


def _model(model: ModelInfo) -> Json:
    return {
        "name": model.name,
        "model": model.name,
        "modified_at": model.created,
        "size": 0,
        "digest": "",
        "details": _DETAILS,
    }


def _describe(model: ModelInfo) -> Json:
    return {
        "modelfile": "",
        "parameters": "",
        "template": "",
        "details": _DETAILS,
        "model_info": {
            "general.architecture": "toolglot",
            "toolglot.context_length": model.context_window,
        },
        "capabilities": ["completion", "tools", "thinking", "vision"],
        "modified_at": model.created,
    }


def _is_message(value: Json) -> bool:
    return isinstance(value.get("message"), dict) and "done" in value


API: Final = Api(
    prompt=PromptEndpoint(path="/api/generate", request=chat_request, response=generate_response),
    client_paths="^/api/",
    model=_model,
    model_list=lambda models: {"models": [_model(model) for model in models]},
    show=ShowEndpoint(path="/api/show", describe=_describe),
    running_path="/api/ps",
    version_path="/api/version",
    embeddings=EMBEDDINGS,
    is_response=_is_message,
    is_event=_is_message,
    is_error=lambda value: isinstance(value.get("error"), str),
    is_listed_model=lambda entry: isinstance(entry.get("model"), str),
    calls_at=("message", "tool_calls"),
    answer_keys=("message",),
    imitated=1,
    sdk="ollama",
    sdk_adds="/api",
    tool_style="openai",
    error_style="ollama",
    with_code=lambda body, code: {**body, "code": code},
)
