"""System and developer text: in the target's place for it, and otherwise where it was."""

from operator import is_

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import Message, Part, Request, Text
from toolglot.surface import Surface

_LEADS = ("system", "developer")


def drop_attribution(request: Request, ctx: Context) -> Request:
    """Remove the line by which a client names itself to its own provider.

    It differs from one conversation to the next, so prompt caches of others would never hit.
    """
    source, _ = ctx.surfaces
    system = request.system
    if system is None or not system.parts or not _attributes(system.parts[0], source):
        return request
    ctx.note("attribution-dropped", ctx.at_system(system, 0))
    rest = system.parts[1:]
    return replace(request, system=replace(system, parts=rest) if rest else None)


def _attributes(part: Part, source: Surface) -> bool:
    if not isinstance(part, Text) or not part.text.startswith(source.system.attributions):
        return False
    return "\n" not in part.text.strip()


def place_system(request: Request, ctx: Context) -> Request:
    """Put system text where the target has it."""
    _, target = ctx.surfaces
    system, messages = request.system, request.messages
    ctx.place(messages)
    if system is not None and target.system.slot is None:
        messages, system = (system, *messages), None
    elif target.system.hoisted:
        system, messages = _hoist(system, messages, target, ctx)
    if any(message.role in _LEADS for message in messages):
        messages = _placed(messages, target, ctx)
    return replace(request, system=system, messages=messages)


def restrict_roles(request: Request, ctx: Context) -> Request:
    """The same for a request that stays in its protocol, if its provider knows fewer roles."""
    source, target = ctx.surfaces
    if target.system == source.system or all(m.role not in _LEADS for m in request.messages):
        return request
    ctx.place(request.messages)
    placed = _placed(request.messages, target, ctx)
    same = len(placed) == len(request.messages) and all(map(is_, placed, request.messages))
    return request if same else replace(request, messages=placed)


def _placed(messages: tuple[Message, ...], target: Surface, ctx: Context) -> tuple[Message, ...]:
    """Every system message in a place and a role that the target accepts."""
    count = 0
    if target.system.slot is None:
        while count < len(messages) and messages[count].role in _LEADS:
            count += 1
    leading = tuple(_in_role(each, target, ctx) for each in messages[:count])
    if target.system.single and count > 1:
        ctx.note(
            "turns-merged", ctx.where_turn(leading[0]), f"{count} system messages joined into one"
        )
        parts = tuple(part for message in leading for part in message.parts)
        leading = (replace(leading[0], parts=_apart(parts)),)
    rest = (_in_place(index, messages, target, ctx) for index in range(count, len(messages)))
    return (*leading, *rest)


def _apart(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Texts of several messages as one text, a blank line between them."""
    if not all(type(part) is Text and part.cache is None for part in parts):
        return parts
    return (Text(text="\n\n".join(part.text for part in parts if isinstance(part, Text))),)


def _hoist(
    system: Message | None, messages: tuple[Message, ...], target: Surface, ctx: Context
) -> tuple[Message | None, tuple[Message, ...]]:
    """Take leading system messages into the slot."""
    count = 0
    while count < len(messages) and messages[count].role in _LEADS:
        count += 1
    if not count:
        return system, messages
    parts: list[Part] = list(system.parts) if system else []
    for message in messages[:count]:
        if message.role == "developer" and not target.system.developer_role:
            ctx.note(
                "role-changed", ctx.where_turn(message), "developer text is sent as system text"
            )
        parts.extend(message.parts)
    return Message(role="system", parts=tuple(parts)), messages[count:]


def _in_place(index: int, messages: tuple[Message, ...], target: Surface, ctx: Context) -> Message:
    message = messages[index]
    if message.role not in _LEADS or not message.parts:
        return message
    if not target.system.later or (target.system.after_user and not _follows(index, messages)):
        words = f"{target.name} has no system text between messages"
        ctx.note("system-moved", ctx.where_turn(message), words)
        return replace(message, role="user", parts=_announced(message))
    return _in_role(message, target, ctx)


def _follows(index: int, messages: tuple[Message, ...]) -> bool:
    """Whether a message follows the user, and the model, or nobody, follows it."""
    before = messages[index - 1].role if index else None
    after = messages[index + 1].role if index + 1 < len(messages) else "assistant"
    return before == "user" and after == "assistant"


def _in_role(message: Message, target: Surface, ctx: Context) -> Message:
    if message.role == "developer" and not target.system.developer_role:
        ctx.note("role-changed", ctx.where_turn(message), "developer text is sent as system text")
        return replace(message, role="system")
    return message


def _announced(message: Message) -> tuple[Part, ...]:
    """System text as a user message, recognisable as what it is."""
    return tuple(
        replace(part, text=f"<system>\n{part.text}\n</system>") if isinstance(part, Text) else part
        for part in message.parts
    )
