"""One attempt to get an answer: what is sent to a target, and the translation both ways."""

import time
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from toolglot.context import Options
from toolglot.errors import DecodeError, UntranslatableError
from toolglot.exchange import Exchange, Sent
from toolglot.gateway import error_responses as errors
from toolglot.gateway.error_responses import RequestRejectedError
from toolglot.gateway.http.client import OutboundRequest
from toolglot.gateway.incoming import ANY_CALLER, IncomingRequest
from toolglot.gateway.relay.learned_facts import NOTHING, LearnedFacts
from toolglot.gateway.relay.providers import Upstream
from toolglot.gateway.relay.routing import Target
from toolglot.gateway.state.kept_reasoning import KeptReasoning
from toolglot.gateway.state.sessions import Session
from toolglot.gateway.state.stored_responses import new_response_id
from toolglot.gateway.telemetry.request_telemetry import RequestTelemetry
from toolglot.gateway.telemetry.tool_log import LoggedRequest, log_lines, tool_differences
from toolglot.http1.large_bodies import work_on
from toolglot.mending import Mending
from toolglot.registry import get_protocol
from toolglot.wire.model_paths import IN_PATH


class Attempt(Struct, frozen=True, kw_only=True):
    """One target, and the request for it."""

    target: Target
    exchange: Exchange
    asked: bytes
    """What was translated: the client's request, with what came before it."""
    echo: Mapping[str, Any] = {}
    """What the answer repeats of it."""
    outbound: OutboundRequest | None = None
    """What is sent, except for the key; None: the built-in model answers."""
    keys: tuple[str | None, ...] = (None,)
    """The keys to use, in their order."""
    sent: Sent | None = None
    """The request in the provider's protocol."""

    def without_texts(self) -> "Attempt":
        """The same without the texts of its request, which will not be sent again."""
        self.exchange.release_text()
        return replace(self, asked=b"", outbound=None, sent=None)


def _refuse_nothing(exchange: Exchange) -> None:
    """Refuse a request without messages: some providers answer nothing to it, with status 200."""
    for note in exchange.notes:
        if note.code == "nothing-to-send":
            words = f"{note.path}: {note.message}"
            raise RequestRejectedError(errors.invalid_request(words))


async def prepare(
    request: IncomingRequest,
    target: Target,
    telemetry: RequestTelemetry,
    *,
    session: Session | None,
    memory: KeptReasoning | None,
    learned: LearnedFacts,
) -> Attempt:
    """Translate a request for a target, and report that it is about to be sent."""
    exchange = make_exchange(request, target, learned)
    telemetry.translating(exchange)
    attempt = await translate(request, target, exchange, session, memory)
    return report(request, attempt, telemetry)


async def translate(
    request: IncomingRequest,
    target: Target,
    exchange: Exchange,
    session: Session | None,
    memory: KeptReasoning | None,
) -> Attempt:
    """Translate a request for a target."""
    upstream = target.upstream
    asked, sent = request.body, None
    echo: Mapping[str, Any] = {}
    try:
        if session is not None:
            asked, echo = await session.request_for(
                exchange, target.name, built_in=upstream is None
            )
        if upstream is None:
            await work_on(len(asked), exchange.decode_request, asked, request.path)
        else:
            if memory is not None:
                await memory.restore(request.owner, exchange, asked, request.path)
            query = _query(request, exchange, upstream)
            sent = await work_on(len(asked), exchange.request, asked, request.path, query)
            _refuse_nothing(exchange)
    except UntranslatableError as error:
        words = "strict: {}; without the header x-toolglot-strict it would be sent"
        message = words.format(error) if request.strict else str(error)
        raise RequestRejectedError(errors.invalid_request(message)) from None
    except DecodeError as error:
        raise RequestRejectedError(errors.invalid_request(str(error))) from None
    exchange.echo(echo)
    if upstream is None or sent is None:
        return Attempt(target=target, exchange=exchange, asked=asked, echo=echo)
    return Attempt(
        target=target,
        exchange=exchange,
        asked=asked,
        echo=echo,
        outbound=_outbound(request, upstream, target.model, exchange, sent),
        keys=tuple(upstream.keys_for(request.key)),
        sent=sent,
    )


def report(request: IncomingRequest, attempt: Attempt, telemetry: RequestTelemetry) -> Attempt:
    """The attempt with the headers of its trace; it is about to be sent."""
    upstream, outbound, sent = attempt.target.upstream, attempt.outbound, attempt.sent
    if upstream is None or outbound is None or sent is None:
        telemetry.answered_here(attempt.target.name, attempt.asked)
        return attempt
    telemetry.upstream_request(
        attempt.exchange,
        provider=upstream.name,
        model=attempt.target.model,
        sent=outbound,
        path=request.path,
        body=request.body,
        stream=request.stream,
        asked=attempt.asked,
        echo=attempt.echo,
    )
    if telemetry.shows_contents:
        lines = _tool_lines(request, attempt.asked, attempt.exchange.provider, sent)
        log_lines(request.id, lines)
    if trace := telemetry.trace_headers():
        return replace(attempt, outbound=replace(outbound, headers={**outbound.headers, **trace}))
    return attempt


def _tool_lines(request: IncomingRequest, asked: bytes, provider: str, sent: Sent) -> Iterator[str]:
    """What became of the tools and calls of a request, for the debug log."""
    yield from tool_differences(
        LoggedRequest(request.protocol, asked, request.path),
        LoggedRequest(provider, sent.data, sent.path),
    )


def make_exchange(
    request: IncomingRequest,
    target: Target,
    learned: LearnedFacts,
    mending: Mending | None = None,
) -> Exchange:
    """The translation for a target, with what was learned of it; `mending` is what a refusal of
    this request taught.
    """
    upstream, now = target.upstream, int(time.time())
    # Providers repeat ids, and an answer under the id of another would continue that one.
    stored = bool(get_protocol(request.protocol).SURFACE.earlier_keys)
    answer_id = new_response_id() if stored else ""
    if upstream is None:
        return Exchange(
            request.protocol,
            request.protocol,
            Options(complete_answers=True),
            now=now,
            clock=time.monotonic_ns,
            answer_id=answer_id,
        )
    protocol = upstream.protocol_for(request.protocol, target.model)
    options = upstream.options(
        target.model,
        request.model,
        strict=request.strict,
        caller=request.caller if upstream.config.tool_rules else ANY_CALLER,
        mends=target.mends,
    )
    known = learned.get(upstream.name, protocol, target.model) if target.mends else NOTHING
    if known is not NOTHING:
        options = known.options_for(options)
    repairs = mending.repairs if mending is not None else ()
    if mending is not None:
        options = mending.options_for(options)
    exchange = Exchange(
        request.protocol,
        protocol,
        options,
        now=now,
        repairs=repairs,
        clock=time.monotonic_ns,
        answer_id=answer_id,
        counts_usage=request.holder is not None,
        model=None if IN_PATH in get_protocol(request.protocol).SURFACE.path else request.model,
    )
    if known is not NOTHING:
        exchange.note("fact-learned", "", f"{upstream.name} refused a request before: {known}")
    if mending is not None:
        words = f"{upstream.name} said: {mending.words}; changed: {mending}"
        exchange.note("request-mended", "", words)
    return exchange


def _outbound(
    request: IncomingRequest, upstream: Upstream, model: str, exchange: Exchange, sent: Sent
) -> OutboundRequest:
    return OutboundRequest(
        url=upstream.url(exchange.provider, sent.path, model),
        data=sent.data,
        query=sent.query,
        headers={
            "Content-Type": "application/json",
            **_passed(request, exchange, upstream),
            **upstream.headers(None),
        },
        timeouts=upstream.config.timeouts,
        proxy=upstream.config.proxy,
        signer=upstream.signer,
    )


def _query(request: IncomingRequest, exchange: Exchange, upstream: Upstream) -> dict[str, str]:
    """The client's query without its key; streams are requested as server-sent events."""
    surface = get_protocol(exchange.provider).SURFACE
    given = request.query
    query = {name: given[name] for name in given if name not in _NOT_FORWARDED} if given else {}
    if query and exchange.provider == exchange.client and not upstream.passes_key:
        # With a key of ours, a client chooses neither versions nor deployments.
        for name in query.keys() - surface.query:
            del query[name]
            exchange.note("account-choice-dropped", f"query.{name}")
    if request.stream and surface.stream.array:
        query["alt"] = "sse"
    return query


_NOT_FORWARDED: Final = frozenset({"key", "alt"})
"""The key is the gateway's matter, and so is how a stream is framed."""


def _passed(request: IncomingRequest, exchange: Exchange, upstream: Upstream) -> Mapping[str, str]:
    """The client's headers that mean something to the provider."""
    if exchange.provider != request.protocol:
        return {}
    surface, given = get_protocol(exchange.provider).SURFACE, request.headers
    passed = {name: given[name] for name in surface.headers if name in given}
    refused = exchange.refused_features
    for name in [*passed] if refused else ():
        kept, dropped = _accepted_features(passed.pop(name), refused)
        if kept:
            passed[name] = kept
        if dropped:
            words = f"the provider does not accept {', '.join(dropped)}"
            exchange.note("field-dropped", f"headers.{name}", words)
    for name in surface.account_headers:
        if name not in given:
            continue
        if upstream.passes_key:
            passed[name] = given[name]
        else:
            exchange.note("account-choice-dropped", f"headers.{name}")
    return passed


def _accepted_features(value: str, refused: frozenset[str]) -> tuple[str, list[str]]:
    """A header that lists features, without those that the provider does not accept."""
    listed = [each.strip() for each in value.split(",") if each.strip()]
    dropped = [each for each in listed if any(fnmatchcase(each, pattern) for pattern in refused)]
    return ",".join(each for each in listed if each not in dropped), dropped
