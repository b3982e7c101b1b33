"""The HTTP API around Gemini: keys, models, counts, and how it is recognised.

Shapes and paths were read in the types of the `google-genai` package 3.1.0 (2026-11-15).
"""

import re
from typing import Final

from toolglot.api import Api, CountEndpoint, ModelInfo
from toolglot.errors import DecodeError
from toolglot.ir import Json
from toolglot.protocols.gemini._embeddings import EMBEDDINGS
from toolglot.wire.json_values import member

_REQUEST: Final = "generateContentRequest"
"""The member of a count that may hold a whole request."""
_INFO: Final = "type.googleapis.com/google.rpc.ErrorInfo"
_STATUS: Final = re.compile(r"^[A-Z_]+$")


def _model(model: ModelInfo) -> Json:
    return {
        "name": f"models/{model.name}",
        "displayName": model.name,
        "inputTokenLimit": model.context_window,
        "outputTokenLimit": model.max_output,
        "supportedGenerationMethods": ["generateContent", "countTokens"],
    }


def _wrap(request: Json, model: str) -> Json:
    return {_REQUEST: {"model": f"models/{model}", **request}}


def _unwrap(body: Json) -> Json:
    request = body.get(_REQUEST, body)
    if not isinstance(request, dict):
        raise DecodeError(_REQUEST, "expected object")
    return request


def _has_candidates(value: Json) -> bool:
    return isinstance(value.get("candidates"), list)


def _is_listed_model(entry: Json) -> bool:
    return "model" not in entry and "/" in str(entry.get("name", ""))


def _with_code(body: Json, code: str) -> Json:
    detail = {"@type": _INFO, "reason": code.upper(), "domain": "toolglot"}
    return {**body, "error": {**body["error"], "details": [detail]}}


API: Final = Api(
    operations={
        "generateContent": False,
        "streamGenerateContent": True,
        "countTokens": False,
        **{each.path[1:]: False for each in EMBEDDINGS},
    },
    embeddings=EMBEDDINGS,
    path_versions=("v1", "v1beta", "v1alpha"),
    key_header="x-goog-api-key",
    key_prefix="",
    client_headers=frozenset({"x-goog-api-key", "x-goog-api-client"}),
    client_paths="/v1beta/",
    model=_model,
    model_list=lambda models: {"models": [_model(model) for model in models]},
    count=CountEndpoint(path=":countTokens", answer="totalTokens", wrap=_wrap, unwrap=_unwrap),
    is_response=_has_candidates,
    is_event=_has_candidates,
    is_error=lambda value: bool(_STATUS.match(str(member(value, "error", "status") or ""))),
    is_listed_model=_is_listed_model,
    fragments={
        "functionCall": lambda value: {"candidates": [{"content": {"parts": [value]}}]},
        "parts": lambda value: {"candidates": [{"content": value}]},
    },
    calls_at=("candidates", "content", "parts"),
    answer_keys=("candidates",),
    imitated=0,
    sdk="google-genai",
    sdk_adds="/v1beta",
    tool_style="custom",
    error_style="gemini",
    with_code=_with_code,
)
