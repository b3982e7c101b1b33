"""Reasoning state that a client does not return, for whoever keeps it in the meantime.

Some clients return calls and leave out the reasoning that they came with, so no sealed state comes
back either. What is kept is the sealed state of a whole turn, under a key that follows from its
first call, which every client returns. Put back, it is opened as if the client had sent it.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

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
    found = state_to_keep(parts, issuer)
    if found is not None:
        key, sealed = found
        ctx.kept_state[key] = sealed


def missing_state(request: Request, provider: Surface) -> dict[int, str]:
    """The turns of a history that came back without their state: message to key.

    Where a provider's calls have state of their own, some clients return the state of the
    reasoning before them alone.
    """
    found: dict[int, str] = {}
    for run in _turns(request.messages):
        parts = [(index, part) for index in run for part in request.messages[index].parts]
        sealed = [unpack(getattr(part, "signature", None)) for _, part in parts]
        if any(each and (each.layout or not provider.calls.signatures) for each in sealed):
            continue
        first = next(((i, part) for i, part in parts if isinstance(part, ToolCall)), None)
        if first is not None:
            found[first[0]] = _key_of(first[1])
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
        return Place(call=part.id, arguments=part.arguments, signature=part.signature)
    return Place(reasoning=part if isinstance(part, Reasoning) else None)


def _key_of(call: ToolCall) -> str:
    """The same for a call however its arguments are spaced; ids alone may come twice."""
    try:
        arguments = jsontext.text(jsontext.peek(call.arguments))
    except ValueError:
        arguments = call.arguments
    text = f"{call.id}\0{call.name}\0{arguments}"
    return digest(text.encode("utf-8", "surrogatepass"), _KEY).hex()
