"""Streams of Ollama."""

import json

from tests.protocols.frames import ollama as lines
from tests.protocols.harness import codes
from tests.protocols.ollama.helpers import call, decode_stream, encode_stream, foreign, stream_of

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
)
from toolglot.ir import (
    ApiError,
    Citation,
    Image,
    Inline,
    Opaque,
    Reasoning,
    Refusal,
    Remote,
    StopReason,
    Text,
    Usage,
)


def test_texts_of_one_stream_run_on_and_thoughts_are_set_off():
    again = fold(decode_stream(encode_stream(decode_stream(stream_of("broken_line")))))
    assert again.choices[0].parts == (Text(text="One two."),)
    again = fold(decode_stream(encode_stream(decode_stream(stream_of("mixed")))))
    assert again.choices[0].parts[5:] == (Reasoning(text="\n\nAgain."), Text(text="Then done."))


def test_stream_of_calls():
    """case-17: calls end in `tool_calls`, arguments are text, ids are made, one per stream."""
    events = decode_stream(stream_of("case17"))
    assert [type(event) for event in events] == [
        Started,
        PartStarted,
        PartDelta,
        PartEnded,
        Finished,
    ]
    assert events[0].id.startswith("msg_")
    assert events[1].part.id.startswith("call_")
    assert events[2].text == '{"a":1}'
    assert events[-1].stops == (StopReason(kind="tool_calls", raw="stop"),)
    cut = stream_of("case17").replace(b'"stop"', b'"length"')
    assert decode_stream(cut)[-1].stops == (StopReason(kind="length", raw="length"),)


def test_two_calls_have_two_ids():
    """S4-13 in a stream."""
    started = [e.part for e in decode_stream(stream_of("calls")) if isinstance(e, PartStarted)]
    assert len({part.id for part in started}) == 2


def test_mixed_stream_keeps_the_order():
    response = fold(decode_stream(stream_of("mixed")))
    assert [type(part).__name__ for part in response.choices[0].parts] == [
        "Text",
        "Reasoning",
        "Text",
        "ToolCall",
        "ToolCall",
        "Reasoning",
        "Text",
    ]
    assert response.choices[0].parts[3].arguments == '{"at":"北"}'
    assert response.choices[0].stop.kind == "length"


def test_a_stream_that_is_cut_is_an_error():
    """case-09: what was delivered stays, and an error follows."""
    events = decode_stream(stream_of("cut"))
    assert events[-2] == PartEnded(1, incomplete=True)
    assert events[-1].error.kind == "server"
    assert decode_stream(b"") == [events[-1]]
    assert lines(encode_stream(events))[-1] == {"error": events[-1].error.message}


def test_a_broken_line_does_not_end_a_stream():
    """case-09: one bad line in the middle is passed over with a note."""
    ctx = Context()
    response = fold(decode_stream(stream_of("broken_line"), ctx))
    assert response.choices[0].parts == (Text(text="One "), Text(text="two."))
    assert ctx.receipt().codes() == {"event-skipped": 4}


def test_errors_in_streams():
    assert decode_stream(stream_of("error_first")) == [
        Failed(
            ApiError(
                kind="not_found", message='model "atlantis:7b" not found, try pulling it first'
            )
        )
    ]
    events = decode_stream(stream_of("error_mid"))
    assert events[-2] == PartEnded(0, incomplete=True)
    assert events[-1].error.kind == "server"
    assert lines(encode_stream(events))[-1]["status_code"] == 500


def test_counts_of_the_wrong_type_do_not_end_a_stream():
    ctx = Context()
    events = decode_stream(b'{"message":{"content":""},"done":true,"eval_count":"many"}', ctx)
    assert events[-1] == Finished((StopReason(kind="end", raw=""),))
    assert codes(ctx) == {"event-skipped"}


def test_probabilities_in_streams_are_noted_once():
    ctx = Context()
    line = b'{"message":{"content":"x"},"logprobs":[{"token":"x","logprob":-1}]}\n'
    decode_stream(line * 3 + b'{"done":true}', ctx)
    assert ctx.receipt().codes() == {"logprobs-dropped": 1}


def test_last_line_has_the_counts_and_durations():
    last = lines(encode_stream(decode_stream(stream_of("text"))))[-1]
    assert last == json.loads(stream_of("text").splitlines()[-1])


def test_encoder_holds_calls_and_joins_texts():
    ctx = foreign()
    written = encode_stream(
        [
            Started(id="r", model="m", created=0, usage=Usage(input=5)),
            PartStarted(0, Reasoning(summary=("Zero.",))),
            PartDelta(0, "One.", "summary", 1),
            PartDelta(0, "Two.", "summary", 2),
            PartDelta(0, "", "summary", 2),
            PartDelta(0, "sig", "signature"),
            PartEnded(0),
            PartStarted(1, Reasoning(redacted=True, signature="more")),
            PartEnded(1),
            PartStarted(2, Text(text="a")),
            PartDelta(2, "", "citation", citation=Citation(url="https://x.example")),
            PartEnded(2),
            PartStarted(3, call(arguments="")),
            PartDelta(3, '{"x"'),
            PartStarted(4, Refusal(text="")),
            PartDelta(4, "no"),
            PartDelta(3, ":1}"),
            PartEnded(3),
            PartEnded(4),
            PartStarted(5, Reasoning()),
            PartDelta(5, "Late."),
            PartEnded(5),
            PartStarted(6, call("cut")),
            PartEnded(6, incomplete=True),
            PartStarted(7, Image(source=Inline(media_type="image/png", data="iVBOR"))),
            PartEnded(7),
            PartStarted(8, Image(source=Remote(url="https://x.example"))),
            PartEnded(8),
            PartStarted(9, Opaque(protocol="other", type="x", value={})),
            PartEnded(9),
            PartStarted(10, Text(text="second choice"), 1),
            PartDelta(10, "unseen"),
            PartEnded(10),
            OpaqueEvent("other", "x", {}),
            OpaqueEvent("ollama", "x", {"status": "loading"}),
            UsageSeen(Usage(output=3)),
            Finished((StopReason(kind="tool_calls"),)),
        ],
        ctx,
    )
    head = {"model": "m", "created_at": "1970-01-01T00:00:00Z"}
    every = lines(written)
    opaque = every.pop(-2)
    assert opaque == {"status": "loading"}
    assert all(line | head == line for line in every)
    detail = {"type": "reasoning.encrypted", "format": "toolglot-v1"}
    assert [
        {k: v for k, v in line["message"].items() if k != "role" and v != ""} for line in every
    ] == [
        {"thinking": "Zero."},
        {"thinking": "\n\nOne."},
        {"thinking": "\n\nTwo."},
        {"reasoning_details": [{**detail, "data": "sig", "index": 0}]},
        {"reasoning_details": [{**detail, "data": "more", "index": 1}]},
        {"content": "a"},
        {"content": "no"},
        {"tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": {"x": 1}}}]},
        {"thinking": "\n\nLate."},
        {"images": ["iVBOR"]},
        {},
    ]
    assert (every[-1]["prompt_eval_count"], every[-1]["eval_count"]) == (5, 3)
    assert codes(ctx) == {"text-joined", "citation-dropped", "part-dropped"}


def test_hot_path_is_valid_json():
    text = 'quote " backslash \\ newline \n line separator \u2028 北'
    written = encode_stream(
        [
            Started(id="r", model='m"x', created=0),
            PartStarted(0, Text(text="")),
            PartDelta(0, text),
            PartEnded(0),
            Finished((StopReason(kind="end"),)),
        ],
        foreign(),
    )
    first = json.loads(written.split(b"\n")[0])
    assert first["message"]["content"] == text
    assert first["model"] == 'm"x'


def test_finished_without_a_reason():
    written = encode_stream([Started(id="r", model="m"), Finished(())])
    assert lines(written)[-1]["done"] is True
