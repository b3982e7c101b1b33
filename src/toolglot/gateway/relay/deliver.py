"""The way back: what a provider answers, carried to the client as it comes.

Until the first byte is on its way to the client, a failure is `Unreachable`, and another target may
do better. After that, what goes wrong is told in the stream, in the client's own protocol.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import aiohttp
from aiohttp import web
from msgspec import Struct, field

from toolglot import demo
from toolglot.errors import DecodeError
from toolglot.exchange import Answer, Exchange
from toolglot.gateway.access.access_control import AccessControl
from toolglot.gateway.http.client import Unreachable
from toolglot.gateway.http.writers import Sink
from toolglot.gateway.relay.first_event import head_of, looks_streamed, until_told
from toolglot.gateway.relay.incoming import Call, whole
from toolglot.gateway.state.kept_reasoning import KeptReasoning
from toolglot.ir import ApiError, Response
from toolglot.registry import get_protocol
from toolglot.streams import StreamTranslator

ELSEWHERE: Final = frozenset({401, 402, 403, 404, 408, 429, 500, 502, 503, 504, 529})
"""Statuses after which another target may do better."""

_STREAMS: Final = ("text/event-stream", "application/x-ndjson")
_FIRST_ERROR: Final = 400
_BAD_GATEWAY: Final = 502
_EVENT_ENDS: Final = (b"\n\n", b"\r\n\r\n", b"\r\r")
_EVENT_END: Final = 4


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


class Replies:
    """Carries answers to clients. `keep` lets the receipt of one be asked for."""

    def __init__(
        self,
        access: AccessControl,
        keep: Callable[[Call, Exchange], None],
        memory: KeptReasoning | None = None,
    ) -> None:
        self._memory = memory
        self._access = access
        self._keep = keep
        self._open: set[_Open] = set()

    async def keep_alive(self, patience: Callable[[], float]) -> None:
        """Tell clients whose provider is silent that their stream lives."""
        while True:
            seconds = patience()
            await asyncio.sleep(min(1.0, seconds))
            late = time.monotonic() - seconds
            for each in tuple(self._open):
                if each in self._open and each.last < late and each.whole and each.drained:
                    each.last = time.monotonic()
                    with suppress(ConnectionError):
                        await each.sink.write(each.sign)

    async def carry(self, call: Call, exchange: Exchange, reply: aiohttp.ClientResponse) -> None:
        """Carry a provider's answer, in the form that the client asked for."""
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
        call.witness.upstream_chunk(body)
        if wanted:
            await self._unfold(call, exchange, body)
            return
        try:
            answer = exchange.response(
                body, status=reply.status, headers=reply.headers, stream=call.stream
            )
        except DecodeError as error:
            raise Unreachable(_garbage(call, error)) from None
        call.witness.completed(answer.usage, answer.stops)
        self._keep(call, exchange)
        await self._remember(call)
        if answer.failed is None:
            await call.sink.whole(whole(call, answer))
            return
        call.witness.failed(answer.failed)
        await self._begin(call, exchange)
        await self._write(call, answer.data, last=True)

    async def say(self, call: Call, exchange: Exchange, answer: Response) -> None:
        """Carry an answer that no provider gave."""
        codec, ctx = get_protocol(call.protocol), exchange.answer_context()
        stops = tuple(choice.stop for choice in answer.choices if choice.stop is not None)
        call.witness.completed(answer.usage, stops)
        if not call.stream:
            wire = codec.encode_response(answer, ctx)
            await call.sink.whole(whole(call, Answer(data=wire.data(), status=wire.status)))
            return
        await self._begin(call, exchange)
        encoder = codec.StreamEncoder(ctx)
        for event in demo.events(answer):
            await self._write(call, encoder.encode(event))
        await self._write(call, encoder.close(), last=True)

    async def _unfold(self, call: Call, exchange: Exchange, body: bytes) -> None:
        """A whole answer to a client that asked for a stream."""
        try:
            answer = exchange.unfolded(body)
        except DecodeError as error:
            raise Unreachable(_garbage(call, error)) from None
        call.witness.completed(answer.usage, answer.stops)
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
                witness.upstream_chunk(chunk)
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
                witness.completed(translator.usage, translator.stops)
                return
            rest = translator.fail(_broken(call, error))
        finally:
            self._open.discard(entry)
        witness.completed(translator.usage, translator.stops)
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
            held = await until_told(reply, translator, head, call.witness.upstream_chunk)
            call.witness.resume()
        except (aiohttp.ClientError, TimeoutError) as error:
            raise Unreachable(_broken(call, error)) from None
        failure = translator.error
        told_inside = get_protocol(call.protocol).SURFACE.streamed_errors
        if failure is None or translator.told or failure.kind in told_inside:
            return held
        if (failure.status or _BAD_GATEWAY) in ELSEWHERE:
            raise Unreachable(failure)
        call.witness.failed(failure)
        self._keep(call, exchange)
        await call.sink.whole(whole(call, exchange.error(failure)))
        return None

    async def _write(self, call: Call, data: bytes, *, last: bool = False) -> None:
        """The next piece of a stream."""
        await self._remember(call)
        if call.framing is not None:
            data = call.framing.feed(data) + (call.framing.close() if last else b"")
        call.witness.client_chunk(data)
        call.witness.pause()
        if data:
            await call.sink.write(data)
        if last:
            await call.sink.end()
        call.witness.resume()

    async def _remember(self, call: Call) -> None:
        """Keep what the client may not give back, before it can ask again."""
        if self._memory is not None and call.exchange is not None:
            await self._memory.save(call, call.exchange)

    async def _begin(self, call: Call, exchange: Exchange) -> None:
        """The head of a stream."""
        surface = get_protocol(call.protocol).SURFACE
        headers = {
            "Content-Type": call.framing.media_type if call.framing else surface.stream_type,
            "Cache-Control": "no-cache",
            **call.marks(exchange.receipt),
            **self._access.rate_limit_headers(call.holder),
        }
        call.witness.client_response(200, headers)
        call.witness.stream_started()
        await call.sink.begin(headers)


def _left(request: web.Request) -> bool:
    """Whether the client hung up."""
    return request.transport is None or request.transport.is_closing()


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
