"""The life of one request: read, routed, translated, sent, answered, translated back.

The first target that works answers. Once the first byte of an answer is on its way to the client,
nothing is tried again; what goes wrong then is told in the stream, in the client's own protocol.
"""

import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Final

from aiohttp import web

from toolglot import demo
from toolglot.errors import DecodeError, UntranslatableError
from toolglot.exchange import Exchange
from toolglot.gateway.access.access_control import AccessControl
from toolglot.gateway.access.authentication import Refusal
from toolglot.gateway.config import DEMO, Config
from toolglot.gateway.http.client import Client, Question, Unreachable
from toolglot.gateway.http.writers import HttpSink
from toolglot.gateway.relay.deliver import ELSEWHERE, Replies
from toolglot.gateway.relay.incoming import PROTOCOL, Call, given_key, id_of, whole
from toolglot.gateway.relay.providers import Upstream, make_upstreams
from toolglot.gateway.relay.routing import Router, Target
from toolglot.gateway.state.kept_reasoning import KeptReasoning
from toolglot.gateway.telemetry.request_telemetry import Telemetry
from toolglot.gateway.telemetry.tool_log import LoggedRequest, log_lines, tool_differences
from toolglot.ir import ApiError, Json
from toolglot.receipt import Receipt
from toolglot.registry import get_protocol

_TRUE: Final = frozenset({"1", "true", "yes", "on"})
_TRACED: Final = ("traceparent", "tracestate")


class Relay:
    """Carries requests to providers and answers back."""

    def __init__(
        self,
        config: Config,
        client: Client,
        *,
        access: AccessControl | None = None,
        telemetry: Telemetry | None = None,
        memory: KeptReasoning | None = None,
    ) -> None:
        self.client = client
        self.access = access or AccessControl()
        self.telemetry = telemetry or Telemetry()
        self._memory = memory
        self.receipts: OrderedDict[tuple[str, str], Json] = OrderedDict()
        """By whose they are and the id of the request, the oldest first."""
        self._replies = Replies(self.access, self._keep, memory)
        self.router = Router(config, make_upstreams(config))
        self.config = config

    def use(self, config: Config) -> None:
        """Route by this configuration from now on; requests under way keep theirs."""
        upstreams = make_upstreams(config, known=self.router.upstreams)
        self.router = Router(config, upstreams)
        self.config = config

    def resting(self) -> list[str]:
        """The providers that failed lately."""
        now = time.monotonic()
        return [each.name for each in self.router.upstreams.values() if each.health.resting(now)]

    def close(self) -> None:
        """Send and write what telemetry still holds."""
        self.telemetry.close()

    async def keep_alive(self) -> None:
        """Tell clients whose provider is silent that their stream lives."""
        await self._replies.keep_alive(lambda: self.config.server.keep_alive)

    def call(self, request: web.Request, protocol: str) -> Call:
        """A request that has not been read yet."""
        number = id_of(request)
        request[PROTOCOL] = protocol
        headers = {name: request.headers[name] for name in _TRACED if name in request.headers}
        return Call(
            http=request,
            sink=HttpSink(request),
            protocol=protocol,
            path=request.path,
            body=b"",
            model="",
            stream=False,
            id=number,
            strict=request.headers.get("x-toolglot-strict", "").lower() in _TRUE,
            key=given_key(request),
            witness=self.telemetry.start_request(number, protocol, headers),
        )

    def ended(self, call: Call, error: ApiError | None = None) -> None:
        """A request was answered, or never will be."""
        receipt = call.exchange.receipt if call.exchange else Receipt()
        call.witness.end(receipt, error)
        self.access.charge(call.holder, call.witness.record)

    async def answer(self, call: Call) -> web.StreamResponse:
        """The answer to a request, whatever becomes of it."""
        targets = self.router.targets(call.model, call.conversation)
        if not targets:
            raise Refusal(_unknown_model(call.model))
        failure: ApiError | None = None
        for place, target in enumerate(self._awake(targets)):
            last = place == len(targets) - 1
            call.target = target
            call.exchange = self._exchange(call, target)
            try:
                if await self._ask(call, target, last=last):
                    return call.sink.response
            except Unreachable as error:
                failure = error.error
        if failure is None or call.exchange is None:
            raise AssertionError  # pragma: no cover - the last target always answers
        call.witness.failed(failure)
        await call.sink.whole(whole(call, call.exchange.error(failure)))
        return call.sink.response

    def _awake(self, targets: list[Target]) -> list[Target]:
        """Targets that answer first; those that failed lately only when all others did too."""
        now = time.monotonic()

        def rests(target: Target) -> bool:
            return target.upstream is not None and target.upstream.health.resting(now)

        return sorted(targets, key=rests)

    def _exchange(self, call: Call, target: Target) -> Exchange:
        upstream = target.upstream
        if upstream is None:
            return Exchange(call.protocol, call.protocol, now=int(time.time()))
        options = upstream.options(target.model, call.model, strict=call.strict)
        protocol = upstream.protocol_for(call.protocol)
        return Exchange(call.protocol, protocol, options, now=int(time.time()))

    async def _ask(self, call: Call, target: Target, *, last: bool) -> bool:
        """Let one target answer; False: it failed in a way that leaves hope for the next."""
        exchange, upstream, witness = call.exchange, target.upstream, call.witness
        if exchange is None:
            raise AssertionError  # pragma: no cover - it was just made
        if upstream is None:
            await self._demo(call, exchange)
            return True
        question = await self._question(call, exchange, upstream, target.model)
        witness.upstream_request(
            question, exchange, path=call.path, body=call.body, stream=call.stream
        )
        question = witness.with_trace_headers(question)
        log_lines(call.id, _tool_lines(call, question))
        upstream.health.busy += 1
        try:
            witness.pause()
            async with await self.client.ask(question, witness.retried) as reply:
                witness.resume()
                witness.upstream_response(reply)
                if reply.status in ELSEWHERE and not last:
                    return False
                await self._replies.carry(call, exchange, reply)
                return True
        finally:
            upstream.health.busy -= 1

    async def _demo(self, call: Call, exchange: Exchange) -> None:
        """Let the model that is built in answer."""
        call.witness.record.provider = DEMO
        try:
            body, echo = await call.asked(exchange, DEMO)
            asked = exchange.read(body, call.path)
        except DecodeError as error:
            raise Refusal(_bad_request(str(error))) from None
        exchange.repeat(echo)
        answer = demo.reply(asked, exchange.answer_context())
        if isinstance(answer, ApiError):
            raise Refusal(answer)
        await self._replies.say(call, exchange, answer)

    async def _question(
        self, call: Call, exchange: Exchange, upstream: Upstream, model: str
    ) -> Question:
        query = {name: value for name, value in call.http.query.items() if name != "key"}
        if call.stream and get_protocol(exchange.provider).SURFACE.array_streams:
            query["alt"] = "sse"
        try:
            body, echo = await call.asked(exchange, upstream.name)
            if self._memory is not None and exchange.client != exchange.provider:
                exchange.read(body, call.path)
                await self._memory.restore(call, exchange)
            sent = exchange.request(body, call.path, query)
        except UntranslatableError as error:
            raise Refusal(_bad_request(f"strict: {error}")) from None
        except DecodeError as error:
            raise Refusal(_bad_request(str(error))) from None
        exchange.repeat(echo)
        return Question(
            upstream=upstream,
            protocol=exchange.provider,
            model=model,
            sent=sent,
            headers=_passed(call, exchange),
            client_key=call.key,
            asked=body,
            echo=echo,
        )

    def _keep(self, call: Call, exchange: Exchange) -> None:
        """Let the receipt be asked for."""
        self.receipts[call.owner, call.id] = {
            "request_id": call.id,
            "client": call.protocol,
            "provider": call.target.name if call.target else "",
            "protocol": exchange.provider,
            "model": call.model,
            "notes": exchange.notes,
        }
        while len(self.receipts) > self.config.server.receipts:
            self.receipts.popitem(last=False)


def _tool_lines(call: Call, question: Question) -> Iterator[str]:
    """What became of the tools and calls of a request, for whoever looks closely."""
    sent = question.sent
    yield from tool_differences(
        LoggedRequest(call.protocol, question.asked or call.body, call.path),
        LoggedRequest(question.protocol, sent.data, sent.path),
    )


def _passed(call: Call, exchange: Exchange) -> Mapping[str, str]:
    """The client's headers that mean something to the provider."""
    if exchange.provider != call.protocol:
        return {}
    names = get_protocol(call.protocol).SURFACE.headers
    return {name: call.http.headers[name] for name in names if name in call.http.headers}


# --- errors of our own ----------------------------------------------------------------------------


def _unknown_model(model: str) -> ApiError:
    hint = "no route matches it; see GET /v1/models, or ask for provider/model"
    return ApiError(kind="not_found", message=f"model {model!r}: {hint}", status=404)


def _bad_request(message: str) -> ApiError:
    return ApiError(kind="invalid_request", message=message, status=400)
