"""Translate a stream live, from a file that stands for the network, and check what comes out.

python examples/translate_stream.py [FILE]
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import toolglot

FILE = Path(__file__).parent / "recorded.stream.txt"


def chunks(file: Path, size: int = 100) -> Iterator[bytes]:
    """Pieces as a network might cut them: in the middle of lines, events and characters."""
    with file.open("rb") as stream:
        while piece := stream.read(size):
            yield piece


translator = toolglot.StreamTranslator("openai-chat", "anthropic")
received = bytearray()
for chunk in chunks(Path(sys.argv[1]) if len(sys.argv) > 1 else FILE):
    ready = translator.feed(chunk)
    received += ready
    print(ready.decode(), end="", flush=True)
last = translator.close()
received += last
print(last.decode(), end="")

print("What was changed:", translator.receipt)
print("Rules broken:", toolglot.lint_stream(bytes(received), "anthropic") or "none")
