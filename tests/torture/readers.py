"""Strict readers of all protocols, which share no code with the product.

A reader says what a careful client would have seen: the text, the calls that were shown as
complete, how the answer ended, and whatever was not as the protocol has it.
"""

import json
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass
class Reading:
    """What a client saw."""

    text: str = ""
    calls: list[tuple[str, Any]] = field(default_factory=list)
    """Complete calls, as (name, arguments)."""
    ids: list[str] = field(default_factory=list)
    end: str = "cut"
    """`complete`, `error`, or `cut`: neither was said."""
    wrong: list[str] = field(default_factory=list)

    def finish(self, end: str) -> None:
        """The answer ends, once."""
        if self.end != "cut":
            self.wrong.append(f"{end} after {self.end}")
        self.end = end

    def call(self, name: str, arguments: str | Json, id_: str | None = None) -> None:
        """A complete call."""
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments or "{}")
            except ValueError:
                self.wrong.append(f"a complete call has arguments that are no JSON: {arguments!r}")
        self.calls.append((name, arguments))
        if id_ is not None:
            self.ids.append(id_)


# --- framing --------------------------------------------------------------------------------------


def _sse(data: bytes, seen: Reading) -> Iterator[tuple[str | None, Any]]:
    if data and not data.endswith((b"\n\n", b"\r\n\r\n")):
        seen.wrong.append(f"the last event is not ended: {data[-60:]!r}")
    for block in data.replace(b"\r\n", b"\n").split(b"\n\n"):
        name, lines = None, []
        for line in block.split(b"\n"):
            if line.startswith(b"event:"):
                name = line[6:].strip().decode()
            elif line.startswith(b"data:"):
                lines.append(line[5:].removeprefix(b" "))
            elif line and not line.startswith(b":"):
                seen.wrong.append(f"a line of no event: {line[:60]!r}")
        if lines == [b"[DONE]"]:
            yield name, "[DONE]"
        elif lines:
            try:
                yield name, json.loads(b"\n".join(lines))
            except ValueError:
                seen.wrong.append(f"data that is no JSON: {lines[0][:60]!r} and {len(lines)} lines")


def _ndjson(data: bytes, seen: Reading) -> Iterator[Any]:
    for line in filter(None, data.split(b"\n")):
        try:
            yield json.loads(line)
        except ValueError:
            seen.wrong.append(f"a line that is no JSON: {line[:60]!r}")


def _frames(data: bytes, seen: Reading) -> Iterator[tuple[dict[str, str], Any]]:
    """The messages of an AWS event stream: their headers, which are all strings, and payloads."""
    while data:
        total, headers_length, prelude_sum = struct.unpack_from(">III", data)
        if total > len(data):
            seen.wrong.append(f"the last message is not ended: {data[:60]!r}")
            return
        message, data = data[:total], data[total:]
        (whole_sum,) = struct.unpack(">I", message[-4:])
        if zlib.crc32(message[:8]) != prelude_sum or zlib.crc32(message[:-4]) != whole_sum:
            seen.wrong.append(f"a message with a wrong checksum: {message[:60]!r}")
        yield (
            _frame_headers(message[12 : 12 + headers_length]),
            json.loads(message[12 + headers_length : -4]),
        )


def _frame_headers(data: bytes) -> dict[str, str]:
    found = {}
    while data:
        name, data = data[1 : 1 + data[0]].decode(), data[1 + data[0] :]
        kind, length = struct.unpack_from(">BH", data)
        if kind != 7:
            raise ValueError(f"the header {name} is no string")
        found[name], data = data[3 : 3 + length].decode(), data[3 + length :]
    return found


# --- streams --------------------------------------------------------------------------------------


def _anthropic_stream(data: bytes, seen: Reading) -> None:
    block: Json = {}
    parts: list[str] = []
    for name, event in _sse(data, seen):
        if name != event.get("type"):
            seen.wrong.append(f"event {name} has the type {event.get('type')}")
        match event["type"]:
            case "content_block_start":
                block, parts = event["content_block"], []
            case "content_block_delta":
                delta = event["delta"]
                parts.append(delta.get("partial_json", ""))
                seen.text += delta.get("text", "")
            case "content_block_stop" if block["type"] == "tool_use":
                seen.call(block["name"], "".join(parts), block["id"])
            case "message_stop":
                seen.finish("complete")
            case "error":
                _told(event["error"], seen, "type", "message")


def _openai_chat_stream(data: bytes, seen: Reading) -> None:
    calls: dict[int, Json] = {}
    ended = False
    for _, event in _sse(data, seen):
        if event == "[DONE]":
            if seen.end != "error":
                seen.finish("complete" if ended else "cut")
            continue
        if "error" in event:
            _told(event["error"], seen, "message")
            continue
        for choice in event["choices"]:
            seen.text += choice["delta"].get("content") or ""
            for call in choice["delta"].get("tool_calls") or ():
                kept = calls.setdefault(call["index"], {"id": "", "name": "", "arguments": ""})
                kept["id"] += call.get("id") or ""
                kept["name"] += call["function"].get("name") or ""
                kept["arguments"] += call["function"].get("arguments") or ""
            if choice.get("finish_reason") and not ended:
                ended = True
                for _, call in sorted(calls.items()):
                    seen.call(call["name"], call["arguments"], call["id"])


def _openai_responses_stream(data: bytes, seen: Reading) -> None:
    for due, (name, event) in enumerate(_sse(data, seen)):
        if name != event.get("type"):
            seen.wrong.append(f"event {name} has the type {event.get('type')}")
        if event.get("sequence_number") != due:
            number = event.get("sequence_number")
            seen.wrong.append(f"event {name} has the number {number} where {due} is due")
        match event["type"]:
            case "response.output_item.done":
                _response_item(event["item"], seen)
            case "response.completed":
                seen.finish("complete")
            case "response.failed":
                _told(event["response"]["error"], seen, "code", "message")
            case "error":
                _told(event.get("error", event), seen, "message")


def _interactions_stream(data: bytes, seen: Reading) -> None:
    open_steps: dict[int, Json] = {}
    for name, event in _sse(data, seen):
        if event == "[DONE]":
            continue
        if name != event.get("event_type"):
            seen.wrong.append(f"event {name} has the type {event.get('event_type')}")
        match event["event_type"]:
            case "step.start":
                open_steps[event["index"]] = {**event["step"], "said": ""}
            case "step.delta":
                step, delta = open_steps[event["index"]], event["delta"]
                if delta["type"] == "text":
                    seen.text += delta["text"]
                step["said"] += delta.get("arguments", "")
            case "step.stop":
                step = open_steps.pop(event["index"])
                if step["type"] == "function_call":
                    seen.call(step["name"], step["said"], step["id"])
            case "interaction.completed":
                seen.finish(_interaction_end(event["interaction"]))
            case "error":
                _told(event["error"], seen, "code", "message")


def _interaction_end(body: Json) -> str:
    return "complete" if body["status"] in ("completed", "requires_action") else "cut"


def _gemini_stream(data: bytes, seen: Reading) -> None:
    for _, event in _sse(data, seen):
        if "error" in event:
            _told(event["error"], seen, "code", "message", "status")
        else:
            _gemini_body(event, seen)


def _ollama_stream(data: bytes, seen: Reading) -> None:
    for event in _ndjson(data, seen):
        if "error" in event:
            _told({"message": event["error"]}, seen, "message")
            continue
        _ollama_message(event["message"], seen)
        if event["done"]:
            seen.finish("complete")


def _converse_stream(data: bytes, seen: Reading) -> None:
    calls: dict[int, Json] = {}
    parts: dict[int, str] = {}
    for headers, event in _frames(data, seen):
        if headers[":message-type"] == "exception":
            _told({**event, "type": headers.get(":exception-type")}, seen, "type", "message")
            continue
        index = event.get("contentBlockIndex")
        match headers[":event-type"]:
            case "contentBlockStart" if "toolUse" in event["start"]:
                calls[index], parts[index] = event["start"]["toolUse"], ""
            case "contentBlockDelta":
                seen.text += event["delta"].get("text", "")
                if "toolUse" in event["delta"]:
                    parts[index] += event["delta"]["toolUse"]["input"]
            case "contentBlockStop" if index in calls:
                seen.call(calls[index]["name"], parts[index], calls[index]["toolUseId"])
            case "messageStop":
                seen.finish(_converse_end(event))


def _converse_end(body: Json) -> str:
    return "complete" if body["stopReason"] in ("end_turn", "tool_use") else "cut"


# --- whole answers --------------------------------------------------------------------------------


def _anthropic_whole(body: Json, seen: Reading) -> None:
    for block in body["content"]:
        if block["type"] == "text":
            seen.text += block["text"]
        elif block["type"] == "tool_use":
            seen.call(block["name"], block["input"], block["id"])
    seen.finish("complete" if body["stop_reason"] in ("end_turn", "tool_use") else "cut")


def _openai_chat_whole(body: Json, seen: Reading) -> None:
    (choice,) = body["choices"]
    seen.text += choice["message"].get("content") or ""
    for call in choice["message"].get("tool_calls") or ():
        seen.call(call["function"]["name"], call["function"]["arguments"], call["id"])
    seen.finish("complete" if choice["finish_reason"] in ("stop", "tool_calls") else "cut")


def _openai_responses_whole(body: Json, seen: Reading) -> None:
    for item in body["output"]:
        _response_item(item, seen)
    seen.finish("complete" if body["status"] == "completed" else "cut")


def _response_item(item: Json, seen: Reading) -> None:
    if item["type"] == "message":
        seen.text += "".join(part["text"] for part in item["content"])
    elif item["type"] == "function_call" and item.get("status", "completed") == "completed":
        seen.call(item["name"], item["arguments"], item["call_id"])


def _interactions_whole(body: Json, seen: Reading) -> None:
    for step in body["steps"]:
        if step["type"] == "model_output":
            seen.text += "".join(part["text"] for part in step["content"])
        elif step["type"] == "function_call":
            seen.call(step["name"], step["arguments"], step["id"])
    seen.finish(_interaction_end(body))


def _gemini_body(body: Json, seen: Reading) -> None:
    for candidate in body.get("candidates") or ():
        for part in candidate.get("content", {}).get("parts") or ():
            seen.text += part.get("text", "")
            if call := part.get("functionCall"):
                seen.call(call["name"], call.get("args") or {}, call.get("id"))
        if finish := candidate.get("finishReason"):
            seen.finish("complete" if finish == "STOP" else "cut")


def _ollama_whole(body: Json, seen: Reading) -> None:
    _ollama_message(body["message"], seen)
    seen.finish("complete" if body["done"] and body.get("done_reason") == "stop" else "cut")


def _ollama_message(message: Json, seen: Reading) -> None:
    seen.text += message.get("content") or ""
    for call in message.get("tool_calls") or ():
        seen.call(call["function"]["name"], call["function"]["arguments"], call.get("id"))


def _converse_whole(body: Json, seen: Reading) -> None:
    for block in body["output"]["message"]["content"]:
        seen.text += block.get("text", "")
        if call := block.get("toolUse"):
            seen.call(call["name"], call["input"], call["toolUseId"])
    seen.finish(_converse_end(body))


# --- errors ---------------------------------------------------------------------------------------


def _told(error: Any, seen: Reading, *members: str) -> None:
    missing = [each for each in members if not isinstance(error, dict) or error.get(each) is None]
    if missing:
        seen.wrong.append(f"the error has no {', '.join(missing)}: {str(error)[:80]}")
    seen.finish("error")


_ERRORS: dict[str, Callable[[Json, Reading], None]] = {
    "anthropic": lambda body, seen: _told(
        body["error"] if body.get("type") == "error" else None, seen, "type", "message"
    ),
    "openai-chat": lambda body, seen: _told(body["error"], seen, "message", "type"),
    "openai-responses": lambda body, seen: _told(body["error"], seen, "message", "type"),
    "gemini-interactions": lambda body, seen: _told(body["error"], seen, "code", "message"),
    "gemini": lambda body, seen: _told(body["error"], seen, "code", "message", "status"),
    "ollama": lambda body, seen: _told({"message": body["error"]}, seen, "message"),
    "bedrock-converse": lambda body, seen: _told(body, seen, "message", "__type"),
}
_STREAMS: dict[str, Callable[[bytes, Reading], None]] = {
    "anthropic": _anthropic_stream,
    "openai-chat": _openai_chat_stream,
    "openai-responses": _openai_responses_stream,
    "gemini-interactions": _interactions_stream,
    "gemini": _gemini_stream,
    "ollama": _ollama_stream,
    "bedrock-converse": _converse_stream,
}
_WHOLE: dict[str, Callable[[Json, Reading], None]] = {
    "anthropic": _anthropic_whole,
    "openai-chat": _openai_chat_whole,
    "openai-responses": _openai_responses_whole,
    "gemini-interactions": _interactions_whole,
    "gemini": _gemini_body,
    "ollama": _ollama_whole,
    "bedrock-converse": _converse_whole,
}


def read(protocol: str, status: int, data: bytes, *, stream: bool) -> Reading:
    """What a client of a protocol makes of an answer."""
    seen = Reading()
    try:
        if status != 200:
            _ERRORS[protocol](json.loads(data), seen)
        elif stream:
            _STREAMS[protocol](data, seen)
        else:
            _WHOLE[protocol](json.loads(data), seen)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, struct.error) as error:
        seen.wrong.append(f"cannot be read: {error!r} in {data[:80]!r}")
    return seen
