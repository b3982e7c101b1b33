"""A turn of a model on its way through a client and back, and what must be the same of it."""

import json
from collections.abc import Iterable
from typing import Any

from tests.laws.corpus import RESEND, path_to

from toolglot import ir
from toolglot.context import Context
from toolglot.registry import get_protocol
from toolglot.translate import translate_request
from toolglot.wire.message import WireRequest


def history(name: str, messages: list[Any]) -> dict[str, Any]:
    """A request that holds nothing but these messages."""
    body = {"model": "some-model", get_protocol(name).SURFACE.messages.path: messages}
    return body | ({"max_tokens": 9} if name == "anthropic" else {})


def turn_of(name: str, messages: list[Any], path: str = "") -> list[Any]:
    """The assistant's parts in a history, without what only decorates them."""
    wire = WireRequest(body=history(name, messages), path=path or path_to(name))
    request = get_protocol(name).decode_request(wire, Context())
    return essence(
        part
        for message in request.messages
        if message.role == "assistant"
        for part in message.parts
    )


def essence(parts: Iterable[ir.Part]) -> list[Any]:
    """What an issuer must get back: text, state, calls as they were."""
    found: list[Any] = []
    for part in parts:
        if isinstance(part, ir.Text):
            if found and found[-1][0] == "text" and part.signature is None and found[-1][2] is None:
                found[-1] = ("text", found[-1][1] + part.text, None)
            elif part.text or part.signature:
                found.append(("text", part.text, part.signature))
        elif isinstance(part, ir.ToolCall):
            call_id = None if part.id_made else part.id
            found.append(("call", call_id, part.name, part.arguments, part.signature))
        elif isinstance(part, ir.Reasoning):
            state = part.signature or None
            found.append(("reasoning", part.text, part.summary, state, part.redacted))
        elif isinstance(part, ir.Refusal):
            found.append(("text", part.text, None))
    return found


def by_value(part: Any) -> Any:
    """A call by the value of its arguments and without its id, which may have been made."""
    return ("call", part[2], json.loads(part[3]), part[4]) if part[0] == "call" else part


def can_be_sent_back(response: ir.Response | ir.ApiError) -> bool:
    """One answer of something that a client can send back."""
    if isinstance(response, ir.ApiError) or len(response.choices) != 1:
        return False
    bound = (ir.Opaque, ir.Image, ir.Document, ir.Audio)
    parts = response.choices[0].parts
    return bool(essence(parts)) and not any(isinstance(part, bound) for part in parts)


def assert_comes_back(
    upstream: str, native: Any, client: str, shown: Any, *, ids: bool = True
) -> None:
    """An answer, shown to a client and sent back by it, reaches its provider as it was."""
    messages = json.loads(json.dumps(RESEND[client](shown)))
    wire, _ = translate_request(
        history(client, messages), source=client, target=upstream, path=path_to(client)
    )
    surface = get_protocol(upstream).SURFACE
    written = turn_of(upstream, RESEND[upstream](native))
    assert written, "there is something to bring back"
    through = turn_of(upstream, wire.body[surface.messages.path], wire.path)
    if surface.calls.arguments == "object" or surface.calls.matched_by == "name" or not ids:
        written, through = (list(map(by_value, turn)) for turn in (written, through))
    assert through == written
