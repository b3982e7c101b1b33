"""Streams of Gemini."""

import base64
import json

import pytest
from google.genai import types as sdk
from tests.protocols.frames import gemini as chunks_of
from tests.protocols.gemini.helpers import (
    bytes_of,
    codes,
    decode,
    encode,
    events_of,
    foreign,
    load,
    stream_of,
)
from tests.protocols.harness import ELSEWHERE
from tests.protocols.streamed import bare

from toolglot.context import Context
from toolglot.errors import DecodeError
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
    unfold,
)
from toolglot.ir import (
    ApiError,
    Citation,
    Document,
    Opaque,
    Reasoning,
    Refusal,
    StopReason,
    Text,
    ToolCall,
    Usage,
)
from toolglot.protocols import gemini
from toolglot.protocols.gemini._framing import ArrayDecoder
from toolglot.protocols.gemini._partial_arguments import PartialCall


def test_text_is_one_chunk_a_delta():
    events = [
        Started(id="r", model="gemini-x"),
        PartStarted(0, Reasoning()),
        PartDelta(0, "hm", "summary", 0),
        PartDelta(0, "ha", "summary", 1),
        PartDelta(0, "tg1.", "signature"),
        PartDelta(0, "c2Vh", "signature"),
        PartEnded(0),
        PartStarted(1, Text(text="")),
        PartDelta(1, "Žiža\u2028\x85\u2029\x0c \n"),
        PartDelta(1, "", "citation", citation=Citation(url="https://e.org")),
        PartEnded(1),
        PartStarted(2, ToolCall(id="c1", name="f", arguments="")),
        PartStarted(3, ToolCall(id="c2", name="g", arguments="")),
        PartDelta(3, '{"b":'),
        PartDelta(2, '{"a":1}'),
        PartDelta(3, "2}"),
        PartEnded(3),
        PartEnded(2),
        PartStarted(4, Opaque(protocol="elsewhere", type="x", value={})),
        PartEnded(4),
        PartStarted(5, Refusal(text="")),
        PartDelta(5, "no"),
        PartEnded(5),
        OpaqueEvent("elsewhere", "x", {}),
        UsageSeen(Usage(input=3, output=4)),
        Finished((StopReason(kind="tool_calls"),)),
    ]
    ctx = foreign()
    data = bytes_of(events, ctx)
    chunks = chunks_of(data)
    for chunk in chunks:
        sdk.GenerateContentResponse.model_validate(chunk)
    parts = [part for chunk in chunks for part in chunk["candidates"][0]["content"]["parts"]]
    wrapped = base64.b64encode(b"toolglot:tg1.c2Vh").decode()
    assert parts == [
        {"text": "hm", "thought": True},
        {"text": "\n\nha", "thought": True},
        {"text": "", "thought": True, "thoughtSignature": wrapped},
        {"text": "Žiža\u2028\x85\u2029\x0c \n"},
        {"functionCall": {"id": "c2", "name": "g", "args": {"b": 2}}},
        {"functionCall": {"id": "c1", "name": "f", "args": {"a": 1}}},
        {"text": "no"},
        {"text": ""},
    ]
    assert all(
        chunk["responseId"] == "r" and chunk["modelVersion"] == "gemini-x" for chunk in chunks
    )
    assert chunks[-1]["usageMetadata"] == {
        "promptTokenCount": 3,
        "candidatesTokenCount": 4,
        "totalTokenCount": 7,
    }
    assert [chunk["candidates"][0].get("finishReason") for chunk in chunks] == [None] * 7 + ["STOP"]
    assert codes(ctx) == ["citation-dropped", "part-dropped"]


def test_a_cut_call_is_never_shown_as_whole():
    """X-07: a call that a length limit cut off is not sent, and the stop reason says why."""
    events = [
        Started(id="r", model="m"),
        PartStarted(0, ToolCall(id="c", name="f", arguments="")),
        PartDelta(0, '{"a":'),
        PartEnded(0, incomplete=True),
        Finished((StopReason(kind="length"),)),
    ]
    ctx = foreign()
    (chunk,) = chunks_of(bytes_of(events, ctx))
    assert chunk["candidates"][0]["finishReason"] == "MAX_TOKENS"
    assert codes(ctx) == ["part-dropped"]
    events = events_of(stream_of("partial-arguments-cut"))
    assert PartEnded(0, incomplete=True) in events
    assert events[-1].stops[0].kind == "length"


def test_whitespace_survives():
    """X-12: deltas of nothing but white space are kept."""
    events = events_of(stream_of("odd-bytes"))
    assert events[1:3] == [PartStarted(0, Text(text="")), PartDelta(0, " \n")]


def test_odd_stream_lives_on():
    ctx = Context()
    response = fold(events_of(stream_of("odd-bytes"), ctx))
    parts = response.choices[0].parts
    assert [type(part) for part in parts] == [Text, ToolCall, Opaque, Text]
    assert parts[0].text == " \nstill here"
    assert (parts[1].name, parts[1].arguments, parts[1].id_made) == ("", '{"k":"v"}', True)
    assert response.usage.output == 8
    assert [note.code for note in ctx.receipt()].count("event-skipped") == 3


def test_error_in_a_stream():
    events = events_of(stream_of("error-midway"))
    assert events[-2] == PartEnded(0, incomplete=True)
    assert (events[-1].error.kind, events[-1].error.status) == ("overloaded", 503)
    (failed,) = events_of(stream_of("error-at-once"))
    assert (failed.error.kind, failed.error.retry_after) == ("rate_limit", "3")
    (unread,) = events_of(b'data: {"error":{"message":5}}\n\ndata: {"candidates":[]}\n\n')
    assert unread.error.kind == "server"


def test_failed_streams_tell_the_sdk():
    (chunk,) = chunks_of(bytes_of([Failed(ApiError(kind="overloaded", message="busy"))], foreign()))
    assert chunk == {"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}


@pytest.mark.parametrize(
    "data",
    [b"", b"\r\n\r\n", b"data: {}\n\n", b"[", b"[]", b'data: {"candidates":[{"index":0}]}\n\n'],
)
def test_no_finish_reason_is_a_cut(data):
    assert isinstance(events_of(data)[-1], Failed)


def test_one_unfinished_candidate_is_a_cut():
    open_one = b'{"index":1,"content":{"parts":[{"text":"a"}]}}'
    data = b'data: {"candidates":[{"index":0,"finishReason":"STOP"},%s]}\n\n' % open_one
    assert isinstance(events_of(data)[-1], Failed)


def test_cut_stream():
    events = events_of(stream_of("cut"))
    assert events[-2:] == [PartEnded(0, incomplete=True), events[-1]]
    assert events[-1].error.status == 502
    assert events[0].usage.input == 4


def test_text_after_the_finish_reason():
    data = b"".join(
        b'data: {"candidates":[{"content":{"parts":[{"text":"%s"}]},"finishReason":"STOP"}]}\n\n'
        % text
        for text in (b"one", b"two")
    )
    assert [part.text for part in fold(events_of(data)).choices[0].parts] == ["one", "two"]


def test_array_stream():
    response = fold(events_of(stream_of("array")))
    text, call = response.choices[0].parts
    assert text.text == 'Braces } and "quotes" { and \\ in text: naïve ☃ ]'
    assert json.loads(call.arguments) == {"s": '}\\"{', "n": [{}]}
    assert response.choices[0].stop.kind == "tool_calls"


def test_array_decoder_is_linear_and_bounded(monkeypatch):
    decoder = ArrayDecoder()
    piece = b'{"a":"' + b"x" * 1000
    assert decoder.feed(b"[" + piece) == []
    for _ in range(2000):
        assert decoder.feed(b"\\" * 2 + b"}" * 500) == []
    (whole,) = decoder.feed(b'"}]')
    assert len(whole) == len(piece) + 2000 * 502 + 2
    monkeypatch.setattr("toolglot.protocols.gemini._framing.MAX_LINE", 10)
    with pytest.raises(DecodeError):
        ArrayDecoder().feed(b"[{           ")


def test_partial_arguments():
    response = fold(events_of(stream_of("partial-arguments")))
    first, second = response.choices[0].parts
    assert json.loads(first.arguments) == {
        "to": [{"name": "Ana Kovač"}],
        "urgent": True,
        "max size": 5,
        "cc": None,
    }
    assert first.signature == base64.b64encode(b"pa").decode()
    assert (second.name, second.arguments) == ("send", "{}")


def test_partial_arguments_never_crash():
    call = PartialCall(ToolCall(id="c", name="f", arguments=""), {"a": 1})
    call.add("x")
    call.add([None, {}, {"jsonPath": 5}, {"jsonPath": "$"}, {"jsonPath": "$", "stringValue": "s"}])
    call.add(
        [{"jsonPath": "$.a.b", "numberValue": 2}, {"jsonPath": "$.l[999999999]", "boolValue": True}]
    )
    call.add([{"jsonPath": "$.l.x", "boolValue": True}, {"jsonPath": "$[3]", "boolValue": False}])
    assert call.arguments() == {"a": {"b": 2}, "l": [], "3": False}


def test_an_abandoned_partial_call():
    data = b"".join(
        b'data: {"candidates":[{"content":{"parts":[%s]}}]}\n\n' % part
        for part in (
            b'{"functionCall":{"name":"a","willContinue":true}}',
            b'{"functionCall":{"name":"b","willContinue":true,"args":{"x":1}}}',
            b'{"text":"t"}',
        )
    )
    events = events_of(data + b'data: {"candidates":[{"finishReason":"STOP"}]}\n\n')
    assert [event for event in events if isinstance(event, PartEnded)] == [
        PartEnded(0, incomplete=True),
        PartEnded(1, incomplete=True),
        PartEnded(2),
    ]


def test_signatures_without_an_open_part():
    """case-33: state that arrives on an empty part is a part of its own."""
    sign = base64.b64encode(b"s").decode().encode()
    parts = (
        b'{"thought":true,"text":"","thoughtSignature":"%s"}' % sign,
        b'{"text":"","thoughtSignature":"%s"}' % sign,
        b'{"text":"a","thought":true}',
        b'{"text":"b","thoughtSignature":"%s"}' % sign,
        b'{"text":"c"}',
    )
    data = b"".join(
        b'data: {"candidates":[{"content":{"parts":[%s]}}]}\n\n' % part for part in parts
    )
    response = fold(
        events_of(data + b'data: {"candidates":[{"finishReason":"STOP"}]}\n\ndata: [DONE]\n\n')
    )
    assert response.choices[0].parts == (
        Reasoning(signature=sign.decode(), redacted=True),
        Text(text="", signature=sign.decode()),
        Reasoning(text="a"),
        Text(text="b", signature=sign.decode()),
        Text(text="c"),
    )
    events = [
        Started(id="r", model="m"),
        *(event for event in unfold(response) if not isinstance(event, Started)),
    ]
    assert bare("gemini", fold(events_of(bytes_of(events)))) == bare("gemini", fold(events))


def test_parts_without_what_they_need_stay_whole():
    body = {
        "contents": [
            {
                "parts": [
                    {"fileData": {"mimeType": "image/png"}},
                    {
                        "functionResponse": {
                            "name": "f",
                            "parts": [{"text": "t"}, {"fileData": {"fileUri": "gs://a/b"}}],
                        }
                    },
                ]
            }
        ]
    }
    parts = decode(body).messages[0].parts
    assert isinstance(parts[0], Opaque)
    assert [type(part) for part in parts[1].parts] == [Opaque, Document]
    assert encode(decode(body)) == body


def test_metadata_of_candidates_comes_once():
    ratings = (
        b'"safetyRatings":[{"category":"HARM_CATEGORY_HARASSMENT","probability":"NEGLIGIBLE"}]'
    )
    data = b'data: {"candidates":[{"content":{"parts":[{"text":"a"}]},%s}]}\n\n' % ratings * 3
    ctx = Context(source=gemini.SURFACE, target=ELSEWHERE)
    events = events_of(
        data + b'data: {"candidates":[{"finishReason":"STOP"}],"newMember":1}\n\n', ctx
    )
    assert sum(isinstance(event, OpaqueEvent) for event in events) == 1
    assert events[-1].extras == {"gemini": {"newMember": 1}}
    assert codes(ctx) == ["field-minor", "field-unknown"]


def test_same_input_same_output():
    """X-22: no clock and no chance in what is written."""
    body = load("request", "agent-turn")
    assert json.dumps(encode(decode(body, path=""))) == json.dumps(encode(decode(body, path="")))
    data = stream_of("call-without-id")
    assert events_of(data) == events_of(data)
