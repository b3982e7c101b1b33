"""The other side of the gateway's measurements: a scripted provider, two relays, and the load.

`python -m bench.http_peers provider` answers in the protocol of the path that it is asked on.
`python -m bench.http_peers relay URL` passes bytes on: the floor under any gateway in Python.
`python -m bench.http_peers translating URL` is the same relay with a translation in the middle.
All three print their port. They are measuring devices: no limits, no keys, no errors.
"""

import asyncio
import json
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import httptools
import uvloop

from bench.work import ANSWER
from toolglot import Options
from toolglot.context import Context
from toolglot.events import Finished, PartDelta, PartEnded, PartStarted, Started, UsageSeen
from toolglot.exchange import Exchange
from toolglot.ir import StopReason, Text, ToolCall, Usage
from toolglot.registry import get_protocol
from toolglot.translate import translate_response

PATHS = {b"/v1/messages": "anthropic", b"/v1/chat/completions": "openai-chat"}
PACED = b"paced-model"
"""A model whose answers come one event every few milliseconds."""
PAUSE = 0.005
ARGUMENTS = '{"file_path":"/srv/harbour/log-07.txt","offset":120,"limit":40}'
EVENTS = (
    Started(id="answer", model="bench"),
    PartStarted(0, Text(text="")),
    *(PartDelta(0, f"word {number} ") for number in range(40)),
    PartEnded(0),
    PartStarted(1, ToolCall(id="call_harbour01", name="tool_3", arguments="")),
    *(PartDelta(1, ARGUMENTS[at : at + 5]) for at in range(0, len(ARGUMENTS), 5)),
    PartEnded(1),
    UsageSeen(Usage(input=4000, output=120)),
    Finished((StopReason(kind="tool_calls"),)),
)
LAST = b"0\r\n\r\n"


def chunk(data: bytes) -> bytes:
    """One chunk of a body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def post(path: str, body: bytes) -> bytes:
    """A request."""
    return (
        b"POST %b HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n"
        b"Authorization: Bearer none\r\nContent-Length: %d\r\n\r\n%b"
        % (path.encode(), len(body), body)
    )


@cache
def answer(protocol: str) -> bytes:
    """The whole answer of the scripted provider, as HTTP."""
    data = json.dumps(ANSWER).encode()
    if protocol != "anthropic":
        data = translate_response(data, source="anthropic", target=protocol)[0].data()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    return head % len(data) + data


@cache
def stream(protocol: str) -> tuple[bytes, ...]:
    """The chunks of its streamed answer."""
    encoder = get_protocol(protocol).StreamEncoder(Context())
    written = [*map(encoder.encode, EVENTS), encoder.close()]
    return tuple(chunk(each) for each in written if each)


class _Exchanged(asyncio.Protocol):
    """One side of a connection; messages come whole, or as their bytes come."""

    transport: asyncio.Transport
    parser: Any
    body: list[bytes]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]
        self.parser = self.new_parser()

    def new_parser(self) -> Any:
        raise NotImplementedError

    def data_received(self, data: bytes) -> None:
        self.parser.feed_data(data)

    def on_message_begin(self) -> None:
        self.body, self.path = [], b""

    def on_url(self, url: bytes) -> None:
        self.path += url

    def on_body(self, data: bytes) -> None:
        self.body.append(data)


class Provider(_Exchanged):
    """Plays one answer."""

    def new_parser(self) -> Any:
        return httptools.HttpRequestParser(self)

    def on_message_complete(self) -> None:
        body, protocol = b"".join(self.body), PATHS[self.path.partition(b"?")[0]]
        if b'"stream":true' not in body:
            self.transport.write(answer(protocol))
            return
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
        self.transport.write(head + b"Transfer-Encoding: chunked\r\n\r\n")
        pieces = (*stream(protocol), LAST)
        if PACED in body:
            asyncio.get_running_loop().create_task(self.play(pieces))
        else:
            for piece in pieces:
                self.transport.write(piece)

    async def play(self, pieces: tuple[bytes, ...]) -> None:
        for piece in pieces:
            self.transport.write(piece)
            await asyncio.sleep(PAUSE)


class Upstream(_Exchanged):
    """A connection of a relay to the provider."""

    client: Any

    def new_parser(self) -> Any:
        return httptools.HttpResponseParser(self)

    def ask(self, client: "Relay", data: bytes) -> None:
        self.client, self.parser, self.kind = client, httptools.HttpResponseParser(self), b""
        self.transport.write(data)

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() == b"content-type":
            self.kind = value

    def on_headers_complete(self) -> None:
        self.client.head(self.kind)

    def on_body(self, data: bytes) -> None:
        self.client.more(data)

    def on_message_complete(self) -> None:
        client, self.client = self.client, None
        client.pool.append(self)
        client.done()


class Relay(_Exchanged):
    """A connection of a client: what it asks is passed on, and what is answered passed back."""

    address = ("127.0.0.1", 0)
    pool: list[Upstream] = []  # noqa: RUF012 - shared by all connections

    def new_parser(self) -> Any:
        return httptools.HttpRequestParser(self)

    def on_message_complete(self) -> None:
        self.ask(self.path.decode(), b"".join(self.body))

    def ask(self, path: str, body: bytes) -> None:
        if self.pool:
            self.pool.pop().ask(self, post(path, body))
        else:
            asyncio.get_running_loop().create_task(self.connect(post(path, body)))

    async def connect(self, data: bytes) -> None:
        loop = asyncio.get_running_loop()
        _, upstream = await loop.create_connection(Upstream, *self.address)
        upstream.ask(self, data)

    def head(self, kind: bytes) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nTransfer-Encoding: chunked\r\n\r\n"
        self.transport.write(head % kind)

    def more(self, data: bytes) -> None:
        self.transport.write(chunk(data))

    def done(self) -> None:
        self.transport.write(LAST)


class Translating(Relay):
    """The same for clients of one protocol and a provider of another."""

    def ask(self, path: str, body: bytes) -> None:
        self.exchange = Exchange("anthropic", "openai-chat", Options(model="bench"))
        sent = self.exchange.request(body, path)
        super().ask(sent.path, sent.data)

    def head(self, kind: bytes) -> None:
        self.whole: list[bytes] = []
        self.stream = self.exchange.stream() if b"event-stream" in kind else None
        super().head(kind)

    def more(self, data: bytes) -> None:
        if self.stream is None:
            self.whole.append(data)
        elif written := self.stream.feed(data):
            super().more(written)

    def done(self) -> None:
        if self.stream is None:
            super().more(self.exchange.response(b"".join(self.whole)).data)
        elif written := self.stream.close():
            super().more(written)
        super().done()


# --- the load -------------------------------------------------------------------------------------


class Client(_Exchanged):
    """Asks one request after the other, and checks what comes."""

    def __init__(self, data: Callable[[], bytes], count: int, expected: bytes) -> None:
        self.data, self.left, self.expected = data, count, expected
        self.over = asyncio.get_running_loop().create_future()

    def new_parser(self) -> Any:
        return None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.ask()

    def ask(self) -> None:
        if not self.left:
            self.over.set_result(None)
            self.transport.close()
            return
        self.left -= 1
        self.parser = httptools.HttpResponseParser(self)
        self.transport.write(self.data())

    def connection_lost(self, _error: Exception | None) -> None:
        if not self.over.done():
            self.over.set_exception(ConnectionError("the connection was closed"))

    def on_message_complete(self) -> None:
        body = b"".join(self.body)
        if self.parser.get_status_code() != 200 or self.expected not in body:
            self.over.set_exception(AssertionError(body[:500]))
        else:
            self.ask()


async def load(
    port: int, data: Callable[[], bytes], count: int, at_once: int, expected: bytes
) -> None:
    """So many requests, so many at a time."""
    loop = asyncio.get_running_loop()
    each = max(1, count // at_once)
    made = [
        await loop.create_connection(lambda: Client(data, each, expected), "127.0.0.1", port)
        for _ in range(at_once)
    ]
    await asyncio.gather(*(client.over for _, client in made))


async def _serve(kind: type[asyncio.Protocol]) -> None:
    server = await asyncio.get_running_loop().create_server(kind, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    role, *rest = sys.argv[1:]
    if rest:
        Relay.address = ("127.0.0.1", int(rest[0].rpartition(":")[2]))
    uvloop.run(_serve({"provider": Provider, "relay": Relay, "translating": Translating}[role]))
