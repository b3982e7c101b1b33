"""Counters, gauges and histograms in the text format of Prometheus.

The text exposition format, version 0.0.4:
https://prometheus.io/docs/instrumenting/exposition_formats/ (read 2026-11-15). Each worker process
has a registry of its own and the label `worker`, because a scrape reaches only one of them.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
OTHER: Final = "other"

SECONDS: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
"""Buckets for the time that a model takes."""

MICROSECONDS: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1)
"""Buckets for the time that the gateway adds."""

Labels = tuple[str, ...]


class Metric:
    """A named metric, with one value for each combination of labels that was seen."""

    kind = ""

    def __init__(self, name: str, meaning: str, *labels: str) -> None:
        self.name = name
        self.meaning = meaning
        self.labels = labels

    def samples(self) -> Iterator[tuple[str, Labels, Labels, float]]:
        """Each line: the suffix of the name, names and values of the labels, and the number."""
        raise NotImplementedError


class Counter(Metric):
    """A number that only grows."""

    kind = "counter"

    def __init__(self, name: str, meaning: str, *labels: str) -> None:
        super().__init__(name, meaning, *labels)
        self.values: dict[Labels, float] = defaultdict(int)
        """The numbers by their labels; whoever adds to many of them does so here."""

    def add(self, amount: float, *values: str) -> None:
        """Add an amount."""
        self.values[values] += amount

    def samples(self) -> Iterator[tuple[str, Labels, Labels, float]]:
        for values, number in self.values.items():
            yield "", self.labels, values, number


class Gauge(Counter):
    """A number that goes up and down."""

    kind = "gauge"

    def set(self, number: float, *values: str) -> None:
        """Set the current value."""
        self.values[values] = number


class Histogram(Metric):
    """How many observations lie below each of some bounds."""

    kind = "histogram"

    def __init__(self, name: str, meaning: str, *labels: str, bounds: tuple[float, ...]) -> None:
        super().__init__(name, meaning, *labels)
        self._bounds = bounds
        self._counts: dict[Labels, list[int]] = {}
        self._sums: dict[Labels, float] = {}

    def observe(self, number: float, *values: str) -> None:
        """Count one observation."""
        counts = self._counts.get(values)
        if counts is None:
            counts = self._counts[values] = [0] * (len(self._bounds) + 1)
        counts[bisect_left(self._bounds, number)] += 1
        self._sums[values] = self._sums.get(values, 0) + number

    def samples(self) -> Iterator[tuple[str, Labels, Labels, float]]:
        """One line for each bound, then the sum and the count."""
        for values, counts in self._counts.items():
            total = 0
            for bound, count in zip((*self._bounds, float("inf")), counts, strict=True):
                total += count
                yield "_bucket", (*self.labels, "le"), (*values, _number(bound)), total
            yield "_sum", self.labels, values, self._sums[values]
            yield "_count", self.labels, values, total


class Registry:
    """All metrics of one process."""

    def __init__(self, *metrics: Metric, worker: str = "0") -> None:
        self.metrics = metrics
        self._worker = worker

    def text(self) -> str:
        """All metrics, as Prometheus reads them."""
        return "".join(line for metric in self.metrics for line in self._lines(metric))

    def _lines(self, metric: Metric) -> Iterator[str]:
        meaning = metric.meaning.replace("\\", r"\\").replace("\n", r"\n")
        yield f"# HELP {metric.name} {meaning}\n# TYPE {metric.name} {metric.kind}\n"
        for suffix, names, values, number in metric.samples():
            pairs = zip((*names, "worker"), (*values, self._worker), strict=True)
            labels = ",".join(f'{name}="{_escaped(value)}"' for name, value in pairs)
            yield f"{metric.name}{suffix}{{{labels}}} {_number(number)}\n"


class BoundedLabel:
    """The first `limit` values of a label; all others become `other`.

    Clients may ask for any model, and every new value of a label costs memory for good.
    """

    def __init__(self, limit: int = 200) -> None:
        self._limit = limit
        self._seen: set[str] = set()

    def label(self, value: str) -> str:
        """The value, or `other`."""
        if value in self._seen:
            return value
        if len(self._seen) >= self._limit or len(value) > self._limit:
            return OTHER
        self._seen.add(value)
        return value


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(number: float) -> str:
    if number == float("inf"):
        return "+Inf"
    return str(int(number)) if number == int(number) else repr(number)
