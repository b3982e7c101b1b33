"""Conversations over HTTP: items that several responses share, stored under an id.

Reference: the types of openai 3.49.0 (read 2026-11-15).
"""

from collections.abc import Callable
from typing import Any, Final

from toolglot.errors import DecodeError
from toolglot.gateway import error_responses as errors
from toolglot.gateway.error_responses import RequestRejectedError
from toolglot.gateway.http.json_response import json_response
from toolglot.gateway.routes.route import PlainRequest, Route
from toolglot.gateway.state.items import MAX_PAGE, normalize_item, paginate
from toolglot.gateway.state.sessions import Sessions, unknown_conversation
from toolglot.gateway.state.stored_responses import (
    Conversation,
    ResponseStore,
    new_conversation,
    new_id,
)
from toolglot.http1.server_response import HttpResponse
from toolglot.ir import Json
from toolglot.wire import jsontext
from toolglot.wire.message import read_body

_PATH: Final = "/v1/conversations"


class ConversationEndpoints:
    """The handlers, over stored conversations."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    @property
    def routes(self) -> tuple[Route, ...]:
        """All paths."""
        one = f"{_PATH}/{{id}}"
        items, item = f"{one}/items", f"{one}/items/{{item}}"
        return (
            Route("POST", _PATH, self._create),
            Route("GET", one, self._retrieve),
            Route("POST", one, self._update),
            Route("DELETE", one, self._delete),
            Route("GET", items, self._list_items),
            Route("POST", items, self._add_items),
            Route("GET", item, self._retrieve_item),
            Route("DELETE", item, self._delete_item),
        )

    async def _create(self, request: PlainRequest) -> HttpResponse:
        asked = read_body(request.body or b"{}")
        conversation = new_conversation(_metadata(asked))
        conversation = conversation.with_items(_new(asked.get("items")), "")
        self._sessions.check_size(conversation)
        await self._store(request).put_conversation(conversation)
        return json_response(_body(conversation))

    async def _retrieve(self, request: PlainRequest) -> HttpResponse:
        return json_response(_body(await self._conversation(request)))

    async def _update(self, request: PlainRequest) -> HttpResponse:
        metadata = _metadata(read_body(request.body))
        conversation = await self._change(request, lambda each: each.with_metadata(metadata))
        return json_response(_body(conversation))

    async def _delete(self, request: PlainRequest) -> HttpResponse:
        name = request.http.match["id"]
        if not await self._store(request).delete_conversation(name):
            raise RequestRejectedError(unknown_conversation(name))
        return json_response({"id": name, "object": "conversation.deleted", "deleted": True})

    async def _list_items(self, request: PlainRequest) -> HttpResponse:
        return json_response(
            paginate(_items(await self._conversation(request)), request.http.query)
        )

    async def _add_items(self, request: PlainRequest) -> HttpResponse:
        new = _new(read_body(request.body).get("items"))

        def extended(known: Conversation) -> Conversation:
            conversation = known.with_items(new, "")
            self._sessions.check_size(conversation)
            return conversation

        await self._change(request, extended)
        return json_response(paginate(new, {"order": "asc", "limit": str(MAX_PAGE)}))

    async def _retrieve_item(self, request: PlainRequest) -> HttpResponse:
        wanted = request.http.match["item"]
        for item in _items(await self._conversation(request)):
            if item["id"] == wanted:
                return json_response(item)
        raise RequestRejectedError(errors.missing_item(f"Item with id '{wanted}' not found."))

    async def _delete_item(self, request: PlainRequest) -> HttpResponse:
        item = request.http.match["item"]
        conversation = await self._change(request, lambda each: each.without_item(item))
        return json_response(_body(conversation))

    async def _change(
        self, request: PlainRequest, change: Callable[[Conversation], Conversation]
    ) -> Conversation:
        name, store = request.http.match["id"], self._store(request)
        changed = await self._sessions.change_conversation(store, name, change)
        if changed is None:
            raise RequestRejectedError(unknown_conversation(name))
        return changed

    async def _conversation(self, request: PlainRequest) -> Conversation:
        name = request.http.match["id"]
        conversation = await self._store(request).get_conversation(name)
        if conversation is None:
            raise RequestRejectedError(unknown_conversation(name))
        return conversation

    def _store(self, request: PlainRequest) -> ResponseStore:
        return self._sessions.store_for(request.owner)


def _body(conversation: Conversation) -> Json:
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
