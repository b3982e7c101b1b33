"""Where a note leads on either side."""

import pytest

from toolglot.gateway.inspector.bridges import Side, bridges, exists, nearest
from toolglot.receipt import Note
from toolglot.registry import get_protocol
from toolglot.translate import decode_request, decode_response, encode_response, translate_request

ASKED = {
    "model": "m",
    "max_tokens": 10,
    "system": "Be brief.",
    "context_management": {"edits": []},
    "tools": [
        {"name": "Read", "input_schema": {"type": "object"}},
        {"name": "my tool", "input_schema": {"type": "object"}},
    ],
    "messages": [
        {"role": "user", "content": "Go."},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I read."},
                {"type": "tool_use", "id": "t1", "name": "Read", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "x"}],
        },
    ],
}


def side(protocol, body):
    return Side(get_protocol(protocol).SURFACE, body, decode_request(body, source=protocol))


def leads(target, path, code="value-mapped"):
    wire, _ = translate_request(ASKED, source="anthropic", target=target)
    sent = Side(
        get_protocol(target).SURFACE,
        wire.body,
        decode_request(wire.body, source=target, path=wire.path),
    )
    (found,) = bridges([Note(code, "info", path, "")], side("anthropic", ASKED), sent, first=7)
    assert found.note == 7
    return found.source, found.target


@pytest.mark.parametrize(
    ("target", "path", "there"),
    [
        ("openai-chat", "max_tokens", "max_tokens"),
        ("openai-responses", "max_tokens", "max_output_tokens"),
        ("gemini", "max_tokens", "generationConfig.maxOutputTokens"),
        ("openai-chat", "tools[1].name", "tools[1]"),
        ("gemini", "tools[1].name", "tools[0].functionDeclarations[1].name"),
        ("openai-chat", "system", "messages[0]"),
        ("openai-responses", "system", "instructions"),
        ("openai-chat", "messages[1].content[1]", "messages[2].tool_calls[0]"),
        ("openai-responses", "messages[1].content[1].id", "input[2].id"),
        ("openai-chat", "messages[2].content[0]", "messages[3]"),
    ],
)
def test_a_place_is_found_again_in_another_protocol(target, path, there):
    source, found = leads(target, path)
    assert source == path
    assert found is not None
    assert found == there or found == there.rpartition(".")[0]


def test_what_was_dropped_has_no_counterpart():
    assert leads("openai-chat", "context_management", "field-dropped") == (
        "context_management",
        None,
    )
    assert leads("openai-chat", "context_management", "field-unknown")[1] is None


def test_what_lost_something_is_still_there():
    assert leads("openai-chat", "tools[1]", "format-dropped") == ("tools[1]", "tools[1]")


def test_what_was_added_was_nowhere():
    wire, _ = translate_request(ASKED, source="anthropic", target="openai-chat")
    body = {**wire.body, "stream_options": {"include_usage": True}}
    note = Note("default-added", "info", "stream_options.include_usage", "")
    (found,) = bridges([note], side("anthropic", ASKED), side("openai-chat", body))
    assert (found.source, found.target) == (None, "stream_options.include_usage")


def test_notes_on_streams_count_the_parts_of_the_answer():
    body = {
        "id": "a",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [
            {"type": "text", "text": "I read."},
            {"type": "tool_use", "id": "t1", "name": "Read", "input": {}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    answer = decode_response(body, source="anthropic")
    other = encode_response(answer, target="openai-chat").body
    note = Note("arguments-repaired", "info", "part 1", "")
    came = Side(get_protocol("anthropic").SURFACE, body, answer)
    sent = Side(get_protocol("openai-chat").SURFACE, other, answer)
    (found,) = bridges([note], came, sent)
    assert (found.source, found.target) == ("content[1]", "choices[0].message.tool_calls[0]")
    beyond = Note("arguments-repaired", "info", "part 9", "")
    assert bridges([beyond], came, sent)[0].source is None


def test_as_much_of_a_path_as_there_is():
    body = {"a": [{"b": 1}]}
    assert nearest(body, "a[0].b") == "a[0].b"
    assert nearest(body, "a[0].c.d") == "a[0]"
    assert nearest(body, "a[3]") == "a"
    assert nearest(None, "a") == ""
    assert exists(body, "a[0]")
    assert not exists(body, "a[1]")
    assert not exists(body, "")
