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
from toolglot.registry import PROTOCOLS, StreamEncoder, get_protocol
from toolglot.streams import StreamTranslator

STARTED = Started(id="resp_01", model="some-model")
PARTS: dict[str, tuple[Part, str]] = {
    "text": (Text(text=""), "gannet "),
    "arguments": (ToolCall(id="call_01ab", name="chart", arguments=""), '"depth": 7, '),
}
"""What is streamed: a part, and a delta of it."""

EVENTS = 1000


@cache
def pieces(source: str, kind: str, count: int = EVENTS) -> tuple[bytes, ...]:
    """The frames of a stream: what opens it, then one for each delta, or none if it has none."""
    encoder = _encoder(source)
    part, text = PARTS[kind]
    opening = _bytes(encoder, STARTED, PartStarted(0, part))
    if kind == "arguments":
        opening += encoder.encode(PartDelta(0, "{"))
    deltas = [encoder.encode(PartDelta(0, text)) for _ in range(count)]
    return (opening, *deltas) if all(deltas) else ()


@cache
def calls(source: str) -> tuple[bytes, ...]:
    """The frames of a stream of whole calls, one after the other."""
    encoder = _encoder(source)
    frames = [_bytes(encoder, STARTED)]
    for number in range(EVENTS):
        call = ToolCall(id=f"call_{number}", name="chart", arguments='{"depth":7}')
        frames.append(_bytes(encoder, PartStarted(number, call), PartEnded(number)))
    return tuple(frames)


def _encoder(name: str) -> StreamEncoder:
    codec = get_protocol(name)
    return codec.StreamEncoder(Context(target=codec.SURFACE))


def _bytes(encoder: StreamEncoder, *events: Event) -> bytes:
    return b"".join(map(encoder.encode, events))


def run(source: str, target: str, frames: tuple[bytes, ...]) -> None:
    """One stream, fed frame by frame."""
    feed = StreamTranslator(source, target).feed
    for frame in frames:
        feed(frame)


def rows() -> Iterator[tuple[str, str, list[float | None]]]:
    """Each pair with its microseconds for a delta of text, one of arguments, and a whole call."""
    for source in PROTOCOLS:
        streams = (pieces(source, "text"), pieces(source, "arguments"), calls(source))
        for target in PROTOCOLS:
            if source != target:
                times = [
                    micros(lambda f=frames, t=target: run(source, t, f), rounds=5) / EVENTS
                    if frames
                    else None
                    for frames in streams
                ]
                yield source, target, times


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
    print(f"{'from':>18} {'to':>18} {'text':>10} {'arguments':>10} {'whole call':>10}")
    table = list(rows())
    for source, target, times in table:
        print(f"{source:>18} {target:>18} {_cells(times)}")
    columns = zip(*(times for _, _, times in table), strict=True)
    means = [mean(time for time in column if time is not None) for column in columns]
    print(f"{'mean':>37} {_cells(means)}")
    print("-: has calls only whole")

    print("\nHowever long the stream: openai-chat to anthropic, microseconds per event")
    for count in (100, 1_000, 10_000, 100_000):
        frames = pieces("openai-chat", "text", count)
        time = micros(lambda f=frames: run("openai-chat", "anthropic", f), rounds=3, budget=0.02)
        print(f"{count:>9,} events {time / count:8.2f}")

    sizes = [idle(a, b) / 1024 for a in PROTOCOLS for b in PROTOCOLS if a != b]
    print(f"\nMemory of an idle stream: mean {mean(sizes):.1f} KB, most {max(sizes):.1f} KB")


def _cells(times: list[float | None] | list[float]) -> str:
    return " ".join(f"{'-':>10}" if time is None else f"{time:10.2f}" for time in times)
