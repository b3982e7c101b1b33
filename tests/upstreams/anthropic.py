"""Anthropic Messages, as its upstream speaks it."""

import base64
from collections.abc import Iterator

from tests.upstreams.values import (
    Asked,
    Call,
    Event,
    Failure,
    Json,
    Offered,
    Part,
    Reply,
    Result,
    Say,
    Think,
    compact,
    pieces,
)

NAME = "anthropic"
CONTENT_TYPE = "text/event-stream"
CALL_ID = "toolu_{:024d}"

_FAILURES = {
    "rate": (429, "rate_limit_error"),
    "overflow": (400, "invalid_request_error"),
    "invalid": (400, "invalid_request_error"),
}
OVERFLOW = "prompt is too long: 212345 tokens > 200000 maximum"


def model(path: str, body: Json) -> str:
    """The model that is asked."""
    return str(body.get("model") or "")


def read(path: str, body: Json) -> Asked:
    """A request as plain facts."""
    blocks = [block for message in body["messages"] for block in _blocks(message["content"])]
    thinking = {"thinking": "signature", "redacted_thinking": "data"}
    return Asked(
        protocol=NAME,
        model=body["model"],
        stream=bool(body.get("stream")),
        body=body,
        tools=tuple(
            Offered(tool["name"], tool["input_schema"])
            for tool in body.get("tools") or ()
            if "input_schema" in tool
        ),
        calls=tuple((b["id"], b["name"]) for b in blocks if b["type"] == "tool_use"),
        results=tuple(
            Result(b["tool_use_id"], None, _text(b.get("content")))
            for b in blocks
            if b["type"] == "tool_result"
        ),
        states=tuple(
            b.get(thinking[b["type"]]) or b.get("thinking", "")
            for b in blocks
            if b["type"] in thinking
        ),
        images=tuple(_images(blocks)),
    )


def _blocks(content: str | list[Json]) -> list[Json]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _text(content: str | list[Json] | None) -> str:
    return "".join(b.get("text", "") for b in _blocks(content or ""))


def _images(blocks: list[Json]) -> Iterator[bytes]:
    for block in blocks:
        if block["type"] == "image" and block["source"]["type"] == "base64":
            yield base64.b64decode(block["source"]["data"])
        elif block["type"] == "tool_result" and isinstance(block.get("content"), list):
            yield from _images(block["content"])


def whole(reply: Reply, asked: Asked) -> Json:
    """The answer as one body."""
    return {
        "id": f"msg_scripted{asked.turn}",
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": [_block(part) for part in reply.parts],
        "stop_reason": "tool_use" if reply.calls else "end_turn",
        "stop_sequence": None,
        "usage": _usage(20),
    }


def _usage(output: int) -> Json:
    return {
        "input_tokens": 100,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": output,
    }


def _block(part: Part) -> Json:
    match part:
        case Think(text, state):
            return {"type": "thinking", "thinking": text, "signature": state}
        case Say(text):
            return {"type": "text", "text": text}
        case Call(tool, arguments, call_id):
            return {"type": "tool_use", "id": call_id, "name": tool.name, "input": arguments}


def _deltas(block: Json) -> Iterator[Json]:
    match block["type"]:
        case "thinking":
            for piece in pieces(block["thinking"]):
                yield {"type": "thinking_delta", "thinking": piece}
            yield {"type": "signature_delta", "signature": block["signature"]}
        case "text":
            for piece in pieces(block["text"]):
                yield {"type": "text_delta", "text": piece}
        case "tool_use":
            for piece in ("", *pieces(compact(block["input"]))):
                yield {"type": "input_json_delta", "partial_json": piece}


_EMPTY: Json = {
    "thinking": {"thinking": "", "signature": ""},
    "text": {"text": ""},
    "tool_use": {"input": {}},
}


def events(reply: Reply, asked: Asked) -> Iterator[Event]:
    """The answer as a stream."""
    for event in _events(whole(reply, asked)):
        yield event["type"], event


def _events(body: Json) -> Iterator[Json]:
    start = body | {"content": [], "stop_reason": None, "usage": _usage(1)}
    yield {"type": "message_start", "message": start}
    yield {"type": "ping"}
    for index, block in enumerate(body["content"]):
        empty = block | _EMPTY[block["type"]]
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in _deltas(block):
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    delta = {"stop_reason": body["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": _usage(20)}
    yield {"type": "message_stop"}


def careless(event: Event) -> Iterator[Event]:
    """No event lines, no ids, no usage at the end, a wrong stop reason, fields nobody knows."""
    _, data = event
    assert isinstance(data, dict)
    data = data | {"x_trace": "7f"}
    if data["type"] == "message_start":
        kept = {k: v for k, v in data["message"].items() if k not in {"id", "usage"}}
        data |= {"message": kept}
    elif data["type"] == "message_delta":
        data |= {"delta": {"stop_reason": "end_turn"}, "usage": None}
    yield None, data


def error(failure: Failure) -> tuple[int, Json]:
    """The error in its envelope."""
    status, kind = _FAILURES[failure.kind]
    message = OVERFLOW if failure.kind == "overflow" else failure.message
    return status, {
        "type": "error",
        "error": {"type": kind, "message": message},
        "request_id": "req_scripted",
    }
