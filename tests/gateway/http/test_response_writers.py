"""Where answers are written."""

import asyncio

import aiohttp
import pytest
from tests.gateway.handling import handling

from toolglot.gateway.http.response_writers import HttpWriter, MemoryWriter, WholeResponse
from toolglot.http1.server_response import HttpResponse


async def written(writer, *, stream):
    if not stream:
        await writer.whole(WholeResponse(data=b"one two", status=201, headers={"x-a": "b"}))
        return
    await writer.begin({"x-a": "b"})
    for piece in (b"one ", b"two"):
        await writer.write(piece)
    await writer.end()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", [HttpWriter, lambda _request: MemoryWriter()])
def test_an_answer_arrives_whole_or_in_pieces(kind, stream):
    async def handle(request):
        writer = kind(request)
        await written(writer, stream=stream)
        assert isinstance(writer.response, HttpResponse)
        return writer.response

    async def run():
        async with (
            handling(handle) as url,
            aiohttp.ClientSession(url) as session,
            session.get("/") as reply,
        ):
            assert await reply.read() == b"one two"
            assert reply.headers["x-a"] == "b"
            assert reply.status == (200 if stream else 201)

    asyncio.run(run())


def test_whether_the_client_is_still_there():
    seen = []

    async def handle(request):
        writer = HttpWriter(request)
        await writer.begin({})
        await writer.write(b"one")
        seen.append((writer.closed, writer.drained))
        request.abort()
        seen.append((writer.closed, MemoryWriter().closed, MemoryWriter().drained))
        return writer.response

    async def run():
        async with handling(handle) as url, aiohttp.ClientSession(url) as session:
            with pytest.raises(aiohttp.ClientError):
                async with session.get("/") as reply:
                    await reply.read()

    asyncio.run(run())
    assert seen == [(False, True), (True, False, False)]
