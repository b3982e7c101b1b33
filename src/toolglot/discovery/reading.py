"""What an answer says, whichever protocol it is in."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from toolglot import ir
from toolglot.context import Context
from toolglot.discovery.shapes import (
    ANSWERS,
    EVENTS,
    error_shape,
    json_value,
    protocol_by,
    stream_values,
    wordy_shape,
)
from toolglot.errors import ToolglotError
from toolglot.events import Event, PartDelta, PartStarted, UsageSeen, fold
from toolglot.registry import get_protocol
from toolglot.translate import decode_response
from toolglot.wire import jsontext

_TURNS: Final = ("choices", "message", "output", "content", "candidates", "content_block", "item")
"""Where an answer or an event holds the words of the model."""

_CALLS: Final[Mapping[str, tuple[str, ...]]] = {
    "anthropic": ("content",),
    "openai-chat": ("choices", "message", "tool_calls"),
    "openai-responses": ("output",),
    "gemini": ("candidates", "content", "parts"),
    "ollama": ("message", "tool_calls"),
}
"""Where a whole answer holds its calls, by protocol."""

_CALL_PIECES: Final = ("choices", "delta", "tool_calls", "function", "name")

_CALL_KEYS: Final = frozenset({"function", "functionCall", "tool_use", "function_call"})
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


class Reading(Struct, frozen=True, kw_only=True):
    """An answer, understood."""

    protocol: str = ""
    response: ir.Response | None = None
    error: str = ""
    """The shape of the error, if it is one: a protocol, or a word such as `html`."""

    streamed: bool = False
    deltas: int = 0
    """Pieces of arguments in a stream."""

    names: int = 0
    """How often a stream said the name of a call."""

    stream_usage: bool = False
    reasoning: str = ""
    """Where its reasoning is, as the profiles call it."""

    example: str = ""
    """The first call as it stands on the wire."""

    @property
    def parts(self) -> tuple[ir.Part, ...]:
        """Everything that the model said."""
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


def read_answer(body: bytes) -> Reading:
    """What an answer is and says; whatever it is, it is never an exception."""
    value = json_value(body)
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        # Gemini streams a JSON array where events were not asked for.
        protocol = protocol_by(EVENTS, value)
        return _read_stream(protocol, body, value) if protocol else Reading(error="json")
    if isinstance(value, dict):
        protocol = protocol_by(ANSWERS, [value])
        if protocol:
            return _read_body(protocol, value)
        return Reading(error=error_shape(value))
    events = list(stream_values(body))
    protocol = protocol_by(EVENTS, events)
    if protocol:
        return _read_stream(protocol, body, events)
    return Reading(
        error=error_shape(events[0]) if events else wordy_shape(body), streamed=bool(events)
    )


# --- answers --------------------------------------------------------------------------------------


def _read_body(protocol: str, value: ir.Json) -> Reading:
    try:
        response = decode_response(value, source=protocol)
    except ToolglotError:
        response = None
    return Reading(
        protocol=protocol,
        response=response if isinstance(response, ir.Response) else None,
        reasoning=_reasoning([value]),
        example=_example(protocol, value),
    )


def _example(protocol: str, value: ir.Json) -> str:
    for each in _walk(value, _CALLS[protocol]):
        if isinstance(each, dict) and not _CALL_KEYS.isdisjoint((*each, str(each.get("type")))):
            return jsontext.text(each)
    return ""


def _read_stream(protocol: str, body: bytes, values: list[ir.Json]) -> Reading:
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
    return Reading(
        protocol=protocol,
        response=response if isinstance(response, ir.Response) else None,
        streamed=True,
        deltas=len(deltas),
        names=sum(1 for value in values for name in _walk(value, _CALL_PIECES) if name),
        stream_usage=any(isinstance(event, UsageSeen) for event in events),
        reasoning=_reasoning(values),
    )


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


def _reasoning(values: list[ir.Json]) -> str:
    """Where there is reasoning; fields that are there but empty do not count."""
    found: set[str] = set()
    for value in values:
        for key in _TURNS:
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
