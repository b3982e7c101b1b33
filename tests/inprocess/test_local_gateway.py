"""A gateway without a port: answers in memory, at the pace of whoever reads them."""

import asyncio
import json
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from tests.gateway.running import provider, to, upstream

from toolglot.gateway.config import Config
from toolglot.http1.server_connection import Limits
from toolglot.inprocess.local_gateway import AnswerConnection, LocalGateway

HEADERS = {"content-type": "application/json"}
PIECE = {
    "id": "chatcmpl-1",
    "object": "chat.completion.chunk",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "delta": {"content": "x" * 10_000}}],
}


def _body(**more):
    messages = [{"role": "user", "content": "Say hello."}]
    return json.dumps({"model": "m", "messages": messages, **more}).encode()


async def _send(gateway, target="/v1/chat/completions", **more):
    return await gateway.send("POST", target, HEADERS, _body(**more))


async def _all(answer):
    data = b""
    while piece := await answer.read():
        data += piece
    return data


@asynccontextmanager
async def _gateway(config=None):
    gateway = LocalGateway(config or Config())
    try:
        yield gateway
    finally:
        await gateway.close()


def test_whole_and_streamed():
    async def run():
        async with _gateway() as gateway:
            whole, stream = await _send(gateway), await _send(gateway, stream=True)
            assert "Say hello." in json.loads(await _all(whole))["choices"][0]["message"]["content"]
            assert stream.headers["Content-Type"].startswith("text/event-stream")
            assert (await _all(stream)).endswith(b"data: [DONE]\n\n")
            assert await stream.read() == b""

    asyncio.run(run())


@pytest.mark.parametrize("target", ["/v1/nothing", "/v1/messages/x/y"])
def test_an_unknown_path(target):
    async def run():
        async with _gateway() as gateway:
            answer = await _send(gateway, target)
            assert answer.status == 404
            assert b"there is nothing here" in await _all(answer)

    asyncio.run(run())


def _streaming(handle):
    async def answer(request):
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        return await handle(response)

    return upstream(answer)


def test_more_than_is_held():
    """A provider that is ahead of the reader waits, and nothing is lost."""
    total = 200

    async def handle(response):
        for _ in range(total):
            await response.write(b"data: " + json.dumps(PIECE).encode() + b"\n\n")
        await response.write(b"data: [DONE]\n\n")
        return response

    async def run():
        async with _streaming(handle) as url:
            providers = {"there": provider("openai-chat", url)}
            async with _gateway(Config(providers=providers, routes=(to("there"),))) as gateway:
                answer = await _send(gateway, stream=True)
                assert (await _all(answer)).count(b"x" * 10_000) == total

    asyncio.run(run())


def test_writing_stops_and_goes_on_with_the_reader():
    async def run():
        connection, resumed = AnswerConnection(asyncio.get_running_loop(), Limits()), []
        connection.on_resume = lambda: resumed.append(True)
        connection.write(b"head")
        connection.write(b"x" * 100)
        assert connection.writable
        connection.write(b"y" * 1_000_000)
        assert not connection.writable
        waiting = asyncio.ensure_future(connection.wait_writable())
        await asyncio.sleep(0)
        assert not waiting.done()
        assert connection.take() == b"x" * 100 + b"y" * 1_000_000
        await waiting
        assert resumed == [True]

    asyncio.run(run())


def test_closing_an_answer_cancels_the_request():
    async def run():
        left = asyncio.Event()

        async def handle(response):
            await response.write(b"data: " + json.dumps(PIECE).encode() + b"\n\n")
            try:
                await asyncio.Event().wait()
            finally:
                left.set()

        async with _streaming(handle) as url:
            providers = {"there": provider("openai-chat", url)}
            async with _gateway(Config(providers=providers, routes=(to("there"),))) as gateway:
                answer = await _send(gateway, stream=True)
                assert b"xxx" in await answer.read()
                await answer.close()
                await asyncio.wait_for(left.wait(), 5)

    asyncio.run(run())
