"""Responses: what the client's protocol cannot show."""

from typing import Final

from msgspec.structs import replace

from toolglot.adapt.calls.arguments import made_id, normalise
from toolglot.adapt.messages.content import accepts, cited, describe
from toolglot.context import Context
from toolglot.ir import (
    Audio,
    Choice,
    Document,
    Image,
    Opaque,
    Part,
    Refusal,
    Response,
    StopKind,
    StopReason,
    Text,
    ToolCall,
)
from toolglot.surface import Surface

_NAMELESS: Final = "tool_0"
"""The name of a call that has none: clients refuse an empty one."""


def adapt_answer(response: Response, ctx: Context) -> Response:
    """Keep to what the client's protocol can show, and to the model that the client asked for."""
    _, target = ctx.surfaces
    choices = response.choices
    if len(choices) > 1 and not target.many_choices:
        ctx.note(
            "choices-dropped",
            "choices",
            f"{target.name} has one answer; {len(choices) - 1} left out",
        )
        choices = choices[:1]
    choices = tuple(_adapt_choice(choice, target, ctx) for choice in choices or (Choice(parts=()),))
    model = (ctx.request.model if ctx.request is not None else "") or response.model
    return replace(response, choices=choices, model=model)


def asked_name(ctx: Context) -> str:
    """The name of the model to an answer that stays in its protocol; empty: the one it has."""
    if ctx.request is None or ctx.options.model is None:
        return ""
    return ctx.request.model


def _adapt_choice(choice: Choice, target: Surface, ctx: Context) -> Choice:
    if choice.logprobs is not None and "logprobs" not in target.settings:
        ctx.note("logprobs-dropped", "logprobs")
        choice = replace(choice, logprobs=None)
    parts: list[Part] = []
    for index, part in enumerate(choice.parts):
        path = f"{ctx.source.content if ctx.source else ''}[{index}]"
        adapted = adapt_part(part, path, target, ctx)
        if isinstance(adapted, ToolCall):
            parts.append(normalise(adapted, path, ctx))
        elif adapted is not None:
            parts.append(adapted)
    return replace(choice, parts=tuple(parts), stop=choice.stop or _stop(parts, ctx))


def _stop(parts: list[Part], ctx: Context) -> StopReason:
    """Why an answer stopped that does not say: for its calls, at its end, or before it began."""
    called = any(isinstance(part, ToolCall) for part in parts)
    kind: StopKind = "tool_calls" if called else "end" if parts else "length"
    ctx.note("default-added", "stop", f"no reason was given: {kind}")
    return StopReason(kind=kind)


def adapt_part(part: Part, path: str, target: Surface, ctx: Context) -> Part | None:
    """A part as the client's protocol can show it; None, with a note, if it cannot."""
    if isinstance(part, ToolCall):
        if not part.name:
            ctx.note("default-added", f"{path}.name", f"a call without a name is {_NAMELESS}")
            part = replace(part, name=_NAMELESS)
        return replace(part, id=made_id(part, target)) if part.id_made else part
    if isinstance(part, Text) and part.citations:
        return cited(part, target, path, ctx)
    if isinstance(part, (Image, Document, Audio)) and not accepts(target, "assistant", part):
        ctx.note("part-dropped", path, f"{target.name} has no place for it")
        return Text(text=f"[{describe(part)} left out]")
    if isinstance(part, Refusal) and "refusal" not in target.media["assistant"]:
        ctx.note("part-replaced", path, "a refusal became plain text")
        return Text(text=part.text)
    if isinstance(part, Opaque) and part.protocol != target.name:
        ctx.note("part-dropped", path, f"{target.name} has no {part.type}")
        return None
    return part
