"""Blank text: empty, or nothing but white space, where a target accepts none.

Models write it before calls, clients send it for an answer that broke off. Beside other content it
is left out; where it is all that a message has, a short text takes its place, so that turns stay as
they were.
"""

from typing import Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import Message, Part, Reasoning, Request, Text, ToolResult

NO_CONTENT: Final = "(no content)"
"""What stands for a message without content."""


def is_blank(part: Part) -> bool:
    """Whether a part is a text in which nothing can be read."""
    return type(part) is Text and (not part.text or part.text.isspace())


def fill_blanks(request: Request, ctx: Context) -> Request:
    """Leave out blank texts, and fill the messages that have nothing else."""
    _, target = ctx.surfaces
    if target.messages.blank_text:
        return request
    ctx.place(request.messages)
    changed = {
        index: filled
        for index, message in enumerate(request.messages)
        if (filled := _filled(message, index, request, ctx)) is not message
    }
    system = request.system
    if system is not None and any(map(is_blank, system.parts)):
        parts = tuple(part for part in system.parts if not is_blank(part))
        ctx.note("blank-text", ctx.setting("system"))
        system = replace(system, parts=parts) if parts else None
    if not changed and system is request.system:
        return request
    messages = (changed.get(i, message) for i, message in enumerate(request.messages))
    kept = tuple(message for message in messages if message is not None)
    return replace(request, system=system, messages=kept)


def _filled(message: Message, index: int, request: Request, ctx: Context) -> Message | None:
    """The message without blank texts; None for system text, and a beginning of the answer, without
    any other.
    """
    parts = message.parts
    if all(map(_is_usual, parts)):
        return message
    filled = tuple(
        _filled_result(part, ctx) if isinstance(part, ToolResult) else part
        for part in parts
        if not is_blank(part)
    )
    for part in parts:
        if is_blank(part):
            ctx.note("blank-text", ctx.where(part))
    if not any(map(_says_something, filled)):
        begun = message.role == "assistant" and index == len(request.messages) - 1
        if begun or message.role in ("system", "developer"):
            ctx.note("message-dropped", ctx.where_turn(message))
            return None
        ctx.note(
            "blank-text",
            ctx.where_turn(message),
            f"the message has no content; it says {NO_CONTENT}",
        )
        filled = (*filled, Text(text=NO_CONTENT))
    return replace(message, parts=filled)


def _is_usual(part: Part) -> bool:
    if type(part) is ToolResult:
        return not any(map(is_blank, part.parts))
    return not is_blank(part)


def _says_something(part: Part) -> bool:
    """Whether a part can stand alone: reasoning cannot."""
    return type(part) is not Reasoning and not is_blank(part)


def _filled_result(part: ToolResult, ctx: Context) -> ToolResult:
    """A result without blank texts; without content, if there is no other."""
    if not any(map(is_blank, part.parts)):
        return part
    ctx.note("blank-text", ctx.where(part))
    return replace(part, parts=tuple(inner for inner in part.parts if not is_blank(inner)))
