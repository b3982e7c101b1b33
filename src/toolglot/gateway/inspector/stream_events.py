"""The events of a streamed answer, on both sides: when each came, how long it is, and its type."""

from typing import Final

from msgspec import Struct

from toolglot.gateway.inspector.exchange_facts import UNREADABLE, body_kind, content_type, joined
from toolglot.gateway.telemetry.captures import CapturedExchange
from toolglot.ir import Json
from toolglot.lint import lint_stream
from toolglot.wire import jsontext
from toolglot.wire.event_stream import EventStreamDecoder
from toolglot.wire.ndjson import NdjsonDecoder
from toolglot.wire.sse import SseDecoder

SIDES: Final = ("upstream", "client")
_SHOWN: Final = 160
_LONGEST_LINT: Final = 2**23


class StreamEvent(Struct, frozen=True):
    """One event of a stream."""

    at: float
    """Seconds after the request."""
    type: str
    data: bytes


def stream_events(exchange: CapturedExchange, side: str) -> list[StreamEvent]:
    """The events that came from the provider, or went to the client."""
    attempt = exchange.attempt
    if side == "client":
        chunks, headers = exchange.chunks, exchange.response_headers
    elif attempt is not None:
        chunks, headers = attempt.chunks, attempt.response_headers
    else:
        return []
    first = chunks[0][1] if chunks else b""
    kind = body_kind(content_type(headers), first)
    sse, lines, messages = SseDecoder(), NdjsonDecoder(), EventStreamDecoder()
    events: list[StreamEvent] = []
    try:
        for at, data in chunks:
            since = at - exchange.clock
            if kind == "sse":
                events += (_event(since, name, each) for name, each in sse.feed(data))
            elif kind == "eventstream":
                events += (_event(since, name, each) for name, each in messages.feed(data))
            elif kind == "ndjson":
                events += (_event(since, "", each) for each in lines.feed(data))
            else:
                events.append(StreamEvent(since, "body", data))
    except UNREADABLE:
        pass  # What was read until then is shown; the bytes are there in full.
    return events


def _event(at: float, name: str, data: bytes) -> StreamEvent:
    return StreamEvent(at, name or _type(data), data)


def _type(data: bytes) -> str:
    """What an event is, where its protocol does not name it: its `type`, or what it adds."""
    if data == b"[DONE]":
        return "[DONE]"
    try:
        value = jsontext.peek(data)
    except UNREADABLE:
        return "text"
    if not isinstance(value, dict):
        return "value"
    if isinstance(kind := value.get("type"), str):
        return kind
    for key in ("error", "choices", "candidates", "message"):
        if key in value:
            return _inner(value[key], key)
    return "object"


def _inner(value: object, key: str) -> str:
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, dict):
        return key if value else "usage"
    delta = first.get("delta") or first.get("content") or first
    if isinstance(delta, dict):
        names = [name for name, each in delta.items() if each and name not in ("role", "index")]
        return names[0] if names else key
    return key


def stream_json(exchange: CapturedExchange) -> Json:
    """Both sides, with the rules that they break."""
    return {side: _side(exchange, side) for side in SIDES}


def _side(exchange: CapturedExchange, side: str) -> Json:
    events = stream_events(exchange, side)
    return {
        "events": [
            [
                round(event.at, 4),
                len(event.data),
                event.type,
                event.data[:_SHOWN].decode("utf-8", "replace"),
            ]
            for event in events
        ],
        "lint": _lint(exchange, side),
    }


def _lint(exchange: CapturedExchange, side: str) -> list[Json]:
    attempt = exchange.attempt
    protocol, chunks = exchange.protocol, exchange.chunks
    if side == "upstream":
        protocol, chunks = (attempt.protocol, attempt.chunks) if attempt else ("", [])
    data = joined(chunks)
    headers = (
        exchange.response_headers
        if side == "client"
        else (attempt.response_headers if attempt else {})
    )
    if not protocol or not data or body_kind(content_type(headers), data) == "json":
        return []
    if len(data) > _LONGEST_LINT or exchange.left_out:
        return []
    try:
        found = lint_stream(data, protocol)
    except UNREADABLE as error:
        return [{"event": 0, "rule": "unreadable", "message": str(error)}]
    return [{"event": each.event, "rule": each.rule, "message": each.message} for each in found]
