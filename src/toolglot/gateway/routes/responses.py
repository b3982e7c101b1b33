"""Stored responses over HTTP, and compaction.

Reference: the types of openai 3.49.0 and https://platform.openai.com/docs/api-reference/responses
(read 2026-11-15). We run nothing in the background ourselves, so there is nothing to cancel but
what a provider of the protocol does.
"""

import time
from collections.abc import Callable
from typing import Final

from aiohttp import web
from msgspec.structs import replace

from toolglot.context import Context
from toolglot.digest import digest
from toolglot.errors import DecodeError
from toolglot.exchange import streamed
from toolglot.gateway.access.authentication import Refusal
from toolglot.gateway.http.writers import MemorySink, Whole
from toolglot.gateway.relay.incoming import Call, refused
from toolglot.gateway.relay.relay import Relay
from toolglot.gateway.routes.endpoints import answer, error
from toolglot.gateway.routes.route import Visit, add_ways
from toolglot.gateway.state import compaction
from toolglot.gateway.state.items import Item, normalize_item, paginate, read_items
from toolglot.gateway.state.sessions import Sessions
from toolglot.gateway.state.stored_responses import ResponseStore, StoredResponse, new_id
from toolglot.ir import ApiError, Json
from toolglot.registry import get_protocol
from toolglot.translate import decode_response
from toolglot.wire import jsontext
from toolglot.wire.message import read_body
from toolglot.wire.sse import SseDecoder, frame

_COMPACT: Final = "/compact"
_COMPACTED: Final = "response.compaction"
_NO_SUCH_PLACE: Final = frozenset({404, 405, 501})
_UNDER_WAY: Final = frozenset({"queued", "in_progress"})
_FIRST_ERROR: Final = 400
_TRUE: Final = frozenset({"true", "1"})


class Responses:
    """The handlers, over one relay and what is kept."""

    def __init__(self, relay: Relay, sessions: Sessions, protocol: str) -> None:
        self._relay, self._sessions, self._protocol = relay, sessions, protocol
        self._path = get_protocol(protocol).SURFACE.path

    def add_to(self, app: web.Application) -> None:
        """Answer at all paths."""
        one = f"{self._path}/{{id}}"
        ways = (
            ("GET", one, self._retrieve),
            ("DELETE", one, self._delete),
            ("GET", f"{one}/input_items", self._input_items),
            ("POST", f"{one}/cancel", self._cancel),
        )
        add_ways(app, self._relay, ways)

    # --- responses --------------------------------------------------------------------------------

    async def _retrieve(self, visit: Visit) -> web.StreamResponse:
        """A response, whole or as the stream that it was."""
        kept = await self._newest(visit, await self._kept(visit))
        if visit.http.query.get("stream", "").lower() not in _TRUE:
            return Whole(data=kept.response, headers={"Content-Type": "application/json"}).http()
        after = visit.http.query.get("starting_after", "-1")
        if not after.removeprefix("-").isdigit():
            raise DecodeError("starting_after", "expected a number")
        surface = get_protocol(self._protocol).SURFACE
        response = decode_response(kept.response, source=self._protocol)
        data = streamed(response, self._protocol, Context(source=surface, target=surface))
        headers = {"Content-Type": surface.stream_type}
        return Whole(data=_after(data, int(after)), headers=headers).http()

    async def _delete(self, visit: Visit) -> web.StreamResponse:
        response_id = visit.http.match_info["id"]
        if not await self._store(visit).delete_response(response_id):
            raise Refusal(_unknown(response_id))
        return answer({"id": response_id, "object": "response", "deleted": True})

    async def _input_items(self, visit: Visit) -> web.StreamResponse:
        """All that a response answered, with what came before."""
        response_id = visit.http.match_info["id"]
        chain = await self._store(visit).history(response_id)
        if chain is None:
            raise Refusal(_unknown(response_id))
        *before, last = chain.values()
        items = [*(item for kept in before for item in kept.items), *last.input_items]
        return answer(paginate(_with_ids(items, response_id), visit.http.query))

    async def _cancel(self, visit: Visit) -> web.StreamResponse:
        kept = await self._kept(visit)
        if kept.stored_upstream and _is_under_way(kept):
            kept = await self._newest(visit, kept, "/cancel", b"{}")
            return Whole(data=kept.response, headers={"Content-Type": "application/json"}).http()
        raise Refusal(error("invalid_request", "Cannot cancel a synchronous response.", 400))

    async def _kept(self, visit: Visit) -> StoredResponse:
        response_id = visit.http.match_info["id"]
        kept = await self._store(visit).get_response(response_id)
        if kept is None:
            raise Refusal(_unknown(response_id))
        return kept

    async def _newest(
        self, visit: Visit, kept: StoredResponse, more: str = "", data: bytes | None = None
    ) -> StoredResponse:
        """A response as it is now: one that a provider makes in the background changes there."""
        upstream = self._relay.router.upstreams.get(kept.provider)
        if not kept.stored_upstream or upstream is None or not _is_under_way(kept):
            return kept
        response_id = visit.http.match_info["id"]
        path = f"{self._path}/{response_id}{more}"
        found = await self._relay.client.fetch(upstream, self._protocol, path, data)
        if not isinstance(found, dict) or found.get("id") != response_id:
            return kept
        kept = replace(kept, response=jsontext.encode(found))
        await self._store(visit).put_response(response_id, kept, store=True)
        return kept

    def _store(self, visit: Visit) -> ResponseStore:
        return self._sessions.store_for(visit.owner)

    # --- compaction -------------------------------------------------------------------------------

    async def compact(self, call: Call) -> web.StreamResponse:
        """A shorter conversation: by the provider if it can, else by a summary of the model's."""
        call.stream = False
        passed = await self._passed_on(call)
        if passed is not None:
            return passed.http()
        await self._sessions.expand(call)
        members = jsontext.members(call.body)
        items = read_items(members.get("input"))
        call.body, call.path, call.past = compaction.summary_request(members), self._path, None
        told = await self._asked(call)
        if told.status >= _FIRST_ERROR:
            return told.http()
        summary = read_body(told.data)
        return answer(compaction.compacted_response(summary, items, new_id, int(time.time())))

    async def _passed_on(self, call: Call) -> Whole | None:
        """What a provider with compaction of its own says; None: there is none."""
        targets = self._relay.router.targets(call.model)
        upstream = targets[0].upstream if targets else None
        if upstream is None or upstream.protocol_for(self._protocol) != self._protocol:
            return None
        model, call.model = call.model, f"{upstream.name}/{targets[0].model}"
        call.path = self._path + _COMPACT
        self._sessions.attach(call)
        told = await self._asked(call)
        call.model = model
        if told.status < _FIRST_ERROR:
            return told if read_body(told.data).get("object") == _COMPACTED else None
        return None if told.status in _NO_SUCH_PLACE else told

    async def _asked(self, call: Call) -> Whole:
        """The answer to a request that is not shown to the client as it is."""
        sink = MemorySink()
        call.sink = sink
        try:
            await self._relay.answer(call)
        except Refusal as refusal:
            return refused(call, refusal.error)
        return sink.answer


def _is_under_way(kept: StoredResponse) -> bool:
    return jsontext.read(jsontext.members(kept.response).get("status")) in _UNDER_WAY


def _unknown(response_id: str) -> ApiError:
    return error("invalid_request", f"Response with id '{response_id}' not found.", 404)


def _with_ids(items: list[Item], response_id: str) -> list[Json]:
    """Items as they are listed; those that came without an id have the same one every time."""

    def fixed(index: int) -> Callable[[str], str]:
        return lambda prefix: prefix + digest(response_id.encode(), 24, index).hex()

    return [normalize_item(item, fixed(index)) for index, item in enumerate(items)]


def _after(stream: bytes, number: int) -> bytes:
    """The events of a stream that come after a number."""
    events = SseDecoder().feed(stream)
    return b"".join(
        frame(data, name.encode())
        for name, data in events
        if jsontext.read(jsontext.members(data).get("sequence_number")) > number
    )
