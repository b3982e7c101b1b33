"""Spans as the conventions for generative AI name them, and traces that go on."""

import gzip
import sys
from http.server import BaseHTTPRequestHandler
from typing import ClassVar

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from tests.http_servers import serving

from toolglot.errors import MissingExtraError
from toolglot.gateway.telemetry.request_record import RequestRecord
from toolglot.gateway.telemetry.tracing import (
    NO_TRACING,
    OpenTelemetryTracing,
    Tracing,
    otlp_tracing,
)
from toolglot.ir import Usage

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{TRACE}-b7ad6b7169203331-01"


@pytest.fixture
def exporter():
    return InMemorySpanExporter()


@pytest.fixture
def tracing(exporter):
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing = OpenTelemetryTracing(provider)
    yield tracing
    tracing.close()


def started(tracing: Tracing, headers: dict[str, str] | None = None) -> RequestRecord:
    return RequestRecord(
        request_id="req_1",
        client="anthropic",
        started=10.0,
        asked_model="claude-x",
        model="gemini-x",
        provider="google",
        address="generativelanguage.googleapis.com",
        port=443,
        trace=tracing.start(headers or {}),
    )


def test_a_span_says_what_the_conventions_ask_for(tracing, exporter):
    record = started(tracing)
    tracing.upstream_headers(record)
    record.status, record.finish_reasons = 200, ("stop",)
    record.usage = Usage(input=10, cache_read=90, output=7, reasoning=3)
    tracing.end(record)
    (span,) = exporter.get_finished_spans()
    assert span.name == "chat gemini-x"
    assert span.kind is SpanKind.CLIENT
    assert span.status.status_code is StatusCode.UNSET
    assert span.end_time >= span.start_time
    assert dict(span.attributes) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "gcp.gemini",
        "gen_ai.request.model": "gemini-x",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 7,
        "gen_ai.usage.cache_read.input_tokens": 90,
        "gen_ai.usage.reasoning.output_tokens": 3,
        "server.address": "generativelanguage.googleapis.com",
        "server.port": 443,
        "http.response.status_code": 200,
        "toolglot.request_id": "req_1",
        "toolglot.client_protocol": "anthropic",
    }


def test_a_stream_says_so(tracing, exporter):
    record = started(tracing)
    record.stream = True
    record.status, record.first_byte = 200, record.started + 0.5
    tracing.end(record)
    (span,) = exporter.get_finished_spans()
    assert span.attributes["gen_ai.request.stream"] is True
    assert span.attributes["gen_ai.response.time_to_first_chunk"] == pytest.approx(0.5)


@pytest.mark.parametrize(("error", "kind"), [("rate_limit", "rate_limit"), ("", "429")])
def test_a_failure_has_its_kind(tracing, exporter, error, kind):
    record = started(tracing)
    record.status, record.error = 429, error
    tracing.end(record)
    (span,) = exporter.get_finished_spans()
    assert span.attributes["error.type"] == kind
    assert span.status.status_code is StatusCode.ERROR


def test_the_clients_trace_goes_on(tracing, exporter):
    record = started(tracing, {"traceparent": PARENT, "tracestate": "vendor=1"})
    sent = tracing.upstream_headers(record)
    tracing.end(record)
    (span,) = exporter.get_finished_spans()
    assert f"{span.context.trace_id:032x}" == TRACE == record.trace.trace_id
    assert span.parent.span_id == 0xB7AD6B7169203331
    assert sent == {
        "traceparent": f"00-{TRACE}-{span.context.span_id:016x}-01",
        "tracestate": "vendor=1",
    }


def test_a_request_that_never_got_anywhere_has_a_span(tracing, exporter):
    record = RequestRecord(request_id="req_2", client="ollama", started=0.0, status=404)
    record.trace = tracing.start({})
    tracing.end(record)
    (span,) = exporter.get_finished_spans()
    assert span.name == "chat"
    assert span.attributes["gen_ai.provider.name"] == "toolglot"


@pytest.mark.parametrize(
    ("headers", "passed"),
    [
        (
            {"traceparent": PARENT, "tracestate": "v=1"},
            {"traceparent": PARENT, "tracestate": "v=1"},
        ),
        ({"traceparent": PARENT}, {"traceparent": PARENT}),
        ({"traceparent": "nonsense", "tracestate": "v=1"}, {}),
        ({}, {}),
    ],
)
def test_without_spans_the_trace_is_passed_on(headers, passed):
    record = started(NO_TRACING, headers)
    assert NO_TRACING.upstream_headers(record) == passed
    NO_TRACING.end(record)
    NO_TRACING.close()


def test_the_extra_is_asked_for_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(MissingExtraError, match=r"toolglot\[otel\]"):
        otlp_tracing("http://127.0.0.1:4318/v1/traces")


class Collector(BaseHTTPRequestHandler):
    """What takes spans, as an OpenTelemetry collector does."""

    got: ClassVar[list[tuple[str, bytes]]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.got.append((self.path, gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_spans_are_sent_to_an_endpoint():
    Collector.got.clear()
    with serving(Collector) as url:
        tracing = otlp_tracing(f"{url}/v1/traces", "my-gateway")
        tracing.end(started(tracing))
        tracing.close()
    ((path, body),) = Collector.got
    sent = ExportTraceServiceRequest.FromString(body).resource_spans[0]
    assert path == "/v1/traces"
    assert sent.scope_spans[0].spans[0].name == "chat gemini-x"
    assert any(each.value.string_value == "my-gateway" for each in sent.resource.attributes)
