"""Parsing a response of an unknown server: its protocol is recognised by its structure alone."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from toolglot import ir
from toolglot.api import listed_models
from toolglot.context import Context
from toolglot.errors import ToolglotError
from toolglot.events import Event, PartDelta, PartStarted, UsageSeen, fold
from toolglot.registry import PROTOCOLS, get_protocol
from toolglot.translate import decode_response
from toolglot.wire import jsontext
from toolglot.wire.event_stream import EventStreamDecoder
from toolglot.wire.ndjson import NdjsonDecoder
from toolglot.wire.sse import SseDecoder

_CALL_KEYS: Final = frozenset({"function", "functionCall", "tool_use", "toolUse", "function_call"})
"""A key or a type that gives away a call."""

REASONING: Final[Mapping[str, str]] = {
    "reasoning_content": "reasoning_content",
    "reasoning_details": "reasoning_details",
    "reasoning": "reasoning",
    "encrypted_content": "encrypted",
    "thoughtSignature": "signature",
    "signature": "signature",
    "thinking": "thinking",
}
"""Keys that hold reasoning, and the word of the profiles for it; the more telling first."""


class ParsedResponse(Struct, frozen=True, kw_only=True):
    """A response, its protocol and what it says."""

    protocol: str = ""
    response: ir.Response | None = None
    error: str = ""
    """The shape of the error, if it is one: a protocol, or a word such as `html`."""

    streamed: bool = False
    deltas: int = 0
    """Pieces of arguments in a stream."""

    names: int = 0
    """How often a stream has the name of a call."""

    stream_usage: bool = False
    reasoning: str = ""
    """Where its reasoning is, as the profiles call it."""

    example: str = ""
    """The first call as it is on the wire."""

    @property
    def parts(self) -> tuple[ir.Part, ...]:
        """All parts of the answer."""
        choices = self.response.choices if self.response else ()
        return tuple(part for choice in choices for part in choice.parts)

    @property
    def calls(self) -> tuple[ir.ToolCall, ...]:
        """The calls in it."""
        return tuple(part for part in self.parts if isinstance(part, ir.ToolCall))

    @property
    def text(self) -> str:
        """The words in it."""
        return "".join(part.text for part in self.parts if isinstance(part, ir.Text))

    @property
    def cut(self) -> bool:
        """Whether the model was stopped by the limit."""
        choices = self.response.choices if self.response else ()
        return any(each.stop is not None and each.stop.kind == "length" for each in choices)


def parse_response(body: bytes) -> ParsedResponse:
    """What a response is and says; it never raises."""
    value = json_value(body)
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        # A stream may be one JSON array.
        protocol = _protocol_of(value, streamed=True)
        return _read_stream(protocol, body, value) if protocol else ParsedResponse(error="json")
    if isinstance(value, dict):
        protocol = _protocol_of([value], streamed=False)
        if protocol:
            return _read_body(protocol, value)
        return ParsedResponse(error=error_shape(value))
    events = list(stream_values(body))
    protocol = _protocol_of(events, streamed=True)
    if protocol:
        return _read_stream(protocol, body, events)
    return ParsedResponse(
        error=error_shape(events[0]) if events else _text_shape(body), streamed=bool(events)
    )


# --- answers --------------------------------------------------------------------------------------


def _read_body(protocol: str, value: ir.Json) -> ParsedResponse:
    try:
        response = decode_response(value, source=protocol)
    except ToolglotError:
        response = None
    return ParsedResponse(
        protocol=protocol,
        response=response if isinstance(response, ir.Response) else None,
        reasoning=_reasoning(protocol, [value]),
        example=_example(protocol, value),
    )


def _example(protocol: str, value: ir.Json) -> str:
    for each in _walk(value, get_protocol(protocol).API.calls_at):
        if isinstance(each, dict) and not _CALL_KEYS.isdisjoint((*each, str(each.get("type")))):
            return jsontext.text(each)
    return ""


def _read_stream(protocol: str, body: bytes, values: list[ir.Json]) -> ParsedResponse:
    events = _events(protocol, body)
    calls = {
        event.index
        for event in events
        if isinstance(event, PartStarted) and isinstance(event.part, ir.ToolCall)
    }
    deltas = [
        event
        for event in events
        if isinstance(event, PartDelta) and event.index in calls and event.text
    ]
    try:
        response = fold(events)
    except ToolglotError:
        response = None
    return ParsedResponse(
        protocol=protocol,
        response=response if isinstance(response, ir.Response) else None,
        streamed=True,
        deltas=len(deltas),
        names=_count_names(protocol, values),
        stream_usage=any(isinstance(event, UsageSeen) for event in events),
        reasoning=_reasoning(protocol, values),
    )


def _count_names(protocol: str, values: list[ir.Json]) -> int:
    path = get_protocol(protocol).API.streamed_names_at
    return sum(1 for value in values for name in _walk(value, path) if name) if path else 0


def _events(protocol: str, body: bytes) -> list[Event]:
    decoder = get_protocol(protocol).StreamDecoder(Context())
    events: list[Event] = []
    try:
        events.extend(decoder.feed(body))
        events.extend(decoder.close())
    except ToolglotError:
        pass
    return events


def _walk(value: Any, keys: tuple[str, ...]) -> Iterator[Any]:
    """The values at a path of keys, through every list on the way."""
    if isinstance(value, list):
        for each in value:
            yield from _walk(each, keys)
    elif not keys:
        yield value
    elif isinstance(value, dict) and keys[0] in value:
        yield from _walk(value[keys[0]], keys[1:])


def _reasoning(protocol: str, values: list[ir.Json]) -> str:
    """Where there is reasoning; fields that are there but empty do not count."""
    found: set[str] = set()
    for value in values:
        for key in get_protocol(protocol).API.answer_keys:
            _filled_keys(value.get(key), found)
    return next((word for key, word in REASONING.items() if key in found), "")


def _filled_keys(value: Any, found: set[str], depth: int = 8) -> None:
    if depth == 0:
        return
    if isinstance(value, list):
        for each in value:
            _filled_keys(each, found, depth - 1)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if inner and key in REASONING:
                found.add(key)
            elif isinstance(inner, (dict, list)):
                _filled_keys(inner, found, depth - 1)


# --- structure ------------------------------------------------------------------------------------


def _protocol_of(values: list[ir.Json], *, streamed: bool) -> str:
    """The protocol whose shape is the first to fit one of the values; empty if none fits."""
    for value in values:
        for name, codec in PROTOCOLS.items():
            fits = codec.API.is_event if streamed else codec.API.is_response
            if fits(value):
                return name
    return ""


def error_shape(value: ir.Json) -> str:
    """Whose shape an error has, or a word for it."""
    # The protocol that is assumed by default has the least specific shape.
    apis = sorted((codec.API for codec in PROTOCOLS.values()), key=lambda api: api.assumed)
    style = next((api.error_style for api in apis if api.is_error(value)), "")
    return style or ("detail" if "detail" in value else "json")


def read_models(body: bytes) -> tuple[str, tuple[str, ...]]:
    """The protocol that a list of models is of, where it shows, and the models."""
    models = listed_models(json_value(body))
    first = next(iter(models.values()), {})
    names = (name for name, codec in PROTOCOLS.items() if codec.API.is_listed_model(first))
    return next(names, ""), tuple(models)


def json_value(body: bytes) -> Any:
    """The value of a JSON text; None if it is none."""
    try:
        return jsontext.peek(body)
    except ValueError:
        return None


def keys_of(body: bytes) -> str:
    """The keys of an answer, by which its protocol shows; of a stream, those of its first event."""
    value = json_value(body)
    first = value if isinstance(value, dict) else next(stream_values(body), {})
    return f"an object of {', '.join(map(str, first))}"


def _text_shape(body: bytes) -> str:
    """What a body is that is not JSON."""
    text = body.lstrip()[:200].lower()
    if not text:
        return "empty"
    return "html" if text.startswith((b"<!doctype", b"<html", b"<head", b"<?xml")) else "text"


def stream_values(body: bytes) -> Iterator[ir.Json]:
    """The JSON objects of a stream, of events, of lines or of binary messages."""
    try:
        sse = SseDecoder()
        pieces = [data for _, data in EventStreamDecoder().feed(body)]
        pieces = pieces or [data for _, data in [*sse.feed(body), *sse.close()]]
        if not pieces:
            lines = NdjsonDecoder()
            pieces = [*lines.feed(body), *lines.close()]
    except ToolglotError:
        return
    for piece in pieces:
        value = json_value(piece)
        if isinstance(value, dict):
            yield value


def error_text(body: bytes) -> str:
    """What an error says, in its own words."""
    value = json_value(body)
    if isinstance(value, dict):
        error = value.get("error", value.get("detail", value.get("message")))
        if isinstance(error, dict):
            error = error.get("message", error)
        if error:
            return error if isinstance(error, str) else jsontext.text(error)
    return body.decode("utf-8", "replace")
