"""What was thought in earlier turns, as a provider of plain reasoning wants it back."""

from typing import Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import Message, Reasoning, Request, ToolCall

NOT_RECORDED: Final = "(not recorded)"
"""What stands for thoughts that a provider wants back and nobody has."""


def restrict_reasoning_history(request: Request, ctx: Context) -> Request:
    """Drop earlier thoughts, or add a word for those that are missing, as the target requires."""
    rule = ctx.surfaces[1].reasoning.history
    if rule == "kept" or (rule == "with_calls" and _is_off(request)):
        return request
    ctx.place(request.messages)
    adapt = _without if rule == "refused" else _with
    messages = tuple(adapt(each, ctx) for each in request.messages)
    same = all(new is old for new, old in zip(messages, request.messages, strict=True))
    if same:
        return request
    # A message of nothing but thoughts goes with them; their note names it.
    return replace(request, messages=tuple(each for each in messages if each.parts))


def _is_off(request: Request) -> bool:
    settings = request.reasoning
    return settings is not None and (settings.enabled is False or settings.effort == "none")


def _without(message: Message, ctx: Context) -> Message:
    kept = tuple(part for part in message.parts if not isinstance(part, Reasoning))
    if len(kept) == len(message.parts):
        return message
    ctx.note("reasoning-dropped", ctx.where_turn(message), "the provider takes none back", "info")
    return replace(message, parts=kept)


def _with(message: Message, ctx: Context) -> Message:
    if message.role != "assistant" or any(isinstance(part, Reasoning) for part in message.parts):
        return message
    if not any(isinstance(part, ToolCall) for part in message.parts):
        return message
    words = f"the provider wants back what was thought before calls; it gets {NOT_RECORDED}"
    ctx.note("default-added", ctx.where_turn(message), words)
    return replace(message, parts=(Reasoning(text=NOT_RECORDED), *message.parts))
