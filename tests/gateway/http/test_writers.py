"""Where answers are written."""

import asyncio

import aiohttp
import pytest
from aiohttp import web
from tests.gateway.running import upstream

from toolglot.gateway.http.writers import HttpSink, MemorySink, Whole


async def written(sink, *, stream):
    if not stream:
        await sink.whole(Whole(data=b"one two", status=201, headers={"x-a": "b"}))
        return
    await sink.begin({"x-a": "b"})
    for piece in (b"one ", b"two"):
        await sink.write(piece)
    await sink.end()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", [HttpSink, lambda _request: MemorySink()])
def test_an_answer_arrives_whole_or_in_pieces(kind, stream):
    async def handle(request):
        sink = kind(request)
        await written(sink, stream=stream)
        assert isinstance(sink.response, web.StreamResponse)
        return sink.response

    async def run():
        async with (
            upstream(handle) as url,
            aiohttp.ClientSession(url) as session,
            session.get("/") as reply,
        ):
            assert await reply.read() == b"one two"
            assert reply.headers["x-a"] == "b"
            assert reply.status == (200 if stream else 201)

    asyncio.run(run())
