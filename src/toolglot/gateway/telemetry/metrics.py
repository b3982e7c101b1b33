"""The metrics of one worker process, as `GET /metrics` shows them to Prometheus."""

from typing import Final

from toolglot.gateway.telemetry.prometheus import (
    MICROSECONDS,
    SECONDS,
    BoundedLabel,
    Counter,
    Gauge,
    Histogram,
    Registry,
)
from toolglot.gateway.telemetry.request_record import TOKEN_KINDS, RequestRecord

BREAKER_STATES: Final = ("closed", "half-open", "open")

_ROUTE: Final = ("client", "provider")


class Metrics:
    """Counters, gauges and histograms of requests. The first `models` models have a label."""

    def __init__(self, *, worker: str = "0", models: int = 200) -> None:
        self._models = BoundedLabel(models)
        self._requests = Counter(
            "toolglot_requests_total", "Requests that were answered.", *_ROUTE, "model", "status"
        )
        self._tokens = Counter(
            "toolglot_tokens_total", "Tokens that providers reported.", "provider", "model", "kind"
        )
        self._notes = Counter("toolglot_notes_total", "Notes in receipts.", "code")
        self._retries = Counter("toolglot_retries_total", "Repeated attempts.", "provider")
        self._mended = Counter(
            "toolglot_mended_requests_total",
            "Requests that were changed and sent again after a refusal.",
            "provider",
            "refusal",
        )
        self._first_byte = Histogram(
            "toolglot_first_byte_seconds",
            "From the request to the first byte of its response.",
            *_ROUTE,
            bounds=SECONDS,
        )
        self._duration = Histogram(
            "toolglot_request_seconds",
            "From the request to the end of its response.",
            *_ROUTE,
            bounds=SECONDS,
        )
        self._overhead = Histogram(
            "toolglot_overhead_seconds",
            "The part of that which the gateway itself took.",
            *_ROUTE,
            bounds=MICROSECONDS,
        )
        self._open_requests = Gauge("toolglot_open_requests", "Requests in progress.", "client")
        self._open_streams = Gauge("toolglot_open_streams", "Streams in progress.", "client")
        self._breaker = Gauge(
            "toolglot_breaker_state", "1 for the state of a breaker.", "upstream", "state"
        )
        self.registry = Registry(
            self._requests,
            self._tokens,
            self._notes,
            self._retries,
            self._mended,
            self._first_byte,
            self._duration,
            self._overhead,
            self._open_requests,
            self._open_streams,
            self._breaker,
            worker=worker,
        )

    def request_started(self, record: RequestRecord) -> None:
        """Count a request in progress."""
        self._open_requests.add(1, record.client)

    def stream_started(self, record: RequestRecord) -> None:
        """Count a stream in progress."""
        self._open_streams.add(1, record.client)

    def request_ended(self, record: RequestRecord) -> None:
        """Count a request whose response is complete, or will never be."""
        client, provider, model = record.client, record.provider, self._models.label(record.model)
        self._open_requests.add(-1, client)
        if record.stream:
            self._open_streams.add(-1, client)
        self._requests.add(1, client, provider, model, str(record.status))
        self._duration.observe(record.duration, client, provider)
        self._overhead.observe(record.overhead, client, provider)
        if record.time_to_first_byte is not None:
            self._first_byte.observe(record.time_to_first_byte, client, provider)
        if record.retries:
            self._retries.add(record.retries, provider)
        if record.mended:
            self._mended.add(1, provider, record.mended)
        notes, tokens, usage = self._notes.values, self._tokens.values, record.usage
        for note in record.receipt.notes:
            notes[(note.code,)] += 1
        if usage is not None:
            for kind in TOKEN_KINDS:
                if count := getattr(usage, kind):
                    tokens[provider, model, kind] += count

    def set_breaker(self, upstream: str, state: str) -> None:
        """Show that the breaker of a provider is `closed`, `half-open` or `open`."""
        for each in BREAKER_STATES:
            self._breaker.set(int(each == state), upstream, each)

    def text(self) -> str:
        """All metrics, as Prometheus reads them."""
        return self.registry.text()
