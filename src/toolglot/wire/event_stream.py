"""`application/vnd.amazon.eventstream`, both ways, from bytes cut anywhere: binary messages, each
with checksums. Not to be confused with server-sent events, whose media type is alike.

Reference: https://smithy.io/2.0/aws/amazon-eventstream.html and botocore 1.44.0 (eventstream.py),
read on 2026-11-16. All integers are big-endian:

    4 bytes  length of the whole message        12 + n      payload
    4 bytes  length of the headers              4 bytes     CRC-32 of all bytes before
    4 bytes  CRC-32 of these eight bytes
    n bytes  headers: length and name, type of the value, value

What cannot be read is fatal: without the right length nobody knows where the next message begins.
"""

import struct
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, NamedTuple
from zlib import crc32

from toolglot.errors import DecodeError
from toolglot.wire import jsontext

MEDIA_TYPE: Final = "application/vnd.amazon.eventstream"
LONGEST_HEADERS: Final = 128 * 1024
LONGEST_PAYLOAD: Final = 24 * 1024 * 1024
"""Bytes that one message may have of each, as botocore has it."""

EXCEPTION: Final = "exception:"
ERROR: Final = "error:"
"""What stands before the name of a message that is no event: an error that the service declares, or
one that it does not."""

_PRELUDE: Final = struct.Struct(">III")
_LENGTHS: Final = struct.Struct(">II")
_CHECKSUM: Final = struct.Struct(">I")
_LEAST: Final = _PRELUDE.size + _CHECKSUM.size
_SIZED: Final = struct.Struct(">H")
_BYTES, _TEXT = 6, 7
_FIXED: Final = {
    2: struct.Struct(">b"),
    3: struct.Struct(">h"),
    4: struct.Struct(">i"),
    5: struct.Struct(">q"),
    8: struct.Struct(">q"),
    9: struct.Struct(">16s"),
}
"""Types of values of one length: integers, a time in milliseconds, a UUID."""
_BOOLEANS: Final = {0: True, 1: False}


class EventMessage(NamedTuple):
    """One message: its headers and its payload."""

    headers: dict[str, Any]
    payload: bytes

    def event(self) -> tuple[str, bytes]:
        """Its name, and its data; an error without a payload has its words as one."""
        kind = self.headers.get(":message-type")
        if kind == "exception":
            return EXCEPTION + str(self.headers.get(":exception-type", "")), self.payload
        if kind == "error":
            words = str(self.headers.get(":error-message", ""))
            code = str(self.headers.get(":error-code", ""))
            return ERROR + code, self.payload or jsontext.encode({"message": words})
        return str(self.headers.get(":event-type", "")), self.payload


# --- decoding -------------------------------------------------------------------------------------


class EventStreamDecoder:
    """Bytes to the names and the data of messages.

    What came before a message that cannot be read is given; `broken` then says why nothing follows.
    """

    __slots__ = ("_size", "_tail", "_wanted", "broken")

    def __init__(self) -> None:
        self._tail: list[bytes] = []
        self._size = 0
        self._wanted = _LEAST
        self.broken = ""

    def feed(self, data: bytes) -> list[tuple[str, bytes]]:
        """The events that these bytes complete."""
        return [message.event() for _, message in self.messages(data)]

    def messages(self, data: bytes) -> list[tuple[bytes, EventMessage]]:
        """The messages that these bytes complete, each with its own bytes."""
        self._tail.append(data)
        self._size += len(data)
        if self._size < self._wanted or self.broken:
            return []
        buffer, start = b"".join(self._tail), 0
        found: list[tuple[bytes, EventMessage]] = []
        self._wanted = _LEAST
        try:
            while (size := message_size(buffer, start)) is not None:
                if len(buffer) - start < size:
                    self._wanted = size
                    break
                raw = buffer[start : start + size]
                found.append((raw, read_message(raw)))
                start += size
        except DecodeError as error:
            self.broken = str(error)
        self._tail = [buffer[start:]]
        self._size = len(buffer) - start
        return found

    def take(self) -> bytes:
        """The bytes that are no whole message yet, for the decoder that reads on."""
        rest = b"".join(self._tail)
        self._tail, self._size, self._wanted = [], 0, _LEAST
        return rest

    def close(self) -> list[tuple[str, bytes]]:
        """Nothing: a message that was torn cannot be read."""
        return []


def message_size(data: bytes, start: int = 0) -> int | None:
    """How many bytes the message has that begins here; None: too few are there to tell."""
    if len(data) - start < _PRELUDE.size:
        return None
    size, headers, checksum = _PRELUDE.unpack_from(data, start)
    if crc32(data[start : start + _LENGTHS.size]) != checksum:
        raise DecodeError("", "the checksum of the lengths of a message is wrong")
    if headers > LONGEST_HEADERS or size - headers > LONGEST_PAYLOAD + _LEAST:
        raise DecodeError("", f"a message of {size} bytes is longer than one may be")
    if size < headers + _LEAST:
        raise DecodeError("", f"a message of {size} bytes has no room for its headers")
    return int(size)


def read_message(data: bytes) -> EventMessage:
    """The message that these bytes are."""
    size, headers, _ = _PRELUDE.unpack_from(data)
    end = size - _CHECKSUM.size
    if crc32(data[:end]) != _CHECKSUM.unpack_from(data, end)[0]:
        raise DecodeError("", "the checksum of a message is wrong")
    start = _PRELUDE.size + headers
    try:
        found = _read_headers(data[_PRELUDE.size : start])
    except (struct.error, IndexError, UnicodeDecodeError):
        raise DecodeError("", "the headers of a message cannot be read") from None
    return EventMessage(found, data[start:end])


@lru_cache(maxsize=256)
def _known_headers(data: bytes) -> tuple[tuple[str, Any], ...]:
    return tuple(_each_header(data))


def _read_headers(data: bytes) -> dict[str, Any]:
    # All events of one type have the same.
    pairs = _known_headers(data) if len(data) <= _SHORT else tuple(_each_header(data))
    headers = dict(pairs)
    if len(headers) < len(pairs):
        raise DecodeError("", "a message has a header twice")
    return headers


_SHORT: Final = 512


def _each_header(data: bytes) -> Iterator[tuple[str, Any]]:
    place = 0
    while place < len(data):
        start = place + 1
        place = start + data[place]
        name, kind = data[start:place].decode(), data[place]
        place += 1
        if kind in _BOOLEANS:
            yield name, _BOOLEANS[kind]
        elif kind in _FIXED:
            yield name, _FIXED[kind].unpack_from(data, place)[0]
            place += _FIXED[kind].size
        elif kind in (_BYTES, _TEXT):
            (length,) = _SIZED.unpack_from(data, place)
            start, place = place + _SIZED.size, place + _SIZED.size + length
            if place > len(data):
                raise IndexError
            yield name, data[start:place].decode() if kind == _TEXT else data[start:place]
        else:
            raise DecodeError("", f"a header of a message is of the unknown type {kind}")


# --- encoding -------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def event_headers(name: str) -> bytes:
    """The headers of an event with JSON, or of an exception if its name says so."""
    kind, word = "event", name
    if name.startswith(EXCEPTION):
        kind, word = "exception", name.removeprefix(EXCEPTION)
    headers = {
        f":{kind}-type": word,
        ":content-type": "application/json",
        ":message-type": kind,
    }
    return b"".join(_header(key, value) for key, value in headers.items())


def _header(name: str, value: str) -> bytes:
    data = value.encode()
    return b"".join(
        (bytes((len(name),)), name.encode(), bytes((_TEXT,)), _SIZED.pack(len(data)), data)
    )


def encode_message(headers: bytes, payload: bytes) -> bytes:
    """One message as bytes; `headers` are written already."""
    lengths = _LENGTHS.pack(len(headers) + len(payload) + _LEAST, len(headers))
    head = b"".join((lengths, _CHECKSUM.pack(crc32(lengths)), headers, payload))
    return head + _CHECKSUM.pack(crc32(head))


def encode_event(name: str, payload: bytes) -> bytes:
    """One event, or exception, with JSON as bytes."""
    return encode_message(event_headers(name), payload)
