"""Streams cut at every byte: what came is shown, and then an error that stands alone."""

import json

import pytest

from toolglot import ir
from toolglot.context import Context
from toolglot.events import fold, unfold
from toolglot.registry import PROTOCOLS, get_protocol
from toolglot.streams import StreamTranslator
from toolglot.wire.event_stream import MEDIA_TYPE, EventStreamDecoder

NAMES = list(PROTOCOLS)
CALL = ir.ToolCall(id="call_1", name="look", arguments='{"place":"the river \\"W\\u00fcrm\\""}')
PARTS = (ir.Text(text="North, then näher."), CALL)
STOP = ir.StopReason(kind="tool_calls")
ANSWER = ir.Response(
    id="a1",
    model="m",
    choices=(ir.Choice(parts=PARTS, stop=STOP),),
    usage=ir.Usage(input=12, output=7),
)
ENDS = {"as it is": None, "CRLF": b"\r\n", "CR": b"\r"}


def stream_of(protocol, end=None):
    """A stream with a text and a call; `end` is its line end."""
    encoder = get_protocol(protocol).StreamEncoder(Context())
    data = b"".join([*map(encoder.encode, unfold(ANSWER)), encoder.close()])
    return data if end is None else data.replace(b"\r\n", b"\n").replace(b"\n", end)


def strict_events(protocol, data):
    """The events of a stream as a client reads them that forgives nothing: all are JSON."""
    media_type = get_protocol(protocol).SURFACE.stream.media_type
    if media_type == MEDIA_TYPE:
        decoder = EventStreamDecoder()
        found = [json.loads(payload) for _, payload in decoder.feed(data)]
        assert not decoder.take(), "nothing but whole messages"
        return found
    if media_type == "application/x-ndjson":
        assert data.endswith(b"\n")
        return [json.loads(line) for line in data.split(b"\n") if line.strip()]
    data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    assert data.endswith(b"\n\n")
    found = []
    for block in data.split(b"\n\n"):
        lines = [line for line in block.split(b"\n") if line and not line.startswith(b":")]
        payload = [line.removeprefix(b"data:").strip() for line in lines if line[:5] == b"data:"]
        names = [line for line in lines if line[:6] == b"event:"]
        assert len(payload) + len(names) == len(lines), lines
        assert len(payload) == (1 if lines else 0), "one event, one line of data"
        assert len(names) <= 1
        found += [json.loads(each) for each in payload if each != b"[DONE]"]
    return found


def judge(protocol, data):
    """The error that a cut stream ends in; nothing of what it said is whole that was not."""
    assert strict_events(protocol, data)
    decoder = get_protocol(protocol).StreamDecoder(Context())
    told = fold([*decoder.feed(data), *decoder.close()])
    assert isinstance(told, ir.ApiError), data
    return told


def is_complete(protocol, data):
    """Whether a client that reads on to the end would take these bytes for all of the answer."""
    decoder = get_protocol(protocol).StreamDecoder(Context())
    events = [*decoder.feed(data), *decoder.close()]
    return bool(events) and isinstance(fold(events), ir.Response)


def pairs():
    """All pairs; where a stream passes as it is, also with other line ends."""
    for ours in NAMES:
        for theirs in NAMES:
            yield ours, theirs, "as it is"
        if get_protocol(ours).SURFACE.stream.media_type == "text/event-stream":
            yield ours, ours, "CRLF"
            yield ours, ours, "CR"


@pytest.mark.parametrize("close", ["ended", "failed"])
@pytest.mark.parametrize(("ours", "theirs", "end"), list(pairs()))
def test_a_stream_cut_at_any_byte_ends_in_an_error_that_stands_alone(ours, theirs, end, close):
    """X-15, case-09."""
    data = stream_of(theirs, ENDS[end])
    cuts = range(1, len(data))
    assert cuts
    step = 7 if ours != theirs else 1 if end == "as it is" else 3
    for cut in cuts[::step]:
        translator = StreamTranslator(theirs, ours)
        written = translator.feed(data[:cut])
        whole = translator.ended or is_complete(theirs, data[:cut])
        if close == "failed" and not translator.ended:
            error = ir.ApiError(kind="server", message="It broke off.", status=502)
            written += translator.fail(error)
            whole = is_complete(theirs, written) if ours == theirs else translator.error is None
            if not whole:
                assert judge(ours, written).message == "It broke off.", (cut, written[-200:])
            continue
        written += translator.close()
        if not whole:
            judge(ours, written)
        elif ours != theirs:
            assert strict_events(ours, written)
        else:
            assert is_complete(ours, written), (cut, written[-200:])
