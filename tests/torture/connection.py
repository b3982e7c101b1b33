"""An HTTP client of few words, which can also leave at any moment."""

import asyncio
import socket
import struct
from dataclasses import dataclass
from typing import Self

_NO_LINGER = struct.pack("ii", 1, 0)


@dataclass(frozen=True)
class Answer:
    """What came back; `ended` says whether the body came to its end."""

    status: int
    body: bytes
    ended: bool


class Connection:
    """One connection to the gateway, opened when it is needed and again when it was closed."""

    def __init__(self, host: str, port: int) -> None:
        self._place = host, port
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """The two ends of the connection."""
        if self._reader is None or self._writer is None or self._reader.at_eof():
            self.close()
            self._reader, self._writer = await asyncio.open_connection(*self._place, limit=2**20)
        return self._reader, self._writer

    async def send(self, path: str, body: bytes, *, upto: int | None = None) -> None:
        """Send a request, or its beginning."""
        _, writer = await self.open()
        writer.write(request(path, body)[:upto])
        await writer.drain()

    async def ask(self, path: str, body: bytes, seconds: float = 60) -> Answer:
        """Send a request and read the answer."""
        async with asyncio.timeout(seconds):
            await self.send(path, body)
            return await self.answer()

    async def ask_raw(self, path: str, body: bytes, headers: str = "") -> Answer:
        """The same with headers of one's own, as lines."""
        async with asyncio.timeout(60):
            _, writer = await self.open()
            writer.write(request(path, body, headers))
            await writer.drain()
            return await self.answer()

    async def answer(self) -> Answer:
        """Read an answer."""
        reader, _ = await self.open()
        try:
            status, headers = await self.head()
            body, ended = await _body(reader, headers)
        except (ConnectionError, asyncio.IncompleteReadError, ValueError):
            self.close()
            raise
        if not ended or headers.get("connection") == "close":
            self.close()
        return Answer(status, body, ended)

    async def head(self) -> tuple[int, dict[str, str]]:
        """The status and the headers of an answer."""
        reader, _ = await self.open()
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines[1:] if line)
        return int(lines[0].split()[1]), headers

    async def some(self, count: int) -> bytes:
        """The next bytes, as they are on the wire."""
        reader, _ = await self.open()
        return await reader.read(count)

    def close(self) -> None:
        """Hang up."""
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None

    def reset(self) -> None:
        """Hang up without a word."""
        if self._writer is not None:
            sock = self._writer.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
            self._writer.transport.abort()
        self._reader = self._writer = None


def request(path: str, body: bytes, headers: str = "") -> bytes:
    """A request as it is on the wire."""
    head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {len(body)}\r\n"
    return f"{head}{headers}\r\n".encode("latin-1") + body


async def _body(reader: asyncio.StreamReader, headers: dict[str, str]) -> tuple[bytes, bool]:
    if "chunked" not in headers.get("transfer-encoding", ""):
        length = int(headers.get("content-length", 0))
        try:
            return await reader.readexactly(length), True
        except asyncio.IncompleteReadError as error:
            return error.partial, False
    parts: list[bytes] = []
    try:
        while size := int(await reader.readuntil(b"\r\n"), 16):
            parts.append((await reader.readexactly(size + 2))[:-2])
        await reader.readuntil(b"\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return b"".join(parts), False
    return b"".join(parts), True
