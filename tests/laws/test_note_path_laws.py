"""The path of a note leads to a member of the body that came, or, of what was added, of the body
that goes.
"""

import json
import re
from typing import Any

import pytest
from tests.laws.corpus import NAMES, path_to
from tests.laws.streams import STREAMS, body, decode, translate
from tests.protocols.harness import Harness, load, stem

from toolglot.events import Failed, Finished, Started, fold
from toolglot.ir import StopReason
from toolglot.receipt import Note
from toolglot.translate import (
    decode_response,
    encode_response,
    translate_request,
    translate_response,
)

ADDED = frozenset(
    {
        "default-added",
        "cache-marked",
        "schema-default",
        "strict-added",
        "turn-added",
        "id-made",
        "nothing-to-send",
    }
)
"""What speaks of something that the source does not have."""

REQUESTS = [(name, path) for name in NAMES for path in Harness(name).requests]
RESPONSES = [(name, path) for name in NAMES for path in Harness(name).responses]
ERRORS = [(name, path) for name in NAMES for path in Harness(name).errors]


def leads(body: Any, path: str) -> bool:
    """Whether a path can be followed to its end."""
    for step in re.findall(r"\[\d+\]|[^.\[\]]+", path):
        if step[0] == "[":
            if not isinstance(body, list) or int(step[1:-1]) >= len(body):
                return False
            body = body[int(step[1:-1])]
        elif isinstance(body, dict) and step in body:
            body = body[step]
        else:
            return False
    return True


def astray(note: Note, body: Any) -> bool:
    """Whether a note speaks of a place that is not there."""
    return bool(note.path) and note.code not in ADDED and not leads(body, note.path)


@pytest.mark.parametrize(("source", "path"), REQUESTS, ids=stem)
def test_notes_of_requests_lead_into_them(source, path):
    body = load(path)
    for target in NAMES:
        _, receipt = translate_request(body, source=source, target=target, path=path_to(source))
        assert [str(note) for note in receipt if astray(note, body)] == []


@pytest.mark.parametrize(("source", "path"), RESPONSES, ids=stem)
def test_notes_of_answers_lead_into_them(source, path):
    body = load(path)
    for target in NAMES:
        _, receipt = translate_response(body, source=source, target=target)
        assert [str(note) for note in receipt if astray(note, body)] == []


@pytest.mark.parametrize(("source", "path"), ERRORS, ids=stem)
def test_notes_of_errors_lead_into_them(source, path):
    body = load(path)
    for target in NAMES:
        _, receipt = translate_response(body, source=source, target=target, status=400)
        assert [str(note) for note in receipt if astray(note, body)] == []


def streamed(source: str, data: bytes) -> list[Any]:
    """What a note of a stream may lead into: its events, what they hold of the answer, and the
    answer as it would be whole, as far as it came.
    """
    events = decode(source, [data])
    values = [each for each in Harness(source).values(data) if isinstance(each, dict)]
    if Harness(source).binary:
        values = [{"type": each["name"], **each["data"]} for each in values]
    values += [] if values else [json.loads(data)[0]]
    if isinstance(events[-1], Failed):
        events[-1] = Finished((StopReason(kind="length"),))
    whole = body(source, fold(events)).body if isinstance(events[0], Started) else {}
    told = [
        (value[key], value) for value in values for key in _TOLD if isinstance(value.get(key), dict)
    ]
    return [whole, *values, *(_answer(said, value) for said, value in told)]


_TOLD = ("message", "response", "item")
"""What an event says of the answer."""


def _answer(said: Any, event: dict[str, Any]) -> Any:
    return {"output": [None] * event.get("output_index", 0) + [said]} if "item" in event else said


def strays(note: Note, values: list[Any], count: int) -> bool:
    """Whether a note leads nowhere, nor names an event by its number or its type."""
    number = re.fullmatch(r"event (\d+)", note.path)
    if number:
        return not 0 < int(number[1]) <= count
    types = {value.get("type") for value in values}
    return note.path not in types and all(astray(note, value) for value in values)


COARSE = {
    "gemini-interactions": {"cited", "failed", "unknown"},
}
"""Streams of which some notes name a member of a delta, or an event, and not where it stands."""


@pytest.mark.parametrize(
    ("source", "path"),
    [(name, path) for name, path in STREAMS if stem(path) not in COARSE.get(name, ())],
    ids=stem,
)
def test_notes_of_streams_lead_into_the_answer_or_into_an_event(source, path):
    data = path.read_bytes()
    values = streamed(source, data)
    for target in NAMES:
        if target != source:
            _, receipt = translate(source, target, [data])
            count = len(data.splitlines())
            assert [str(note) for note in receipt if strays(note, values, count)] == []


# --- forms that few clients and servers use -------------------------------------------------------

ASKED = {"model": "m", "messages": [{"role": "user", "content": "Is it raining?"}]}
RAIN = {"name": "rain", "parameters": {"type": "object", "properties": {}}}
SPOKEN = {"inlineData": {"mimeType": "audio/x-wav", "data": "UklGRg=="}}
PICTURE = {"file_data": {"file_uri": "https://pics.example/a.png", "mime_type": "image/png"}}
RESULT = {"name": "rain", "response": {"ok": True}, "parts": [PICTURE]}
TURNS = [
    {"role": "user", "parts": [{"text": "Listen."}, SPOKEN, PICTURE]},
    {"role": "model", "parts": [{"function_call": {"name": "rain", "args": {}}}]},
    {"role": "user", "parts": [{"function_response": RESULT}]},
]
RARE_REQUESTS = [
    ("openai-chat", {**ASKED, "random_seed": 7}),
    ("openai-chat", {**ASKED, "reasoning": {"max_tokens": 1024}}),
    ("openai-chat", {**ASKED, "functions": [RAIN], "function_call": {"name": "rain"}}),
    ("gemini", {"contents": TURNS, "tools": {"function_declarations": [{"name": "rain"}]}}),
]
BARE = {"role": "assistant", "content": None}
BARE["tool_calls"] = [{"id": "c", "type": "function", "function": {"name": "rain"}}]
CALLED = {"type": "function_call", "call_id": "c", "name": "rain", "arguments": "{}"}
RARE_ANSWERS = [
    (
        "openai-responses",
        {"id": "resp_1", "object": "response", "model": "m", "status": "complete"}
        | {"output": [CALLED], "incomplete_details": None},
    ),
    (
        "openai-responses",
        {"id": "resp_1", "object": "response", "model": "m", "status": "completed"}
        | {"output": [{**CALLED, "namespace": "sky"}]}
        | {"usage": {"input_tokens": 1, "output_tokens": 2}},
    ),
    (
        "openai-chat",
        {"id": "x", "object": "chat.completion", "model": "m", "created": 1}
        | {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": BARE}]},
    ),
]


@pytest.mark.parametrize(("source", "body"), RARE_REQUESTS)
def test_notes_of_rare_requests_lead_into_them(source, body):
    for target in NAMES:
        _, receipt = translate_request(body, source=source, target=target, path=path_to(source))
        assert [str(note) for note in receipt if astray(note, body)] == []


@pytest.mark.parametrize(("source", "body"), RARE_ANSWERS)
def test_rare_answers_are_written_back_as_they_came(source, body):
    assert encode_response(decode_response(body, source=source), target=source).body == body
    for target in NAMES:
        _, receipt = translate_response(body, source=source, target=target)
        assert [str(note) for note in receipt if astray(note, body)] == []


# --- members of streams that come late, or beside the answer --------------------------------------

CHUNK = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
SAFE = {"hate": {"filtered": False, "severity": "safe"}}
LOGGED = [{"token": "a", "logprob": -0.5, "bytes": [97], "top_logprobs": []}]
SAID = {"type": "output_text", "text": "Dry.", "annotations": [], "logprobs": LOGGED}
ITEM = {"id": "msg_1", "type": "message", "role": "assistant", "content": []}
PLACE = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
HEAD = {"id": "resp_1", "object": "response", "model": "m", "output": []}


def delta(text: str, **more: Any) -> dict[str, Any]:
    return CHUNK | {"choices": [{"index": 0, "delta": {"content": text}, **more}]}


RARE_STREAMS = [
    (
        "openai-responses",
        [
            {"type": "response.created", "response": {**HEAD, "truncation": "disabled"}},
            {"type": "error", "error": {"code": "server_error", "message": "It broke."}},
        ],
        "truncation",
    ),
    (
        "openai-chat",
        [
            delta("D", content_filter_results={}),
            delta("r", content_filter_results={}),
            delta("y.", content_filter_results=SAFE),
            delta("", finish_reason="stop"),
        ],
        "choices[0].content_filter_results",
    ),
    (
        "openai-chat",
        [
            delta([{"type": "thinking", "thinking": [{"text": "Hm."}], "closed": True}]),
            delta("Dry.", finish_reason="stop"),
        ],
        "choices[0].delta.content[0].closed",
    ),
    *(
        (
            "openai-responses",
            [
                {"type": "response.created", "response": HEAD},
                {"type": "response.output_item.added", "output_index": 0, "item": ITEM},
                {"type": "response.content_part.added", **PLACE, "part": {**SAID, "text": ""}},
                {
                    "type": "response.output_text.delta",
                    **PLACE,
                    "delta": "Dry.",
                    "obfuscation": "x",
                },
                {
                    "type": "response.output_item.done",
                    "output_index": 0,
                    "item": {**ITEM, "content": [SAID]},
                },
                {"type": "response.completed", "response": HEAD, "billing": {"units": 3}},
            ],
            path,
        )
        for path in ("billing", "obfuscation", "output[0].content[0].logprobs")
    ),
]


@pytest.mark.parametrize(("source", "events", "path"), RARE_STREAMS)
def test_what_only_some_events_have_is_named(source, events, path):
    data = b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in events)
    for target in NAMES:
        if target != source:
            _, receipt = translate(source, target, [data])
            assert path in {note.path for note in receipt}
