"""Counting the tokens of a request: by its provider where that counts, else by an estimate.

Counting paths were read in the types of anthropic 2.8.0, google-genai 3.1.0 and openai 3.49.0
(2026-11-15).
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from toolglot.adapt.answers.token_scale import scaled
from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.exchange import Exchange, Sent
from toolglot.gateway.http.client import Client
from toolglot.gateway.incoming import IncomingRequest
from toolglot.gateway.relay.providers import Upstream
from toolglot.gateway.relay.routing import Target
from toolglot.gateway.tokens.estimate import estimate_request
from toolglot.ir import Json, Request, Usage
from toolglot.registry import get_protocol
from toolglot.wire import jsontext
from toolglot.wire.message import WireRequest, read_body

_WRAPPED: Final = "generateContentRequest"


class Counter(Struct, frozen=True, kw_only=True):
    """How a protocol counts."""

    path: Callable[[str], str]
    """Where, from the path of a request."""
    keys: frozenset[str] | None
    """What of a request may be sent there; None: all of it."""
    wrap: Callable[[Json, str], Json]
    answer: str
    """The key of the count."""


COUNTERS: Final[Mapping[str, Counter]] = {
    "anthropic": Counter(
        path=lambda _path: "/v1/messages/count_tokens",
        keys=frozenset(
            ("model", "messages", "system", "tools", "tool_choice", "thinking", "output_config")
        ),
        wrap=lambda body, _model: body,
        answer="input_tokens",
    ),
    "gemini": Counter(
        path=lambda path: path.rpartition(":")[0] + ":countTokens",
        keys=None,
        wrap=lambda body, model: {_WRAPPED: {"model": f"models/{model}", **body}},
        answer="totalTokens",
    ),
    "openai-responses": Counter(
        path=lambda _path: "/v1/responses/input_tokens",
        keys=frozenset(
            (
                "model", "input", "instructions", "tools", "tool_choice", "reasoning", "text",
                "parallel_tool_calls", "truncation", "previous_response_id", "conversation",
            )
        ),
        wrap=lambda body, _model: body,
        answer="input_tokens",
    ),
}  # fmt: skip


class TokenCount(Struct, frozen=True):
    """A number of tokens, and whether it is an estimate."""

    tokens: int
    estimate: bool


async def count(client: Client, target: Target, request: IncomingRequest) -> TokenCount:
    """The tokens of a client's request, in the measure in which it is told those of answers."""
    counted = await _count(client, target, request)
    if target.upstream is None:
        return counted
    options = target.upstream.options(target.model, request.model, strict=False)
    told = scaled(Usage(input=counted.tokens), options).input
    return counted if told is None else TokenCount(told, counted.estimate)


async def _count(client: Client, target: Target, request: IncomingRequest) -> TokenCount:
    asked = _decode(request)
    if target.upstream is not None:
        spoken = target.upstream.protocol_for(request.protocol)
        counter = COUNTERS.get(spoken)
        if counter is not None:
            sent = _question(request, target.upstream, target.model, spoken)
            outbound = target.upstream.small_request(spoken, sent.path, sent.data, key=request.key)
            answer = await client.fetch(outbound)
            tokens = answer.get(counter.answer) if isinstance(answer, dict) else None
            if isinstance(tokens, int):
                return TokenCount(tokens, estimate=False)
    # The first count loads a vocabulary, which takes part of a second.
    return TokenCount(await asyncio.to_thread(estimate_request, asked), estimate=True)


def _decode(request: IncomingRequest) -> Request:
    codec = get_protocol(request.protocol)
    wire = WireRequest(body=_unwrapped(request.body), path=request.path)
    return codec.decode_request(wire, Context(source=codec.SURFACE))


def _unwrapped(body: bytes) -> Json:
    """A request to be counted, which may be wrapped in another."""
    value = read_body(body)
    inner = value.get(_WRAPPED, value)
    if not isinstance(inner, dict):
        raise DecodeError(_WRAPPED, "expected object")
    return inner


def _question(request: IncomingRequest, upstream: Upstream, model: str, spoken: str) -> Sent:
    """What to ask the provider."""
    counter = COUNTERS[spoken]
    options = upstream.options(model, request.model, strict=False)
    exchange = Exchange(request.protocol, spoken, options)
    if request.protocol == spoken:
        sent = exchange.request(request.body, request.path)
        return replace(sent, path=counter.path(sent.path))
    sent = exchange.request(jsontext.encode(_unwrapped(request.body)), request.path)
    body = read_body(sent.data)
    kept = {key: body[key] for key in body if counter.keys is None or key in counter.keys}
    data = jsontext.encode(counter.wrap(kept, model))
    return Sent(path=counter.path(sent.path), data=data)
