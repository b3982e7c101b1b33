"""Counting the tokens of a request: by its provider where that counts, else by an estimate."""

import asyncio

from msgspec import Struct
from msgspec.structs import replace

from toolglot.adapt.answers.token_scale import scaled
from toolglot.api import CountEndpoint
from toolglot.context import Context
from toolglot.exchange import Exchange, Sent
from toolglot.gateway.http.client import Client
from toolglot.gateway.relay.incoming import Call
from toolglot.gateway.relay.providers import Upstream
from toolglot.gateway.relay.routing import Target
from toolglot.gateway.tokens.estimate import estimate_request
from toolglot.ir import Json, Request, Usage
from toolglot.registry import get_protocol
from toolglot.wire import jsontext
from toolglot.wire.message import WireRequest, read_body


class TokenCount(Struct, frozen=True):
    """A number of tokens, and whether it is an estimate."""

    tokens: int
    estimate: bool


async def count(client: Client, target: Target, call: Call) -> TokenCount:
    """The tokens of a client's request, in the measure in which it is told those of answers."""
    counted = await _count(client, target, call)
    if target.upstream is None:
        return counted
    options = target.upstream.options(target.model, call.model, strict=False)
    told = scaled(Usage(input=counted.tokens), options).input
    return counted if told is None else TokenCount(told, counted.estimate)


async def _count(client: Client, target: Target, call: Call) -> TokenCount:
    asked = _decode(call)
    if target.upstream is not None:
        spoken = target.upstream.protocol_for(call.protocol)
        endpoint = get_protocol(spoken).API.count
        if endpoint is not None:
            sent = _question(call, target.upstream, target.model, spoken, endpoint)
            answer = await client.fetch(target.upstream, spoken, sent.path, sent.data, key=call.key)
            tokens = answer.get(endpoint.answer) if isinstance(answer, dict) else None
            if isinstance(tokens, int):
                return TokenCount(tokens, estimate=False)
    # The first count loads a vocabulary, which takes part of a second.
    return TokenCount(await asyncio.to_thread(estimate_request, asked), estimate=True)


def _decode(call: Call) -> Request:
    codec = get_protocol(call.protocol)
    wire = WireRequest(body=_unwrapped(call), path=call.path)
    return codec.decode_request(wire, Context(source=codec.SURFACE))


def _unwrapped(call: Call) -> Json:
    """A request to be counted, which may be wrapped in another."""
    body, endpoint = read_body(call.body), get_protocol(call.protocol).API.count
    return endpoint.unwrap(body) if endpoint else body


def _question(
    call: Call, upstream: Upstream, model: str, spoken: str, endpoint: CountEndpoint
) -> Sent:
    """What to ask the provider."""
    exchange = Exchange(call.protocol, spoken, upstream.options(model, call.model, strict=False))
    if call.protocol == spoken:
        sent = exchange.request(call.body, call.path)
        return replace(sent, path=endpoint.path_for(sent.path))
    sent = exchange.request(jsontext.encode(_unwrapped(call)), call.path)
    data = jsontext.encode(endpoint.body(read_body(sent.data), model))
    return Sent(path=endpoint.path_for(sent.path), data=data)
