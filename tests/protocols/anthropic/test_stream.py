"""Streams of Anthropic Messages."""

import json

import anthropic as sdk
import pytest
from anthropic.lib.streaming._messages import accumulate_event
from tests.protocols.anthropic.helpers import (
    HARNESS,
    call,
    decode_response,
    decode_stream,
    encode_stream,
    foreign,
    stream_of,
)
from tests.protocols.frames import anthropic as frames
from tests.protocols.harness import codes, stem

from toolglot.context import Context
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
    Audio,
    Citation,
    Inline,
    Opaque,
    Reasoning,
    StopReason,
    Text,
    Usage,
)


@pytest.mark.parametrize("fixture", ["text", "calls"])
def test_every_byte_split(fixture):
    """case-10: every single cut."""
    data = stream_of(fixture)
    whole = decode_stream(data)
    for middle in range(1, len(data)):
        assert decode_stream(data, cuts=[middle]) == whole


def test_what_ends_a_stream_is_kept():
    folded = fold(decode_stream(stream_of("refusal")))
    assert folded.extras["anthropic"]["stop_details"]["category"] == "bio"
    written = frames(encode_stream(decode_stream(stream_of("refusal"))))
    assert written[-2]["delta"]["stop_details"]["category"] == "bio"


@pytest.mark.parametrize("path", [p for p in HARNESS.responses if stem(p) != "unknown"], ids=stem)
def test_the_official_client_puts_written_streams_together(path):
    body = json.loads(path.read_text(encoding="utf-8"))
    snapshot, buffers = None, {}
    for event in frames(encode_stream(unfold(decode_response(body)))):
        snapshot = accumulate_event(event=event, current_snapshot=snapshot, json_bufs=buffers)
    built = sdk.types.Message.model_validate(body)
    assert [block.to_dict() for block in snapshot.content] == [
        block.to_dict() for block in built.content
    ]
    assert snapshot.stop_reason == body["stop_reason"]
    assert snapshot.usage.output_tokens == body["usage"]["output_tokens"]


def test_a_call_is_streamed():
    """S0-56, S0-57, S0-58 and S0-60: start with an empty input, fragments as they came, the end."""
    fragments = ['{"ex', 'pression":', ' "5 + 6"}']
    written = frames(
        encode_stream(
            [
                Started(id="msg_1", model="m"),
                PartStarted(0, call("calc", "", "call_1")),
                *(PartDelta(0, each) for each in fragments),
                PartEnded(0),
                Finished((StopReason(kind="tool_calls"),)),
            ],
            foreign(),
        )
    )
    assert [event["type"] for event in written] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert written[1]["content_block"] == {
        "type": "tool_use",
        "id": "call_1",
        "name": "calc",
        "input": {},
    }
    assert [event["delta"]["partial_json"] for event in written[2:5]] == fragments
    assert written[6]["delta"] == {"stop_reason": "tool_use", "stop_sequence": None}


def test_a_stream_that_starts_with_a_call():
    """case-01: one `message_start` with `content` and `usage` before any block."""
    written = frames(
        encode_stream(
            [
                Started(id="msg_1", model="m"),
                PartStarted(0, call(arguments="")),
                PartEnded(0),
                Finished((StopReason(kind="tool_calls"),)),
            ],
            foreign(),
        )
    )
    assert [event["type"] for event in written].index("message_start") == 0
    assert written[0]["message"]["content"] == []
    assert written[0]["message"]["usage"] == {"input_tokens": 0, "output_tokens": 0}


def test_block_numbers():
    """case-02 and X-03: blocks are numbered as they start, each closed before the next opens."""
    written = frames(
        encode_stream(
            [
                Started(id="msg_1", model="m"),
                PartStarted(0, Reasoning()),
                PartDelta(0, "Hm."),
                PartEnded(0),
                PartStarted(1, Audio(source=Inline(media_type="audio/wav", data=""))),
                PartEnded(1),
                PartStarted(2, call(arguments="")),
                PartDelta(2, "{}"),
                PartEnded(2),
                Finished((StopReason(kind="tool_calls"),)),
            ],
            foreign(),
        )
    )
    assert [(event["type"][14:], event["index"]) for event in written if "index" in event] == [
        ("start", 0),
        ("delta", 0),
        ("stop", 0),
        ("start", 1),
        ("delta", 1),
        ("stop", 1),
    ]


def test_deltas_fit_their_block():
    """case-04: words of a part that was announced as sealed get a block that takes them."""
    written = frames(
        encode_stream(
            [
                Started(id="msg_1", model="m"),
                PartStarted(0, Reasoning(redacted=True)),
                PartDelta(0, "Readable ", "summary"),
                PartDelta(0, "after all.", "summary", 1),
                PartDelta(0, "si", "signature"),
                PartDelta(0, "g", "signature"),
                PartEnded(0),
                PartStarted(1, Reasoning(redacted=True, signature="da")),
                PartDelta(1, "ta", "signature"),
                PartEnded(1),
                PartStarted(2, Reasoning(redacted=True)),
                PartEnded(2),
                PartStarted(3, Text(text="")),
                PartDelta(3, "sig", "signature"),
                PartDelta(3, "x"),
                PartEnded(3),
                Finished((StopReason(kind="end"),)),
            ],
            foreign(),
        )
    )
    assert [event.get("content_block") or event.get("delta") for event in written[1:-2]] == [
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "Readable "},
        {"type": "thinking_delta", "thinking": "\n\nafter all."},
        {"type": "signature_delta", "signature": "sig"},
        None,
        {"type": "redacted_thinking", "data": "data"},
        None,
        {"type": "text", "text": ""},
        {"type": "text_delta", "text": "x"},
        None,
    ]


def test_deltas_of_the_wrong_kind_are_passed_over():
    """case-04, the reading side."""
    ctx = Context()
    response = fold(decode_stream(stream_of("broken"), ctx))
    assert response.choices[0].parts == (Text(text="one two"),)
    assert codes(ctx) == {"event-skipped"}


def test_signatures_travel_whole():
    """case-05: one `signature_delta` right before the end of the block, none for a broken block."""
    written = frames(encode_stream(decode_stream(stream_of("thinking"))))
    kinds = [event.get("delta", {}).get("type", event["type"]) for event in written]
    assert kinds[2:6] == [
        "thinking_delta",
        "thinking_delta",
        "signature_delta",
        "content_block_stop",
    ]
    broken = [
        Started(id="msg_1", model="m"),
        PartStarted(0, Reasoning()),
        PartDelta(0, "Hm."),
        PartDelta(0, "half a sig", "signature"),
        PartEnded(0, incomplete=True),
        PartStarted(1, Reasoning(redacted=True, signature="half")),
        PartEnded(1, incomplete=True),
        Failed(ApiError(kind="server", message="cut")),
    ]
    assert b"half" not in encode_stream(broken)


@pytest.mark.parametrize("fixture", ["cut_text", "cut_call", "cut_server_tool"])
def test_a_stream_that_is_cut_is_an_error(fixture):
    """case-09: what was delivered stays, blocks are closed, and an error follows."""
    events = decode_stream(stream_of(fixture))
    assert events[-1].error.kind == "server"
    written = frames(encode_stream(events))
    assert written[-1]["type"] == "error"
    assert written[-1]["error"]["type"] == "api_error"
    started = [event for event in written if event["type"] == "content_block_start"]
    stopped = [event for event in written if event["type"] == "content_block_stop"]
    assert len(started) == len(stopped)
    assert all(event["type"] != "message_stop" for event in written)


def test_nothing_at_all_is_an_error():
    assert [type(event) for event in decode_stream(b"")] == [Failed]


def test_a_broken_line_does_not_end_a_stream():
    """case-09: one bad line in the middle is passed over."""
    events = decode_stream(stream_of("broken"))
    assert isinstance(events[-1], Finished)
    assert [event for event in events if isinstance(event, OpaqueEvent)] == [
        OpaqueEvent("anthropic", "weather", {"type": "weather", "sky": "clear"})
    ]


def test_deltas_of_blocks_never_opened():
    """S1-19: ignored with a note."""
    ctx = Context()
    response = fold(decode_stream(stream_of("never_opened"), ctx))
    assert response.choices[0].parts == (Text(text="kept"),)
    assert ctx.receipt().codes() == {"event-skipped": 3}


def test_fragments_join():
    """S1-20: fragments of arguments join to the text that was sent."""
    data = stream_of("calls")
    parts = fold(decode_stream(data)).choices[0].parts
    assert parts[1].arguments == '{"celsius": 230, "fan": true, "deep": {"π": [1, 2.5, "北"]}}'
    assert parts[2].arguments == "{}"


def test_white_space_is_kept():
    """X-12: deltas of nothing but white space survive."""
    deltas = [e.text for e in decode_stream(stream_of("text")) if isinstance(e, PartDelta)]
    assert deltas == ["Around", " ten hours,", "\n\n", "  ", "maybe eleven. ☺"]


def test_input_in_the_start_of_a_block():
    ctx = Context()
    calls = fold(decode_stream(stream_of("whole_input"), ctx)).choices[0].parts
    assert [each.arguments for each in calls] == ["{}", '{"zone":"UTC"}', '{"zone":"Y"}', "{}"]
    assert calls[3].id.startswith("toolu_")


def test_text_in_the_start_of_a_block():
    events = decode_stream(stream_of("prefilled_blocks"))
    assert fold(events).choices[0].parts == (
        Text(text="prefix"),
        Reasoning(text="pre", signature="sig"),
        Text(text="bare"),
        Reasoning(),
    )
    assert all(not event.part.text for event in events if isinstance(event, PartStarted))


def test_errors_in_streams():
    error = ApiError(kind="overloaded", message="Overloaded", status=529, raw="overloaded_error")
    assert decode_stream(stream_of("error_first")) == [Failed(error)]
    events = decode_stream(stream_of("error_mid"))
    assert events[-3:-1] == [PartEnded(0, incomplete=True), PartEnded(1, incomplete=True)]
    assert (events[-1].error.message, events[-1].error.request_id) == ("boom", "req_9")
    assert decode_stream(stream_of("error_openai"))[-1].error.kind == "context_length"


def test_streams_without_their_ends():
    assert isinstance(decode_stream(stream_of("no_stop"))[-1], Finished)
    headless = fold(decode_stream(stream_of("no_start")))
    assert headless.id.startswith("msg_")
    assert headless.choices[0].parts == (Text(text="headless"),)
    counted = decode_stream(stream_of("usage_only"))
    assert [type(event) for event in counted] == [Started, UsageSeen, Finished]
    poor = b'data: {"type":"message_delta"}\n\ndata: {"type":"message_stop"}\n\n'
    assert decode_stream(poor)[-1] == Finished((StopReason(kind="other"),))
    assert decode_stream(poor[32:])[-1] == Finished((StopReason(kind="other"),))


def test_blocks_that_are_never_closed():
    events = decode_stream(stream_of("no_block_stop"))
    parts = fold(events).choices[0].parts
    assert parts[:2] == (Text(text="a"), call("clock"))
    assert parts[2].value["input"] == {"query": "x"}
    assert events[-1].stops == (StopReason(kind="tool_calls"),)
    parts = fold(decode_stream(stream_of("same_index"))).choices[0].parts
    assert parts == (Text(text="one"), Text(text="two"))


def test_blocks_without_a_number():
    parts = fold(decode_stream(stream_of("no_index"))).choices[0].parts
    assert parts == (Text(text="first"), Text(text="second"))


def test_broken_input_of_a_server_tool_is_kept():
    ctx = Context()
    events = decode_stream(stream_of("broken_server_tool"), ctx)
    parts = fold(events).choices[0].parts
    assert parts[0].value["input"] == {"$invalid": '{"que'}
    assert parts[1] == Opaque(
        protocol="anthropic", type="hologram", value={"type": "hologram", "z": 1}
    )
    assert codes(ctx) == {"arguments-invalid", "event-skipped"}


def test_input_of_a_server_tool_is_written_in_deltas():
    written = frames(encode_stream(decode_stream(stream_of("server_tools"))))
    assert written[1]["content_block"]["input"] == {}
    assert json.loads(written[2]["delta"]["partial_json"]) == {"query": "flour price"}


def test_what_comes_before_the_message_is_passed_over():
    ctx = Context()
    events = decode_stream(stream_of("early"), ctx)
    assert [event.id for event in events if isinstance(event, Started)] == ["msg_01x"]
    assert codes(ctx) == {"event-skipped"}


def test_a_limit_inside_a_call():
    response = fold(decode_stream(stream_of("length")))
    assert response.choices[0].parts[1].arguments == '{"celsius": 2'
    assert response.choices[0].stop.kind == "length"


def test_encoder_leaves_out_what_is_not_its_own():
    ctx = foreign()
    written = encode_stream(
        [
            Started(id="r", model="m", usage=Usage(input=5)),
            PartStarted(0, Text(text="whole", citations=(Citation(url="https://x.example"),))),
            PartEnded(0),
            PartStarted(1, Text(text=""), 1),
            PartDelta(1, "second choice"),
            PartEnded(1),
            OpaqueEvent("other", "x", {}),
            UsageSeen(Usage(output=3)),
            Finished(()),
        ],
        ctx,
    )
    events = frames(written)
    assert [event["delta"] for event in events if "delta" in event] == [
        {"type": "text_delta", "text": "whole"},
        {"stop_reason": None, "stop_sequence": None},
    ]
    assert events[-2]["usage"] == {"input_tokens": 5, "output_tokens": 3}
    assert codes(ctx) == {"citation-dropped"}


def test_hot_path_is_valid_json():
    text = 'quote " backslash \\ newline \n line separator \u2028 北'
    started = [Started(id="r", model="m"), PartStarted(0, Text(text="")), PartDelta(0, text)]
    written = encode_stream(started)
    assert frames(written)[-1]["delta"]["text"] == text
