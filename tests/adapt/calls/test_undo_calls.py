"""Calls as the client declared them, whole and in streams."""

import pytest

from toolglot.adapt.answers.passes import adapt_response, adapt_whole, answer_passes
from toolglot.adapt.calls.undo_calls import UndoCalls
from toolglot.context import Context, Options
from toolglot.events import PartDelta, PartEnded, PartStarted, Started
from toolglot.ir import Choice, Response, Text, ToolCall
from toolglot.registry import get_protocol
from toolglot.undo import UndoStep


class Upper:
    """Undoes piece by piece, holding the last piece back."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        ready, self._held = self._held, text.upper()
        return ready

    def close(self) -> str:
        return self._held


def context(*, live: bool) -> Context:
    ctx = Context()
    step = UndoStep(name="cat", arguments=str.upper, live=Upper if live else None)
    ctx.undo.tool("read", step)
    ctx.undo.tool("find", UndoStep(name="search"))
    return ctx


def call(name: str, arguments: str) -> ToolCall:
    return ToolCall(id="c", name=name, arguments=arguments)


def test_a_response_without_anything_to_undo_stays_the_same():
    surface = get_protocol("ollama").SURFACE
    ctx = Context(Options(dialect="auto"), source=surface, target=surface)
    assert UndoCalls not in map(type, answer_passes(ctx))
    response = Response(id="r", model="m", choices=(Choice(parts=(call("cat", "{}"),)),))
    assert adapt_response(response, ctx) is response


def test_a_whole_response_is_restored():
    parts = (Text(text="hi"), call("read", "abc"), call("find", "x"), call("new", "y"))
    response = Response(id="r", model="m", choices=(Choice(parts=parts),))
    ctx = context(live=False)
    restored = adapt_whole(response, [UndoCalls(ctx)], ctx).choices[0].parts
    assert restored == (Text(text="hi"), call("cat", "ABC"), call("search", "x"), call("new", "y"))


def stream(name: str) -> list:
    return [
        Started(id="r", model="m"),
        PartStarted(0, call(name, "")),
        PartDelta(0, "ab"),
        PartDelta(0, "cd"),
        PartEnded(0),
    ]


def run(ctx: Context, events: list) -> list:
    restoring = UndoCalls(ctx)
    return [[*restoring.feed(event)] for event in events]


def test_a_name_is_undone_at_once_and_arguments_pass():
    started, start, first, second, end = run(context(live=False), stream("find"))
    assert start == [PartStarted(0, call("search", ""))]
    assert (first, second, end) == ([PartDelta(0, "ab")], [PartDelta(0, "cd")], [PartEnded(0)])
    assert len(started) == 1


def test_arguments_are_undone_live_where_every_step_can():
    _, start, first, second, end = run(context(live=True), stream("read"))
    assert start == [PartStarted(0, call("cat", ""))]
    assert (first, second) == ([], [PartDelta(0, "AB")])
    assert end == [PartDelta(0, "CD"), PartEnded(0)]


def test_arguments_are_held_until_whole_where_a_step_cannot():
    _, start, first, second, end = run(context(live=False), stream("read"))
    assert (start, first, second) == ([], [], [])
    assert end == [PartStarted(0, call("cat", "")), PartDelta(0, "ABCD"), PartEnded(0)]


@pytest.mark.parametrize("name", ["read", "find"])
def test_a_call_that_broke_off_stays_incomplete(name):
    events = [*stream(name)[:-1], PartEnded(0, incomplete=True)]
    for live in (True, False):
        last = run(context(live=live), events)[-1][-1]
        assert last == PartEnded(0, incomplete=True)
