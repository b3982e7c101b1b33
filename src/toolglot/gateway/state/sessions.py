"""The state of the Responses API, for providers that have none.

A response is kept with what it answered, so that a later request can continue it by its id. A
provider that keeps its responses itself, and issued the one that is continued, gets the request as
it came; every other gets what came before in front of the input.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from aiohttp import web
from msgspec.structs import replace

from toolglot.errors import DecodeError
from toolglot.exchange import Exchange
from toolglot.gateway import errors
from toolglot.gateway.errors import FIRST_ERROR, RequestRejectedError
from toolglot.gateway.http.writers import ResponseWriter, WholeResponse
from toolglot.gateway.incoming import IncomingRequest
from toolglot.gateway.state import compaction
from toolglot.gateway.state.items import Item, is_foreign_reasoning, items_of, listed
from toolglot.gateway.state.stored_responses import (
    CONVERSATION,
    Conversation,
    Issued,
    Kept,
    Shelf,
    new_id,
)
from toolglot.gateway.storage.store import Store
from toolglot.ir import ApiError
from toolglot.registry import get_protocol
from toolglot.wire import jsontext

PREVIOUS: Final = "previous_response_id"

_FINAL: Final = ("response.completed", "response.incomplete")
_MARKS: Final = tuple(f'"{name}"'.encode() for name in _FINAL)


class Sessions:
    """Gives requests their past, and keeps what they will be the past of."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.turn = asyncio.Lock()
        """Held by whoever changes a conversation."""

    def shelf(self, owner: str, near: Store | None = None) -> Shelf:
        """What one owner keeps; `near` is what is kept for as long as a connection lasts."""
        return Shelf(self._store, owner, near)

    def open(
        self, request: IncomingRequest, near: Store | None = None
    ) -> "tuple[IncomingRequest, Session | None]":
        """Let a request continue others and be continued, where its protocol has that: the request
        as it is meant, and its session if there is anything to continue or to keep.
        """
        request, session = self._session(request, near)
        return request, session if session is not None and session.matters else None

    async def expand(self, request: IncomingRequest) -> IncomingRequest:
        """A request with all that came before it, for whoever does not relay it."""
        request, session = self._session(request, None)
        return request if session is None else replace(request, body=await session.expanded())

    def _session(
        self, request: IncomingRequest, near: Store | None
    ) -> "tuple[IncomingRequest, Session | None]":
        if not get_protocol(request.protocol).SURFACE.earlier_keys:
            return request, None
        try:
            if compaction.MARK in request.body:
                request = replace(request, body=compaction.unfolded(request.body))
            return request, Session(self, request, self.shelf(request.owner, near))
        except DecodeError as problem:
            raise RequestRejectedError(errors.invalid_request(str(problem))) from None


class Session:
    """One request of the Responses API: what came before it, and what is kept of its answer."""

    def __init__(self, sessions: Sessions, request: IncomingRequest, shelf: Shelf) -> None:
        self._sessions, self._request, self._shelf = sessions, request, shelf
        self._members = jsontext.members(request.body)
        self._previous = _id_of(self._members.get(PREVIOUS), PREVIOUS)
        self._conversation = _id_of(self._members.get(CONVERSATION), CONVERSATION)
        if self._previous and self._conversation:
            raise DecodeError(PREVIOUS, f"cannot be used together with {CONVERSATION}")
        self._store = jsontext.read(self._members.get("store")) is not False
        self._chain: dict[str, Kept] = {}
        self._found: Conversation | None = None
        self._provider = ""
        self._native = False
        """Whether the provider that was asked last has such state itself."""

    @property
    def matters(self) -> bool:
        """Whether there is anything to continue or to keep."""
        continues = bool(self._previous or self._conversation)
        return continues or self._store or self._shelf.remembers

    # --- the past ---------------------------------------------------------------------------------

    async def request_for(
        self, exchange: Exchange, provider: str, *, built_in: bool
    ) -> tuple[bytes, Mapping[str, Any]]:
        """The request as a provider can answer it, and what the answer repeats of it."""
        self._provider = provider
        self._native = exchange.client == exchange.provider and not built_in
        if self._native and await self._known_to(provider):
            return self._request.body, {}
        before = await self._before()
        if self._native:
            return self._with(_without_reasoning(before, provider, exchange)), {}
        echo = {PREVIOUS: self._previous, "store": self._store}
        named = {CONVERSATION: {"id": self._conversation}} if self._conversation else {}
        return self._with(before, "store"), {**echo, **named}

    async def expanded(self) -> bytes:
        """The request with all that came before, for nobody in particular."""
        return self._with(await self._before(), "store")

    def _with(self, before: list[Issued], *without: str) -> bytes:
        left_out = (PREVIOUS, CONVERSATION, *without)
        if not before and self._members.keys().isdisjoint(left_out):
            return self._request.body
        members = dict(self._members)
        if before:
            new = items_of(members.get("input"))
            members["input"] = [*(item for _, item in before), *new]
        for key in left_out:
            members.pop(key, None)
        return jsontext.encode(members)

    async def _known_to(self, provider: str) -> bool:
        """Whether a provider knows what is continued. It may know what we do not; but clients with
        keys of their own must not reach each other's responses that way.
        """
        if self._previous:
            kept = await self._shelf.response(self._previous)
            if kept is not None:
                return kept.held and kept.provider == provider
            return not self._shelf.owner
        if self._conversation:
            unknown = await self._shelf.conversation(self._conversation) is None
            return unknown and not self._shelf.owner
        return True

    async def _before(self) -> list[Issued]:
        if self._conversation:
            self._found = await self._shelf.conversation(self._conversation)
            if self._found is None:
                raise RequestRejectedError(unknown_conversation(self._conversation))
            return self._found.issued
        if not self._previous:
            return []
        chain = await self._shelf.chain(self._previous)
        if chain is None:
            raise RequestRejectedError(_unknown_previous(self._previous, self._request.protocol))
        self._chain = chain
        return [(kept.provider, item) for kept in chain.values() for item in kept.items]

    # --- the answer -------------------------------------------------------------------------------

    async def keep(self, answer: bytes) -> None:
        """Keep the answer, so that it can be continued."""
        try:
            said = jsontext.members(answer)
            response_id = jsontext.read(said.get("id"))
            asked, answered = items_of(self._members.get("input")), items_of(said.get("output"))
        except DecodeError:
            return
        if not isinstance(response_id, str):
            return
        provider = self._provider
        kept = Kept(
            response=answer,
            input=jsontext.encode([*self._carried(response_id), *asked]),
            previous=None if response_id in self._chain else self._previous,
            provider=provider,
            held=self._native and jsontext.read(said.get("store")) is True,
        )
        await self._shelf.keep(response_id, kept, store=self._store)
        if self._found is not None:
            await self._go_on(self._found.id, asked, answered, provider)

    def _carried(self, response_id: str) -> list[Item]:
        """What came before and cannot be found by the id of a response: a conversation moves on,
        and some servers give all their answers the same id.
        """
        if self._found is not None:
            return [item for _, item in self._found.issued]
        if response_id not in self._chain:
            return []
        return [item for kept in self._chain.values() for item in kept.items]

    async def _go_on(
        self, conversation_id: str, asked: list[Item], answered: list[Item], provider: str
    ) -> None:
        async with self._sessions.turn:
            conversation = await self._shelf.conversation(conversation_id)
            if conversation is not None:
                new = [listed(item, new_id) for item in (*asked, *answered)]
                await self._shelf.keep_conversation(conversation.plus(new, provider))


class KeepingWriter:
    """Writes an answer, and lets a session keep it before the client can ask to continue it."""

    __slots__ = ("_session", "_tap", "_writer")

    def __init__(self, writer: ResponseWriter, session: Session) -> None:
        self._writer = writer
        self._session = session
        self._tap = Tap()

    @property
    def response(self) -> web.StreamResponse:
        return self._writer.response

    @property
    def closed(self) -> bool:
        return self._writer.closed

    @property
    def drained(self) -> bool:
        return self._writer.drained

    async def whole(self, answer: WholeResponse) -> None:
        if answer.status < FIRST_ERROR:
            await self._session.keep(answer.data)
        await self._writer.whole(answer)

    async def begin(self, headers: Mapping[str, str]) -> None:
        await self._writer.begin(headers)

    async def write(self, data: bytes) -> None:
        final = self._tap.feed(data)
        if final is not None:
            await self._session.keep(final)
        await self._writer.write(data)

    async def end(self) -> None:
        final = self._tap.feed(b"\n")
        if final is not None:
            await self._session.keep(final)
        await self._writer.end()


class Tap:
    """Finds the final response in a stream without reading the rest of it."""

    __slots__ = ("_found", "_line")

    def __init__(self) -> None:
        self._line: list[bytes] = []
        self._found = False

    def feed(self, data: bytes) -> bytes | None:
        """The final response, with the bytes that complete its line."""
        if self._found:
            return None
        cut = data.rfind(b"\n") + 1
        if not cut:
            self._line.append(data)
            return None
        lines = data[:cut]
        if self._line:
            lines = b"".join((*self._line, lines))
        self._line = [data[cut:]] if cut < len(data) else []
        for mark in _MARKS:
            at = lines.find(mark)
            if at >= 0:
                return self._read(lines[lines.rfind(b"\n", 0, at) + 1 : lines.find(b"\n", at)])
        return None

    def _read(self, line: bytes) -> bytes | None:
        try:
            event = jsontext.members(line.removeprefix(b"data:").strip())
        except DecodeError:
            return None
        if jsontext.read(event.get("type")) not in _FINAL or "response" not in event:
            return None
        self._found = True
        return jsontext.encode(event["response"])


def _without_reasoning(before: list[Issued], provider: str, exchange: Exchange) -> list[Issued]:
    """Without what a provider of the same protocol would refuse."""
    left = [
        (issuer, item)
        for issuer, item in before
        if not is_foreign_reasoning(item, own=issuer == provider)
    ]
    if len(left) < len(before):
        words = f"{len(before) - len(left)} items of earlier answers: their state is elsewhere"
        exchange.note("reasoning-dropped", PREVIOUS, words)
    return left


def _id_of(given: Any, key: str) -> str | None:
    """The id of what is continued: a text, or an object that holds it."""
    value = jsontext.read(given)
    if isinstance(value, dict):
        value = value.get("id")
    if value is not None and not isinstance(value, str):
        raise DecodeError(key, "expected an id")
    return value or None


def _unknown_previous(response_id: str, protocol: str) -> ApiError:
    return ApiError(
        kind="invalid_request",
        message=f"Previous response with id '{response_id}' not found.",
        status=400,
        raw="invalid_request_error",
        code="previous_response_not_found",
        param=PREVIOUS,
        extras={protocol: {}},
    )


def unknown_conversation(conversation_id: str) -> ApiError:
    """What is said of a conversation that is not kept."""
    return errors.missing_item(f"Conversation with id '{conversation_id}' not found.")
