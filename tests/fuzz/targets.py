"""What is fuzzed: functions of bytes that may refuse them in words, and may do nothing else.

Both drivers call these: atheris, which is guided by coverage, and the mutations of our own. The
first bytes of an input choose protocols, dialects and the size of pieces; the rest is what comes
from outside. An exception that leaves a target is a finding.
"""

import asyncio
import json
import tomllib
from collections.abc import Callable, Coroutine
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

from tests.dialects.samples import TOOLS
from tests.wires import path_to

from toolglot.adapt.calls.repair import repair_arguments
from toolglot.dialects.table import DIALECTS
from toolglot.dialects.text import TextDecoder, merged, parse_text
from toolglot.errors import DecodeError, ToolglotError
from toolglot.gateway.config import _read as read_config
from toolglot.gateway.routes.websocket import _kind as kind_of_frame
from toolglot.gateway.routes.websocket import _read as read_frame
from toolglot.history import diagnose, repair_history
from toolglot.http1.client_connection import (
    ClientConnection,
    ConnectionDroppedError,
    ReplyError,
)
from toolglot.http1.http_server import HttpServer
from toolglot.http1.server_connection import Limits, ServerConnection, wants_websocket
from toolglot.http1.server_request import BodyError, HttpRequest
from toolglot.http1.server_response import HttpResponse, WholeHttpResponse
from toolglot.http1.websocket_connection import WebSocket
from toolglot.registry import PROTOCOLS
from toolglot.schema.narrow import narrow
from toolglot.schema.subsets import SUBSETS
from toolglot.streams import StreamTranslator
from toolglot.translate import translate_request, translate_response
from toolglot.wire import jsontext
from toolglot.wire.ndjson import NdjsonDecoder
from toolglot.wire.sse import SseDecoder

NAMES = tuple(PROTOCOLS)
_HEAD = 3


def _taken(data: bytes) -> tuple[bytes, bytes]:
    """The bytes that choose, and the rest."""
    return data[:_HEAD].ljust(_HEAD, b"\0"), data[_HEAD:]


def _pieces(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


# --- bodies ---------------------------------------------------------------------------------------


def request(data: bytes) -> None:
    """A request of any protocol to any other: translated, or refused with a path."""
    head, body = _taken(data)
    source, target = NAMES[head[0] % len(NAMES)], NAMES[head[1] % len(NAMES)]
    try:
        wire, receipt = translate_request(body, source=source, target=target, path=path_to(source))
    except ToolglotError as error:
        _is_sentence(error)
        return
    json.loads(wire.data())
    for note in receipt.notes:
        str(note)


def response(data: bytes) -> None:
    """An answer or error of any protocol to any other."""
    head, body = _taken(data)
    source, target = NAMES[head[0] % len(NAMES)], NAMES[head[1] % len(NAMES)]
    status = (200, 200, 400, 500)[head[2] % 4]
    try:
        wire, _ = translate_response(body, source=source, target=target, status=status)
    except ToolglotError as error:
        _is_sentence(error)
        return
    json.loads(wire.data())


def history(data: bytes) -> None:
    """What the doctor of histories makes of a request."""
    head, body = _taken(data)
    protocol = NAMES[head[0] % len(NAMES)]
    try:
        diagnose(body, protocol, path=path_to(protocol))
        repaired, _ = repair_history(body, protocol, path=path_to(protocol))
    except ToolglotError as error:
        _is_sentence(error)
        return
    jsontext.encode(repaired)


def _is_sentence(error: Exception) -> None:
    assert str(error), repr(error)


# --- streams --------------------------------------------------------------------------------------


def stream(data: bytes) -> None:
    """A stream of any protocol to any other, in pieces: nothing is raised, whatever comes."""
    head, body = _taken(data)
    translator = StreamTranslator(NAMES[head[0] % len(NAMES)], NAMES[head[1] % len(NAMES)])
    for piece in _pieces(body, head[2] % 64 + 1):
        translator.feed(piece)
    translator.close()
    assert translator.receipt is not None


def framing(data: bytes) -> None:
    """Events and lines are the same wherever a stream is cut."""
    head, body = _taken(data)
    for decoder in (SseDecoder, NdjsonDecoder):
        whole, parts = decoder(), decoder()
        expected: list[Any] = [*whole.feed(body), *whole.close()]
        found: list[Any] = []
        for piece in _pieces(body, head[0] % 16 + 1):
            found += parts.feed(piece)
        assert [*found, *parts.close()] == expected


# --- what models write ----------------------------------------------------------------------------

_DIALECTS = ("auto", *DIALECTS)


def dialects(data: bytes) -> None:
    """S3-06: whatever the text and its cuts, reading it gives what reading it whole gives."""
    head, body = _taken(data)
    text = body.decode("utf-8", "replace")
    dialect, size = _DIALECTS[head[0] % len(_DIALECTS)], head[1] % 16 + 1
    decoder = TextDecoder(dialect, TOOLS)
    segments = [
        each
        for start in range(0, len(text), size)
        for each in decoder.feed(text[start : start + size])
    ]
    whole = parse_text(text, TOOLS, dialect)
    assert tuple(merged([*segments, *decoder.close()])) == whole.segments
    live = TextDecoder(dialect, TOOLS, live=True)
    live.feed(text)
    live.close()


_SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "n": {"type": "integer"}, "on": {"type": "boolean"}},
    "required": ["city"],
}


def arguments(data: bytes) -> None:
    """Arguments that a model wrote, repaired or given up."""
    head, body = _taken(data)
    repaired = repair_arguments(body.decode("utf-8", "replace"), _SCHEMA if head[0] % 2 else None)
    if repaired is not None:
        str(repaired)


# --- schemas and files ----------------------------------------------------------------------------


def schema(data: bytes) -> None:
    """A schema in every subset, or none; and once more gives the same."""
    head, body = _taken(data)
    try:
        given = json.loads(body)
    except (ValueError, RecursionError):
        return
    if not isinstance(given, dict):
        return
    subset = tuple(SUBSETS.values())[head[0] % len(SUBSETS)]
    narrowed = narrow(given, subset, tool=bool(head[1] % 2))
    if narrowed is not None:
        json.dumps(narrowed.schema)


def configuration(data: bytes) -> None:
    """A file of settings: read, or what is wrong with it in words, with its place."""
    _, body = _taken(data)
    try:
        raw = tomllib.loads(body.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError):
        return
    server = raw.get("server")
    if isinstance(server, dict):
        server.pop("extensions", None)  # These would be imported.
    _, problems = read_config(raw)
    for where, what in problems:
        assert isinstance(where, str)
        assert what


# --- connections ----------------------------------------------------------------------------------


class _Transport(asyncio.Transport):
    """Takes what is written."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 1)})
        self.closing = False

    def write(self, data: bytes) -> None:
        assert isinstance(data, bytes)

    def writelines(self, data: Any) -> None:
        pass

    def is_closing(self) -> bool:
        return self.closing

    def close(self) -> None:
        self.closing = True

    abort = close

    def pause_reading(self) -> None:
        pass

    resume_reading = pause_reading

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass


_runner = asyncio.Runner()


def _in_loop(work: Coroutine[None, None, None]) -> None:
    """Run something in a loop; what goes wrong behind its back is raised, too."""
    wrong: list[Any] = []
    loop = _runner.get_loop()
    loop.set_exception_handler(lambda _, context: wrong.append(context))
    _runner.run(work)
    assert not wrong, wrong


_HANDSHAKE = (
    b"GET /v1/responses HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


async def _answer(http: HttpRequest) -> HttpResponse:
    """Answer, and remember what that raises: the server would only log it."""
    try:
        return await _read_all(http)
    except Exception as error:
        asyncio.get_running_loop().call_exception_handler({"message": repr(error)})
        raise


async def _read_all(http: HttpRequest) -> HttpResponse:
    """Read all of a request, or all messages of a WebSocket."""
    if wants_websocket(http.headers):
        socket = WebSocket(http, max_size=65536, heartbeat=30)
        while socket.accepted and (message := await socket.receive()) is not None:
            frame(b"\0\0\0" + message.data)
        return socket
    try:
        return WholeHttpResponse(await http.read())
    except BodyError:
        return WholeHttpResponse(b"", 400)


async def _serve(pieces: list[bytes]) -> None:
    server = HttpServer(_answer, Limits(body_size=65536))
    connection, transport = ServerConnection(server), _Transport()
    connection.connection_made(transport)
    for piece in pieces:
        if transport.closing:
            break
        connection.data_received(piece)
        await asyncio.sleep(0)
    for _ in range(5):
        await asyncio.sleep(0)
    connection.connection_lost(None)
    for _ in range(5):
        await asyncio.sleep(0)
    await server.close(0.1)


def http_request(data: bytes) -> None:
    """Whatever a client sends to our HTTP."""
    head, body = _taken(data)
    _in_loop(_serve(_pieces(body, 4 * head[0] + 1)))


def websocket(data: bytes) -> None:
    """Whatever a client sends after the handshake of a WebSocket."""
    head, body = _taken(data)
    _in_loop(_serve([_HANDSHAKE, *_pieces(body, 4 * head[0] + 1)]))


def frame(data: bytes) -> None:
    """What is in a frame of the Responses protocol."""
    _, body = _taken(data)
    hash(kind_of_frame(body))
    writer: Any = SimpleNamespace(lane=None)
    try:
        request_, _ = read_frame(body, writer)
    except DecodeError as error:
        _is_sentence(error)
        return
    with suppress(UnicodeDecodeError):  # Refused where it is decoded.
        json.loads(request_)


def http_reply(data: bytes) -> None:
    """Whatever a provider answers to our HTTP."""
    head, body = _taken(data)

    async def ask() -> None:
        loop = asyncio.get_running_loop()
        connection = ClientConnection(loop, lambda _: None, lambda _: None)
        connection.connection_made(_Transport())

        async def receive() -> None:
            await asyncio.sleep(0)
            for piece in _pieces(body, 4 * head[0] + 1):
                connection.data_received(piece)
            connection.eof_received()
            connection.connection_lost(None)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(receive())
            try:
                reply = await connection.send(b"GET / HTTP/1.1\r\n\r\n", "http://x/", 1, 1)
                await reply.read()
            except (ReplyError, ConnectionDroppedError) as error:
                _is_sentence(error)

    _in_loop(ask())


TARGETS: dict[str, Callable[[bytes], None]] = {
    "request": request,
    "response": response,
    "history": history,
    "stream": stream,
    "framing": framing,
    "dialects": dialects,
    "arguments": arguments,
    "schema": schema,
    "configuration": configuration,
    "http-request": http_request,
    "http-reply": http_reply,
    "websocket": websocket,
    "frame": frame,
}
