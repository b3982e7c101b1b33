"""OpenAI Responses, as its upstream speaks it over HTTP."""

from collections.abc import Iterator
from itertools import count

from tests.upstreams import openai_chat
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
    data_url,
    pieces,
)

NAME = "openai-responses"
CONTENT_TYPE = "text/event-stream"
CALL_ID = "call_{:024d}"
_CALLS = ("function_call", "custom_tool_call")
OVERFLOW = (
    "Your input exceeds the context window of this model. Please adjust your input and try again."
)


def model(path: str, body: Json) -> str:
    """The model that is asked."""
    return str(body.get("model") or "")


def read(path: str, body: Json) -> Asked:
    """A request as plain facts."""
    given = body["input"]
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    outputs = [i for i in items if i.get("type", "").endswith("call_output")]
    return Asked(
        protocol=NAME,
        model=body["model"],
        stream=bool(body.get("stream")),
        body=body,
        tools=(
            *_offered(body.get("tools") or (), None),
            *(
                tool
                for item in items
                if item.get("type") == "additional_tools"
                for tool in _offered(item["tools"], None)
            ),
        ),
        calls=tuple((i["call_id"], i["name"]) for i in items if i.get("type") in _CALLS),
        results=tuple(Result(i["call_id"], None, _text(i["output"])) for i in outputs),
        states=tuple(
            i.get("encrypted_content") or _text(i.get("summary") or "")
            for i in items
            if i.get("type") == "reasoning"
        ),
        images=tuple(
            image
            for item in items
            for part in _parts(item.get("output") or item.get("content"))
            if part["type"] == "input_image"
            for image in data_url(part["image_url"])
        ),
    )


def _offered(tools: list[Json] | tuple[()], namespace: str | None) -> Iterator[Offered]:
    for tool in tools:
        if tool["type"] == "namespace":
            yield from _offered(tool["tools"], tool["name"])
        elif tool["type"] == "function":
            yield Offered(tool["name"], tool.get("parameters") or {}, namespace)
        elif tool["type"] == "custom":
            yield Offered(tool["name"], {}, namespace, is_custom=True)


def _parts(content: str | list[Json] | None) -> list[Json]:
    return content if isinstance(content, list) else [{"type": "text", "text": content or ""}]


def _text(content: str | list[Json]) -> str:
    return "".join(part.get("text", "") for part in _parts(content))


def _item(part: Part, number: str) -> Json:
    match part:
        case Think(text, state):
            return {
                "type": "reasoning",
                "id": f"rs_scripted{number}",
                "summary": [{"type": "summary_text", "text": text}],
                "encrypted_content": state or None,
            }
        case Say(text):
            content = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
            return {
                "type": "message",
                "id": f"msg_scripted{number}",
                "role": "assistant",
                "status": "completed",
                "content": [content],
            }
        case Call(tool, arguments, call_id) if tool.is_custom:
            item = {
                "type": "custom_tool_call",
                "id": f"ctc_scripted{number}",
                "call_id": call_id,
                "name": tool.name,
                "input": arguments["input"],
                "status": "completed",
            }
            return item | ({"namespace": tool.namespace} if tool.namespace else {})
        case Call(tool, arguments, call_id):
            item = {
                "type": "function_call",
                "id": f"fc_scripted{number}",
                "call_id": call_id,
                "name": tool.name,
                "arguments": compact(arguments),
                "status": "completed",
            }
            return item | ({"namespace": tool.namespace} if tool.namespace else {})


def whole(reply: Reply, asked: Asked) -> Json:
    """The answer as one body."""
    return {
        "id": f"resp_scripted{asked.turn}",
        "object": "response",
        "created_at": 1_790_000_000,
        "status": "completed",
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "model": asked.model,
        "output": [
            _item(part, f"{asked.turn}_{number}") for number, part in enumerate(reply.parts)
        ],
        "parallel_tool_calls": True,
        "reasoning": asked.body.get("reasoning"),
        "temperature": 1.0,
        "top_p": 1.0,
        "tool_choice": asked.body.get("tool_choice", "auto"),
        "tools": [],
        "metadata": {},
        "usage": {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 20,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 120,
        },
    }


def events(reply: Reply, asked: Asked) -> Iterator[Event]:
    """The answer as a stream."""
    numbers = count()
    for event in _events(whole(reply, asked)):
        yield event["type"], event | {"sequence_number": next(numbers)}


def _events(body: Json) -> Iterator[Json]:
    begun = body | {"status": "in_progress", "output": [], "usage": None}
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, item in enumerate(body["output"]):
        place = {"output_index": index, "item_id": item["id"]}
        empty = item | {"status": "in_progress"} | _EMPTY[item["type"]]
        yield {"type": "response.output_item.added", "output_index": index, "item": empty}
        for event in _INSIDE[item["type"]](item):
            yield event | place | {"type": f"response.{event['type']}"}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": body}


_EMPTY: Json = {
    "reasoning": {"summary": [], "encrypted_content": None},
    "message": {"content": []},
    "function_call": {"arguments": ""},
    "custom_tool_call": {"input": ""},
}


def _reasoning(item: Json) -> Iterator[Json]:
    part = item["summary"][0]
    place = {"summary_index": 0}
    yield place | {"type": "reasoning_summary_part.added", "part": part | {"text": ""}}
    for piece in pieces(part["text"]):
        yield place | {"type": "reasoning_summary_text.delta", "delta": piece}
    yield place | {"type": "reasoning_summary_text.done", "text": part["text"]}
    yield place | {"type": "reasoning_summary_part.done", "part": part}


def _message(item: Json) -> Iterator[Json]:
    part = item["content"][0]
    place: Json = {"content_index": 0}
    yield place | {"type": "content_part.added", "part": part | {"text": ""}}
    for piece in pieces(part["text"]):
        yield place | {"type": "output_text.delta", "delta": piece, "logprobs": []}
    yield place | {"type": "output_text.done", "text": part["text"], "logprobs": []}
    yield place | {"type": "content_part.done", "part": part}


def _function_call(item: Json) -> Iterator[Json]:
    for piece in pieces(item["arguments"]):
        yield {"type": "function_call_arguments.delta", "delta": piece}
    said = {"name": item["name"], "arguments": item["arguments"]}
    yield {"type": "function_call_arguments.done"} | said


def _custom_tool_call(item: Json) -> Iterator[Json]:
    for piece in pieces(item["input"]):
        yield {"type": "custom_tool_call_input.delta", "delta": piece}
    yield {"type": "custom_tool_call_input.done", "input": item["input"]}


_INSIDE = {
    "reasoning": _reasoning,
    "message": _message,
    "function_call": _function_call,
    "custom_tool_call": _custom_tool_call,
}

_UNSAID = {"sequence_number", "content_index", "logprobs"}


def careless(event: Event) -> Iterator[Event]:
    """No numbers, no event lines, no parts, no item ids at the end, no details of usage."""
    name, data = event
    assert isinstance(data, dict)
    if name in {"response.in_progress", "response.content_part.added"}:
        return
    data = {key: value for key, value in data.items() if key not in _UNSAID}
    if name == "response.completed":
        kept = {"id", "object", "status", "model", "output"}
        data["response"] = {k: v for k, v in data["response"].items() if k in kept}
    yield None, data | {"x_trace": "7f"}


def failed(failure: Failure, asked: Asked) -> Iterator[Event]:
    """What is only noticed when the stream has begun: that the input is too long."""
    if failure.kind != "overflow" or not asked.stream:
        return
    body = whole(Reply(()), asked) | {"usage": None}
    why = {"code": "context_length_exceeded", "message": OVERFLOW}
    begun, ended = body | {"status": "in_progress"}, body | {"status": "failed", "error": why}
    for number, (name, response) in enumerate((("created", begun), ("failed", ended))):
        kind = f"response.{name}"
        yield kind, {"type": kind, "response": response, "sequence_number": number}


def error(failure: Failure) -> tuple[int, Json]:
    """The error in its envelope."""
    status, body = openai_chat.error(failure)
    if failure.kind == "overflow":
        body["error"] |= {"message": OVERFLOW, "param": "input"}
    return status, body
