"""How many steps of Python translations take: the same on every machine, however busy it is.

A step is one instruction of Python's virtual machine. What C code does is not counted, but the
slow paths that have to be noticed are all in Python. `budget.json` has the steps that each case may
take; `tests/test_work_budget.py` fails if one takes 15 % more. After a change that is worth it:

    make budget
"""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from bench.example import request
from bench.streams import pieces
from toolglot.context import Options
from toolglot.exchange import Exchange
from toolglot.registry import PROTOCOLS
from toolglot.streams import StreamTranslator
from toolglot.translate import translate_request, translate_response

BUDGET = Path(__file__).with_name("budget.json")
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
"""Other versions have other instructions, so a budget is for one of them."""

ANSWER = {
    "id": "msg_01",
    "type": "message",
    "role": "assistant",
    "model": "claude-opus-4-8",
    "content": [
        {"type": "text", "text": "I look at the chart of the outer basin first. " * 8},
        {"type": "tool_use", "id": "toolu_01", "name": "tool_3", "input": {"field_0": "tide"}},
    ],
    "stop_reason": "tool_use",
    "stop_sequence": None,
    "usage": {"input_tokens": 4000, "output_tokens": 120},
}
SPELLINGS: dict[str, Callable[[Any], str]] = {
    "compact": lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":")),
    "spaces": lambda value: json.dumps(value, ensure_ascii=False),
    "escapes": json.dumps,
    "indented": lambda value: json.dumps(value, ensure_ascii=False, indent=2),
}
SHORT, LONG = 40, 120
"""Events of two streams, of which the difference is counted: it has neither start nor end."""


def steps(work: Callable[[], object]) -> int:
    """The steps that some work takes, after it was done twice and everything is cached."""
    work()
    work()
    count = 0

    def seen(frame: FrameType, event: str, _value: Any) -> Any:
        nonlocal count
        if event == "call":
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
        elif event == "opcode":
            count += 1
        return seen

    before = sys.gettrace()
    sys.settrace(seen)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def cases() -> Iterator[tuple[str, float]]:
    """Everything that has a budget, with its steps."""
    yield from _requests()
    yield from _answers()
    yield from _events()


def _requests() -> Iterator[tuple[str, float]]:
    example = request()
    # Something that is spelled with an escape, or not.
    example["messages"][0]["content"][0]["text"] += " «Möwe»"
    for source in PROTOCOLS:
        wire, _ = translate_request(example, source="anthropic", target=source)
        path = wire.path if source != "anthropic" else ""
        body = wire.body if source != "anthropic" else example
        for target in PROTOCOLS:
            for spelling, write in SPELLINGS.items():
                data = write(body).encode()
                yield (
                    f"request {source} > {target}, {spelling}",
                    steps(lambda d=data, t=target: Exchange(source, t).request(d, path)),
                )
            if source != target:
                new = _never_seen(SPELLINGS["compact"](body))
                yield (
                    f"request {source} > {target}, tools never seen",
                    steps(lambda n=new, t=target: Exchange(source, t).request(next(n), path)),
                )


def _never_seen(text: str) -> Iterator[bytes]:
    """The same request with other names of parameters each time, so that nothing is cached."""
    number = 1000
    while True:
        number += 1
        yield text.replace("field_0", f"f{number}").encode()


def _answers() -> Iterator[tuple[str, float]]:
    for source in PROTOCOLS:
        wire, _ = translate_response(ANSWER, source="anthropic", target=source)
        data = wire.data()
        for target in PROTOCOLS:
            asked, _ = translate_request(request(), source="anthropic", target=target)
            sent = asked.data()

            def ask(client: str = target, body: bytes = sent, path: str = asked.path) -> Exchange:
                exchange = Exchange(client, source, Options(complete_answers=True))
                exchange.request(body, path)
                return exchange

            both = steps(lambda ask=ask, data=data: ask().response(data))
            yield f"answer {source} > {target}", both - steps(ask)


def _events() -> Iterator[tuple[str, float]]:
    for source in PROTOCOLS:
        for kind in ("text", "arguments"):
            frames = pieces(source, kind, LONG)
            if not frames:
                continue
            changing = tuple(_with_number(each, at) for at, each in enumerate(frames[1:]))
            for target in PROTOCOLS:
                name = f"event {source} > {target}, {kind}"
                yield name, _per_event(source, target, frames[0], frames[1:])
                yield f"{name}, none alike", _per_event(source, target, frames[0], changing)


def _per_event(source: str, target: str, opening: bytes, deltas: tuple[bytes, ...]) -> float:
    def run(count: int) -> None:
        feed = StreamTranslator(source, target).feed
        feed(opening)
        for each in deltas[:count]:
            feed(each)

    few, many = (steps(lambda count=count: run(count)) for count in (SHORT, LONG))
    return (many - few) / (LONG - SHORT)


def _with_number(frame: bytes, number: int) -> bytes:
    """An event with a member that differs in each, as some servers add to theirs."""
    head, brace, rest = frame.partition(b"{")
    return b'%b%b"number":%d,%b' % (head, brace, number, rest)


def report() -> None:
    """Write the budget anew, and print what changed."""
    before = json.loads(BUDGET.read_text())["steps"] if BUDGET.exists() else {}
    counted = {name: round(count, 1) for name, count in cases()}
    for name, count in counted.items():
        if (known := before.get(name)) and abs(count / known - 1) > 0.03:
            print(f"{name:<70} {known:>9,.0f} {count:>9,.0f} {count / known - 1:+7.0%}")
    BUDGET.write_text(json.dumps({"python": PYTHON, "steps": counted}, indent=1) + "\n")
    print(f"{BUDGET}: {len(counted)} cases, for Python {PYTHON}")
