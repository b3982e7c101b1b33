"""What a protocol wrote as a stream, value by value, with its framing checked on the way."""

import json
from typing import Any


def anthropic(data: bytes) -> list[Any]:
    """For each event its type, one line of data and a blank line."""
    events = []
    for each in data.decode().split("\n\n")[:-1]:
        first, second = each.split("\n")
        event = json.loads(second.removeprefix("data: "))
        assert first == f"event: {event['type']}"
        events.append(event)
    return events


def chat(data: bytes) -> list[Any]:
    """Lines of data, the last of which says that it is done."""
    frames = [each.removeprefix(b"data: ") for each in data.split(b"\n\n") if each]
    assert frames[-1] == b"[DONE]"
    return [json.loads(each) for each in frames[:-1]]


def responses(data: bytes) -> list[Any]:
    """As Anthropic's, and numbered without gaps."""
    events = anthropic(data)
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert b"[DONE]" not in data
    return events


def interactions(data: bytes) -> list[Any]:
    """For each event its type, one line of data and a blank line, and `[DONE]` at the end."""
    *pieces, done, rest = data.decode().split("\n\n")
    assert (done, rest) == ("event: done\ndata: [DONE]", "")
    events = []
    for each in pieces:
        first, second = each.split("\n")
        event = json.loads(second.removeprefix("data: "))
        assert first == f"event: {event['event_type']}"
        events.append(event)
    return events


def gemini(data: bytes) -> list[Any]:
    """Lines of data with CRLF after each, and nothing that the SDK would take for a line end."""
    assert data.endswith(b"\r\n\r\n")
    # The SDK ends lines wherever Python does, which is in more places than SSE.
    assert all(line.startswith("data: {") for line in data.decode().splitlines() if line)
    pieces = data.split(b"\r\n\r\n")[:-1]
    assert all(piece.startswith(b"data: {") and b"\n" not in piece for piece in pieces)
    return [json.loads(piece[6:]) for piece in pieces]


def ollama(data: bytes) -> list[Any]:
    """A line of JSON each."""
    return [json.loads(line) for line in data.splitlines()]
