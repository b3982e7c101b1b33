"""What clients ask for beside answers: models, counts, receipts, a dry run, health."""

import time
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

from aiohttp import web

from toolglot import __version__
from toolglot.api import Api
from toolglot.context import Context
from toolglot.errors import DecodeError, ToolglotError
from toolglot.exchange import Exchange
from toolglot.gateway.access.authentication import Refusal
from toolglot.gateway.relay.incoming import PROTOCOL, Call, id_of
from toolglot.gateway.relay.relay import Relay
from toolglot.gateway.relay.routing import Target
from toolglot.gateway.routes.model_lists import Catalogue, describe
from toolglot.gateway.routes.route import Visit
from toolglot.gateway.telemetry.prometheus import CONTENT_TYPE
from toolglot.gateway.tokens.count import count
from toolglot.ir import ApiError, ErrorKind, Json
from toolglot.receipt import Receipt
from toolglot.registry import PROTOCOLS, get_protocol, guess_caller
from toolglot.wire import jsontext
from toolglot.wire.message import read_body

_JSON: Final = "application/json"
_ESTIMATE: Final = "x-toolglot-estimate"


def answer(body: Json, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    """A JSON answer."""
    return web.Response(
        body=jsontext.encode(body), status=status, content_type=_JSON, headers=headers
    )


def error(kind: ErrorKind, message: str, status: int) -> ApiError:
    """An error of our own."""
    return ApiError(kind=kind, message=message, status=status)


class Endpoints:
    """The handlers, over one relay."""

    def __init__(self, relay: Relay, catalogue: Catalogue) -> None:
        self._relay = relay
        self._catalogue = catalogue

    # --- models -----------------------------------------------------------------------------------

    async def models(self, request: web.Request) -> web.Response:
        """The models, as a list in the caller's shape."""
        names = await self._catalogue.names(self._relay.router)
        return answer(_api(request).model_list([describe(name) for name in names]))

    async def model(self, request: web.Request) -> web.Response:
        """One model: any that a route knows."""
        name = unquote(request.match_info["model"])
        if not self._relay.router.targets(name):
            return refuse(request, error("not_found", f"no model {name}", 404))
        return answer(_api(request).model(describe(name)))

    async def show(self, request: web.Request) -> web.Response:
        """One model, where clients name it in the body."""
        show, body = _api(request).show, _read(await request.read())
        name = body.get("model") or body.get("name")
        if show is None or not isinstance(name, str) or not self._relay.router.targets(name):
            return refuse(request, error("not_found", f"model {name!r} not found", 404))
        return answer(show.describe(describe(name)))

    async def version(self, _request: web.Request) -> web.Response:
        """The version, for clients that ask for that of their server."""
        return answer({"version": __version__})

    # --- counting ---------------------------------------------------------------------------------

    async def count(self, call: Call) -> web.Response:
        """The tokens of a request, as the client reads them."""
        endpoint = get_protocol(call.protocol).API.count
        if endpoint is None:
            raise Refusal(error("not_found", f"{call.protocol} does not count tokens", 404))
        try:
            counted = await count(self._relay.client, self._target(call.model), call)
        except DecodeError as problem:
            raise Refusal(error("invalid_request", str(problem), 400)) from None
        estimate = {_ESTIMATE: "true"} if counted.estimate else {}
        headers = {"x-request-id": call.id, **estimate}
        call.witness.client_response(200, headers)
        body = {**endpoint.constants, endpoint.answer: counted.tokens}
        return answer(body, headers=headers)

    def _target(self, model: str) -> Target:
        targets = self._relay.router.targets(model)
        if not targets:
            raise Refusal(error("not_found", f"no model {model}", 404))
        return targets[0]

    # --- the gateway itself -----------------------------------------------------------------------

    async def health(self, _request: web.Request) -> web.Response:
        """That the process answers."""
        return answer({"status": "ok", "version": __version__})

    async def ready(self, _request: web.Request) -> web.Response:
        """Whether requests can be served, and which providers rest."""
        resting = self._relay.resting()
        providers = list(self._relay.router.upstreams)
        ready = not providers or len(resting) < len(providers)
        body = {"status": "ready" if ready else "resting", "resting": resting}
        return answer(body, 200 if ready else 503)

    async def metrics(self, _request: web.Request) -> web.Response:
        """All that was counted, for Prometheus, and how the providers are doing."""
        metrics, now = self._relay.telemetry.metrics, time.monotonic()
        for upstream in self._relay.router.upstreams.values():
            metrics.set_breaker(upstream.name, upstream.health.state(now))
        text = metrics.text()
        return web.Response(body=text.encode(), headers={"Content-Type": CONTENT_TYPE})

    async def receipt(self, visit: Visit) -> web.Response:
        """What was changed in a request of the same client and in its answer."""
        number = visit.http.match_info["id"]
        found = self._relay.receipts.get((visit.owner, number))
        if found is None:
            words = f"no receipt of {number}; the last are kept (receipts in [server])"
            raise Refusal(error("not_found", words, 404))
        return answer(found)

    async def translate(self, request: web.Request) -> web.Response:
        """What would be sent where, without sending it."""
        try:
            asked = _read(await request.read())
            shown = [self._shown(asked, target) for target in self._asked_targets(asked)]
        except ToolglotError as problem:
            return refuse(request, error("invalid_request", str(problem), 400))
        return answer({"targets": shown})

    def _asked_targets(self, asked: Json) -> list[Target]:
        if asked.get("protocol") not in PROTOCOLS:
            raise DecodeError("protocol", f"expected one of {', '.join(PROTOCOLS)}")
        body = asked.get("body")
        if not isinstance(body, dict):
            raise DecodeError("body", "expected the request as an object")
        model = asked.get("model") or body.get("model")
        if not isinstance(model, str):
            raise DecodeError("model", "expected the name of a model")
        return self._relay.router.targets(model)

    def _shown(self, asked: Json, target: Target) -> Json:
        client, body = str(asked["protocol"]), asked["body"]
        model = str(asked.get("model") or body["model"])
        upstream = target.upstream
        if upstream is None:
            return {"provider": target.name, "model": target.model}
        protocol = upstream.protocol_for(client)
        options = upstream.options(target.model, model, strict=False)
        exchange = Exchange(client, protocol, options)
        path = asked.get("path") or PROTOCOLS[client].SURFACE.path.format(model=model)
        sent = exchange.request(jsontext.encode(body), path)
        return {
            "provider": target.name,
            "model": target.model,
            "protocol": protocol,
            "url": upstream.url(protocol, sent.path, target.model),
            "body": read_body(sent.data),
            "receipt": _notes(exchange.receipt),
        }


def _api(request: web.Request) -> Api:
    return get_protocol(caller(request)).API


def _notes(receipt: Receipt) -> list[Json]:
    return [
        {"code": note.code, "severity": note.severity, "path": note.path, "message": note.message}
        for note in receipt
    ]


def _read(body: bytes) -> dict[str, Any]:
    return read_body(body or b"{}")


def caller(request: web.Request) -> str:
    """The protocol that a client most likely speaks, where the path does not say it."""
    known: str | None = request.get(PROTOCOL)
    if known is not None:
        return known
    return guess_caller(request.path, request.headers, request.query)


def refuse(request: web.Request, problem: ApiError) -> web.Response:
    """An error of our own in the shape of whoever asks."""
    codec = get_protocol(caller(request))
    wire = codec.encode_response(problem, Context(target=codec.SURFACE))
    headers = {**wire.headers, "Content-Type": _JSON, "x-request-id": id_of(request)}
    return web.Response(body=wire.data(), status=wire.status, headers=headers)
