"""Streams that are written of OpenAI Chat Completions."""

import pytest
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import (
    ChatCompletionChunk,
)
from tests.protocols.frames import chat as chunks_of
from tests.protocols.openai_chat.helpers import foreign, parts_of, read, stream

from toolglot.events import (
    Failed,
    Finished,
    OpaqueEvent,
    PartDelta,
    PartEnded,
    PartStarted,
    Started,
    UsageSeen,
    fold,
)
from toolglot.ir import (
    ApiError,
    Citation,
    Image,
    Opaque,
    Reasoning,
    Remote,
    Request,
    StopReason,
    Text,
    ToolCall,
    Usage,
)
from toolglot.protocols import openai_chat as chat


def write(events, ctx=None):
    encoder = chat.StreamEncoder(ctx or foreign())
    return b"".join(map(encoder.encode, events)) + encoder.close()


TALK = [
    Started(id="r1", model="m", created=5, service_tier="default"),
    PartStarted(0, Reasoning()),
    PartDelta(0, "Hm"),
    PartDelta(0, "SIG", "signature"),
    PartEnded(0),
    PartStarted(1, Text(text="")),
    PartDelta(1, "Sure."),
    PartEnded(1),
    PartStarted(2, ToolCall(id="toolu_1", name="f", arguments="")),
    PartDelta(2, '{"expression":"'),
    PartStarted(3, ToolCall(id="toolu_2", name="g", arguments="")),
    PartDelta(2, "5+6"),
    PartDelta(2, '"}'),
    PartEnded(2),
    PartEnded(3),
    UsageSeen(Usage(input=5, cache_read=2, output=3)),
    Finished((StopReason(kind="tool_calls"),)),
]


def test_the_contract_of_call_deltas():
    """S1-16, S1-20, D-09: id, type and name once, then only pieces; calls are numbered from 0."""
    entries = [
        entry
        for chunk in chunks_of(write(TALK))
        for choice in chunk["choices"]
        for entry in choice["delta"].get("tool_calls", ())
    ]
    first = {"index": 0, "id": "toolu_1", "type": "function"}
    assert entries[0] == {**first, "function": {"name": "f", "arguments": ""}}
    pieces = [entry["function"]["arguments"] for entry in entries if entry["index"] == 0]
    assert "".join(pieces) == '{"expression":"5+6"}'
    for entry in entries[1:]:
        if "id" not in entry:
            assert entry.keys() == {"index", "function"}
            assert entry["function"].keys() == {"arguments"}
    assert [entry["id"] for entry in entries if "id" in entry] == ["toolu_1", "toolu_2"]
    assert entries[-1] == {"index": 1, "function": {"arguments": "{}"}}


def test_one_stream_one_id_one_role_one_done():
    """X-14, X-13: one id, one role, one finish reason, the usage, and exactly one `[DONE]`."""
    data = write(TALK)
    assert data.count(b"[DONE]") == 1
    chunks = chunks_of(data)
    assert {(chunk["id"], chunk["created"], chunk["model"]) for chunk in chunks} == {("r1", 5, "m")}
    assert chunks[0]["choices"][0]["delta"] == {"role": "assistant", "content": None}
    assert data.count(b'"role"') == 1
    words = [choice["finish_reason"] for chunk in chunks for choice in chunk["choices"]]
    assert [word for word in words if word] == ["tool_calls"]
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"]["prompt_tokens"] == 7


@pytest.mark.parametrize(("wanted", "count"), [(True, 1), (False, 0), (None, 0)])
def test_usage_is_told_when_asked_for(wanted, count):
    request = Request(model="m", messages=(), include_usage=wanted)
    assert write(TALK, foreign(request=request)).count(b'"usage"') == count


def test_reasoning_state_goes_out_as_a_detail():
    deltas = [choice["delta"] for chunk in chunks_of(write(TALK)) for choice in chunk["choices"]]
    assert {"reasoning_content": "Hm"} in deltas
    entry = {"type": "reasoning.encrypted", "format": "toolglot-v1", "data": "SIG", "index": 0}
    assert {"reasoning_details": [entry]} in deltas


def test_the_sdk_reads_what_we_stream():
    state = ChatCompletionStreamState()
    for chunk in chunks_of(write(TALK)):
        state.handle_chunk(ChatCompletionChunk.model_validate(chunk))
    final = state.get_final_completion()
    message = final.choices[0].message
    assert final.id == "r1"
    assert final.usage.prompt_tokens == 7
    assert message.content == "Sure."
    assert [made.function.arguments for made in message.tool_calls] == [
        '{"expression":"5+6"}',
        "{}",
    ]


def test_several_reasoning_parts_and_summaries_are_set_apart():
    events = [
        Started(id="r", model="m"),
        PartStarted(0, Reasoning(summary=("one",))),
        PartDelta(0, "two", "summary", 1),
        PartDelta(0, "not this"),
        PartEnded(0),
        PartStarted(1, Reasoning(text="three")),
        PartEnded(1),
        PartStarted(2, Reasoning(redacted=True, signature="S")),
        PartEnded(2),
        Finished((StopReason(kind="end"),)),
    ]
    parts = parts_of(read(write(events)))
    assert parts[0].text == "one\n\ntwo\n\nthree"
    assert parts[1].signature == "S"


def test_parts_without_a_form_in_a_stream():
    ctx = foreign()
    events = [
        Started(id="r", model="m", created="2026-11-15T00:00:00Z"),
        PartStarted(0, Image(source=Remote(url="https://i.example"))),
        PartDelta(0, "x"),
        PartEnded(0),
        PartStarted(1, Opaque(protocol="elsewhere", type="x", value={})),
        PartDelta(1, "x"),
        PartEnded(1),
        PartStarted(2, Text(text="known ")),
        PartDelta(2, "text"),
        PartDelta(2, "", "citation", citation=Citation(url="https://a.example")),
        PartDelta(2, "", "citation", citation=Citation(title="book")),
        PartDelta(2, "S", "signature"),
        PartEnded(2),
        OpaqueEvent("elsewhere", "x", {}),
        OpaqueEvent("openai-chat", "x", {"choices": [], "note": 1}),
        Finished((StopReason(kind="refusal"),)),
    ]
    data = write(events, ctx)
    text = parts_of(read(data))[0]
    assert text.text == "known text"
    assert text.citations == (Citation(url="https://a.example", title="", start=0, end=10),)
    assert b'"note":1' in data
    assert chunks_of(data)[0]["created"] == 1_794_700_800
    assert ctx.receipt().codes() == {"part-dropped": 2, "citation-dropped": 1, "stop-mapped": 1}


def test_several_choices_go_out_with_a_role_each():
    data = write(stream("two-choices"))
    assert data.count(b'"role":"assistant"') == 2
    assert [choice.parts[0].text for choice in fold(read(data)).choices] == ["Heads", "Tails"]


def test_a_failure_goes_out_as_an_error_object():
    """case-09: what was delivered stays, then an error that the SDK raises."""
    data = write(stream("cut"))
    error = chunks_of(data)[-1]["error"]
    assert error["type"] == "server_error"
    assert b'"content":"Hal"' in data
    assert data.count(b"[DONE]") == 1
    assert chunks_of(write([Failed(ApiError(kind="rate_limit", message="m"))]))[0]["error"]["code"]


def test_incomplete_calls_are_not_completed():
    events = [
        Started(id="r", model="m"),
        PartStarted(0, ToolCall(id="a", name="b", arguments="")),
        PartEnded(0, incomplete=True),
        Finished((StopReason(kind="length"),)),
    ]
    assert parts_of(read(write(events)))[0].arguments == ""
