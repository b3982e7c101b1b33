"""The end of a server."""

import asyncio
import contextlib

from tests.http1.raw import handling

from toolglot.http1 import http_server
from toolglot.http1.server_response import WholeHttpResponse

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


def test_answers_under_way_end_and_idle_connections_are_closed():
    async def run():
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def wait(_request):
            begun.set()
            await go_on.wait()
            return WholeHttpResponse(b"done")

        async with handling(wait) as (port, server), asyncio.TaskGroup() as tasks:
            idle, idle_writer = await asyncio.open_connection("127.0.0.1", port)
            busy, busy_writer = await asyncio.open_connection("127.0.0.1", port)
            busy_writer.write(GET)
            await begun.wait()
            tasks.create_task(server.close(10))
            assert await idle.read() == b""
            go_on.set()
            answer = await busy.read()
            idle_writer.close()
            busy_writer.close()
        return answer

    answer = asyncio.run(run())
    assert b"Connection: close" in answer
    assert answer.endswith(b"done")


def test_what_takes_too_long_is_cut_off():
    async def run():
        begun, cancelled = asyncio.Event(), asyncio.Event()

        async def wait(_request):
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()

        async with handling(wait) as (port, server):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(GET)
            await begun.wait()
            await server.close(0.05)
            with contextlib.suppress(ConnectionResetError):
                assert await reader.read() == b""
            await cancelled.wait()
            writer.close()

    asyncio.run(asyncio.wait_for(run(), 10))


def test_without_descriptors_those_who_ask_nothing_have_to_go(monkeypatch, caplog):
    async def run():
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def wait(_request):
            begun.set()
            await go_on.wait()
            return WholeHttpResponse(b"done")

        async with handling(wait) as (port, server):
            idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(4)]
            busy, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(GET)
            await begun.wait()
            monkeypatch.setattr(http_server, "_has_descriptors", lambda: False)
            server._make_room()
            closed = [await reader.read() for reader, _ in idle[:2]]
            assert closed == [b"", b""], "the ones that wait longest"
            for _ in range(3):
                server._make_room()
            monkeypatch.setattr(http_server, "_has_descriptors", lambda: True)
            server._make_room()
            server._make_room()
            go_on.set()
            assert (await busy.readuntil(b"done")).startswith(b"HTTP/1.1 200")
            for _, each in (*idle, (busy, writer)):
                each.close()

    asyncio.run(run())
    assert [each.levelname for each in caplog.records] == ["ERROR", "WARNING"]
    assert "no file descriptors are left with 5 connections open" in caplog.text
