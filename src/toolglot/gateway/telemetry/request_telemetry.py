"""What is seen of one request: for metrics, logs, traces, the ledger and recordings."""

from collections.abc import Iterator, Mapping
from logging import DEBUG
from time import perf_counter
from typing import Any, Final

import aiohttp
from yarl import URL

from toolglot.exchange import Exchange
from toolglot.gateway.http.client import OutboundRequest
from toolglot.gateway.telemetry.logs import LOGGER
from toolglot.gateway.telemetry.metrics import Observation, Observer
from toolglot.gateway.telemetry.recorder import Meta, Recorder, Recording, options_to_json
from toolglot.gateway.telemetry.tool_log import answer_calls, call_report, log_lines
from toolglot.ir import ApiError, StopReason, Usage
from toolglot.receipt import Receipt

_OUR_FAULT: Final = 500


class RequestTelemetry:
    """Watches one request from its first byte to the last of its answer."""

    __slots__ = ("_answer", "_exchange", "_recorder", "_waiting", "observer", "recording", "seen")

    def __init__(self, observer: Observer, recorder: Recorder | None, seen: Observation) -> None:
        self.observer = observer
        self.seen = seen
        self.recording: Recording | None = None
        self._recorder = recorder
        self._waiting = Waiting()
        self._exchange: Exchange | None = None
        self._answer: tuple[list[bytes], list[bytes]] | None = None
        if LOGGER.isEnabledFor(DEBUG):
            self._answer = [], []

    def waiting(self) -> "Waiting":
        """Stands around whatever waits for the provider or for the client: `with
        telemetry.waiting():`. All other time is ours.
        """
        return self._waiting

    # --- the provider -----------------------------------------------------------------------------

    def translates(self, exchange: Exchange) -> None:
        """The request is about to be translated for a target."""
        self._exchange = exchange

    @property
    def receipt(self) -> Receipt:
        """What was changed for the target that was asked last, and in its answer."""
        return self._exchange.receipt if self._exchange is not None else Receipt()

    def asks(
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
        """A provider is about to be asked."""
        seen = self.seen
        seen.provider, seen.protocol, seen.model = provider, exchange.provider, model
        if seen.trace:
            address = URL(sent.url)
            seen.address, seen.port = address.host or "", address.port
        if self._recorder is None:
            return
        if self.recording is None:
            meta = Meta(
                request_id=seen.request_id,
                client=exchange.client,
                provider=exchange.provider,
                path=path,
                model=seen.asked_model,
                stream=stream,
            )
            self.recording = self._recorder.begin(meta)
            self.recording.client_request(body)
        options = options_to_json(exchange.options)
        self.recording.turn_to(exchange.provider, options, exchange.now)
        self.recording.continues(asked, echo, exchange.supplied)
        self.recording.upstream_request(sent.data or b"", sent.url, sent.headers)

    def replied(self, reply: aiohttp.ClientResponse) -> None:
        """A provider begins to answer."""
        if self.recording is not None:
            self.recording.upstream_response(reply.status, reply.headers)

    def got(self, data: bytes) -> None:
        """Bytes of the provider."""
        if self._answer is not None:
            self._answer[0].append(data)
        if self.recording is not None:
            self.recording.upstream_chunk(data)

    # --- the client -------------------------------------------------------------------------------

    def answers(self, status: int, headers: Mapping[str, str]) -> None:
        """The client's answer begins."""
        self.seen.status = status
        if self.seen.first_byte is None:
            self.seen.first_byte = perf_counter()
        if self.recording is not None:
            self.recording.client_response(status, headers)

    def told(self, data: bytes) -> None:
        """Bytes for the client."""
        if self._answer is not None:
            self._answer[1].append(data)
        if self.recording is not None:
            self.recording.client_chunk(data)

    def used(self, usage: Usage | None, stops: tuple[StopReason, ...] = ()) -> None:
        """What the provider says that it cost, and why it stopped."""
        self.seen.usage = usage
        self.seen.finish_reasons = tuple(stop.kind for stop in stops)

    def again(self) -> None:
        """The provider is asked once more."""
        self.seen.retries += 1

    def trace_headers(self) -> dict[str, str]:
        """The headers that let a provider join the trace."""
        return self.observer.upstream_headers(self.seen)

    def streams(self) -> None:
        """The answer comes as a stream."""
        self.observer.stream_began(self.seen)

    def failed(self, error: ApiError | None) -> None:
        """What went wrong."""
        if error is not None:
            self.seen.error = error.kind

    def breaks(self) -> ApiError:
        """We failed ourselves; what is written down of it."""
        if self.seen.first_byte is None:
            self.seen.status = _OUR_FAULT
        return ApiError(kind="server", message="toolglot itself failed", status=_OUR_FAULT)

    def ends(self, error: ApiError | None = None) -> Receipt:
        """The answer is complete, or will never be; what was changed in all."""
        seen, receipt = self.seen, self.receipt
        self.failed(error)
        seen.receipts.append(receipt)
        seen.waited = self._waiting.seconds
        if self.recording is not None:
            self.recording.end(receipt, error)
        self.observer.end(seen)
        log_lines(seen.request_id, self._call_lines())
        return receipt

    def _call_lines(self) -> Iterator[str]:
        """How the calls of the answer changed on their way to the client."""
        if self._answer is None or not self.seen.protocol or self.seen.error:
            return
        got, told = (b"".join(pieces) for pieces in self._answer)
        stream = self.seen.stream
        yield from call_report(
            answer_calls(got, self.seen.protocol, stream=stream),
            answer_calls(told, self.seen.client, stream=stream),
        )


class Waiting:
    """Adds up the time inside `with` blocks; one inside another counts once."""

    __slots__ = ("_depth", "_since", "_waited")

    def __init__(self) -> None:
        self._depth = 0
        self._since = 0.0
        self._waited = 0.0

    def __enter__(self) -> None:
        if not self._depth:
            self._since = perf_counter()
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if not self._depth:
            self._waited += perf_counter() - self._since

    @property
    def seconds(self) -> float:
        """All of it so far."""
        return self._waited + (perf_counter() - self._since if self._depth else 0.0)
