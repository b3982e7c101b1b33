"""Traces: one span for each request, named as the conventions for generative AI say.

https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-spans.md
(read 2026-11-15; status: development). Spans need the extra `otel` and an endpoint. Without them
the trace of the client, a W3C `traceparent`, is passed on as it came.
"""

import re
from collections.abc import Iterator, Mapping
from time import time_ns
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from toolglot.errors import MissingExtraError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

    from toolglot.gateway.telemetry.metrics import Observation

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
"""Providers that the conventions call otherwise than we do."""


class Trace(Struct):
    """The trace that a request belongs to, and its span once that has begun."""

    headers: dict[str, str]
    started: int
    span: Any = None
    trace_id: str = ""


class Tracing:
    """No spans; the client's trace is passed on as it came."""

    def begin(self, headers: Mapping[str, str]) -> Trace | None:
        """A request came in with these headers, in lower case."""
        found = _trace_headers(headers)
        return Trace(found, 0, trace_id=found["traceparent"].split("-")[1]) if found else None

    def headers(self, seen: "Observation") -> dict[str, str]:
        """What to send along to the provider."""
        return seen.trace.headers if seen.trace else {}

    def end(self, seen: "Observation") -> None:
        """The request is done."""

    def close(self) -> None:
        """Send what has not been sent."""


NO_TRACING: Final = Tracing()


class Spans(Tracing):
    """A span for each request. It begins when the provider is known, for samplers to see it."""

    def __init__(self, provider: "TracerProvider") -> None:
        trace, context = _opentelemetry()
        self._provider = provider
        self._tracer = provider.get_tracer("toolglot")
        self._kind = trace.SpanKind.CLIENT
        self._failed = trace.StatusCode.ERROR
        self._in_span = trace.set_span_in_context
        self._propagator = context.TraceContextTextMapPropagator()

    def begin(self, headers: Mapping[str, str]) -> Trace:
        """A request came in with these headers, in lower case."""
        return Trace(_trace_headers(headers), time_ns())

    def headers(self, seen: "Observation") -> dict[str, str]:
        """The span as the parent of whatever the provider does."""
        carrier: dict[str, str] = {}
        self._propagator.inject(carrier, self._in_span(self._span(seen)))
        return carrier

    def end(self, seen: "Observation") -> None:
        """Say what became of the request."""
        span = self._span(seen)
        span.set_attributes(dict(_outcome(seen)))
        if seen.error or seen.status >= _CLIENT_ERROR:
            span.set_status(self._failed)
        span.end()

    def close(self) -> None:
        """Send what has not been sent."""
        self._provider.shutdown()

    def _span(self, seen: "Observation") -> Any:
        trace: Trace = seen.trace
        if trace.span is None:
            parent = self._propagator.extract(trace.headers)
            trace.span = self._tracer.start_span(
                f"{_OPERATION} {seen.model or seen.asked_model}".rstrip(),
                context=parent,
                kind=self._kind,
                attributes=dict(_beginning(seen)),
                start_time=trace.started,
            )
            trace.trace_id = f"{trace.span.get_span_context().trace_id:032x}"
        return trace.span


def spans_to(endpoint: str | None = None, service: str = "toolglot") -> Spans:
    """Spans to an OTLP/HTTP endpoint; None: where the variables of OpenTelemetry say."""
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
    return Spans(provider)


def _trace_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The client's trace; nothing if it is not one that the standard allows."""
    if not _TRACEPARENT.fullmatch(headers.get("traceparent", "")):
        return {}
    return {name: headers[name] for name in _TRACE_HEADERS if name in headers}


def _opentelemetry() -> tuple[Any, Any]:
    try:
        from opentelemetry import trace  # noqa: PLC0415 - comes with an extra
        from opentelemetry.trace.propagation import tracecontext  # noqa: PLC0415
    except ImportError:
        raise MissingExtraError("otel", "opentelemetry-sdk") from None
    return trace, tracecontext


def _beginning(seen: "Observation") -> Iterator[tuple[str, Any]]:
    yield "gen_ai.operation.name", _OPERATION
    yield "gen_ai.provider.name", _PROVIDER_NAMES.get(seen.provider, seen.provider or "toolglot")
    if model := seen.model or seen.asked_model:
        yield "gen_ai.request.model", model
    if seen.address:
        yield "server.address", seen.address
    if seen.port is not None:
        yield "server.port", seen.port


def _outcome(seen: "Observation") -> Iterator[tuple[str, Any]]:
    if seen.stream:
        yield "gen_ai.request.stream", True
    if seen.response_model:
        yield "gen_ai.response.model", seen.response_model
    if seen.finish_reasons:
        yield "gen_ai.response.finish_reasons", seen.finish_reasons
    if seen.stream and seen.first_byte is not None:
        yield "gen_ai.response.time_to_first_chunk", seen.first_byte - seen.started
    if seen.error or seen.status >= _CLIENT_ERROR:
        yield "error.type", seen.error or str(seen.status)
    yield "http.response.status_code", seen.status
    yield "toolglot.request_id", seen.request_id
    yield "toolglot.client_protocol", seen.client
    yield from _usage(seen)


def _usage(seen: "Observation") -> Iterator[tuple[str, int]]:
    usage = seen.usage
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
