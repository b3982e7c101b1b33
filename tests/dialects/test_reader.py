"""Reading text that is still coming."""

import pytest

from toolglot.dialects.reader import NotACall, Reader, Stops, Tools, plausible


def drive(steps, reader: Reader, pieces: list[str]):
    """What a piece of reading returns when text comes in pieces."""
    todo = list(pieces)
    while True:
        try:
            next(steps)
        except StopIteration as done:
            return done.value
        if todo:
            reader.append(todo.pop(0))
        else:
            reader.final = True


@pytest.mark.parametrize("pieces", [["  ab<end>c"], list("  ab<end>c"), ["  ab<e", "nd>c"]])
def test_until_stops_at_the_first_mark(pieces):
    reader = Reader(Tools(None))
    assert drive(reader.until(Stops("<end>", "<e")), reader, pieces) == ("  ab", "<end>")
    assert reader.buf[reader.pos :] in ("c", "")


def test_until_gives_up_beyond_its_limit():
    reader = Reader(Tools(None))
    with pytest.raises(NotACall):
        drive(reader.until(Stops(">"), 5), reader, ["abcdefgh", ">"])


@pytest.mark.parametrize("pieces", [['{"a": "}", "b": [1]} x'], list('{"a": "}", "b": [1]} x')])
def test_value_ends_with_its_last_bracket(pieces):
    reader = Reader(Tools(None))
    assert drive(reader.value(), reader, pieces) == ('{"a": "}", "b": [1]}', True)


def test_marks_that_may_still_come_are_held():
    stops = Stops("<tool>", "[x]")
    assert stops.held("abc<to", 0) == 3
    assert stops.held("abc<tx", 0) == 6
    assert stops.held("a[", 0) == 1


@pytest.mark.parametrize(
    "tool",
    [
        "f",
        {"name": "f"},
        {"name": "f", "input_schema": {"properties": []}},
        {"type": "function", "function": {"name": "f", "parameters": {"required": 1}}},
        {"type": "function", "name": "f", "parameters": None},
    ],
)
def test_tools_in_any_shape(tool):
    tools = Tools([tool, {}, {"name": 3}])
    assert tools.names() == ["f"]
    assert tools.sole_string("f") is None
    assert tools.resolve("f") == "f"
    assert tools.resolve("x.f") == "f"
    assert tools.resolve("g") is None


def test_plausible_names():
    assert plausible("a.b-c:1")
    assert not plausible("")
    assert not plausible("two words")
    assert not plausible("x" * 300)
