"""Conversations over HTTP: items that several responses share, kept under an id.

Reference: the types of openai 3.49.0 (read 2026-11-15).
"""

from typing import Any, Final

from aiohttp import web

from toolglot.errors import DecodeError
from toolglot.gateway.access.authentication import Refusal
from toolglot.gateway.relay.relay import Relay
from toolglot.gateway.routes.endpoints import answer, error
from toolglot.gateway.routes.route import Visit, add_ways
from toolglot.gateway.state.items import MAX_PAGE, normalize_item, paginate
from toolglot.gateway.state.sessions import Sessions, unknown_conversation
from toolglot.gateway.state.stored_responses import (
    Conversation,
    ResponseStore,
    new_conversation,
    new_id,
)
from toolglot.ir import Json
from toolglot.wire import jsontext
from toolglot.wire.message import read_body

_PATH: Final = "/v1/conversations"


class Conversations:
    """The handlers, over what is kept."""

    def __init__(self, relay: Relay, sessions: Sessions) -> None:
        self._relay, self._sessions = relay, sessions

    def add_to(self, app: web.Application) -> None:
        """Answer at all paths."""
        one = f"{_PATH}/{{id}}"
        items, item = f"{one}/items", f"{one}/items/{{item}}"
        ways = (
            ("POST", _PATH, self._create),
            ("GET", one, self._retrieve),
            ("POST", one, self._update),
            ("DELETE", one, self._delete),
            ("GET", items, self._list_items),
            ("POST", items, self._add_items),
            ("GET", item, self._retrieve_item),
            ("DELETE", item, self._delete_item),
        )
        add_ways(app, self._relay, ways)

    async def _create(self, visit: Visit) -> web.StreamResponse:
        asked = read_body(visit.body or b"{}")
        conversation = new_conversation(_metadata(asked))
        conversation = conversation.with_items(_new(asked.get("items")), "")
        await self._store(visit).put_conversation(conversation)
        return answer(_shown(conversation))

    async def _retrieve(self, visit: Visit) -> web.StreamResponse:
        return answer(_shown(await self._conversation(visit)))

    async def _update(self, visit: Visit) -> web.StreamResponse:
        metadata = _metadata(read_body(visit.body))
        async with self._sessions.conversation_lock:
            conversation = (await self._conversation(visit)).with_metadata(metadata)
            await self._store(visit).put_conversation(conversation)
        return answer(_shown(conversation))

    async def _delete(self, visit: Visit) -> web.StreamResponse:
        name = visit.http.match_info["id"]
        if not await self._store(visit).delete_conversation(name):
            raise Refusal(unknown_conversation(name))
        return answer({"id": name, "object": "conversation.deleted", "deleted": True})

    async def _list_items(self, visit: Visit) -> web.StreamResponse:
        return answer(paginate(_items(await self._conversation(visit)), visit.http.query))

    async def _add_items(self, visit: Visit) -> web.StreamResponse:
        new = _new(read_body(visit.body).get("items"))
        async with self._sessions.conversation_lock:
            conversation = (await self._conversation(visit)).with_items(new, "")
            await self._store(visit).put_conversation(conversation)
        return answer(paginate(new, {"order": "asc", "limit": str(MAX_PAGE)}))

    async def _retrieve_item(self, visit: Visit) -> web.StreamResponse:
        wanted = visit.http.match_info["item"]
        for item in _items(await self._conversation(visit)):
            if item["id"] == wanted:
                return answer(item)
        raise Refusal(error("invalid_request", f"Item with id '{wanted}' not found.", 404))

    async def _delete_item(self, visit: Visit) -> web.StreamResponse:
        async with self._sessions.conversation_lock:
            conversation = (await self._conversation(visit)).without_item(
                visit.http.match_info["item"]
            )
            await self._store(visit).put_conversation(conversation)
        return answer(_shown(conversation))

    async def _conversation(self, visit: Visit) -> Conversation:
        name = visit.http.match_info["id"]
        conversation = await self._store(visit).get_conversation(name)
        if conversation is None:
            raise Refusal(unknown_conversation(name))
        return conversation

    def _store(self, visit: Visit) -> ResponseStore:
        return self._sessions.store_for(visit.owner)


def _shown(conversation: Conversation) -> Json:
    return {
        "id": conversation.id,
        "object": "conversation",
        "created_at": conversation.created_at,
        "metadata": conversation.metadata,
    }


def _items(conversation: Conversation) -> list[Json]:
    return [jsontext.peek(item) for _, item in conversation.items]


def _new(given: Any) -> list[Json]:
    if given is not None and not isinstance(given, list):
        raise DecodeError("items", "expected array")
    return [normalize_item(item, new_id) for item in given or ()]


def _metadata(asked: Json) -> Json:
    metadata = asked.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise DecodeError("metadata", "expected object")
    return metadata
