"""What a document is: a request, a response, an error or a stream, and of which protocol.

`toolglot translate` is told so by its options. That they are wrong is the most common mistake.
"""

from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from typing import Any, Final

from msgspec import Struct

from toolglot.context import Context
from toolglot.errors import DecodeError
from toolglot.registry import PROTOCOLS
from toolglot.translate import decode_request
from toolglot.wire import jsontext
from toolglot.wire.event_stream import EventStreamDecoder

_SSE: Final = (b"data:", b"event:", b":")


class InputKind(Struct, frozen=True):
    """What a document looks like."""

    kind: str
    protocols: tuple[str, ...] = ()
    """Those in which it can be read so; none: it cannot be told."""

    def __str__(self) -> str:
        article = "an" if self.kind == "error" else "a"
        named = f" of {self.protocols[0]}" if len(self.protocols) == 1 else ""
        return f"{article} {self.kind}{named}"


def recognise(data: bytes) -> InputKind | None:
    """What a document looks like; None if it looks like nothing that is known."""
    if binary := EventStreamDecoder().feed(data):
        messages = (value for _, payload in binary for value in _values(payload))
        return InputKind("stream", _protocols(messages, "is_event"))
    text = data.removeprefix(BOM_UTF8).strip()
    if text.startswith(_SSE):
        return InputKind("stream", _protocols(_sse_values(text), "is_event"))
    try:
        value = jsontext.peek(text)
    except (DecodeError, ValueError):
        values = _lines(text)
        return InputKind("stream", found) if (found := _protocols(values, "is_event")) else None
    if not isinstance(value, dict):
        return None
    # An answer may repeat its request, so it is looked for first.
    if answered := _protocols((value,), "is_response"):
        return InputKind("response", answered)
    if requested := _request_protocols(value):
        return InputKind("request", requested)
    if failed := _protocols((value,), "is_error"):
        return InputKind("error", failed)
    answered = tuple(
        name
        for name, codec in PROTOCOLS.items()
        if not value.keys().isdisjoint(codec.API.answer_keys)
    )
    return InputKind("response", answered) if answered else None


def check_input(data: bytes, what: str, source: str) -> None:
    """Raise a `DecodeError` that says which option to change, if the input is something else."""
    if not data.strip():
        raise DecodeError("", f"the input is empty; expected a {what}")
    found = recognise(data)
    if found is None or found.kind == what or {found.kind, what} == {"response", "error"}:
        return
    option = "leave out --what" if found.kind == "request" else f"give --what {found.kind}"
    also = f" and --from {found.protocols[0]}" if _differs(found, source) else ""
    raise DecodeError("", f"this looks like {found}, not like a {what}: {option}{also}")


def check_stream(beginning: bytes) -> None:
    """The same for the beginning of a stream, which may look like a whole response."""
    found = recognise(beginning)
    if found is not None and found.kind == "request":
        raise DecodeError("", f"this looks like {found}, not like a stream: leave out --what")


def explain_failure(data: bytes, what: str, source: str) -> str:
    """What may be the reason that a document cannot be read in a protocol; empty: nothing known."""
    found = recognise(data)
    if found is not None and found.kind == what and _differs(found, source):
        return f"; this looks like {found}: give --from {' or '.join(found.protocols)}"
    if found is None and len(list(_lines(data.strip()))) > 1:
        return "; there are several documents, one in each line: translate them one by one"
    return ""


def _differs(found: InputKind, source: str) -> bool:
    return bool(found.protocols) and source not in found.protocols


def _protocols(values: Iterable[Any], shape: str) -> tuple[str, ...]:
    """The protocols to which the first of these values that is known belongs."""
    for value in values:
        if isinstance(value, dict):
            found = tuple(
                name for name, codec in PROTOCOLS.items() if getattr(codec.API, shape)(value)
            )
            if found:
                return found
    return ()


def _request_protocols(value: dict[str, Any]) -> tuple[str, ...]:
    """The protocols whose messages stand where this document has some, and that can read it.

    Of them, those that know its tools, if it has some: what is not known is kept and does no harm.
    """
    possible = [name for name, codec in PROTOCOLS.items() if codec.SURFACE.messages.path in value]
    read = {name: tools for name in possible if (tools := _tools_read(value, name)) is not None}
    with_tools = [name for name, tools in read.items() if tools]
    return tuple(with_tools or read or possible)


def _tools_read(value: dict[str, Any], protocol: str) -> bool | None:
    """Whether a protocol finds tools in a request; None: it cannot read it."""
    codec = PROTOCOLS[protocol]
    path = codec.SURFACE.path.replace("{model}", "any")
    context = Context(source=codec.SURFACE)
    try:
        request = decode_request(value, source=protocol, path=path, context=context)
    except DecodeError:
        return None
    return bool(request.tools)


def _sse_values(text: bytes) -> Iterator[Any]:
    for line in text.splitlines():
        if line.startswith(b"data:"):
            yield from _values(line.removeprefix(b"data:"))


def _lines(text: bytes) -> Iterator[Any]:
    """The values of a text that has one JSON document in each line."""
    for line in text.splitlines():
        yield from _values(line)


def _values(line: bytes) -> Iterator[Any]:
    try:
        yield jsontext.peek(line)
    except (DecodeError, ValueError):
        return
