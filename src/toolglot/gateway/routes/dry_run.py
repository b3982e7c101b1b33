"""A dry run: what would be sent to which provider, without sending it."""

from aiohttp import web

from toolglot.errors import DecodeError, ToolglotError
from toolglot.exchange import Exchange
from toolglot.gateway import error_responses as errors
from toolglot.gateway.error_responses import RequestRejectedError
from toolglot.gateway.http.json_response import json_response
from toolglot.gateway.incoming import Caller
from toolglot.gateway.relay.relay import Relay
from toolglot.gateway.relay.routing import Target
from toolglot.gateway.routes.route import PlainRequest, Route
from toolglot.ir import Json
from toolglot.receipt import Receipt
from toolglot.registry import PROTOCOLS
from toolglot.wire import jsontext
from toolglot.wire.message import read_body


def dry_run_routes(relay: Relay) -> tuple[Route, ...]:
    """The route of the dry run."""

    async def translate(request: PlainRequest) -> web.Response:
        try:
            asked = read_body(request.body or b"{}")
            previews = [_preview(asked, target) for target in _targets(relay, asked)]
        except ToolglotError as problem:
            raise RequestRejectedError(errors.invalid_request(str(problem))) from None
        return json_response({"targets": previews})

    return (Route("POST", "/toolglot/translate", translate),)


def _targets(relay: Relay, asked: Json) -> list[Target]:
    if asked.get("protocol") not in PROTOCOLS:
        raise DecodeError("protocol", f"expected one of {', '.join(PROTOCOLS)}")
    body = asked.get("body")
    if not isinstance(body, dict):
        raise DecodeError("body", "expected the request as an object")
    model = asked.get("model") or body.get("model")
    if not isinstance(model, str):
        raise DecodeError("model", "expected the name of a model")
    return relay.router.targets(model)


def _preview(asked: Json, target: Target) -> Json:
    client, body = str(asked["protocol"]), asked["body"]
    model = str(asked.get("model") or body["model"])
    upstream = target.upstream
    if upstream is None:
        return {"provider": target.name, "model": target.model}
    protocol = upstream.protocol_for(client, target.model)
    caller = Caller(client, str(asked.get("user_agent") or ""))
    options = upstream.options(target.model, model, strict=False, protocol=protocol, caller=caller)
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


def _notes(receipt: Receipt) -> list[Json]:
    return [
        {"code": note.code, "severity": note.severity, "path": note.path, "message": note.message}
        for note in receipt
    ]
