"""A dry run: what would be sent to which provider, without sending it."""

from toolglot.errors import DecodeError, ToolglotError
from toolglot.exchange import Exchange
from toolglot.gateway import error_responses as errors
from toolglot.gateway.error_responses import RequestRejectedError
from toolglot.gateway.http.json_response import json_response
from toolglot.gateway.incoming import LONGEST_NAME, Caller
from toolglot.gateway.relay.relay import Relay
from toolglot.gateway.relay.routing import Target
from toolglot.gateway.routes.admission import Admission
from toolglot.gateway.routes.route import PlainRequest, Route
from toolglot.gateway.telemetry.redact import redact_url
from toolglot.http1.large_bodies import work_on
from toolglot.http1.server_response import WholeHttpResponse
from toolglot.ir import Json
from toolglot.receipt import Receipt
from toolglot.registry import PROTOCOLS
from toolglot.wire import jsontext
from toolglot.wire.message import read_body


def dry_run_routes(relay: Relay, admission: Admission) -> tuple[Route, ...]:
    """The route of the dry run."""

    async def translate(request: PlainRequest) -> WholeHttpResponse:
        try:
            size = len(request.body)
            asked = await work_on(size, read_body, request.body or b"{}")
            model = _model(asked)
            await admission.count(request.holder, model)
            targets = relay.router.targets(model)
            previews = [await work_on(size, preview, asked, target) for target in targets]
        except ToolglotError as problem:
            raise RequestRejectedError(errors.invalid_request(str(problem))) from None
        return json_response({"targets": previews})

    return (Route("POST", "/toolglot/translate", translate),)


def _model(asked: Json) -> str:
    """The model that a sound question is for."""
    protocol = asked.get("protocol")
    if not isinstance(protocol, str) or protocol not in PROTOCOLS:
        raise DecodeError("protocol", f"expected one of {', '.join(PROTOCOLS)}")
    body = asked.get("body")
    if not isinstance(body, dict):
        raise DecodeError("body", "expected the request as an object")
    model = asked.get("model") or body.get("model")
    if not isinstance(model, str) or not 0 < len(model) <= LONGEST_NAME:
        raise DecodeError("model", "expected the name of a model")
    return model


def preview(asked: Json, target: Target) -> Json:
    """What would be sent to a target."""
    client, body = str(asked["protocol"]), asked["body"]
    model = str(asked.get("model") or body["model"])
    if "model" in body:
        body = {**body, "model": model}
    upstream = target.upstream
    if upstream is None:
        return {"provider": target.name, "model": target.model}
    protocol = upstream.protocol_for(client, target.model)
    caller = Caller(client, str(asked.get("user_agent") or ""))
    options = upstream.options(target.model, model, strict=False, caller=caller)
    exchange = Exchange(client, protocol, options)
    path = asked.get("path") or PROTOCOLS[client].SURFACE.path.format(model=model)
    if not isinstance(path, str):
        raise DecodeError("path", "expected the path of a request")
    sent = exchange.request(jsontext.encode(body), path)
    return {
        "provider": target.name,
        "model": target.model,
        "protocol": protocol,
        "url": redact_url(upstream.url(protocol, sent.path, target.model)),
        "body": read_body(sent.data),
        "receipt": _notes(exchange.receipt),
    }


def _notes(receipt: Receipt) -> list[Json]:
    return [
        {"code": note.code, "severity": note.severity, "path": note.path, "message": note.message}
        for note in receipt
    ]
