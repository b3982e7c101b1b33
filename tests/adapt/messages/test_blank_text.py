"""Blank text, where a target accepts none."""

import pytest
from tests.wires import asking, assistant, call, pair, result, user

from toolglot import translate_request
from toolglot.adapt.messages.blank_text import NO_CONTENT, fill_blanks
from toolglot.ir import Message, Reasoning, Text, ToolResult


def filled(request, source="openai-chat", target="anthropic"):
    ctx = pair(source, target)
    return fill_blanks(request, ctx), [(note.code, note.path) for note in ctx.receipt()]


@pytest.mark.parametrize("blank", ["", " ", "\n\n", "\t \u00a0"])
def test_a_blank_text_beside_a_call_is_left_out(blank):
    there, notes = filled(asking(user("hi"), assistant(Text(text=blank), call("f"))))
    assert there.messages[1].parts == (call("f"),)
    assert notes == [("blank-text", "messages[1].content")]


@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize("parts", [(Text(text=""),), (Text(text=" "), Text(text="\n"))])
def test_a_message_without_content_says_so(role, parts):
    there, notes = filled(asking(user("hi"), Message(role=role, parts=parts), user("again")))
    assert there.messages[1].parts == (Text(text=NO_CONTENT),)
    assert ("blank-text", "messages[1]") in notes


def test_reasoning_does_not_stand_alone():
    thought = Reasoning(text="hm", signature="s")
    there, _ = filled(asking(user("hi"), assistant(thought, Text(text="")), user("again")))
    assert there.messages[1].parts == (thought, Text(text=NO_CONTENT))


def test_an_answer_that_begins_with_nothing_is_no_beginning():
    there, notes = filled(asking(user("hi"), assistant(" ")))
    assert there.messages == (user("hi"),)
    assert notes[-1] == ("message-dropped", "messages[1]")


def test_blank_system_text_is_left_out():
    blank = Message(role="system", parts=(Text(text=" "),))
    there, _ = filled(asking(blank, user("hi")))
    assert there.messages == (user("hi"),)
    there, notes = filled(asking(user("hi"), system=blank), "openai-responses")
    assert there.system is None
    assert notes == [("blank-text", "instructions")]


def test_a_result_may_be_empty_and_not_blank():
    blank = ToolResult(id="call_1", parts=(Text(text="\n"), Text(text="ok")))
    there, notes = filled(asking(user("hi"), assistant(call("f")), user(blank)))
    assert there.messages[2].parts[0].parts == (Text(text="ok"),)
    assert notes == [("blank-text", "messages[2]")]
    empty = ToolResult(id="call_1", parts=(Text(text=""),))
    there, _ = filled(asking(user("hi"), assistant(call("f")), user(empty)))
    assert there.messages[2].parts[0].parts == ()


def test_nothing_changes_where_nothing_is_blank_or_blanks_are_accepted():
    request = asking(user("hi"), assistant("a", call("f")), user(result("done")))
    assert filled(request)[0] is request
    request = asking(user(""))
    assert filled(request, "anthropic", "openai-chat") == (request, [])


def test_what_chat_clients_send_is_accepted_by_anthropic():
    function = {"name": "look", "arguments": "{}"}
    call_of = {"id": "c1", "type": "function", "function": function}
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "\n\n", "tool_calls": [call_of]},
        {"role": "tool", "tool_call_id": "c1", "content": ""},
        {"role": "assistant", "content": ""},
        {"role": "user", "content": [{"type": "text", "text": ""}]},
    ]
    wire, receipt = translate_request(
        {"model": "m", "messages": messages}, source="openai-chat", target="anthropic"
    )
    texts = [
        block.get("text", "x")
        for message in wire.body["messages"]
        for block in (
            message["content"]
            if isinstance(message["content"], list)
            else [{"text": message["content"]}]
        )
    ]
    assert all(text.strip() for text in texts)
    assert [message["role"] for message in wire.body["messages"]] == [
        "user", "assistant", "user", "assistant", "user",
    ]  # fmt: skip
    assert "content" not in wire.body["messages"][2]["content"][0]
    assert {note.code for note in receipt} >= {"blank-text"}
