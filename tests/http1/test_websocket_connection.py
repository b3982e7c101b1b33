"""WebSockets; more of them in the tests of the routes."""

import asyncio

import aiohttp
import pytest
from tests.http1.raw import exchange, handling

from toolglot.http1.server_connection import wants_websocket
from toolglot.http1.server_response import WholeHttpResponse
from toolglot.http1.websocket_connection import WebSocket


def talking(use, *, handler=None, heartbeat=30.0):
    """What `use` makes of a WebSocket whose server echoes; how it ended for the server."""
    ends = []

    async def echo(request):
        if not wants_websocket(request.headers):
            return WholeHttpResponse(status=426)
        socket = WebSocket(request, max_size=2**20, heartbeat=heartbeat)
        if not socket.accepted:
            return WholeHttpResponse(status=400)
        try:
            while (message := await socket.receive()) is not None:
                await socket.send_text((b"text " if message.text else b"bytes ") + message.data)
        finally:
            ends.append(True)
        return socket

    async def run():
        async with (
            handling(handler or echo) as (port, _),
            aiohttp.ClientSession(f"http://127.0.0.1:{port}") as session,
            session.ws_connect("/", autoping=heartbeat > 1, compress=15) as socket,
        ):
            return await asyncio.wait_for(use(socket), 10)

    return asyncio.run(run()), ends


def test_messages_of_any_size_come_back():
    async def use(socket):
        seen = []
        for size in (0, 1, 125, 126, 65_536, 300_000):
            await socket.send_str("x" * size)
            seen.append(len((await socket.receive()).data) - len("text "))
        await socket.send_bytes(b"raw")
        return seen, (await socket.receive()).data

    (sizes, raw), ends = talking(use)
    assert sizes == [0, 1, 125, 126, 65_536, 300_000]
    assert raw == "bytes raw"
    assert ends


def test_many_messages_at_once_stay_in_order():
    async def use(socket):
        for number in range(200):
            await socket.send_str(f"{number}" + "x" * 20_000)
        return [
            int((await socket.receive()).data.removeprefix("text ").rstrip("x")) for _ in range(200)
        ]

    assert talking(use)[0] == list(range(200))


def test_a_message_that_is_too_large_ends_it():
    async def use(socket):
        await socket.send_str("x" * 2_000_000)
        await socket.receive()
        return socket.close_code

    assert talking(use)[0] == 1009


def test_a_client_that_does_not_answer_a_ping_is_gone():
    async def use(socket):
        kinds = []
        while True:
            message = await socket.receive()
            kinds.append(message.type)
            if message.type is not aiohttp.WSMsgType.PING:
                return kinds

    kinds, ends = talking(use, heartbeat=0.05)
    assert kinds[0] is aiohttp.WSMsgType.PING
    assert kinds[-1] in (aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.ERROR)
    assert ends


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (b"", b"426"),
        (b"Connection: upgrade\r\nUpgrade: websocket\r\n", b"400"),
        (b"Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: short\r\n", b"400"),
    ],
)
def test_what_is_no_handshake(headers, status):
    async def echo(request):
        if not wants_websocket(request.headers):
            return WholeHttpResponse(status=426)
        socket = WebSocket(request, max_size=100, heartbeat=30)
        return socket if socket.accepted else WholeHttpResponse(status=400)

    async def run():
        async with handling(echo, idle_seconds=0.1) as (port, _):
            return await exchange(port, b"GET / HTTP/1.1\r\nHost: x\r\n" + headers + b"\r\n")

    assert asyncio.run(run()).startswith(b"HTTP/1.1 " + status)
