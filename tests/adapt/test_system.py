"""System and developer text in its place."""

import pytest
from tests.wires import asking, pair, user, words

from toolglot import ir
from toolglot.adapt.system import place_system
from toolglot.ir import Message, Text


def system(text, role="system"):
    return Message(role=role, parts=(Text(text=text),))


def placed(request, source, target):
    ctx = pair(source, target)
    return place_system(request, ctx), [(note.code, note.path) for note in ctx.receipt()]


def roles(request):
    return [message.role for message in request.messages]


def test_the_slot_becomes_the_first_message_where_there_is_none():
    there, notes = placed(asking(user("hi"), system=system("s")), "anthropic", "openai-chat")
    assert there.system is None
    assert roles(there) == ["system", "user"]
    assert notes == []


@pytest.mark.parametrize("target", ["anthropic", "gemini"])
def test_leading_messages_go_into_the_slot(target):
    request = asking(system("a"), system("b", "developer"), user("hi"), system=system("s"))
    there, notes = placed(request, "openai-responses", target)
    assert there.system is not None
    assert [part.text for part in there.system.parts] == ["s", "a", "b"]
    assert roles(there) == ["user"]
    assert notes == [("role-changed", "input[1]")]


def test_messages_stay_where_they_may():
    """case-36"""
    request = asking(user("hi"), system("b"), user("go"))
    there, notes = placed(request, "openai-chat", "anthropic")
    assert roles(there) == ["user", "system", "user"]
    assert notes == []


def test_messages_become_a_users_where_they_may_not():
    request = asking(user("hi"), system("b"), user("go"))
    there, notes = placed(request, "openai-chat", "gemini")
    assert roles(there) == ["user", "user", "user"]
    assert words(there.messages[1]) == "<system>\nb\n</system>"
    assert notes == [("system-moved", "messages[1]")]


def test_what_is_no_text_is_moved_as_it_is():
    picture = ir.Image(source=ir.Remote(url="https://a.example/x.png"))
    request = asking(user("hi"), Message(role="system", parts=(picture,)))
    there, _ = placed(request, "openai-chat", "gemini")
    assert there.messages[1].parts == (picture,)


def test_developers_are_told_as_system_where_there_are_none():
    there, notes = placed(asking(user("hi"), system("d", "developer")), "openai-chat", "ollama")
    assert roles(there) == ["user", "system"]
    assert notes == [("role-changed", "messages[1]")]


def test_developers_stay_where_they_are_known():
    request = asking(system("d", "developer"), user("hi"))
    there, notes = placed(request, "openai-chat", "openai-responses")
    assert roles(there) == ["developer", "user"]
    assert notes == []


def test_no_system_text_is_no_question():
    request = asking(user("hi"))
    there, notes = placed(request, "openai-chat", "gemini")
    assert there == request
    assert notes == []
