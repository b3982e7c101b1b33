"""Requests: bytes to interlingua to bytes, for each pair, beside reading and writing the same
bytes: as the gateway does it, for tools that it has seen before, and for a request that is all new.
"""

from collections.abc import Callable, Iterator
from functools import partial
from statistics import mean

import msgspec

from bench.example import request
from bench.measure import micros
from toolglot.exchange import Exchange
from toolglot.registry import PROTOCOLS
from toolglot.translate import translate_request
from toolglot.wire.message import WireRequest

_DECODER, _ENCODER = msgspec.json.Decoder(), msgspec.json.Encoder()


def _floor(data: bytes) -> bytes:
    return _ENCODER.encode(_DECODER.decode(data))


def rows() -> Iterator[tuple[str, str, float, float, float]]:
    """Each pair with its floor and its two times in microseconds."""
    example = msgspec.json.encode(request())
    for source in PROTOCOLS:
        wire, _ = translate_request(example, source="anthropic", target=source)
        data, path = (wire.data(), wire.path) if source != "anthropic" else (example, "")
        floor = micros(partial(_floor, data))
        for target in PROTOCOLS:
            if source != target:
                pair = partial(translate_request, data, source=source, target=target, path=path)
                again = micros(partial(_exchange, source, target, data, path))
                yield source, target, floor, again, micros(partial(_bytes, pair))


def _exchange(source: str, target: str, data: bytes, path: str) -> bytes:
    return Exchange(source, target).request(data, path).data


def _bytes(translate: Callable[[], tuple[WireRequest, object]]) -> bytes:
    return translate()[0].data()


def report() -> None:
    """Print the table."""
    size = len(msgspec.json.encode(request()))
    print()
    print(f"Requests of {size / 1000:.0f} KB, 16 tools, 15 messages: microseconds, bytes to bytes")
    print(f"{'from':>18} {'to':>18} {'floor':>8} {'tools known':>18} {'all new':>18}")
    ratios: list[tuple[float, float]] = []
    for source, target, floor, again, new in rows():
        ratios.append((again / floor, new / floor))
        cells = " ".join(f"{time:8.0f} = {time / floor:5.2f} x" for time in (again, new))
        print(f"{source:>18} {target:>18} {floor:8.0f} {cells}")
    known, new = (mean(each) for each in zip(*ratios, strict=True))
    print(f"floor: msgspec reading and writing the same bytes; mean {known:.2f} x and {new:.2f} x")
