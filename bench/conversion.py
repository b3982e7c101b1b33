"""`toolglot convert`: whole files, file to file, beside `json` reading and writing the same lines."""

import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from toolglot.cli import main

_MEGABYTES = 32
_PAIRS = (
    ("openai", "anthropic"),
    ("anthropic", "openai"),
    ("openai", "sharegpt"),
    ("sharegpt", "hermes"),
    ("openai", "atif"),
)


def _row() -> dict[str, object]:
    """A conversation of 25 messages, six calls and two tools; 16 KB."""
    messages: list[dict[str, object]] = [{"role": "system", "content": "Be brief. " * 40}]
    for number in range(6):
        arguments = json.dumps({"city": "Oslo", "days": number})
        function = {"name": "get_weather", "arguments": arguments}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        messages += [
            {"role": "user", "content": "some words " * 55},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": "a line of output\n" * 60},
            {"role": "assistant", "content": "It rains. " * 60},
        ]
    properties = {"city": {"type": "string"}, "days": {"type": "integer"}}
    schema = {"type": "object", "properties": properties, "required": ["city"]}
    names = ("get_weather", "get_time")
    tools = [{"type": "function", "function": {"name": n, "parameters": schema}} for n in names]
    return {"messages": messages, "tools": tools}


def _seconds(act: Callable[[], object]) -> float:
    started = perf_counter()
    act()
    return perf_counter() - started


def _plain(source: Path, target: Path) -> None:
    with source.open() as lines, target.open("w") as out:
        for line in lines:
            out.write(json.dumps(json.loads(line)) + "\n")


def _convert(*args: object) -> None:
    with redirect_stderr(io.StringIO()):
        if main(["convert", *map(str, args)]):
            raise RuntimeError("some rows were left out")


def rows(folder: Path) -> Iterator[tuple[str, str, int, float, float, float]]:
    """Each pair: bytes, and the seconds of `json`, of one process and of two."""
    line = json.dumps(_row()) + "\n"
    files = {"openai": folder / "openai.jsonl"}
    files["openai"].write_text(line * (_MEGABYTES * 1_000_000 // len(line)))
    for source, target in _PAIRS:
        if source not in files:
            files[source] = folder / f"{source}.jsonl"
            _convert(files["openai"], "--to", source, "--out", files[source])
        out = folder / "out.jsonl"
        asked = (files[source], "--from", source, "--to", target, "--out", out)
        plain = min(_seconds(lambda: _plain(files[source], out)) for _ in range(2))
        one = _seconds(lambda: _convert(*asked))
        two = _seconds(lambda: _convert(*asked, "--jobs", 2))
        yield source, target, files[source].stat().st_size, plain, one, two


def report() -> None:
    """Print the table."""
    print()
    print(f"Files of conversations, {_MEGABYTES} MB: file to file, beside `json` on the same lines")
    print(f"{'from':>12} {'to':>12} {'MB/min':>8} {'x json':>8} {'--jobs 2':>9}")
    with TemporaryDirectory() as folder:
        for source, target, size, plain, one, two in rows(Path(folder)):
            rate = size / one * 60 / 1_000_000
            print(f"{source:>12} {target:>12} {rate:8.0f} {one / plain:8.2f} {one / two:7.2f} x")
    sys.stdout.flush()
