"""Gemini Interactions, as its upstream speaks it."""

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

NAME = "gemini-interactions"
CONTENT_TYPE = "text/event-stream"
CALL_ID = "call_{:08d}"

_FAILURES = {
    "rate": (429, "rate_limit_exceeded"),
    "overflow": (400, "invalid_request"),
    "invalid": (400, "invalid_request"),
}
OVERFLOW = "The input token count (1212345) exceeds the maximum number of tokens allowed (1048576)."


def model(path: str, body: Json) -> str:
    """The model that is asked."""
    return str(body.get("model") or "")


def steps(body: Json) -> list[Json]:
    """The steps of a request, whatever form its input has."""
    given = body.get("input") or []
    if isinstance(given, str):
        given = [{"type": "text", "text": given}]
    given = [given] if isinstance(given, dict) else given
    if given and given[0].get("type") in ("text", "image", "audio", "document", "video"):
        return [{"type": "user_input", "content": given}]
    return list(given)


def read(path: str, body: Json) -> Asked:
    """A request as plain facts."""
    given = steps(body)
    return Asked(
        protocol=NAME,
        model=body["model"],
        stream=bool(body.get("stream")),
        body=body,
        tools=tuple(
            Offered(tool["name"], tool.get("parameters") or {})
            for tool in body.get("tools") or ()
            if tool["type"] == "function"
        ),
        calls=tuple((s["id"], s["name"]) for s in given if s["type"] == "function_call"),
        results=tuple(
            Result(s["call_id"], s.get("name"), _text(s["result"]))
            for s in given
            if s["type"] == "function_result"
        ),
        states=tuple(s["signature"] for s in given if s["type"] == "thought" and "signature" in s),
        images=tuple(
            base64.b64decode(content["data"])
            for step in given
            for content in _contents(step.get("content") or step.get("result"))
            if content.get("type") == "image" and "data" in content
        ),
    )


def _contents(value: object) -> list[Json]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _text(result: object) -> str:
    if isinstance(result, str):
        return result
    if isinstance(result, list):
        return "".join(each.get("text", "") for each in _contents(result))
    return compact(result)


def _step(part: Part) -> Json:
    match part:
        case Think(text, state):
            step: Json = {"type": "thought", "summary": [{"type": "text", "text": text}]}
            return step | ({"signature": state} if state else {})
        case Say(text):
            return {"type": "model_output", "content": [{"type": "text", "text": text}]}
        case Call(tool, arguments, call_id):
            return {
                "type": "function_call",
                "id": call_id,
                "name": tool.name,
                "arguments": arguments,
            }


def _head(reply: Reply, asked: Asked) -> Json:
    return {
        "id": f"v1_scripted{asked.turn}",
        "object": "interaction",
        "model": asked.model,
        "status": "requires_action" if reply.calls else "completed",
        "created": "2026-11-02T10:00:00Z",
        "updated": "2026-11-02T10:00:01Z",
    }


_USAGE = {
    "total_input_tokens": 100,
    "total_cached_tokens": 0,
    "total_output_tokens": 20,
    "total_thought_tokens": 0,
    "total_tokens": 120,
}


def whole(reply: Reply, asked: Asked) -> Json:
    """The answer as one body."""
    return {**_head(reply, asked), "steps": [*map(_step, reply.parts)], "usage": _USAGE}


def events(reply: Reply, asked: Asked) -> Iterator[Event]:
    """The answer as a stream."""
    for event in _events(reply, asked):
        yield event["event_type"], event
    yield "done", "[DONE]"


def _events(reply: Reply, asked: Asked) -> Iterator[Json]:
    head = _head(reply, asked)
    begun = {**head, "status": "in_progress"}
    yield {"event_type": "interaction.created", "interaction": begun}
    update = {"interaction_id": head["id"], "status": "in_progress"}
    yield {"event_type": "interaction.status_update", **update}
    for index, step in enumerate(map(_step, reply.parts)):
        start = {key: value for key, value in step.items() if key in ("type", "id", "name")}
        start |= {"arguments": {}} if step["type"] == "function_call" else {}
        yield {"event_type": "step.start", "index": index, "step": start}
        for delta in _deltas(step):
            yield {"event_type": "step.delta", "index": index, "delta": delta}
        yield {"event_type": "step.stop", "index": index}
    yield {"event_type": "interaction.completed", "interaction": {**head, "usage": _USAGE}}


def _deltas(step: Json) -> Iterator[Json]:
    if step["type"] == "function_call":
        for piece in pieces(compact(step["arguments"])):
            yield {"type": "arguments_delta", "arguments": piece}
    elif step["type"] == "thought":
        for piece in pieces(step["summary"][0]["text"]):
            yield {"type": "thought_summary", "content": {"type": "text", "text": piece}}
        if "signature" in step:
            yield {"type": "thought_signature", "signature": step["signature"]}
    else:
        for piece in pieces(step["content"][0]["text"]):
            yield {"type": "text", "text": piece}


def careless(event: Event) -> Iterator[Event]:
    """No event lines, no updates, no usage, no types of texts; a member nobody knows."""
    name, data = event
    if not isinstance(data, dict):
        yield None, data
        return
    if name == "interaction.status_update":
        return
    if name == "interaction.completed":
        kept = ("id", "model", "status")
        data = data | {"interaction": {key: data["interaction"][key] for key in kept}}
    if name == "step.delta" and data["delta"]["type"] == "text":
        data = data | {"delta": {"text": data["delta"]["text"]}}
    yield None, data | {"x_trace": "7f"}


def error(failure: Failure) -> tuple[int, Json]:
    """The error in its envelope."""
    status, code = _FAILURES[failure.kind]
    message = OVERFLOW if failure.kind == "overflow" else failure.message
    return status, {"error": {"code": code, "message": message}}
