"""A tunnel through a proxy, by CONNECT."""

import asyncio
from typing import Final, cast

_LONGEST: Final = 2**14
_END: Final = b"\r\n\r\n"


class Tunnel(asyncio.Protocol):
    """The connection to a proxy, until the tunnel stands."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._data = b""
        self._answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def open(self, authority: str, login: str | None) -> asyncio.Transport:
        """Ask for a tunnel; the transport through it."""
        transport = cast("asyncio.Transport", self._transport)
        header = f"Proxy-Authorization: {login}\r\n" if login else ""
        words = f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n{header}\r\n"
        transport.write(words.encode())
        try:
            line = (await self._answer).partition(b"\r\n")[0].decode("latin-1")
        except BaseException:
            transport.abort()
            raise
        if line.split(" ")[1:2] != ["200"]:
            transport.abort()
            raise OSError(f"the proxy refused: {line}")
        return transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._data += data
        if self._answer.done():
            return
        if _END in self._data:
            cast("asyncio.Transport", self._transport).pause_reading()
            self._answer.set_result(self._data)
        elif len(self._data) > _LONGEST:
            self._answer.set_exception(OSError("the proxy's answer is no HTTP"))

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._answer.done():
            self._answer.set_exception(exc or OSError("the proxy closed the connection"))
