"""Mutations of our own, for machines without atheris: small, quick, and the same for a seed."""

import random
from collections.abc import Sequence

TOKENS = (
    b"null", b"true", b"[]", b"{}", b'""', b"-1", b"0", b"1e999", b"9" * 40, b"\\ud800", b"\xff",
    b"\x00", b"\r\n", b"\n\n", b"data: ", b"event: ", b"[DONE]", b'"type":', b'"id":', b'"index":',
    b'"name":', b'"content":', b'"arguments":', b"[" * 200, b'{"a":' * 200, b"$ref",
    b"\xf0\x9f\x98\x80", b'{"$ref":"#"}', b'"type":["string","null"]', b"<tool_call>",
    b"</tool_call>", b"<|", b"|>", b"```", b"content-length: 5\r\n", b"Infinity",
    b"transfer-encoding: chunked\r\n", b"NaN",
)  # fmt: skip


def mutate(data: bytes, rng: random.Random, others: Sequence[bytes], limit: int = 4096) -> bytes:
    """The data, changed in one to four places."""
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data) + 1)
        size = rng.choice((1, 1, 2, 4, 8, 32, 128))
        match rng.randrange(8):
            case 0:
                data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
            case 1:
                data = data[:at] + data[at + size :]
            case 2:
                data = data[:at] + data[at : at + size] * 2 + data[at + size :]
            case 3 | 4:
                data = data[:at] + rng.choice(TOKENS) + data[at:]
            case 5:
                data = data[:at] + rng.choice(TOKENS) + data[at + size :]
            case 6:
                other = rng.choice(others)
                start = rng.randrange(len(other) + 1)
                data = data[:at] + other[start : start + size] + data[at:]
            case _:
                data = _another_value(data, rng)
    return data[:limit]


def _another_value(data: bytes, rng: random.Random) -> bytes:
    """A member of an object gets another value: what stands behind some colon."""
    colons = [place for place, byte in enumerate(data) if byte == ord(":")]
    if not colons:
        return data
    at = rng.choice(colons) + 1
    end = at
    while end < len(data) and data[end] not in b",}]":
        end += 1
    return data[:at] + rng.choice(TOKENS) + data[end:]
