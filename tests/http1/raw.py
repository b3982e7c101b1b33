"""Both ends of a connection as bytes: servers that write any bytes, clients that send any."""

import asyncio
from contextlib import asynccontextmanager

from toolglot.gateway.http.server import listen
from toolglot.http1.connection_pool import ConnectionPool
from toolglot.http1.http_server import HttpServer
from toolglot.http1.server_connection import Limits
from toolglot.http1.server_request import BodyError
from toolglot.http1.server_response import WholeHttpResponse


@asynccontextmanager
async def server(*answers, close=True):
    """The URL of a server that answers the requests on each connection with these bytes, and what
    it was sent. `None` closes the connection; a number is a pause in seconds.
    """
    seen = []

    async def talk(reader, writer):
        try:
            for answer in answers:
                head = await reader.readuntil(b"\r\n\r\n")
                size = 0
                for line in head.lower().split(b"\r\n"):
                    if line.startswith(b"content-length:"):
                        size = int(line.split(b":")[1])
                seen.append(head + await reader.readexactly(size))
                for piece in answer if isinstance(answer, (list, tuple)) else [answer]:
                    if piece is None:
                        return
                    if isinstance(piece, bytes):
                        writer.write(piece)
                        await writer.drain()
                    else:
                        await piece
            if not close:
                await reader.read()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    listener = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with listener:
        yield f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}", seen


@asynccontextmanager
async def handling(handler, **limits):
    """The port of a server with a handler, and the server."""
    made = HttpServer(handler, Limits(**limits))
    with listen("127.0.0.1", 0) as sock:
        await made.listen(sock)
        try:
            yield sock.getsockname()[1], made
        finally:
            await made.close(1)


async def exchange(port, data, *, wait=5.0):
    """All that a server answers to these bytes, until it closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(data)
        async with asyncio.timeout(wait):
            return await reader.read()
    finally:
        writer.close()


async def echo(request):
    """Method, path and body; whatever is wrong with the body is said with its status."""
    try:
        body = await request.read()
    except BodyError as error:
        return WholeHttpResponse(str(error).encode(), error.status)
    return WholeHttpResponse(f"{request.method} {request.path} ".encode() + body)


def talk(data, handler=echo, **limits):
    """All that comes back for these bytes."""

    async def run():
        async with handling(handler, **limits) as (port, _):
            return await exchange(port, data)

    return asyncio.run(run())


def body_of(answer):
    return answer.partition(b"\r\n\r\n")[2]


def with_pool(use):
    async def run():
        pool = ConnectionPool()
        try:
            return await use(pool)
        finally:
            pool.close()

    return asyncio.run(run())


async def body(pool, url, **more):
    async with await pool.request("POST", url, **{"data": b"{}", **more}) as reply:
        return await reply.read()
