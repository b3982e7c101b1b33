"""Rows that hold the messages of a protocol, both ways, for formats that build on one."""

from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.convert.transcript import with_turn
from toolglot.errors import DecodeError
from toolglot.ir import Json, Request
from toolglot.registry import get_protocol
from toolglot.wire.message import WireRequest

_UNNAMED: Final = "-"
"""Stands for the model of a row that names none."""


def read_body(body: Json, protocol: str, ctx: Context) -> Request:
    """The request that a body is in a protocol; it need not name a model."""
    codec = get_protocol(protocol)
    model = body.get("model")
    path = ""
    if not isinstance(model, str) or not model:
        in_path = "{model}" in codec.SURFACE.path
        path = codec.SURFACE.path.replace("{model}", _UNNAMED) if in_path else ""
        body = {key: value for key, value in body.items() if key != "model"}
        if not in_path:
            body = {"model": _UNNAMED, **body}
    request = codec.decode_request(WireRequest(body=body, path=path), ctx)
    changes: dict[str, Any] = {"stream": None} if request.stream is False else {}
    return replace(request, **changes, **({"model": ""} if request.model == _UNNAMED else {}))


def write_body(request: Request, protocol: str, ctx: Context) -> Json:
    """The reverse: the body of a request, without the model if that is not known."""
    codec = get_protocol(protocol)
    named = request if request.model else replace(request, model=_UNNAMED)
    body = codec.encode_request(named, ctx).body
    if body.get("model") == _UNNAMED:
        del body["model"]
    elif request.model and "model" not in body:
        body = {"model": request.model, **body}
    return body


def with_turns(request: Request, facts: Sequence[Json]) -> Request:
    """A request whose messages are those of a transcript, one for one."""
    if len(facts) != len(request.messages):
        raise DecodeError("messages", "the transcript has other messages than its protocol reads")
    pairs = zip(request.messages, facts, strict=True)
    return replace(request, messages=tuple(with_turn(each, **known) for each, known in pairs))
