"""Stored responses over HTTP, and compaction.

Reference: the types of openai 3.49.0 and https://platform.openai.com/docs/api-reference/responses
(read 2026-11-15). We run nothing in the background ourselves, so there is nothing to cancel but
what a provider of the protocol does. Other protocols store answers in the same way, under the names
that their `StoredAnswers` tell; interactions: the types of google-genai 3.1.0 (read 2026-11-16).
"""

import time
from collections.abc import Callable
from typing import Final

from msgspec import Raw
from msgspec.structs import replace

from toolglot.context import Context
from toolglot.digest import digest
from toolglot.errors import DecodeError
from toolglot.exchange import encode_stream
from toolglot.gateway import error_responses as errors
from toolglot.gateway.error_responses import FIRST_ERROR, RequestRejectedError
from toolglot.gateway.http.json_response import JSON, json_response
from toolglot.gateway.http.response_writers import MemoryWriter, ResponseWriter, WholeResponse
from toolglot.gateway.incoming import IncomingRequest
from toolglot.gateway.relay.relay import Relay
from toolglot.gateway.routes.route import ModelRoute, PlainRequest, Route
from toolglot.gateway.state import compaction
from toolglot.gateway.state.items import Item, normalize_item, paginate, read_items
from toolglot.gateway.state.sessions import Session, Sessions, SessionWriter, stored_answers
from toolglot.gateway.state.stored_responses import (
    HistoryTooLargeError,
    ResponseStore,
    StoredResponse,
    new_id,
)
from toolglot.gateway.telemetry.request_telemetry import RequestTelemetry
from toolglot.http1.server_response import HttpResponse
from toolglot.ir import ApiError, Json
from toolglot.registry import get_protocol
from toolglot.translate import decode_response
from toolglot.wire import jsontext
from toolglot.wire.message import read_body
from toolglot.wire.sse import SseDecoder, frame

_COMPACT: Final = "/compact"
_COMPACTED: Final = "response.compaction"
_NO_SUCH_PATH: Final = frozenset({404, 405, 501})
_UNDER_WAY: Final = frozenset({"queued", "in_progress"})
_TRUE: Final = frozenset({"true", "1"})


class ResponseEndpoints:
    """The handlers, over one relay and the stored responses."""

    def __init__(self, relay: Relay, sessions: Sessions, protocol: str) -> None:
        self._relay, self._sessions, self._protocol = relay, sessions, protocol
        self._path, api = get_protocol(protocol).SURFACE.path, get_protocol(protocol).API
        self._paths = (self._path, *api.aliases)
        self._state = stored_answers(protocol)

    @property
    def routes(self) -> tuple[Route | ModelRoute, ...]:
        """All paths except the one for requests to a model."""
        stored = [
            route
            for path in self._paths
            for route in (
                Route("GET", f"{path}/{{id}}", self._retrieve),
                Route("DELETE", f"{path}/{{id}}", self._delete),
                Route("POST", f"{path}/{{id}}/cancel", self._cancel),
            )
        ]
        if not self._state.sockets:
            return tuple(stored)
        return (
            *stored,
            Route("GET", f"{self._path}/{{id}}/input_items", self._input_items),
            ModelRoute(self._path + _COMPACT, self._protocol, self._compact),
        )

    # --- responses --------------------------------------------------------------------------------

    async def _retrieve(self, request: PlainRequest) -> HttpResponse:
        """A response, whole or as the stream that it was."""
        kept = await self._newest(request, await self._kept(request))
        query = request.http.query
        if query.get("stream", "").lower() not in _TRUE:
            data = kept.response
            if query.get("include_input", "").lower() in _TRUE:
                data = jsontext.encode({**jsontext.members(data), "input": Raw(kept.input)})
            return WholeResponse(data=data, headers={"Content-Type": JSON}).http()
        if query.get("last_event_id"):
            words = "last_event_id: our events have no ids; leave it out to get all of them"
            raise RequestRejectedError(errors.invalid_request(words))
        after = query.get("starting_after", "-1")
        if not after.removeprefix("-").isdigit():
            raise DecodeError("starting_after", "expected a number")
        surface = get_protocol(self._protocol).SURFACE
        response = decode_response(kept.response, source=self._protocol)
        data = encode_stream(response, self._protocol, Context(source=surface, target=surface))
        headers = {"Content-Type": surface.stream.media_type}
        data = data if int(after) < 0 else _after(data, int(after))
        return WholeResponse(data=data, headers=headers).http()

    async def _delete(self, request: PlainRequest) -> HttpResponse:
        response_id = request.http.match["id"]
        if not await self._store(request).delete_response(response_id):
            raise RequestRejectedError(self._unknown(response_id))
        return json_response(self._state.deleted(response_id))

    async def _input_items(self, request: PlainRequest) -> HttpResponse:
        """All that a response answered, with what came before."""
        response_id = request.http.match["id"]
        try:
            chain = await self._store(request).history(response_id, self._sessions.most_bytes)
        except HistoryTooLargeError as problem:
            raise RequestRejectedError(errors.history_too_large(problem.limit)) from None
        if chain is None:
            raise RequestRejectedError(self._unknown(response_id))
        *before, last = chain.values()
        items = [*(item for kept in before for item in kept.items), *last.input_items]
        return json_response(paginate(_with_ids(items, response_id), request.http.query))

    async def _cancel(self, request: PlainRequest) -> HttpResponse:
        kept = await self._kept(request)
        if kept.stored_upstream and _is_under_way(kept):
            kept = await self._newest(request, kept, "/cancel", b"{}")
            return WholeResponse(data=kept.response, headers={"Content-Type": JSON}).http()
        words = f"Cannot cancel a synchronous {self._state.member}."
        raise RequestRejectedError(errors.invalid_request(words))

    async def _kept(self, request: PlainRequest) -> StoredResponse:
        response_id = request.http.match["id"]
        kept = await self._store(request).get_response(response_id)
        if kept is None:
            raise RequestRejectedError(self._unknown(response_id))
        return kept

    async def _newest(
        self, request: PlainRequest, kept: StoredResponse, more: str = "", data: bytes | None = None
    ) -> StoredResponse:
        """A response as it is now: one that a provider makes in the background changes there."""
        upstream = self._relay.router.upstreams.get(kept.provider)
        if not kept.stored_upstream or upstream is None or not _is_under_way(kept):
            return kept
        response_id = request.http.match["id"]
        path = f"{self._path}/{response_id}{more}"
        outbound = upstream.small_request(self._protocol, path, data)
        found = await self._relay.client.fetch(outbound)
        if not isinstance(found, dict) or found.get("id") != response_id:
            return kept
        kept = replace(kept, response=jsontext.encode(found))
        await self._store(request).put_response(response_id, kept, store=True)
        return kept

    def _store(self, request: PlainRequest) -> ResponseStore:
        return self._sessions.store_for(request.owner, state=self._state)

    def _unknown(self, response_id: str) -> ApiError:
        name = self._state.member.capitalize()
        return errors.missing_item(f"{name} with id '{response_id}' not found.")

    # --- compaction -------------------------------------------------------------------------------

    async def _compact(
        self, request: IncomingRequest, _writer: ResponseWriter, telemetry: RequestTelemetry
    ) -> HttpResponse:
        """A shorter conversation: by the provider if it can, else by a summary of the model's."""
        request = replace(request, stream=False)
        by_provider = await self._compacted_by_provider(request, telemetry)
        if by_provider is not None:
            return by_provider.http()
        expanded = await self._sessions.expand(request)
        members = jsontext.members(expanded.body)
        items = read_items(members.get("input"))
        question = replace(expanded, body=compaction.summary_request(members), path=self._path)
        answer = await self._ask(question, telemetry)
        if answer.status >= FIRST_ERROR:
            return answer.http()
        summary = read_body(answer.data)
        return json_response(
            compaction.compacted_response(summary, items, new_id, int(time.time()))
        )

    async def _compacted_by_provider(
        self, request: IncomingRequest, telemetry: RequestTelemetry
    ) -> WholeResponse | None:
        """The response of a provider that has compaction; None: it has none."""
        targets = self._relay.router.targets(request.model)
        upstream = targets[0].upstream if targets else None
        if upstream is None:
            return None
        if upstream.protocol_for(self._protocol, targets[0].model) != self._protocol:
            return None
        model = f"{upstream.name}/{targets[0].model}"
        request, session = self._sessions.open(
            replace(request, model=model, path=self._path + _COMPACT)
        )
        answer = await self._ask(request, telemetry, session)
        if answer.status < FIRST_ERROR:
            return answer if read_body(answer.data).get("object") == _COMPACTED else None
        return None if answer.status in _NO_SUCH_PATH else answer

    async def _ask(
        self, request: IncomingRequest, telemetry: RequestTelemetry, session: Session | None = None
    ) -> WholeResponse:
        """The answer to an internal request."""
        memory = MemoryWriter()
        writer = memory if session is None else SessionWriter(memory, session)
        await self._relay.answer(request, writer, telemetry, session)
        return memory.answer


def _is_under_way(kept: StoredResponse) -> bool:
    return jsontext.read(jsontext.members(kept.response).get("status")) in _UNDER_WAY


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
