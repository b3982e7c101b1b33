"""Calls, results and reasoning in messages of OpenAI Chat Completions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.protocols.openai_chat.helpers import (
    HARNESS,
    SIGNED,
    answer,
    ask,
    call,
    call_message,
    codes,
    decode,
    encode,
    entries,
    fixture,
    foreign,
    reply,
    results,
    said,
    tool,
    user,
)

from toolglot.context import Context
from toolglot.ir import (
    Image,
    Message,
    Opaque,
    Reasoning,
    Remote,
    Request,
    Text,
    ToolCall,
    ToolResult,
)
from toolglot.wire.message import WireRequest

# --- calls ----------------------------------------------------------------------------------------


def test_null_content_is_no_text():
    """S0-34, S4-04: calls beside null content make no empty text, and come back with null."""
    request = decode(ask(call_message(call())))
    assert request.messages[0].parts == (ToolCall(id="c1", name="f", arguments="{}"),)
    message = Message(role="assistant", parts=request.messages[0].parts)
    body = encode(Request(model="m", messages=(message,)), foreign())
    assert body["messages"][0] == {**call_message(call())}


def test_empty_content_beside_calls_is_no_text():
    body = ask(call_message(call(), content=""))
    assert [type(part) for part in decode(body).messages[0].parts] == [ToolCall]
    assert encode(decode(body)) == body
    assert decode(ask({"role": "assistant", "content": ""})).messages[0].parts == (Text(text=""),)


def test_parallel_calls_keep_their_ids_and_order():
    """S4-06: several calls in one message, each with its id."""
    made = decode(fixture("request", "tools")).messages[1].parts
    assert [part.id for part in made] == ["call_b1", "call_s1", "call_f1"]


def test_arguments_are_the_text_that_came():
    """D-04: key order, spaces, big integers and 1.0 survive; invalid JSON too."""
    for text in ('{"b": 1.0, "a": 12345678901234567890}', "{broken", ""):
        made = decode(ask(call_message(call(arguments=text)))).messages[0].parts[0]
        assert made.arguments == text


def test_arguments_given_as_an_object_are_written_once():
    """S0-63: an object in place of JSON text becomes that text."""
    ctx = Context()
    made = decode(ask(call_message(call(arguments={"a": 1}))), ctx).messages[0].parts[0]
    assert made.arguments == '{"a":1}'
    assert codes(ctx) == ["arguments-normalised"]


def test_calls_without_ids_are_numbered():
    ctx = Context()
    messages = [
        call_message(call(""), call("call_1")),
        {"role": "tool", "content": "first"},
        tool("call_1", "second"),
        call_message({"type": "function", "function": {"name": "g"}}, call("")),
    ]
    decoded = decode(ask(*messages), ctx).messages
    assert [part.id for part in decoded[0].parts] == ["call_0", "call_1"]
    assert decoded[1].parts[0].id == "call_0"
    assert decoded[1].parts[0].id_made
    assert [part.id for part in decoded[3].parts] == ["call_2", "call_3"]
    assert codes(ctx) == ["id-made", "arguments-normalised"]
    assert decode(ask(call_message(call("call_1"), call("")))).messages[0].parts[1].id == "call_1_"


def test_calls_of_unknown_types_are_kept():
    message = fixture("request", "vendor-local")["messages"][1]
    parts = decode(ask(message)).messages[0].parts
    assert isinstance(parts[0], ToolCall)
    assert isinstance(parts[1], Opaque)
    ctx = foreign()
    stray = (Opaque(protocol="elsewhere", type="tool_calls.x", value={}),)
    request = Request(model="m", messages=(Message(role="assistant", parts=stray),))
    assert encode(request, ctx)["messages"] == [{"role": "assistant", "content": ""}]
    assert ctx.receipt().codes() == {"part-dropped": 1}


# --- results --------------------------------------------------------------------------------------


def test_a_result_is_a_tool_message():
    """S0-35, S2-11, S4-05: role `tool`, its id, its text as it is, and no empty user message."""
    result = ToolResult(id="call_xxx", parts=(Text(text="72°F, sunny"),))
    body = encode(results(result), foreign())
    assert body["messages"] == [tool("call_xxx", "72°F, sunny")]
    assert "°" in WireRequest(body=body).data().decode()


def test_an_empty_result_has_content():
    """S0-37: the key is there, with an empty text."""
    assert encode(results(ToolResult(id="a")), foreign())["messages"] == [tool("a", "")]


def test_results_come_before_other_content():
    """X-09: the results of a turn, in order, then the rest of the user's message."""
    parts = (
        Text(text="also"),
        ToolResult(id="a", parts=(Text(text="1"),)),
        ToolResult(id="b", parts=(Text(text="2"),)),
    )
    messages = encode(results(*parts), foreign())["messages"]
    assert messages == [tool("a", "1"), tool("b", "2"), user("also")]


def test_failed_results_are_marked_and_read_back():
    """case-31, D-15: the flag becomes a mark in the text, and the mark the flag."""
    ctx = foreign()
    failed = ToolResult(id="a", parts=(Text(text="boom"),), is_error=True)
    body = encode(results(failed), ctx)
    assert body["messages"] == [tool("a", "[tool error] boom")]
    assert codes(ctx) == ["error-marked"]
    assert decode(body).messages[0].parts == (failed,)
    nothing = encode(results(ToolResult(id="a", is_error=True)), foreign())
    assert nothing["messages"] == [tool("a", "[tool error] ")]


def test_several_texts_of_a_foreign_result_are_joined():
    ctx = foreign()
    texts = (Text(text="one"), Text(text="two"), Image(source=Remote(url="https://i.example")))
    assert encode(results(ToolResult(id="a", parts=texts)), ctx)["messages"] == [
        tool("a", "one\ntwo")
    ]
    assert codes(ctx) == ["part-dropped", "text-joined"]


def test_a_failed_result_of_parts_is_marked_in_its_first_text():
    image = {"type": "image_url", "image_url": {"url": "https://i.example/a.png"}}
    request = decode(ask(tool("a", [image])))
    failed = replace(request.messages[0].parts[0], is_error=True)
    content = encode(results(failed))["messages"][0]["content"]
    assert content == [{"type": "text", "text": "[tool error] "}, image]


def test_a_result_in_the_wrong_place_is_named():
    ctx = foreign()
    encode(results(ToolResult(id="a"), role="assistant"), ctx)
    assert codes(ctx) == ["part-dropped"]


# --- reasoning ------------------------------------------------------------------------------------


def test_reasoning_beside_content_and_calls():
    """case-37, case-38: both names of reasoning are read, and nothing beside it is lost."""
    for key in ("reasoning_content", "reasoning"):
        message = {"content": "hello", key: "why", "tool_calls": [call()]}
        parts = answer(said(message, "tool_calls")).choices[0].parts
        assert [type(part) for part in parts] == [Reasoning, Text, ToolCall]
        assert parts[0].text == "why"
        body = ask({"role": "assistant", **message})
        assert encode(decode(body)) == body


def test_foreign_reasoning_is_written_as_reasoning_content():
    ctx = foreign()
    parts = (
        Reasoning(text="one", signature="S1"),
        Reasoning(summary=("two", "three")),
        Reasoning(redacted=True, signature="S2"),
        Reasoning(),
        Text(text="t"),
    )
    message = encode(results(*parts, role="assistant"), ctx)["messages"][0]
    assert message["reasoning_content"] == "one\n\ntwo\n\nthree"
    assert message["reasoning_details"] == [
        {"type": "reasoning.encrypted", "format": "toolglot-v1", "data": "S1", "index": 0},
        {"type": "reasoning.encrypted", "format": "toolglot-v1", "data": "S2", "index": 1},
    ]
    assert codes(ctx) == ["reasoning-dropped", "text-joined"]
    back = decode(ask(message)).messages[0].parts
    assert back[0] == Reasoning(text="one\n\ntwo\n\nthree")
    assert back[1] == Reasoning(redacted=True, signature="S1")
    assert back[2] == Reasoning(redacted=True, signature="S2")


def test_details_alone_are_shown_and_not_doubled():
    message = fixture("request", "vendor-reasoning")["messages"][7]
    part = decode(ask(message)).messages[0].parts[0]
    assert part.text == "Checked twice."
    assert encode(decode(ask(message)))["messages"] == [message]


@given(
    st.fixed_dictionaries(
        {"role": st.just("assistant"), "content": st.none() | st.text(max_size=3)},
        optional={
            "reasoning": st.none() | st.text(max_size=3),
            "reasoning_content": st.none() | st.text(max_size=3),
            "reasoning_details": st.lists(entries, max_size=5),
            "refusal": st.none() | st.text(max_size=3),
            "tool_calls": st.just([call()]),
        },
    )
)
def test_reasoning_in_every_mix_is_kept(message):
    assert encode(decode(ask(message)))["messages"] == [message]
    body = said({key: value for key, value in message.items() if key != "role"})
    assert reply(answer(body), Context()).body == body


# --- reasoning state on calls, as Google's models have it -----------------------------------------


@pytest.mark.parametrize("extra", [SIGNED, {**SIGNED, "other": 1}, {"google": {}}, {"x": []}, "?"])
def test_a_signature_on_a_call_is_state_and_stays_where_it_was(extra):
    """X-18."""
    told = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{**call(), "extra_content": extra}],
    }
    body = ask(user(), told)
    request = decode(body)
    (part,) = request.messages[-1].parts
    has_state = isinstance(extra, dict) and extra.get("google") == SIGNED["google"]
    assert part.signature == ("c2lnbmF0dXJl" if has_state else None)
    assert encode(request) == body


def test_an_annotation_of_a_page_without_its_type_gets_one_and_a_note():
    ctx = Context()
    page = {"url": "https://tides.example", "title": "T", "start_index": 0, "end_index": 1}
    message = {"role": "assistant", "content": "x", "annotations": [{"url_citation": page}]}
    request = HARNESS.decode_request({"model": "m", "messages": [message]}, ctx)
    [written] = HARNESS.encode_request(request, ctx)["messages"][0]["annotations"]
    assert written == {"type": "url_citation", "url_citation": page}
    assert "spelling-normalised" in ctx.receipt().codes()
