"""The metrics of requests."""

import re

import pytest

from toolglot.gateway.telemetry.metrics import Metrics
from toolglot.gateway.telemetry.request_record import RequestRecord
from toolglot.ir import Usage
from toolglot.receipt import Note, Receipt


def request(metrics: Metrics, **more) -> RequestRecord:
    """A request in progress, with all that will be known of it."""
    record = RequestRecord(
        request_id="req_1",
        client="anthropic",
        started=10.0,
        first_byte=10.2,
        duration=1.0,
        waited=0.75,
        asked_model="claude-x",
        model="gpt-x",
        provider="work",
        protocol="openai-chat",
        status=200,
        usage=Usage(input=10, cache_read=90, output=7, reasoning=3),
        receipt=Receipt((Note("id-made", "info", "a", "why"),) * 2),
    )
    for name, value in more.items():
        setattr(record, name, value)
    metrics.request_started(record)
    return record


def numbers(metrics: Metrics, name: str) -> dict[str, float]:
    """The lines of one metric: labels without the worker, and the number."""
    found = re.findall(rf"^{name}\{{(.*)\}} (.*)$", metrics.text(), re.MULTILINE)
    return {re.sub(r",?worker=\"0\"", "", labels): float(number) for labels, number in found}


def test_a_request_is_counted():
    metrics = Metrics()
    metrics.request_ended(request(metrics, retries=2))
    route = 'client="anthropic",provider="work"'
    assert numbers(metrics, "toolglot_requests_total") == {f'{route},model="gpt-x",status="200"': 1}
    tokens = numbers(metrics, "toolglot_tokens_total")
    assert tokens == {
        f'provider="work",model="gpt-x",kind="{kind}"': count
        for kind, count in (("input", 10), ("cache_read", 90), ("output", 7), ("reasoning", 3))
    }
    assert numbers(metrics, "toolglot_notes_total") == {'code="id-made"': 2}
    assert numbers(metrics, "toolglot_retries_total") == {'provider="work"': 2}
    for name, seconds in (("first_byte", 0.2), ("request", 1.0), ("overhead", 0.25)):
        assert numbers(metrics, f"toolglot_{name}_seconds_count") == {route: 1}
        assert numbers(metrics, f"toolglot_{name}_seconds_sum")[route] == pytest.approx(seconds)


def test_open_requests_and_streams_are_counted_while_they_are_open():
    metrics = Metrics()
    one, other = request(metrics, stream=True), request(metrics)
    metrics.stream_started(one)
    client = 'client="anthropic"'
    assert numbers(metrics, "toolglot_open_requests") == {client: 2}
    assert numbers(metrics, "toolglot_open_streams") == {client: 1}
    metrics.request_ended(one)
    metrics.request_ended(other)
    assert numbers(metrics, "toolglot_open_requests") == {client: 0}
    assert numbers(metrics, "toolglot_open_streams") == {client: 0}


def test_a_breaker_has_one_state():
    metrics = Metrics()
    metrics.set_breaker("work", "closed")
    metrics.set_breaker("work", "open")
    states = numbers(metrics, "toolglot_breaker_state")
    assert [labels for labels, number in states.items() if number] == [
        'upstream="work",state="open"'
    ]
    assert len(states) == 3


def test_models_are_bounded():
    metrics = Metrics(models=3)
    for n in range(10):
        metrics.request_ended(request(metrics, model=f"m{n}", asked_model=f"a{n}"))
    assert len(numbers(metrics, "toolglot_requests_total")) == 4


def test_each_worker_says_which_it_is():
    metrics = Metrics(worker="2")
    metrics.request_ended(request(metrics))
    lines = [line for line in metrics.text().splitlines() if not line.startswith("#")]
    assert lines
    assert all('worker="2"' in line for line in lines)


def test_a_request_without_a_provider_is_counted_too():
    metrics = Metrics()
    record = RequestRecord(request_id="req_2", client="gemini", started=0.0, status=401)
    metrics.request_started(record)
    metrics.request_ended(record)
    assert len(numbers(metrics, "toolglot_requests_total")) == 1
    assert numbers(metrics, "toolglot_first_byte_seconds_count") == {}
