"""The HTTP API around Converse: keys, models, counts, and how it is recognised.

Shapes and paths were read in the service model of botocore 1.44.0 (2026-11-16). Models are listed
by another service, `bedrock` instead of `bedrock-runtime`, on a host of its own.
"""

from typing import Any, Final

from toolglot.api import Api, CountEndpoint, ModelInfo
from toolglot.errors import DecodeError
from toolglot.ir import Json
from toolglot.wire.json_values import member

_EXCEPTION: Final = "Exception"
_COUNTED: Final = frozenset(("messages", "system", "toolConfig", "additionalModelRequestFields"))
_EVENTS: Final = frozenset(("contentBlockIndex", "stopReason"))


def _model(model: ModelInfo) -> Json:
    return {
        "modelId": model.name,
        "modelName": model.name,
        "providerName": "toolglot",
        "inputModalities": ["TEXT"],
        "outputModalities": ["TEXT"],
        "responseStreamingSupported": True,
        "inferenceTypesSupported": ["ON_DEMAND"],
    }


def _wrap(request: Json, _model: str) -> Json:
    return {"input": {"converse": request}}


def _unwrap(body: Json) -> Json:
    request: Any = member(body, "input", "converse")
    if not isinstance(request, dict):
        raise DecodeError("input.converse", "expected object")
    return request


def _is_response(value: Json) -> bool:
    return isinstance(member(value, "output", "message", "content"), list)


def _is_event(value: Json) -> bool:
    return not _EVENTS.isdisjoint(value) or (value.get("role") == "assistant" and len(value) <= 2)  # noqa: PLR2004 - the role, and padding


def _is_error(value: Json) -> bool:
    return str(value.get("__type", "")).endswith(_EXCEPTION)


def _with_code(body: Json, code: str) -> Json:
    return {**body, "code": code}


API: Final = Api(
    operations={"converse": False, "converse-stream": True, "count-tokens": False},
    client_headers=frozenset({"amz-sdk-invocation-id", "x-amz-date"}),
    client_paths="/model/",
    answer_headers=frozenset({"x-amzn-errortype", "x-amzn-requestid"}),
    model=_model,
    model_list=lambda models: {"modelSummaries": [_model(model) for model in models]},
    count=CountEndpoint(
        path="/model/{model}/count-tokens",
        answer="inputTokens",
        keys=_COUNTED,
        wrap=_wrap,
        unwrap=_unwrap,
    ),
    is_response=_is_response,
    is_event=_is_event,
    is_error=_is_error,
    is_listed_model=lambda entry: "modelId" in entry,
    fragments={
        "toolUse": lambda value: {"output": {"message": {"role": "assistant", "content": [value]}}},
    },
    calls_at=("output", "message", "content"),
    answer_keys=("output", "contentBlockIndex"),
    imitated=-1,
    sdk="boto3",
    tool_style="custom",
    error_style="bedrock-converse",
    with_code=_with_code,
)
