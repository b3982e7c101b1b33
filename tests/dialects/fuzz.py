"""A fuzz target for atheris: `python -m tests.dialects.fuzz -runs=100000 [corpus]`.

Whatever the text and its cuts, reading it raises nothing, and gives what reading it whole gives.
"""

import sys

import atheris

with atheris.instrument_imports(include=["toolglot"]):
    from toolglot.dialects.table import DIALECTS
    from toolglot.dialects.text import TextDecoder, merged, parse_text

from tests.dialects.samples import TOOLS

NAMES = ["auto", *DIALECTS]
SEEDS = [row.example.replace("get_weather", "look_up") for row in DIALECTS.values()]


def one(data: bytes) -> None:
    """One text: a byte for the dialect, one for the size of pieces, the rest is the text."""
    head, body = data[:2].ljust(2, b"\0"), data[2:]
    text = body.decode("utf-8", "replace")
    dialect, size = NAMES[head[0] % len(NAMES)], head[1] % 16 + 1
    decoder = TextDecoder(dialect, TOOLS)
    pieces = (text[start : start + size] for start in range(0, len(text), size))
    segments = [each for piece in pieces for each in decoder.feed(piece)]
    whole = parse_text(text, TOOLS, dialect)
    assert tuple(merged([*segments, *decoder.close()])) == whole.segments
    live = TextDecoder(dialect, TOOLS, live=True)
    live.feed(text)
    live.close()


if __name__ == "__main__":
    for number, seed in enumerate(SEEDS):
        one(bytes([number % 256, 0]) + seed.encode())
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
