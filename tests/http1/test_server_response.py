"""Streams, and clients that do not keep up."""

import asyncio

import pytest
from tests.http1.raw import body_of, handling, talk

from toolglot.http1.server_response import StreamedHttpResponse

HOST = b"Host: x\r\n"
CLOSE = b"Connection: close\r\n"


async def stream(request):
    made = StreamedHttpResponse(headers={"x-a": "b"})
    made.begin(request)
    for piece in (b"one ", b"", b"two"):
        await made.write(piece)
    return made


@pytest.mark.parametrize(
    ("version", "body"),
    [(b"1.1", b"4\r\none \r\n3\r\ntwo\r\n0\r\n\r\n"), (b"1.0", b"one two")],
)
def test_streams(version, body):
    answer = talk(b"GET / HTTP/" + version + b"\r\n" + HOST + CLOSE + b"\r\n", stream)
    assert b"x-a: b\r\n" in answer
    assert body_of(answer) == body


def test_a_client_that_does_not_read_stops_the_writer():
    async def run():
        stuck, written = asyncio.Event(), 0

        async def floods(request):
            nonlocal written
            made = StreamedHttpResponse()
            made.begin(request)
            for _ in range(400):
                if not made.write_now(b"x" * 65536):
                    stuck.set()
                    await made.write(b"")
                written += 65536
            return made

        async with handling(floods) as (port, _):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
            writer.write(b"GET / HTTP/1.1\r\n" + HOST + CLOSE + b"\r\n")
            await stuck.wait()
            held = written
            size = 0
            while piece := await reader.read(2**20):
                size += len(piece)
            writer.close()
            return held, written, size

    held, written, size = asyncio.run(run())
    assert held < written == 400 * 65536 < size
