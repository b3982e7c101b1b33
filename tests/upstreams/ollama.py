"""Ollama `/api/chat`, as its upstream speaks it."""

import base64
from collections.abc import Iterator

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
    pieces,
)

NAME = "ollama"
CONTENT_TYPE = "application/x-ndjson"
CALL_ID = "call_{:08d}"

_FAILURES = {"rate": 429, "overflow": 400, "invalid": 400}
OVERFLOW = "the input length exceeds the context length"


def model(path: str, body: Json) -> str:
    """The model that is asked."""
    return str(body.get("model") or "")


def read(path: str, body: Json) -> Asked:
    """A request as plain facts."""
    messages = body["messages"]
    return Asked(
        protocol=NAME,
        model=body["model"],
        stream=body.get("stream", True),
        body=body,
        tools=tuple(
            Offered(tool["function"]["name"], tool["function"].get("parameters") or {})
            for tool in body.get("tools") or ()
        ),
        calls=tuple(
            (call.get("id"), call["function"]["name"])
            for message in messages
            for call in message.get("tool_calls") or ()
        ),
        results=tuple(
            Result(m.get("tool_call_id"), m.get("tool_name"), m.get("content", ""))
            for m in messages
            if m["role"] == "tool"
        ),
        states=tuple(m["thinking"] for m in messages if m.get("thinking")),
        images=tuple(base64.b64decode(image) for m in messages for image in m.get("images") or ()),
    )


def _line(message: Json, asked: Asked, **more: object) -> Json:
    return {
        "model": asked.model,
        "created_at": "2026-09-21T14:13:20.000000Z",
        "message": {"role": "assistant", "content": ""} | message,
        "done": False,
    } | more


_END: Json = {
    "done": True,
    "done_reason": "stop",
    "total_duration": 1_000_000,
    "load_duration": 1_000,
    "prompt_eval_count": 100,
    "prompt_eval_duration": 1_000,
    "eval_count": 20,
    "eval_duration": 1_000,
}


def _call(call: Call) -> Json:
    return {"id": call.id, "function": {"name": call.tool.name, "arguments": call.arguments}}


def whole(reply: Reply, asked: Asked) -> Json:
    """The answer as one body."""
    message: Json = {}
    for part in reply.parts:
        match part:
            case Think(text):
                message["thinking"] = text
            case Say(text):
                message["content"] = text
            case Call():
                message.setdefault("tool_calls", []).append(_call(part))
    return _line(message, asked) | _END


def events(reply: Reply, asked: Asked) -> Iterator[Event]:
    """The answer as a stream."""
    for part in reply.parts:
        match part:
            case Think(text):
                said = [{"thinking": piece} for piece in pieces(text)]
            case Say(text):
                said = [{"content": piece} for piece in pieces(text)]
            case Call():
                said = [{"tool_calls": [_call(part)]}]
        for message in said:
            yield None, _line(message, asked)
    yield None, _line({}, asked) | _END


def careless(event: Event) -> Iterator[Event]:
    """No ids, no counts, no reason at the end, no dates."""
    _, data = event
    assert isinstance(data, dict)
    message = dict(data["message"])
    if calls := message.get("tool_calls"):
        message["tool_calls"] = [{"function": call["function"]} for call in calls]
    yield None, {"message": message, "done": data["done"], "x_trace": "7f"}


def error(failure: Failure) -> tuple[int, Json]:
    """The error in its envelope."""
    message = OVERFLOW if failure.kind == "overflow" else failure.message
    return _FAILURES[failure.kind], {"error": message}
