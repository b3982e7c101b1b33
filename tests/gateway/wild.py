"""Bare connections: a server on loopback that misbehaves, and requests as bytes."""

import asyncio
import socket
import struct
from contextlib import asynccontextmanager, suppress

from toolglot import ir
from toolglot.translate import encode_request

_NO_LINGER = struct.pack("ii", 1, 0)


class Turn:
    """One request to the server, and the means to answer it badly."""

    def __init__(self, number, path, body, reader, writer):
        self.number = number
        self.path = path
        self.body = body
        self._reader = reader
        self._writer = writer

    async def send(self, data):
        """Bytes as they are."""
        self._writer.write(data)
        await self._writer.drain()

    async def head(self, kind="text/event-stream", status=200, **headers):
        """The head of an answer that comes in chunks."""
        lines = [f"HTTP/1.1 {status} Said", f"content-type: {kind}", "transfer-encoding: chunked"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        await self.send("\r\n".join([*lines, "", ""]).encode())

    async def chunk(self, data):
        """The next bytes of an answer."""
        if data:
            await self.send(b"%x\r\n%b\r\n" % (len(data), data))

    async def end(self):
        """The end of an answer."""
        await self.send(b"0\r\n\r\n")

    async def whole(self, data, kind="application/json", status=200, **headers):
        """An answer that has nothing wrong with its HTTP."""
        await self.head(kind, status, **headers)
        await self.chunk(data)
        await self.end()

    async def reset(self):
        """Hang up without a word."""
        sock = self._writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
        self._writer.transport.abort()

    async def left(self):
        """Until the other side hangs up."""
        with suppress(ConnectionError):
            await self._reader.read(1)


async def _request(reader):
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    fields = dict(line.lower().split(": ", 1) for line in lines[1:] if line)
    body = await reader.readexactly(int(fields.get("content-length", 0)))
    return lines[0].split()[1], body


@asynccontextmanager
async def wild(answer):
    """The URL of a server that does `answer(turn)` with each request, and all turns so far."""
    turns, tasks = [], set()

    async def serve(reader, writer):
        tasks.add(asyncio.current_task())
        try:
            while not writer.transport.is_closing():
                path, body = await _request(reader)
                turns.append(Turn(len(turns) + 1, path, body, reader, writer))
                await answer(turns[-1])
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            tasks.discard(asyncio.current_task())

    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=2**20)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", turns
    finally:
        server.close()
        for task in tuple(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def raw_request(protocol):
    """A request for a stream, as bytes on the wire."""
    question = ir.Message(role="user", parts=(ir.Text(text="Which way?"),))
    request = ir.Request(model="m", messages=(question,), stream=True, max_tokens=9)
    wire = encode_request(request, target=protocol)
    query = "&".join(f"{name}={value}" for name, value in wire.query.items())
    path = f"{wire.path}?{query}" if query else wire.path
    data = wire.data()
    return b"POST %b HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n%b" % (
        path.encode(),
        len(data),
        data,
    )


def dechunked(data):
    """The body of an answer that came in chunks."""
    _, _, rest = data.partition(b"\r\n\r\n")
    body = b""
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        count = int(size, 16)
        body, rest = body + rest[:count], rest[count + 2 :]
    return body
