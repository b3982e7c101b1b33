"""What fuzzing begins with: our fixtures, the examples of dialects, and small hand-made ones."""

import json
import struct
from collections.abc import Iterator
from pathlib import Path

from tests.fuzz.targets import NAMES

from toolglot.dialects.table import DIALECTS

FIXTURES = Path(__file__).parents[1] / "fixtures"
DOCS = Path(__file__).parents[2] / "docs"


def _bodies(*endings: str) -> Iterator[bytes]:
    """Fixtures of all protocols, each for its protocol and another one."""
    for place, name in enumerate(NAMES):
        for ending in endings:
            for number, path in enumerate(sorted((FIXTURES / name).glob(f"*{ending}"))):
                yield bytes([place, (place + number) % 5, number % 64]) + path.read_bytes()


def _dialects() -> Iterator[bytes]:
    for number, row in enumerate(DIALECTS.values()):
        text = row.example.replace("get_weather", "look_up")
        yield bytes([number % 255 + 1, 3, 0]) + text.encode()


def _schemas() -> Iterator[bytes]:
    number = 0
    for path in sorted(FIXTURES.glob("*/*.request.json")):
        for found in _objects(json.loads(path.read_bytes())):
            if "properties" in found and isinstance(found["properties"], dict):
                number += 1
                yield bytes([number % 256, number % 2, 0]) + json.dumps(found).encode()


def _objects(value: object) -> Iterator[dict[str, object]]:
    if isinstance(value, dict):
        yield value
        for each in value.values():
            yield from _objects(each)
    elif isinstance(value, list):
        for each in value:
            yield from _objects(each)


def _configurations() -> Iterator[bytes]:
    for path in sorted(DOCS.glob("*.md")):
        for block in path.read_text(encoding="utf-8").split("```toml\n")[1:]:
            yield b"\0\0\0" + block.split("```")[0].encode()


_ARGUMENTS = (
    '{"city": "Paris", "n": 3}', "{'city': 'Paris',}", '{"city": "Par', '"{\\"city\\": \\"x\\"}"',
    "<city>Paris</city><n>3</n>", "city: Paris", '```json\n{"city": "x"}\n```', '{"n": "3"}', "",
)  # fmt: skip
_REQUESTS = (
    b"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}",
    b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nA: b\r\n\r\n",
    b"GET /ready HTTP/1.1\r\nHost: x\r\n\r\nGET /health HTTP/1.0\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\x1f\x8b",
    b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}",
    b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n",
)
_REPLIES = (
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 No\r\nRetry-After: 1\r\n\r\nuntil it closes",
    b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x08\x00",
    b"HTTP/1.1 204 No Content\r\n\r\n",
)
_FRAMES = (
    b'{"type":"response.create","model":"m","input":"Hi."}',
    b'{"type":"response.create","stream_id":"a","generate":false,"background":true}',
    b'{"type":"response.processed"}',
    b'{"type":[]}',
    b"[]",
)


def _masked(payload: bytes, opcode: int = 1, *, fin: bool = True) -> bytes:
    """A frame as a client sends it, with a mask of zeros."""
    size = len(payload)
    length = bytes([0x80 | size]) if size < 126 else b"\xfe" + struct.pack(">H", size)
    return bytes([0x80 * fin | opcode]) + length + bytes(4) + payload


def _sockets() -> Iterator[bytes]:
    for each in _FRAMES:
        yield b"\xff\0\0" + _masked(each)
        yield b"\x01\0\0" + _masked(each[:9], fin=False) + _masked(each[9:], 0)
    yield b"\xff\0\0" + _masked(b"", 9) + _masked(b"\x03\xe8bye", 8)


def _chosen(*data: bytes) -> list[bytes]:
    return [bytes([40 * number % 256, 1, 0]) + each for number, each in enumerate(data)]


def seeds(target: str) -> list[bytes]:
    """The seeds of a target."""
    match target:
        case "request" | "history":
            return list(_bodies(".request.json"))
        case "response":
            return list(_bodies(".response.json", ".error.json"))
        case "stream" | "framing":
            return list(_bodies(".stream.txt", ".stream.ndjson", ".stream.jsonl"))
        case "dialects":
            return list(_dialects())
        case "arguments":
            return _chosen(*(each.encode() for each in _ARGUMENTS))
        case "schema":
            return list(_schemas())
        case "configuration":
            return list(_configurations())
        case "http-request":
            return _chosen(*_REQUESTS)
        case "http-reply":
            return _chosen(*_REPLIES)
        case "websocket":
            return list(_sockets())
        case "frame":
            return _chosen(*_FRAMES)
    raise LookupError(target)
