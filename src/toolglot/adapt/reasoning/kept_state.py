"""Reasoning state that a client does not return, for whoever keeps it in the meantime.

Some clients return calls and leave out the reasoning that they came with, so no sealed state comes
back either. What is kept is the sealed state of a whole turn, under a key that follows from its
first call, which every client returns. Put back, it is opened as if the client had sent it.

A second key leads to the first one for clients that have no ids or write ids of their own: the name
and the arguments of that call, how the conversation began, and how often the same was called
before.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import json
from msgspec.structs import replace

from toolglot.adapt.reasoning.sealed_state import Place, SealedState, pack, unpack
from toolglot.context import Context
from toolglot.digest import digest
from toolglot.ir import Message, Part, Reasoning, Request, Text, ToolCall
from toolglot.surface import Surface
from toolglot.wire import jsontext

_KEY: Final = 16


def state_to_keep(parts: Iterable[Part], issuer: str) -> tuple[str, str] | None:
    """A key and what to keep under it; None for a turn without calls or without state."""
    turn = tuple(parts)
    first = next((part for part in turn if isinstance(part, ToolCall)), None)
    if first is None or not any(map(_has_state, turn)):
        return None
    layout = tuple(map(_place, turn))
    return _key_of(first), pack(SealedState(issuer, layout=layout))


def keep_state(parts: Iterable[Part], ctx: Context) -> None:
    """Put the state of an answer into the context, if someone keeps it."""
    if ctx.kept_state is None:
        return
    issuer = ctx.options.issuer or (ctx.source.name if ctx.source else "")
    turn = tuple(parts)
    found = state_to_keep(turn, issuer)
    if found is None:
        return
    key, sealed = found
    ctx.kept_state[key] = sealed
    if ctx.request is not None:
        first = next(part for part in turn if isinstance(part, ToolCall))
        earlier = [call for _, call in _first_calls(ctx.request.messages)]
        ctx.kept_state[_Conversation(ctx.request, earlier).key_of(first, len(earlier))] = key


def missing_state(request: Request, provider: Surface) -> dict[int, "StateKeys"]:
    """The turns of a history that came back without their state: message to keys.

    Where a provider's calls have state of their own, some clients return the state of the
    reasoning before them alone.
    """
    turns = _first_calls(request.messages)
    if not turns:
        return {}
    conversation = _Conversation(request, [call for _, call in turns])
    found: dict[int, StateKeys] = {}
    for number, (run, call) in enumerate(turns):
        parts = [part for index in run for part in request.messages[index].parts]
        sealed = [unpack(getattr(part, "signature", None)) for part in parts]
        if any(each and (each.layout or not provider.calls.signatures) for each in sealed):
            continue
        at = next(i for i in run if any(part is call for part in request.messages[i].parts))
        found[at] = StateKeys(call, conversation, number)
    return found


class StateKeys:
    """Under what the state of a turn may be kept."""

    __slots__ = ("_call", "_conversation", "_number")

    def __init__(self, call: ToolCall, conversation: "_Conversation", number: int) -> None:
        self._call, self._conversation, self._number = call, conversation, number

    def __iter__(self) -> Iterator[str]:
        if not self._call.id_made:
            yield _key_of(self._call)
        yield self._conversation.key_of(self._call, self._number)


class _Conversation:
    """What tells a call from others with the same name and arguments."""

    __slots__ = ("_beginning", "_calls", "_counted", "_seen")

    def __init__(self, request: Request, calls: list[ToolCall]) -> None:
        self._calls = calls
        first = next((each for each in request.messages if each.role == "user"), None)
        texts = [part.text for part in first.parts if isinstance(part, Text)] if first else []
        self._beginning = "".join(texts).strip()
        self._counted = 0
        self._seen: Counter[tuple[str, str]] = Counter()
        """How often each call was made in the turns that were counted so far."""

    def key_of(self, call: ToolCall, number: int) -> str:
        """The key of the first call of a turn, before which there were so many turns with calls.

        Asked for in their order, each call is read once, and not once for every turn after it: that
        took 11 of 27 milliseconds of a request with 150 turns.
        """
        if number < self._counted:
            self._counted = 0
            self._seen.clear()
        for each in self._calls[self._counted : number]:
            self._seen[each.name, _canonical(each)] += 1
        self._counted = number
        arguments = _canonical(call)
        return _key(self._beginning, call.name, arguments, str(self._seen[call.name, arguments]))


def _first_calls(messages: tuple[Message, ...]) -> list[tuple[list[int], ToolCall]]:
    """The turns with calls, each with its first call."""
    found = []
    for run in _turns(messages):
        for part in (part for index in run for part in messages[index].parts):
            if isinstance(part, ToolCall):
                found.append((run, part))
                break
    return found


def _turns(messages: tuple[Message, ...]) -> Iterator[list[int]]:
    """Consecutive messages of the assistant, which some protocols write one for each part."""
    run: list[int] = []
    for index, message in enumerate(messages):
        if message.role == "assistant":
            run.append(index)
        elif run:
            yield run
            run = []
    if run:
        yield run


def restore_state(request: Request, kept: Mapping[int, str]) -> Request:
    """The same history with what was kept, as if the client had returned it."""
    messages = list(request.messages)
    for index, sealed in kept.items():
        messages[index] = _with(messages[index], Reasoning(signature=sealed, redacted=True))
    return replace(request, messages=tuple(messages))


def _with(message: Message, part: Reasoning) -> Message:
    return replace(message, parts=(*message.parts, part))


def _has_state(part: Part) -> bool:
    if isinstance(part, Reasoning):
        return True
    return isinstance(part, (Text, ToolCall)) and part.signature is not None


def _place(part: Part) -> Place:
    if isinstance(part, Text):
        return Place(text=len(part.text), signature=part.signature)
    if isinstance(part, ToolCall):
        return Place(
            call=part.id, name=part.name, arguments=part.arguments, signature=part.signature
        )
    return Place(reasoning=part if isinstance(part, Reasoning) else None)


def _key_of(call: ToolCall) -> str:
    """The same for a call however its arguments are spaced; ids alone may come twice."""
    try:
        arguments = jsontext.text(jsontext.peek(call.arguments))
    except ValueError:
        arguments = call.arguments
    return _key(call.id, call.name, arguments)


def _canonical(call: ToolCall) -> str:
    """The arguments of a call, however they are spaced and in whatever order."""
    try:
        return json.encode(jsontext.peek(call.arguments or "{}"), order="sorted").decode()
    except ValueError:
        return call.arguments


def _key(*texts: str) -> str:
    return digest("\0".join(texts).encode("utf-8", "surrogatepass"), _KEY).hex()
