"""Streams: one event at a time, bytes to bytes, for each pair; and what an idle stream holds."""

import gc
import tracemalloc
from collections.abc import Iterator
from functools import cache
from statistics import mean

from bench.measure import micros
from toolglot.context import Context
from toolglot.events import Event, PartDelta, PartEnded, PartStarted, Started
from toolglot.ir import Part, Text, ToolCall
from toolglot.registry import PROTOCOLS, get_protocol
from toolglot.streams import StreamTranslator

KINDS: dict[str, tuple[Part, str]] = {
    "text": (Text(text=""), "gannet "),
    "arguments": (ToolCall(id="call_01ab", name="chart", arguments=""), '"depth": 7, '),
}
"""What is streamed: a part, and a delta of it."""

EVENTS = 1000


@cache
def pieces(source: str, kind: str, count: int = EVENTS) -> tuple[bytes, ...]:
    """The frames of a stream in a protocol: what opens it, then one for each delta."""
    codec = get_protocol(source)
    encoder = codec.StreamEncoder(Context(target=codec.SURFACE))
    part, text = KINDS[kind]
    opening = _bytes(encoder, Started(id="resp_01", model="some-model"), PartStarted(0, part))
    deltas = [encoder.encode(PartDelta(0, text)) for _ in range(count)]
    if not any(deltas):
        # A protocol that has calls only whole: as many calls as there would be deltas.
        deltas = [_whole_call(source, number) for number in range(count)]
    return (opening, *deltas)


def _bytes(encoder: object, *events: Event) -> bytes:
    return b"".join(encoder.encode(event) for event in events)  # type: ignore[attr-defined]


@cache
def _whole_call(source: str, number: int) -> bytes:
    codec = get_protocol(source)
    encoder = codec.StreamEncoder(Context(target=codec.SURFACE))
    call = ToolCall(id=f"call_{number}", name="chart", arguments='{"depth":7}')
    encoder.encode(Started(id="resp_01", model="some-model"))
    return _bytes(encoder, PartStarted(0, call), PartEnded(0))


def run(source: str, target: str, frames: tuple[bytes, ...]) -> None:
    """One stream, fed frame by frame."""
    feed = StreamTranslator(source, target).feed
    for frame in frames:
        feed(frame)


def rows() -> Iterator[tuple[str, str, float, float]]:
    """Each pair with its microseconds for a delta of text and of arguments."""
    for source in PROTOCOLS:
        for target in PROTOCOLS:
            if source != target:
                times = [
                    micros(lambda f=pieces(source, kind): run(source, target, f), rounds=5) / EVENTS
                    for kind in KINDS
                ]
                yield source, target, times[0], times[1]


def idle(source: str, target: str, count: int = 200) -> float:
    """Bytes that one stream holds which has begun and waits."""
    frames = pieces(source, "text", 3)
    run(source, target, frames)
    gc.collect()
    tracemalloc.start()
    streams = [StreamTranslator(source, target) for _ in range(count)]
    for stream in streams:
        for frame in frames:
            stream.feed(frame)
    gc.collect()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return size / count


def report() -> None:
    """Print the tables."""
    print(f"\nStreams of {EVENTS} events, fed one by one: microseconds per event, bytes to bytes")
    print(f"{'from':>18} {'to':>18} {'text':>8} {'arguments':>10}")
    table = list(rows())
    for source, target, text, arguments in table:
        print(f"{source:>18} {target:>18} {text:8.2f} {arguments:10.2f}")
    texts, arguments = (mean(row[column] for row in table) for column in (2, 3))
    print(f"{'mean':>37} {texts:8.2f} {arguments:10.2f}")

    print("\nThe same however long the stream: openai-chat to anthropic, microseconds per event")
    for count in (100, 1_000, 10_000, 100_000):
        frames = pieces("openai-chat", "text", count)
        time = micros(lambda f=frames: run("openai-chat", "anthropic", f), rounds=3, budget=0.02)
        print(f"{count:>9,} events {time / count:8.2f}")

    sizes = [idle(a, b) for a in PROTOCOLS for b in PROTOCOLS if a != b]
    print(
        f"\nMemory of an idle stream: mean {mean(sizes) / 1024:.1f} KB, most {max(sizes) / 1024:.1f} KB"
    )
