"""Translating a stream: bytes in, bytes out."""

import json
import tracemalloc
from typing import Any

import pytest
from tests.laws.corpus import FIXTURES, NAMES, PAIRS
from tests.laws.streams import assert_legal, decode, encode
from tests.upstreams.server import SPEAKERS, framed
from tests.upstreams.values import Call, Offered, Reply, Say, Think, opaque
from tests.wires import parts_of

from toolglot import StreamTranslator, UnknownProtocolError, ir
from toolglot import streams as streams_module
from toolglot.context import Context
from toolglot.errors import UntranslatableError
from toolglot.events import (
    Failed,
    Finished,
    PartDelta,
    PartEnded,
    PartStarted,
    Started,
    fold,
    unfold,
)
from toolglot.lint import lint_stream
from toolglot.protocols.gemini import stream_decoder as gemini_decoder
from toolglot.protocols.gemini_interactions import stream_decoder as interactions_decoder
from toolglot.registry import get_protocol
from toolglot.wire import sse
from toolglot.wire.event_stream import EventStreamDecoder, encode_event
from toolglot.wire.follow import make_splitter

REQUEST = {
    "anthropic": {"model": "asked-for", "max_tokens": 9, "messages": []},
    "openai-chat": {"model": "asked-for", "messages": []},
    "openai-responses": {"model": "asked-for", "input": []},
    "gemini-interactions": {"model": "asked-for", "input": []},
    "gemini": {"contents": []},
    "ollama": {"model": "asked-for", "messages": []},
    "bedrock-converse": {"modelId": "asked-for", "messages": []},
}
UNMARKED = ("ollama", "bedrock-converse")
"""Protocols whose events do not end in a blank line."""
TEXT = [
    Started(id="resp_1", model="answered-by"),
    PartStarted(0, ir.Text(text="")),
    PartDelta(0, "Low water "),
    PartDelta(0, "at noon."),
    PartEnded(0),
    Finished((ir.StopReason(kind="end"),)),
]
CUT_CALL = [
    Started(id="resp_1", model="answered-by"),
    PartStarted(0, ir.Text(text="")),
    PartDelta(0, "Looking."),
    PartEnded(0),
    PartStarted(1, ir.ToolCall(id="call_1", name="tides", arguments="")),
    PartDelta(1, '{"port": "Hu'),
]


def run(source: str, target: str, data: bytes, **options: Any) -> tuple[bytes, StreamTranslator]:
    translator = StreamTranslator(source, target, **options)
    return translator.feed(data) + translator.close(), translator


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_every_pair(source, target):
    written, translator = run(source, target, encode(source, TEXT))
    events = decode(target, [written])
    assert_legal(events)
    response = fold(events)
    assert isinstance(response, ir.Response)
    (choice,) = response.choices
    assert [part.text for part in choice.parts if isinstance(part, ir.Text)] == [
        "Low water at noon."
    ]
    assert choice.stop is not None
    assert choice.stop.kind == "end"
    assert not translator.receipt.losses


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_delta_leaves_at_once(source, target):
    translator = StreamTranslator(source, target)
    encoder = get_protocol(source).StreamEncoder(Context())
    opening = b"".join(encoder.encode(event) for event in TEXT[:2])
    translator.feed(opening)
    for event in TEXT[2:4]:
        assert isinstance(event, PartDelta)
        assert event.text.encode() in translator.feed(encoder.encode(event))


@pytest.mark.parametrize("name", NAMES)
def test_the_same_protocol_passes_bytes_through(name):
    """Whatever it is: unknown events, odd spacing, even what is no stream at all."""
    translator = StreamTranslator(name, name, watch=False)
    for piece in (b"data:{}", b"\r\n\xff", b"", b": ping\n\n"):
        assert translator.feed(piece) == piece
    assert translator.close() == b""
    assert not translator.receipt


@pytest.mark.parametrize("name", NAMES)
def test_a_cut_is_told_in_the_same_protocol_too(name):
    """X-15: what was passed on until it broke off must not look whole."""
    whole = b"".join(map(get_protocol(name).StreamEncoder(Context()).encode, TEXT))
    cut = StreamTranslator(name, name)
    cut.feed(whole[: len(whole) // 2])
    assert b"late" in cut.fail(ir.ApiError(kind="timeout", message="late"))
    watched = StreamTranslator(name, name, watch=True)
    assert watched.feed(whole) == whole
    if watched.stops:
        assert watched.close() == b""
        assert watched.error is None
    assert StreamTranslator(name, name, watch=True).close() != b""


@pytest.mark.parametrize(
    "target",
    [name for name in NAMES if name != "gemini" and get_protocol(name).SURFACE.model_at],
)
def test_the_client_sees_the_model_that_it_asked_for(target):
    """X-17: whatever the provider calls it."""
    source = "gemini"
    for request in (REQUEST[target], json.dumps(REQUEST[target]).encode()):
        written, _ = run(source, target, encode(source, TEXT), request=request)
        assert b'"asked-for"' in written
        assert b"answered-by" not in written
    written, _ = run(source, target, encode(source, TEXT))
    assert b'"answered-by"' in written


def test_a_request_may_be_given_as_a_value():
    asked = ir.Request(model="asked-for", messages=())
    written, _ = run("anthropic", "gemini", encode("anthropic", TEXT), request=asked)
    assert b'"modelVersion":"asked-for"' in written


def test_unknown_protocols_are_named():
    with pytest.raises(UnknownProtocolError, match="smoke-signals"):
        StreamTranslator("smoke-signals", "anthropic")


def test_the_receipt_grows_with_the_stream():
    data = encode("openai-chat", TEXT).split(b"\n\n")
    translator = StreamTranslator("openai-chat", "anthropic")
    translator.feed(data[0] + b"\n\n")
    assert not translator.receipt.losses
    translator.feed(b"data: {broken\n\n")
    assert translator.receipt.codes() == {"field-minor": 1, "event-skipped": 1}
    rest = translator.feed(b"\n\n".join(data[1:])) + translator.close()
    assert b"message_stop" in rest
    assert translator.receipt.codes() == {"field-minor": 1, "event-skipped": 1}


def test_a_strict_receipt_refuses_losses():
    translator = StreamTranslator("openai-chat", "anthropic", strict=True)
    translator.feed(b"data: {broken\n\n")
    with pytest.raises(UntranslatableError):
        _ = translator.receipt


# --- streams that break off ----------------------------------------------------------------------


def errors_of(target: str, written: bytes) -> list[Any]:
    """The error events in what a client got, as its own protocol writes them."""
    if target == "bedrock-converse":
        events = EventStreamDecoder().feed(written)
        return [json.loads(data) for name, data in events if name.startswith("exception:")]
    if target == "ollama":
        values = [json.loads(line) for line in written.splitlines()]
    else:
        events = sse.SseDecoder().feed(written)
        values = [json.loads(data) for _, data in events if data != b"[DONE]"]
    found = {
        "anthropic": lambda value: value["type"] == "error",
        "openai-responses": lambda value: value["type"] == "response.failed",
    }
    return [value for value in values if found.get(target, lambda value: "error" in value)(value)]


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_stream_that_is_cut_ends_in_the_clients_own_error(source, target):
    """case-09, X-15: what was delivered stays, what was open is closed, and it is no success."""
    if get_protocol(source).SURFACE.calls.arguments == "object" and source != "anthropic":
        cut = encode(source, CUT_CALL[:3])
    else:
        cut = encode(source, CUT_CALL)
    written, _ = run(source, target, cut)
    assert len(errors_of(target, written)) == 1
    events = decode(target, [written])
    assert_legal(events)
    assert next(event.text for event in events if isinstance(event, PartDelta)) == "Looking."
    assert isinstance(events[-1], Failed)
    if target in ("anthropic", "openai-responses"):
        assert not_closed(written) == 0


def not_closed(written: bytes) -> int:
    opened = written.count(b"event: content_block_start") + written.count(b"output_item.added\n")
    closed = written.count(b"event: content_block_stop") + written.count(b"output_item.done\n")
    return opened - closed


@pytest.mark.parametrize(("source", "target"), PAIRS)
@pytest.mark.parametrize("data", [b"", b"\n", b": hello\n\n", b"data: {\n\n", b"data: []"])
def test_a_stream_that_breaks_before_it_began_is_only_an_error(source, target, data):
    """case-09: no message is begun that never was."""
    written, _ = run(source, target, data)
    assert len(errors_of(target, written)) == 1
    events = decode(target, [written])
    assert [type(event) for event in events if not isinstance(event, Started)] == [Failed]
    assert b"message_start" not in written
    assert b"output_item" not in written
    assert b"role" not in written


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_the_reason_of_a_break_can_be_told(source, target):
    translator = StreamTranslator(source, target)
    written = translator.feed(encode(source, TEXT[:3]))
    written += translator.fail(ir.ApiError(kind="timeout", message="no word for 60 s", status=504))
    assert len(errors_of(target, written)) == 1
    error = fold(decode(target, [written]))
    assert isinstance(error, ir.ApiError)
    assert "no word for 60 s" in error.message


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_a_reason_comes_too_late_for_a_complete_stream(source, target):
    translator = StreamTranslator(source, target)
    written = translator.feed(encode(source, TEXT))
    written += translator.fail(ir.ApiError(kind="timeout", message="late"))
    assert isinstance(decode(target, [written])[-1], Finished)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_nothing_follows_the_end(source, target):
    translator = StreamTranslator(source, target)
    translator.feed(encode(source, TEXT))
    translator.close()
    assert translator.feed(encode(source, TEXT)) == b""
    assert translator.close() == b""


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_an_event_without_end_is_an_error_and_not_a_leak(source, target, monkeypatch):
    """Law 10: buffers are bounded, and the client learns of it in its own protocol."""
    for module in (
        "toolglot.wire.sse",
        "toolglot.wire.ndjson",
        "toolglot.protocols.gemini._framing",
    ):
        monkeypatch.setattr(f"{module}.MAX_LINE", 5000)
    monkeypatch.setattr("toolglot.wire.event_stream.LONGEST_PAYLOAD", 5000)
    translator = StreamTranslator(source, target)
    written = translator.feed(encode(source, TEXT[:3]))
    for _ in range(20):
        if source == "bedrock-converse":
            written += translator.feed(encode_event("x", b"x" * 6000)[:600])
        else:
            written += translator.feed(b'data: {"x": "' + b"x" * 600)
    assert len(errors_of(target, written)) == 1
    assert_legal(decode(target, [written]))
    assert "longer than" in str(translator.receipt)
    assert translator.feed(encode(source, TEXT)) == b"", "and then it is over"


@pytest.mark.parametrize("illegal", [TEXT[0], PartStarted(7, ir.Text(text="")), TEXT[-1]], ids=str)
def test_an_illegal_sequence_never_reaches_the_client(illegal, monkeypatch):
    """Should a decoder ever go wrong, the client gets an error and a stream that is closed."""
    translator = StreamTranslator("openai-chat", "openai-responses")
    decoder = get_protocol("openai-chat").StreamDecoder
    monkeypatch.setattr(decoder, "feed", lambda _self, _data: iter([*TEXT[:3], illegal]))
    written = translator.feed(b"anything") + translator.feed(b"more") + translator.close()
    (error,) = errors_of("openai-responses", written)
    assert error["response"]["status"] == "failed"
    assert not_closed(written) == 0
    assert b"response.completed" not in written


def test_memory_of_a_stream_is_small():
    """A stream that waits holds its open part and little else."""
    import tracemalloc

    data = encode("openai-chat", TEXT[:3])
    StreamTranslator("openai-chat", "anthropic").feed(data)
    tracemalloc.start()
    streams = [StreamTranslator("openai-chat", "anthropic") for _ in range(50)]
    for stream in streams:
        stream.feed(data)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size / len(streams) < 16 * 1024


def test_recorded_streams_are_there():
    assert len(list(FIXTURES.glob("*/*.stream.txt"))) > 60


def test_whether_the_client_got_any_of_an_answer():
    """Until then, an error can stand in place of the answer."""
    encoder = get_protocol("anthropic").StreamEncoder(Context())
    other = StreamTranslator("anthropic", "openai-chat")
    other.feed(encoder.encode(TEXT[0]))
    assert not other.has_output
    other.feed(encoder.encode(TEXT[1]) + encoder.encode(TEXT[2]))
    assert other.has_output
    empty = StreamTranslator("anthropic", "openai-chat")
    empty.feed(encode("anthropic", [TEXT[0], Finished((ir.StopReason(kind="end"),))]))
    assert empty.has_output, "an answer without parts is one"
    same = StreamTranslator("anthropic", "anthropic")
    assert not same.has_output
    same.feed(b":\n\n" + encoder.encode(TEXT[0]))
    assert not same.has_output, "it can still turn out to be an error"
    same.feed(encoder.encode(TEXT[1]) + encoder.encode(TEXT[2]))
    assert same.has_output


@pytest.mark.parametrize("name", [name for name in NAMES if name not in UNMARKED])
def test_an_error_is_no_part_of_an_event_that_was_torn(name):
    translator = StreamTranslator(name, name, watch=True)
    torn = encode(name, TEXT[:4]).rstrip()
    written = translator.feed(torn) + translator.close()
    assert written.startswith(torn + b"\n\n")
    assert len(errors_of(name, written.removeprefix(torn))) == 1


def test_a_translated_stream_is_split_once(monkeypatch):
    """What judges events of the client's own protocol is made only for those."""
    made = []
    monkeypatch.setattr("toolglot.streams.make_splitter", lambda *_, **__: made.append(1))
    StreamTranslator("anthropic", "openai-chat")
    StreamTranslator("anthropic", "anthropic", watch=False)
    assert not made
    StreamTranslator("anthropic", "anthropic")
    assert made == [1]


# --- answers that agent clients ask for again -----------------------------------------------------


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_an_answer_that_breaks_off_may_leave_its_part_open(source, target):
    """X-15: so that agent clients ask again, where their protocol has no other word for it."""
    written, translator = run(source, target, encode(source, TEXT[:3]), broken="open")
    (error,) = errors_of(target, written)
    assert translator.error is not None
    if target == "anthropic":
        assert error["error"]["type"] == "overloaded_error"
        assert not_closed(written) == 1
    elif target == "openai-responses":
        assert not_closed(written) == 0


def test_an_event_without_end_leaves_the_part_open_too(monkeypatch):
    monkeypatch.setattr("toolglot.wire.sse.MAX_LINE", 5000)
    translator = StreamTranslator("openai-chat", "anthropic", broken="open")
    written = translator.feed(encode("openai-chat", TEXT[:3])) + translator.feed(b"x" * 6000)
    assert errors_of("anthropic", written)[0]["error"]["type"] == "overloaded_error"
    assert not_closed(written) == 1


@pytest.mark.parametrize("ended", ["close", "fail"])
def test_the_same_protocol_breaks_off_the_same_way(ended):
    """X-15."""
    translator = StreamTranslator("anthropic", "anthropic", watch=True, broken="open")
    whole = encode("anthropic", TEXT[:3])
    assert translator.feed(whole + b'event: content_block_delta\ndata: {"ty') == whole
    late = ir.ApiError(kind="timeout", message="late")
    written = translator.close() if ended == "close" else translator.fail(late)
    (error,) = errors_of("anthropic", whole + written)
    assert error["error"]["type"] == "overloaded_error"
    assert not_closed(whole + written) == 1


# --- careless streams in the client's own protocol ------------------------------------------------


def answer_of(name: str, *, sloppy: bool = False) -> bytes:
    """An answer with reasoning, text and a call, as an upstream of the protocol writes it."""
    speaker = SPEAKERS[name]
    path = get_protocol(name).SURFACE.path.replace("{model}", "m")
    asked = speaker.read(path.replace(":gen", ":streamGen"), ASKED[name])
    tool = Offered("tides", {"type": "object"})
    state = opaque(name) if name in ("anthropic", "openai-responses") else ""
    call = Call(tool, {"port": "Hull"}, speaker.CALL_ID.format(1))
    reply = Reply((Think("Hm, Hull.", state), Say("I look it up."), call), sloppy=sloppy)
    return b"".join(framed(reply, asked, speaker))


ASKED = {
    "anthropic": {"model": "m", "messages": []},
    "openai-chat": {"model": "m", "messages": [], "stream_options": {"include_usage": True}},
    "openai-responses": {"model": "m", "input": []},
    "gemini-interactions": {"model": "m", "input": []},
    "gemini": {"contents": []},
    "ollama": {"model": "m", "messages": []},
    "bedrock-converse": {"modelId": "m", "messages": []},
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [1, 7, 100, 100_000])
def test_a_sound_stream_passes_byte_for_byte(name, size):
    """Whatever the cuts are, and however closely it is watched."""
    for data in (answer_of(name), encode(name, TEXT)):
        translator = StreamTranslator(name, name, watch=True)
        pieces = [data[start : start + size] for start in range(0, len(data), size)]
        assert b"".join(map(translator.feed, pieces)) + translator.close() == data
        assert not translator.receipt
        assert translator.stops


FORGIVEN = {
    # Names of events are ignored; a step that has nothing yet may begin again.
    "gemini-interactions": {"event-line", "step-index"},
    "gemini": {"role", "usage", "model", "response-id", "model-version"},
    "ollama": {"done-reason"},
}
"""What no client misses."""


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [1, 7, 100, 100_000])
def test_a_careless_stream_is_mended(name, size):
    """X-06, X-14: what strict clients miss is there, and what was said is the same."""
    data = answer_of(name, sloppy=True)
    translator = StreamTranslator(name, name, watch=True)
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    mended = b"".join(map(translator.feed, pieces)) + translator.close()
    assert {each.rule for each in lint_stream(mended, name)} <= FORGIVEN.get(name, set())
    said, meant = (fold(decode(name, [each])) for each in (mended, answer_of(name)))
    assert words_of(said) == words_of(meant)
    needed = name not in ("gemini", "ollama")  # whose clients forgive nearly everything
    assert ("stream-mended" in translator.receipt.codes()) == needed
    check = get_protocol(name).StreamCheck()
    media_type = get_protocol(name).SURFACE.stream.media_type
    judged = list(make_splitter(check, media_type, comments=False).feed(mended))
    assert all(piece.readable for piece in judged)
    assert check.ended
    assert b": ping" not in mended or name != "gemini"


STREAMS = [
    pytest.param(name, file, id=f"{name}-{file.name.partition('.')[0]}")
    for name in NAMES
    for file in sorted((FIXTURES / name).glob("*.stream.txt"))
]


@pytest.mark.parametrize(("name", "file"), STREAMS)
def test_whatever_is_wrong_with_a_stream_its_client_can_read_it(name, file):
    """X-06, X-15: strict clients find all they need, or an error of their own protocol."""
    data = file.read_bytes()
    translator = StreamTranslator(name, name, watch=True)
    passed = translator.feed(data) + translator.close()
    said, meant = (fold(decode(name, [each])) for each in (passed, data))
    assert type(said) is type(meant)
    if isinstance(meant, ir.Response):
        assert "".join(words_of(said)) == "".join(words_of(meant))
    if name == "gemini" and data.lstrip().startswith(b"["):
        assert passed == data, "one array that grows"
        return
    check = get_protocol(name).StreamCheck()
    media_type = get_protocol(name).SURFACE.stream.media_type
    judged = [
        *(passing := make_splitter(check, media_type)).feed(passed),
        *passing.close(),
    ]
    assert all(piece.readable for piece in judged)
    assert check.ended or isinstance(said, ir.ApiError)


def words_of(response: ir.Response | ir.ApiError) -> list[str]:
    assert isinstance(response, ir.Response)
    return [
        part.arguments if isinstance(part, ir.ToolCall) else getattr(part, "text", "")
        for part in response.choices[0].parts
    ]


LATE_FAULTS = {
    "anthropic": (b'"usage":{"input_tokens":100,', b'"usage":null,"was":{"input_tokens":100,', 1),
    "openai-chat": (b'"finish_reason":"tool_calls"', b'"finish_reason":null', 0),
    "openai-responses": (b'"total_tokens":120', b'"total":120', 0),
}


@pytest.mark.parametrize("name", LATE_FAULTS)
def test_a_fault_at_the_end_changes_only_the_end(name):
    """The client has read what came before; the rest follows on it."""
    data = answer_of(name)
    what, other, place = LATE_FAULTS[name]
    before, *rest = data.split(what)
    at = len(before) if not place else len(before) + len(what) + len(rest[0])
    broken = data[:at] + other + data[at + len(what) :]
    assert broken != data
    translator = StreamTranslator(name, name, watch=True)
    mended = translator.feed(broken) + translator.close()
    last = data.rfind(b"\n\n", 0, at)
    assert mended[: last + 2] == data[: last + 2]
    assert words_of(fold(decode(name, [mended]))) == words_of(fold(decode(name, [data])))
    assert name == get_protocol(name).NAME
    assert lint_stream(mended, name) == []
    assert translator.receipt.codes()["stream-mended"] == 1


@pytest.mark.parametrize(
    ("name", "end"),
    [("anthropic", b"event: message_stop"), ("openai-responses", b"event: response.completed")],
)
def test_a_missing_end_is_completed_or_told(name, end):
    """X-15: no client may wait, or ask, for ever."""
    data = answer_of(name)
    cut = data[: data.rindex(end)]
    translator = StreamTranslator(name, name, watch=True)
    written = translator.feed(cut) + translator.close()
    assert written.startswith(cut)
    assert end in written or len(errors_of(name, written)) == 1


def test_a_mended_stream_names_the_model_that_was_asked_for():
    """X-17."""
    asked = ir.Request(model="asked-for", messages=())
    data = answer_of("openai-chat", sloppy=True)
    mended, _ = run("openai-chat", "openai-chat", data, request=asked, watch=True, model="m")
    assert b'"model":"asked-for"' in mended
    assert b'"model":"m"' not in mended


def test_a_stream_that_never_ends_an_event_is_refused_in_its_own_protocol(monkeypatch):
    """Law 10."""
    monkeypatch.setattr("toolglot.wire.follow.MAX_LINE", 5000)
    translator = StreamTranslator("anthropic", "anthropic", watch=True)
    written = translator.feed(encode("anthropic", TEXT[:3])) + translator.feed(b"x" * 6000)
    assert len(errors_of("anthropic", written)) == 1
    assert translator.feed(b"x") == b""
    assert translator.close() == b""


def overlapping(data: bytes) -> list[int]:
    """The items of a Responses stream that were added while another was open."""
    found: list[int] = []
    opened: set[int] = set()
    for _, payload in sse.SseDecoder().feed(data):
        event = json.loads(payload)
        if event["type"] == "response.output_item.added":
            found += [event["output_index"]] if opened else []
            opened.add(event["output_index"])
        elif event["type"] == "response.output_item.done":
            opened.discard(event["output_index"])
    return found


def called(data: bytes) -> list[Any]:
    response = fold(decode("openai-responses", [data]))
    assert isinstance(response, ir.Response)
    return parts_of(response, ir.ToolCall)


def tool_chunk(index: int, arguments: str, name: str = "") -> bytes:
    function = {"arguments": arguments, **({"name": name} if name else {})}
    entry = {"index": index, "function": function, **({"id": f"call_{index}"} if name else {})}
    delta = {"tool_calls": [entry]}
    value = {"id": "s1", "model": "m", "choices": [{"index": 0, "delta": delta}]}
    return b"data: " + json.dumps(value).encode() + b"\n\n"


FIRST_CALL = [(0, "", "f"), (0, '{"a":', ""), (0, "1}", "")]
SECOND_CALL = [(1, "", "g"), (1, '{"b":', ""), (1, "2}", "")]
ONE_BY_ONE = [*FIRST_CALL, *SECOND_CALL]
BY_TURNS = [each for both in zip(FIRST_CALL, SECOND_CALL, strict=True) for each in both]
CHAT_END = b"".join(
    b"data: %s\n\n" % each
    for each in (b'{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}', b"[DONE]")
)


@pytest.mark.parametrize("order", [ONE_BY_ONE, BY_TURNS])
def test_parallel_calls_of_a_responses_stream_do_not_overlap(order):
    """Some clients add arguments to the call that was added last."""
    translator = StreamTranslator("openai-chat", "openai-responses")
    live = [translator.feed(tool_chunk(*each)) for each in order]
    data = b"".join(live) + translator.feed(CHAT_END) + translator.close()
    assert overlapping(data) == []
    assert [(call.name, call.arguments) for call in called(data)] == [
        ("f", '{"a":1}'),
        ("g", '{"b":2}'),
    ]
    if order is ONE_BY_ONE:
        assert all(live)


@pytest.mark.parametrize("size", [1, 50, 10_000])
def test_overlapping_calls_of_a_responses_server_are_mended(size):
    whole = ir.Response(
        id="r1",
        model="m",
        choices=(
            ir.Choice(
                parts=tuple(
                    ir.ToolCall(id=f"c{n}", name=n, arguments=f'{{"{n}":1}}') for n in "fgh"
                ),
                stop=ir.StopReason(kind="tool_calls"),
            ),
        ),
    )
    events = list(unfold(whole))
    starts = [event for event in events if isinstance(event, PartStarted)]
    rest = [event for event in events[1:-1] if not isinstance(event, PartStarted)]
    encoder = get_protocol("openai-responses").StreamEncoder(Context())
    mixed = (events[0], *starts, *rest, events[-1])
    data = b"".join(map(encoder.encode, mixed)) + encoder.close()
    assert overlapping(data) == [1, 2]
    translator = StreamTranslator("openai-responses", "openai-responses", watch=True)
    cut = (data[at : at + size] for at in range(0, len(data), size))
    mended = b"".join(map(translator.feed, cut)) + translator.close()
    assert overlapping(mended) == []
    assert "stream-mended" in translator.receipt.codes()
    parts = called(mended)
    assert [(p.id, p.name, p.arguments) for p in parts] == [
        (p.id, p.name, p.arguments) for p in whole.choices[0].parts
    ]


WORDS = (
    "The tide",
    " is",
    " high",
    ", and",
    ' the "Gull"',
    " \\ ",
    ":",
    "\n\n",
    "é",
    "潮",
    "\N{LINE SEPARATOR}",
    " is",
    "tide",
    "tide",
    " high",
)
ARGUMENTS = (
    '{"path":"/srv/harbour/log-07.txt","note":"a \\"b\\" c\\n","words":["tide","tide","flood"]}'
)


def _events_of(name):
    """The events of one answer in a protocol, one by one: texts, then a call in small pieces."""
    call = ir.ToolCall(id="call_1", name="read_log", arguments="")
    events = [Started(id="resp_1", model="m"), PartStarted(0, ir.Text(text=""))]
    events += [PartDelta(0, word) for word in WORDS]
    events += [PartEnded(0), PartStarted(1, call)]
    events += [PartDelta(1, ARGUMENTS[at : at + 4]) for at in range(0, len(ARGUMENTS), 4)]
    events += [PartEnded(1), Finished((ir.StopReason(kind="tool_calls"),))]
    encoder = get_protocol(name).StreamEncoder(Context(target=get_protocol(name).SURFACE))
    written = [*map(encoder.encode, events), encoder.close()]
    return [each for data in written for each in _frames(data) if each]


def _frames(data):
    end = b"\r\n\r\n" if b"\r\n\r\n" in data else b"\n\n" if b"\n\n" in data else b"\n"
    return [piece + end for piece in data.split(end) if piece]


def _translated(source, target, pieces):
    translator = StreamTranslator(source, target)
    data = b"".join([*map(translator.feed, pieces), translator.close()])
    return data, translator.receipt, translator.stops


@pytest.mark.parametrize(("source", "target"), [*PAIRS, *((name, name) for name in NAMES)])
@pytest.mark.parametrize("spelling", ["as written", "escaped"])
def test_events_that_repeat_the_last_in_all_but_text_are_read_the_same(source, target, spelling):
    events = _events_of(source)
    if spelling == "escaped" and source == "bedrock-converse":
        return  # Its events cannot be respelled without new checksums.
    if spelling == "escaped":
        events = [each.decode().replace("é", "\\u00e9").encode() for each in events]
    whole = b"".join(events)
    single = [whole[at : at + 5] for at in range(0, len(whole), 5)]
    expected = _translated(source, target, single)
    assert _translated(source, target, events) == expected
    assert _translated(source, target, [whole]) == expected


def test_a_repeated_event_counts_and_belongs_to_its_part():
    """Broken events are told by their number; text that follows a torn event is not lost."""
    chunk = '{"id":"c","choices":[{"index":0,"delta":{"content":"%s"}}]}'
    events = [f"data: {chunk % word}\n\n".encode() for word in ("one", "two", "three", "four")]
    translator = StreamTranslator("openai-chat", "anthropic")
    written = [*map(translator.feed, events), translator.feed(b"data: {broken\n\n")]
    assert b"four" in written[3]
    assert translator.receipt.notes[-1].path == "event 5"
    assert translator.feed(b"data: {torn") == b""
    assert translator.feed(events[2]) == b""
    assert b"one" in translator.feed(events[0])


def text_answer(text):
    choice = ir.Choice(parts=(ir.Text(text=text),), stop=ir.StopReason(kind="end"))
    return ir.Response(id="resp_1", model="m", choices=(choice,))


def long_stream(protocol, pieces, size=400):
    """The bytes of a stream with a long text, event by event."""
    encoder = get_protocol(protocol).StreamEncoder(Context())
    yield encoder.encode(Started(id="a", model="m"))
    yield encoder.encode(PartStarted(0, ir.Text(text="")))
    for number in range(pieces):
        yield encoder.encode(PartDelta(0, f"{number:0{size}}"))


@pytest.mark.parametrize("name", NAMES)
def test_a_stream_of_any_length_passes_in_bounded_memory(name, monkeypatch):
    """X-15: what is remembered of it, in case that it must be encoded, has an end."""
    monkeypatch.setattr(streams_module, "_LONGEST_PAST", 2**16)
    monkeypatch.setattr(streams_module, "_MANY", 64)
    monkeypatch.setattr(gemini_decoder, "_LONGEST_CITED", 2**16)
    monkeypatch.setattr(interactions_decoder, "_LONGEST_CITED", 2**16)
    kept = []
    for pieces in (1_000, 6_000):
        data = [piece for piece in long_stream(name, pieces) if piece]
        translator = StreamTranslator(name, name)
        tracemalloc.start()
        for piece in data:
            assert translator.feed(piece) == piece
        kept.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
    assert kept[1] < kept[0] + 2**18, f"{kept} bytes for 0.4 and 2.4 MB of text"


def test_what_was_said_of_a_long_stream_is_joined_and_not_forgotten(monkeypatch):
    """A server that leaves out the end of the stream, after more events than are kept apart."""
    monkeypatch.setattr(streams_module, "_MANY", 16)
    name, encoder = "openai-responses", get_protocol("openai-responses").StreamEncoder(Context())
    text = "".join(f"{number:04}" for number in range(100))
    events = [*unfold(text_answer(text))]
    deltas = [PartDelta(0, f"{number:04}") for number in range(100)]
    data = b"".join(map(encoder.encode, [*events[:2], *deltas, *events[3:]]))
    cut = data.index(b"event: response.output_item.done")
    marked = data[: data.index(b"event: response.completed", cut)] + b"data: [DONE]\n\n"
    translator = StreamTranslator(name, name)
    written = translator.feed(marked) + translator.close()
    assert "stream-mended" in translator.receipt.codes()
    answer = fold(decode(name, [written]))
    assert [part.text for part in parts_of(answer, ir.Text)] == [text]


@pytest.mark.parametrize("name", ["gemini", "openai-chat"])
def test_a_stream_that_breaks_off_after_its_last_word_is_complete(name):
    """Nothing but the end of the bytes, or a line that says so, was to come."""
    encoder = get_protocol(name).StreamEncoder(Context())
    data = b"".join(map(encoder.encode, unfold(text_answer("All of it."))))
    translator = StreamTranslator(name, name)
    written = translator.feed(data) + translator.fail(
        ir.ApiError(kind="server", message="broke off", status=502)
    )
    answer = fold(decode(name, [written]))
    assert isinstance(answer, ir.Response)
    assert translator.error is None


@pytest.mark.parametrize("broken", [False, True])
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("name", NAMES)
def test_whatever_a_stream_is_cut_in_its_client_gets_whole_events(name, line_end, broken):
    """Also where it is cut within its last line end, or in the middle of any other."""
    data = answer_of(name).replace(b"\r\n", b"\n").replace(b"\n", line_end)
    last = b"\n" if name == "ollama" else b"\n\n"
    cut = ir.ApiError(kind="server", message="broke off", status=502)
    edges = [at for at in range(len(data)) if data[at - 1 : at + 1] in (b"\r\n", b"\n\n", b"\n\r")]
    for at in sorted({*edges[::5], *range(len(data) - 30, len(data) + 1)}):
        translator = StreamTranslator(name, name, mend="on", broken="open")
        written = translator.feed(data[:at])
        written += translator.fail(cut) if broken else translator.close()
        assert written.replace(b"\r\n", b"\n").endswith(last), (at, written[-60:])
        found = {each.rule for each in lint_stream(written, name)}
        assert not found & {"blank-line", "sequence", "not-json"}, (at, found)
        assert (translator.error is None) == bool(translator.stops), at


def test_the_numbers_of_events_go_on_where_a_stream_breaks_off_or_is_mended():
    """Clients resume a response after the number that they saw last."""
    name = "openai-responses"
    events = answer_of(name).split(b"\n\n")
    for count in range(2, len(events) - 2):
        for tail in (b"", b'event: response.output_text.delta\ndata: {"type":\n\n'):
            translator = StreamTranslator(name, name, mend="on", broken="open")
            head = b"\n\n".join(events[:count]) + b"\n\n"
            written = translator.feed(head + tail) + translator.close()
            lines = [line[6:] for line in written.split(b"\n") if line.startswith(b"data: {")]
            numbers = [json.loads(line)["sequence_number"] for line in lines]
            assert numbers == list(range(len(numbers)))
            assert len(numbers) > count
