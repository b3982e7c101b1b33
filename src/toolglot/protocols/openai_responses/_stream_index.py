"""Which item and part an event of a stream speaks of.

An item is known by its id and its place in the output. Some servers send only one of the two, some
neither, some a new id with every event, and some the place 0 for everything; so an id that is known
counts first, then the place, then what is open.
"""

from collections.abc import Iterator
from typing import Any

from toolglot.ir import Json
from toolglot.wire.sent_text import SentText


class Item:
    """An item of the output while it streams."""

    __slots__ = ("announced", "done", "held", "kind", "name", "number", "opened", "places")

    def __init__(self, kind: str, number: int) -> None:
        self.kind = kind
        self.number = number
        self.announced: Json = {}
        self.held: list[str] = []
        self.name = ""
        self.opened = False
        self.places: list[int] = []
        self.done = False


class Slot:
    """A part while it streams: its number, and what was sent of it."""

    __slots__ = ("cited", "ended", "index", "piece", "pieces", "texts")

    def __init__(self, index: int) -> None:
        self.index = index
        self.texts = SentText()
        self.pieces: dict[int, SentText] = {}
        self.piece = 0
        self.cited = 0
        self.ended = False


class Items:
    """The items of one stream, by whatever the server calls them."""

    __slots__ = ("_all", "_known")

    def __init__(self) -> None:
        self._all: list[Item] = []
        self._known: dict[str | int, Item] = {}

    def __iter__(self) -> Iterator[Item]:
        return iter(self._all)

    def find(self, kind: str, item_id: Any, place: Any) -> Item:
        """The item that something more is told of; a new one, if none fits."""
        item = self.known(item_id)
        if item is None:
            item = self._known.get(place) if type(place) is int else self._last(kind)
        return item if item is not None and item.kind == kind else self._new(kind, item_id, place)

    def announce(self, raw: Json, place: Any) -> Item:
        """The item that begins; the one that events spoke of before, if they came too early."""
        kind, item_id = str(raw.get("type")), raw.get("id")
        item = self.known(item_id)
        if item is None and type(place) is int:
            item = self._known.get(place)
        if item is None or item.kind != kind or item.announced or item.done:
            return self._new(kind, item_id, place)
        self._alias(item, item_id, place)
        return item

    def placed(self, raw: Json, place: int) -> Item:
        """The item that the final output holds in one place."""
        kind, item_id = str(raw.get("type")), raw.get("id")
        item = self.known(item_id) or self._known.get(place)
        if item is None and place < len(self._all):
            item = self._all[place]
        return item if item is not None and item.kind == kind else self._new(kind, item_id, place)

    def known(self, item_id: Any) -> Item | None:
        """The item of an id."""
        return self._known.get(item_id) if isinstance(item_id, str) else None

    def _last(self, kind: str) -> Item | None:
        fits = (item for item in reversed(self._all) if item.kind == kind and not item.done)
        return next(fits, None)

    def _new(self, kind: str, item_id: Any, place: Any) -> Item:
        item = Item(kind, len(self._all))
        self._all.append(item)
        self._alias(item, item_id, place)
        return item

    def _alias(self, item: Item, item_id: Any, place: Any) -> None:
        for key in (item_id, place):
            if isinstance(key, str) or type(key) is int:
                self._known[key] = item
