"""System and developer text in its place."""

import pytest
from msgspec.structs import replace
from tests.wires import asking, assistant, pair, user, words

from toolglot import ir
from toolglot.adapt.messages.system import drop_attribution, place_system
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


# --- attribution ----------------------------------------------------------------------------------

LINE = Text(text="x-anthropic-billing-header: cc_version=2.1.197.0af; cc_entrypoint=cli;")


def attributed(*parts, source="anthropic"):
    ctx = pair(source, "gemini")
    asked = asking(user("hi"), system=Message(role="system", parts=parts) if parts else None)
    there = drop_attribution(asked, ctx)
    return there, [(note.code, note.path) for note in ctx.receipt()]


def test_the_line_for_a_clients_own_provider_is_taken_out():
    there, notes = attributed(LINE, Text(text="Be brief."))
    assert words(there.system) == "Be brief."
    assert notes == [("attribution-dropped", "system[0]")]


def test_nothing_but_that_line_is_no_system_text():
    there, notes = attributed(LINE)
    assert there.system is None
    assert len(notes) == 1


@pytest.mark.parametrize(
    ("parts", "source"),
    [
        ((), "anthropic"),
        ((Text(text="Be brief."), LINE), "anthropic"),
        ((Text(text=f"{LINE.text}\nBe brief."),), "anthropic"),
        ((LINE,), "openai-chat"),
    ],
)
def test_anything_else_is_a_prompt(parts, source):
    there, notes = attributed(*parts, source=source)
    assert (there.system.parts if there.system else ()) == parts
    assert notes == []


def at_a_provider(*messages, target="openai-chat", **facts):
    ctx = pair("openai-responses", target)
    ctx.target = replace(ctx.target, system=replace(ctx.target.system, **facts))
    there = place_system(asking(*messages), ctx)
    return there, [(note.code, note.path) for note in ctx.receipt()]


def test_system_text_at_the_start_stays_where_none_may_come_later():
    there, notes = at_a_provider(
        system("a"), system("b"), user("hi"), system("c"), user("ho"), later=False
    )
    assert roles(there) == ["system", "system", "user", "user", "user"]
    assert notes == [("system-moved", "input[3]")]


def test_system_messages_are_one_where_there_may_be_one():
    there, notes = at_a_provider(system("a"), system("b"), user("hi"), single=True)
    assert there.messages == (system("a\n\nb"), user("hi"))
    assert notes == [("turns-merged", "input[0]")]
    there, notes = at_a_provider(system("a"), user("hi"), single=True)
    assert (roles(there), notes) == (["system", "user"], [])


@pytest.mark.parametrize(
    ("messages", "kept"),
    [
        ((user("hi"), system("s")), True),
        ((user("hi"), system("s"), assistant("ho")), True),
        ((user("hi"), system("s"), user("ho")), False),
        ((user("hi"), assistant("ho"), system("s")), False),
    ],
)
def test_system_text_follows_the_user_and_precedes_the_model(messages, kept):
    there, notes = at_a_provider(*messages, target="anthropic", after_user=True)
    assert ("system" in roles(there)) is kept
    assert bool(notes) is not kept
