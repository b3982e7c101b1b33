"""Requests: bytes to interlingua to bytes, for each pair, beside reading and writing the same
bytes.
"""

from collections.abc import Callable, Iterator
from functools import partial

import msgspec

from bench.example import request
from bench.measure import micros
from toolglot.registry import PROTOCOLS
from toolglot.translate import translate_request
from toolglot.wire.message import WireRequest

_DECODER, _ENCODER = msgspec.json.Decoder(), msgspec.json.Encoder()


def _floor(data: bytes) -> bytes:
    return _ENCODER.encode(_DECODER.decode(data))


def rows() -> Iterator[tuple[str, str, float, float]]:
    """Each pair with its floor and its time in microseconds."""
    example = msgspec.json.encode(request())
    for source in PROTOCOLS:
        wire, _ = translate_request(example, source="anthropic", target=source)
        data, path = (wire.data(), wire.path) if source != "anthropic" else (example, "")
        floor = micros(partial(_floor, data))
        for target in PROTOCOLS:
            if source != target:
                pair = partial(translate_request, data, source=source, target=target, path=path)
                yield source, target, floor, micros(partial(_bytes, pair))


def _bytes(translate: Callable[[], tuple[WireRequest, object]]) -> bytes:
    return translate()[0].data()


def report() -> None:
    """Print the table."""
    size = len(msgspec.json.encode(request()))
    print()
    print(f"Requests of {size / 1000:.0f} KB, 16 tools, 15 messages: microseconds, bytes to bytes")
    print(f"{'from':>18} {'to':>18} {'floor':>8} {'time':>8} {'ratio':>7}")
    ratios = []
    for source, target, floor, time in rows():
        ratios.append(time / floor)
        print(f"{source:>18} {target:>18} {floor:8.0f} {time:8.0f} {time / floor:6.2f}x")
    mean = sum(ratios) / len(ratios)
    print(f"floor: msgspec reading and writing the same bytes; mean ratio {mean:.2f}x")
