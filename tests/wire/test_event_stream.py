"""Binary event streams: the bytes of the specification, checksums, limits, and AWS's own parser."""

import struct
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.errors import DecodeError
from toolglot.wire.event_stream import (
    LONGEST_PAYLOAD,
    EventStreamDecoder,
    encode_event,
    encode_message,
    message_size,
    read_message,
)

STARTED = bytes.fromhex(
    "000000760000005296d5fade0b3a6576656e742d7479706507000c6d65737361676553746172740d3a636f6e74656e"
    "742d747970650700106170706c69636174696f6e2f6a736f6e0d3a6d6573736167652d747970650700056576656e74"
    "7b22726f6c65223a22617373697374616e74227d6fa8c599"
)
THROTTLED = bytes.fromhex(
    "0000008900000061e3615c440f3a657863657074696f6e2d747970650700137468726f74746c696e67457863657074"
    "696f6e0d3a636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e0d3a6d6573736167652d74"
    "797065070009657863657074696f6e7b226d657373616765223a22536c6f7720646f776e2e227d3705a772"
)
NAMES = st.text(st.characters(codec="utf-8", exclude_characters=":"), max_size=40)


def test_an_event_has_the_bytes_that_the_service_writes():
    assert encode_event("messageStart", b'{"role":"assistant"}') == STARTED
    assert EventStreamDecoder().feed(STARTED) == [("messageStart", b'{"role":"assistant"}')]


def test_an_exception_has_the_bytes_that_the_service_writes():
    name, payload = "exception:throttlingException", b'{"message":"Slow down."}'
    assert encode_event(name, payload) == THROTTLED
    assert EventStreamDecoder().feed(THROTTLED) == [(name, payload)]


def header(name: str, kind: int, value: bytes) -> bytes:
    return bytes((len(name),)) + name.encode() + bytes((kind,)) + value


def test_an_error_that_the_service_does_not_declare_has_its_words_in_headers():
    def text(value):
        return struct.pack(">H", len(value)) + value

    headers = b"".join(
        (
            header(":message-type", 7, text(b"error")),
            header(":error-code", 7, text(b"InternalFailure")),
            header(":error-message", 7, text(b"It broke.")),
        )
    )
    found = EventStreamDecoder().feed(encode_message(headers, b""))
    assert found == [("error:InternalFailure", b'{"message":"It broke."}')]


def test_headers_of_all_types_are_read():
    headers = b"".join(
        (
            header("yes", 0, b""),
            header("no", 1, b""),
            header("byte", 2, b"\xff"),
            header("short", 3, struct.pack(">h", -300)),
            header("int", 4, struct.pack(">i", 70_000)),
            header("long", 5, struct.pack(">q", 2**40)),
            header("bytes", 6, b"\x00\x02\xff\x00"),
            header("text", 7, b"\x00\x02\xc3\xa9"),
            header("time", 8, struct.pack(">q", 1_790_000_000_000)),
            header("uuid", 9, bytes(range(16))),
        )
    )
    message = read_message(encode_message(headers, b"x"))
    assert message.payload == b"x"
    assert message.headers == {
        "yes": True,
        "no": False,
        "byte": -1,
        "short": -300,
        "int": 70_000,
        "long": 2**40,
        "bytes": b"\xff\x00",
        "text": "é",
        "time": 1_790_000_000_000,
        "uuid": bytes(range(16)),
    }


@pytest.mark.parametrize(
    ("place", "words"),
    [(0, "lengths"), (5, "lengths"), (9, "lengths"), (40, "message is"), (-1, "")],
)
def test_a_wrong_checksum_ends_the_stream_and_not_what_came_before(place, words):
    wrong = bytearray(STARTED)
    wrong[place] ^= 1
    decoder = EventStreamDecoder()
    assert decoder.feed(THROTTLED + bytes(wrong) + STARTED) == EventStreamDecoder().feed(THROTTLED)
    assert "checksum" in decoder.broken
    assert words in decoder.broken
    assert decoder.feed(STARTED) == []


@pytest.mark.parametrize(
    ("size", "headers", "words"),
    [
        (15, 0, "no room"),
        (20, 5, "no room"),
        (16 + 128 * 1024 + 1, 128 * 1024 + 1, "longer than one may be"),
        (LONGEST_PAYLOAD + 17, 0, "longer than one may be"),
    ],
)
def test_lengths_that_cannot_be_are_refused_before_anything_is_waited_for(size, headers, words):
    lengths = struct.pack(">II", size, headers)
    with pytest.raises(DecodeError, match=words):
        message_size(lengths + struct.pack(">I", crc32(lengths)))


@pytest.mark.parametrize(
    "headers",
    [
        b"\x05ab",
        header("a", 7, b"\x00\x09x"),
        header("a", 10, b""),
        header("a", 7, b"\x00\x01\xff"),
        header("a", 0, b"") * 2,
        header("a", 5, b"\x00"),
    ],
)
def test_headers_that_cannot_be_read_are_refused(headers):
    with pytest.raises(DecodeError, match="header"):
        read_message(encode_message(headers, b""))


@given(events=st.lists(st.tuples(NAMES, st.binary(max_size=300)), max_size=6), data=st.data())
def test_events_cut_anywhere_are_the_same(events, data):
    stream = b"".join(encode_event(name, payload) for name, payload in events)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=9)))
    decoder, found = EventStreamDecoder(), []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        found += decoder.feed(stream[start:end])
    assert found == events
    assert decoder.take() == b""
    assert decoder.close() == []


@given(st.binary(max_size=200))
def test_any_bytes_are_events_or_broken(data):
    decoder = EventStreamDecoder()
    decoder.feed(STARTED + data)
    assert decoder.broken or len(decoder.take()) <= len(data)


@given(events=st.lists(st.tuples(NAMES, st.binary(max_size=99)), min_size=1, max_size=4))
def test_the_parser_of_the_aws_sdk_reads_the_same(events):
    eventstream = pytest.importorskip("botocore.eventstream")
    buffer = eventstream.EventStreamBuffer()
    buffer.add_data(b"".join(encode_event(name, payload) for name, payload in events))
    read = list(buffer)
    assert [(each.headers[":event-type"], each.payload) for each in read] == events
    assert {each.headers[":message-type"] for each in read} == {"event"}


def test_the_parser_of_the_aws_sdk_refuses_what_we_refuse():
    eventstream = pytest.importorskip("botocore.eventstream")
    for place in range(len(STARTED)):
        wrong = bytearray(STARTED)
        wrong[place] ^= 0x10
        decoder, buffer = EventStreamDecoder(), eventstream.EventStreamBuffer()
        decoder.feed(bytes(wrong))
        buffer.add_data(bytes(wrong))
        with pytest.raises(eventstream.ParserError):
            list(buffer)
        assert decoder.broken
