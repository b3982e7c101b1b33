"""Every call answered once, every result after its call."""

import pytest
from tests.wires import asking, assistant, call, pair, result, user, words

from toolglot import ir
from toolglot.adapt.calls.pairing import UNANSWERED, pair_results
from toolglot.ir import Text, ToolResult


def paired(request, source="anthropic", target="openai-chat"):
    ctx = pair(source, target)
    return pair_results(request, ctx), ctx


def notes(ctx):
    return [(note.code, note.path) for note in ctx.receipt()]


def shape(request):
    """Roles and, in short, parts."""
    names = {ir.Text: "text", ir.ToolCall: "call", ir.ToolResult: "result"}
    return [
        (message.role[0], *(getattr(p, "id", names[type(p)]) for p in message.parts))
        for message in request.messages
    ]


TWO = assistant(call("f", id="c1"), call("g", id="c2"))


@pytest.mark.parametrize(
    "messages",
    [
        (),
        (user("hi"),),
        (user("hi"), assistant("yes")),
        (user("hi"), TWO),
        (user("hi"), TWO, user(result("1", id="c1"), result("2", id="c2"))),
        (user("hi"), TWO, user(result("1", id="c1")), user(result("2", id="c2"), "so?")),
        (user("hi"), TWO, user(result("2", id="c2"), result("1", id="c1"))),
        (
            assistant(call("f", id="c1")),
            assistant(call("g", id="c2")),
            user(result("1", id="c1"), result("2", id="c2")),
        ),
    ],
    ids=["empty", "user", "no calls", "waiting", "sound", "two messages", "any order", "two turns"],
)
def test_a_sound_history_is_the_same_one(messages):
    request = asking(*messages)
    there, ctx = paired(request)
    assert there is request
    assert notes(ctx) == []


def test_a_missing_result_is_told_as_a_failure():
    """X-10"""
    there, ctx = paired(asking(user("hi"), TWO, user(result("1", id="c1"), "so?")))
    assert shape(there)[2:] == [("u", "c1", "c2"), ("u", "text")]
    made = there.messages[2].parts[1]
    assert made == ToolResult(id="c2", name="g", parts=(Text(text=UNANSWERED),), is_error=True)
    assert notes(ctx) == [("call-unanswered", "messages[1].content[1]")]


def test_calls_in_the_middle_are_answered():
    """X-10"""
    request = asking(user("hi"), assistant(call("f", id="c1")), user("never mind"), assistant("ok"))
    there, ctx = paired(request)
    assert shape(there) == [("u", "text"), ("a", "c1"), ("u", "c1"), ("u", "text"), ("a", "text")]
    assert [code for code, _ in notes(ctx)] == ["call-unanswered"]


def test_an_orphan_becomes_text():
    """X-10"""
    orphan = ToolResult(id="c9", name="f", parts=(Text(text="late"),))
    there, ctx = paired(asking(user("hi", orphan)))
    assert words(there) == "hi[result of f, call c9]late"
    assert notes(ctx) == [("result-unmatched", "messages[0].content[1]")]


def test_a_result_that_comes_too_late_is_an_orphan_too():
    request = asking(
        assistant(call("f", id="c1")), user("wait"), assistant("ok"), user(result("late", id="c1"))
    )
    there, ctx = paired(request)
    assert UNANSWERED in words(there.messages[1].parts[0])
    assert words(there.messages[-1]) == "[result of f, call c1]late"
    assert [code for code, _ in notes(ctx)] == ["call-unanswered", "result-unmatched"]


def test_an_orphan_of_nobody_knows_no_name():
    there, _ = paired(asking(user(result("late", id="c9"))))
    assert words(there) == "[result of unknown tool, call c9]late"


def test_the_last_of_two_results_counts():
    """case-32"""
    request = asking(
        assistant(call("f", id="c1")), user(result("old", id="c1"), result("new", id="c1"))
    )
    there, ctx = paired(request)
    [given] = there.messages[1].parts
    assert words(given) == "new"
    assert notes(ctx) == [("result-unmatched", "messages[1].content[0]")]


def test_results_come_before_everything_else():
    """X-09"""
    request = asking(TWO, user("well", result("1", id="c1")), user("so", result("2", id="c2")))
    there, _ = paired(request)
    assert shape(there) == [("a", "c1", "c2"), ("u", "c1", "c2"), ("u", "text"), ("u", "text")]
    assert words(there.messages[2]) + words(there.messages[3]) == "wellso"


@pytest.mark.parametrize("target", ["gemini", "ollama"])
def test_results_follow_the_order_of_their_calls_where_that_counts(target):
    request = asking(TWO, user(result("2", id="c2"), result("1", id="c1")))
    there, ctx = paired(request, target=target)
    assert [(p.id, p.name) for p in there.messages[1].parts] == [("c1", "f"), ("c2", "g")]
    assert ("results-reordered", "messages[1]") in notes(ctx)


@pytest.mark.parametrize("target", ["gemini", "ollama"])
def test_results_say_the_name_of_their_tool_where_that_counts(target):
    request = asking(assistant(call("f", id="c1")), user(result("1", id="c1")))
    there, _ = paired(request, target=target)
    assert there.messages[1].parts[0].name == "f"


def test_ids_that_cannot_be_told_are_named_once():
    request = asking(TWO, user(result("1", id="c1"), result("2", id="c2")))
    _, ctx = paired(request, target="ollama")
    assert notes(ctx) == [("id-dropped", "messages")]
