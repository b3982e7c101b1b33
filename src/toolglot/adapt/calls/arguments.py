"""Calls: arguments that are one JSON text, and made-up ids that look like the target's own."""

from collections.abc import Sequence
from operator import is_
from typing import Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.events import Direct, Event, PartDelta, PartEnded, PartStarted
from toolglot.ir import Message, Request, ToolCall
from toolglot.surface import Surface
from toolglot.wire import jsontext
from toolglot.wire.parts import arguments_object

_PREFIX: Final = "call_"
"""How decoders begin the ids that they make up."""


def made_id(call: ToolCall, target: Surface) -> str:
    """The id of a call; one that had to be made up begins as the ids of the target do."""
    if not call.id_made or not call.id.startswith(_PREFIX):
        return call.id
    return target.calls.made_up_prefix + call.id.removeprefix(_PREFIX)


def normalise(call: ToolCall, path: str, ctx: Context) -> ToolCall:
    """A call whose arguments are one JSON text."""
    if call.kind != "function":
        return call
    text = call.arguments
    if text[:1] == "{":
        return call
    stripped = text.strip()
    if stripped in ("", "null"):
        ctx.note("arguments-normalised", path, f"{call.name} has no arguments: {{}}")
        return replace(call, arguments="{}")
    if stripped[0] == '"':
        inner = _unquoted(stripped)
        if inner is not None:
            ctx.note(
                "arguments-normalised", path, f"the arguments of {call.name} were encoded twice"
            )
            return replace(call, arguments=inner)
    return call


def _unquoted(text: str) -> str | None:
    """The JSON object inside a JSON string, if that is what it is."""
    try:
        inner = jsontext.peek(text)
        if (
            isinstance(inner, str)
            and inner.lstrip()[:1] == "{"
            and isinstance(jsontext.peek(inner), dict)
        ):
            return inner
    except ValueError:
        pass
    return None


def require_objects(request: Request, ctx: Context) -> Request:
    """Earlier calls whose arguments are texts of objects, where a provider reads them."""
    if not ctx.surfaces[1].calls.object_arguments:
        return request
    messages = tuple(_with_objects(each, ctx) for each in request.messages)
    if all(map(is_, messages, request.messages)):
        return request
    return replace(request, messages=messages)


def _with_objects(message: Message, ctx: Context) -> Message:
    if message.role != "assistant":
        return message
    parts = tuple(
        _with_object(part, ctx) if isinstance(part, ToolCall) else part for part in message.parts
    )
    return message if all(map(is_, parts, message.parts)) else replace(message, parts=parts)


def _with_object(call: ToolCall, ctx: Context) -> ToolCall:
    if call.kind != "function" or _is_object(call.arguments):
        return call
    return replace(call, arguments=jsontext.text(arguments_object(call, ctx)))


def _is_object(text: str) -> bool:
    try:
        return isinstance(jsontext.peek(text), dict)
    except ValueError:
        return False


class HeldArguments:
    """The arguments of a call until it is known that they are a JSON object, or to their end."""

    __slots__ = ("_call", "_odd", "_texts")

    def __init__(self, call: ToolCall) -> None:
        self._call = call
        self._odd = call.kind != "function"
        self._texts: list[str] = []

    def add(self, text: str) -> bool:
        """Whether it is known now."""
        self._texts.append(text)
        first = "" if self._odd else text.lstrip()[:1]
        self._odd = self._odd or first not in ("", "{")
        return first == "{"

    def finish(self) -> ToolCall:
        """The call as far as it came."""
        return replace(self._call, arguments="".join(self._texts))


def takes_text(call: ToolCall, target: Surface) -> bool:
    """Whether the input of a call is any text to the client, not JSON."""
    return call.kind != "function" and call.kind in target.tools.kinds


class WrapArguments:
    """Makes the arguments of calls JSON objects, for streams of protocols that have nothing else.

    Whole answers need no pass for that: there the encoder reads all arguments.
    """

    __slots__ = ("_ctx", "_held", "_target")

    def __init__(self, ctx: Context) -> None:
        _, self._target = ctx.surfaces
        self._ctx = ctx
        self._held: dict[int, tuple[HeldArguments, list[Event]]] = {}
        """The arguments that may be no object, and the other deltas of their calls."""

    def feed(self, event: Event) -> Sequence[Event]:
        if type(event) is PartDelta:
            return self._delta(event) if event.index in self._held else (event,)
        if isinstance(event, PartStarted):
            call = event.part
            if isinstance(call, ToolCall) and not (
                call.arguments or takes_text(call, self._target)
            ):
                self._held[event.index] = HeldArguments(call), []
        elif isinstance(event, PartEnded) and event.index in self._held:
            return self._end(event)
        return (event,)

    def direct(self, index: int) -> Direct | None:
        """Arguments that may be no object have to go through."""
        return None if index in self._held else (index, None)

    def _delta(self, event: PartDelta) -> Sequence[Event]:
        held, others = self._held[event.index]
        if event.field != "text":
            others.append(event)
        elif held.add(event.text):
            del self._held[event.index]
            return (PartDelta(event.index, held.finish().arguments), *others)
        return ()

    def _end(self, event: PartEnded) -> Sequence[Event]:
        held, others = self._held.pop(event.index)
        call = held.finish()
        text = call.arguments
        if not event.incomplete:
            text = jsontext.text(arguments_object(call, self._ctx))
        return (*((PartDelta(event.index, text),) if text else ()), *others, event)
