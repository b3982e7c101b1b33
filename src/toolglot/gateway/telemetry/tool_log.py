"""What happened to tools and calls on the way, in words, for someone who is looking for a fault.

These lines show contents, so they are written only where the user asked for them, at level `debug`.
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
from toolglot.wire.message import read_body


class Side(Struct, frozen=True):
    """A request on one side of the gateway."""

    protocol: str
    body: bytes
    path: str = ""

    @property
    def tools(self) -> list[Json]:
        """The tools as they stand on the wire; every protocol keeps them under `tools`."""
        found = read_body(self.body).get("tools")
        return found if isinstance(found, list) else []

    @property
    def request(self) -> Request:
        """What it means."""
        return decode_request(self.body, source=self.protocol, path=self.path)


def tool_report(received: Side, sent: Side) -> Iterator[str]:
    """How the tools and calls of a request left for the provider."""
    asked = received.request
    count = len(asked.tools)
    yield f"converted {count} tool{'' if count == 1 else 's'}"
    yield from (f"tool received: {jsontext.text(tool)}" for tool in received.tools)
    yield from (f"tool sent: {jsontext.text(tool)}" for tool in sent.tools)
    yield from call_report(_calls(asked.messages), _calls(sent.request.messages))


def call_report(before: Iterable[ToolCall], after: Iterable[ToolCall]) -> Iterator[str]:
    """How calls differ on the two sides, in their order."""
    for old, new in zip_longest(before, after):
        if old is None or new is None:
            side, call = ("received", old) if new is None else ("sent", new)
            yield f"call only {side}: {call.name} {call.id}"
            continue
        for field in ("name", "id", "arguments"):
            one, other = getattr(old, field), getattr(new, field)
            if one != other and not (field == "arguments" and _equal(one, other)):
                yield f"call {old.id}: {field} {one!r} became {other!r}"


def answer_calls(data: bytes, protocol: str, *, stream: bool) -> tuple[ToolCall, ...]:
    """The calls in the bytes of an answer, whole or streamed."""
    answer = fold(_events(data, protocol)) if stream else decode_response(data, source=protocol)
    if isinstance(answer, ApiError):
        return ()
    parts = (part for choice in answer.choices for part in choice.parts)
    return tuple(part for part in parts if isinstance(part, ToolCall))


def log_lines(request_id: str, lines: Iterable[str]) -> None:
    """Write lines at level `debug`, which are not even made up at any other level."""
    if LOGGER.isEnabledFor(DEBUG):
        # What is passed on unread may be unreadable; that is not for a log line to tell.
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
