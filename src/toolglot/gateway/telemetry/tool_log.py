"""Debug lines that show how the tools and tool calls of a request were translated.

These lines show contents, so they are written at level `debug` only.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import zip_longest
from logging import DEBUG

from msgspec import Struct

from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.events import Event, fold
from toolglot.gateway.telemetry.logs import LOGGER
from toolglot.ir import ApiError, Json, Message, Request, ToolCall
from toolglot.registry import get_protocol
from toolglot.translate import decode_request, decode_response
from toolglot.wire import jsontext
from toolglot.wire.json_values import member
from toolglot.wire.message import read_body


class LoggedRequest(Struct, frozen=True):
    """A request on one side of the gateway."""

    protocol: str
    body: bytes
    path: str = ""

    @property
    def tools(self) -> list[Json]:
        """The tools as JSON."""
        place = get_protocol(self.protocol).SURFACE.settings["tools"]
        found = member(read_body(self.body), *place.split("."))
        return found if isinstance(found, list) else []

    @property
    def request(self) -> Request:
        """The decoded request."""
        return decode_request(self.body, source=self.protocol, path=self.path)


def tool_differences(received: LoggedRequest, sent: LoggedRequest) -> Iterator[str]:
    """How the tools and calls of a request changed on their way to the provider."""
    asked = received.request
    count = len(asked.tools)
    yield f"converted {count} tool{'' if count == 1 else 's'}"
    yield from (f"tool received: {jsontext.text(tool)}" for tool in received.tools)
    yield from (f"tool sent: {jsontext.text(tool)}" for tool in sent.tools)
    yield from call_differences(_calls(asked.messages), _calls(sent.request.messages))


def call_differences(before: Iterable[ToolCall], after: Iterable[ToolCall]) -> Iterator[str]:
    """How calls as received differ from calls as sent, one by one in their order."""
    for old, new in zip_longest(before, after):
        if old is None or new is None:
            side, call = ("received", old) if new is None else ("sent", new)
            yield f"call only {side}: {call.name} {call.id}"
            continue
        for field in ("name", "id", "arguments"):
            one, other = getattr(old, field), getattr(new, field)
            if one != other and not (field == "arguments" and _equal(one, other)):
                yield f"call {old.id}: {field} {one!r} became {other!r}"


def read_calls(data: bytes, protocol: str, *, stream: bool) -> tuple[ToolCall, ...]:
    """The tool calls in the body of a response, whole or streamed."""
    answer = fold(_events(data, protocol)) if stream else decode_response(data, source=protocol)
    if isinstance(answer, ApiError):
        return ()
    parts = (part for choice in answer.choices for part in choice.parts)
    return tuple(part for part in parts if isinstance(part, ToolCall))


def log_lines(request_id: str, lines: Iterable[str]) -> None:
    """Write lines at level `debug`; at any other level they are not even computed."""
    if LOGGER.isEnabledFor(DEBUG):
        # A body that passes through unread may be malformed; reporting that is not our job here.
        with suppress(DecodeError):
            for line in lines:
                LOGGER.debug("%s: %s", request_id, line)


def _events(data: bytes, protocol: str) -> Iterator[Event]:
    decoder = get_protocol(protocol).StreamDecoder(Context())
    yield from decoder.feed(data)
    yield from decoder.close()


def _calls(messages: Iterable[Message]) -> Iterator[ToolCall]:
    for message in messages:
        yield from (part for part in message.parts if isinstance(part, ToolCall))


def _equal(one: str, other: str) -> bool:
    """Whether two texts are the same JSON."""
    try:
        return bool(jsontext.peek(one) == jsontext.peek(other))
    except ValueError:
        return False
