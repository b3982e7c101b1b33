"""The routes of the inspector: the page at `/toolglot/`, and the API under it."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from difflib import unified_diff
from itertools import islice
from typing import Any, Final

from msgspec import Struct

from toolglot import __version__
from toolglot.errors import DecodeError
from toolglot.gateway import error_responses as errors
from toolglot.gateway.error_responses import RequestRejectedError
from toolglot.gateway.http.json_response import json_response
from toolglot.gateway.inspector.call_rows import note_json
from toolglot.gateway.inspector.conversation_json import (
    numbers_json,
    session_detail,
    session_json,
)
from toolglot.gateway.inspector.copies import as_case, as_curl, as_python
from toolglot.gateway.inspector.exchange_detail import BODIES, body_of, exchange_detail
from toolglot.gateway.inspector.exchange_facts import UNREADABLE, facts_of
from toolglot.gateway.inspector.export import export_page
from toolglot.gateway.inspector.grouping import InspectedConversation, conversations
from toolglot.gateway.inspector.inspector_access import check_inspector_access, check_page_access
from toolglot.gateway.inspector.live_feed import LiveFeed
from toolglot.gateway.inspector.page_files import SECURITY_HEADERS, page_response
from toolglot.gateway.inspector.stream_events import SIDES, stream_events, stream_json
from toolglot.gateway.relay.routing import Router
from toolglot.gateway.routes.dry_run import preview
from toolglot.gateway.routes.route import Handler, PlainRequest, Route
from toolglot.gateway.telemetry.captures import CapturedExchange, Captures
from toolglot.history import diagnose, repair_history
from toolglot.http1.server_response import HttpResponse, WholeHttpResponse
from toolglot.ir import Json
from toolglot.registry import PROTOCOLS
from toolglot.translate import translate_request
from toolglot.wire import jsontext
from toolglot.wire.message import read_body

PAGE: Final = "/toolglot/"
API: Final = "/toolglot/api/v1"
_PATIENCE: Final = 0.01
"""Seconds of reading after which others are let through."""
_DIGITS: Final = 12
_DIFF_LINES: Final = 600
_LONGEST_SEARCH: Final = 200
_TEXT: Final = {**SECURITY_HEADERS, "Content-Type": "text/plain; charset=utf-8"}
_NOT_STORED: Final = {"Cache-Control": "no-store", **SECURITY_HEADERS}


class InspectorSource(Struct, frozen=True):
    """Where exchanges come from: a gateway, or a folder of recordings."""

    captures: Captures
    keys: bool = False
    """Whether clients need keys."""
    router: Callable[[], Router] | None = None
    """Which targets a model's name means; None: there is no gateway."""
    admit: Callable[[PlainRequest, str], Awaitable[None]] | None = None
    """Rejects a client that may not use a model."""
    record: str = ""
    """The folder of recordings, if there is one."""


class InspectorEndpoints:
    """The handlers."""

    def __init__(self, source: InspectorSource) -> None:
        self._source, self._captures = source, source.captures
        self._feed = LiveFeed(source.captures)

    def close(self) -> None:
        """Let open pages go."""
        self._feed.close()

    @property
    def routes(self) -> tuple[Route, ...]:
        """All paths. The files of the page have no contents; everything else has."""
        exchange = API + r"/exchanges/{number:\d+}"
        table: Mapping[tuple[str, str], Handler] = {
            ("GET", API): self.info,
            ("GET", API + "/sessions"): self.sessions,
            ("GET", API + r"/sessions/{number:\d+}"): self.session,
            ("GET", API + "/numbers"): self.numbers,
            ("GET", API + "/events"): self.events,
            ("GET", API + "/export"): self.export,
            ("DELETE", API + "/exchanges"): self.clear,
            ("GET", exchange): self.exchange,
            ("GET", exchange + "/bodies/{name}"): self.body,
            ("GET", exchange + "/stream"): self.stream,
            ("GET", exchange + r"/stream/{side}/{event:\d+}"): self.event,
            ("GET", exchange + "/doctor"): self.doctor,
            ("POST", exchange + "/what-if"): self.what_if,
            ("GET", exchange + "/copy/{form}"): self.copy,
        }
        return (
            Route("GET", PAGE, self.page, auth="none"),
            Route("GET", PAGE.rstrip("/"), self.page, auth="none"),
            Route("GET", PAGE + "page/{name:.+}", self.page, auth="none"),
            *(
                Route(method, path, self._guarded(handler))  # type: ignore[arg-type]
                for (method, path), handler in table.items()
            ),
        )

    def _guarded(self, handler: Handler) -> Handler:
        async def handle(request: PlainRequest) -> HttpResponse:
            check_inspector_access(request, keys=self._source.keys)
            return await handler(request)

        return handle

    async def page(self, request: PlainRequest) -> HttpResponse:
        """A file of the page."""
        check_page_access(request.http, keys=self._source.keys)
        name = request.http.match.get("name", "index.html")
        found = page_response(name, request.http.headers.lower.get("if-none-match"))
        if found is None:
            raise RequestRejectedError(errors.not_found(f"the inspector has no file {name[:80]}"))
        return found

    # --- lists ------------------------------------------------------------------------------------

    async def info(self, request: PlainRequest) -> HttpResponse:
        """What there is."""
        return _json(self.info_of(request.owner))

    def info_of(self, owner: str) -> Json:
        """The same as JSON."""
        source = self._source
        return {
            "version": __version__,
            "now": time.time(),
            "exchanges": len(self._captures.of(owner)),
            "bytes": self._captures.size(owner),
            "most_exchanges": self._captures.most,
            "most_bytes": self._captures.most_bytes,
            "record": source.record,
            "live": source.router is not None,
            "protocols": list(PROTOCOLS),
            "models": self._models(),
        }

    def _models(self) -> list[str]:
        if self._source.router is None:
            return []
        return [f"{name}/" for name in self._source.router().upstreams]

    async def sessions(self, request: PlainRequest) -> HttpResponse:
        """All conversations, the latest first; `?text=` leaves those in which it was said."""
        wanted = request.http.query.get("text", "")[:_LONGEST_SEARCH]
        found = await self._conversations(request.owner)
        if wanted:
            found = [each for each in found if _says(each, wanted)]
        rows = sorted(map(session_json, found), key=lambda row: -row["updated"])
        return _json({**self.info_of(request.owner), "sessions": rows})

    async def session(self, request: PlainRequest) -> HttpResponse:
        """One conversation, with its turns and calls."""
        number = _number(request, "number")
        for each in await self._conversations(request.owner):
            if any(turn.exchange.number == number for turn in each.turns):
                return _json(session_detail(each))
        raise RequestRejectedError(
            errors.not_found(f"no session {number}: only the latest are kept")
        )

    async def numbers(self, request: PlainRequest) -> HttpResponse:
        """Sums by provider and model."""
        return _json(numbers_json(await self._conversations(request.owner)))

    async def events(self, request: PlainRequest) -> HttpResponse:
        """What changes from now on."""
        if self._feed.is_full:
            raise RequestRejectedError(errors.not_allowed("too many inspector pages are open"))
        return await self._feed.follow(request.http, request.owner)

    async def clear(self, request: PlainRequest) -> HttpResponse:
        """Forget everything."""
        self._captures.clear(request.owner)
        return _json(self.info_of(request.owner))

    async def export(self, request: PlainRequest) -> HttpResponse:
        """Everything in one HTML file; `?redact=1` without contents."""
        found = await self._conversations(request.owner)
        redact = request.http.query.get("redact", "") in {"1", "true"}
        info = self.info_of(request.owner)
        page = await asyncio.to_thread(export_page, found, info, redact=redact)
        # It is a file to be kept, so it is never shown from here.
        disposition = {"Content-Disposition": 'attachment; filename="toolglot-inspector.html"'}
        headers = {**_NOT_STORED, **disposition, "Content-Type": "text/html; charset=utf-8"}
        return WholeHttpResponse(page, headers=headers)

    async def _conversations(self, owner: str) -> list[InspectedConversation]:
        """All conversations. What was not read before is read now, and others are let through."""
        exchanges, since = self._captures.of(owner), time.monotonic()
        for exchange in exchanges:
            facts_of(exchange)
            if time.monotonic() - since > _PATIENCE:
                await asyncio.sleep(0)
                since = time.monotonic()
        return conversations(exchanges)

    # --- one exchange: what takes long to read is read in a thread, and streams go on -------------

    def _exchange(self, request: PlainRequest) -> CapturedExchange:
        number = _number(request, "number")
        found = self._captures.find(request.owner, number)
        if found is None:
            words = f"no exchange {number}: only the latest are kept"
            raise RequestRejectedError(errors.not_found(words))
        return found

    async def exchange(self, request: PlainRequest) -> HttpResponse:
        """All of it: four bodies, the receipt, and bridges."""
        return _json(await asyncio.to_thread(exchange_detail, self._exchange(request)))

    async def body(self, request: PlainRequest) -> HttpResponse:
        """One body, byte for byte."""
        name = request.http.match["name"]
        if name not in BODIES:
            raise RequestRejectedError(errors.not_found(f"expected one of {', '.join(BODIES)}"))
        data = body_of(self._exchange(request), name)
        return WholeHttpResponse(data, headers={**_TEXT, **_NOT_STORED})

    async def stream(self, request: PlainRequest) -> HttpResponse:
        """The events of both sides."""
        return _json(await asyncio.to_thread(stream_json, self._exchange(request)))

    async def event(self, request: PlainRequest) -> HttpResponse:
        """One event in full."""
        side, at = request.http.match["side"], _number(request, "event")
        events = stream_events(self._exchange(request), side) if side in SIDES else []
        if not 0 <= at < len(events):
            raise RequestRejectedError(errors.not_found("there is no such event"))
        return WholeHttpResponse(events[at].data, headers={**_TEXT, **_NOT_STORED})

    async def doctor(self, request: PlainRequest) -> HttpResponse:
        """What is wrong with the history of a request, and what it is after a repair."""
        exchange = self._exchange(request)
        try:
            return _json(await asyncio.to_thread(_diagnosis, exchange))
        except UNREADABLE as problem:
            raise RequestRejectedError(errors.invalid_request(str(problem))) from None

    async def what_if(self, request: PlainRequest) -> HttpResponse:
        """What would be sent to another model, or in another protocol; nothing is."""
        exchange = self._exchange(request)
        try:
            asked = read_body(request.body or b"{}")
            return _json(await self._preview(request, exchange, asked))
        except UNREADABLE as problem:
            raise RequestRejectedError(errors.invalid_request(str(problem))) from None

    async def _preview(
        self, request: PlainRequest, exchange: CapturedExchange, asked: Json
    ) -> Json:
        protocol, model = asked.get("protocol"), asked.get("model")
        if isinstance(protocol, str) and protocol in PROTOCOLS:
            wire, receipt = translate_request(
                exchange.asked, source=exchange.protocol, target=protocol, path=exchange.path
            )
            notes = [note_json(note) for note in receipt]
            return {"targets": [{"protocol": protocol, "body": wire.body, "receipt": notes}]}
        if not isinstance(model, str) or self._source.router is None:
            raise DecodeError("protocol", f"expected one of {', '.join(PROTOCOLS)}, or a model")
        if self._source.admit is not None:
            await self._source.admit(request, model)
        question = {
            "protocol": exchange.protocol,
            "model": model,
            "body": read_body(exchange.asked),
            "path": exchange.path,
            "user_agent": exchange.headers.get("user-agent", ""),
        }
        targets = self._source.router().targets(model)
        return {"targets": [preview(question, target) for target in targets]}

    async def copy(self, request: PlainRequest) -> HttpResponse:
        """The request as a command or a script, or the exchange as a case for replays."""
        exchange, form = self._exchange(request), request.http.match["form"]
        url, keys = f"http://{request.http.headers.get('host', '127.0.0.1')}", self._source.keys
        if form == "case":
            name = f"exchange-{exchange.number}.zip"
            disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
            headers = {**_NOT_STORED, **disposition, "Content-Type": "application/zip"}
            return WholeHttpResponse(as_case(exchange), headers=headers)
        forms = {"curl": as_curl, "python": as_python}
        if form not in forms:
            words = f"expected one of {', '.join((*forms, 'case'))}"
            raise RequestRejectedError(errors.not_found(words))
        text = forms[form](exchange, url, keys=keys)
        return WholeHttpResponse(text.encode(), headers={**_TEXT, **_NOT_STORED})


def _number(request: PlainRequest, name: str) -> int:
    digits = request.http.match[name]
    return int(digits) if len(digits) <= _DIGITS else -1


def _json(value: Json) -> WholeHttpResponse:
    return json_response(value, headers=_NOT_STORED)


def _says(conversation: InspectedConversation, wanted: str) -> bool:
    """Whether something was said in a conversation, in any letters."""
    words = jsontext.text(wanted)[1:-1].encode().lower()
    return any(
        words in data.lower()
        for turn in conversation.turns
        for data in (turn.exchange.asked, body_of(turn.exchange, "client-response"))
    )


def _diagnosis(exchange: CapturedExchange) -> Json:
    asked, path = exchange.asked, exchange.path
    found = diagnose(asked, exchange.protocol, path=path)
    repaired, receipt = repair_history(asked, exchange.protocol, path=path)
    before, after = (_lines(read_body(asked)), _lines(repaired))
    diff = list(islice(unified_diff(before, after, "sent", "repaired", lineterm=""), _DIFF_LINES))
    return {
        "findings": [
            {"kind": each.kind, "path": each.path, "message": each.message} for each in found
        ],
        "receipt": [note_json(note) for note in receipt],
        "diff": diff,
        "repaired": repaired if diff else None,
        "path": path,
    }


def _lines(value: Any) -> list[str]:
    return jsontext.pretty(value).decode("utf-8", "replace").splitlines()
