"""Seeing what the gateway does: one `Observation` per request feeds metrics, logs and traces.

observation = observer.begin(request_id="req_1", client="anthropic", headers=request.headers)
…the relay fills in what it learns…
observer.end(observation)
"""

from collections.abc import Mapping
from logging import INFO, WARNING
from time import perf_counter
from typing import Any, Final

from msgspec import Struct

from toolglot.gateway.telemetry.logs import FIELDS, LOGGER
from toolglot.gateway.telemetry.prometheus import (
    MICROSECONDS,
    SECONDS,
    Bounded,
    Counter,
    Gauge,
    Histogram,
    Registry,
)
from toolglot.gateway.telemetry.tracing import NO_TRACING, Tracing
from toolglot.ir import Json, Usage
from toolglot.receipt import Receipt

BREAKER_STATES: Final = ("closed", "half-open", "open")
_KINDS: Final = ("input", "cache_read", "cache_write", "output", "reasoning")
_SERVER_ERROR: Final = 500


class Observation(Struct, kw_only=True):
    """What is known of one request. Times are readings of `perf_counter`."""

    request_id: str
    client: str
    """The protocol that the client speaks."""

    started: float
    key_id: str = ""
    """Which of the gateway's own keys was used: its id, never the key."""

    asked_model: str = ""
    provider: str = ""
    """The provider's name in the configuration."""

    protocol: str = ""
    """The protocol that the provider speaks."""

    model: str = ""
    """The model that the provider was asked for."""

    response_model: str = ""
    address: str = ""
    port: int | None = None
    stream: bool = False
    status: int = 0
    error: str = ""
    """The kind of the error, if it ended in one: `rate_limit`, `timeout`, …"""

    first_byte: float | None = None
    waited: float | None = None
    """Seconds spent waiting for the provider or the client; the rest is ours."""

    usage: Usage | None = None
    finish_reasons: tuple[str, ...] = ()
    receipts: list[Receipt] = []
    retries: int = 0
    trace: Any = None
    """The span, if there is one."""

    def codes(self) -> dict[str, int]:
        """How many notes of each code, in all receipts."""
        found: dict[str, int] = {}
        for receipt in self.receipts:
            for note in receipt.notes:
                found[note.code] = found.get(note.code, 0) + 1
        return found


class Observer:
    """Metrics, logs and traces of one worker process."""

    def __init__(
        self, *, worker: str = "0", tracing: Tracing = NO_TRACING, models: int = 200
    ) -> None:
        self.tracing = tracing
        self._models = Bounded(models)
        route = ("client", "provider")
        self.requests = Counter(
            "toolglot_requests_total", "Requests that were answered.", *route, "model", "status"
        )
        self.tokens = Counter(
            "toolglot_tokens_total", "Tokens that providers reported.", "provider", "model", "kind"
        )
        self.notes = Counter("toolglot_notes_total", "Notes in receipts.", "code")
        self.retries = Counter("toolglot_retries_total", "Repeated attempts.", "provider")
        self.first_byte = Histogram(
            "toolglot_first_byte_seconds",
            "From the request to the first byte of its answer.",
            *route,
            bounds=SECONDS,
        )
        self.duration = Histogram(
            "toolglot_request_seconds",
            "From the request to the end of its answer.",
            *route,
            bounds=SECONDS,
        )
        self.overhead = Histogram(
            "toolglot_overhead_seconds",
            "What the gateway itself took of that.",
            *route,
            bounds=MICROSECONDS,
        )
        self.open_requests = Gauge("toolglot_open_requests", "Requests in progress.", "client")
        self.open_streams = Gauge("toolglot_open_streams", "Streams in progress.", "client")
        self.breaker = Gauge(
            "toolglot_breaker_state", "1 for the state of a breaker.", "upstream", "state"
        )
        self.registry = Registry(
            self.requests,
            self.tokens,
            self.notes,
            self.retries,
            self.first_byte,
            self.duration,
            self.overhead,
            self.open_requests,
            self.open_streams,
            self.breaker,
            worker=worker,
        )

    def begin(
        self, *, request_id: str, client: str, headers: Mapping[str, str] | None = None
    ) -> Observation:
        """A request came in, with these headers in lower case."""
        observation = Observation(request_id=request_id, client=client, started=perf_counter())
        self.open_requests.add(1, client)
        observation.trace = self.tracing.begin(headers or {})
        return observation

    def stream_began(self, observation: Observation) -> None:
        """Its answer comes as a stream."""
        if not observation.stream:
            observation.stream = True
            self.open_streams.add(1, observation.client)

    def upstream_headers(self, observation: Observation) -> dict[str, str]:
        """The headers that let a provider join the trace."""
        return self.tracing.headers(observation)

    def breaker_changed(self, upstream: str, state: str) -> None:
        """A breaker is now `closed`, `half-open` or `open`."""
        for each in BREAKER_STATES:
            self.breaker.set(int(each == state), upstream, each)

    def end(self, observation: Observation) -> None:
        """The answer is complete, or will never be."""
        seconds = perf_counter() - observation.started
        codes = observation.codes()
        self._measure(observation, seconds, codes)
        self.tracing.end(observation)
        self._log(observation, seconds, codes)

    def _measure(self, seen: Observation, seconds: float, codes: Mapping[str, int]) -> None:
        client, provider, model = seen.client, seen.provider, self._models.label(seen.model)
        self.open_requests.add(-1, client)
        if seen.stream:
            self.open_streams.add(-1, client)
        self.requests.add(1, client, provider, model, str(seen.status))
        self.duration.observe(seconds, client, provider)
        if seen.first_byte is not None:
            self.first_byte.observe(seen.first_byte - seen.started, client, provider)
        if seen.waited is not None:
            self.overhead.observe(max(0.0, seconds - seen.waited), client, provider)
        if seen.retries:
            self.retries.add(seen.retries, provider)
        for code, count in codes.items():
            self.notes.add(count, code)
        if seen.usage is not None:
            for kind in _KINDS:
                if count := getattr(seen.usage, kind):
                    self.tokens.add(count, provider, model, kind)

    def _log(self, seen: Observation, seconds: float, codes: Mapping[str, int]) -> None:
        level = WARNING if seen.status >= _SERVER_ERROR or seen.error else INFO
        if LOGGER.isEnabledFor(level):
            fields = log_fields(seen, seconds, codes)
            # Made here because `LOGGER.log` would first look for its caller, which takes longer.
            record = LOGGER.makeRecord(LOGGER.name, level, __file__, 0, "request", (), None)
            setattr(record, FIELDS, fields)
            LOGGER.handle(record)


def log_fields(seen: Observation, seconds: float, codes: Mapping[str, int]) -> Json:
    """What a log line says of a request; what is not known is left out."""
    fields: Json = {
        "request_id": seen.request_id,
        "key": seen.key_id,
        "client": seen.client,
        "asked_model": seen.asked_model,
        "provider": seen.provider,
        "protocol": seen.protocol,
        "model": seen.model,
        "stream": seen.stream,
        "status": seen.status,
        "error": seen.error,
        "ms": _ms(seconds),
        "first_byte_ms": _ms(seen.first_byte - seen.started) if seen.first_byte else None,
        "overhead_ms": _ms(seconds - seen.waited) if seen.waited is not None else None,
        "tokens": _token_fields(seen.usage) if seen.usage else None,
        "notes": dict(codes),
        "retries": seen.retries,
        "trace_id": seen.trace.trace_id if seen.trace else None,
    }
    return {name: value for name, value in fields.items() if value or name == "status"}


def _token_fields(usage: Usage) -> Json:
    counts = {kind: getattr(usage, kind) for kind in _KINDS}
    return {"prompt": usage.prompt} | {kind: n for kind, n in counts.items() if n is not None}


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 2)
