"""Metrics, and their text as Prometheus reads it."""

import re

import pytest

from toolglot.gateway.telemetry.prometheus import (
    OTHER,
    BoundedLabel,
    Counter,
    Gauge,
    Histogram,
    Metric,
    Registry,
)

LINE = re.compile(
    r"[a-zA-Z_:][a-zA-Z0-9_:]*"
    r'\{(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*",?)+\} [0-9.e+-]+(?:Inf)?'
)


def lines(*families: Metric, worker: str = "3") -> list[str]:
    return Registry(*families, worker=worker).text().splitlines()


def test_a_counter_with_labels():
    requests = Counter("requests_total", "Requests.", "client", "status")
    requests.add(1, "anthropic", "200")
    requests.add(2, "anthropic", "200")
    requests.add(1, "ollama", "429")
    assert lines(requests) == [
        "# HELP requests_total Requests.",
        "# TYPE requests_total counter",
        'requests_total{client="anthropic",status="200",worker="3"} 3',
        'requests_total{client="ollama",status="429",worker="3"} 1',
    ]


def test_a_gauge_goes_both_ways():
    open_streams = Gauge("open_streams", "Streams.")
    open_streams.add(2)
    open_streams.add(-1)
    assert lines(open_streams)[-1] == 'open_streams{worker="3"} 1'
    open_streams.set(0.5)
    assert lines(open_streams)[-1] == 'open_streams{worker="3"} 0.5'


def test_a_histogram_counts_upwards():
    took = Histogram("took_seconds", "Time.", "client", bounds=(0.1, 1.0))
    for seconds in (0.05, 0.1, 0.5, 7.0):
        took.observe(seconds, "ollama")
    assert lines(took)[1:] == [
        "# TYPE took_seconds histogram",
        'took_seconds_bucket{client="ollama",le="0.1",worker="3"} 2',
        'took_seconds_bucket{client="ollama",le="1",worker="3"} 3',
        'took_seconds_bucket{client="ollama",le="+Inf",worker="3"} 4',
        'took_seconds_sum{client="ollama",worker="3"} 7.65',
        'took_seconds_count{client="ollama",worker="3"} 4',
    ]


@pytest.mark.parametrize("value", ['a"b', "a\\b", "a\nb", '\\"\n', "é ☀", ""])
def test_labels_are_escaped(value):
    counter = Counter("n_total", "Line one\nand \\ two.", "model")
    counter.add(1, value)
    shown = lines(counter)
    assert len(shown) == 3
    assert shown[0] == r"# HELP n_total Line one\nand \\ two."
    assert LINE.fullmatch(shown[2])
    quoted = re.search(r'model="((?:[^"\\]|\\.)*)"', shown[2])[1]
    plain = re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found[1], found[1]), quoted)
    assert plain == value


def test_labels_are_bounded():
    models = BoundedLabel(2)
    assert [models.label(name) for name in ("a", "b", "c", "a")] == ["a", "b", OTHER, "a"]
    assert BoundedLabel(5).label("x" * 1000) == OTHER
