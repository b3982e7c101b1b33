"""Gemini generateContent, as its upstream speaks it."""

import base64
import re
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

NAME = "gemini"
CONTENT_TYPE = "text/event-stream"
CALL_ID = "fc{:06d}"

_FAILURES = {
    "rate": (429, "RESOURCE_EXHAUSTED"),
    "overflow": (400, "INVALID_ARGUMENT"),
    "invalid": (400, "INVALID_ARGUMENT"),
}
OVERFLOW = "The input token count (1212345) exceeds the maximum number of tokens allowed (1048576)."
_MODEL = re.compile(r"models/([^:]+):(\w+)")


def model(path: str, body: Json) -> str:
    """The model that is asked."""
    found = _MODEL.search(path)
    assert found
    return found[1]


def read(path: str, body: Json) -> Asked:
    """A request as plain facts."""
    found = _MODEL.search(path)
    assert found
    parts = [part for content in body["contents"] for part in content["parts"]]
    return Asked(
        protocol=NAME,
        model=found[1],
        stream=found[2] == "streamGenerateContent",
        body=body,
        tools=tuple(
            Offered(function["name"], _schema(function))
            for tool in body.get("tools") or ()
            for function in _either(tool, "functionDeclarations", "function_declarations") or ()
        ),
        calls=tuple(
            (part["functionCall"].get("id"), part["functionCall"]["name"])
            for part in parts
            if "functionCall" in part
        ),
        results=tuple(
            Result(answer.get("id"), answer["name"], compact(answer["response"]))
            for part in parts
            if (answer := part.get("functionResponse"))
        ),
        states=tuple(_usual(p["thoughtSignature"]) for p in parts if p.get("thoughtSignature")),
        images=tuple(_images(parts)),
    )


def _usual(data: str) -> str:
    """Base64 in its usual alphabet: Google's servers take both, and its SDK writes the other."""
    return data.replace("-", "+").replace("_", "/")


def _either(value: Json, one: str, other: str) -> Json:
    return value.get(one) or value.get(other) or {}


def _schema(function: Json) -> Json:
    return function.get("parameters") or _either(
        function, "parametersJsonSchema", "parameters_json_schema"
    )


def _images(parts: list[Json]) -> Iterator[bytes]:
    for part in parts:
        if data := _either(part, "inlineData", "inline_data").get("data"):
            yield base64.b64decode(_usual(data))
        answer = part.get("functionResponse") or {}
        yield from _images(answer.get("parts") or [])


def _part(part: Part) -> Json:
    match part:
        case Think(text):
            return {"text": text, "thought": True}
        case Say(text):
            return {"text": text}
        case Call(tool, arguments, call_id, state):
            call = {"name": tool.name, "args": arguments, "id": call_id}
            return {"functionCall": call} | ({"thoughtSignature": state} if state else {})


def _answer(parts: list[Json], asked: Asked, finish: str | None) -> Json:
    candidate = {"content": {"parts": parts, "role": "model"}, "index": 0}
    return {
        "candidates": [candidate | ({"finishReason": finish} if finish else {})],
        "usageMetadata": {
            "promptTokenCount": 100,
            "candidatesTokenCount": 20,
            "totalTokenCount": 120,
        },
        "modelVersion": asked.model,
        "responseId": f"scripted{asked.turn}",
    }


def whole(reply: Reply, asked: Asked) -> Json:
    """The answer as one body."""
    return _answer([_part(part) for part in reply.parts], asked, "STOP")


def events(reply: Reply, asked: Asked) -> Iterator[Event]:
    """The answer as a stream."""
    parts = [piece for part in reply.parts for piece in _split(_part(part))]
    for number, part in enumerate(parts, 1):
        yield None, _answer([part], asked, "STOP" if number == len(parts) else None)


def _split(part: Json) -> list[Json]:
    if "text" not in part:
        return [part]
    return [part | {"text": piece} for piece in pieces(part["text"])]


def careless(event: Event) -> Iterator[Event]:
    """No ids of calls, no usage, no role, no index, no version; a field nobody knows."""
    _, data = event
    assert isinstance(data, dict)
    candidate = data["candidates"][0]
    parts = [
        part | {"functionCall": {k: v for k, v in part["functionCall"].items() if k != "id"}}
        if "functionCall" in part
        else part
        for part in candidate["content"]["parts"]
    ]
    said = {key: candidate[key] for key in ("finishReason",) if key in candidate}
    yield None, {"candidates": [said | {"content": {"parts": parts}, "avgLogprobs": -0.1}]}


def error(failure: Failure) -> tuple[int, Json]:
    """The error in its envelope."""
    status, kind = _FAILURES[failure.kind]
    message = OVERFLOW if failure.kind == "overflow" else failure.message
    return status, {"error": {"code": status, "message": message, "status": kind}}
