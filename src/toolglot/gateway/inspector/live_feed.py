"""What changes, told to open pages as server-sent events."""

import asyncio
from contextlib import suppress
from typing import Final

from toolglot.gateway.telemetry.captures import CapturedExchange, Captures
from toolglot.http1.server_request import HttpRequest
from toolglot.http1.server_response import HttpResponse, StreamedHttpResponse
from toolglot.wire import jsontext

_HEADERS: Final = {"Content-Type": "text/event-stream", "Cache-Control": "no-store"}
_SILENCE: Final = 15.0
"""Seconds after which a sign of life is sent."""
_TOGETHER: Final = 0.1
"""Seconds for which changes are gathered."""
_MOST: Final = 32
"""Pages that may be open at one time."""


class LiveFeed:
    """The open pages of a gateway."""

    def __init__(self, captures: Captures) -> None:
        self._captures = captures
        self._open: set[asyncio.Event] = set()
        self._closing = False

    @property
    def is_full(self) -> bool:
        """Whether no further page can be told."""
        return len(self._open) >= _MOST

    async def follow(self, http: HttpRequest, owner: str) -> HttpResponse:
        """Tell one page what changes, until it closes."""
        response = StreamedHttpResponse(headers=_HEADERS)
        wake, changed = asyncio.Event(), dict[int, CapturedExchange]()

        def listener(exchange: CapturedExchange) -> None:
            changed[exchange.number] = exchange
            wake.set()

        self._captures.listen(owner, listener)
        self._open.add(wake)
        try:
            response.begin(http)
            await response.write(b": open\n\n")
            while not self._closing and not http.closed:
                with suppress(TimeoutError):
                    await asyncio.wait_for(wake.wait(), _SILENCE)
                await asyncio.sleep(_TOGETHER if changed else 0)
                wake.clear()
                data = b"".join(map(_event, changed.values())) or b": alive\n\n"
                changed.clear()
                await response.write(data)
            response.end()
        finally:
            self._open.discard(wake)
            self._captures.unlisten(listener)
        return response

    def close(self) -> None:
        """End all of them: the gateway shuts down."""
        self._closing = True
        for wake in self._open:
            wake.set()


def _event(exchange: CapturedExchange) -> bytes:
    told = {"exchange": exchange.number, "state": exchange.state, "status": exchange.status}
    return b"event: exchange\ndata: " + jsontext.encode(told) + b"\n\n"
