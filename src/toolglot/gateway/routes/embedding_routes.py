"""Vectors of texts, for clients of each protocol that has them, from providers of each."""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from toolglot.embeddings import (
    EmbeddingRequest,
    EmbeddingsEndpoint,
    translate_request,
    translate_response,
)
from toolglot.errors import DecodeError
from toolglot.exchange import Exchange
from toolglot.gateway import error_responses as errors
from toolglot.gateway.error_responses import FIRST_ERROR, RequestRejectedError
from toolglot.gateway.http.client import OutboundRequest
from toolglot.gateway.http.json_response import JSON
from toolglot.gateway.http.response_writers import ResponseWriter
from toolglot.gateway.incoming import IncomingRequest
from toolglot.gateway.relay.attempt import make_exchange
from toolglot.gateway.relay.plain_requests import WholeReply, ask_plainly
from toolglot.gateway.relay.relay import Relay
from toolglot.gateway.relay.routing import Target
from toolglot.gateway.routes.route import ModelRoute
from toolglot.gateway.telemetry.request_telemetry import RequestTelemetry
from toolglot.http1.server_response import HttpResponse, WholeHttpResponse
from toolglot.ir import Json, Usage
from toolglot.registry import PROTOCOLS
from toolglot.wire import jsontext
from toolglot.wire.message import read_body

_BYTES_PER_TOKEN: Final = 4


class _Question(Struct, frozen=True, kw_only=True):
    """What a client asks, and at which endpoint."""

    incoming: IncomingRequest
    endpoint: EmbeddingsEndpoint
    body: Json

    def decoded(self) -> EmbeddingRequest:
        """The same for a provider that has another endpoint."""
        return self.endpoint.decode_request(self.body, self.incoming.model)


class _Asked(Struct, frozen=True, kw_only=True):
    """One target, and the request for it."""

    target: Target
    endpoint: EmbeddingsEndpoint
    exchange: Exchange
    """For the notes, and for what the provider says if it refuses."""
    outbound: OutboundRequest


class EmbeddingEndpoints:
    """The handlers, over one relay."""

    def __init__(self, relay: Relay) -> None:
        self._relay = relay

    @property
    def routes(self) -> tuple[ModelRoute, ...]:
        """The paths that do not name the model; `GenerationEndpoints` has the others."""
        return tuple(
            ModelRoute(endpoint.path, name, self.embed, generates=False)
            for name, module in PROTOCOLS.items()
            for endpoint in module.API.embeddings
            if endpoint.path.startswith("/")
        )

    async def embed(
        self, request: IncomingRequest, _writer: ResponseWriter, telemetry: RequestTelemetry
    ) -> HttpResponse:
        """The vectors of texts."""
        question = _question(request)
        targets = self._relay.targets_for(request)
        made = [self._ask(question, target) for target in targets]
        usable = [each for each in made if each is not None]
        if not usable:
            names = ", ".join(target.name for target in targets)
            words = f"{names} has no embeddings that are known here; route the model to another"
            raise RequestRejectedError(errors.invalid_request(f"model {request.model!r}: {words}"))
        reply = await ask_plainly(
            self._relay.client,
            [each.target for each in usable],
            lambda at: usable[at].outbound,
            telemetry,
            client_key=request.key,
            most_bytes=self._relay.config.server.limits.answer,
        )
        return self._answer(question, usable[reply.target], reply, telemetry)

    def _ask(self, question: _Question, target: Target) -> _Asked | None:
        """The request for a target; None: it has no embeddings."""
        upstream = target.upstream
        spoken = _protocol(target, question.incoming.protocol)
        if upstream is None or spoken is None:
            return None
        offered = PROTOCOLS[spoken].API.embeddings
        exchange = make_exchange(question.incoming, target, self._relay.learned)
        model = upstream.deployment or target.model
        if question.endpoint in offered:
            endpoint = question.endpoint
            sent = endpoint.rename(question.body, model)
        else:
            endpoint = offered[0]
            named = replace(question.decoded(), model=model)
            sent = translate_request(named, question.endpoint, endpoint, exchange.note)
        path = endpoint.path_for(PROTOCOLS[spoken].SURFACE.path)
        return _Asked(
            target=target,
            endpoint=endpoint,
            exchange=exchange,
            outbound=OutboundRequest(
                url=upstream.url(spoken, path, model),
                data=jsontext.encode(sent),
                headers={"Content-Type": JSON, **PROTOCOLS[spoken].API.fixed_headers},
                timeouts=upstream.config.timeouts,
                proxy=upstream.config.proxy,
            ),
        )

    def _answer(
        self, question: _Question, asked: _Asked, reply: WholeReply, telemetry: RequestTelemetry
    ) -> HttpResponse:
        request, upstream, exchange = question.incoming, asked.target.upstream, asked.exchange
        telemetry.translating(exchange)
        telemetry.record.protocol, telemetry.record.model = exchange.provider, asked.target.model
        status, data = reply.status, reply.body
        if status >= FIRST_ERROR:
            hidden = upstream.keys.hidden(data) if upstream is not None else data
            refused = exchange.response(hidden, status=status, headers=reply.headers)
            status, data = refused.status, refused.data
            telemetry.failed(refused.error)
        else:
            data, tokens = _vectors(question, asked, data)
            telemetry.completed(Usage(input=tokens, output=0))
        receipt = {
            "request_id": request.id,
            "client": request.protocol,
            "provider": asked.target.name,
            "protocol": exchange.provider,
            "model": request.model,
            "notes": telemetry.receipt.notes,
        }
        most = self._relay.config.server.receipts
        self._relay.receipts.add(request.owner, request.id, receipt, most)
        headers = {
            "Content-Type": JSON,
            "x-request-id": request.id,
            "x-toolglot-provider": asked.target.name,
            **telemetry.receipt_header(),
        }
        telemetry.client_response(status, headers)
        return WholeHttpResponse(data, status, headers)


def _question(request: IncomingRequest) -> _Question:
    endpoints = PROTOCOLS[request.protocol].API.embeddings
    endpoint = next(each for each in endpoints if request.path.endswith(each.path))
    return _Question(incoming=request, endpoint=endpoint, body=read_body(request.body))


def _protocol(target: Target, client: str) -> str | None:
    """The protocol to ask a target in: the client's own if it has embeddings there."""
    endpoints = target.upstream.endpoints if target.upstream is not None else ()
    offered = [
        each.protocol
        for each in endpoints
        if each.path is None and PROTOCOLS[each.protocol].API.embeddings
    ]
    return client if client in offered else next(iter(offered), None)


def _vectors(question: _Question, asked: _Asked, data: bytes) -> tuple[bytes, int]:
    """The answer for the client, and the tokens to charge."""
    provider, client = asked.endpoint, question.endpoint
    try:
        body = read_body(data)
        if provider is client:
            made = provider.decode_response(body)
        else:
            texts = question.decoded()
            body, made = translate_response(body, texts, client, provider, asked.exchange.note)
            data = jsontext.encode(body)
    except DecodeError as error:
        rejected = errors.not_an_answer(asked.target.name, error)
        raise RequestRejectedError(rejected) from None
    if made.input_tokens is not None:
        return data, made.input_tokens
    return data, len(question.incoming.body) // _BYTES_PER_TOKEN
