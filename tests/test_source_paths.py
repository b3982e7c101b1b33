"""Where parts stand on the wire."""

import pytest

from toolglot.ir import CacheMark, Choice, Image, Inline, Message, Text, ToolCall, ToolResult
from toolglot.registry import get_protocol
from toolglot.source_paths import (
    StreamPlaces,
    inner_path,
    places_of_choices,
    places_of_messages,
    system_paths,
)
from toolglot.translate import translate_request, translate_response

CALL = ToolCall(id="c1", name="f")
PICTURE = Image(source=Inline(media_type="image/png", data="aGk="))
PICTURES = ToolResult(id="c1", parts=(Text(text="two"), PICTURE), name="f")
MESSAGES = (
    Message(role="user", parts=(Text(text="hi"),)),
    Message(role="assistant", parts=(Text(text="so"), CALL)),
    Message(role="user", parts=(PICTURES,)),
)


def surface(name):
    return get_protocol(name).SURFACE


@pytest.mark.parametrize(
    ("protocol", "text", "call", "picture"),
    [
        (
            "anthropic",
            "messages[0].content",
            "messages[1].content[1]",
            "messages[2].content[0].content[1]",
        ),
        (
            "openai-chat",
            "messages[0].content",
            "messages[1].tool_calls[0]",
            "messages[2].content[1]",
        ),
        ("openai-responses", "input[0].content[0]", "input[1]", "input[2].output[1]"),
        (
            "gemini",
            "contents[0].parts[0]",
            "contents[1].parts[1]",
            "contents[2].parts[0].functionResponse.parts[0]",
        ),
        ("ollama", "messages[0].content", "messages[1].tool_calls[0]", "messages[2].content[1]"),
    ],
)
def test_a_part_stands_where_its_protocol_has_it(protocol, text, call, picture):
    places = places_of_messages(surface(protocol), MESSAGES)
    assert places.of(MESSAGES[0].parts[0]) == text
    assert places.of(CALL) == call
    assert inner_path(surface(protocol), places.of(PICTURES), PICTURES, 1) == picture


def test_a_part_is_found_wherever_it_went():
    places = places_of_messages(surface("anthropic"), MESSAGES)
    merged = Message(role="user", parts=(PICTURES, *MESSAGES[0].parts))
    assert places.of_message(merged) == "messages[2]"
    assert places.of_message(MESSAGES[1]) == "messages[1]"
    renamed = ToolCall(id="c1", name="other")
    assert places.of(renamed) == "messages[1].content[1]"
    stranger = Text(text="hi")
    assert places.of(stranger) is None
    places.move(stranger, "messages[7]")
    assert places.of(stranger) == "messages[7]"


@pytest.mark.parametrize(
    ("protocol", "text", "call"),
    [
        ("anthropic", "content[0]", "content[1]"),
        ("openai-chat", "choices[0].message.content", "choices[0].message.tool_calls[0]"),
        ("gemini", "candidates[0].content.parts[0]", "candidates[0].content.parts[1]"),
        ("ollama", "message.content", "message.tool_calls[0]"),
    ],
)
def test_parts_of_an_answer(protocol, text, call):
    places = places_of_choices(surface(protocol), (Choice(parts=MESSAGES[1].parts),))
    assert [places.of(part) for part in MESSAGES[1].parts] == [text, call]
    assert [places.at(0, place) for place in (0, 1, 2)] == [text, call, None]


def test_system_text():
    marked = Message(role="system", parts=(Text(text="a", cache=CacheMark()),))
    assert system_paths(surface("anthropic"), marked)[0] == "system[0]"
    plain = Message(role="system", parts=(Text(text="a"),))
    assert system_paths(surface("anthropic"), plain)[0] == "system"
    assert system_paths(surface("gemini"), plain)[0] == "systemInstruction.parts[0]"
    assert system_paths(surface("openai-responses"), plain)[0] == "instructions"


def test_items_of_a_response_are_counted_as_they_came():
    words = {"type": "output_text", "text": "a", "annotations": [], "logprobs": []}
    no = {"type": "refusal", "refusal": "no"}
    items = [
        {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": []},
        {
            "type": "message",
            "id": "m2",
            "role": "assistant",
            "status": "completed",
            "content": [words, no],
        },
    ]
    body = {"id": "resp_1", "object": "response", "model": "m", "status": "completed"}
    _, receipt = translate_response(
        {**body, "output": items}, source="openai-responses", target="ollama"
    )
    assert {note.path for note in receipt if note.code == "part-replaced"} == {
        "output[1].content[1]"
    }


def test_what_an_encoder_joins_is_named_where_the_source_has_it():
    texts = [{"type": "text", "text": word} for word in "ab"]
    body = {
        "model": "m",
        "messages": [
            {"role": "user", "content": "hi"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": texts},
        ],
    }
    for target in ("gemini", "ollama"):
        _, receipt = translate_request(body, source="openai-chat", target=target)
        assert [n.path for n in receipt if n.code == "text-joined"] == ["messages[2]"]


@pytest.mark.parametrize(
    ("protocol", "text", "call"),
    [
        ("anthropic", "content[0]", "content[1]"),
        ("openai-chat", "choices[0].message.content", "choices[0].message.tool_calls[0]"),
        ("gemini", "candidates[0].content.parts[0]", "candidates[0].content.parts[1]"),
        ("ollama", "message.content", "message.tool_calls[0]"),
    ],
)
def test_parts_of_a_stream_stand_where_they_would_in_a_whole_answer(protocol, text, call):
    places = StreamPlaces(surface(protocol))
    for part in (Text(text=""), CALL):
        places.add(part, 0)
    assert (places.at(0), places.at(1), places.of_call("c1")) == (text, call, call)
    assert places.at(2) is None
    assert places.of_call("c2") is None
