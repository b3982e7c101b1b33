"""Streams by their numbered statements: the examples, and the rules behind them for all targets."""

import json
import re
from typing import Any

import pytest
from tests.laws.corpus import NAMES, RESEND, path_to
from tests.laws.streams import assembled, assert_legal, decode, encode
from tests.laws.turns import history

from toolglot import StreamTranslator, ir, translate_request
from toolglot.adapt.answers.part_order import SerializeParts
from toolglot.events import (
    Event,
    Failed,
    Finished,
    PartDelta,
    PartEnded,
    PartStarted,
    Started,
    UsageSeen,
    fold,
    unfold_part,
)
from toolglot.registry import get_protocol
from toolglot.wire.event_stream import encode_event
from toolglot.wire.sse import SseDecoder

OTHERS = {name: tuple(other for other in NAMES if other != name) for name in NAMES}
FROM_CHAT = pytest.mark.parametrize("target", OTHERS["openai-chat"])
FROM_ANTHROPIC = pytest.mark.parametrize("target", OTHERS["anthropic"])
FROM_RESPONSES = pytest.mark.parametrize("target", OTHERS["openai-responses"])
ALL = pytest.mark.parametrize("target", NAMES)

# --- writing and reading streams -----------------------------------------------------------------


def chat(*choices: Any, done: bool = True, **more: Any) -> bytes:
    """A Chat Completions stream; each entry is a delta, a choice, or a chunk without choices."""
    frames = []
    for each in choices:
        choice = each if "delta" in each or "finish_reason" in each else {"delta": each}
        chunk = {
            "id": "chatcmpl-1",
            "model": "m",
            "created": 1,
            "choices": [{"index": 0, **choice}],
        }
        frames.append(each if "choices" in each else chunk | more)
    lines = [b"data: " + json.dumps(frame).encode() for frame in frames]
    return b"\n\n".join([*lines, b"data: [DONE]" if done else b"", b""])


def piece(index: int, arguments: str | None = None, **more: Any) -> dict[str, Any]:
    """A delta with a piece of one call."""
    function = {} if arguments is None else {"arguments": arguments}
    if "name" in more:
        function["name"] = more.pop("name")
    return {"tool_calls": [{"index": index, **more, "function": function}]}


def finish(word: str | None, **delta: Any) -> dict[str, Any]:
    """The last choice of a stream."""
    return {"delta": delta, "finish_reason": word}


def named(*events: dict[str, Any]) -> bytes:
    """A stream of events that say their own type: Messages or Responses."""
    return b"".join(
        f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events
    )


def message(*events: dict[str, Any], stop: str = "end_turn") -> bytes:
    """A Messages stream with these events in it."""
    usage = {"input_tokens": 5, "output_tokens": 1}
    start = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
    return named(
        {"type": "message_start", "message": {**start, "stop_reason": None, "usage": usage}},
        *events,
        {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 7}},
        {"type": "message_stop"},
    )


def block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    """The events of one content block."""
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def tool_use(index: int, *pieces: str, **more: Any) -> list[dict[str, Any]]:
    """The events of a tool_use block."""
    start = {"type": "tool_use", "id": f"toolu_{index}", "name": f"tool_{index}", "input": {}}
    deltas = ({"type": "input_json_delta", "partial_json": text} for text in pieces)
    return block(index, start | more, *deltas)


def say(index: int, *pieces: str) -> list[dict[str, Any]]:
    """The events of a text block."""
    deltas = ({"type": "text_delta", "text": text} for text in pieces)
    return block(index, {"type": "text", "text": ""}, *deltas)


def response(*events: dict[str, Any], end: str = "completed", **more: Any) -> bytes:
    """A Responses stream with these events in it."""
    head = {"id": "resp_1", "object": "response", "model": "m", "output": []}
    return named(
        {"type": "response.created", "response": head | {"status": "in_progress"}},
        *events,
        {"type": f"response.{end}", "response": head | {"status": end} | more},
    )


def item(index: int, kind: str = "function_call", **more: Any) -> dict[str, Any]:
    """An item of a response."""
    own = {"call_id": f"call_{index}", "name": f"tool_{index}", "arguments": ""}
    return {"id": f"it_{index}", "type": kind, **(own if kind == "function_call" else {}), **more}


def added(index: int, **more: Any) -> dict[str, Any]:
    return {
        "type": "response.output_item.added",
        "output_index": index,
        "item": item(index, **more),
    }


def item_done(index: int, **more: Any) -> dict[str, Any]:
    return {
        "type": "response.output_item.done",
        "output_index": index,
        "item": item(index, **more),
    }


def arguments_delta(index: int, text: str, **more: Any) -> dict[str, Any]:
    kind = "response.function_call_arguments.delta"
    return {"type": kind, "output_index": index, "item_id": f"it_{index}", "delta": text} | more


def translated(source: str, target: str, data: bytes, **options: Any) -> bytes:
    """What the client gets, which must be legal."""
    translator = StreamTranslator(source, target, **options)
    written = translator.feed(data) + translator.close()
    if source != target:
        assert_legal(decode(target, [written]))
    return written


def events_of(written: bytes) -> list[dict[str, Any]]:
    """The JSON events of an SSE stream; their `event:` names must be their types."""
    found = []
    for name, data in SseDecoder().feed(written):
        if data != b"[DONE]":
            event = json.loads(data)
            assert name in ("", event.get("type"))
            found.append(event)
    return found


def answer(target: str, written: bytes) -> ir.Response:
    """The whole answer in a stream."""
    folded = fold(decode(target, [written]))
    assert isinstance(folded, ir.Response), folded
    return folded


def calls(target: str, written: bytes) -> list[ir.ToolCall]:
    """The calls in a stream."""
    parts = answer(target, written).choices[0].parts
    return [part for part in parts if isinstance(part, ir.ToolCall)]


def texts(target: str, written: bytes) -> str:
    """The text in a stream."""
    parts = answer(target, written).choices[0].parts
    return "".join(part.text for part in parts if isinstance(part, ir.Text))


def stop(target: str, written: bytes) -> str:
    """Why a stream stopped."""
    reason = answer(target, written).choices[0].stop
    assert reason is not None
    return reason.kind


def blocks(written: bytes) -> list[tuple[int, str, list[str]]]:
    """The blocks of a Messages stream: number, type, types of its deltas; one at a time."""
    found: list[tuple[int, str, list[str]]] = []
    opened: int | None = None
    for event in events_of(written):
        if event["type"] == "content_block_start":
            assert opened is None, "one block at a time"
            opened = event["index"]
            found.append((opened, event["content_block"]["type"], []))
        elif event["type"] == "content_block_delta":
            assert event["index"] == opened
            found[-1][2].append(event["delta"]["type"])
        elif event["type"] == "content_block_stop":
            assert event["index"] == opened
            opened = None
    assert opened is None
    assert [number for number, _, _ in found] == list(range(len(found)))
    return found


def partial_json(written: bytes, index: int) -> str:
    """The input of a block, as it was streamed."""
    return "".join(
        event["delta"].get("partial_json", "")
        for event in events_of(written)
        if event["type"] == "content_block_delta" and event["index"] == index
    )


# --- chat to Messages: the first seed's example --------------------------------------------------

SEED_CHUNKS = (
    {
        "tool_calls": [
            {
                "index": 0,
                "id": "call_abc",
                "function": {"name": "get_weather", "arguments": ""},
            }
        ]
    },
    piece(0, '{"loc'),
    piece(0, 'ation":'),
    piece(0, '"SF"}'),
)
SEED_ARGUMENTS = '{"location":"SF"}'


def test_the_seeds_chunks_become_a_tool_use_block():
    """S0-56, S0-57, S0-58, S0-60: an empty input, pieces as they came, stop reason, end."""
    written = translated("openai-chat", "anthropic", chat(*SEED_CHUNKS, finish("tool_calls")))
    events = events_of(written)
    assert [event["type"] for event in events] == [
        "message_start",
        "content_block_start",
        *["content_block_delta"] * 3,
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    block_start = {"type": "tool_use", "id": "call_abc", "name": "get_weather", "input": {}}
    assert events[1]["content_block"] == block_start
    assert partial_json(written, 0) == SEED_ARGUMENTS
    assert events[-2]["delta"]["stop_reason"] == "tool_use"
    for frame in written.removesuffix(b"\n\n").split(b"\n\n"):
        head, data = frame.split(b"\n")
        assert head == b"event: " + json.loads(data[6:])["type"].encode()
        assert data.startswith(b"data: ")


def test_blocks_start_with_what_clients_expect_in_them():
    """S0-57: `input: {}` of a call and `text: ""` of a text are there from the start."""
    written = translated(
        "openai-chat", "anthropic", chat({"content": "Hm"}, *SEED_CHUNKS, finish("tool_calls"))
    )
    starts = [e["content_block"] for e in events_of(written) if e["type"] == "content_block_start"]
    assert starts[0] == {"type": "text", "text": ""}
    assert starts[1]["input"] == {}


@FROM_CHAT
def test_the_seeds_chunks_for_every_target(target):
    """S0-56, S0-58: one call with the id, name and argument text that came."""
    written = translated("openai-chat", target, chat(*SEED_CHUNKS, finish("tool_calls")))
    (call,) = calls(target, written)
    assert (call.id, call.name, call.arguments) == ("call_abc", "get_weather", SEED_ARGUMENTS)
    assert stop(target, written) == "tool_calls"


@FROM_CHAT
def test_calls_can_leave_whole(target):
    """S0-59, D-03: by default pieces leave as they come, on request each call leaves in one."""
    data = chat(*SEED_CHUNKS, finish("tool_calls"))
    live = translated("openai-chat", target, data)
    whole = translated("openai-chat", target, data, stream_tools="buffered")
    deltas = [
        [event.text for event in decode(target, [written]) if isinstance(event, PartDelta)]
        for written in (live, whole)
    ]
    assert deltas[1] == [SEED_ARGUMENTS]
    assert "".join(deltas[0]) == SEED_ARGUMENTS
    if get_protocol(target).SURFACE.calls.arguments == "text" or target == "anthropic":
        assert len(deltas[0]) == 3


def test_buffered_texts_are_still_live():
    """D-03: only calls wait."""
    translator = StreamTranslator("openai-chat", "anthropic", stream_tools="buffered")
    assert b'"text":"now"' in translator.feed(chat({"content": "now"}, done=False))
    assert b"partial_json" not in translator.feed(chat(*SEED_CHUNKS, done=False))
    assert b"partial_json" in translator.feed(chat(finish("tool_calls")))


# --- Messages to chat: the second seed's first step ----------------------------------------------

SEED_BLOCK = tool_use(0, '{"expression":"', "5+6", '"}', id="toolu_01ABC123", name="calculate")


@pytest.mark.parametrize("with_input", [True, False])
@FROM_ANTHROPIC
def test_a_tool_use_block_opens_a_call(target, with_input):
    """S1-15, S1-17, S1-20: with or without `input`, under its own id, pieces put together."""
    start, *rest = SEED_BLOCK
    start = json.loads(json.dumps(start))
    if not with_input:
        del start["content_block"]["input"]
    written = translated("anthropic", target, message(start, *rest, stop="tool_use"))
    (call,) = calls(target, written)
    assert (call.id, call.name) == ("toolu_01ABC123", "calculate")
    assert call.arguments == '{"expression":"5+6"}'


@FROM_ANTHROPIC
def test_blocks_that_are_not_numbered(target):
    """S1-15: the pieces belong to the block that is open."""
    events = [*say(0, "Hm."), *tool_use(1, '{"a":', "1}"), *tool_use(2, '{"b":2}')]
    for event in events:
        del event["index"]
    written = translated("anthropic", target, message(*events, stop="tool_use"))
    assert texts(target, written) == "Hm."
    assert [json.loads(call.arguments) for call in calls(target, written)] == [{"a": 1}, {"b": 2}]


def deltas_of(written: bytes) -> list[dict[str, Any]]:
    """The entries of `tool_calls` in a chat stream."""
    return [
        entry
        for event in events_of(written)
        for choice in event["choices"]
        for entry in choice["delta"].get("tool_calls", [])
    ]


def test_only_the_first_delta_of_a_call_names_it():
    """S1-16, case-14: id, type and name once; then nothing but the index and more arguments."""
    written = translated("anthropic", "openai-chat", message(*SEED_BLOCK, stop="tool_use"))
    first, *others = deltas_of(written)
    assert first["function"].pop("arguments") == ""
    assert first == {
        "index": 0,
        "id": "toolu_01ABC123",
        "type": "function",
        "function": {"name": "calculate"},
    }
    assert [entry.keys() for entry in others] == [{"index", "function"}] * 3
    assert [entry["function"].keys() for entry in others] == [{"arguments"}] * 3
    assert "".join(e["function"]["arguments"] for e in others) == '{"expression":"5+6"}'
    assert len({event["id"] for event in events_of(written)}) == 1


@pytest.mark.parametrize("source", OTHERS["openai-chat"])
def test_chat_calls_are_numbered_by_themselves(source):
    """S1-18, D-09: the index is the number of the call, whatever stands before it."""
    stream = [
        Started(id="resp_1", model="m"),
        *whole(0, ir.Reasoning(text="Hm.", signature="c2ln")),
        *whole(1, ir.Text(text="Two things.")),
        *whole(2, ir.ToolCall(id="call_a", name="a", arguments='{"n":1}')),
        *whole(3, ir.ToolCall(id="call_b", name="b", arguments='{"n":2}')),
        Finished((ir.StopReason(kind="tool_calls"),)),
    ]
    written = translated(source, "openai-chat", encode(source, stream))
    by_index: dict[int, str] = {}
    for entry in deltas_of(written):
        place = entry["index"]
        by_index[place] = by_index.get(place, "") + entry["function"]["arguments"]
    assert {place: json.loads(text) for place, text in by_index.items()} == {
        0: {"n": 1},
        1: {"n": 2},
    }


def whole(index: int, part: ir.Part) -> list[Event]:
    """The events of a part that comes in one piece."""
    return list(unfold_part(index, part))


@FROM_ANTHROPIC
def test_pieces_of_a_block_that_was_never_opened_are_passed_over(target):
    """S1-19: no crash, no call; what else comes is kept."""
    stray = {"type": "input_json_delta", "partial_json": '{"x":'}
    data = message(
        {"type": "content_block_delta", "index": 4, "delta": stray}, *say(0, "Still here.")
    )
    written = translated("anthropic", target, data)
    assert calls(target, written) == []
    assert texts(target, written) == "Still here."


STOPS = {
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "refusal": "content_filter",
}


@pytest.mark.parametrize(("word", "chat_word"), STOPS.items())
def test_stop_reasons_of_a_stream(word, chat_word):
    """S1-21: each reason to stop has its word in the other protocol."""
    parts = SEED_BLOCK if word == "tool_use" else say(0, "Hm")
    written = translated("anthropic", "openai-chat", message(*parts, stop=word))
    reasons = [
        choice["finish_reason"] for event in events_of(written) for choice in event["choices"]
    ]
    assert [reason for reason in reasons if reason] == [chat_word]


# --- the life of a Responses stream --------------------------------------------------------------

SEED_REQUEST = {
    "model": "gpt-4o-mini",
    "input": [{"role": "user", "content": "What is 5+6?"}],
    "tools": [
        {
            "type": "function",
            "name": "calculate",
            "description": "Perform calculation",
            "parameters": {"type": "object", "properties": {"expression": {"type": "string"}}},
        }
    ],
    "stream": True,
}


def seed_response() -> list[dict[str, Any]]:
    data = message(*SEED_BLOCK, stop="tool_use")
    return events_of(translated("anthropic", "openai-responses", data, request=SEED_REQUEST))


def test_the_seeds_call_in_order():
    """S1-22, S1-23: created with the tools that were asked for, item, deltas, done, completed."""
    events = seed_response()
    assert [event["type"] for event in events] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        *["response.function_call_arguments.delta"] * 3,
        "response.function_call_arguments.done",
        "response.output_item.done",
        "response.completed",
    ]
    created = events[0]["response"]
    assert created["id"].startswith("resp_")
    assert created["status"] == "in_progress"
    (tool,) = created["tools"]
    assert {key: tool[key] for key in SEED_REQUEST["tools"][0]} == SEED_REQUEST["tools"][0]
    assert created["model"] == "gpt-4o-mini"


def test_the_seeds_item():
    """S1-24, S1-30, S1-32: a function_call with both of its ids, in progress, then completed."""
    events = seed_response()
    added_item, done_item = events[2]["item"], events[7]["item"]
    assert added_item["id"].startswith("fc_")
    assert added_item == {
        "id": added_item["id"],
        "type": "function_call",
        "status": "in_progress",
        "arguments": "",
        "call_id": "toolu_01ABC123",
        "name": "calculate",
    }
    assert done_item == added_item | {
        "status": "completed",
        "arguments": '{"expression":"5+6"}',
    }


def test_the_seeds_arguments():
    """S1-29, D-14: what is done is the sum of the deltas, and nothing else."""
    events = seed_response()
    deltas = "".join(event["delta"] for event in events[3:6])
    assert events[6]["arguments"] == events[7]["item"]["arguments"] == deltas
    assert deltas == '{"expression":"5+6"}'


def test_the_seeds_response_is_complete():
    """S1-31: the last event has the items with the same ids, and the token counts."""
    events = seed_response()
    completed = events[-1]["response"]
    assert completed["status"] == "completed"
    assert completed["output"] == [events[7]["item"]]
    assert completed["id"] == events[0]["response"]["id"]
    assert completed["usage"]["input_tokens"] == 5
    assert completed["usage"]["output_tokens"] == 7


def test_empty_pieces_are_no_events():
    """S1-28, case-12: an empty fragment says nothing, and breaks nothing."""
    data = message(*tool_use(0, "", '{"a":', "", "1}", ""), stop="tool_use")
    events = events_of(translated("anthropic", "openai-responses", data))
    deltas = [e["delta"] for e in events if e["type"].endswith("arguments.delta")]
    assert deltas == ['{"a":', "1}"]


@FROM_RESPONSES
def test_empty_pieces_break_nothing(target):
    """case-12, S1-28: whichever way they go."""
    data = response(
        added(0),
        arguments_delta(0, ""),
        arguments_delta(0, '{"a":1}'),
        arguments_delta(0, ""),
        item_done(0, arguments='{"a":1}', status="completed"),
    )
    (call,) = calls(target, translated("openai-responses", target, data))
    assert call.arguments == '{"a":1}'


CALL = ir.ToolCall(id="call_a", name="a", arguments='{"n":1}')
OTHER_CALL = ir.ToolCall(id="call_b", name="b", arguments='{"n":2}')
THINKING = ir.Reasoning(text="Hm.", signature="c2ln")
SHAPES: dict[str, list[Event]] = {
    "tool only": whole(0, CALL),
    "text only": whole(0, ir.Text(text="Hello.")),
    "text, tool": [*whole(0, ir.Text(text="Hello.")), *whole(1, CALL)],
    "tool, text": [*whole(0, CALL), *whole(1, ir.Text(text="Hello."))],
    "two tools": [*whole(0, CALL), *whole(1, OTHER_CALL)],
    "two tools interleaved": [
        PartStarted(0, ir.ToolCall(id="call_a", name="a", arguments="")),
        PartStarted(1, ir.ToolCall(id="call_b", name="b", arguments="")),
        PartDelta(1, '{"n"'),
        PartDelta(0, '{"n"'),
        PartDelta(1, ":2}"),
        PartDelta(0, ":1}"),
        PartEnded(1),
        PartEnded(0),
    ],
    "reasoning, tool": [*whole(0, THINKING), *whole(1, CALL)],
    "reasoning, text, tools": [
        *whole(0, THINKING),
        *whole(1, ir.Text(text="Hello.")),
        *whole(2, CALL),
        *whole(3, OTHER_CALL),
    ],
    "nothing": [],
}


def shaped(source: str, shape: str) -> bytes:
    """A stream of a protocol in one of the shapes, with token counts."""
    called = "tool" in shape
    events = SHAPES[shape]
    if get_protocol(source).SURFACE.calls.arguments == "object":
        serial = SerializeParts()
        events = [each for event in events for each in serial.feed(event)]
    usage = ir.Usage(input=86, cache_read=1920, output=300)
    return encode(
        source,
        [
            Started(id="resp_1", model="m"),
            *events,
            UsageSeen(usage),
            Finished((ir.StopReason(kind="tool_calls" if called else "end"),)),
        ],
    )


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("source", OTHERS["openai-responses"])
def test_every_shape_has_a_valid_life(source, shape):
    """S1-22, S1-25, S1-26, S1-27, S1-34, D-10: items open once, events name one, all close."""
    events = events_of(translated(source, "openai-responses", shaped(source, shape)))
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    types = [event["type"] for event in events]
    assert types[:2] == ["response.created", "response.in_progress"]
    assert types[-1] == "response.completed"
    items: dict[str, int] = {}
    closed: list[str] = []
    for event in events[2:-1]:
        place = event["output_index"]
        if event["type"] == "response.output_item.added":
            assert event["item"]["id"] not in items
            items[event["item"]["id"]] = place
        elif event["type"] == "response.output_item.done":
            assert items[event["item"]["id"]] == place
            closed.append(event["item"]["id"])
        else:
            assert items[event["item_id"]] == place
            assert event["item_id"] not in closed
    assert list(items.values()) == list(range(len(items))), "one place for each item, in order"
    assert sorted(closed) == sorted(items)
    output = events[-1]["response"]["output"]
    assert [each["id"] for each in output] == list(items)
    assert [each.get("status", "completed") for each in output] == ["completed"] * len(items)


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if "tool" in shape])
@pytest.mark.parametrize("source", OTHERS["openai-responses"])
def test_ids_of_items_calls_and_responses(source, shape):
    """S1-32, S1-33: two ids of their own kind for each call, and none of them twice."""
    events = events_of(translated(source, "openai-responses", shaped(source, shape)))
    assert events[0]["response"]["id"].startswith("resp_")
    called = [
        event["item"]
        for event in events
        if event["type"] == "response.output_item.added"
        and event["item"]["type"] == "function_call"
    ]
    assert called
    assert all(each["id"].startswith("fc_") and len(each["id"]) >= 27 for each in called)
    assert [each["call_id"] for each in called] == ["call_a", "call_b"][: len(called)]
    assert len({each["id"] for each in called}) == len(called)


@pytest.mark.parametrize("source", OTHERS["openai-responses"])
def test_a_call_without_arguments_is_an_empty_object(source):
    """S1-35: `{}` in the delta, in what is done and in the item."""
    call = ir.ToolCall(id="call_a", name="now", arguments="")
    stream = [
        Started(id="resp_1", model="m"),
        PartStarted(0, call),
        PartEnded(0),
        Finished((ir.StopReason(kind="tool_calls"),)),
    ]
    events = events_of(translated(source, "openai-responses", encode(source, stream)))
    done = [event for event in events if event["type"].endswith("arguments.done")]
    assert [event["arguments"] for event in done] == ["{}"]
    assert events[-1]["response"]["output"][0]["arguments"] == "{}"


def test_the_seeds_tables_row_by_row():
    """S1-36: tool definitions, calls and stages, each field where the other protocol has it."""
    wire, _ = translate_request(SEED_REQUEST, source="openai-responses", target="anthropic")
    (asked,), (tool,) = SEED_REQUEST["tools"], wire.body["tools"]
    assert tool["name"] == asked["name"]
    assert tool["description"] == asked["description"]
    assert tool["input_schema"] == asked["parameters"]

    start, *deltas, _end = SEED_BLOCK
    events = seed_response()
    by_type = {event["type"]: event for event in events}
    called = by_type["response.output_item.added"]["item"]
    assert called["call_id"] == start["content_block"]["id"]
    assert called["type"] == "function_call"
    assert called["name"] == start["content_block"]["name"]
    streamed = [e["delta"] for e in events if e["type"].endswith("arguments.delta")]
    assert streamed == [delta["delta"]["partial_json"] for delta in deltas]

    stages: list[tuple[list[dict[str, Any]], list[str]]] = [
        ([start], ["response.output_item.added"]),
        (deltas[:1], ["response.function_call_arguments.delta"]),
        (deltas[1:], ["response.function_call_arguments.delta"] * 2),
        (
            [SEED_BLOCK[-1]],
            ["response.function_call_arguments.done", "response.output_item.done"],
        ),
    ]
    translator = StreamTranslator("anthropic", "openai-responses")
    data = message(*SEED_BLOCK, stop="tool_use")
    head = named(*events_of(data)[:1])
    assert next(e["type"] for e in events_of(translator.feed(head))) == "response.created"
    for told, heard in stages:
        assert [e["type"] for e in events_of(translator.feed(named(*told)))] == heard
    rest = translator.feed(named(*events_of(data)[-2:]))
    assert [e["type"] for e in events_of(rest)] == ["response.completed"]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("source", OTHERS["openai-responses"])
def test_the_seeds_four_issues_do_not_occur(source, shape):
    """S1-37: raw JSON shown, deltas without an item, calls not recognised, arguments incomplete."""
    events = events_of(translated(source, "openai-responses", shaped(source, shape)))
    announced: dict[str, str] = {}
    sums: dict[str, str] = {}
    for event in events:
        if event["type"] == "response.output_item.added":
            announced[event["item"]["id"]] = event["item"]["type"]
            if event["item"]["type"] == "function_call":
                assert event["item"]["call_id"]
        elif event["type"] == "response.function_call_arguments.delta":
            assert announced[event["item_id"]] == "function_call"
            sums[event["item_id"]] = sums.get(event["item_id"], "") + event["delta"]
        elif event["type"] == "response.function_call_arguments.done":
            assert event["arguments"] == sums[event["item_id"]]
        elif event["type"].startswith("response.reasoning"):
            assert announced[event["item_id"]] == "reasoning"
        elif event["type"] == "response.output_text.delta":
            assert announced[event["item_id"]] == "message"
            assert "{" not in event["delta"], "calls are never shown as text"
    wanted = {"call_a": {"n": 1}, "call_b": {"n": 2}}
    for each in events[-1]["response"]["output"]:
        if each["type"] == "function_call":
            assert json.loads(each["arguments"]) == wanted[each["call_id"]]


# --- routing and holding -------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["item_id", "output_index", "both"])
@FROM_RESPONSES
def test_parallel_calls_of_responses_are_routed(target, by):
    """X-01, case-07: by the item that a delta names or by its place, in any interleaving."""
    first, second = '{"city": "a", "n": 1}', '{"city": "b", "n": 2}'
    order = [(1, second[:3]), (0, first[:8]), (1, second[3:12]), (0, first[8:]), (1, second[12:])]
    deltas = []
    for index, text in order:
        delta = arguments_delta(index, text)
        if by != "both":
            del delta["item_id" if by == "output_index" else "output_index"]
        deltas.append(delta)
    data = response(
        added(0),
        added(1),
        *deltas,
        item_done(1, arguments=second, status="completed"),
        item_done(0, arguments=first, status="completed"),
    )
    found = calls(target, translated("openai-responses", target, data))
    assert [(call.id, json.loads(call.arguments)) for call in found] == [
        ("call_0", json.loads(first)),
        ("call_1", json.loads(second)),
    ]


HELD_BACK = {
    "arguments, then id and name": [
        piece(0, '{"a"'),
        piece(0, ":1", id="call_x", name="run"),
        piece(0, "}"),
    ],
    "name, then id": [piece(0, '{"a"', name="run"), piece(0, ":1}", id="call_x")],
    "id, then name": [piece(0, '{"a"', id="call_x"), piece(0, ":1}", name="run")],
    "name in the end": [piece(0, '{"a":1}', id="call_x"), piece(0, name="run")],
}


@pytest.mark.parametrize("order", HELD_BACK)
@FROM_CHAT
def test_arguments_that_come_too_early_wait(target, order):
    """X-02: nothing is lost that comes before the id or the name."""
    data = chat(*HELD_BACK[order], finish("tool_calls"))
    (call,) = calls(target, translated("openai-chat", target, data))
    assert call.name == "run"
    assert json.loads(call.arguments) == {"a": 1}


@pytest.mark.parametrize("thinking", [["Hm", "."], []])
@FROM_CHAT
def test_reasoning_then_a_call_without_text(target, thinking):
    """X-03, case-02: blocks have numbers of their own, each closed once before the next opens."""
    data = chat(
        *({"reasoning_content": text} for text in thinking), *SEED_CHUNKS, finish("tool_calls")
    )
    written = translated("openai-chat", target, data)
    (call,) = calls(target, written)
    assert call.arguments == SEED_ARGUMENTS
    if target == "anthropic":
        kinds = [kind for _, kind, _ in blocks(written)]
        assert kinds == [*["thinking"] * bool(thinking), "tool_use"]


@FROM_CHAT
def test_text_after_a_call_is_a_part_of_its_own(target):
    """X-04: it neither vanishes nor lands in what is closed."""
    data = chat({"content": "Before."}, *SEED_CHUNKS, {"content": "After."}, finish("tool_calls"))
    written = translated("openai-chat", target, data)
    assert texts(target, written) == "Before.After."
    (call,) = calls(target, written)
    assert call.arguments == SEED_ARGUMENTS
    if target == "anthropic":
        assert [kind for _, kind, _ in blocks(written)] == ["text", "tool_use", "text"]


ODD_ARGUMENTS = [
    '{"big": 12345678901234567890, "z": 1, "a": 2}',
    '{"float": 1.0, "exp": 1e400, "small": 0.1000}',
    '{"twice": 1, "twice": 2}',
    '{"half": "\\ud83d", "quote": "\\u0041"}',
    '{ "spaced" : [ 1,2 , 3 ] }',
]


@pytest.mark.parametrize("arguments", ODD_ARGUMENTS)
@pytest.mark.parametrize("target", ["anthropic", "openai-responses"])
def test_arguments_are_streamed_as_text(target, arguments):
    """X-05: big integers, `1.0`, key order, double keys and lone surrogates are not touched."""
    pieces = [piece(0, arguments[place : place + 3]) for place in range(0, len(arguments), 3)]
    data = chat(piece(0, "", id="call_1", name="f"), *pieces, finish("tool_calls"))
    written = translated("openai-chat", target, data)
    if target == "anthropic":
        assert partial_json(written, 0) == arguments
    else:
        done = [e for e in events_of(written) if e["type"].endswith("arguments.done")]
        assert [event["arguments"] for event in done] == [arguments]


@pytest.mark.parametrize("arguments", ODD_ARGUMENTS[:1])
@FROM_CHAT
def test_big_integers_and_key_order_survive_everywhere(target, arguments):
    """X-05: in protocols with objects for arguments too."""
    data = chat(piece(0, arguments, id="call_1", name="f"), finish("tool_calls"))
    (call,) = calls(target, translated("openai-chat", target, data))
    assert json.loads(call.arguments) == json.loads(arguments)
    assert list(json.loads(call.arguments)) == ["big", "z", "a"]
    assert "12345678901234567890" in call.arguments


MADE_IDS = re.compile(rb"\b(fc|msg|rs)_[0-9a-f]{24}\b")
"""They follow from the first bytes."""


def reframed(data: bytes, how: str) -> bytes:
    if how == "no space":
        return data.replace(b"data: ", b"data:")
    if how == "CRLF":
        return data.replace(b"\n", b"\r\n")
    if how == "CR":
        return data.replace(b"\n", b"\r")
    if how == "comments":
        return b": hello\n\n" + data.replace(b"\n\n", b"\n\n: ping\n\n")
    if how == "fields":
        return data.replace(b"data: ", b"id: 7\nretry: 10\nevent: chunk\ndata: ")
    if how == "several lines":
        return data.replace(b'"choices"', b'\ndata: "choices"')
    if how == "no last blank line":
        return data.rstrip(b"\n")
    return data.replace(b'"delta"', b'"padding": "' + b"x" * 1_200_000 + b'", "delta"', 1)


@pytest.mark.parametrize(
    "how",
    [
        *("no space", "CRLF", "CR", "comments", "fields", "several lines", "no last blank line"),
        "more than a megabyte",
    ],
)
@FROM_CHAT
def test_framing_as_servers_write_it(target, how):
    """X-06: every form of the same events means the same."""
    data = chat({"content": "Hm."}, *SEED_CHUNKS, finish("tool_calls"))
    one, other = (
        MADE_IDS.sub(b"made", translated("openai-chat", target, each))
        for each in (data, reframed(data, how))
    )
    assert one == other


CUT_SHORT = {
    "openai-chat": chat(piece(0, '{"command":"rm', id="call_1", name="sh"), finish("length")),
    "anthropic": message(*tool_use(0, '{"command":"rm', id="call_1", name="sh"), stop="max_tokens"),
    "openai-responses": response(
        added(0, call_id="call_1", name="sh"),
        arguments_delta(0, '{"command":"rm'),
        item_done(0, call_id="call_1", name="sh", arguments='{"command":"rm', status="incomplete"),
        end="incomplete",
        incomplete_details={"reason": "max_output_tokens"},
    ),
}


@pytest.mark.parametrize("begun", [True, False], ids=["inside", "before its arguments"])
@ALL
@pytest.mark.parametrize("source", CUT_SHORT)
def test_a_call_that_was_cut_is_never_told_as_complete(source, target, begun):
    """X-07, case-15: it stopped for its length, and nothing looks like a call to be made."""
    if source == target:
        return
    data = CUT_SHORT[source]
    if not begun:
        data = data.replace(b'{\\"command\\":\\"rm', b"")
    written = translated(source, target, data)
    assert stop(target, written) == "length"
    found = calls(target, written)
    assert [call.arguments for call in found] in ([], ['{"command":"rm' if begun else ""])
    if target == "openai-responses":
        events = events_of(written)
        types = [event["type"] for event in events]
        assert types[-1] == "response.incomplete"
        assert "response.function_call_arguments.done" not in types
        last = events[-1]["response"]
        assert last["incomplete_details"] == {"reason": "max_output_tokens"}
        assert [each["status"] for each in last["output"]] == ["incomplete"]
    if target == "anthropic":
        (last,) = [e for e in events_of(written) if e["type"] == "message_delta"]
        assert last["delta"]["stop_reason"] == "max_tokens"


def test_a_filtered_answer_is_incomplete():
    """case-15: `content_filter` becomes the reason."""
    data = chat({"content": "I"}, finish("content_filter"))
    events = events_of(translated("openai-chat", "openai-responses", data))
    assert events[-1]["type"] == "response.incomplete"
    assert events[-1]["response"]["incomplete_details"] == {"reason": "content_filter"}


@FROM_CHAT
def test_a_call_that_just_ends_is_an_error(target):
    """case-15: no reason to stop, and half an argument: that is no success."""
    data = chat(piece(0, '{"command":"rm', id="call_1", name="sh"))
    written = translated("openai-chat", target, data)
    assert isinstance(fold(decode(target, [written])), ir.ApiError)
    assert b"arguments.done" not in written


# --- text, counts, ends --------------------------------------------------------------------------


@ALL
@pytest.mark.parametrize("source", NAMES)
def test_blank_pieces_of_text_are_kept(source, target):
    """X-12: line ends and spaces of their own are text like any other."""
    if source == target:
        return
    pieces = ["a", "\n", "\n\n", " ", "\t", "b", " "]
    stream = [
        Started(id="resp_1", model="m"),
        PartStarted(0, ir.Text(text="")),
        *(PartDelta(0, text) for text in pieces),
        PartEnded(0),
        Finished((ir.StopReason(kind="end"),)),
    ]
    written = translated(source, target, encode(source, stream))
    assert texts(target, written) == "".join(pieces)
    deltas = [event for event in decode(target, [written]) if isinstance(event, PartDelta)]
    assert [event.text for event in deltas] == pieces


@ALL
@pytest.mark.parametrize("source", NAMES)
def test_token_counts_are_real(source, target):
    """X-13, case-08: all input is counted once, cached or not, whichever way it is split."""
    if source == target:
        return
    usage = answer(target, translated(source, target, shaped(source, "text only"))).usage
    assert usage is not None
    assert (usage.prompt, usage.output) == (2006, 300)
    if "ollama" not in (source, target):
        assert (usage.input, usage.cache_read) == (86, 1920)


def test_the_cached_tokens_of_the_example():
    """case-08: what was cached is not counted as fresh, and the last event has all of it."""
    counts = {"prompt_tokens": 2006, "completion_tokens": 300}
    details = {"prompt_tokens_details": {"cached_tokens": 1920}}
    data = chat({"content": "Hm"}, finish("stop"), {"choices": [], "usage": counts | details})
    events = events_of(translated("openai-chat", "anthropic", data))
    (last,) = [event["usage"] for event in events if event["type"] == "message_delta"]
    assert last == {
        "input_tokens": 86,
        "cache_read_input_tokens": 1920,
        "output_tokens": 300,
    }
    data = chat({"content": "Hm"}, finish("stop"), {"choices": [], "usage": counts})
    events = events_of(translated("openai-chat", "anthropic", data))
    (last,) = [event["usage"] for event in events if event["type"] == "message_delta"]
    assert last == {"input_tokens": 2006, "output_tokens": 300}, "unknown is not zero"


def test_token_counts_the_other_way():
    """case-08, X-13: fresh, read and written input together are the prompt."""
    start = {"input_tokens": 86, "cache_read_input_tokens": 1900, "cache_creation_input_tokens": 20}
    head = {"id": "msg_1", "model": "m", "content": [], "usage": start | {"output_tokens": 1}}
    data = named(
        {"type": "message_start", "message": head},
        *say(0, "Hm"),
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 300},
        },
        {"type": "message_stop"},
    )
    (last,) = [
        event["usage"]
        for event in events_of(translated("anthropic", "openai-chat", data))
        if event.get("usage")
    ]
    assert (last["prompt_tokens"], last["completion_tokens"]) == (2006, 300)
    assert last["prompt_tokens_details"]["cached_tokens"] == 1900
    done = events_of(translated("anthropic", "openai-responses", data))[-1]["response"]["usage"]
    assert done["input_tokens"] == 2006
    assert done["input_tokens_details"]["cached_tokens"] == 1900


@pytest.mark.parametrize("shape", SHAPES)
@ALL
@pytest.mark.parametrize("source", NAMES)
def test_done_marks(source, target, shape):
    """X-14, case-16: exactly one, at the end, in chat and interactions; nowhere else."""
    if source != target:
        written = translated(source, target, shaped(source, shape))
        ends = target in ("openai-chat", "gemini-interactions")
        assert written.count(b"[DONE]") == ends
        assert not ends or written.endswith(b"data: [DONE]\n\n")


ERRORS = {
    "anthropic": named(
        {"type": "error", "error": {"type": "overloaded_error", "message": "too busy"}}
    ),
    "openai-chat": b'data: {"error": {"message": "too busy", "code": 503}}\n\n',
    "openai-responses": named(
        {
            "type": "response.failed",
            "response": {
                "id": "resp_1",
                "status": "failed",
                "error": {"code": "server_is_overloaded", "message": "too busy"},
            },
        }
    ),
    "gemini-interactions": b'event: error\ndata: {"event_type": "error", "error": {"code": '
    b'"unavailable", "message": "too busy"}}\n\n',
    "gemini": b'data: {"error": {"code": 503, "message": "too busy"}}\r\n\r\n',
    "ollama": b'{"error": "too busy"}\n',
    "bedrock-converse": encode_event(
        "exception:serviceUnavailableException", b'{"message": "too busy"}'
    ),
}


@ALL
@pytest.mark.parametrize("source", NAMES)
def test_an_error_in_the_middle(source, target):
    """X-15: in the client's own shape, after what was open is closed; what was said stays."""
    if source == target:
        return
    begun = encode(
        source,
        [Started(id="resp_1", model="m"), PartStarted(0, ir.Text(text="")), PartDelta(0, "Hm.")],
    )
    written = translated(source, target, begun + ERRORS[source] + shaped(source, "text only"))
    events = decode(target, [written])
    assert isinstance(events[-1], Failed)
    assert events[-1].error.message == "too busy"
    assert PartDelta(0, "Hm.") in events
    closes = ("anthropic", "openai-responses", "gemini-interactions")
    assert PartEnded(0, incomplete=True) in events or target in closes
    if target == "anthropic":
        assert [kind for _, kind, _ in blocks(written)] == ["text"]
        assert b"message_stop" not in written


@ALL
@pytest.mark.parametrize("source", NAMES)
def test_an_error_at_once_is_only_an_error(source, target):
    """X-15, case-09: nothing is begun that was never said."""
    if source != target:
        events = decode(target, [translated(source, target, ERRORS[source])])
        assert [type(event) for event in events if type(event) is not Started] == [Failed]


# --- what others got wrong -----------------------------------------------------------------------


@FROM_CHAT
def test_the_first_chunk_is_a_call(target):
    """case-01: the message begins once, with counts and an empty content, before any block."""
    first = {"role": "assistant", "content": None, **piece(0, "", id="call_1", name="Bash")}
    written = translated("openai-chat", target, chat(first, finish("tool_calls")))
    assert [call.name for call in calls(target, written)] == ["Bash"]
    if target == "anthropic":
        events = events_of(written)
        assert [event["type"] for event in events][:2] == ["message_start", "content_block_start"]
        assert [event["type"] for event in events].count("message_start") == 1
        begun = events[0]["message"]
        assert begun["content"] == []
        assert {"input_tokens", "output_tokens"} <= begun["usage"].keys()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("source", OTHERS["anthropic"])
def test_block_numbers(source, shape):
    """case-02, case-04, X-03: 0, 1, 2 … in order of start, one open at a time, deltas that fit."""
    fitting = {
        "text": {"text_delta", "citations_delta"},
        "thinking": {"thinking_delta", "signature_delta"},
        "redacted_thinking": set(),
        "tool_use": {"input_json_delta"},
    }
    for _, kind, deltas in blocks(translated(source, "anthropic", shaped(source, shape))):
        assert set(deltas) <= fitting[kind]


@FROM_CHAT
def test_text_inside_arguments(target):
    """case-03: the call is whole and the text is kept, whichever of them waits."""
    data = chat(
        piece(0, '{"pa', id="call_1", name="read"),
        {"content": "I will"},
        piece(0, 'th":"a"}'),
        finish("tool_calls"),
    )
    written = translated("openai-chat", target, data)
    (call,) = calls(target, written)
    assert json.loads(call.arguments) == {"path": "a"}
    assert texts(target, written) == "I will"
    if target == "anthropic":
        assert len(blocks(written)) == 2
        assert partial_json(written, 0) == '{"path":"a"}'


@FROM_CHAT
def test_three_calls_round_robin(target):
    """case-03, case-07: every argument lands in its own call."""
    whole_texts = [json.dumps({"city": city, "n": number}) for number, city in enumerate("abc")]
    starts = [piece(n, "", id=f"call_{n}", name="look") for n in range(3)]
    turns = [
        piece(n, text[place : place + 4])
        for place in range(0, 40, 4)
        for n, text in enumerate(whole_texts)
        if text[place : place + 4]
    ]
    written = translated("openai-chat", target, chat(*starts, *turns, finish("tool_calls")))
    found = calls(target, written)
    assert [json.loads(call.arguments) for call in found] == list(map(json.loads, whole_texts))
    assert [call.id for call in found] == ["call_0", "call_1", "call_2"]
    if target == "anthropic":
        assert [partial_json(written, n) for n in range(3)] == whole_texts
    if target == "openai-responses":
        done = [e for e in events_of(written) if e["type"].endswith("arguments.done")]
        assert len({e["item_id"] for e in done}) == len({e["output_index"] for e in done}) == 3


def test_words_after_sealed_reasoning_have_a_block_that_fits():
    """case-04: a summary after encrypted state opens thinking, not redacted thinking."""
    sealed = item(0, "reasoning", summary=[], encrypted_content="gAAA")
    data = response(
        {"type": "response.output_item.added", "output_index": 0, "item": sealed},
        {"type": "response.output_item.done", "output_index": 0, "item": sealed},
        {
            "type": "response.output_item.added",
            "output_index": 1,
            "item": item(1, "reasoning", summary=[]),
        },
        {
            "type": "response.reasoning_summary_text.delta",
            "item_id": "it_1",
            "output_index": 1,
            "summary_index": 0,
            "delta": "Then",
        },
        {
            "type": "response.output_item.done",
            "output_index": 1,
            "item": item(
                1,
                "reasoning",
                summary=[{"type": "summary_text", "text": "Then"}],
                encrypted_content="gBBB",
            ),
        },
    )
    written = translated("openai-responses", "anthropic", data)
    assert blocks(written)[:2] == [
        (0, "redacted_thinking", []),
        (1, "thinking", ["thinking_delta", "signature_delta"]),
    ]


@pytest.mark.parametrize("source", OTHERS["anthropic"])
def test_a_signature_travels_by_itself(source):
    """case-05: words first, then one signature_delta, then the end of the block."""
    written = translated(source, "anthropic", shaped(source, "reasoning, tool"))
    _, kind, deltas = blocks(written)[0]
    assert kind == "thinking"
    assert deltas[-1] == "signature_delta"
    assert set(deltas[:-1]) == {"thinking_delta"}
    for event in events_of(written):
        if event["type"] == "content_block_delta" and event["delta"]["type"] == "thinking_delta":
            assert event["delta"].keys() == {"type", "thinking"}


@FROM_CHAT
def test_a_signature_of_a_broken_stream_is_kept_back(target):
    """case-05: half a state must not be sent back one day."""
    begun = encode(
        "anthropic",
        [
            Started(id="msg_1", model="m"),
            PartStarted(0, ir.Reasoning(text="")),
            PartDelta(0, "Hm"),
        ],
    )
    if target == "anthropic":
        target = "openai-responses"
    partial = named(
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "signature_delta", "signature": "half-a-sig"},
        }
    )
    written = translated("anthropic", target, begun + partial)
    assert b"half-a-sig" not in written
    assert b"tg1." not in written


@FROM_CHAT
def test_a_call_without_id(target):
    """case-06: it gets one, the same for the same stream, and it is called."""
    data = chat(
        {"tool_calls": [{"index": 0, "function": {"name": "run", "arguments": "{}"}}]},
        finish("stop"),
    )
    written = translated("openai-chat", target, data)
    (call,) = calls(target, written)
    assert (call.name, call.arguments) == ("run", "{}")
    assert call.id
    assert stop(target, written) == "tool_calls"
    assert translated("openai-chat", target, data) == written


@FROM_CHAT
def test_a_call_without_name(target):
    """case-06: arguments and an id are a call, under a name that stands in."""
    data = chat(piece(0, '{"a":1}', id="call_a", name=""), finish("tool_calls"))
    (call,) = calls(target, translated("openai-chat", target, data))
    assert (call.id, call.name, call.arguments) == ("call_a", "tool_0", '{"a":1}')


@FROM_CHAT
def test_a_call_of_nothing(target):
    """case-06: neither id nor name nor arguments is no call, and the answer ended as it said."""
    data = chat({"content": "Hm."}, piece(0, "", id="", name=""), finish("stop"))
    written = translated("openai-chat", target, data)
    assert calls(target, written) == []
    assert stop(target, written) == "end"


@ALL
@pytest.mark.parametrize("source", NAMES)
def test_parallel_calls_keep_separate(source, target):
    """case-07, D-10: two calls stay two, with an argument each."""
    if source != target:
        written = translated(source, target, shaped(source, "two tools interleaved"))
        assert [json.loads(call.arguments) for call in calls(target, written)] == [
            {"n": 1},
            {"n": 2},
        ]


@FROM_CHAT
def test_a_broken_line_in_the_middle(target):
    """case-09: one line of nonsense does not end a stream that goes on."""
    data = chat({"content": "Hm"}, {"content": "."}, finish("stop"))
    broken = data.replace(b"\n\n", b"\n\ndata: {nonsense\n\n", 1)
    assert texts(target, translated("openai-chat", target, broken)) == "Hm."


@FROM_CHAT
def test_characters_split_over_chunks(target):
    """case-10: at every byte, in text and in arguments, with either line end."""
    text = json.dumps({"where": "北京, Zürich 🌊"}, ensure_ascii=False)
    frames = [
        json.dumps(
            {"id": "c", "model": "m", "choices": [{"index": 0, "delta": delta}]}, ensure_ascii=False
        )
        for delta in (
            {"content": "北 🌊"},
            piece(0, text[:9], id="call_1", name="go"),
            piece(0, text[9:]),
        )
    ]
    for end in ("\n", "\r\n"):
        lines = [*(f"data: {frame}{end}{end}" for frame in frames), f"data: [DONE]{end}{end}"]
        data = "".join(lines).encode()
        whole_stream = translated("openai-chat", target, data)
        assert texts(target, whole_stream) == "北 🌊"
        assert json.loads(calls(target, whole_stream)[0].arguments) == json.loads(text)
        for place in range(1, len(data), 1 if len(data) < 600 else 3):
            translator = StreamTranslator("openai-chat", target)
            written = translator.feed(data[:place]) + translator.feed(data[place:])
            assert written + translator.close() == whole_stream


@pytest.mark.parametrize("deltas", [0, 1, 2])
@pytest.mark.parametrize("told", ["done", "item", "both"])
@FROM_RESPONSES
def test_arguments_that_are_only_done(target, told, deltas):
    """case-11: once, whether they came in deltas, at the end, or both."""
    arguments = '{"x":1}'
    pieces = {0: [], 1: [arguments], 2: [arguments[:3], arguments[3:]]}[deltas]
    done = {
        "type": "response.function_call_arguments.done",
        "item_id": "it_0",
        "output_index": 0,
        "arguments": arguments,
    }
    data = response(
        added(0),
        *(arguments_delta(0, text) for text in pieces),
        *([done] if told != "item" else []),
        item_done(0, arguments=arguments if told != "done" or deltas else "", status="completed")
        if told != "done"
        else item_done(0, arguments=arguments, status="completed"),
    )
    (call,) = calls(target, translated("openai-responses", target, data))
    assert call.arguments == arguments


@FROM_RESPONSES
def test_text_and_call_in_one_answer(target):
    """case-13: both, in order, and the reason to stop has its call."""
    written = translated("openai-responses", target, shaped("openai-responses", "text, tool"))
    assert texts(target, written) == "Hello."
    assert [call.id for call in calls(target, written)] == ["call_a"]
    assert stop(target, written) == "tool_calls"
    kinds = [type(p) for p in answer(target, written).choices[0].parts[:2]]
    assert kinds == [ir.Text, ir.ToolCall]


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if "tool" in shape])
@pytest.mark.parametrize("source", OTHERS["openai-chat"])
def test_the_contract_of_chat_deltas(source, shape):
    """case-14: named once, then only more arguments, never the whole again; one id for all."""
    written = translated(source, "openai-chat", shaped(source, shape))
    seen: set[int] = set()
    for entry in deltas_of(written):
        if entry["index"] in seen:
            assert entry.keys() == {"index", "function"}
            assert entry["function"].keys() == {"arguments"}
        else:
            assert entry["id"]
            assert entry["function"]["name"]
            assert entry["type"] == "function"
        seen.add(entry["index"])
    assert [json.loads(call.arguments)["n"] for call in calls("openai-chat", written)] == [1, 2][
        : len(seen)
    ]
    assert len({event["id"] for event in events_of(written)}) == 1


@FROM_CHAT
def test_done_without_a_reason(target):
    """case-16: if all that came is whole, the answer is complete."""
    data = chat({"content": "Whole."}, piece(0, '{"a":1}', id="call_1", name="f"))
    written = translated("openai-chat", target, data)
    assert texts(target, written) == "Whole."
    assert stop(target, written) == "tool_calls"


@FROM_CHAT
def test_what_follows_done_is_dropped(target):
    """case-16: bookkeeping after the end reaches nobody."""
    data = chat({"content": "Whole."}, finish("stop"))
    assert translated(
        "openai-chat", target, data + b'data: {"choices":[],"cost":"0"}\n\n'
    ) == translated("openai-chat", target, data)


OLLAMA_CALL = (
    b'{"message":{"tool_calls":[{"function":{"name":"f","arguments":{"a":1}}},'
    b'{"function":{"name":"f","arguments":{"a":2}}}]},"done":false}\n'
)


@pytest.mark.parametrize(("word", "kind"), [("stop", "tool_calls"), ("length", "length")])
@pytest.mark.parametrize("target", OTHERS["ollama"])
def test_an_ollama_stream_with_calls(target, word, kind):
    """case-17: they stop for their calls, arguments are text, ids are made and differ."""
    end = json.dumps({"done": True, "done_reason": word}).encode() + b"\n"
    written = translated("ollama", target, OLLAMA_CALL + end)
    found = calls(target, written)
    assert [call.arguments for call in found] == ['{"a":1}', '{"a":2}']
    assert len({call.id for call in found}) == 2
    assert stop(target, written) == kind


def test_an_ollama_stream_in_chat():
    """case-17: one response id, an index for each call, ids that look like ids of calls."""
    end = b'{"done":true,"done_reason":"stop"}\n'
    written = translated("ollama", "openai-chat", OLLAMA_CALL + end)
    assert len({event["id"] for event in events_of(written)}) == 1
    starts = [entry for entry in deltas_of(written) if "id" in entry]
    assert [entry["index"] for entry in starts] == [0, 1]
    assert all(entry["id"].startswith("call_") for entry in starts)


# --- state on its way back -----------------------------------------------------------------------


def sent_back(source: str, client: str, data: bytes) -> Any:
    """The last turn as its provider gets it back through a client of another protocol."""
    shown = fold(decode(client, [translated(source, client, data)]))
    messages = json.loads(json.dumps(RESEND[client](assembled(client, shown))))
    wire, _ = translate_request(
        history(client, messages), source=client, target=source, path=path_to(client)
    )
    return wire.body[get_protocol(source).SURFACE.messages.path]


def gemini(*parts: dict[str, Any]) -> bytes:
    """A stream of Gemini, a part in each chunk."""
    chunks = (
        {
            "candidates": [
                {
                    "content": {"role": "model", "parts": [part]},
                    "index": 0,
                    **({"finishReason": "STOP"} if place == len(parts) - 1 else {}),
                }
            ]
        }
        for place, part in enumerate(parts)
    )
    return b"".join(b"data: " + json.dumps(chunk).encode() + b"\r\n\r\n" for chunk in chunks)


def function_call(number: int, **more: Any) -> dict[str, Any]:
    return {"functionCall": {"name": f"tool_{number}", "args": {"n": number}}, **more}


THOUGHT = {"thought": True}
STATE = {"thoughtSignature": "c2ln"}
THOUGHT_SIGNATURES: dict[str, list[dict[str, Any]]] = {
    "on the call": [function_call(0, **STATE)],
    "on the first of a batch": [function_call(0, **STATE), function_call(1)],
    "on a text": [{"text": "Hm."}, {"text": "", **STATE}],
    "on a thought": [{"text": "Hm.", **THOUGHT, **STATE}, {"text": "So."}],
    "on an empty thought": [{"text": "", **THOUGHT, **STATE}, {"text": "So."}],
    "on a call after a thought": [{"text": "Hm.", **THOUGHT}, function_call(0, **STATE)],
}


@pytest.mark.parametrize("where", THOUGHT_SIGNATURES)
@pytest.mark.parametrize("client", OTHERS["gemini"])
def test_thought_signatures_come_back_where_they_were(client, where):
    """case-33: on the same part, beside the call and not in it, and only there."""
    parts = THOUGHT_SIGNATURES[where]
    turn = [
        part
        for content in sent_back("gemini", client, gemini(*parts))
        if content["role"] == "model"
        for part in content["parts"]
    ]
    signed = [part for part in turn if "thoughtSignature" in part]
    assert [part["thoughtSignature"] for part in signed] == ["c2ln"]
    (original,) = [part for part in parts if "thoughtSignature" in part]
    if "functionCall" in original:
        assert signed[0]["functionCall"]["name"] == original["functionCall"]["name"]
        assert "thoughtSignature" not in signed[0]["functionCall"]
    else:
        assert signed[0].get("thought") == original.get("thought")
    named_calls = [part["functionCall"]["name"] for part in turn if "functionCall" in part]
    assert named_calls == [p["functionCall"]["name"] for p in parts if "functionCall" in p]


REASONING_ITEM = {
    "id": "rs_1",
    "type": "reasoning",
    "summary": [
        {"type": "summary_text", "text": "First."},
        {"type": "summary_text", "text": "Second."},
    ],
    "encrypted_content": "gAAAAABo",
}


@pytest.mark.parametrize("summary", [True, False])
@pytest.mark.parametrize("client", OTHERS["openai-responses"])
def test_encrypted_reasoning_comes_back_whole(client, summary):
    """case-36: id, state and summary exactly, before the call that it belongs to, never as text."""
    reasoning = REASONING_ITEM if summary else {**REASONING_ITEM, "summary": []}
    deltas = [
        {
            "type": "response.reasoning_summary_text.delta",
            "item_id": "rs_1",
            "output_index": 0,
            "summary_index": place,
            "delta": part["text"],
        }
        for place, part in enumerate(reasoning["summary"])
    ]
    data = response(
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {**reasoning, "summary": [], "encrypted_content": None},
        },
        *deltas,
        {"type": "response.output_item.done", "output_index": 0, "item": reasoning},
        added(1),
        arguments_delta(1, '{"a": 1}'),
        item_done(1, arguments='{"a": 1}', status="completed"),
    )
    items = sent_back("openai-responses", client, data)
    kept = {key: items[0].get(key) for key in reasoning}
    assert kept == reasoning
    assert items[1]["type"] == "function_call"
    assert items[1]["arguments"] == '{"a": 1}'
    assert "First." not in json.dumps(items[1:])


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
@pytest.mark.parametrize("client", OTHERS["openai-chat"])
def test_reasoning_content_comes_back(client, field):
    """case-37: on the same assistant message as the calls, under its own name."""
    data = chat({field: "The user "}, {field: "wants rain."}, *SEED_CHUNKS, finish("tool_calls"))
    (turn,) = [m for m in sent_back("openai-chat", client, data) if m["role"] == "assistant"]
    assert turn[field] == "The user wants rain."
    (call,) = turn["tool_calls"]
    assert call["function"]["arguments"] == SEED_ARGUMENTS


@pytest.mark.parametrize("client", OTHERS["openai-chat"])
def test_reasoning_details_come_back(client):
    """case-37: of every type, as they were."""
    details = [
        {"type": "reasoning.text", "text": "Hm.", "signature": "sig", "format": "v1", "index": 0},
        {"type": "reasoning.encrypted", "data": "gAAA", "format": "v1", "index": 1},
    ]
    data = chat(
        {"reasoning": "Hm.", "reasoning_details": details[:1]},
        {"reasoning_details": details[1:]},
        *SEED_CHUNKS,
        finish("tool_calls"),
    )
    (turn,) = [m for m in sent_back("openai-chat", client, data) if m["role"] == "assistant"]
    assert turn["reasoning_details"] == details


# --- nothing silent -------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["anthropic", "openai-chat", "gemini", "ollama"])
@pytest.mark.parametrize("with_logprobs", [True, False])
def test_token_probabilities_of_a_responses_stream_are_named(target, with_logprobs):
    """X-18: a stream does not carry them on, and says so."""
    logprobs = [{"token": "hi", "logprob": -0.1, "bytes": [], "top_logprobs": []}]
    text = {"type": "output_text", "text": "hi", "annotations": []}
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{**text, "logprobs": logprobs if with_logprobs else []}],
    }
    response = {"id": "resp_1", "model": "m", "status": "completed", "output": [message]}
    events = [
        {"type": "response.created", "response": {**response, "output": []}},
        {"type": "response.output_item.done", "output_index": 0, "item": message},
        {"type": "response.completed", "response": response},
    ]
    translator = StreamTranslator("openai-responses", target)
    for event in events:
        translator.feed(f"data: {json.dumps(event)}\n\n".encode())
    translator.close()
    assert translator.receipt.codes().get("logprobs-dropped", 0) == with_logprobs
