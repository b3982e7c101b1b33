"""One exchange in full: its four bodies, and a bridge for each note of its receipt."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, Literal, TypeAlias, get_args

from toolglot.gateway.inspector.bridges import Bridge, Side, bridges
from toolglot.gateway.inspector.call_rows import note_json
from toolglot.gateway.inspector.conversation_json import turn_json
from toolglot.gateway.inspector.exchange_facts import (
    UNREADABLE,
    body_kind,
    client_answer,
    content_type,
    facts_of,
    joined,
    upstream_answer,
)
from toolglot.gateway.inspector.grouping import InspectedTurn
from toolglot.gateway.telemetry.captures import CapturedExchange
from toolglot.gateway.telemetry.redact import redact_headers, redact_url
from toolglot.ir import ApiError, Json, Request, Response
from toolglot.registry import get_protocol
from toolglot.translate import decode_request, encode_response
from toolglot.wire import jsontext

BodyName: TypeAlias = Literal[
    "client-request", "upstream-request", "upstream-response", "client-response"
]
BODIES: Final[tuple[BodyName, ...]] = get_args(BodyName)
_LONGEST_TREE: Final = 4 * 2**20
"""Bytes of a body that is sent as a tree; of a longer one only the beginning is sent, as text."""
_LONGEST_TEXT: Final = 64 * 2**10


def body_of(exchange: CapturedExchange, name: str) -> bytes:
    """One of the four bodies, byte for byte as far as it is kept."""
    attempt = exchange.attempt
    if name == "client-request":
        return exchange.body
    if name == "client-response":
        return joined(exchange.chunks)
    if attempt is None:
        return b""
    return attempt.body if name == "upstream-request" else joined(attempt.chunks)


def exchange_detail(exchange: CapturedExchange) -> Json:
    """All of an exchange."""
    attempt = exchange.attempt
    protocol = attempt.protocol if attempt is not None else ""
    gave, got = upstream_answer(exchange), client_answer(exchange)
    asked = _tree(exchange.asked)
    trees: dict[str, Any] = {
        "client-request": asked,
        "upstream-request": _tree(body_of(exchange, "upstream-request")),
        "upstream-response": _answer_tree(body_of(exchange, "upstream-response"), gave, protocol),
        "client-response": _answer_tree(
            body_of(exchange, "client-response"), got, exchange.protocol
        ),
    }
    return {
        **turn_json(InspectedTurn(exchange, facts_of(exchange))),
        "path": redact_url(exchange.path),
        "headers": redact_headers(exchange.headers),
        "upstream_headers": redact_headers(attempt.headers) if attempt else {},
        "response_headers": redact_headers(attempt.response_headers) if attempt else {},
        "continued": exchange.asked != exchange.body,
        "bodies": {name: _body(exchange, name, trees[name], protocol) for name in BODIES},
        "receipt": [
            {**note_json(note), "side": _side(exchange, at)}
            for at, note in enumerate(exchange.notes)
        ],
        "bridges": [
            {"note": each.note, "source": each.source, "target": each.target}
            for each in _bridges(exchange, trees, gave, got)
        ],
    }


def _side(exchange: CapturedExchange, at: int) -> str:
    attempt = exchange.attempt
    return "request" if attempt is None or at < attempt.notes else "answer"


def _body(exchange: CapturedExchange, name: str, tree: Any, protocol: str) -> Json:
    data = body_of(exchange, name)
    headers: Mapping[str, str] = {}
    if name == "upstream-response" and exchange.attempt is not None:
        headers = exchange.attempt.response_headers
    elif name == "client-response":
        headers = exchange.response_headers
    kind = body_kind(content_type(headers), data)
    whole = tree is not None and len(data) <= _LONGEST_TREE
    return {
        "protocol": exchange.protocol if name.startswith("client") else protocol,
        "size": len(data),
        "kind": kind,
        "tree": tree if whole else None,
        "text": "" if whole else data[:_LONGEST_TEXT].decode("utf-8", "replace"),
        "cut": not whole and len(data) > _LONGEST_TEXT,
    }


def _tree(data: bytes) -> Any:
    if not data or len(data) > _LONGEST_TREE:
        return None
    with suppress(*UNREADABLE):
        return jsontext.peek(data)
    return None


def _answer_tree(data: bytes, says: Response | ApiError | None, protocol: str) -> Any:
    """A whole answer as it is; a stream as the answer that it amounts to."""
    tree = _tree(data) if data[:1] == b"{" and b"\n" not in data.strip() else None
    if tree is None and says is not None and protocol:
        with suppress(*UNREADABLE):
            return encode_response(says, target=protocol).body
    return tree if tree is not None else _tree(data)


def _bridges(
    exchange: CapturedExchange,
    trees: Mapping[str, Any],
    gave: Response | ApiError | None,
    got: Response | ApiError | None,
) -> list[Bridge]:
    attempt = exchange.attempt
    if attempt is None or not attempt.protocol:
        return []
    count = attempt.notes
    ours, theirs = get_protocol(exchange.protocol).SURFACE, get_protocol(attempt.protocol).SURFACE
    asked = _decoded(exchange.asked, exchange.protocol, exchange.path)
    sent = _decoded(attempt.body, attempt.protocol, _path(attempt.url))
    request = bridges(
        exchange.notes[:count],
        Side(ours, trees["client-request"], asked),
        Side(theirs, trees["upstream-request"], sent),
    )
    answer = bridges(
        exchange.notes[count:],
        Side(theirs, trees["upstream-response"], gave if isinstance(gave, Response) else None),
        Side(ours, trees["client-response"], got if isinstance(got, Response) else None),
        count,
    )
    return [*request, *answer]


def _decoded(body: bytes, protocol: str, path: str) -> Request | None:
    with suppress(*UNREADABLE):
        return decode_request(body, source=protocol, path=path)
    return None


def _path(url: str) -> str:
    return "/" + url.partition("://")[2].partition("/")[2].partition("?")[0]
