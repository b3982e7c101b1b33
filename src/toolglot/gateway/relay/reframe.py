"""Other forms of the same answers, for clients that ask for those.

Gemini's streams are one JSON array that grows unless `alt=sse` is asked for; Ollama's older
`/api/generate` says in `response` what `/api/chat` says in a message.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from toolglot.errors import DecodeError
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


class ArrayFraming:
    """Server-sent events to the elements of an array."""

    media_type = "application/json"

    def __init__(self) -> None:
        self._events = SseDecoder()
        self._begun = False

    def whole(self, data: bytes) -> bytes:
        """An answer that is not streamed is the same."""
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
    told = {"response": message.get("content", "")}
    if message.get("thinking"):
        told["thinking"] = message["thinking"]
    return {**body, **told}


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
