"""Requests: bytes to interlingua to bytes, for each pair, beside reading and writing the same bytes."""

from collections.abc import Iterator

import msgspec

from bench.example import request
from bench.measure import micros
from toolglot.registry import PROTOCOLS
from toolglot.translate import translate_request


def rows() -> Iterator[tuple[str, str, float, float]]:
    """Each pair with its floor and its time in microseconds."""
    example = msgspec.json.encode(request())
    decode, encode = msgspec.json.Decoder().decode, msgspec.json.Encoder().encode
    for source in PROTOCOLS:
        wire, _ = translate_request(example, source="anthropic", target=source)
        data, path = (wire.data(), wire.path) if source != "anthropic" else (example, "")
        floor = micros(lambda data=data: encode(decode(data)))
        for target in PROTOCOLS:
            if source != target:
                work = lambda: translate_request(data, source=source, target=target, path=path)[
                    0
                ].data()  # noqa: B023, E731
                yield source, target, floor, micros(work)


def report() -> None:
    """Print the table."""
    size = len(msgspec.json.encode(request()))
    print(
        f"\nRequests of {size / 1000:.0f} KB with 16 tools and 15 messages, microseconds for bytes to bytes"
    )
    print(f"{'from':>18} {'to':>18} {'floor':>8} {'time':>8} {'ratio':>7}")
    ratios = []
    for source, target, floor, time in rows():
        ratios.append(time / floor)
        print(f"{source:>18} {target:>18} {floor:8.0f} {time:8.0f} {time / floor:6.2f}x")
    print(
        f"floor: msgspec decode and encode of the same bytes; mean ratio {sum(ratios) / len(ratios):.2f}x"
    )
