"""Streams of Converse, in what is particular to them."""

import pytest
from tests.protocols.bedrock_converse.helpers import (
    HARNESS,
    bytes_of,
    events_of,
    foreign,
    messages,
    stream,
    stream_of,
)

from toolglot import StreamTranslator
from toolglot.context import Context
from toolglot.events import (
    Failed,
    Finished,
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
    Choice,
    Image,
    Inline,
    Opaque,
    Reasoning,
    Response,
    StopReason,
    Text,
    ToolCall,
    Usage,
)

START = ("messageStart", {"role": "assistant"})
STOP = ("messageStop", {"stopReason": "end_turn"})
META = ("metadata", {"usage": {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5}})


def delta(index, **member):
    return "contentBlockDelta", {"contentBlockIndex": index, "delta": member}


def ends(index):
    return "contentBlockStop", {"contentBlockIndex": index}


def begins(index, **member):
    return "contentBlockStart", {"contentBlockIndex": index, "start": member}


def folded(*events):
    return fold(events_of(stream(START, *events)))


# --- bytes to events ------------------------------------------------------------------------------


def test_usage_comes_after_the_stop_and_before_the_end():
    *_, ended, usage, finished = events_of(stream(START, delta(0, text="a"), ends(0), STOP, META))
    assert isinstance(ended, PartEnded)
    assert usage == UsageSeen(Usage(input=3, output=2))
    assert finished.stops == (StopReason(kind="end", raw="end_turn"),)


@pytest.mark.parametrize("order", [(STOP,), (META, STOP), (STOP, META)])
def test_metadata_may_be_missing_or_early(order):
    response = folded(delta(0, text="a"), ends(0), *order)
    assert response.choices[0].parts == (Text(text="a"),)


def test_a_call_without_arguments_has_none():
    tool = {"toolUseId": "t", "name": "f"}
    response = folded(begins(0, toolUse=tool), delta(0, toolUse={"input": ""}), ends(0), STOP)
    assert response.choices[0].parts == (ToolCall(id="t", name="f", arguments="{}"),)


def test_a_call_that_was_cut_is_not_whole():
    events = events_of(stream_of("cut-call"))
    assert PartEnded(0, incomplete=True) in events


def test_blocks_that_never_end_are_ended():
    response = folded(delta(0, text="a"), STOP, META)
    assert response.choices[0].parts == (Text(text="a"),)


def test_a_picture_comes_in_pieces():
    picture = delta(0, image={"source": {"bytes": "eA=="}})
    response = folded(begins(0, image={"format": "png"}), picture, ends(0), STOP)
    [part] = response.choices[0].parts
    assert part == Image(source=Inline(media_type="image/png", data="eA=="))


def test_what_the_provider_ran_is_whole_when_it_ends():
    response = fold(events_of(stream_of("server-tools")))
    kinds = [part.type for part in response.choices[0].parts if isinstance(part, Opaque)]
    assert kinds == ["toolUse", "toolResult"]
    assert response.choices[0].parts[0].value["toolUse"]["input"] == {"q": "tide"}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("throttlingException", "rate_limit"),
        ("internalServerException", "server"),
        ("modelStreamErrorException", "server"),
        ("serviceUnavailableException", "overloaded"),
        ("validationException", "invalid_request"),
    ],
)
def test_an_exception_ends_the_stream(name, kind):
    data = stream(START, delta(0, text="a"), (f"exception:{name}", {"message": "No."}), META)
    *_, ended, failed = events_of(data)
    assert ended == PartEnded(0, incomplete=True)
    assert (failed.error.kind, failed.error.message) == (kind, "No.")


def test_a_wrong_checksum_ends_the_stream_in_words():
    data = bytearray(stream(START, delta(0, text="a"), delta(0, text="b"), ends(0), STOP, META))
    data[-1] ^= 1
    ctx = Context()
    *_, last = events_of(bytes(data), ctx)
    # The answer had come to its end before the message that cannot be read.
    assert isinstance(last, Failed)
    assert last.error.message == "the checksum of a message is wrong"
    assert "event-skipped" in ctx.receipt().codes()


@pytest.mark.parametrize(
    "event",
    [
        delta(0),
        delta(0, toolUse={"input": "x"}),
        ("contentBlockDelta", {"contentBlockIndex": "x", "delta": {"text": "b"}}),
        ("contentBlockDelta", {"contentBlockIndex": 0}),
        begins(7),
    ],
)
def test_what_cannot_be_meant_is_skipped(event):
    response = folded(delta(0, text="a"), event, delta(0, text="c"), ends(0), STOP, META)
    assert "".join(part.text for part in response.choices[0].parts) == "ac"


# --- events to bytes ------------------------------------------------------------------------------


def written(*parts, stop="end", **more):
    choice = Choice(parts=parts, stop=StopReason(kind=stop))
    response = Response(id="r", model="m", choices=(choice,), **more)
    return messages(bytes_of(unfold(response), foreign()))


def test_texts_have_no_start_and_calls_have_one():
    names = [name for name, _ in written(Text(text="a"), ToolCall(id="t", name="f"))]
    assert names == [
        "messageStart",
        "contentBlockDelta",
        "contentBlockStop",
        "contentBlockStart",
        "contentBlockDelta",
        "contentBlockStop",
        "messageStop",
        "metadata",
    ]


def test_an_empty_text_is_not_written_and_not_counted():
    events = written(Text(text=""), Text(text="b"))
    places = [value["contentBlockIndex"] for _, value in events if "contentBlockIndex" in value]
    assert places == [0, 0]


def test_a_signature_is_the_last_of_its_block():
    values = [value for _, value in written(Reasoning(text="Hm.", signature="s"))]
    assert [value["delta"] for value in values if "delta" in value] == [
        {"reasoningContent": {"text": "Hm."}},
        {"reasoningContent": {"signature": "s"}},
    ]


def test_hidden_state_is_alone_in_its_block_and_base64():
    values = [value for _, value in written(Reasoning(redacted=True, signature="tg1.x"))]
    [state] = [value["delta"] for value in values if "delta" in value]
    assert state == {"reasoningContent": {"redactedContent": "dG9vbGdsb3Q6dGcxLng="}}


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("rate_limit", "throttlingException"),
        ("overloaded", "serviceUnavailableException"),
        ("server", "internalServerException"),
        ("authentication", "validationException"),
    ],
)
def test_a_failure_is_an_exception_that_the_sdk_knows(kind, name):
    failed = Failed(ApiError(kind=kind, message="No.", status=500))
    data = bytes_of([Started(id="r", model="m"), failed], foreign())
    last, value = messages(data)[-1]
    assert (last, value["message"]) == (f"exception:{name}", "No.")


def test_text_that_goes_past_the_events_has_the_same_bytes():
    encoder = HARNESS.protocol.StreamEncoder(foreign())
    encoder.encode(Started(id="r", model="m"))
    encoder.encode(PartStarted(0, Text(text="")))
    first = encoder.encode(PartDelta(0, "é\n"))
    assert encoder.text_writer(0)("é\n") == first


# --- streams that pass through --------------------------------------------------------------------


def passed(data, size=50, **options):
    translator = StreamTranslator("bedrock-converse", "bedrock-converse", **options)
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    return b"".join(map(translator.feed, pieces)) + translator.close(), translator


def test_a_stream_passes_byte_for_byte_with_its_padding():
    data = stream_of("thinking-and-calls")
    through, translator = passed(data)
    assert through == data
    assert translator.usage.cache_read == 60
    assert not translator.receipt


def test_a_stream_that_stops_in_a_message_ends_in_an_exception():
    through, translator = passed(stream_of("cut"))
    name, value = messages(through)[-1]
    assert name == "exception:internalServerException"
    assert "ended before" in value["message"]
    assert translator.error is not None


def test_a_stream_with_a_wrong_checksum_is_passed_up_to_it():
    data = bytearray(stream_of("text"))
    data[len(data) // 2] ^= 1
    through, _ = passed(bytes(data))
    assert data.startswith(through[:100])
    name, value = messages(through)[-1]
    assert name.startswith("exception:")
    assert "checksum" in value["message"]


def test_a_start_without_a_member_is_mended_since_the_sdk_raises():
    data = stream(START, begins(0), delta(0, text="a"), ends(0), STOP, META)
    through, translator = passed(data)
    assert "contentBlockStart" not in [name for name, _ in messages(through)]
    assert translator.receipt.codes()["stream-mended"] == 1
    assert isinstance(events_of(through)[-1], Finished)
