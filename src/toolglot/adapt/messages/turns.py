"""Turns: consecutive messages of one role, joined where the target has one message for them."""

from itertools import chain
from operator import is_
from typing import Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import Message, Part, Reasoning, Refusal, Request, Text, ToolCall, ToolResult
from toolglot.surface import Surface


def merge_turns(request: Request, ctx: Context) -> Request:
    """Join what the target requires in one message, in the order that it requires."""
    source, target = ctx.surfaces
    messages = request.messages
    ctx.place(messages)
    if not all(message.parts for message in messages):
        # Most targets reject an empty message.
        for message in messages:
            if not message.parts:
                ctx.note("message-dropped", ctx.where_turn(message))
        messages = tuple(message for message in messages if message.parts)
    roles = _joined_roles(target)
    if roles:
        before = len(messages)
        messages = _merged(messages, roles)
        if len(messages) < before:
            count = before - len(messages)
            ctx.note(
                "turns-merged", source.messages.path, f"{count} messages joined the one before"
            )
    if target.messages.text_before_calls:
        ordered = tuple(_calls_at_end(each, ctx) for each in messages)
        messages = messages if all(map(is_, ordered, messages)) else ordered
    if not target.messages.ordered:
        messages = tuple(
            flatten(message, ctx) if message.role == "assistant" else message
            for message in messages
        )
    return request if messages is request.messages else replace(request, messages=messages)


def _merged(messages: tuple[Message, ...], roles: tuple[str, ...]) -> tuple[Message, ...]:
    turns: list[list[Message]] = []
    for message in messages:
        if turns and turns[-1][0].role == message.role and message.role in roles:
            turns[-1].append(message)
        else:
            turns.append([message])
    if len(turns) == len(messages):
        return messages
    return tuple(_results_first(_joined(turn)) for turn in turns)


def _joined(turn: list[Message]) -> Message:
    first, *more = turn
    if not more:
        return first
    # At once: joining one after the other would copy the first as often as there are others.
    parts = tuple(chain.from_iterable(message.parts for message in turn))
    return Message(role=first.role, parts=parts, name=first.name)


def _calls_at_end(message: Message, ctx: Context) -> Message:
    """Text behind the last call is put before the calls that it follows."""
    parts = message.parts
    if message.role != "assistant" or not parts or type(parts[-1]) is not Text:
        return message
    if any(isinstance(part, Reasoning) and part.signature for part in parts):
        # A turn of the provider's own goes back as it came.
        return message
    end = len(parts)
    while end and type(parts[end - 1]) is Text:
        end -= 1
    start = end
    while start and type(parts[start - 1]) is ToolCall:
        start -= 1
    if start == end:
        return message
    ctx.note("part-moved", ctx.where_turn(message), "text comes before the calls that it followed")
    return replace(message, parts=(*parts[:start], *parts[end:], *parts[start:end]))


def _results_first(message: Message) -> Message:
    """Tool results come before everything else in a user's turn."""
    if message.role != "user":
        return message
    results = tuple(part for part in message.parts if isinstance(part, ToolResult))
    if not results or message.parts[: len(results)] == results:
        return message
    others = tuple(part for part in message.parts if not isinstance(part, ToolResult))
    return replace(message, parts=results + others)


_RANK: Final[dict[type[Part], int]] = {Reasoning: 0, Text: 1, Refusal: 2, ToolCall: 3}
"""The order of parts in a message that keeps the kinds apart."""


def is_flat(parts: tuple[Part, ...]) -> bool:
    """Whether the parts are in that order, with one text at most."""
    last = -1
    for part in parts:
        rank = _RANK.get(type(part), len(_RANK))
        if rank < last or rank == last == 1:
            return False
        last = rank
    return True


def flatten(message: Message, ctx: Context) -> Message:
    """A message of a protocol that keeps reasoning, one text and calls apart, without their
    order.
    """
    parts = flat_parts(message.parts, ctx, ctx.where_turn(message))
    return message if parts is message.parts else replace(message, parts=parts)


def flat_parts(parts: tuple[Part, ...], ctx: Context, path: str) -> tuple[Part, ...]:
    """The parts by kind, texts joined into one."""
    if is_flat(parts):
        return parts
    texts = [part for part in parts if type(part) is Text]
    ranks = [_RANK.get(type(part), len(_RANK)) for part in parts]
    if ranks != sorted(ranks):
        ctx.note("part-moved", path, "text comes before calls here, whatever the order was")
    if len(texts) > 1:
        ctx.note("text-joined", path, f"{len(texts)} texts joined into one")
    by_kind = sorted(zip(ranks, range(len(parts)), parts, strict=True), key=lambda each: each[:2])
    flat: list[Part] = [part for _, _, part in by_kind if type(part) is not Text]
    if texts:
        place = sum(isinstance(part, Reasoning) for part in flat)
        citations = tuple(citation for text in texts for citation in text.citations)
        cache = next((text.cache for text in reversed(texts) if text.cache is not None), None)
        joined = "".join(text.text for text in texts)
        flat.insert(place, replace(texts[0], text=joined, citations=citations, cache=cache))
    return tuple(flat)


def _joined_roles(target: Surface) -> tuple[str, ...]:
    """The roles whose messages are joined when they follow each other."""
    if target.messages.merges_turns or target.messages.alternate:
        return ("user", "assistant")
    return () if target.messages.ordered else ("assistant",)
