"""Sessions of the Responses API: requests that continue earlier ones, on any provider.

- `store` (true by default): the response is stored with its input, so that it can be continued.
- `previous_response_id`: the request continues a stored response. Its `input` has only what is new.
- `conversation`: the request continues a conversation, to which its input and output are added.
- `item_reference`: an item of the input that only names one of an earlier response.

A provider that has stored the continued response itself gets the request as it came. Every other
provider gets the earlier items in front of the input, and the gateway stores the response. What
only the gateway has stored has an id of the gateway's own: some providers repeat theirs.

Other protocols have such state under other names, which their `StoredAnswers` tell.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from msgspec import Raw
from msgspec.structs import replace

from toolglot.api import StoredAnswers
from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.events import Event, Failed, Finished, fold
from toolglot.exchange import Exchange
from toolglot.gateway import error_responses as errors
from toolglot.gateway.error_responses import FIRST_ERROR, RequestRejectedError
from toolglot.gateway.http.response_writers import ResponseWriter, WholeResponse
from toolglot.gateway.incoming import IncomingRequest
from toolglot.gateway.state import compaction
from toolglot.gateway.state.items import (
    REFERENCE,
    Item,
    id_of,
    is_foreign_reasoning,
    may_have_references,
    normalize_item,
    read_items,
    referenced_id,
    unanswered_result,
)
from toolglot.gateway.state.stored_responses import (
    Conversation,
    HistoryTooLargeError,
    IssuedItem,
    ResponseStore,
    StoredResponse,
    new_id,
    new_response_id,
)
from toolglot.gateway.storage.store import Store
from toolglot.http1.server_response import HttpResponse
from toolglot.ir import ApiError
from toolglot.registry import get_protocol
from toolglot.wire import jsontext

_LONGEST_ID: Final = 1024
_CLIENT: Final = "\0client"
"""Who issued an item that the client itself sent, whatever it is; no provider has this name."""

_FIELD: Final = b"data:"


class Sessions:
    """Opens a session for each request of a protocol that has such state."""

    def __init__(self, store: Store, most_bytes: int | None = None) -> None:
        self._store = store
        self.most_bytes = most_bytes
        """What a request may have together with all that it continues; None: any number."""
        self._changing = asyncio.Lock()
        """Held while a conversation is changed, so that only other processes get in the way."""

    def store_for(
        self, owner: str, connection: Store | None = None, state: StoredAnswers | None = None
    ) -> ResponseStore:
        """The responses and conversations of an owner, and of its connection if it has one."""
        return ResponseStore(self._store, owner, connection, state)

    async def change_conversation(
        self,
        store: ResponseStore,
        conversation_id: str,
        change: Callable[[Conversation], Conversation],
    ) -> Conversation | None:
        """Change a conversation without losing what others add to it; None: there is none."""
        async with self._changing:
            return await store.change_conversation(conversation_id, change)

    def open(
        self, request: IncomingRequest, connection: Store | None = None
    ) -> "tuple[IncomingRequest, Session | None]":
        """The request with its compactions expanded, and its session if there is anything to
        continue or to store.
        """
        request, session = self._session(request, connection)
        return request, session if session is not None and session.needed else None

    def check_size(self, conversation: Conversation) -> None:
        """Reject a conversation that no request could continue."""
        if self.most_bytes is not None and conversation.size > self.most_bytes:
            raise RequestRejectedError(errors.history_too_large(self.most_bytes))

    async def expand(self, request: IncomingRequest) -> IncomingRequest:
        """A request with all earlier items, for one that is not sent to a provider as it is."""
        request, session = self._session(request, None)
        return request if session is None else replace(request, body=await session.expanded())

    def _session(
        self, request: IncomingRequest, connection: Store | None
    ) -> "tuple[IncomingRequest, Session | None]":
        state = get_protocol(request.protocol).API.state
        if state is None:
            return request, None
        try:
            if compaction.MARK in request.body:
                request = replace(request, body=compaction.expand_compactions(request.body))
            responses = self.store_for(request.owner, connection, state)
            return request, Session(self, request, responses, state)
        except DecodeError as problem:
            raise RequestRejectedError(errors.invalid_request(str(problem))) from None


class Session:
    """The session of one request: its history, and what is stored of its response."""

    def __init__(
        self,
        sessions: Sessions,
        request: IncomingRequest,
        responses: ResponseStore,
        state: StoredAnswers,
    ) -> None:
        self._sessions, self._request, self._responses = sessions, request, responses
        self.state = state
        self._members = jsontext.members(request.body)
        previous, conversation = state.previous, state.conversation
        self._previous_id = _id_of(self._members.get(previous), previous)
        self._conversation_id = _id_of(self._members.get(conversation), conversation)
        if self._previous_id and self._conversation_id:
            raise DecodeError(previous, f"cannot be used together with {conversation}")
        self._continues = (previous, conversation) if conversation else (previous,)
        self._ours = (*self._continues, "store")
        """What a provider without such state is not asked for."""
        self._store = jsontext.read(self._members.get("store")) is not False
        self._refers = state.references and may_have_references(request.body)
        self._history: dict[str, StoredResponse] = {}
        self._conversation: Conversation | None = None
        self._referenced: dict[str, Item] = {}
        """The items that the request named by their ids."""
        self._provider = ""
        self._native = False
        """Whether the provider that was asked last has such state itself."""
        self._looks_up = False
        """Whether it takes references to items that it has stored."""

    @property
    def needed(self) -> bool:
        """Whether there is anything to continue or to store."""
        continues = bool(self._previous_id or self._conversation_id)
        return continues or self._store or self._refers or self._responses.keeps_unstored

    # --- the request ------------------------------------------------------------------------------

    async def request_for(
        self, exchange: Exchange, provider: str, *, built_in: bool
    ) -> tuple[bytes, Mapping[str, Any]]:
        """The request for a provider, and the fields of it that the response repeats."""
        self._provider = provider
        self._native = exchange.client == exchange.provider and not built_in
        self._looks_up = self._native and self._refers and exchange.accepts_item(REFERENCE)
        known = self._native and await self._is_known_to(provider)
        if known and not self._refers:
            return self._request.body, {}
        earlier = [] if known else await self._earlier_items()
        new = await self._new_items()
        if self._previous_id and not known:
            self._check_results(earlier)
        if self._native:
            earlier = self._without_reasoning(earlier, provider, exchange)
            new = None if new is None else self._without_reasoning(new, provider, exchange)
            return self._with(earlier, new, () if known else self._continues), {}
        echo: dict[str, Any] = {self.state.previous: self._previous_id}
        if self.state.says_stored:
            echo["store"] = self._store
        if self._conversation_id:
            echo[self.state.conversation] = {"id": self._conversation_id}
        return self._with(earlier, new, self._ours), echo

    def _check_results(self, earlier: list[IssuedItem]) -> None:
        """Refuse a result of a call that what is continued does not have, as OpenAI does."""
        given = self._given_items()
        missing = unanswered_result(given, [item for _, item in earlier], self.state)
        if missing is not None:
            raise RequestRejectedError(_no_call(missing, self._request.protocol))

    async def expanded(self) -> bytes:
        """The request with all earlier items, for any provider."""
        return self._with(await self._earlier_items(), await self._new_items(), self._ours)

    def _given_items(self) -> list[Item]:
        return read_items(self._members.get("input"), self.state)

    def _with(
        self, earlier: list[IssuedItem], new: list[IssuedItem] | None, left_out: tuple[str, ...]
    ) -> bytes:
        """The request with earlier items in front of `new`, which is None if that is as it came."""
        if not earlier and new is None and self._members.keys().isdisjoint(left_out):
            return self._request.body
        members = dict(self._members)
        if earlier or new is not None:
            own = self._given_items() if new is None else _items(new)
            members["input"] = [*_items(earlier), *own]
        for key in left_out:
            members.pop(key, None)
        whole, most = jsontext.encode(members), self._sessions.most_bytes
        if most is not None and len(whole) > max(most, len(self._request.body)):
            raise RequestRejectedError(errors.history_too_large(most))
        return whole

    async def _new_items(self) -> list[IssuedItem] | None:
        """The items of the request with references resolved; None: it has none to resolve."""
        if not self._refers:
            return None
        items = [(_CLIENT, item) for item in self._given_items()]
        resolved = await self._resolved(items)
        return None if resolved == items else resolved

    async def _resolved(self, items: list[IssuedItem]) -> list[IssuedItem]:
        """Items, with those in place of references that the provider does not have itself."""
        resolved = []
        size, most = 0, self._sessions.most_bytes
        for given in items:
            wanted = referenced_id(given[1])
            found = None if wanted is None else await self._find(wanted)
            if found is not None and wanted is not None:
                self._referenced[wanted] = found[1]
                size += _size(found[1])
                if most is not None and size > most:
                    raise RequestRejectedError(errors.history_too_large(most))
            resolved.append(found or given)
        return resolved

    async def _find(self, item_id: str) -> IssuedItem | None:
        """The item with an id; None: the provider that is asked has stored it. It may know items
        that we do not, as it may know responses.
        """
        stored = await self._responses.get_item(item_id)
        if stored is not None:
            if self._looks_up and stored.stored_upstream and stored.provider == self._provider:
                return None
            return stored.provider, Raw(stored.item)
        for issuer, item in self._conversation.issued_items if self._conversation else ():
            if id_of(item) == item_id and referenced_id(item) is None:
                return issuer, item
        if self._looks_up and not self._responses.owner:
            return None
        raise RequestRejectedError(_unknown_item(item_id, self._request.protocol))

    async def _is_known_to(self, provider: str) -> bool:
        """Whether a provider has stored what is continued. It may have what we have not; but
        clients with keys of their own must not reach each other's responses that way.
        """
        if self._previous_id:
            stored = await self._responses.get_response(self._previous_id)
            if stored is not None:
                return stored.stored_upstream and stored.provider == provider
            return not self._responses.owner
        if self._conversation_id:
            unknown = await self._responses.get_conversation(self._conversation_id) is None
            return unknown and not self._responses.owner
        return True

    async def _earlier_items(self) -> list[IssuedItem]:
        if self._conversation_id:
            self._conversation = await self._responses.get_conversation(self._conversation_id)
            if self._conversation is None:
                raise RequestRejectedError(unknown_conversation(self._conversation_id))
            self._sessions.check_size(self._conversation)
            return await self._resolved(self._conversation.issued_items)
        if not self._previous_id:
            return []
        most = self._sessions.most_bytes
        try:
            history = await self._responses.history(self._previous_id, most)
        except HistoryTooLargeError as problem:
            raise RequestRejectedError(errors.history_too_large(problem.limit)) from None
        if history is None:
            error = _unknown_previous(self._previous_id, self._request.protocol, self.state)
            raise RequestRejectedError(error)
        self._history = history
        return await self._resolved(
            [(stored.provider, item) for stored in history.values() for item in stored.items]
        )

    # --- the response -----------------------------------------------------------------------------

    async def evict(self) -> None:
        """Forget what was to be continued and was stored for the connection only: the turn failed,
        and must not be tried again from there.
        """
        if self._previous_id:
            await self._responses.evict_response(self._previous_id)

    @property
    def protocol(self) -> str:
        """The client's."""
        return self._request.protocol

    @property
    def native(self) -> bool:
        """Whether the response passes through as its provider wrote it."""
        return self._native

    async def save(self, answer: bytes) -> None:
        """Store the response, so that it can be continued."""
        try:
            response = jsontext.members(answer)
            response_id = jsontext.read(response.get("id"))
            given, made = self._given_items(), read_items(response.get(self.state.output))
        except DecodeError:
            return
        if not isinstance(response_id, str) or not response_id:
            return
        stored = StoredResponse(
            response=answer,
            input=jsontext.encode([*self._carried(response_id), *given]),
            previous=None if response_id in self._history else self._previous_id,
            provider=self._provider,
            stored_upstream=self._native and self._says_stored(response),
            output_key=self.state.output,
        )
        await self._responses.put_response(response_id, stored, store=self._store)
        if self._conversation is not None:
            given = [self._referenced.get(referenced_id(item) or "", item) for item in given]
            await self._extend(self._conversation.id, [*given, *made])

    def _says_stored(self, response: Mapping[str, Any]) -> bool:
        """Whether the provider has stored a response, too."""
        return (
            jsontext.read(response.get("store")) is True if self.state.says_stored else self._store
        )

    @property
    def keeps_id(self) -> bool:
        """Whether the provider stores what it answers, so that its id means something to it."""
        return not self.state.says_stored and self._store

    def _without_reasoning(
        self, earlier: list[IssuedItem], provider: str, exchange: Exchange
    ) -> list[IssuedItem]:
        """Earlier items without those that a provider of the same protocol would reject."""
        left = [
            (issuer, item)
            for issuer, item in earlier
            if issuer == _CLIENT
            or not is_foreign_reasoning(item, own=issuer == provider, state=self.state)
        ]
        if len(left) < len(earlier):
            count = len(earlier) - len(left)
            words = f"{count} reasoning items of earlier responses: only their issuer can read them"
            exchange.note("reasoning-dropped", self.state.previous, words)
        return left

    def _carried(self, response_id: str) -> list[Item]:
        """Earlier items that the id of a response will not lead to: a conversation moves on, and
        some servers give all their responses the same id.
        """
        if self._conversation is not None:
            return [item for _, item in self._conversation.issued_items]
        if response_id not in self._history:
            return []
        return [item for stored in self._history.values() for item in stored.items]

    async def _extend(self, conversation_id: str, items: list[Item]) -> None:
        new = [normalize_item(item, new_id) for item in items]
        await self._sessions.change_conversation(
            self._responses, conversation_id, lambda known: known.with_items(new, self._provider)
        )


class SessionWriter:
    """Writes a response, and stores it before the client can ask to continue it."""

    __slots__ = ("_finder", "_ids", "_session", "_writer")

    direct = None
    """What is stored must be stored before the client can see it."""

    def __init__(self, writer: ResponseWriter, session: Session) -> None:
        self._writer = writer
        self._session = session
        state, protocol = session.state, session.protocol
        self._finder: ResponseFinder = (
            FinalResponseFinder(state) if state.whole_at_end else AssembledResponse(protocol)
        )
        self._ids: OwnResponseId | None = None

    @property
    def response(self) -> HttpResponse:
        return self._writer.response

    @property
    def _renames(self) -> bool:
        return self._session.native and not self._session.keeps_id

    @property
    def closed(self) -> bool:
        return self._writer.closed

    @property
    def drained(self) -> bool:
        return self._writer.drained

    @property
    def opens_early(self) -> bool:
        return self._writer.opens_early

    async def whole(self, answer: WholeResponse) -> None:
        if answer.status < FIRST_ERROR:
            if self._renames:
                answer = replace(answer, data=OwnResponseId(self._session.state).body(answer.data))
            await self._session.save(answer.data)
        else:
            await self._session.evict()
        await self._writer.whole(answer)

    async def begin(self, headers: Mapping[str, str]) -> None:
        self._ids = OwnResponseId(self._session.state) if self._renames else None
        await self._writer.begin(headers)

    async def write(self, data: bytes) -> None:
        if self._ids is not None:
            data = self._ids.feed(data)
            if not data:
                return
        final = self._finder.feed(data)
        if final is not None:
            await self._session.save(final)
        await self._writer.write(data)

    async def end(self) -> None:
        ids, self._ids = self._ids, None
        if ids is not None and (rest := ids.close()):
            await self.write(rest)
        final = self._finder.feed(b"\n")
        if final is not None:
            await self._session.save(final)
        await self._writer.end()


class OwnResponseId:
    """Gives a response that passes through an id of the gateway's own, unless its provider says
    that it has stored it: then the client can ask the provider for it.
    """

    __slots__ = ("_id", "_lines", "_mark", "_member", "_stored")

    def __init__(self, state: StoredAnswers | None = None) -> None:
        self._id = new_response_id() if state is None else new_response_id(state.id_prefix)
        self._member = _MEMBER if state is None else state.member
        self._mark = f'"{self._member}"'.encode()
        self._lines: list[bytes] = []
        self._stored = False

    def feed(self, data: bytes) -> bytes:
        """The lines of a stream that these bytes complete."""
        if self._stored:
            return data
        cut = data.rfind(b"\n") + 1
        if not cut:
            self._lines.append(data)
            return b""
        lines = b"".join((*self._lines, data[:cut]))
        self._lines = [data[cut:]] if cut < len(data) else []
        if self._mark in lines:
            lines = b"".join(map(self._event, lines.splitlines(keepends=True)))
        return lines + self.close() if self._is_stored() else lines

    def close(self) -> bytes:
        """The line that the stream ended in."""
        rest, self._lines = b"".join(self._lines), []
        return self._event(rest)

    def _is_stored(self) -> bool:
        return self._stored

    def body(self, data: bytes) -> bytes:
        """A whole response."""
        try:
            return jsontext.encode(self._renamed(jsontext.members(data)))
        except DecodeError:
            return data

    def _event(self, line: bytes) -> bytes:
        if self._mark not in line or not line.startswith(_FIELD):
            return line
        text = line[len(_FIELD) :]
        bare = text.strip()
        try:
            event = jsontext.members(bare)
            event[self._member] = self._renamed(jsontext.members(event[self._member]))
        except (DecodeError, KeyError):
            return line
        return _FIELD + text.replace(bare, jsontext.encode(event), 1)

    def _renamed(self, response: dict[str, Any]) -> dict[str, Any]:
        self._stored = self._stored or jsontext.read(response.get("store")) is True
        return response if self._stored or "id" not in response else {**response, "id": self._id}


class ResponseFinder(Protocol):
    """Finds the response that a stream makes up."""

    def feed(self, data: bytes) -> bytes | None:
        """The final response, once the bytes complete it."""
        ...


class AssembledResponse:
    """Puts the final response together from all events of a stream."""

    __slots__ = ("_ctx", "_decoder", "_events", "_is_over", "_protocol")

    def __init__(self, protocol: str) -> None:
        self._protocol = get_protocol(protocol)
        surface = self._protocol.SURFACE
        self._ctx = Context(source=surface, target=surface)
        self._decoder = self._protocol.StreamDecoder(self._ctx)
        self._events: list[Event] = []
        self._is_over = False

    def feed(self, data: bytes) -> bytes | None:
        """The final response, once the bytes complete it."""
        if self._is_over:
            return None
        self._events.extend(self._decoder.feed(data))
        if self._decoder.could_end:
            # Before its last event is seen: the client may go on from there.
            self._events.extend(self._decoder.close())
        last = self._events[-1] if self._events else None
        self._is_over = isinstance(last, Failed | Finished)
        if not isinstance(last, Finished):
            return None
        response = fold(self._events)
        return jsontext.encode(self._protocol.encode_response(response, self._ctx).body)


_MEMBER: Final = "response"
_FINAL_EVENTS: Final = ("response.completed", "response.incomplete")


class FinalResponseFinder:
    """Finds the final response in a stream of events without parsing the others."""

    __slots__ = ("_found", "_kinds", "_line", "_marks", "_member")

    def __init__(self, state: StoredAnswers | None = None) -> None:
        self._line: list[bytes] = []
        self._found = False
        self._member = _MEMBER if state is None else state.member
        self._kinds = _FINAL_EVENTS if state is None else state.final_events
        self._marks = tuple(f'"{name}"'.encode() for name in self._kinds)

    def feed(self, data: bytes) -> bytes | None:
        """The final response, once the bytes complete its line."""
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
        for mark in self._marks:
            at = lines.find(mark)
            if at >= 0:
                return self._read(lines[lines.rfind(b"\n", 0, at) + 1 : lines.find(b"\n", at)])
        return None

    def _read(self, line: bytes) -> bytes | None:
        try:
            event = jsontext.members(line.removeprefix(b"data:").strip())
        except DecodeError:
            return None
        if jsontext.read(event.get("type")) not in self._kinds or self._member not in event:
            return None
        self._found = True
        return jsontext.encode(event[self._member])


def stored_answers(protocol: str) -> StoredAnswers:
    """How a protocol stores answers, which it must do."""
    state = get_protocol(protocol).API.state
    if state is None:
        raise ValueError(f"{protocol} stores no answers")
    return state


def _size(item: Item) -> int:
    """The bytes of an item."""
    return len(bytes(item)) if isinstance(item, Raw) else len(jsontext.encode(item))


def _items(issued: list[IssuedItem]) -> list[Item]:
    return [item for _, item in issued]


def _id_of(given: Any, key: str) -> str | None:
    """The id of what is continued: a text, or an object that has it."""
    value = jsontext.read(given)
    if isinstance(value, dict):
        value = value.get("id")
    if value is not None and not isinstance(value, str):
        raise DecodeError(key, "expected an id")
    if value and len(value) > _LONGEST_ID:
        raise DecodeError(key, f"expected at most {_LONGEST_ID} characters")
    return value or None


def _no_call(call_id: str, protocol: str) -> ApiError:
    return ApiError(
        kind="invalid_request",
        message=f"No tool call found for function call output with call_id {call_id}.",
        status=400,
        raw="invalid_request_error",
        param="input",
        extras={protocol: {}},
    )


def _unknown_previous(response_id: str, protocol: str, state: StoredAnswers) -> ApiError:
    message = f"Previous {state.member} with id '{response_id}' not found."
    if not state.says_stored:
        return errors.missing_item(message)
    return ApiError(
        kind="invalid_request",
        message=message,
        status=400,
        raw="invalid_request_error",
        code="previous_response_not_found",
        param=state.previous,
        extras={protocol: {}},
    )


def _unknown_item(item_id: str, protocol: str) -> ApiError:
    """As OpenAI says it (https://github.com/can1357/oh-my-pi/issues/41, read 2026-11-16)."""
    return ApiError(
        kind="invalid_request",
        message=f"Item with id '{item_id}' not found. Items are not persisted when `store` is set "
        "to false. Try again with `store` set to true, or remove this item from your input.",
        status=404,
        raw="invalid_request_error",
        param="input",
        extras={protocol: {}},
    )


def unknown_conversation(conversation_id: str) -> ApiError:
    """The error for a conversation that is not stored."""
    return errors.missing_item(f"Conversation with id '{conversation_id}' not found.")
