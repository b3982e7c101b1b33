"""What was thought in earlier turns, where providers differ."""

import json

import pytest
from msgspec.structs import replace
from tests.wires import asking, assistant, call, pair, result, user

from toolglot.adapt.reasoning.earlier_reasoning import NOT_RECORDED, restrict_reasoning_history
from toolglot.context import Options
from toolglot.exchange import Exchange
from toolglot.ir import Reasoning, ReasoningSettings

THOUGHT = Reasoning(text="hm")
ROUND = (user("hi"), assistant(THOUGHT, call("f")), user(result("done")))
BARE = (user("hi"), assistant(call("f")), user(result("done")))


def restricted(request, rule):
    ctx = pair("anthropic", "openai-chat")
    ctx.target = replace(ctx.target, reasoning=replace(ctx.target.reasoning, history=rule))
    return restrict_reasoning_history(request, ctx), [
        (note.code, note.path) for note in ctx.receipt()
    ]


def test_thoughts_that_are_refused_are_dropped():
    there, notes = restricted(asking(*ROUND), "refused")
    assert there.messages == BARE
    assert notes == [("reasoning-dropped", "messages[1]")]


def test_a_message_of_nothing_but_thoughts_goes_with_them():
    there, _ = restricted(asking(user("hi"), assistant(THOUGHT), user("ho")), "refused")
    assert there.messages == (user("hi"), user("ho"))


def test_thoughts_that_are_wanted_and_unknown_get_a_word():
    there, notes = restricted(asking(*BARE), "with_calls")
    assert there.messages[1].parts == (Reasoning(text=NOT_RECORDED), call("f"))
    assert notes == [("default-added", "messages[1]")]


@pytest.mark.parametrize(
    ("request_", "rule"),
    [
        (asking(*ROUND), "kept"),
        (asking(*ROUND), "with_calls"),
        (asking(*BARE), "refused"),
        (asking(user("hi"), assistant("ho")), "with_calls"),
        (asking(*BARE, reasoning=ReasoningSettings(enabled=False)), "with_calls"),
    ],
)
def test_what_is_as_it_should_be_stays(request_, rule):
    assert restricted(request_, rule) == (request_, [])


def chat_history(**more):
    function = {"name": "look", "arguments": "{}"}
    called = {"id": "c1", "type": "function", "function": function}
    return {
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": None, "tool_calls": [called], **more},
            {"role": "tool", "tool_call_id": "c1", "content": "done"},
        ]
    }


def sent(provider, model, body):
    exchange = Exchange("openai-chat", "openai-chat", Options(provider=provider))
    made = exchange.request(json.dumps({"model": model, **body}).encode())
    return json.loads(made.data)["messages"][1], [note.code for note in exchange.notes]


def test_providers_read_reasoning_from_members_of_different_names():
    message, notes = sent("groq", "gpt-oss-20b", chat_history(reasoning_content="hm"))
    assert message["reasoning"] == "hm"
    assert "reasoning_content" not in message
    assert notes == ["spelling-normalised"]
    message, notes = sent("groq", "gpt-oss-20b", chat_history(reasoning="hm"))
    assert message["reasoning"] == "hm"
    assert notes == []
    message, _ = sent("groq", "llama-3.3-70b", chat_history(reasoning="hm"))
    assert "reasoning" not in message


def test_a_history_of_another_model_is_accepted_where_thoughts_must_come_back():
    message, notes = sent("deepseek", "deepseek-v4-pro", chat_history())
    assert message["reasoning_content"] == NOT_RECORDED
    assert notes == ["default-added"]
    message, notes = sent("deepseek", "deepseek-v4-pro", chat_history(reasoning_content="hm"))
    assert message["reasoning_content"] == "hm"
    assert notes == []


def test_words_that_only_details_tell_are_sent_where_they_are_read():
    details = [{"type": "reasoning.text", "text": "hm", "index": 0}]
    message, notes = sent("groq", "gpt-oss-20b", chat_history(reasoning_details=details))
    assert message["reasoning"] == "hm"
    assert "reasoning_details" not in message
    assert notes == ["spelling-normalised", "field-minor"]


def test_thoughts_in_an_item_of_their_own_are_not_missing():
    asked = {
        "model": "deepseek-v4-pro",
        "input": [
            {"role": "user", "content": "hi"},
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
            {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "done"},
        ],
    }
    exchange = Exchange("openai-responses", "openai-chat", Options(provider="deepseek"))
    made = json.loads(exchange.request(json.dumps(asked).encode()).data)
    assert made["messages"][1]["reasoning_content"] == "hm"
