"""What is kept of the Responses API, as one owner sees it: responses and conversations.

Each response knows the one before it, so that a long conversation is stored once, not once per
turn.
"""

import secrets
import time
from typing import Final

from msgspec import Raw, Struct, msgpack
from msgspec.structs import replace

from toolglot.gateway.state.items import Item, items_of
from toolglot.gateway.storage.store import Store
from toolglot.ir import Json
from toolglot.wire import jsontext

RESPONSE: Final = "response"
CONVERSATION: Final = "conversation"

Issued = tuple[str, Item]
"""An item, and the provider that wrote it or was given it."""


class Kept(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A response, and what it answered."""

    response: bytes
    """As the client saw it."""
    input: bytes
    """What was asked, without what came before."""
    previous: str | None = None
    provider: str = ""
    held: bool = False
    """The provider keeps it too."""

    @property
    def asked(self) -> list[Item]:
        """The items of the question."""
        return items_of(Raw(self.input))

    @property
    def items(self) -> list[Item]:
        """The items of the question and of the answer."""
        return [*self.asked, *items_of(jsontext.members(self.response)["output"])]


class Conversation(Struct, frozen=True, kw_only=True):
    """Items that several responses share."""

    id: str
    created_at: int
    metadata: Json
    items: tuple[tuple[str, bytes], ...] = ()
    """Each with the provider that wrote it or was given it."""

    @property
    def issued(self) -> list[Issued]:
        """The items, to be put in front of others."""
        return [(issuer, Raw(item)) for issuer, item in self.items]

    def plus(self, new: list[Json], issuer: str) -> "Conversation":
        """The conversation as it goes on."""
        more = [(issuer, jsontext.encode(item)) for item in new]
        return replace(self, items=(*self.items, *more))

    def minus(self, item_id: str) -> "Conversation":
        """The conversation without an item."""
        left = (each for each in self.items if jsontext.peek(each[1]).get("id") != item_id)
        return replace(self, items=tuple(left))

    def labelled(self, metadata: Json) -> "Conversation":
        """The conversation with other metadata."""
        return replace(self, metadata=metadata)


_ENCODER: Final = msgpack.Encoder()
_KEPT: Final = msgpack.Decoder(Kept)
_CONVERSATION: Final = msgpack.Decoder(Conversation)


class Shelf:
    """What one owner keeps: for as long as a connection lasts, and for longer."""

    __slots__ = ("_near", "_store", "owner")

    def __init__(self, store: Store, owner: str, near: Store | None = None) -> None:
        self._store = store
        self._near = near
        self.owner = owner

    @property
    def remembers(self) -> bool:
        """Whether even what shall not be stored can be continued."""
        return self._near is not None

    async def response(self, response_id: str) -> Kept | None:
        """A response, if it is kept."""
        for store in filter(None, (self._near, self._store)):
            found = await store.get(RESPONSE, response_id, self.owner)
            if found is not None:
                return _KEPT.decode(found)
        return None

    async def keep(self, response_id: str, kept: Kept, *, store: bool) -> None:
        """Keep a response."""
        value = _ENCODER.encode(kept)
        if self._near is not None:
            await self._near.put(RESPONSE, response_id, value, self.owner)
        if store:
            await self._store.put(RESPONSE, response_id, value, self.owner)

    async def forget(self, response_id: str) -> bool:
        """Forget a response; false if there was none."""
        return await self._store.delete(RESPONSE, response_id, self.owner)

    async def chain(self, response_id: str) -> dict[str, Kept] | None:
        """A response and all before it, the first first; None if one is not kept."""
        chain: dict[str, Kept] = {}
        wanted: str | None = response_id
        while wanted is not None:
            kept = await self.response(wanted) if wanted not in chain else None
            if kept is None:
                return None
            chain[wanted] = kept
            wanted = kept.previous
        return dict(reversed(chain.items()))

    async def conversation(self, conversation_id: str) -> Conversation | None:
        """A conversation, if it is kept."""
        found = await self._store.get(CONVERSATION, conversation_id, self.owner)
        return _CONVERSATION.decode(found) if found is not None else None

    async def keep_conversation(self, conversation: Conversation) -> None:
        """Keep a conversation."""
        value = _ENCODER.encode(conversation)
        await self._store.put(CONVERSATION, conversation.id, value, self.owner)

    async def forget_conversation(self, conversation_id: str) -> bool:
        """Forget a conversation; false if there was none."""
        return await self._store.delete(CONVERSATION, conversation_id, self.owner)


def new_conversation(metadata: Json) -> Conversation:
    """A conversation that begins."""
    return Conversation(id=new_id("conv_"), created_at=int(time.time()), metadata=metadata)


def new_id(prefix: str) -> str:
    """An id that nobody has yet."""
    return prefix + secrets.token_hex(24)
