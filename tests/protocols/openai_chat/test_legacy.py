"""The form that requests had before tools of OpenAI Chat Completions."""

import json

import pytest
from tests.protocols.openai_chat.helpers import (
    answer,
    ask,
    call,
    call_message,
    codes,
    decode,
    encode,
    fixture,
    reply,
    said,
    user,
)
from tests.protocols.oracles import chat_request as check_sdk

import toolglot
from toolglot.context import Context
from toolglot.protocols.openai_chat._legacy import encode_legacy

LEGACY = {
    "model": "m",
    "messages": [
        user("Add and double."),
        {
            "role": "assistant",
            "content": None,
            "function_call": {"name": "add", "arguments": '{"a":1}', "x": 1},
        },
        {"role": "function", "name": "add", "content": "2"},
        {"role": "assistant", "content": "", "function_call": {"name": "twice", "arguments": "{}"}},
        {"role": "function", "name": "twice", "content": "4"},
        {"role": "function", "name": "stray", "content": "?"},
    ],
    "functions": [{"name": "add", "parameters": {"type": "object"}}, {"name": "twice"}],
    "function_call": {"name": "add"},
}


def test_legacy_requests_are_upgraded():
    """S4-33: `functions`, `function_call` and role `function` read as tools, calls and results."""
    ctx = Context()
    body = encode(decode(LEGACY, ctx), ctx)
    check_sdk(body)
    assert {"functions", "function_call"}.isdisjoint(body)
    assert body["tool_choice"] == {"type": "function", "function": {"name": "add"}}
    assert [tool["function"]["name"] for tool in body["tools"]] == ["add", "twice"]
    messages = body["messages"]
    assert messages[1]["tool_calls"][0]["id"] == messages[2]["tool_call_id"] == "call_0"
    assert messages[3]["tool_calls"][0]["id"] == messages[4]["tool_call_id"] == "call_1"
    assert messages[5]["tool_call_id"] == "call_2"
    assert messages[1]["tool_calls"][0]["function"]["x"] == 1
    assert "legacy-upgraded" in codes(ctx)


def test_and_written_back_on_request():
    """S4-33: the way back to the form before tools."""
    legacy = encode_legacy(encode(decode(LEGACY)), Context())
    assert legacy["functions"] == LEGACY["functions"]
    assert legacy["function_call"] == LEGACY["function_call"]
    assert [m["role"] for m in legacy["messages"]][:5] == [
        "user",
        "assistant",
        "function",
        "assistant",
        "function",
    ]
    assert legacy["messages"][-1] == {"role": "user", "content": "?"}


def test_parallel_calls_in_legacy_form_follow_one_another():
    body = fixture("request", "tools") | {"tool_choice": "auto"}
    ctx = Context()
    legacy = encode_legacy(body, ctx)
    roles = [m["role"] for m in legacy["messages"]]
    assert roles[:7] == ["user", *["assistant", "function"] * 3]
    assert legacy["function_call"] == "auto"
    assert "parallel_tool_calls" not in legacy
    assert encode_legacy(ask(call_message(call()), tool_choice="required"), ctx) == {
        "model": "m",
        "messages": [
            {
                "role": "assistant",
                "content": None,
                "function_call": {"name": "f", "arguments": "{}"},
            }
        ],
    }


@pytest.mark.parametrize("word", ["auto", "none"])
def test_legacy_choice_words(word):
    assert decode(ask(function_call=word)).tool_choice.mode == word


def test_legacy_results_find_the_call_of_their_name():
    old = [
        {"role": "assistant", "function_call": {"name": name, "arguments": "{}"}} for name in "ab"
    ]
    answers = [{"role": "function", "name": name, "content": name} for name in "ba"]
    messages = decode(ask(*old, *answers)).messages
    assert [message.parts[0].id for message in messages] == ["call_0", "call_1", "call_1", "call_0"]


def test_legacy_answers_are_upgraded():
    ctx = Context()
    body = said(
        {"content": None, "function_call": {"name": "f", "arguments": "{}"}}, "function_call"
    )
    response = answer(body, ctx)
    wire = reply(response, Context()).body["choices"][0]
    assert wire["finish_reason"] == "tool_calls"
    assert wire["message"]["tool_calls"][0]["function"] == {"name": "f", "arguments": "{}"}
    assert codes(ctx) == ["legacy-upgraded"]


def test_what_the_form_before_tools_cannot_say_is_noted():
    """S4-33"""
    tools = [
        {"type": "custom", "custom": {"name": "free"}},
        {"type": "function", "function": {"name": "f", "strict": True}},
    ]
    ctx = Context()
    body = ask(tools=tools, tool_choice="required", parallel_tool_calls=True)
    legacy = encode_legacy(body, ctx)
    assert legacy["functions"] == [{"name": "f"}]
    assert [(note.code, note.path) for note in ctx.notes()] == [
        ("tool-dropped", "tools[0]"),
        ("field-dropped", "tools[1].function.strict"),
        ("field-dropped", "tool_choice"),
        ("field-dropped", "parallel_tool_calls"),
    ]


MADE_CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}
MADE = said(
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        ],
    },
    "tool_calls",
)
CHUNKS = b"".join(
    b"data: " + json.dumps({"id": "c", "model": "m", "choices": [choice]}).encode() + b"\n\n"
    for choice in (
        {"index": 0, "delta": {"tool_calls": [{"index": 0, **MADE_CALL}]}},
        {"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}},
        {"index": 0, "delta": {}, "finish_reason": "tool_calls"},
    )
)
ASKED = {"model": "m", "messages": [], "functions": [{"name": "f", "parameters": {}}]}


def test_a_client_of_this_form_gets_it_from_a_provider_of_the_same_protocol():
    """S4-33: also from one that answers in the newer form."""
    exchange = toolglot.Exchange("openai-chat", "openai-chat")
    exchange.request(json.dumps(ASKED).encode())
    body = json.loads(exchange.response(json.dumps(MADE).encode()).data)
    assert body["choices"][0]["message"]["function_call"] == {"name": "f", "arguments": "{}"}
    assert body["choices"][0]["finish_reason"] == "function_call"
    wire, _ = toolglot.translate_response(
        MADE, source="openai-chat", target="openai-chat", request=ASKED
    )
    assert wire.body["choices"] == body["choices"]
    exchange = toolglot.Exchange("openai-chat", "openai-chat")
    exchange.request(json.dumps({**ASKED, "stream": True}).encode())
    translator = exchange.stream()
    written = translator.feed(CHUNKS) + translator.close()
    assert b"tool_calls" not in written
    assert b'"function_call":{"name":"f","arguments":""}' in written
    assert b'"finish_reason":"function_call"' in written


def test_others_get_what_the_provider_wrote():
    newer = {**ASKED, "functions": None, "messages": [{"role": "user", "content": "hi"}]}
    exchange = toolglot.Exchange("openai-chat", "openai-chat")
    exchange.request(json.dumps(newer).encode())
    data = json.dumps(MADE).encode()
    assert exchange.response(data).data is data
