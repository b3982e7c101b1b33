"""The life of one request: read, routed, translated, sent, answered, translated back.

The first target that works answers. Once the first byte of an answer is on its way to the client,
nothing is tried again; what goes wrong then is told in the stream, in the client's own protocol.
"""

import asyncio
import secrets
import time
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, Protocol

import aiohttp
from aiohttp import web
from msgspec import Struct, field

from toolglot.context import Context
from toolglot.errors import DecodeError, UntranslatableError
from toolglot.exchange import Answer, Exchange
from toolglot.gateway import demo
from toolglot.gateway.config import DEMO, Config
from toolglot.gateway.framing import Framing
from toolglot.gateway.guard import Guard, Refusal
from toolglot.gateway.keys import Key
from toolglot.gateway.observe import Observer
from toolglot.gateway.opening import head_of, looks_streamed, until_told
from toolglot.gateway.providers import Upstream, make_upstreams
from toolglot.gateway.record import Recorder
from toolglot.gateway.routing import Router, Target
from toolglot.gateway.sinks import HttpSink, Sink, Whole
from toolglot.gateway.upstream import Client, Question, Unreachable
from toolglot.gateway.witness import Witness
from toolglot.ir import ApiError, Json
from toolglot.receipt import Receipt
from toolglot.registry import get_protocol
from toolglot.streams import StreamTranslator

_JSON: Final = "application/json"
_STREAMS: Final = ("text/event-stream", "application/x-ndjson")
_ELSEWHERE: Final = frozenset({401, 402, 403, 404, 408, 429, 500, 502, 503, 504, 529})
"""Statuses after which another target may do better."""
_FIRST_ERROR: Final = 400
_LONGEST_ID: Final = 128
_ID: Final = web.RequestKey("toolglot_id", str)
PROTOCOL: Final = web.RequestKey("toolglot_protocol", str)
"""Where a request remembers which protocol it speaks, once that is known."""
_TRUE: Final = frozenset({"1", "true", "yes", "on"})
_TELLING: Final = frozenset({"retry-after", "retry-after-ms", "request-id", "x-should-retry"})
_TRACED: Final = ("traceparent", "tracestate")
_BAD_GATEWAY: Final = 502
_EVENT_ENDS: Final = (b"\n\n", b"\r\n\r\n", b"\r\r")
_EVENT_END: Final = 4
_AFFINITY: Final = 1024
"""Bytes at the start of a request that stay the same while a conversation grows."""
_SESSIONS: Final = ("x-session-affinity", "x-claude-code-session-id", "thread-id", "session-id")
"""Headers by which clients say which conversation they are in."""


class Past(Protocol):
    """What came before a request that only continues."""

    async def ask(self, exchange: Exchange, provider: str) -> tuple[bytes, Mapping[str, Any]]:
        """The request as a provider can answer it, and what the answer repeats of it."""
        ...


class Call(Struct, kw_only=True):
    """One request of a client, as the gateway sees it."""

    http: web.Request
    sink: Sink
    """Where its answer goes."""
    protocol: str
    """The client's."""
    path: str
    body: bytes
    model: str
    stream: bool
    id: str
    strict: bool = False
    key: str | None = None
    """What the client gave as its key."""
    witness: Witness
    holder: Key | None = None
    """Whose key it is, where keys are asked for."""
    past: Past | None = None
    target: Target | None = None
    exchange: Exchange | None = None
    framing: Framing | None = None
    """What gives the answer another form."""

    @property
    def owner(self) -> str:
        """Whom what is kept belongs to; nobody in particular where no keys are asked for."""
        return self.holder.id if self.holder else ""


def given_key(request: web.Request) -> str | None:
    """The key that a client gives, wherever its protocol has it."""
    headers = request.headers
    scheme, _, token = headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token:
        return token.strip()
    named = headers.get("x-api-key") or headers.get("x-goog-api-key") or headers.get("api-key")
    return named or request.query.get("key")


def request_id(given: str) -> str:
    """The id that the client gave its request, or a new one."""
    sound = 0 < len(given) <= _LONGEST_ID and given.isascii() and given.isprintable()
    return given if sound else f"req_{secrets.token_hex(12)}"


def id_of(request: web.Request) -> str:
    """The id of a request, the same however often it is asked for."""
    number = request.get(_ID)
    if number is None:
        number = request[_ID] = request_id(request.headers.get("x-request-id", ""))
    return number


class _Open(Struct, kw_only=True, eq=False):
    """A stream that is being written."""

    http: web.Request
    sink: Sink
    sign: bytes
    """What tells its client that it lives."""
    last: float = field(default_factory=time.monotonic)
    end: bytes = b""
    """The last few bytes so far."""

    @property
    def whole(self) -> bool:
        """Whether nothing is half said."""
        return self.end.endswith(_EVENT_ENDS)

    @property
    def drained(self) -> bool:
        """Whether its client has taken all so far, so that writing does not wait."""
        transport = self.http.transport
        return transport is not None and not transport.get_write_buffer_size()


class Relay:
    """Carries requests to providers and answers back."""

    def __init__(
        self,
        config: Config,
        client: Client,
        *,
        guard: Guard | None = None,
        observer: Observer | None = None,
        recorder: Recorder | None = None,
    ) -> None:
        self.client = client
        self.guard = guard or Guard(config.server)
        self.observer = observer or Observer()
        self._recorder = recorder
        self.receipts: OrderedDict[tuple[str, str], Json] = OrderedDict()
        """By whose they are and the id of the request, the oldest first."""
        self._open: set[_Open] = set()
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

    async def close(self) -> None:
        """Write down all that is not written yet."""
        await self.guard.close()
        self.observer.tracing.close()
        if self._recorder is not None:
            self._recorder.close()

    def call(self, request: web.Request, protocol: str) -> Call:
        """A request that has not been read yet."""
        number = request[_ID] = request_id(request.headers.get("x-request-id", ""))
        request[PROTOCOL] = protocol
        headers = {name: request.headers[name] for name in _TRACED if name in request.headers}
        seen = self.observer.begin(request_id=number, client=protocol, headers=headers)
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
            witness=Witness(self.observer, self._recorder, seen),
        )

    def ended(self, call: Call, error: ApiError | None = None) -> None:
        """A request was answered, or never will be."""
        receipt = call.exchange.receipt if call.exchange else Receipt()
        call.witness.ends(receipt, error)
        self.guard.settle(call.holder, call.witness.seen, receipt)

    async def keep_alive(self) -> None:
        """Tell clients whose provider is silent that their stream lives."""
        while True:
            patience = self.config.server.keep_alive
            await asyncio.sleep(min(1.0, patience))
            late = time.monotonic() - patience
            for each in tuple(self._open):
                if each in self._open and each.last < late and each.whole and each.drained:
                    each.last = time.monotonic()
                    with suppress(ConnectionError):
                        await each.sink.write(each.sign)

    async def answer(self, call: Call) -> web.StreamResponse:
        """The answer to a request, whatever becomes of it."""
        targets = self.router.targets(call.model, _conversation(call))
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
        witness.asks(question, exchange, path=call.path, body=call.body, stream=call.stream)
        upstream.health.busy += 1
        try:
            witness.pause()
            async with await self.client.ask(question) as reply:
                witness.resume()
                witness.replied(reply)
                if reply.status in _ELSEWHERE and not last:
                    return False
                await self._carry(call, exchange, reply)
                return True
        finally:
            upstream.health.busy -= 1

    async def _demo(self, call: Call, exchange: Exchange) -> None:
        """What the model that is built in answers, in the client's own protocol."""
        call.witness.seen.provider = DEMO
        try:
            body, echo = await _with_past(call, exchange, DEMO)
            exchange.read(body, call.path)
        except DecodeError as error:
            raise Refusal(_bad_request(str(error))) from None
        exchange.repeat(echo)
        codec = get_protocol(call.protocol)
        ctx = exchange.answer_context()
        answer = demo.reply(exchange.asked, ctx)
        if isinstance(answer, ApiError):
            raise Refusal(answer)
        call.witness.used(answer.usage)
        if not call.stream:
            wire = codec.encode_response(answer, ctx)
            await call.sink.whole(whole(call, Answer(data=wire.data(), status=wire.status)))
            return
        await self._begin(call, exchange)
        encoder = codec.StreamEncoder(ctx)
        for event in demo.events(answer):
            await self._write(call, encoder.encode(event))
        await self._write(call, encoder.close(), last=True)

    async def _question(
        self, call: Call, exchange: Exchange, upstream: Upstream, model: str
    ) -> Question:
        query = {name: value for name, value in call.http.query.items() if name != "key"}
        if call.stream and get_protocol(exchange.provider).SURFACE.array_streams:
            query["alt"] = "sse"
        try:
            body, echo = await _with_past(call, exchange, upstream.name)
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

    # --- the way back -----------------------------------------------------------------------------

    async def _carry(self, call: Call, exchange: Exchange, reply: aiohttp.ClientResponse) -> None:
        wanted = reply.status < _FIRST_ERROR and call.stream
        if wanted and reply.content_type in _STREAMS:
            await self._stream(call, exchange, reply)
            return
        try:
            call.witness.pause()
            head = await head_of(reply) if wanted else b""
            streams = head and looks_streamed(
                get_protocol(exchange.provider).SURFACE.stream_type, head
            )
            body = b"" if streams else head + await reply.read()
            call.witness.resume()
        except (aiohttp.ClientError, TimeoutError) as error:
            raise Unreachable(_broken(call, error)) from None
        if streams:
            await self._stream(call, exchange, reply, head)
            return
        if reply.status >= _FIRST_ERROR and call.target and call.target.upstream:
            body = call.target.upstream.keys.hidden(body)
        call.witness.got(body)
        if wanted:
            await self._unfold(call, exchange, body)
            return
        try:
            answer = exchange.response(
                body, status=reply.status, headers=reply.headers, stream=call.stream
            )
        except DecodeError as error:
            raise Unreachable(_garbage(call, error)) from None
        call.witness.used(answer.usage)
        self._keep(call, exchange)
        if answer.failed is None:
            await call.sink.whole(whole(call, answer))
            return
        call.witness.failed(answer.failed)
        await self._begin(call, exchange)
        await self._write(call, answer.data, last=True)

    async def _unfold(self, call: Call, exchange: Exchange, body: bytes) -> None:
        """A whole answer to a client that asked for a stream."""
        try:
            answer = exchange.unfolded(body)
        except DecodeError as error:
            raise Unreachable(_garbage(call, error)) from None
        call.witness.used(answer.usage)
        await self._begin(call, exchange)
        await self._write(call, answer.data, last=True)
        self._keep(call, exchange)

    async def _stream(
        self, call: Call, exchange: Exchange, reply: aiohttp.ClientResponse, head: bytes = b""
    ) -> None:
        translator, witness = exchange.stream(), call.witness
        held = await self._opening(call, exchange, reply, translator, head)
        if held is None:
            return
        await self._begin(call, exchange)
        await self._write(call, held)
        sign = b"" if call.framing else get_protocol(call.protocol).SURFACE.keep_alive
        entry = _Open(http=call.http, sink=call.sink, sign=sign, end=held[-_EVENT_END:])
        if sign:
            self._open.add(entry)
        try:
            witness.pause()
            async for chunk in reply.content.iter_any():
                witness.resume()
                witness.got(chunk)
                piece = translator.feed(chunk)
                if piece:
                    entry.last = time.monotonic()
                    entry.end = (entry.end + piece[-_EVENT_END:])[-_EVENT_END:]
                    await self._write(call, piece)
                witness.pause()
            witness.resume()
            rest = translator.close()
        except (aiohttp.ClientError, TimeoutError) as error:
            witness.resume()
            if _left(call.http):
                witness.used(translator.usage)
                return
            rest = translator.fail(_broken(call, error))
        finally:
            self._open.discard(entry)
        witness.used(translator.usage)
        witness.failed(translator.error)
        await self._write(call, rest, last=True)
        self._keep(call, exchange)

    async def _opening(
        self,
        call: Call,
        exchange: Exchange,
        reply: aiohttp.ClientResponse,
        translator: StreamTranslator,
        head: bytes,
    ) -> bytes | None:
        """What a stream begins with, held back for a moment: as long as nothing is said, a failure
        can be told as one, or made good by another target. None: it was told.
        """
        try:
            call.witness.pause()
            held = await until_told(reply, translator, head, call.witness.got)
            call.witness.resume()
        except (aiohttp.ClientError, TimeoutError) as error:
            raise Unreachable(_broken(call, error)) from None
        failure = translator.error
        told_inside = get_protocol(call.protocol).SURFACE.streamed_errors
        if failure is None or translator.told or failure.kind in told_inside:
            return held
        if (failure.status or _BAD_GATEWAY) in _ELSEWHERE:
            raise Unreachable(failure)
        call.witness.failed(failure)
        self._keep(call, exchange)
        await call.sink.whole(whole(call, exchange.error(failure)))
        return None

    async def _write(self, call: Call, data: bytes, *, last: bool = False) -> None:
        """The next piece of a stream."""
        if call.framing is not None:
            data = call.framing.feed(data) + (call.framing.close() if last else b"")
        call.witness.told(data)
        call.witness.pause()
        if data:
            await call.sink.write(data)
        if last:
            await call.sink.end()
        call.witness.resume()

    async def _begin(self, call: Call, exchange: Exchange) -> None:
        """The head of a stream."""
        surface = get_protocol(call.protocol).SURFACE
        headers = {
            "Content-Type": call.framing.media_type if call.framing else surface.stream_type,
            "Cache-Control": "no-cache",
            **_marks(call, exchange.receipt),
            **self.guard.standing(call.holder),
        }
        call.witness.answers(200, headers)
        self.observer.stream_began(call.witness.seen)
        await call.sink.begin(headers)

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


async def _with_past(
    call: Call, exchange: Exchange, provider: str
) -> tuple[bytes, Mapping[str, Any]]:
    return (call.body, {}) if call.past is None else await call.past.ask(exchange, provider)


# --- answers --------------------------------------------------------------------------------------


def whole(call: Call, answer: Answer) -> Whole:
    """An answer that is not streamed."""
    receipt = call.exchange.receipt if call.exchange else Receipt()
    told = {name: value for name, value in answer.headers.items() if _tells(name)}
    data = answer.data
    if call.framing is not None and answer.status < _FIRST_ERROR:
        data = call.framing.whole(data)
    headers = {**told, "Content-Type": _JSON, **_marks(call, receipt)}
    call.witness.answers(answer.status, headers)
    call.witness.told(data)
    return Whole(data=data, status=answer.status, headers=headers)


def _conversation(call: Call) -> bytes:
    """What is the same for all requests of a conversation."""
    headers = call.http.headers
    named = next((headers[name] for name in _SESSIONS if headers.get(name)), "")
    return named.encode() or call.body[:_AFFINITY]


def _tells(header: str) -> bool:
    """Whether a client acts on a header of a provider."""
    return header in _TELLING or "ratelimit" in header


def refused(call: Call, error: ApiError) -> Whole:
    """An error of our own, in the client's protocol."""
    codec = get_protocol(call.protocol)
    wire = codec.encode_response(error, Context(target=codec.SURFACE))
    return whole(call, Answer(data=wire.data(), status=wire.status, headers=wire.headers))


def _marks(call: Call, receipt: Receipt) -> dict[str, str]:
    marks = {"x-request-id": call.id}
    if receipt:
        counts = " ".join(f"{name}={count}" for name, count in receipt.counts().items() if count)
        marks["x-toolglot-receipt"] = f"{counts}; {','.join(receipt.codes())}"
    if call.target is not None:
        marks["x-toolglot-provider"] = call.target.name
    return marks


def _passed(call: Call, exchange: Exchange) -> Mapping[str, str]:
    """The client's headers that mean something to the provider."""
    if exchange.provider != call.protocol:
        return {}
    names = get_protocol(call.protocol).SURFACE.headers
    return {name: call.http.headers[name] for name in names if name in call.http.headers}


def _left(request: web.Request) -> bool:
    """Whether the client hung up."""
    return request.transport is None or request.transport.is_closing()


# --- errors of our own ----------------------------------------------------------------------------


def _unknown_model(model: str) -> ApiError:
    hint = "no route matches it; see GET /v1/models, or ask for provider/model"
    return ApiError(kind="not_found", message=f"model {model!r}: {hint}", status=404)


def _bad_request(message: str) -> ApiError:
    return ApiError(kind="invalid_request", message=message, status=400)


def _broken(call: Call, error: BaseException) -> ApiError:
    name = call.target.name if call.target else ""
    if isinstance(error, TimeoutError):
        return ApiError(kind="timeout", message=f"provider {name} fell silent", status=504)
    why = str(error) or type(error).__name__
    return ApiError(kind="server", message=f"provider {name} broke off: {why}", status=502)


def _garbage(call: Call, error: DecodeError) -> ApiError:
    name = call.target.name if call.target else ""
    message = f"provider {name} answered with something else than its protocol: {error}"
    return ApiError(kind="server", message=message, status=502)
