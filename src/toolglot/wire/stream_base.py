"""What the stream decoders and encoders of all protocols share."""

from collections.abc import Hashable, Iterator
from typing import Any, Final

from toolglot.context import Context
from toolglot.events import Event, Failed, PartDelta, PartEnded, PartStarted
from toolglot.ir import ApiError, Json, Part
from toolglot.wire import jsontext

CUT: Final = "the stream ended before the response did"


class OpenParts:
    """Numbers the parts of a stream and knows which are open, by whatever key the wire uses."""

    __slots__ = ("_indices", "count")

    def __init__(self) -> None:
        self._indices: dict[Hashable, int] = {}
        self.count = 0

    def __contains__(self, key: Hashable) -> bool:
        return key in self._indices

    def __len__(self) -> int:
        return len(self._indices)

    def index(self, key: Hashable) -> int | None:
        """The number of an open part."""
        return self._indices.get(key)

    def start(self, key: Hashable, part: Part, choice: int = 0) -> PartStarted:
        """Open a part."""
        self._indices[key] = index = self.count
        self.count += 1
        return PartStarted(index, part, choice)

    def delta(self, key: Hashable, text: str) -> PartDelta:
        """More text of an open part."""
        return PartDelta(self._indices[key], text)

    def end(self, key: Hashable, *, incomplete: bool = False) -> PartEnded:
        """Close a part."""
        return PartEnded(self._indices.pop(key), incomplete)

    def end_all(self, *, incomplete: bool = False) -> Iterator[PartEnded]:
        """Close what is still open, in the order in which it was opened."""
        for key in list(self._indices):
            yield self.end(key, incomplete=incomplete)


def parse(data: bytes, ctx: Context, count: int, known: Json | None = None) -> Json | None:
    """One JSON object of a stream, unless it is known; a broken one is passed over with a note, so
    that the rest can live.
    """
    if count == 1:
        ctx.begin(data)
    if known is not None:
        return known
    try:
        value: Any = jsontext.peek(data)
    except ValueError as error:
        ctx.note("event-skipped", f"event {count}", f"not JSON: {error}")
        return None
    if not isinstance(value, dict):
        ctx.note("event-skipped", f"event {count}", "not a JSON object")
        return None
    return value


def cut_off(parts: OpenParts) -> Iterator[Event]:
    """What follows when a stream just ends: open parts closed as incomplete, and an error."""
    yield from parts.end_all(incomplete=True)
    yield Failed(ApiError(kind="server", message=CUT, status=502))
