"""What a target requires of the first and of the last turn."""

import pytest
from msgspec.structs import replace
from tests.wires import asking, assistant, call, pair, result, user

from toolglot import translate_request
from toolglot.adapt.messages.turn_order import (
    CONTINUE,
    OPENING,
    adapt_prefill,
    require_messages,
    require_user_first,
)
from toolglot.exchange import Exchange
from toolglot.ir import Message, Opaque, Text

RULES = Message(role="system", parts=(Text(text="Be short."),))


def through(adapt, request, target, source="openai-chat", **facts):
    ctx = pair(source, target)
    if facts:
        ctx.target = replace(ctx.target, messages=replace(ctx.target.messages, **facts))
    return adapt(request, ctx), [(note.code, note.path) for note in ctx.receipt()]


# --- the first ------------------------------------------------------------------------------------


def test_a_user_speaks_before_the_models_first_turn():
    request = asking(assistant(call("f")), user(result("done")))
    there, notes = through(require_user_first, request, "gemini")
    assert there.messages == (user(OPENING), *request.messages)
    assert notes == [("turn-added", "messages[0]")]


def test_system_text_may_come_before():
    there, _ = through(
        require_user_first, asking(RULES, assistant("hi")), "ollama", user_first=True
    )
    assert there.messages == (RULES, user(OPENING), assistant("hi"))
    there, _ = through(require_user_first, asking(RULES), "ollama", user_first=True)
    assert there.messages == (RULES, user(OPENING))


@pytest.mark.parametrize("target", ["gemini", "anthropic"])
def test_who_begins_right_is_left_alone(target):
    request = asking(user("hi"), assistant("ho"))
    assert through(require_user_first, request, target) == (request, [])


def test_gemini_gets_no_history_that_begins_with_a_call():
    function = {"name": "look", "arguments": "{}"}
    messages = [
        {"role": "system", "content": "Be short."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
    ]
    wire, _ = translate_request(
        {"model": "m", "messages": messages}, source="openai-chat", target="gemini"
    )
    assert [each["role"] for each in wire.body["contents"]] == ["user", "model", "user"]


# --- nothing to send ------------------------------------------------------------------------------


def test_system_text_alone_gets_a_turn_to_answer():
    there, notes = through(require_messages, asking(system=RULES), "anthropic")
    assert there.messages == (user(OPENING),)
    assert notes == [("turn-added", "system")]


@pytest.mark.parametrize(
    ("source", "body", "path"),
    [
        ("openai-chat", {"messages": []}, "messages"),
        ("openai-responses", {"prompt": {"id": "pmpt_1"}}, "prompt"),
    ],
)
def test_nothing_to_send_is_said(source, body, path):
    _, receipt = translate_request({"model": "m", **body}, source=source, target="anthropic")
    assert ("nothing-to-send", path) in [(note.code, note.path) for note in receipt.losses]


def test_a_message_of_which_nothing_can_be_sent_is_named_in_its_place():
    body = b"""{"model": "m", "messages": [{"role": "user", "content":
        [{"type": "document_url", "document_url": "https://a.example/x.pdf"}]}]}"""
    exchange = Exchange("openai-chat", "anthropic")
    assert b"[document_url left out]" in exchange.request(body).data
    assert "part-dropped" in {note.code for note in exchange.notes}


# --- the last -------------------------------------------------------------------------------------


def test_white_space_at_the_end_of_a_prefill_is_cut():
    there, notes = through(adapt_prefill, asking(user("hi"), assistant("{ \n")), "anthropic")
    assert there.messages[-1] == assistant("{")
    assert notes == [("prefill-changed", "messages[1]")]


def test_a_prefill_of_white_space_is_none():
    there, _ = through(adapt_prefill, asking(user("hi"), assistant(" ")), "anthropic")
    assert there.messages == (user("hi"),)


@pytest.mark.parametrize(
    "last", [assistant("{"), user("hi "), assistant("a ", call("f")), assistant()]
)
def test_other_ends_stay(last):
    request = asking(user("hi"), last)
    assert through(adapt_prefill, request, "anthropic") == (request, [])


def test_models_that_continue_nothing_are_asked_to():
    request = asking(user("hi"), assistant("{ "))
    there, notes = through(adapt_prefill, request, "anthropic", prefill="refused")
    assert there.messages == (*request.messages, user(CONTINUE))
    assert notes == [("prefill-changed", "messages[1]")]


def test_a_pause_is_no_prefill():
    paused = assistant(Opaque(protocol="anthropic", type="server_tool_use", value={}))
    request = asking(user("hi"), paused)
    assert through(adapt_prefill, request, "anthropic", prefill="refused")[0] is request


def test_a_prefill_is_marked_where_that_is_asked_for():
    request = asking(user("hi"), assistant("{"))
    facts = {"prefill": "refused", "prefill_mark": "prefix"}
    there, notes = through(adapt_prefill, request, "openai-chat", **facts)
    assert there.messages[-1].extras == {"openai-chat": {"prefix": True}}
    assert notes == [("default-added", "messages[1].prefix")]
    assert through(adapt_prefill, there, "openai-chat", **facts) == (there, [])
