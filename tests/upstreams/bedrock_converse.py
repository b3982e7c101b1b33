"""Amazon Bedrock Converse, as its upstream speaks it."""

import base64
import re
import struct
from collections.abc import Iterator
from urllib.parse import unquote
from zlib import crc32

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

NAME = "bedrock-converse"
CONTENT_TYPE = "application/vnd.amazon.eventstream"
CALL_ID = "tooluse_{:014d}"

FAILURES = {
    "rate": (429, "ThrottlingException"),
    "overflow": (400, "ValidationException"),
    "invalid": (400, "ValidationException"),
}
OVERFLOW = "Input is too long for requested model."
_MODEL = re.compile(r"/model/(.+)/(converse(?:-stream)?)$")


def model(path: str, body: Json) -> str:
    """The model that is asked."""
    found = _MODEL.search(path)
    assert found
    return unquote(found[1])


def read(path: str, body: Json) -> Asked:
    """A request as plain facts."""
    found = _MODEL.search(path)
    assert found
    blocks = [block for message in body["messages"] for block in message["content"]]
    calls = [block["toolUse"] for block in blocks if "toolUse" in block]
    results = [block["toolResult"] for block in blocks if "toolResult" in block]
    tools = (body.get("toolConfig") or {}).get("tools", ())
    return Asked(
        protocol=NAME,
        model=unquote(found[1]),
        stream=found[2] == "converse-stream",
        body=body,
        tools=tuple(
            Offered(tool["toolSpec"]["name"], tool["toolSpec"]["inputSchema"]["json"])
            for tool in tools
            if "toolSpec" in tool
        ),
        calls=tuple((call["toolUseId"], call["name"]) for call in calls),
        results=tuple(
            Result(each["toolUseId"], None, "".join(map(_text, each["content"])))
            for each in results
        ),
        states=tuple(
            _state(block["reasoningContent"]) for block in blocks if "reasoningContent" in block
        ),
        images=tuple(_images(blocks)),
    )


def _text(block: Json) -> str:
    return block["text"] if "text" in block else compact(block["json"]) if "json" in block else ""


def _state(value: Json) -> str:
    words = value.get("reasoningText") or {}
    return value.get("redactedContent") or words.get("signature") or words.get("text", "")


def _images(blocks: list[Json]) -> Iterator[bytes]:
    for block in blocks:
        if "image" in block and "bytes" in block["image"]["source"]:
            yield base64.b64decode(block["image"]["source"]["bytes"])
        elif "toolResult" in block:
            yield from _images(block["toolResult"]["content"])


def whole(reply: Reply, asked: Asked) -> Json:
    """The answer as one body."""
    return {
        "output": {"message": {"role": "assistant", "content": list(map(_block, reply.parts))}},
        "stopReason": "tool_use" if reply.calls else "end_turn",
        **_counted(),
    }


def _counted() -> Json:
    usage = {"inputTokens": 100, "outputTokens": 20, "totalTokens": 120}
    return {"usage": usage, "metrics": {"latencyMs": 7}}


def _block(part: Part) -> Json:
    match part:
        case Think(text, state):
            words = {"text": text} | ({"signature": state} if state else {})
            return {"reasoningContent": {"reasoningText": words}}
        case Say(text):
            return {"text": text}
        case Call(tool, arguments, call_id):
            return {"toolUse": {"toolUseId": call_id, "name": tool.name, "input": arguments}}


def _deltas(block: Json) -> Iterator[Json]:
    if "reasoningContent" in block:
        words = block["reasoningContent"]["reasoningText"]
        yield from ({"reasoningContent": {"text": piece}} for piece in pieces(words["text"]))
        if "signature" in words:
            yield {"reasoningContent": {"signature": words["signature"]}}
    elif "text" in block:
        yield from ({"text": piece} for piece in pieces(block["text"]))
    else:
        for piece in ("", *pieces(compact(block["toolUse"]["input"]))):
            yield {"toolUse": {"input": piece}}


def events(reply: Reply, asked: Asked) -> Iterator[Event]:
    """The answer as a stream."""
    body = whole(reply, asked)
    yield "messageStart", {"role": "assistant", "p": "abcdefgh"}
    for index, block in enumerate(body["output"]["message"]["content"]):
        place = {"contentBlockIndex": index}
        if "toolUse" in block:
            start = {key: block["toolUse"][key] for key in ("toolUseId", "name")}
            yield "contentBlockStart", {**place, "start": {"toolUse": start}}
        for delta in _deltas(block):
            yield "contentBlockDelta", {**place, "delta": delta, "p": "abc"}
        yield "contentBlockStop", place
    yield "messageStop", {"stopReason": body["stopReason"]}
    yield "metadata", _counted()


def careless(event: Event) -> Iterator[Event]:
    """Starts of texts without a member, an event nobody knows, no usage."""
    name, data = event
    assert isinstance(data, dict)
    if name == "contentBlockDelta" and "text" in data["delta"]:
        yield "contentBlockStart", {"contentBlockIndex": data["contentBlockIndex"], "start": {}}
    if name == "metadata":
        data = {"metrics": {"latencyMs": 7}}
    yield name, data | {"x_trace": "7f"}


def frame(event: Event) -> bytes:
    """One event as a message, with checksums."""
    name, data = event
    payload = (data if isinstance(data, str) else compact(data)).encode()
    return _message((":event-type", name or ""), "event", payload)


def exception(kind: str, message: str) -> bytes:
    """The message that ends a stream that failed."""
    name = kind[:1].lower() + kind[1:]
    payload = compact({"message": message}).encode()
    return _message((":exception-type", name), "exception", payload)


def _message(named: tuple[str, str], kind: str, payload: bytes) -> bytes:
    headers = (named, (":content-type", "application/json"), (":message-type", kind))
    head = b"".join(
        bytes((len(key),)) + key.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
        for key, value in headers
    )
    lengths = struct.pack(">II", len(head) + len(payload) + 16, len(head))
    message = lengths + struct.pack(">I", crc32(lengths)) + head + payload
    return message + struct.pack(">I", crc32(message))


def error(failure: Failure) -> tuple[int, Json]:
    """The error; its type is in the body, too, as some front ends have it."""
    status, kind = FAILURES[failure.kind]
    message = OVERFLOW if failure.kind == "overflow" else failure.message
    return status, {"message": message, "__type": kind}
