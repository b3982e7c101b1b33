"""Dialects: what it costs to look for calls in streamed text, and to read one."""

import json
from collections.abc import Iterator

from bench.measure import micros
from toolglot.dialects.text import TextDecoder

KB = 1024
WORDS = (
    "The gannet (a < b) dives {deep} into the cold sea and returns; see [the map](x) or `code`.\n\n"
    "- one\n- two: 1, 2, 3\n"
)
TEXT = (WORDS * (64 * KB // len(WORDS) + 1))[: 64 * KB]
TOOLS = [
    {
        "name": f"tool_{number}",
        "parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
    }
    for number in range(12)
]
ARGUMENT = "a line of a file\n" * 16
CALLS = {
    "hermes": "<tool_call>\n"
    + json.dumps({"name": "tool_7", "arguments": {"text": ARGUMENT}})
    + "\n</tool_call>\n",
    "qwen3_coder": "<tool_call>\n<function=tool_7>\n<parameter=text>\n"
    + ARGUMENT
    + "\n</parameter>\n</function>\n</tool_call>\n",
    "glm45": "<tool_call>tool_7\n<arg_key>text</arg_key>\n<arg_value>"
    + ARGUMENT
    + "</arg_value>\n</tool_call>\n",
}
MANY = 50


def run(text: str, size: int) -> None:
    """One text in pieces of a size, with every dialect looked for."""
    decoder = TextDecoder("auto", TOOLS, live=True)
    for start in range(0, len(text), size):
        decoder.feed(text[start : start + size])
    decoder.close()


def rows() -> Iterator[tuple[str, float]]:
    """What is measured, and its microseconds."""
    for size in (16, 256, len(TEXT)):
        per_kb = micros(lambda s=size: run(TEXT, s), rounds=5) * KB / len(TEXT)
        yield f"words, pieces of {size} characters, per KB", per_kb
    for name, call in CALLS.items():
        for size in (16, len(call)):
            cost = micros(lambda c=call, s=size: run(c * MANY, s), rounds=3) / MANY
            yield f"a call of {len(call)} characters, {name}, pieces of {size}", cost


def report() -> None:
    """Print the table."""
    print("\nDialects: microseconds with every dialect looked for\n")
    for what, cost in rows():
        print(f"  {what:<60} {cost:8.1f}")
