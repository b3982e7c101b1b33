"""Members of a request and of its messages that a provider does not know, and refuses.

Clients of one provider of a protocol send them to another. They are kept as extras of the protocol,
which is why they are looked for there.
"""

from typing import Any

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import Extras, Message, Request, ToolResult


def drop_unknown_members(request: Request, ctx: Context) -> Request:
    """Leave out what the provider does not know."""
    _, target = ctx.surfaces
    changes: dict[str, Any] = {}
    known = target.known_keys
    if known is not None:
        extras = _known(request.extras, known, "", ctx)
        if extras is not request.extras:
            changes["extras"] = extras
    known = target.messages.known_keys
    if known is not None:
        messages = tuple(
            _message(each, known, ctx.at(i), ctx) for i, each in enumerate(request.messages)
        )
        if any(new is not old for new, old in zip(messages, request.messages, strict=True)):
            changes["messages"] = messages
    return replace(request, **changes) if changes else request


def _message(message: Message, known: frozenset[str], path: str, ctx: Context) -> Message:
    changes: dict[str, Any] = {}
    if message.name is not None and "name" not in known:
        ctx.note("field-dropped", f"{path}.name", "the provider knows no name of a message")
        changes["name"] = None
    extras = _known(message.extras, known, path, ctx)
    if extras is not message.extras:
        changes["extras"] = extras
    parts = tuple(
        _result(part, known, path, ctx) if isinstance(part, ToolResult) else part
        for part in message.parts
    )
    if any(new is not old for new, old in zip(parts, message.parts, strict=True)):
        changes["parts"] = parts
    return replace(message, **changes) if changes else message


def _result(part: ToolResult, known: frozenset[str], path: str, ctx: Context) -> ToolResult:
    extras = _known(part.extras, known, path, ctx)
    return part if extras is part.extras else replace(part, extras=extras)


def _known(extras: Extras, known: frozenset[str], path: str, ctx: Context) -> Extras:
    name = ctx.surfaces[1].name
    own = extras.get(name, {})
    unknown = [key for key in own if key not in known or (own[key] is None and not path)]
    for key in unknown:
        where = f"{path}.{key}" if path else key
        if own[key] is None:
            ctx.note("field-minor", where, "null says nothing, and some models refuse it")
        else:
            ctx.note("field-dropped", where, f"the provider knows no {key}")
    if not unknown:
        return extras
    return {**extras, name: {key: own[key] for key in own if key not in unknown}}
