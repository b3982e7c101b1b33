"""What happens to requests, reported to metrics, logs, traces and recordings.

telemetry = Telemetry(recorder=Recorder("recordings"))
request = telemetry.start_request("req_1", "anthropic", headers)
with request.waiting():
    …                       # whatever the gateway only waits for
request.end()
"""

from collections.abc import Callable, Iterator, Mapping
from logging import DEBUG
from time import perf_counter
from typing import Any, Final
from urllib.parse import urlsplit

from toolglot.exchange import Exchange
from toolglot.gateway.http.client import OutboundRequest
from toolglot.gateway.telemetry.captures import Capture, CapturedAttempt, Captures
from toolglot.gateway.telemetry.logs import LOGGER, log_request
from toolglot.gateway.telemetry.metrics import Metrics
from toolglot.gateway.telemetry.recorder import Meta, Recorder, Recording
from toolglot.gateway.telemetry.request_record import RequestRecord
from toolglot.gateway.telemetry.tool_log import call_differences, log_lines, read_calls
from toolglot.gateway.telemetry.tracing import NO_TRACING, Tracing
from toolglot.gateway.telemetry.waiting import WaitingTime
from toolglot.http1.client_connection import Reply
from toolglot.ir import ApiError, StopReason, Usage
from toolglot.receipt import Receipt

_INTERNAL_ERROR: Final = 500
_PORTS: Final = {"http": 80, "https": 443}


class Telemetry:
    """Metrics, traces and recordings of one worker process."""

    def __init__(
        self,
        *,
        metrics: Metrics | None = None,
        tracing: Tracing = NO_TRACING,
        recorder: Recorder | None = None,
        captures: Captures | None = None,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self.metrics = metrics or Metrics()
        self.tracing = tracing
        self.recorder = recorder
        self.captures = captures
        self.clock = clock

    def start_request(
        self, request_id: str, client: str, headers: Mapping[str, str] | None = None
    ) -> "RequestTelemetry":
        """Begin to follow a request that came in with these headers, in lower case."""
        record = RequestRecord(request_id=request_id, client=client, started=self.clock())
        record.trace = self.tracing.start(headers or {})
        self.metrics.request_started(record)
        return RequestTelemetry(self, record)

    def end_request(self, record: RequestRecord) -> None:
        """Report a request that has ended."""
        self.metrics.request_ended(record)
        self.tracing.end(record)
        log_request(record)

    def close(self) -> None:
        """Send and write all that is still held in memory."""
        self.tracing.close()
        if self.recorder is not None:
            self.recorder.close()


class RequestTelemetry:
    """Follows one request from its first byte to the last of its response."""

    __slots__ = (
        "_body",
        "_capture",
        "_complete",
        "_exchange",
        "_mending",
        "_recording",
        "_telemetry",
        "_waiting",
        "record",
    )

    def __init__(self, telemetry: Telemetry, record: RequestRecord) -> None:
        self.record = record
        self._telemetry = telemetry
        self._waiting = WaitingTime(telemetry.clock)
        self._recording: Recording | None = None
        self._capture: Capture | None = None
        self._exchange: Exchange | None = None
        self._body: tuple[list[bytes], list[bytes]] | None = None
        """The response as received and as sent, where tool calls are logged."""
        if LOGGER.isEnabledFor(DEBUG):
            self._body = [], []
        self._complete = self._mending = False

    @property
    def shows_contents(self) -> bool:
        """Whether the log shows how tools and calls change, which takes time to find out."""
        return self._body is not None

    @property
    def wants_chunks(self) -> bool:
        """Whether it matters which bytes come and go: they are recorded, inspected or logged."""
        return self._capture is not None or self._body is not None or self._recording is not None

    def waiting(self) -> WaitingTime:
        """A context in which the provider or the client is waited for; it is not overhead."""
        return self._waiting

    def received(
        self,
        owner: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes,
        *,
        stream: bool,
    ) -> None:
        """The request was read; it belongs to this owner."""
        captures, record = self._telemetry.captures, self.record
        if captures is not None:
            self._capture = captures.start(
                owner=owner,
                request_id=record.request_id,
                protocol=record.client,
                path=path,
                model=record.asked_model,
                stream=stream,
                headers=headers,
                body=body,
            )

    # --- the provider -----------------------------------------------------------------------------

    def translating(self, exchange: Exchange) -> None:
        """The request is about to be translated for a target."""
        self._exchange, self._complete = exchange, False

    @property
    def receipt(self) -> Receipt:
        """What was changed for the target that was asked last, and in its response."""
        if self._complete:
            return self.record.receipt
        return self._exchange.receipt if self._exchange is not None else Receipt()

    def receipt_header(self) -> dict[str, str]:
        """The header that sums up the receipt, if anything was changed."""
        receipt = self.receipt
        if not receipt:
            return {}
        counts = " ".join(f"{name}={n}" for name, n in receipt.counts().items() if n)
        return {"x-toolglot-receipt": f"{counts}; {','.join(receipt.codes())}"}

    def upstream_request(
        self,
        exchange: Exchange,
        *,
        provider: str,
        model: str,
        sent: OutboundRequest,
        path: str,
        body: bytes,
        stream: bool,
        asked: bytes,
        echo: Mapping[str, Any],
    ) -> None:
        """A request is about to be sent to a provider."""
        record, recorder = self.record, self._telemetry.recorder
        record.provider, record.protocol, record.model = provider, exchange.provider, model
        record.sent = True
        if record.trace:
            address = urlsplit(sent.url)
            record.address, record.port = (
                address.hostname or "",
                address.port or _PORTS[address.scheme],
            )
        if self._capture is not None:
            self._capture.attempt(
                CapturedAttempt(
                    provider=provider,
                    protocol=exchange.provider,
                    model=model,
                    url=sent.url,
                    headers=sent.headers,
                    asked=asked,
                    body=sent.data or b"",
                    reason="mended" if self._mending else "first",
                    notes=len(exchange.notes),
                    translation=exchange.options,
                    echo=echo,
                    supplied=exchange.restored_state,
                    repairs=exchange.repairs,
                    now=exchange.now,
                    answer_id=exchange.answer_id,
                )
            )
            self._mending = False
        if recorder is None:
            return
        if self._recording is None:
            meta = Meta(
                request_id=record.request_id,
                client=exchange.client,
                provider=exchange.provider,
                path=path,
                model=record.asked_model,
                stream=stream,
            )
            self._recording = recorder.start(meta)
            self._recording.client_request(body)
        self._recording.translation(exchange)
        self._recording.continued_request(asked, echo, exchange.restored_state)
        self._recording.upstream_request(sent.data or b"", sent.url, sent.headers)

    def answered_here(self, provider: str, asked: bytes) -> None:
        """The built-in model answers."""
        self.record.provider = provider
        if self._capture is not None:
            self._capture.attempt(CapturedAttempt(provider=provider, asked=asked))

    def tried(self, status: int, words: str = "", body: bytes = b"") -> None:
        """What was sent last had no answer that can be delivered; status 0: none at all."""
        if self._capture is not None:
            self._capture.tried(status, words, body)

    def asked(self, provider: str) -> None:
        """A request that wants no answer of a model was sent to a provider."""
        self.record.provider, self.record.sent = provider, True

    def trace_headers(self) -> dict[str, str]:
        """The headers that let a provider join the trace."""
        return self._telemetry.tracing.upstream_headers(self.record)

    def retried(self) -> None:
        """The provider is asked once more."""
        self.record.retries += 1

    def mended(self, refusal: str) -> None:
        """The provider is asked once more, with a changed request."""
        self.record.mended, self._mending = refusal, True

    def upstream_response(self, reply: Reply) -> None:
        """A provider begins to respond."""
        if self._capture is not None:
            self._capture.answered(reply.status, reply.headers)
        if self._recording is not None:
            self._recording.upstream_response(reply.status, reply.headers)

    def upstream_chunk(self, data: bytes) -> None:
        """The provider sent these bytes of its response."""
        record = self.record
        record.received += len(data)
        record.received_lines += data.count(b"\n")
        if self._body is not None:
            self._body[0].append(data)
        if self._recording is not None:
            self._recording.upstream_chunk(data)
        if self._capture is not None:
            self._capture.upstream_chunk(data)

    # --- the client -------------------------------------------------------------------------------

    def client_response(self, status: int, headers: Mapping[str, str]) -> None:
        """The response to the client begins."""
        self.record.status = status
        if self.record.first_byte is None:
            self.record.first_byte = self._telemetry.clock()
        if self._recording is not None:
            self._recording.client_response(status, headers)
        if self._capture is not None:
            self._capture.client_response(status, headers)

    def stream_started(self) -> None:
        """The response to the client is a stream."""
        if not self.record.stream:
            self.record.stream = True
            self._telemetry.metrics.stream_started(self.record)

    def client_chunk(self, data: bytes) -> None:
        """These bytes are sent to the client."""
        if self._body is not None:
            self._body[1].append(data)
        if self._recording is not None:
            self._recording.client_chunk(data)
        if self._capture is not None:
            self._capture.client_chunk(data)

    # --- the outcome ------------------------------------------------------------------------------

    def completed(self, usage: Usage | None, stops: tuple[StopReason, ...] = ()) -> None:
        """The provider's response is complete, with the tokens that it counts."""
        record = self.record
        record.usage, record.receipt = usage, self.receipt
        record.finish_reasons = tuple([stop.kind for stop in stops])
        self._complete = True  # From now on nothing is changed.

    def failed(self, error: ApiError | None) -> None:
        """The request failed, if there is an error."""
        if error is not None:
            self.record.error = error.kind
            if self._capture is not None:
                self._capture.failed(error)

    def internal_error(self) -> ApiError:
        """The gateway itself failed; the error that is recorded."""
        if self.record.first_byte is None:
            self.record.status = _INTERNAL_ERROR
        return ApiError(kind="server", message="toolglot itself failed", status=_INTERNAL_ERROR)

    def end(self, error: ApiError | None = None) -> None:
        """The response is complete, or will never be."""
        record, receipt = self.record, self.receipt
        self.failed(error)
        record.receipt = receipt
        record.duration = self._telemetry.clock() - record.started
        record.waited = self._waiting.seconds
        if self._recording is not None:
            if self._exchange is not None:
                self._recording.meta.clock = tuple(self._exchange.clock_readings)
            self._recording.end(receipt, error)
        if self._capture is not None:
            self._capture.end(record, self._exchange.clock_readings if self._exchange else ())
        self._telemetry.end_request(record)
        if self._body is not None:
            log_lines(record.request_id, self._changed_calls())

    def _changed_calls(self) -> Iterator[str]:
        """How the tool calls of the response changed on their way to the client."""
        if self._body is None or not self.record.protocol or self.record.error:
            return
        received, sent = (b"".join(chunks) for chunks in self._body)
        stream = self.record.stream
        yield from call_differences(
            read_calls(received, self.record.protocol, stream=stream),
            read_calls(sent, self.record.client, stream=stream),
        )
