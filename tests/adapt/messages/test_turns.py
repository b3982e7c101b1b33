"""Consecutive messages of one role, and messages without order."""

import pytest
from msgspec.structs import replace
from tests.wires import asking, assistant, call, pair, result, user

from toolglot import ir
from toolglot.adapt.messages import turns
from toolglot.adapt.messages.turns import flat_parts, flatten, merge_turns
from toolglot.ir import Message, Reasoning, Text


def merged(request, target, source="openai-responses", **facts):
    ctx = pair(source, target)
    ctx.target = replace(ctx.target, messages=replace(ctx.target.messages, **facts))
    return merge_turns(request, ctx), [note.code for note in ctx.receipt()]


def test_turns_are_joined_where_the_target_has_one_message_for_them():
    """X-11"""
    there, notes = merged(
        asking(user("a"), user("b"), assistant("c"), assistant(call("f")), user("d")), "anthropic"
    )
    assert [(m.role, len(m.parts)) for m in there.messages] == [
        ("user", 2),
        ("assistant", 2),
        ("user", 1),
    ]
    assert notes == ["turns-merged"]


def test_only_the_assistants_are_joined_where_order_is_lost():
    there, notes = merged(
        asking(user("a"), user("b"), assistant("c"), assistant("d")), "openai-chat"
    )
    assert [m.role for m in there.messages] == ["user", "user", "assistant"]
    assert there.messages[2].parts == (Text(text="cd"),)
    assert notes == ["turns-merged", "text-joined"]


def test_nothing_is_joined_elsewhere():
    request = asking(user("a"), user("b"), assistant("c"), assistant("d"))
    there, notes = merged(request, "openai-responses", "openai-chat")
    assert there is request
    assert notes == []


def test_results_come_first_in_what_was_joined():
    """case-32"""
    there, _ = merged(asking(assistant(call("f")), user("a"), user(result("1"), "b")), "anthropic")
    assert [type(part) for part in there.messages[1].parts] == [ir.ToolResult, Text, Text]
    assert [p.text for p in there.messages[1].parts[1:]] == ["a", "b"]


def test_empty_messages_are_left_out():
    there, _ = merged(asking(user("a"), assistant(), user("b")), "openai-responses", "gemini")
    assert [m.role for m in there.messages] == ["user", "user"]


@pytest.mark.parametrize(
    ("parts", "flat", "codes"),
    [
        ((Text(text="a"), call("f")), None, []),
        ((Reasoning(text="r"), Text(text="a"), call("f")), None, []),
        ((call("f"), Text(text="a")), [Text, ir.ToolCall], ["part-moved"]),
        ((Text(text="a"), Text(text="b")), [Text], ["text-joined"]),
        (
            (Text(text="a"), call("f"), Reasoning(text="r"), Text(text="b")),
            [Reasoning, Text, ir.ToolCall],
            ["part-moved", "text-joined"],
        ),
        ((ir.Refusal(text="no"), Text(text="a")), [Text, ir.Refusal], ["part-moved"]),
        (
            (ir.Image(source=ir.Remote(url="x")), call("f")),
            [ir.ToolCall, ir.Image],
            ["part-moved"],
        ),
        ((), None, []),
    ],
)
def test_parts_by_kind(parts, flat, codes):
    ctx = pair("anthropic", "openai-chat")
    found = flat_parts(parts, ctx, "messages[0]")
    if flat is None:
        assert found is parts
    else:
        assert [type(part) for part in found] == flat
    assert [note.code for note in ctx.receipt()] == codes


def test_joined_texts_keep_their_words_and_citations():
    ctx = pair("anthropic", "openai-chat")
    one, two = ir.Citation(url="https://1"), ir.Citation(url="https://2")
    [text] = flat_parts(
        (Text(text="a ", citations=(one,)), Text(text=" b", citations=(two,))), ctx, ""
    )
    assert text == Text(text="a  b", citations=(one, two))


def test_a_flat_message_is_the_same_one():
    ctx = pair("anthropic", "openai-chat")
    message = assistant("a", call("f"))
    assert flatten(message, ctx) is message
    turned = assistant(call("f"), "a")
    ctx.place((message, turned))
    assert isinstance(flatten(turned, ctx), Message)
    assert [note.path for note in ctx.receipt()] == ["messages[1]"]


def test_text_behind_calls_comes_before_them_where_results_must_follow_at_once():
    thought = Reasoning(text="hm")
    turn = assistant("a", call("f"), thought, call("g"), call("h"), "b", "c")
    there, notes = merged(asking(user("hi"), turn), "anthropic", text_before_calls=True)
    parts = (Text(text="a"), call("f"), thought, Text(text="b"), Text(text="c"))
    assert there.messages[1].parts == (*parts, call("g"), call("h"))
    assert notes == ["part-moved"]
    usual = asking(user("hi"), assistant("a", call("f")))
    assert merged(usual, "anthropic", text_before_calls=True) == (usual, [])
    assert merged(asking(user("hi"), turn), "gemini")[0].messages[1] == turn
    own = asking(user("hi"), assistant(Reasoning(text="hm", signature="s"), call("f"), "b"))
    assert merged(own, "anthropic", text_before_calls=True) == (own, [])


def test_an_empty_message_is_dropped_and_named():
    there, notes = merged(asking(user("hi"), assistant()), "anthropic")
    assert there.messages == (user("hi"),)
    assert notes == ["message-dropped"]


def test_many_messages_are_joined_at_once(monkeypatch):
    """One after the other, the first would be copied as often as there are others."""
    copied = []

    def counted(**members):
        copied.append(len(members["parts"]))
        return Message(**members)

    monkeypatch.setattr(turns, "Message", counted)
    there, _ = merged(asking(*(user(str(number)) for number in range(200))), "anthropic")
    assert [len(message.parts) for message in there.messages] == [200]
    assert sum(copied) == 200
