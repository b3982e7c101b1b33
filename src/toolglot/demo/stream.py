"""An answer in small pieces, as a model would write it."""

import re
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from toolglot.events import Event, Failed, PartDelta, PartEnded, unfold
from toolglot.ir import ApiError, Response, StopReason, ToolCall

_WORD: Final = re.compile(r"\s*\S+\s*?(?=\s|$)|\s+")
_PIECE: Final = 16


def events(response: Response | ApiError) -> Iterator[Event]:
    """The events of an answer: words one by one, arguments in pieces; a call that was cut stays
    incomplete.
    """
    if isinstance(response, ApiError):
        yield Failed(response)
        return
    cut = _cut_call(response)
    calls = _calls(response)
    for event in unfold(response):
        if isinstance(event, PartDelta) and event.field == "text":
            split = _pieces if event.index in calls else _WORD.findall
            yield from (replace(event, text=piece) for piece in split(event.text))
        elif isinstance(event, PartEnded):
            yield replace(event, incomplete=event.index == cut)
        else:
            yield event


def _pieces(text: str) -> list[str]:
    return [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)]


def _calls(response: Response) -> set[int]:
    parts = [part for choice in response.choices for part in choice.parts]
    return {index for index, part in enumerate(parts) if isinstance(part, ToolCall)}


def _cut_call(response: Response) -> int | None:
    """The place of a call that the limit of the answer cut."""
    last = response.choices[-1]
    place = sum(len(choice.parts) for choice in response.choices) - 1
    stop = last.stop or StopReason(kind="other")
    return place if stop.kind == "length" and place in _calls(response) else None
