"""Other forms of the same answers, for clients that ask for those.

Gemini's streams are one JSON array that grows unless `alt=sse` is asked for; Ollama's older
`/api/generate` says in `response` what `/api/chat` says in a message.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from aiohttp import web
from msgspec.structs import replace

from toolglot.errors import DecodeError
from toolglot.gateway.errors import FIRST_ERROR
from toolglot.gateway.http.writers import ResponseWriter, WholeResponse
from toolglot.ir import Json
from toolglot.wire import jsontext
from toolglot.wire.ndjson import NdjsonDecoder
from toolglot.wire.sse import SseDecoder


class Framing(Protocol):
    """Changes the form of an answer."""

    media_type: str
    """What a stream then is."""

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
    """Writes an answer in another form."""

    __slots__ = ("_framing", "_writer")

    drained = False
    """Nothing may come between: what tells a client that a stream lives is of its usual form."""

    def __init__(self, writer: ResponseWriter, framing: Framing) -> None:
        self._writer = writer
        self._framing = framing

    @property
    def response(self) -> web.StreamResponse:
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


class GenerateFraming:
    """Lines of `/api/chat` to lines of `/api/generate`."""

    media_type = "application/x-ndjson"

    def __init__(self) -> None:
        self._lines = NdjsonDecoder()

    def whole(self, data: bytes) -> bytes:
        """An answer that is not streamed."""
        return jsontext.encode(_generated(jsontext.decode(data)))

    def feed(self, data: bytes) -> bytes:
        """The lines that these bytes complete."""
        return b"".join(self.whole(line) + b"\n" for line in self._lines.feed(data))

    def close(self) -> bytes:
        """The last line, if nothing ended it."""
        return b"".join(self.whole(line) + b"\n" for line in self._lines.close())


def _generated(body: Any) -> Any:
    message = body.pop("message", None) if isinstance(body, dict) else None
    if not isinstance(message, dict):
        return body
    shown = {"response": message.get("content", "")}
    if message.get("thinking"):
        shown["thinking"] = message["thinking"]
    return {**body, **shown}


def chat_of(body: Mapping[str, Any]) -> Json:
    """A request for `/api/generate` as one for `/api/chat`."""
    prompt = body.get("prompt", "")
    if not isinstance(prompt, str):
        raise DecodeError("prompt", "expected string")
    message: Json = {"role": "user", "content": prompt}
    if body.get("images"):
        message["images"] = body["images"]
    system = body.get("system")
    first = [{"role": "system", "content": system}] if system else []
    rest = {key: body[key] for key in body if key not in ("prompt", "images", "system")}
    return {**rest, "messages": [*first, message]}
