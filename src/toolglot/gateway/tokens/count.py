"""Counting the tokens of a request: by its provider where that counts, else by an estimate."""

import asyncio

from msgspec import Struct
from msgspec.structs import replace

from toolglot.adapt.answers.token_scale import scaled
from toolglot.api import CountEndpoint
from toolglot.context import Context
from toolglot.exchange import Exchange, Sent
from toolglot.gateway.http.client import Client
from toolglot.gateway.incoming import IncomingRequest
from toolglot.gateway.relay.providers import Upstream
from toolglot.gateway.relay.routing import Target
from toolglot.gateway.tokens.estimate import estimate_request
from toolglot.http1.large_bodies import work_on
from toolglot.ir import Json, Request, Usage
from toolglot.registry import get_protocol
from toolglot.wire import jsontext
from toolglot.wire.message import WireRequest, read_body


class TokenCount(Struct, frozen=True):
    """A number of tokens, and whether it is an estimate."""

    tokens: int
    estimate: bool


async def count_tokens(client: Client, target: Target, request: IncomingRequest) -> TokenCount:
    """The tokens of a client's request, in the measure in which it is told those of answers."""
    counted = await _count(client, target, request)
    if target.upstream is None:
        return counted
    options = target.upstream.options(target.model, request.model, strict=False)
    tokens = scaled(Usage(input=counted.tokens), options).input
    return counted if tokens is None else TokenCount(tokens, counted.estimate)


async def _count(client: Client, target: Target, request: IncomingRequest) -> TokenCount:
    size = len(request.body)
    asked = await work_on(size, _decode, request)
    if target.upstream is not None:
        spoken = target.upstream.protocol_for(request.protocol, target.model)
        endpoint = get_protocol(spoken).API.count
        if endpoint is not None:
            sent = await work_on(
                size, _question, request, target.upstream, target.model, spoken, endpoint
            )
            outbound = target.upstream.small_request(spoken, sent.path, sent.data, key=request.key)
            answer = await client.fetch(outbound)
            tokens = answer.get(endpoint.answer) if isinstance(answer, dict) else None
            if isinstance(tokens, int):
                return TokenCount(tokens, estimate=False)
    # The first count loads a vocabulary, which takes part of a second.
    return TokenCount(await asyncio.to_thread(estimate_request, asked), estimate=True)


def _decode(request: IncomingRequest) -> Request:
    codec = get_protocol(request.protocol)
    wire = WireRequest(body=_unwrapped(request), path=request.path)
    return codec.decode_request(wire, Context(source=codec.SURFACE))


def _unwrapped(request: IncomingRequest) -> Json:
    """A request to be counted, which may be wrapped in another."""
    body, endpoint = read_body(request.body), get_protocol(request.protocol).API.count
    return endpoint.unwrap(body) if endpoint else body


def _question(
    request: IncomingRequest, upstream: Upstream, model: str, spoken: str, endpoint: CountEndpoint
) -> Sent:
    """What to ask the provider."""
    options = upstream.options(model, request.model, strict=False, caller=request.caller)
    exchange = Exchange(request.protocol, spoken, options)
    if request.protocol == spoken:
        sent = exchange.request(request.body, request.path)
        return replace(sent, path=endpoint.path_for(sent.path))
    sent = exchange.request(jsontext.encode(_unwrapped(request)), request.path)
    data = jsontext.encode(endpoint.body(read_body(sent.data), model))
    return Sent(path=endpoint.path_for(sent.path), data=data)
