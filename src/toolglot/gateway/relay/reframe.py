"""Other framings of an answer, for clients that request them: a stream as one growing JSON array,
or lines of another shape.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

from msgspec.structs import replace

from toolglot.gateway.error_responses import FIRST_ERROR
from toolglot.gateway.http.response_writers import ResponseWriter, WholeResponse
from toolglot.http1.server_response import HttpResponse
from toolglot.ir import Json
from toolglot.wire import jsontext
from toolglot.wire.ndjson import NdjsonDecoder
from toolglot.wire.sse import SseDecoder


class AnswerFraming(Protocol):
    """Changes the framing of an answer."""

    media_type: str
    """The content type of the stream."""

    def whole(self, data: bytes) -> bytes:
        """An answer that is not streamed."""
        ...

    def feed(self, data: bytes) -> bytes:
        """The next bytes of a stream."""
        ...

    def close(self) -> bytes:
        """The end of a stream."""
        ...


class ReframedWriter:
    """Writes an answer in another framing."""

    __slots__ = ("_framing", "_writer")

    direct = None
    opens_early = drained = False
    """Never: a keep-alive would have the usual framing of the protocol."""

    def __init__(self, writer: ResponseWriter, framing: AnswerFraming) -> None:
        self._writer = writer
        self._framing = framing

    @property
    def response(self) -> HttpResponse:
        return self._writer.response

    @property
    def closed(self) -> bool:
        return self._writer.closed

    async def whole(self, answer: WholeResponse) -> None:
        if answer.status < FIRST_ERROR:
            answer = replace(answer, data=self._framing.whole(answer.data))
        await self._writer.whole(answer)

    async def begin(self, headers: Mapping[str, str]) -> None:
        await self._writer.begin({**headers, "Content-Type": self._framing.media_type})

    async def write(self, data: bytes) -> None:
        data = self._framing.feed(data)
        if data:
            await self._writer.write(data)

    async def end(self) -> None:
        data = self._framing.close()
        if data:
            await self._writer.write(data)
        await self._writer.end()


class ArrayFraming:
    """Server-sent events to the elements of an array."""

    media_type = "application/json"

    def __init__(self) -> None:
        self._events = SseDecoder()
        self._begun = False

    def whole(self, data: bytes) -> bytes:
        return data

    def feed(self, data: bytes) -> bytes:
        """The elements that these bytes complete."""
        return b"".join(self._element(payload) for _, payload in self._events.feed(data))

    def close(self) -> bytes:
        """The end of the array."""
        rest = b"".join(self._element(payload) for _, payload in self._events.close())
        return rest + (b"\n]\n" if self._begun else b"[]\n")

    def _element(self, payload: bytes) -> bytes:
        lead = b",\n" if self._begun else b"["
        self._begun = True
        return lead + payload


def _changed(data: bytes, change: Callable[[Json], Json]) -> bytes:
    body = jsontext.decode(data)
    return jsontext.encode(change(body) if isinstance(body, dict) else body)


class EventFraming:
    """Each server-sent event of a stream, or a whole answer, in another form."""

    media_type = "text/event-stream"

    def __init__(self, change: Callable[[Json], Json]) -> None:
        self._change = change
        self._events = SseDecoder()

    def whole(self, data: bytes) -> bytes:
        return _changed(data, self._change)

    def feed(self, data: bytes) -> bytes:
        """The events that these bytes complete."""
        return b"".join(self._event(payload) for _, payload in self._events.feed(data))

    def close(self) -> bytes:
        """The last event, if nothing ended it."""
        return b"".join(self._event(payload) for _, payload in self._events.close())

    def _event(self, payload: bytes) -> bytes:
        # What is no object is the mark of the end.
        changed = self.whole(payload) if payload.startswith(b"{") else payload
        return b"data: %b\n\n" % changed


class LineFraming:
    """Each line of a stream, or a whole answer, in another form."""

    media_type = "application/x-ndjson"

    def __init__(self, change: Callable[[Json], Json]) -> None:
        self._change = change
        self._lines = NdjsonDecoder()

    def whole(self, data: bytes) -> bytes:
        return _changed(data, self._change)

    def feed(self, data: bytes) -> bytes:
        """The lines that these bytes complete."""
        return b"".join(self.whole(line) + b"\n" for line in self._lines.feed(data))

    def close(self) -> bytes:
        """The last line, if nothing ended it."""
        return b"".join(self.whole(line) + b"\n" for line in self._lines.close())
