"""What the providers' own SDKs read and send: judges of what we write, a row for each protocol."""

import base64
import importlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

import anthropic
import ollama
import pytest
from anthropic.types.message_create_params import MessageCreateParamsBase
from google.genai import interactions as steps
from google.genai import types as google
from openai.types import chat
from openai.types.responses import Response as OpenAIResponse
from openai.types.responses import ResponseStreamEvent
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
from pydantic import TypeAdapter
from tests.protocols import frames


def adapter(kind: Any) -> Callable[[Any], Any]:
    """A function that validates a value against a type."""
    return TypeAdapter(kind).validate_python


def optional(value: Any) -> Any:
    """What there is to iterate over, if anything."""
    return value if isinstance(value, list) else ()


# --- anthropic ------------------------------------------------------------------------------------

_ANTHROPIC_REQUEST = adapter(MessageCreateParamsBase)
_ANTHROPIC_MESSAGE = adapter(anthropic.types.MessageParam)
_ANTHROPIC_BLOCK = adapter(anthropic.types.ContentBlockParam)
_ANTHROPIC_TOOL = adapter(anthropic.types.ToolUnionParam)
_ANTHROPIC_EVENT = adapter(anthropic.types.RawMessageStreamEvent)
_INVENTED = {"hologram", "weather"}
"""Events and blocks of our fixtures that no SDK knows."""


def anthropic_request(body: Any) -> None:
    _ANTHROPIC_REQUEST(body)
    for message in body["messages"]:
        _ANTHROPIC_MESSAGE(message)
        for block in optional(message["content"]):
            _ANTHROPIC_BLOCK(block)
    for tool in body.get("tools", ()):
        _ANTHROPIC_TOOL(tool)


def anthropic_stream(data: bytes) -> None:
    for event in frames.anthropic(data):
        block = event.get("content_block", {}).get("type")
        if event["type"] == "error":
            anthropic.types.ErrorResponse.model_validate(event)
        elif not {event["type"], block} & _INVENTED:
            _ANTHROPIC_EVENT(event)


# --- openai-chat ----------------------------------------------------------------------------------

_CHAT_REQUEST = adapter(chat.CompletionCreateParams)
_CHAT_MESSAGE = adapter(chat.ChatCompletionMessageParam)
_CHAT_TOOL = adapter(chat.ChatCompletionToolUnionParam)
CHAT_CHOICE = adapter(chat.ChatCompletionToolChoiceOptionParam)


def chat_request(body: Any) -> None:
    _CHAT_REQUEST(body)
    for message in body["messages"]:
        _CHAT_MESSAGE(message)
        # What is iterated over lazily is validated only then.
        list(message.get("tool_calls") or ())
    for tool in body.get("tools") or ():
        _CHAT_TOOL(tool)
    if "tool_choice" in body:
        CHAT_CHOICE(body["tool_choice"])


def chat_stream(data: bytes) -> None:
    for chunk in frames.chat(data):
        chat.ChatCompletionChunk.model_validate(chunk)


# --- openai-responses -----------------------------------------------------------------------------

_RESPONSES_REQUEST = adapter(ResponseCreateParamsNonStreaming)
_RESPONSES_EVENT = adapter(ResponseStreamEvent)


def responses_request(body: Any) -> None:
    _RESPONSES_REQUEST({**body, "stream": False})


def responses_response(body: Any) -> None:
    OpenAIResponse.model_validate(body)
    assert OpenAIResponse.construct(**body).id == body["id"]


def responses_stream(data: bytes) -> None:
    for event in frames.responses(data):
        _RESPONSES_EVENT(event)


# --- gemini ---------------------------------------------------------------------------------------

_GEMINI_REQUEST = {
    "contents": adapter(list[google.Content]),
    "systemInstruction": adapter(google.Content),
    "tools": adapter(list[google.Tool]),
    "toolConfig": adapter(google.ToolConfig),
    "generationConfig": adapter(google.GenerationConfig),
    "safetySettings": adapter(list[google.SafetySetting]),
}


def gemini_request(body: Any) -> None:
    for key, validate in _GEMINI_REQUEST.items():
        if body.get(key) is not None:
            validate(body[key])


def gemini_response(body: Any) -> None:
    for candidate in body.get("candidates", ()):
        # The wire has another key inside it than the SDK.
        candidate.pop("citationMetadata", None)
    google.GenerateContentResponse.model_validate(body)


def gemini_stream(data: bytes) -> None:
    for chunk in frames.gemini(data):
        if "error" not in chunk:
            google.GenerateContentResponse.model_validate(chunk)


# --- gemini-interactions --------------------------------------------------------------------------

_INTERACTION_REQUEST = {
    "model": adapter(steps.CreateModelInteraction),
    "agent": adapter(steps.CreateAgentInteraction),
}
_INTERACTION_EVENT = adapter(steps.InteractionSSEEvent)


def interaction_request(body: Any) -> None:
    _INTERACTION_REQUEST["agent" if "agent" in body else "model"](body)


def interaction_stream(data: bytes) -> None:
    for event in frames.interactions(data):
        _INTERACTION_EVENT(event)


# --- ollama ---------------------------------------------------------------------------------------


def _ollama_message(message: Any) -> Any:
    """A message as the SDK holds it: its pictures are objects until they are sent."""
    images = message.get("images") or ()
    return message | {"images": [{"value": image} for image in images]}


def ollama_request(body: Any) -> None:
    request = ollama._types.ChatRequest.model_validate(body)
    for message in request.messages or ():
        ollama.Message.model_validate(_ollama_message(message))


def ollama_response(body: Any) -> Any:
    return ollama.ChatResponse.model_validate(body | {"message": _ollama_message(body["message"])})


def ollama_stream(data: bytes) -> None:
    for line in frames.ollama(data):
        if "error" in line:
            assert isinstance(line["error"], str)
            continue
        chunk = ollama_response(line)
        assert chunk.message.role == "assistant"
        assert chunk.message.content is not None
        assert chunk.created_at is not None
    assert sum(line.get("done", True) for line in frames.ollama(data)) == 1


# --- bedrock-converse -----------------------------------------------------------------------------


@cache
def _bedrock() -> Any:
    """The service model and the parsers of AWS's own SDK."""
    session = pytest.importorskip("botocore.session").get_session()
    return session.get_service_model("bedrock-runtime")


def _parsed(operation: str, body: Any) -> Any:
    """A body as the SDK reads it."""
    model, data = _bedrock(), json.dumps(body).encode()
    parsers = importlib.import_module("botocore.parsers")
    shape = model.operation_model(operation).output_shape
    parser = parsers.ResponseParserFactory().create_parser("rest-json")
    response = {"body": data, "headers": {}, "status_code": 200}
    return parser.parse(response, shape)


def converse_request(body: Any) -> None:
    """The SDK takes values of Python: blobs are decoded as a caller would have them."""
    shape = _bedrock().operation_model("Converse").input_shape
    validate = importlib.import_module("botocore.validate")
    named = {"modelId": "some-model", **_with_blobs(body)}
    report = validate.ParamValidator().validate(named, shape)
    assert not report.has_errors(), report.generate_report()


def _with_blobs(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _with_blobs(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [_with_blobs(each) for each in value]
    is_blob = key in ("bytes", "redactedContent")
    return base64.b64decode(value, validate=True) if is_blob else value


def converse_response(body: Any) -> None:
    read = _parsed("Converse", body)
    assert len(read["output"]["message"]["content"]) == len(body["output"]["message"]["content"])
    assert "SDK_UNKNOWN_MEMBER" not in json.dumps(read, default=str)
    assert read["usage"]["totalTokens"] >= 0
    assert read["metrics"]["latencyMs"] >= 0


def converse_stream(data: bytes) -> None:
    eventstream = importlib.import_module("botocore.eventstream")
    parsers = importlib.import_module("botocore.parsers")
    shape = _bedrock().operation_model("ConverseStream").get_event_stream_output()
    parser = parsers.EventStreamJSONParser()
    buffer = eventstream.EventStreamBuffer()
    buffer.add_data(data)
    for message in buffer:
        response = message.to_response_dict()
        read = parser.parse(response, shape)
        if response["status_code"] == 200:
            [name] = read
            assert name == response["headers"][":event-type"]
        else:
            assert read["Error"]["Message"]
        assert "SDK_UNKNOWN_MEMBER" not in json.dumps(read, default=str)
    assert not buffer._data


# --- the table ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Oracle:
    """An SDK as a judge: what reads a request, a response and a stream, and fixtures beyond it."""

    request: Callable[[Any], object]
    response: Callable[[Any], object]
    stream: Callable[[bytes], object]
    beyond_requests: tuple[str, ...] = ()
    beyond_responses: tuple[str, ...] = ()
    beyond_streams: tuple[str, ...] = ()

    def judges(self, kind: str, fixture: str) -> bool:
        """Whether the SDK knows everything in a fixture; `beyond` has patterns of the others."""
        patterns = getattr(self, f"beyond_{kind}s")
        return not any(fnmatchcase(fixture, pattern) for pattern in patterns)


ORACLES = {
    "anthropic": Oracle(
        anthropic_request,
        anthropic.types.Message.model_validate,
        anthropic_stream,
        beyond_requests=(
            "unknown",
            "empties",
        ),
        beyond_responses=("unknown",),
    ),
    "openai-chat": Oracle(
        chat_request,
        chat.ChatCompletion.model_validate,
        chat_stream,
        beyond_requests=("vendor*", "unknown*"),
        beyond_responses=("null*", "no-*", "unknown*", "citations*"),
        beyond_streams=("custom*", "error*", "cut*"),
    ),
    "openai-responses": Oracle(
        responses_request,
        responses_response,
        responses_stream,
        beyond_requests=(
            "hosted-items",  # items that the official type does not know
            "instruction-items",
            "media",
            "messages",  # clients leave out ids and annotations that it wants
            "nulls-and-empties",
            "reasoning-forms",
            "tool-history",
            "unknown-everywhere",
        ),
        beyond_responses=("bare-server", "several"),
        beyond_streams=("bare-indices", "junk"),
    ),
    "gemini": Oracle(
        gemini_request,
        gemini_response,
        gemini_stream,
        beyond_requests=(
            "unknown-fields",
            "signatures",
        ),
        beyond_responses=("odd",),
        beyond_streams=(
            "odd-bytes",
            "two-candidates",
        ),
    ),
    "gemini-interactions": Oracle(
        interaction_request,
        steps.Interaction.model_validate,
        interaction_stream,
        beyond_requests=(
            "empties",
            "results-any",
            "unknown-everywhere",
            "turns",  # the schema of before June 2026
        ),
    ),
    "bedrock-converse": Oracle(
        converse_request,
        converse_response,
        converse_stream,
        beyond_requests=("unknown-fields", "empties"),
        beyond_responses=("unknown",),
        beyond_streams=("unknown-event",),
    ),
    "ollama": Oracle(ollama_request, ollama_response, ollama_stream),
}
