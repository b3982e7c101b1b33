"""Writing an answer: a provider's reply, forwarded to the client as it comes.

Until the first byte is on its way to the client, a failure is returned, and another target can be
tried. After that, a failure is reported in the stream, in the client's own protocol.
"""

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from toolglot import demo
from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.exchange import Answer, encode_stream
from toolglot.gateway import error_responses as errors
from toolglot.gateway.access.access_control import AccessControl
from toolglot.gateway.error_responses import FIRST_ERROR, FIRST_REDIRECT
from toolglot.gateway.http.json_response import JSON
from toolglot.gateway.http.response_writers import ResponseWriter, WholeResponse
from toolglot.gateway.incoming import IncomingRequest
from toolglot.gateway.relay.attempt import Attempt
from toolglot.gateway.relay.first_event import looks_streamed, read_beginning, read_head
from toolglot.gateway.relay.keep_alive import OpenStream, OpenStreams
from toolglot.gateway.relay.missing_path import NOT_FOUND, is_missing_path, wrong_base_url
from toolglot.gateway.relay.receipt_log import ReceiptLog
from toolglot.gateway.state.kept_reasoning import KeptReasoning
from toolglot.gateway.telemetry.logs import LOGGER
from toolglot.gateway.telemetry.request_telemetry import RequestTelemetry
from toolglot.http1.client_connection import Reply, ReplyError
from toolglot.http1.large_bodies import work_on
from toolglot.http1.server_response import StreamedHttpResponse
from toolglot.ir import ApiError, Response
from toolglot.registry import PROTOCOLS, get_protocol
from toolglot.streams import StreamTranslator
from toolglot.wire.sse import SseDecoder

_STREAMS: Final = frozenset(module.SURFACE.stream.media_type for module in PROTOCOLS.values())
_LINGER: Final = 0.7
"""Seconds for which a stream that could have ended may be silent."""
_LATE_EVENTS: Final = 3
"""Events that are waited for so long each; what comes later than that keeps nobody waiting."""
_EVENT_END: Final = b"\n\n"
_BROKEN: Final = (ReplyError, TimeoutError)
"""Exceptions that reading a reply can end in."""
_FORWARDED: Final = frozenset(
    {"retry-after", "retry-after-ms", "request-id", "x-should-retry"}
).union(*(module.API.answer_headers for module in PROTOCOLS.values()))
"""Headers of a provider on which clients act."""


class OpenedStream(Struct, frozen=True):
    """A stream whose beginning is valid, or has an error that the client should get."""

    translator: StreamTranslator
    held: bytes
    """What the client gets first."""
    refused: ApiError | None = None
    """The error that it consists of, if there was nothing before."""


class Outcomes(Struct, frozen=True):
    """Where all deliveries of a relay look up and leave what outlives them."""

    access: AccessControl
    memory: KeptReasoning | None
    receipts: ReceiptLog
    streams: OpenStreams


class Delivery:
    """Writes the answer to one request."""

    __slots__ = (
        "_early", "_most_bytes", "_most_receipts", "_outcomes", "_request", "_telemetry", "_writer",
    )  # fmt: skip

    def __init__(
        self,
        request: IncomingRequest,
        writer: ResponseWriter,
        telemetry: RequestTelemetry,
        outcomes: Outcomes,
        *,
        most_receipts: int,
        most_bytes: int,
    ) -> None:
        """`most_bytes` may an answer have which is not streamed."""
        self._request, self._writer, self._telemetry = request, writer, telemetry
        self._outcomes, self._most_receipts, self._most_bytes = outcomes, most_receipts, most_bytes
        self._early: OpenStream | None = None
        """The stream, if it began before there was an answer."""

    # --- before there is an answer ----------------------------------------------------------------

    def expect(self) -> None:
        """From now on the client waits."""
        stream = get_protocol(self._request.protocol).SURFACE.stream
        if self._request.stream and stream.keep_alive and self._writer.opens_early:
            self._outcomes.streams.expect(self)

    async def open_early(self) -> None:
        """Begin the stream with a keep-alive, since a client, or a proxy before it, may not wait
        for a head any longer. Other targets can still be tried: what is told is not an answer yet.
        """
        sign = get_protocol(self._request.protocol).SURFACE.stream.keep_alive
        self._early = early = OpenStream(self._writer, sign)
        early.wrote(_EVENT_END)
        await self._write_head(None)
        await self._writer.write(sign)
        self._outcomes.streams.add(early)

    def settled(self) -> None:
        """The client waits no longer: it gets an answer, or has left."""
        self._outcomes.streams.answered(self)
        if self._early is not None:
            self._outcomes.streams.discard(self._early)

    # --- a provider's reply -----------------------------------------------------------------------

    async def begin(self, attempt: Attempt, reply: Reply) -> OpenedStream | ApiError | None:
        """Read enough of a reply to know what it is. None: it was delivered whole. An error: it is
        unusable, and nothing of it was sent to the client.
        """
        exchange, telemetry = attempt.exchange, self._telemetry
        if FIRST_REDIRECT <= reply.status < FIRST_ERROR:
            return errors.redirected(attempt.target.name, reply.status)
        streams = reply.status < FIRST_ERROR and self._request.stream
        head = body = b""
        try:
            if not streams or reply.content_type not in _STREAMS:
                with telemetry.waiting():
                    head = await read_head(reply) if streams else b""
                    streams = streams and looks_streamed(
                        get_protocol(exchange.provider).SURFACE.stream.media_type, head
                    )
                    if not streams:
                        body = head + await reply.read(self._most_bytes)
            if streams:
                return await self._begin_stream(attempt, reply, head)
        except _BROKEN as error:
            return errors.broke_off(attempt.target.name, error)
        return await self._begin_whole(attempt, reply, body)

    async def _begin_whole(self, attempt: Attempt, reply: Reply, body: bytes) -> ApiError | None:
        exchange = attempt.exchange
        if attempt.target.upstream and (reply.status >= FIRST_ERROR or b"error" in body):
            body = attempt.target.upstream.keys.hidden(body)
        self._telemetry.upstream_chunk(body)
        missing = _missing_path(attempt, reply, body) if reply.status == NOT_FOUND else None
        if missing is not None:
            return missing
        try:
            if reply.status >= FIRST_ERROR and await self._recover(attempt, body):
                return None
            if reply.status < FIRST_ERROR and self._request.stream:
                answer = await work_on(len(body), exchange.unfolded, body)
            else:
                answer = await work_on(
                    len(body),
                    exchange.response,
                    body,
                    status=reply.status,
                    headers=reply.headers.lower,
                    stream=self._request.stream,
                )
        except DecodeError as error:
            return errors.not_an_answer(attempt.target.name, error)
        if reply.status < FIRST_ERROR and answer.error is not None:
            return answer.error
        await self._deliver_answer(attempt, answer, reply.status)
        return None

    async def _recover(self, attempt: Attempt, body: bytes) -> bool:
        """Deliver an error that has the text of a call as that call, if it is one."""
        if not attempt.target.mends:
            return False
        answer = attempt.exchange.recovered(body, stream=self._request.stream)
        if answer is None:
            return False
        await self._deliver_answer(attempt, answer, answer.status)
        return True

    async def _begin_stream(
        self, attempt: Attempt, reply: Reply, head: bytes
    ) -> OpenedStream | ApiError | None:
        """The beginning is held back for a moment: as long as nothing was sent, a failure can be
        reported with its status, or another target can be tried.
        """
        translator, seen = attempt.exchange.stream(), list[bytes]()

        def got(chunk: bytes) -> None:
            chunk = self._without_keys(attempt, translator, chunk)
            self._telemetry.upstream_chunk(chunk)
            seen.append(chunk)

        with self._telemetry.waiting():
            held = await read_beginning(reply, translator, head, got)
        failure = translator.error
        if failure is not None:
            held = self._without_keys(attempt, translator, held)
            words = self._without_keys(attempt, translator, failure.message.encode())
            failure = replace(failure, message=words.decode())
        refused = failure if translator.is_empty else None
        if refused is not None:
            for _, payload in SseDecoder().feed(b"".join(seen)):
                if await self._recover(attempt, payload):
                    return None
        in_stream = get_protocol(self._request.protocol).SURFACE.stream.errors_inside
        if failure is None or translator.has_output or failure.kind in in_stream:
            return OpenedStream(translator, held, refused)
        return failure

    async def stream(self, attempt: Attempt, reply: Reply, begun: OpenedStream) -> None:
        """The rest of a stream, piece by piece."""
        telemetry, translator, writer = self._telemetry, begun.translator, self._writer
        self._request = replace(self._request, body=b"")
        await self._begin_writing(attempt)
        open_stream = OpenStream(
            writer, get_protocol(self._request.protocol).SURFACE.stream.keep_alive
        )
        self._outcomes.streams.add(open_stream)
        try:
            await self._write_piece(attempt, open_stream, begun.held)
            if translator.ended:
                pass
            elif writer.direct is not None:
                await self._push(attempt, reply, translator, open_stream, writer.direct)
            else:
                await self._pull(attempt, reply, translator, open_stream)
            reply.release()
            rest = translator.close()
        except _BROKEN as error:
            if writer.closed:
                return
            rest = translator.fail(errors.broke_off(attempt.target.name, error))
        except ConnectionError:
            raise  # The client is gone.
        except Exception as problem:  # noqa: BLE001 - the client has to know that it was not all
            number = self._request.id
            LOGGER.error("request %s failed inside a stream", number, exc_info=problem)
            rest = translator.fail(errors.internal(number))
        finally:
            # Also when the client has left, which cancels this: what was used is charged.
            telemetry.completed(translator.usage, translator.stops)
            self._outcomes.streams.discard(open_stream)
        telemetry.failed(translator.error)
        self._keep_receipt(attempt)
        await self._write_last(attempt, self._without_keys(attempt, translator, rest))

    async def _push(
        self,
        attempt: Attempt,
        reply: Reply,
        translator: StreamTranslator,
        open_stream: OpenStream,
        direct: StreamedHttpResponse,
    ) -> None:
        """Write each piece in the callback in which it arrives: no task is woken for it, which
        would cost more than the translation. Only state that must be stored first is waited for.
        """
        telemetry, exchange, waiting = self._telemetry, attempt.exchange, self._telemetry.waiting()
        held, clock, wants_chunks = b"", waiting.clock, telemetry.wants_chunks
        expect_end = _expecting_end(reply, translator)

        def push(chunk: bytes) -> bool:
            nonlocal held
            began = clock()
            piece = translator.feed(chunk)
            if translator.error is not None:
                piece = self._without_keys(attempt, translator, piece)
                chunk = self._without_keys(attempt, translator, chunk)
            telemetry.upstream_chunk(chunk)
            if piece and exchange.has_kept_state:
                held = piece
            elif piece:
                if wants_chunks:
                    telemetry.client_chunk(piece)
                open_stream.wrote(piece)
                if not direct.write_now(piece):
                    reply.pause()
            waiting.worked(began)
            return not held and not expect_end()

        direct.on_resume(reply.resume)
        ended = False
        while not ended:
            with waiting:
                ended = await reply.forward(push)
            piece, held = held, b""
            await self._write_piece(attempt, open_stream, piece)
            ended = ended or translator.ended

    async def _pull(
        self,
        attempt: Attempt,
        reply: Reply,
        translator: StreamTranslator,
        open_stream: OpenStream,
    ) -> None:
        """The same where writing itself may wait."""
        telemetry, waiting = self._telemetry, self._telemetry.waiting()
        expect_end = _expecting_end(reply, translator)
        while not expect_end():
            with waiting:
                chunk = await reply.read_some()
            if not chunk:
                return
            piece = translator.feed(chunk)
            if translator.error is not None:
                piece = self._without_keys(attempt, translator, piece)
                chunk = self._without_keys(attempt, translator, chunk)
            telemetry.upstream_chunk(chunk)
            await self._write_piece(attempt, open_stream, piece)

    async def _write_piece(self, attempt: Attempt, open_stream: OpenStream, piece: bytes) -> None:
        if piece:
            if kept := attempt.exchange.kept_state():
                await self._keep_state(kept)
            self._telemetry.client_chunk(piece)
            open_stream.wrote(piece)
            with self._telemetry.waiting():
                await self._writer.write(piece)

    def _without_keys(self, attempt: Attempt, translator: StreamTranslator, data: bytes) -> bytes:
        """The bytes of a stream that failed, without our keys: some providers repeat them."""
        upstream = attempt.target.upstream
        if translator.error is None or upstream is None:
            return data
        return upstream.keys.hidden(data)

    # --- answers that are not streamed ------------------------------------------------------------

    async def respond(self, attempt: Attempt, response: Response) -> None:
        """An answer that no provider gave."""
        codec, ctx = get_protocol(self._request.protocol), attempt.exchange.answer_context()
        stops = tuple(choice.stop for choice in response.choices if choice.stop is not None)
        self._telemetry.completed(response.usage, stops)
        self._keep_receipt(attempt)
        if not self._request.stream:
            wire = codec.encode_response(response, ctx)
            await self._whole(attempt, Answer(data=wire.data(), status=wire.status))
            return
        await self._begin_writing(attempt)
        encoder = codec.StreamEncoder(ctx)
        for event in demo.events(response):
            data = encoder.encode(event)
            self._telemetry.client_chunk(data)
            if data:
                with self._telemetry.waiting():
                    await self._writer.write(data)
        await self._write_last(attempt, encoder.close())

    async def give_up(self, attempt: Attempt, error: ApiError) -> None:
        """Send the error after all attempts failed."""
        self._telemetry.failed(error)
        self._keep_receipt(attempt)
        if error.code in errors.OWN_CODES:
            wire = errors.render(error, self._request.protocol)
            answer = Answer(data=wire.data(), status=wire.status, headers=wire.headers)
        else:
            answer = attempt.exchange.error(error)
        await self._whole(attempt, answer, error)

    async def reject(self, error: ApiError) -> None:
        """Send the error of a request that was rejected."""
        self._telemetry.failed(error)
        wire = errors.render(error, self._request.protocol)
        answer = Answer(data=wire.data(), status=wire.status, headers=wire.headers)
        await self._whole(None, answer, error)

    async def _deliver_answer(self, attempt: Attempt, answer: Answer, status: int) -> None:
        telemetry = self._telemetry
        telemetry.completed(answer.usage, answer.stops)
        telemetry.failed(answer.failed)
        self._keep_receipt(attempt)
        if answer.failed is None and (status >= FIRST_ERROR or not self._request.stream):
            if attempt.exchange.has_kept_state:
                await self._keep_state(attempt.exchange.kept_state())
            await self._whole(attempt, answer, answer.error)
            return
        await self._begin_writing(attempt)
        await self._write_last(attempt, answer.data)

    # --- writing ----------------------------------------------------------------------------------

    async def _whole(
        self, attempt: Attempt | None, answer: Answer, error: ApiError | None = None
    ) -> None:
        self.settled()
        if self._early is not None and error is not None:
            protocol = self._request.protocol
            context = Context(target=get_protocol(protocol).SURFACE)
            await self._writer.write(encode_stream(error, protocol, context))
            await self._writer.end()
            return
        forwarded = {
            name: value
            for name, value in answer.headers.items()
            if name in _FORWARDED or "ratelimit" in name
        }
        headers = {**forwarded, "Content-Type": JSON, **self._own_headers(attempt)}
        self._telemetry.client_response(answer.status, headers)
        self._telemetry.client_chunk(answer.data)
        whole = WholeResponse(data=answer.data, status=answer.status, headers=headers)
        await self._writer.whole(whole)

    async def _begin_writing(self, attempt: Attempt) -> None:
        """The head of a stream, unless it was written early."""
        self.settled()
        if self._early is None:
            await self._write_head(attempt)

    async def _write_head(self, attempt: Attempt | None) -> None:
        headers = {
            "Content-Type": get_protocol(self._request.protocol).SURFACE.stream.media_type,
            "Cache-Control": "no-cache",
            **self._own_headers(attempt),
            **self._outcomes.access.rate_limit_headers(self._request.holder),
        }
        self._telemetry.client_response(200, headers)
        self._telemetry.stream_started()
        await self._writer.begin(headers)

    async def _write_last(self, attempt: Attempt, data: bytes) -> None:
        """The end of a stream."""
        await self._keep_state(attempt.exchange.kept_state())
        self._telemetry.client_chunk(data)
        with self._telemetry.waiting():
            if data:
                await self._writer.write(data)
            await self._writer.end()

    def _own_headers(self, attempt: Attempt | None) -> dict[str, str]:
        """The headers that the gateway adds to an answer."""
        headers = {"x-request-id": self._request.id, **self._telemetry.receipt_header()}
        if attempt is not None:
            headers["x-toolglot-provider"] = attempt.target.name
        return headers

    # --- what is stored ---------------------------------------------------------------------------

    async def _keep_state(self, kept: Mapping[str, str]) -> None:
        """Store what the client may not send back, before its next request."""
        memory = self._outcomes.memory
        if kept and memory is not None:
            await memory.save(self._request.owner, kept)

    def _keep_receipt(self, attempt: Attempt) -> None:
        request, exchange = self._request, attempt.exchange
        receipt = {
            "request_id": request.id,
            "client": request.protocol,
            "provider": attempt.target.name,
            "protocol": exchange.provider,
            "model": request.model,
            "notes": self._telemetry.receipt.notes,
        }
        self._outcomes.receipts.add(request.owner, request.id, receipt, self._most_receipts)


def _expecting_end(reply: Reply, translator: StreamTranslator) -> Callable[[], bool]:
    """What is called after each piece: whether the stream has ended. One that could have ended is
    not waited for long, even if its server does not hang up.
    """
    seen = late = 0

    def expect_end() -> bool:
        nonlocal seen, late
        if translator.ended:
            return True
        events = translator.could_end
        if events != seen:
            seen, late = events, late + 1 if events else 0
            if late <= _LATE_EVENTS:
                reply.end_within(_LINGER if events else None)
        return False

    expect_end()
    return expect_end


def _missing_path(attempt: Attempt, reply: Reply, body: bytes) -> ApiError | None:
    """The error of a provider that does not know the path; a model may be unknown instead."""
    upstream = attempt.target.upstream
    if upstream is None or not is_missing_path(reply.status, body):
        return None
    return wrong_base_url(upstream, attempt.exchange.provider, reply.url)
