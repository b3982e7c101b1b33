"""Stored responses and conversations of the Responses API, as one owner sees them; answers of other
protocols that are stored in the same way are responses here, too.

A response is stored with its own input and the id of the response that it continues
(`previous_response_id`), so that a long conversation is stored once and not once per turn. A
conversation (`conversation` in a request) is a list of items that grows with every response.
"""

import secrets
import time
from collections.abc import Callable
from typing import Final

from msgspec import Raw, Struct, field, msgpack
from msgspec.structs import replace

from toolglot.api import StoredAnswers
from toolglot.gateway.state.items import Item, id_of, read_items
from toolglot.gateway.storage.store import Store
from toolglot.ir import Json
from toolglot.wire import jsontext

RESPONSE: Final = "response"
CONVERSATION: Final = "conversation"
_ITEM: Final = "item"

IssuedItem = tuple[str, Item]
"""The provider that wrote an item or was sent it, and the item."""


class HistoryTooLargeError(Exception):
    """What is continued is larger than a request may be."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"more than {limit} bytes")
        self.limit = limit


class StoredResponse(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A response with its input."""

    response: bytes
    """The JSON that the client received."""
    input: bytes
    """The items of the request, without those of earlier responses."""
    previous: str | None = None
    """The id of the response that it continues."""
    provider: str = ""
    stored_upstream: bool = field(default=False, name="held")
    """The provider has stored it too. The name in the database is from an earlier version."""
    output_key: str = "output"
    """The member of the response that has its items: only its own protocol continues it."""

    @property
    def size(self) -> int:
        """Its bytes."""
        return len(self.response) + len(self.input)

    @property
    def input_items(self) -> list[Item]:
        """The items of the request."""
        return read_items(Raw(self.input))

    @property
    def items(self) -> list[Item]:
        """The items of the request and of the response."""
        return [*self.input_items, *self.output_items]

    @property
    def output_items(self) -> list[Item]:
        """The items of the response."""
        return read_items(jsontext.members(self.response).get(self.output_key))


class StoredItem(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An item of a response, which later requests may name by its id alone."""

    item: bytes
    provider: str = ""
    stored_upstream: bool = False
    """The provider has stored it too."""


class Conversation(Struct, frozen=True, kw_only=True):
    """Items that several responses share."""

    id: str
    created_at: int
    metadata: Json
    items: tuple[tuple[str, bytes], ...] = ()
    """Each with the provider that wrote it or was sent it."""

    @property
    def size(self) -> int:
        """The bytes of its items."""
        return sum(len(item) for _, item in self.items)

    @property
    def issued_items(self) -> list[IssuedItem]:
        """The items, each with its provider."""
        return [(issuer, Raw(item)) for issuer, item in self.items]

    def with_items(self, new: list[Json], issuer: str) -> "Conversation":
        """The conversation with more items at its end."""
        more = [(issuer, jsontext.encode(item)) for item in new]
        return replace(self, items=(*self.items, *more))

    def without_item(self, item_id: str) -> "Conversation":
        """The conversation without an item."""
        left = (each for each in self.items if jsontext.peek(each[1]).get("id") != item_id)
        return replace(self, items=tuple(left))

    def with_metadata(self, metadata: Json) -> "Conversation":
        """The conversation with other metadata."""
        return replace(self, metadata=metadata)


_ENCODER: Final = msgpack.Encoder()
_STORED_ITEM: Final = msgpack.Decoder(StoredItem)
_RESPONSE: Final = msgpack.Decoder(StoredResponse)
_CONVERSATION: Final = msgpack.Decoder(Conversation)


class ResponseStore:
    """The responses and conversations of one owner.

    `connection` holds the responses of one WebSocket, on which even those with `"store": false` can
    be continued.
    """

    __slots__ = ("_by_item", "_connection", "_output_key", "_store", "owner")

    def __init__(
        self,
        store: Store,
        owner: str,
        connection: Store | None = None,
        state: StoredAnswers | None = None,
    ) -> None:
        self._store = store
        self._output_key = "output" if state is None else state.output
        self._by_item = state is None or state.references
        self._connection = connection
        self.owner = owner

    @property
    def keeps_unstored(self) -> bool:
        """Whether a response with `"store": false` can be continued."""
        return self._connection is not None

    async def get_response(self, response_id: str) -> StoredResponse | None:
        """A response, if it is stored."""
        for store in filter(None, (self._connection, self._store)):
            found = await store.get(RESPONSE, response_id, self.owner)
            if found is not None:
                response = _RESPONSE.decode(found)
                return response if response.output_key == self._output_key else None
        return None

    async def put_response(
        self, response_id: str, response: StoredResponse, *, store: bool
    ) -> None:
        """Store a response; if not `store`, for as long as the connection lasts only."""
        values = [(RESPONSE, response_id, _ENCODER.encode(response))]
        for item in response.output_items if self._by_item else ():
            item_id = id_of(item)
            if item_id is not None:
                stored = StoredItem(
                    item=jsontext.encode(item),
                    provider=response.provider,
                    stored_upstream=response.stored_upstream,
                )
                values.append((_ITEM, item_id, _ENCODER.encode(stored)))
        for each in filter(None, (self._connection, self._store if store else None)):
            for kind, key, value in values:
                await each.put(kind, key, value, self.owner)

    async def get_item(self, item_id: str) -> StoredItem | None:
        """An item of a response, if that is stored."""
        for store in filter(None, (self._connection, self._store)):
            found = await store.get(_ITEM, item_id, self.owner)
            if found is not None:
                return _STORED_ITEM.decode(found)
        return None

    async def evict_response(self, response_id: str) -> None:
        """Forget a response that is stored for as long as the connection lasts."""
        if self._connection is not None:
            await self._connection.delete(RESPONSE, response_id, self.owner)

    async def delete_response(self, response_id: str) -> bool:
        """Delete a response with its items; false if there was none."""
        found = await self._store.get(RESPONSE, response_id, self.owner)
        response = None if found is None else _RESPONSE.decode(found)
        if response is None or response.output_key != self._output_key:
            return False
        for item in response.output_items if self._by_item else ():
            item_id = id_of(item)
            if item_id is not None:
                await self._store.delete(_ITEM, item_id, self.owner)
        return await self._store.delete(RESPONSE, response_id, self.owner)

    async def history(
        self, response_id: str, most: int | None = None
    ) -> dict[str, StoredResponse] | None:
        """A response and all that it continues, by their ids, the first one first.

        None if one of them is not stored. A `HistoryTooLargeError` if they have more than `most`
        bytes together.
        """
        history: dict[str, StoredResponse] = {}
        size = 0
        wanted: str | None = response_id
        while wanted is not None:
            response = await self.get_response(wanted) if wanted not in history else None
            if response is None:
                return None
            history[wanted] = response
            size += response.size
            if most is not None and size > most:
                raise HistoryTooLargeError(most)
            wanted = response.previous
        return dict(reversed(history.items()))

    async def get_conversation(self, conversation_id: str) -> Conversation | None:
        """A conversation, if it is stored."""
        found = await self._store.get(CONVERSATION, conversation_id, self.owner)
        return _CONVERSATION.decode(found) if found is not None else None

    async def put_conversation(self, conversation: Conversation) -> None:
        """Store a new conversation."""
        value = _ENCODER.encode(conversation)
        await self._store.put(CONVERSATION, conversation.id, value, self.owner)
        await self._store.flush()  # The next request may come to another process.

    async def change_conversation(
        self, conversation_id: str, change: Callable[[Conversation], Conversation]
    ) -> Conversation | None:
        """Change a conversation that others may be changing, too; None: it is not stored."""
        while True:
            found = await self._store.get(CONVERSATION, conversation_id, self.owner)
            if found is None:
                return None
            changed = change(_CONVERSATION.decode(found))
            new = _ENCODER.encode(changed)
            if await self._store.swap(CONVERSATION, conversation_id, found, new, self.owner):
                return changed

    async def delete_conversation(self, conversation_id: str) -> bool:
        """Delete a conversation; false if there was none."""
        return await self._store.delete(CONVERSATION, conversation_id, self.owner)


def new_conversation(metadata: Json) -> Conversation:
    """An empty conversation with a new id."""
    return Conversation(id=new_id("conv_"), created_at=int(time.time()), metadata=metadata)


def new_response_id(prefix: str = "resp_") -> str:
    """The id of a response, which no other conversation has."""
    return new_id(prefix)


def new_id(prefix: str) -> str:
    """A random id."""
    return prefix + secrets.token_hex(24)
