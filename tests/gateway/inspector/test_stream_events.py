"""The events of a stream, however they are framed."""

from pathlib import Path

import pytest

from toolglot.gateway.inspector.exchange_facts import client_answer
from toolglot.gateway.inspector.stream_events import stream_json
from toolglot.gateway.telemetry.captures import CapturedExchange
from toolglot.registry import PROTOCOLS

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_stream_is_shown_event_by_event(protocol):
    data = min((FIXTURES / protocol).glob("*calls.stream.txt")).read_bytes()
    pieces = [data[start : start + 50] for start in range(0, len(data), 50)]
    exchange = CapturedExchange(
        number=1,
        request_id="r1",
        owner="",
        started=1.0,
        clock=0.0,
        protocol=protocol,
        path="",
        model="m",
        stream=True,
        headers={},
        body=b"{}",
        response_headers={"content-type": PROTOCOLS[protocol].SURFACE.stream.media_type},
        times=[float(number) for number in range(len(pieces))],
        pieces=pieces,
        status=200,
        state="ended",
    )
    shown = stream_json(exchange)["client"]
    assert len(shown["events"]) > 1
    assert {kind for _, _, kind, _ in shown["events"]}.isdisjoint({"body", "text"})
    assert shown["lint"] == []
    assert client_answer(exchange).choices
