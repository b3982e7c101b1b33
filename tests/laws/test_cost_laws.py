"""Cost grows with the size of what is translated, and no faster: wherever there is a list.

Calls of functions are counted, since time depends on what else the machine does. Every list in the
fixtures is made longer; four times the elements may take about four times the calls.
"""

import copy
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from tests.counting import count_calls
from tests.dialects.samples import SAMPLES, TOOLS
from tests.laws.corpus import NAMES, fixtures, load, path_to

from toolglot import ir
from toolglot.context import Context
from toolglot.dialects.table import DIALECTS
from toolglot.dialects.text import parse_text
from toolglot.errors import ToolglotError
from toolglot.events import unfold
from toolglot.registry import get_protocol
from toolglot.streams import StreamTranslator
from toolglot.translate import translate_request, translate_response

FEW, MANY = 24, 96
NAMED = frozenset({"id", "name", "tool_use_id", "call_id", "tool_call_id", "item_id", "title"})
"""Members whose value has to differ from one element to the next."""

Place = tuple[str | int, ...]


def lists_in(value: Any, place: Place = ()) -> Iterator[Place]:
    """The places of all lists that are not empty."""
    if isinstance(value, list):
        if value:
            yield place
            yield from lists_in(value[-1], (*place, len(value) - 1))
    elif isinstance(value, dict):
        for key, member in value.items():
            yield from lists_in(member, (*place, key))


def numbered(value: Any, number: int, key: str = "") -> Any:
    """A copy that is not equal to the others."""
    if isinstance(value, dict):
        return {name: numbered(member, number, name) for name, member in value.items()}
    if isinstance(value, list):
        return [numbered(member, number) for member in value]
    if isinstance(value, str) and (key in NAMED or not key):
        return f"{value}_{number}"
    return value


def longer(body: Any, place: Place, count: int) -> Any:
    """A body with many elements in one of its lists."""
    body = copy.deepcopy(body)
    parent = body
    for step in place:
        parent = parent[step]
    parent[:] = [numbered(each, number) for number in range(count) for each in parent]
    return body


def places(kind: str) -> list[tuple[str, str, Any, Place]]:
    """Each list of the fixtures of a kind, once for all that have it in the same place."""
    found: dict[tuple[str, str], tuple[str, str, Any, Place]] = {}
    for protocol, path in fixtures(kind):
        body = load(path)
        for place in lists_in(body):
            name = ".".join("*" if isinstance(step, int) else step for step in place)
            if len(json.dumps(body)) < 20_000:
                found.setdefault((protocol, name), (protocol, name, body, place))
    return list(found.values())


def assert_linear(work: Callable[[int], object], few: int = FEW, many: int = MANY) -> None:
    """Fail if four times as much takes much more than four times the calls."""
    for each in (1, few, many):
        work(each)  # What is done once is not counted.
    once = count_calls(lambda: work(1))
    less, more = (count_calls(lambda n=each: work(n)) - once for each in (few, many))
    assert more < 6 * max(less, 200), (
        f"{once} calls for 1, {less} more for {few}, {more} for {many}"
    )


REQUESTS = places("request")
RESPONSES = places("response")


def tried(translate: Callable[[], object]) -> None:
    """Translate; what is refused costs something, too."""
    with suppress(ToolglotError):
        translate()


@pytest.mark.parametrize("number", range(len(REQUESTS)), ids=lambda n: "-".join(REQUESTS[n][:2]))
def test_a_request_costs_as_much_as_it_is_long(number):
    source, _, body, place = REQUESTS[number]
    target = NAMES[(NAMES.index(source) + 1 + number % (len(NAMES) - 1)) % len(NAMES)]
    bodies = {each: json.dumps(longer(body, place, each)).encode() for each in (1, FEW, MANY)}
    assert_linear(
        lambda count: tried(
            lambda: translate_request(
                bodies[count], source=source, target=target, path=path_to(source)
            )
        )
    )


@pytest.mark.parametrize("number", range(len(RESPONSES)), ids=lambda n: "-".join(RESPONSES[n][:2]))
def test_an_answer_costs_as_much_as_it_is_long(number):
    source, _, body, place = RESPONSES[number]
    target = NAMES[(NAMES.index(source) + 1 + number % (len(NAMES) - 1)) % len(NAMES)]
    bodies = {each: json.dumps(longer(body, place, each)).encode() for each in (1, FEW, MANY)}
    assert_linear(
        lambda count: tried(lambda: translate_response(bodies[count], source=source, target=target))
    )


# --- streams --------------------------------------------------------------------------------------


def texts(count: int) -> tuple[ir.Part, ...]:
    return tuple(ir.Text(text=f"word {number}") for number in range(count))


def calls(count: int) -> tuple[ir.Part, ...]:
    return tuple(
        ir.ToolCall(id=f"call_{number}", name=f"look_{number % 7}", arguments='{"a":1}')
        for number in range(count)
    )


def cited(count: int) -> tuple[ir.Part, ...]:
    pages = tuple(ir.Citation(url=f"https://a.example/{number}") for number in range(count))
    return (ir.Text(text="word", citations=pages),)


def thoughts(count: int) -> tuple[ir.Part, ...]:
    return tuple(ir.Reasoning(text=f"thought {number}") for number in range(count))


@pytest.mark.parametrize("parts", [texts, calls, cited, thoughts])
@pytest.mark.parametrize("source", NAMES)
@pytest.mark.parametrize("target", NAMES)
def test_a_stream_costs_as_much_as_it_is_long(target, source, parts):
    def stream(count: int) -> list[bytes]:
        stop = ir.StopReason(kind="end")
        choice = ir.Choice(parts=parts(count), stop=stop)
        answer = ir.Response(id="a", model="m", choices=(choice,))
        encoder = get_protocol(source).StreamEncoder(Context())
        return [*map(encoder.encode, unfold(answer)), encoder.close()]

    streams = {count: stream(count) for count in (1, FEW, MANY)}

    def work(count: int) -> None:
        translator = StreamTranslator(source, target)
        for piece in streams[count]:
            translator.feed(piece)
        translator.close()

    assert_linear(work)


# --- calls in text --------------------------------------------------------------------------------

RUNS = (" ", "\n", '"', "'", "\\", '\\"', "{", "[", "(", "<", "</", "<a>", "```", ",", ":", '{"a":')


@pytest.mark.parametrize("dialect", [*DIALECTS, "auto"])
def test_text_that_repeats_itself_costs_as_much_as_it_is_long(dialect):
    """As a model in a loop writes it: the beginning of a call, and then one thing for ever."""
    samples = SAMPLES.get(dialect) or SAMPLES["hermes"]
    text = samples[0].text
    middle = text[: len(text) // 2]
    for run in (*RUNS, text[:12], text[-12:]):

        def work(count: int, run: str = run) -> None:
            parse_text(middle + run * (8 * count), TOOLS, dialect)

        try:
            assert_linear(work)
        except AssertionError:
            # Some look ahead for a bounded number of characters, which are more than these.
            assert_linear(work, 4 * MANY, 16 * MANY)
