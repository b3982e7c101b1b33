"""Recordings of the gateway: a request and its answer, in the protocol of the client.

A row is `{"meta", "request", "response"}`, made of the files of one folder (`client.request.json`
and what is beside it); the answer may be a stream, whose bytes are base64 in `response_base64` if
they are no text. Recordings are read only: only the gateway makes them.
"""

from base64 import b64decode
from typing import Any, Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.convert.format import Format, Rows
from toolglot.convert.surfaces import of_text, written_down
from toolglot.convert.transcript import RecordedConversation, with_turn
from toolglot.errors import DecodeError
from toolglot.events import fold
from toolglot.ir import Json, Message, Response
from toolglot.registry import PROTOCOLS, get_protocol
from toolglot.wire.message import WireRequest, WireResponse

_SURFACES: Final = {name: written_down(codec.SURFACE) for name, codec in PROTOCOLS.items()}


def recognise(row: Json) -> str:
    """A request with what the gateway noted of it."""
    meta = row.get("meta")
    named = isinstance(meta, dict) and meta.get("client") in PROTOCOLS and "request" in row
    return "it has `meta` and `request` of the gateway" if named else ""


def read(rows: Rows, ctx: Context) -> RecordedConversation:
    """The conversation of a request, with its answer."""
    (row,) = rows
    meta, body = row.get("meta"), row.get("request")
    name = meta.get("client") if isinstance(meta, dict) else None
    if not isinstance(name, str) or name not in PROTOCOLS or not isinstance(body, dict):
        raise DecodeError("meta.client", "expected the protocol of the client, and a `request`")
    codec = get_protocol(name)
    # From here on the conversation is one of that protocol.
    ctx.source = _SURFACES[name]
    path = str(meta.get("path") or "") if isinstance(meta, dict) else ""
    request = codec.decode_request(WireRequest(body=body, path=path), ctx)
    answer = _read_answer(_response(row), name, ctx)
    messages = request.messages
    if answer is not None and answer.choices:
        said = Message(role="assistant", parts=answer.choices[0].parts)
        usage = answer.usage
        counts = {
            key: getattr(usage, key)
            for key in ("input", "output", "cache_read", "cache_write", "reasoning")
            if usage is not None and getattr(usage, key)
        }
        messages = (*messages, with_turn(said, usage=counts, model=answer.model, id=answer.id))
    facts = {"id": meta.get("request_id"), "time": meta.get("started")} if meta else {}
    return RecordedConversation(
        request=replace(request, messages=messages, stream=None, include_usage=None),
        facts={key: value for key, value in facts.items() if isinstance(value, str) and value},
    )


def _response(row: Json) -> Any:
    """The answer: an object, or the bytes of a stream."""
    response, binary = row.get("response"), row.get("response_base64")
    if not isinstance(binary, str):
        streamed = isinstance(response, str)
        return str(response).encode("utf-8", "surrogatepass") if streamed else response
    try:
        return b64decode(binary, validate=True)
    except ValueError:
        raise DecodeError("response_base64", "expected base64") from None


def _read_answer(response: Any, name: str, ctx: Context) -> Response | None:
    codec = get_protocol(name)
    if isinstance(response, bytes):
        decoder = codec.StreamDecoder(ctx)
        folded = fold([*decoder.feed(response), *decoder.close()])
        return folded if isinstance(folded, Response) else None
    if not isinstance(response, dict):
        return None
    answer = codec.decode_response(WireResponse(body=response, status=200), ctx)
    return answer if isinstance(answer, Response) else None


def write(_conversation: RecordedConversation, _ctx: Context) -> list[Json]:
    """Nobody but the gateway makes recordings."""
    raise DecodeError("", "recordings are made by the gateway and cannot be written")


FORMAT: Final = Format(
    name="recording",
    summary="recordings of the gateway, in whatever protocol the client spoke; read only",
    reference="gateway/telemetry/recorder.py",
    surface=of_text("recording", path="request"),
    read=read,
    write=write,
    recognise=recognise,
    writable=False,
)
