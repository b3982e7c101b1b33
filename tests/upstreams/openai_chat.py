"""OpenAI Chat Completions, as its upstream speaks it."""

import json
from collections.abc import Iterator

from tests.upstreams.scenarios import WITHOUT_REASONING
from tests.upstreams.values import (
    Asked,
    Call,
    Event,
    Failure,
    Json,
    Offered,
    Reply,
    Result,
    Say,
    Think,
    compact,
    data_url,
    pieces,
)

NAME = "openai-chat"
CONTENT_TYPE = "text/event-stream"
CALL_ID = "call_{:024d}"
SHORT_ID = "m{:08d}"
"""Mistral's ids have nine characters."""

FAILURES = {
    "rate": (429, "rate_limit_exceeded", "requests"),
    "overflow": (400, "context_length_exceeded", "invalid_request_error"),
    "invalid": (400, None, "invalid_request_error"),
}
OVERFLOW = (
    "This model's maximum context length is 128000 tokens. However, your messages resulted in "
    "212345 tokens. Please reduce the length of the messages."
)


def model(path: str, body: Json) -> str:
    """The model that is asked."""
    return str(body.get("model") or "")


def read(path: str, body: Json) -> Asked:
    """A request as plain facts."""
    messages = body["messages"]
    return Asked(
        protocol=NAME,
        model=body["model"],
        stream=bool(body.get("stream")),
        body=body,
        tools=tuple(
            Offered(
                tool[tool["type"]]["name"],
                tool[tool["type"]].get("parameters") or {},
                is_custom=tool["type"] == "custom",
            )
            for tool in body.get("tools") or ()
            if tool["type"] in ("function", "custom")
        ),
        calls=tuple(
            (call.get("id"), call[call.get("type", "function")]["name"])
            for message in messages
            for call in message.get("tool_calls") or ()
        ),
        results=tuple(
            Result(m.get("tool_call_id"), None, _text(m["content"]))
            for m in messages
            if m["role"] == "tool"
        ),
        states=tuple(state for message in messages for state in _states(message)),
        images=tuple(
            image
            for message in messages
            for part in _parts(message.get("content"))
            if part["type"] == "image_url"
            for image in data_url(part["image_url"]["url"])
        ),
        wants_usage=bool((body.get("stream_options") or {}).get("include_usage")),
    )


REASONING = {
    "": "reasoning_content",
    "groq": "reasoning",
    "vllm": "reasoning",
    "ollama": "reasoning",
    "openrouter": "reasoning",
    "cerebras": "reasoning",
}
"""Under which name a provider says what a model thinks; others: as nobody in particular does."""


def _states(message: Json) -> Iterator[str]:
    """Reasoning that comes back, under whichever name."""
    for key in ("reasoning_content", "reasoning"):
        if message.get(key):
            yield message[key]
    for detail in message.get("reasoning_details") or ():
        yield detail.get("text") or ""
    for part in _parts(message.get("content")):
        for inner in part.get("thinking") or () if part["type"] == "thinking" else ():
            yield inner["text"]


def _thought(text: str, asked: Asked) -> Json:
    """What a model thinks, as a member of a message or of a delta."""
    if asked.provider in WITHOUT_REASONING:
        return {}
    if asked.provider == "mistral":
        thinking = [{"type": "text", "text": text}]
        return {"content": [{"type": "thinking", "thinking": thinking}]}
    if asked.provider == "openrouter":
        detail = {"type": "reasoning.text", "text": text, "format": "google-gemini-v1", "index": 0}
        return {"reasoning": text, "reasoning_details": [detail]}
    return {REASONING.get(asked.provider, "reasoning_content"): text}


def _parts(content: str | list[Json] | None) -> list[Json]:
    return content if isinstance(content, list) else [{"type": "text", "text": content or ""}]


def _text(content: str | list[Json] | None) -> str:
    return "".join(part.get("text", "") for part in _parts(content))


def _call(call: Call) -> Json:
    if call.tool.is_custom:
        custom = {"name": call.tool.name, "input": call.arguments["input"]}
        return {"id": call.id, "type": "custom", "custom": custom}
    function = {"name": call.tool.name, "arguments": compact(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _finish(reply: Reply) -> str:
    return "tool_calls" if reply.calls else "stop"


_USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


def whole(reply: Reply, asked: Asked) -> Json:
    """The answer as one body."""
    message: Json = {"role": "assistant", "content": None}
    for part in reply.parts:
        match part:
            case Think(text):
                message |= _thought(text, asked)
            case Say(text) if isinstance(message["content"], list):
                message["content"].append({"type": "text", "text": text})
            case Say(text):
                message["content"] = text
            case Call():
                message.setdefault("tool_calls", []).append(_call(part))
    return {
        "id": f"chatcmpl-scripted{asked.turn}",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": asked.model,
        "choices": [{"index": 0, "message": message, "finish_reason": _finish(reply)}],
        "usage": _USAGE,
    }


def events(reply: Reply, asked: Asked) -> Iterator[Event]:
    """The answer as a stream."""
    chunk = {
        "id": f"chatcmpl-scripted{asked.turn}",
        "object": "chat.completion.chunk",
        "created": 1_790_000_000,
        "model": asked.model,
    }
    for delta in _deltas(reply, asked):
        yield None, chunk | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    end = {"index": 0, "delta": {}, "finish_reason": _finish(reply)}
    yield None, chunk | {"choices": [end]}
    if asked.wants_usage:
        yield None, chunk | {"choices": [], "usage": _USAGE}
    yield None, "[DONE]"


def _deltas(reply: Reply, asked: Asked) -> Iterator[Json]:
    yield {"role": "assistant", "content": ""}
    index = 0
    for part in reply.parts:
        match part:
            case Think(text):
                yield from filter(None, (_thought(piece, asked) for piece in pieces(text)))
            case Say(text):
                yield from ({"content": piece} for piece in pieces(text))
            case Call():
                call = _call(part)
                kind, text = call["type"], "input" if part.tool.is_custom else "arguments"
                first = call | {kind: {"name": part.tool.name, text: ""}}
                yield {"tool_calls": [{"index": index} | first]}
                for piece in pieces(call[kind][text]):
                    yield {"tool_calls": [{"index": index, kind: {text: piece}}]}
                index += 1


def careless(event: Event) -> Iterator[Event]:
    """No ids, no roles, no usage, no end mark; the name in every piece; a wrong finish reason."""
    _, data = event
    if data == "[DONE]":
        return
    data = json.loads(json.dumps(data))
    for key in ("id", "created", "object", "usage"):
        data.pop(key, None)
    for choice in data["choices"]:
        delta = choice["delta"]
        delta.pop("role", None)
        for call in delta.get("tool_calls") or ():
            call.pop("id", None)
            call.pop("type", None)
        if choice["finish_reason"] == "tool_calls":
            choice["finish_reason"] = "stop"
    yield None, data | {"provider": "somebody", "x_groq": None}


def error(failure: Failure) -> tuple[int, Json]:
    """The error in its envelope."""
    status, code, kind = FAILURES[failure.kind]
    message = OVERFLOW if failure.kind == "overflow" else failure.message
    return status, {"error": {"message": message, "type": kind, "param": None, "code": code}}
