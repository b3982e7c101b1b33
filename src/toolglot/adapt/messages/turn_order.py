"""What a target requires of the first and of the last turn."""

from typing import Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import Message, Refusal, Request, Text

OPENING: Final = "Begin."
"""What a user says before the first turn, where that would be the model's."""

CONTINUE: Final = (
    "Continue your last message exactly where it ends. Do not repeat it and do not comment on it."
)
"""What a user says after the beginning of an answer, where models do not continue one."""

_LEADS: Final = ("system", "developer")


def require_messages(request: Request, ctx: Context) -> Request:
    """Something to answer: a short turn beside system text, or a note that there is nothing."""
    source, _ = ctx.surfaces
    if request.messages:
        return request
    if request.system is not None and request.system.parts:
        said = ctx.places.of_message(request.system) if ctx.places is not None else None
        where = said or ctx.setting("system")
        ctx.note("turn-added", where, "there is only system text to answer")
        return replace(request, messages=(_user(OPENING),))
    own = request.extras.get(source.name, {})
    kept = next((key for key in own if key in source.template_keys and own[key] is not None), None)
    words = f"{kept} names messages that only its own provider has; send them as messages"
    ctx.note("nothing-to-send", kept or source.messages.path, words if kept else "")
    return request


def require_user_first(request: Request, ctx: Context) -> Request:
    """A turn of the user in front, where the model's may not be the first."""
    source, target = ctx.surfaces
    messages = request.messages
    if not target.messages.user_first or not messages:
        return request
    ctx.place(messages)
    first = next((i for i, each in enumerate(messages) if each.role not in _LEADS), len(messages))
    if first < len(messages) and messages[first].role != "assistant":
        return request
    turn = ctx.where_turn(messages[first]) if first < len(messages) else source.messages.path
    ctx.note("turn-added", turn, "the first turn is the user's here")
    placed = (*messages[:first], _user(OPENING), *messages[first:])
    return replace(request, messages=placed)


def adapt_prefill(request: Request, ctx: Context) -> Request:
    """The beginning of an answer, as far as the target continues one."""
    support = ctx.surfaces[1].messages
    if support.prefill == "kept" or not is_prefilled(request):
        return request
    ctx.place(request.messages)
    *earlier, last = request.messages
    path = ctx.where_turn(last)
    if support.prefill_mark:
        own = last.extras.get(ctx.surfaces[1].name, {})
        if support.prefill_mark in own:
            return request
        ctx.note("default-added", f"{path}.{support.prefill_mark}", "it is marked as a beginning")
        extras = {**last.extras, ctx.surfaces[1].name: {**own, support.prefill_mark: True}}
        return replace(request, messages=(*earlier, replace(last, extras=extras)))
    if support.prefill == "refused":
        ctx.note("prefill-changed", path, "the model continues no answer; it is asked to do so")
        return replace(request, messages=(*request.messages, _user(CONTINUE)))
    *before, text = last.parts
    if not isinstance(text, Text | Refusal) or text.text == text.text.rstrip():
        return request
    ctx.note("prefill-changed", path, "white space at its end was cut", "info")
    kept = (*before, replace(text, text=text.text.rstrip())) if text.text.strip() else (*before,)
    messages = (*earlier, replace(last, parts=kept)) if kept else tuple(earlier)
    return replace(request, messages=messages)


def is_prefilled(request: Request) -> bool:
    """Whether the last message is the beginning of the answer: the model's own, and text at its
    end.
    """
    last = request.messages[-1] if request.messages else None
    if last is None or last.role != "assistant" or not last.parts:
        return False
    return isinstance(last.parts[-1], Text | Refusal)


def _user(text: str) -> Message:
    return Message(role="user", parts=(Text(text=text),))
