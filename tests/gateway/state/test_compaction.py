"""A summary in place of a conversation."""

from toolglot.gateway.state.compaction import (
    MARK,
    compacted_response,
    expand_compactions,
    summary_request,
)
from toolglot.wire import jsontext

SUMMARY = {
    "output": [
        {"type": "reasoning", "summary": []},
        {"type": "message", "content": [{"type": "output_text", "text": "They spoke: \u2603."}]},
    ],
    "usage": {"total_tokens": 3},
}


def test_the_question_keeps_what_the_client_said_of_the_model():
    members = jsontext.members(
        b'{"model":"m","instructions":"Be kind.","input":"Hi","tools":[{"type":"function"}]}'
    )
    asked = jsontext.decode(summary_request(members))
    assert asked["model"] == "m"
    assert asked["instructions"] == "Be kind."
    assert asked["store"] is False
    assert "tools" not in asked
    assert [item["role"] for item in asked["input"]] == ["user", "user"]


def test_a_compacted_window_reads_as_its_summary():
    items = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    window = compacted_response(SUMMARY, items, lambda prefix: prefix + "1", 7)
    assert window["created_at"] == 7
    assert window["usage"] == {"total_tokens": 3}
    said, compacted = window["output"]
    assert said["content"][0]["text"] == "Hi"
    assert compacted["type"] == "compaction"
    body = jsontext.encode({"model": "m", "input": [*window["output"], {"type": "other"}]})
    assert MARK in body
    first, second, third = jsontext.decode(expand_compactions(body))["input"]
    assert first == said
    assert second["role"] == "user"
    assert "They spoke: \u2603." in second["content"]
    assert third == {"type": "other"}


def test_what_is_not_ours_stays():
    theirs = [
        {"type": "compaction", "encrypted_content": "tgc1.%%%"},
        {"type": "compaction", "encrypted_content": "tgc1.gA=="},
        {"type": "compaction", "encrypted_content": "gAAAA"},
        {"role": "user", "content": "what is tgc1. for?"},
    ]
    body = jsontext.encode({"input": theirs})
    assert jsontext.decode(expand_compactions(body))["input"] == theirs
