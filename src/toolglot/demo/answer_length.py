"""The length of an answer: its limit, and the tokens of it and of its request."""

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import to_builtins
from msgspec.structs import replace

from toolglot.ir import (
    Message,
    Part,
    Reasoning,
    Refusal,
    Request,
    StopReason,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from toolglot.wire import jsontext

CHARS_PER_TOKEN: Final = 4
_MEDIUM: Final = 4000
"""Characters that a picture or another medium counts for."""


def stopped(
    parts: list[Part], stop: StopReason, request: Request, *, torn: bool
) -> tuple[list[Part], StopReason]:
    """The parts up to where a stop sequence or a limit cuts them; `torn` is a limit in the last."""
    parts, stop = _at_sequence(parts, stop, request.stop or ())
    whole = sum(map(_size, parts))
    limits = [whole]
    if request.max_tokens is not None:
        limits.append(request.max_tokens * CHARS_PER_TOKEN)
    if torn:
        limits.append(whole - _size(parts[-1]) // 2 - 1)
    most = min(limits)
    if most >= whole:
        return parts, stop
    return list(_cut(parts, most)), StopReason(kind="length")


def _at_sequence(
    parts: list[Part], stop: StopReason, sequences: Iterable[str]
) -> tuple[list[Part], StopReason]:
    """Text up to the first of the sequences that it has."""
    last = parts[-1]
    if not isinstance(last, Text):
        return parts, stop
    found = [(last.text.index(each), each) for each in sequences if each and each in last.text]
    if not found:
        return parts, stop
    at, sequence = min(found)
    cut = replace(last, text=last.text[:at])
    return [*parts[:-1], cut], StopReason(kind="stop_sequence", sequence=sequence)


def _cut(parts: Iterable[Part], most: int) -> Iterator[Part]:
    for part in parts:
        if most <= 0:
            return
        if isinstance(part, ToolCall):
            yield replace(part, arguments=part.arguments[:most])
        elif isinstance(part, Reasoning) and len(part.text) > most:
            # Reasoning that broke off was never signed.
            yield replace(part, text=part.text[:most], signature=None)
        elif isinstance(part, (Text, Refusal)):
            yield replace(part, text=part.text[:most])
        else:
            yield part
        most -= _size(part)


def _size(part: Part) -> int:
    """Characters of a part, as far as they count."""
    if isinstance(part, ToolCall):
        return len(part.arguments)
    if isinstance(part, (Text, Refusal)):
        return len(part.text)
    if isinstance(part, Reasoning):
        return len(part.text) + sum(map(len, part.summary))
    if isinstance(part, ToolResult):
        return sum(map(_size, part.parts))
    return _MEDIUM


# --- tokens --------------------------------------------------------------------------------------


def usage_of(request: Request, parts: Iterable[Part]) -> Usage:
    """The counts of an answer."""
    written = list(parts)
    thought = sum(_size(part) for part in written if isinstance(part, Reasoning))
    return Usage(
        input=count_tokens(request),
        output=_tokens(sum(map(_size, written))),
        reasoning=_tokens(thought) if thought else None,
    )


def count_tokens(request: Request) -> int:
    """About how many tokens a request has."""
    system: tuple[Message, ...] = () if request.system is None else (request.system,)
    size = sum(_size(part) for message in system + request.messages for part in message.parts)
    size += sum(len(jsontext.encode(to_builtins(tool))) for tool in request.tools)
    return _tokens(size)


def _tokens(characters: int) -> int:
    return max(1, -(-characters // CHARS_PER_TOKEN))
