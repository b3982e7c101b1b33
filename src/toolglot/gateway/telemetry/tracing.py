"""Traces: one span for each request, with the attributes of the conventions for generative AI.

https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-spans.md
(read 2026-11-15; status: development). Spans need the extra `otel` and an endpoint. Without them
the client's trace context (W3C `traceparent` and `tracestate`) is forwarded as it came.
"""

import re
from collections.abc import Iterator, Mapping
from time import time_ns
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from toolglot.errors import MissingExtraError
from toolglot.gateway.telemetry.request_record import RequestRecord

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

_TRACE_HEADERS: Final = ("traceparent", "tracestate")
_TRACEPARENT: Final = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-.*)?")
_OPERATION: Final = "chat"
_CLIENT_ERROR: Final = 400

_PROVIDER_NAMES: Final = {
    "azure": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "google": "gcp.gemini",
    "mistral": "mistral_ai",
    "moonshot": "moonshot_ai",
    "vertex": "gcp.vertex_ai",
    "xai": "x_ai",
}
"""Providers that have another name in the conventions."""


class Trace(Struct):
    """The trace that a request belongs to, and its span once that has begun."""

    headers: dict[str, str]
    started: int
    span: Any = None
    trace_id: str = ""


class Tracing:
    """No spans; the client's trace context is forwarded as it came."""

    def start(self, headers: Mapping[str, str]) -> Trace | None:
        """A request came in with these headers, in lower case."""
        found = _trace_headers(headers)
        return Trace(found, 0, trace_id=found["traceparent"].split("-")[1]) if found else None

    def upstream_headers(self, record: RequestRecord) -> dict[str, str]:
        """The trace context for the provider."""
        return record.trace.headers if record.trace else {}

    def end(self, record: RequestRecord) -> None:
        """The request has ended."""

    def close(self) -> None:
        """Send what has not been sent."""


NO_TRACING: Final = Tracing()


class OpenTelemetryTracing(Tracing):
    """A span for each request. It starts when the provider is known, so that samplers see it."""

    def __init__(self, provider: "TracerProvider") -> None:
        trace, context = _opentelemetry()
        self._provider = provider
        self._tracer = provider.get_tracer("toolglot")
        self._kind = trace.SpanKind.CLIENT
        self._failed = trace.StatusCode.ERROR
        self._in_span = trace.set_span_in_context
        self._propagator = context.TraceContextTextMapPropagator()

    def start(self, headers: Mapping[str, str]) -> Trace:
        return Trace(_trace_headers(headers), time_ns())

    def upstream_headers(self, record: RequestRecord) -> dict[str, str]:
        carrier: dict[str, str] = {}
        self._propagator.inject(carrier, self._in_span(self._span(record)))
        return carrier

    def end(self, record: RequestRecord) -> None:
        span = self._span(record)
        span.set_attributes(dict(_end_attributes(record)))
        if record.error or record.status >= _CLIENT_ERROR:
            span.set_status(self._failed)
        span.end()

    def close(self) -> None:
        self._provider.shutdown()

    def _span(self, record: RequestRecord) -> Any:
        trace: Trace = record.trace
        if trace.span is None:
            parent = self._propagator.extract(trace.headers)
            trace.span = self._tracer.start_span(
                f"{_OPERATION} {record.model or record.asked_model}".rstrip(),
                context=parent,
                kind=self._kind,
                attributes=dict(_start_attributes(record)),
                start_time=trace.started,
            )
            trace.trace_id = f"{trace.span.get_span_context().trace_id:032x}"
        return trace.span


def otlp_tracing(endpoint: str | None = None, service: str = "toolglot") -> OpenTelemetryTracing:
    """Tracing to an OTLP/HTTP endpoint; None: the one in OpenTelemetry's environment variables."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415
            OTLPSpanExporter,
        )
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - comes with an extra
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError("otel", "opentelemetry-sdk") from None
    provider = TracerProvider(resource=Resource.create({"service.name": service}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint)))
    return OpenTelemetryTracing(provider)


def _trace_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The client's trace context; empty if it is malformed."""
    if not headers or not _TRACEPARENT.fullmatch(headers.get("traceparent", "")):
        return {}
    return {name: headers[name] for name in _TRACE_HEADERS if name in headers}


def _opentelemetry() -> tuple[Any, Any]:
    try:
        from opentelemetry import trace  # noqa: PLC0415 - comes with an extra
        from opentelemetry.trace.propagation import tracecontext  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError("otel", "opentelemetry-sdk") from None
    return trace, tracecontext


def _start_attributes(record: RequestRecord) -> Iterator[tuple[str, Any]]:
    yield "gen_ai.operation.name", _OPERATION
    yield (
        "gen_ai.provider.name",
        _PROVIDER_NAMES.get(record.provider, record.provider or "toolglot"),
    )
    if model := record.model or record.asked_model:
        yield "gen_ai.request.model", model
    if record.address:
        yield "server.address", record.address
    if record.port is not None:
        yield "server.port", record.port


def _end_attributes(record: RequestRecord) -> Iterator[tuple[str, Any]]:
    if record.stream:
        yield "gen_ai.request.stream", True
    if record.finish_reasons:
        yield "gen_ai.response.finish_reasons", record.finish_reasons
    if record.stream and record.time_to_first_byte is not None:
        yield "gen_ai.response.time_to_first_chunk", record.time_to_first_byte
    if record.error or record.status >= _CLIENT_ERROR:
        yield "error.type", record.error or str(record.status)
    yield "http.response.status_code", record.status
    yield "toolglot.request_id", record.request_id
    yield "toolglot.client_protocol", record.client
    yield from _usage_attributes(record)


def _usage_attributes(record: RequestRecord) -> Iterator[tuple[str, int]]:
    usage = record.usage
    if usage is None:
        return
    yield "gen_ai.usage.input_tokens", usage.prompt
    counts = (
        ("output_tokens", usage.output),
        ("cache_read.input_tokens", usage.cache_read),
        ("cache_creation.input_tokens", usage.cache_write),
        ("reasoning.output_tokens", usage.reasoning),
    )
    for name, count in counts:
        if count is not None:
            yield f"gen_ai.usage.{name}", count
