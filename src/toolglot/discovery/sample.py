"""A sample answer in place of a server: a body, a stream, a message of one, or a model's words."""

from collections.abc import Callable, Iterator

from toolglot.dialects.text import parse_text
from toolglot.discovery.parse_response import ParsedResponse, parse_response
from toolglot.discovery.probe import ProbeResponse
from toolglot.discovery.probe_findings import (
    Findings,
    note_answer,
    note_calls,
    note_dialect,
    note_stream,
)
from toolglot.discovery.result import DiscoveryResult, Spoken, make_result
from toolglot.errors import DecodeError
from toolglot.ir import Json
from toolglot.registry import PROTOCOLS
from toolglot.wire import jsontext


def read_sample(data: bytes) -> DiscoveryResult:
    """What one response alone shows; it has no URL."""
    if not data.strip():
        raise DecodeError("", "the sample is empty")
    findings, answer = Findings(), ProbeResponse(status=200, body=data, probe="sample")
    reading = _read(data)
    if not reading.protocol:
        return _read_words(findings, answer, reading)
    findings.add("protocol", reading.protocol, answer)
    note_answer(findings, answer, reading)
    note_calls(findings, answer, reading, parse_text(reading.text))
    if reading.streamed:
        note_stream(findings, answer, reading)
    if len({call.arguments for call in reading.calls}) > 1:
        findings.add("parallel", "yes", answer)
    return make_result(findings, spoken=(Spoken(protocol=reading.protocol, base_url=""),))


def _read(data: bytes) -> ParsedResponse:
    reading = parse_response(data)
    if reading.protocol:
        return reading
    try:
        value = jsontext.peek(data)
    except ValueError:
        return reading
    if isinstance(value, dict):
        for key, wrap in _fragments():
            if value.get(key):
                whole = parse_response(jsontext.encode(wrap(value)))
                if whole.parts:
                    return whole
    return reading


def _fragments() -> Iterator[tuple[str, Callable[[Json], Json]]]:
    """Keys that give away a piece of a response, and the response around it."""
    for codec in sorted(PROTOCOLS.values(), key=lambda codec: codec.API.imitated):
        yield from codec.API.fragments.items()


def _read_words(
    findings: Findings, answer: ProbeResponse, reading: ParsedResponse
) -> DiscoveryResult:
    """A sample that is of no protocol: the words of a model, or an error."""
    parsed = parse_text(answer.body.decode("utf-8", "replace"))
    if note_dialect(findings, answer, parsed):
        findings.add("tools", "in text", answer, parsed.calls[0].raw)
    elif reading.error in {codec.API.error_style for codec in PROTOCOLS.values()}:
        findings.add("errors", reading.error, answer)
    if parsed.reasoning:
        findings.add("reasoning", "tags", answer)
    return make_result(findings)
