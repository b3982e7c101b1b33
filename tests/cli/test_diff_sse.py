"""`toolglot diff-sse`: two recorded streams, by the types and fields of their events."""

import json

import pytest
from tests.laws.corpus import FIXTURES

from toolglot.cli.diff_sse import differences, field_paths, steps
from toolglot.streams import StreamTranslator


def sse(*events):
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


def delta(text, **more):
    return {"type": "text.delta", "delta": text, **more}


START, STOP = {"type": "start", "item": {"id": 1}}, {"type": "stop"}


def found(first, second):
    return list(differences(first, second))


def test_values_and_cuts_do_not_count():
    first = sse(START, delta("a"), delta("b"), STOP)
    second = sse({"type": "start", "item": {"id": "x"}}, delta("ab"), STOP)
    assert found(first, second) == []


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ([START, STOP], [START, delta("a"), STOP], "only B has event 2: text.delta"),
        ([START, {"type": "ping"}, STOP], [START, STOP], "only A has event 2: ping"),
        ([START, STOP], [START, {"type": "end"}], "event 2 of A is stop, event 2 of B is end"),
        (
            [START, STOP],
            [{"type": "start", "item": {"name": 1}}, STOP],
            "event 1 (start): only A has item.id; only B has item.name",
        ),
        ([{"a": 1}], [{"a": 1, "b": [{"c": 2}]}], "event 1: only B has b and b[].c"),
        ([{"a": 1}], [], "only A has event 1: an event with a"),
        ([], [{}], "only B has event 1: an event with no fields"),
    ],
)
def test_differences_are_told_in_words(first, second, words):
    assert found(sse(*first), sse(*second)) == [words]


def test_other_marks_are_events_too():
    assert found(b"data: [DONE]\n\n", b"") == ["only A has event 1: [DONE]"]
    assert found(b": comment\n\ndata: {\n\n", b"") == ["only A has event 1: broken data"]


def test_pieces_in_a_row_have_the_fields_of_all():
    first, *rest = steps(sse(delta("a"), delta("b", logprobs=[]), STOP, STOP))
    assert first.fields == {"type", "delta", "logprobs"}
    assert [(step.number, step.kind) for step in rest] == [(3, "stop"), (4, "stop")]


def test_lines_and_arrays_of_json_are_streams_too():
    lines = b'{"done":false}\n{"done":false}\n{"done":true,"done_reason":"stop"}\n'
    array = b'[{"done":false},{"done":true,"done_reason":"stop"}]'
    assert found(lines, array) == []


def test_fields_however_deep():
    assert sorted(field_paths({"a": [{"b": 1}, {"c": [[{"d": 2}]]}], "e": None})) == [
        "a",
        "a[].b",
        "a[].c",
        "a[].c[][].d",
        "e",
    ]
    deep = {}
    for _ in range(5000):
        deep = {"a": deep}
    assert sum(1 for _ in field_paths(deep)) == 5000


def test_the_command_says_the_same_or_what_differs(cli, tmp_path):
    a, b = tmp_path / "a.txt", tmp_path / "b.txt"
    a.write_bytes(sse(START, STOP))
    b.write_bytes(sse(START, delta("x"), STOP))
    assert cli("diff-sse", str(a), str(a)) == (0, b"the same events with the same fields\n", "")
    done = cli("diff-sse", str(a), str(b))
    assert done == (1, f"only {b} has event 2: text.delta\n".encode(), "")


def test_the_first_differences_are_printed_unless_all_are_asked_for(cli, tmp_path):
    a, b = tmp_path / "a.txt", tmp_path / "b.txt"
    a.write_bytes(b"")
    b.write_bytes(sse(*({"type": f"t{n}"} for n in range(14))))
    lines = cli("diff-sse", str(a), str(b)).out.decode().splitlines()
    assert len(lines) == 11
    assert lines[-1] == "and 4 more (--all prints them)"
    assert len(cli("diff-sse", "--all", str(a), str(b)).out.splitlines()) == 14


ASKED = {"model": "gpt-5.5", "input": [], "text": {"verbosity": "medium"}}


def recorded(name):
    return (FIXTURES / "openai-responses" / f"{name}.stream.txt").read_bytes()


def one_call():
    """A recorded stream of two calls without its second call."""
    events = [
        json.loads(line[6:]) for line in recorded("parallel").split(b"\n") if line[:5] == b"data:"
    ]
    events[-1]["response"]["output"] = events[-1]["response"]["output"][:1]
    return sse(*(event for event in events if event.get("output_index", 0) == 0))


@pytest.mark.parametrize(
    ("theirs", "via"),
    [
        (one_call(), "openai-chat"),
        (recorded("length"), "openai-chat"),
        (recorded("length"), "anthropic"),
        (recorded("refusal"), "openai-chat"),
        (recorded("custom"), "openai-chat"),
    ],
    ids=["call", "cut-call", "cut-call", "refusal", "custom-call"],
)
def test_our_streams_are_shaped_as_openais_own(theirs, via):
    """S1-38: an answer that went through another protocol comes out event by event, field by field
    as OpenAI had sent it.
    """
    there = StreamTranslator("openai-responses", via)
    other = there.feed(theirs) + there.close()
    back = StreamTranslator(via, "openai-responses", request=ASKED)
    assert found(theirs, back.feed(other) + back.close()) == []
