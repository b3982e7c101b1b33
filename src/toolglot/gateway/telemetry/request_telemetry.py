"""What is seen of one request: for metrics, logs, traces, the ledger and recordings."""

from collections.abc import Iterator, Mapping
from logging import DEBUG
from time import perf_counter
from typing import Final

import aiohttp
from msgspec.structs import replace
from yarl import URL

from toolglot.exchange import Exchange
from toolglot.gateway.http.client import Question
from toolglot.gateway.telemetry.logs import LOGGER
from toolglot.gateway.telemetry.metrics import Observation, Observer
from toolglot.gateway.telemetry.recorder import Meta, Recorder, Recording, options_to_json
from toolglot.gateway.telemetry.tool_log import answer_calls, call_report, log_lines
from toolglot.ir import ApiError, StopReason, Usage
from toolglot.receipt import Receipt

_OUR_FAULT: Final = 500


class Witness:
    """Watches one request from its first byte to the last of its answer."""

    __slots__ = ("_answer", "_ours", "_recorder", "_since", "observer", "recording", "seen")

    def __init__(self, observer: Observer, recorder: Recorder | None, seen: Observation) -> None:
        self.observer = observer
        self.seen = seen
        self.recording: Recording | None = None
        self._recorder = recorder
        self._ours = 0.0
        self._since = seen.started
        self._answer: tuple[list[bytes], list[bytes]] | None = None
        if LOGGER.isEnabledFor(DEBUG):
            self._answer = [], []

    # --- whose time it is -------------------------------------------------------------------------

    def pause(self) -> None:
        """From now on someone else is waited for."""
        self._ours += perf_counter() - self._since

    def resume(self) -> None:
        """From now on time is ours again."""
        self._since = perf_counter()

    # --- the provider -----------------------------------------------------------------------------

    def asks(
        self, question: Question, exchange: Exchange, *, path: str, body: bytes, stream: bool
    ) -> None:
        """A provider is about to be asked."""
        seen, upstream = self.seen, question.upstream
        seen.provider, seen.protocol, seen.model = upstream.name, question.protocol, question.model
        if not seen.trace and self._recorder is None:
            return
        url = upstream.url(question.protocol, question.sent.path, question.model)
        if seen.trace:
            address = URL(url)
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
        self.recording.continues(question.asked, question.echo, exchange.restored_state)
        self.recording.upstream_request(question.sent.data, url, upstream.headers(None))

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

    def traced(self, question: Question) -> Question:
        """The question with what lets its provider join the trace."""
        headers = self.observer.upstream_headers(self.seen)
        return replace(question, headers={**question.headers, **headers}) if headers else question

    def failed(self, error: ApiError | None) -> None:
        """What went wrong."""
        if error is not None:
            self.seen.error = error.kind

    def breaks(self) -> ApiError:
        """We failed ourselves; what is written down of it."""
        if self.seen.first_byte is None:
            self.seen.status = _OUR_FAULT
        return ApiError(kind="server", message="toolglot itself failed", status=_OUR_FAULT)

    def ends(self, receipt: Receipt, error: ApiError | None = None) -> None:
        """The answer is complete, or will never be."""
        self.pause()
        seen = self.seen
        self.failed(error)
        seen.receipts.append(receipt)
        seen.waited = max(0.0, perf_counter() - seen.started - self._ours)
        if self.recording is not None:
            self.recording.end(receipt, error)
        self.observer.end(seen)
        log_lines(seen.request_id, self._call_lines())

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
