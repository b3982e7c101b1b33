"""How hard to think: a switch, an effort or a budget, as the target and its model understand it.

A protocol may have more ways to ask than a model behind it takes. What is known of the model is
laid over the surface before anything is mapped: by its provider, or by the options.
"""

from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import (
    CustomTool,
    FunctionTool,
    Part,
    Reasoning,
    ReasoningSettings,
    Request,
    Text,
    ToolCall,
    ToolResult,
)
from toolglot.surface import Surface, with_reasoning

if TYPE_CHECKING:
    from toolglot.receipt import Severity

_BUDGETS: Final = (
    ("minimal", 512),
    ("low", 2048),
    ("medium", 8192),
    ("high", 24576),
    ("xhigh", 32768),
)
"""Efforts and the largest budget that counts as each; more is `max`. The scale is ours, the steps
are those of https://ai.google.dev/gemini-api/docs/openai (read 2026-11-15) where it names them."""

_MAX_BUDGET: Final = 64000
_CALLED: Final = (FunctionTool, CustomTool)
_USUAL: Final = "medium"
"""The effort where one has to be said, and none was."""

_EFFORT_WITH_BUDGET: Final = frozenset({"effort", "effort_needs_switch", "budget"})
_AMOUNTS: Final = frozenset({"adaptive", "effort", "budget"})


def adapt_reasoning(request: Request, ctx: Context) -> Request:
    """Ask for reasoning in the way that the target and its model understand."""
    settings = request.reasoning
    if settings is None:
        return request
    target = with_reasoning(ctx.surfaces[1], ctx.options.reasoning, ctx.options.efforts)
    if not target.reasoning.controls:
        severity: Severity | None = "info" if _is_off(settings) else None
        words = "how much the model reasons cannot be chosen"
        ctx.note("field-dropped", ctx.setting("reasoning"), words, severity)
        return replace(request, reasoning=None)
    continues = target.reasoning.bars_prefill and target.messages.prefill != "refused"
    if continues and settings.enabled is not False and _is_prefilled(request):
        note = "the answer is begun already, which reasoning forbids; it is off"
        ctx.note("prefill-changed", ctx.setting("reasoning"), note)
        return replace(request, reasoning=ReasoningSettings(enabled=False))
    adapted = _never_off(settings, target, ctx)
    if adapted.enabled is False and adapted.effort not in (None, "none"):
        words = "reasoning is off, so no effort"
        ctx.note("field-dropped", ctx.setting("reasoning"), words, "info")
        adapted = replace(adapted, effort=None)
    adapted = _switch(_amount(adapted, request, target, ctx), target, ctx)
    if (
        adapted.budget is not None
        and target.reasoning.budget_needs_thoughts
        and _lost_thoughts(request)
    ):
        words = "what was thought in this turn is not known, so reasoning is off until the next"
        ctx.note("value-mapped", ctx.setting("reasoning"), words)
        adapted = ReasoningSettings(enabled=False)
    adapted = _visible(adapted, target, ctx)
    if adapted == ReasoningSettings():
        return replace(request, reasoning=None)
    return request if adapted is request.reasoning else replace(request, reasoning=adapted)


def adapt_effort_with_tools(request: Request, ctx: Context) -> Request:
    """Leave out the effort, or say `none`, where a model accepts no other beside functions."""
    rule, settings = ctx.surfaces[1].tools.effort, request.reasoning
    if rule == "keep" or not any(isinstance(tool, _CALLED) for tool in request.tools):
        return request
    path, asked = ctx.setting("reasoning"), settings is not None and not _is_off(settings)
    if rule == "none":
        if settings is not None and not asked:
            return request
        words = "the model accepts functions only with effort none"
        ctx.note("value-mapped" if asked else "default-added", path, words)
        return replace(request, reasoning=ReasoningSettings(enabled=False))
    if not asked or settings is None or settings.effort is None:
        return request
    ctx.note("field-dropped", path, "the model accepts no effort beside functions here")
    kept = replace(settings, effort=None)
    return replace(request, reasoning=None if kept == ReasoningSettings() else kept)


def _is_off(settings: ReasoningSettings) -> bool:
    return settings.enabled is False or settings.effort == "none"


def _is_prefilled(request: Request) -> bool:
    last = request.messages[-1] if request.messages else None
    return (
        last is not None
        and last.role == "assistant"
        and all(isinstance(p, Text) for p in last.parts)
    )


def _lost_thoughts(request: Request) -> bool:
    """Whether the turn that goes on has calls and does not begin with reasoning."""
    turn: list[Part] = []
    for message in reversed(request.messages):
        if message.role == "assistant":
            turn[:0] = message.parts
        elif not any(isinstance(part, ToolResult) for part in message.parts):
            break
    called = any(isinstance(part, ToolCall) for part in turn)
    return called and not isinstance(turn[0], Reasoning)


# --- what the model takes -------------------------------------------------------------------------


def _never_off(settings: ReasoningSettings, target: Surface, ctx: Context) -> ReasoningSettings:
    """The least effort for a model of which it is known that it always reasons."""
    ways, efforts = target.reasoning.controls, target.reasoning.efforts
    if _is_off(settings) and ways.isdisjoint({"switch", "effort"}) and "budget" in ways:
        least_budget = target.reasoning.least_budget
        words = f"the model always reasons; its least budget is {least_budget}"
        ctx.note("value-mapped", ctx.setting("reasoning"), words)
        return replace(settings, enabled=None, effort=None, budget=least_budget)
    has_off = "none" in efforts or "switch" in ways or "effort" not in ways
    if has_off or not efforts or not _is_off(settings):
        return settings
    least = efforts[0]
    words = f"the model always reasons; its least effort is {least}"
    ctx.note("value-mapped", ctx.setting("reasoning"), words)
    return replace(settings, enabled=None, effort=least)


# --- how much -------------------------------------------------------------------------------------


def _amount(
    settings: ReasoningSettings, request: Request, target: Surface, ctx: Context
) -> ReasoningSettings:
    """Effort and budget as the target has them."""
    effort, budget, enabled = settings.effort, settings.budget, settings.enabled
    if budget is not None:
        budget = _within(budget, request, target, ctx)
        if "budget" not in target.reasoning.controls:
            effort, budget = _budget_as_effort(budget, effort, target, ctx), None
    elif effort is None and enabled and target.reasoning.controls & _AMOUNTS == {"budget"}:
        effort = _USUAL
    if effort is not None:
        effort, mapped = _effort(effort, budget, settings, target, ctx)
        if mapped is not None and budget is None:
            mapped = _within(mapped, request, target, ctx)
        if (
            enabled is None
            and "effort" not in target.reasoning.controls
            and "switch" in target.reasoning.controls
        ):
            enabled = settings.effort != "none"
        budget = mapped
    is_on = enabled or (enabled is None and effort not in (None, "none"))
    if budget is None and is_on and _needs_budget(target):
        budget, enabled = _within(budget_of(effort or _USUAL), request, target, ctx), True
        words = f"reasoning is turned on by a budget only: {budget} tokens"
        ctx.note("default-added", ctx.setting("reasoning"), words)
    if budget is not None and budget < target.reasoning.least_budget:
        words = f"no room for {target.reasoning.least_budget} tokens of reasoning; it is off"
        ctx.note("value-mapped", ctx.setting("reasoning"), words)
        budget, enabled = None, False
    if (effort, budget, enabled) == (settings.effort, settings.budget, settings.enabled):
        return settings
    return replace(settings, effort=effort, budget=budget, enabled=enabled)


def _needs_budget(target: Surface) -> bool:
    """Whether reasoning is on only where there is a budget, whatever the effort."""
    ways = target.reasoning.controls
    return "adaptive" not in ways and ways >= _EFFORT_WITH_BUDGET


def _within(budget: int, request: Request, target: Surface, ctx: Context) -> int:
    """A budget that the target takes and that leaves room for an answer."""
    path, limit = ctx.setting("reasoning"), request.max_tokens
    if "budget" in target.reasoning.controls and budget < target.reasoning.least_budget:
        budget = target.reasoning.least_budget
        ctx.note("value-mapped", path, f"the least budget is {budget}")
    most = target.reasoning.most_budget
    if "budget" in target.reasoning.controls and most is not None and budget > most:
        budget = most
        ctx.note("value-mapped", path, f"the largest budget is {budget}")
    if limit is not None and budget >= limit:
        budget = max(limit - 1, 0)
        ctx.note("value-mapped", path, f"the budget is cut to {budget}, below the token limit")
    return budget


def _budget_as_effort(budget: int, effort: str | None, target: Surface, ctx: Context) -> str | None:
    path = ctx.setting("reasoning")
    if effort is None and "effort" in target.reasoning.controls:
        effort = nearest_effort(effort_of(budget), target.reasoning.efforts)
        ctx.note("value-mapped", path, f"a budget of {budget} tokens becomes effort {effort}")
        return effort
    severity: Severity | None = None if effort is None else "info"
    words = f"{target.name} has no reasoning budget"
    ctx.note("field-dropped", path, words, severity)
    return effort


def _effort(
    effort: str, budget: int | None, settings: ReasoningSettings, target: Surface, ctx: Context
) -> tuple[str | None, int | None]:
    path = ctx.setting("reasoning")
    if "effort" in target.reasoning.controls:
        if effort not in target.reasoning.efforts and effort != "none":
            nearest = nearest_effort(effort, target.reasoning.efforts)
            if nearest == "none" and effort != "minimal":
                words = f"the model reasons or not, and knows no effort {effort}"
                ctx.note("field-dropped", path, words)
                return None, budget
            ctx.note("value-mapped", path, f"effort {effort} becomes {nearest}")
            effort = nearest
        return (
            None if effort == "none" and effort not in target.reasoning.efforts else effort
        ), budget
    if "budget" in target.reasoning.controls and budget is None and settings.enabled is not False:
        budget = budget_of(effort)
        ctx.note("value-mapped", path, f"effort {effort} becomes a budget of {budget} tokens")
    elif budget is None and effort != "none":
        ctx.note(
            "value-mapped", path, f"{target.name} knows no effort; reasoning is only switched on"
        )
    elif effort != "none":
        words = f"the model has no effort beside a budget: {effort} is left out"
        ctx.note("field-dropped", path, words, "info")
    return None, budget


def effort_of(budget: int) -> str:
    """The effort that a budget of tokens stands for."""
    if budget == 0:
        return "none"
    return next((effort for effort, limit in _BUDGETS if budget <= limit), "max")


def budget_of(effort: str) -> int:
    """The budget of tokens that an effort stands for."""
    return 0 if effort == "none" else dict(_BUDGETS).get(effort, _MAX_BUDGET)


_SCALE: Final = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


def nearest_effort(effort: str, known: tuple[str, ...]) -> str:
    """The effort among the known ones that is nearest; the lower of two. Only a minimal one may
    become none.
    """
    if effort in known or effort not in _SCALE or not known:
        return effort if effort in known or not known else "medium"
    wanted = _SCALE.index(effort)
    some = known if effort == "minimal" else tuple(each for each in known if each != "none")
    places = [(abs(_SCALE.index(each) - wanted), _SCALE.index(each)) for each in some or known]
    return _SCALE[min(places)[1]]


# --- whether, and whether it is shown -------------------------------------------------------------


def _switch(settings: ReasoningSettings, target: Surface, ctx: Context) -> ReasoningSettings:
    path = ctx.setting("reasoning")
    changes: dict[str, Any] = {}
    if (
        settings.enabled is None
        and settings.effort is not None
        and "effort_needs_switch" in target.reasoning.controls
    ):
        changes["enabled"] = True
    if settings.adaptive and "adaptive" not in target.reasoning.controls:
        changes["adaptive"] = None
        if settings.effort is None and settings.budget is None:
            ctx.note(
                "value-mapped", path, "adaptive reasoning is left to the model's default", "info"
            )
    stays_on = settings.enabled and "effort_needs_switch" in target.reasoning.controls
    if settings.enabled is not None and "switch" not in target.reasoning.controls and not stays_on:
        changes["enabled"] = None
        if not settings.enabled and "none" in target.reasoning.efforts:
            changes["effort"] = "none"
        elif not settings.enabled or (settings.effort is None and not settings.adaptive):
            ctx.note("field-dropped", path, f"{target.name} has no switch for reasoning")
    return replace(settings, **changes) if changes else settings


def _visible(settings: ReasoningSettings, target: Surface, ctx: Context) -> ReasoningSettings:
    """Thoughts that are shown are a summary, and the other way round."""
    path, as_summary = ctx.setting("reasoning"), "thoughts are shown as a summary"
    can_show, can_sum = "show" in target.reasoning.controls, "summary" in target.reasoning.controls
    changes: dict[str, Any] = {}
    if settings.show is not None and settings.enabled is None and can_show:
        # Where the switch says it, too, nothing can be shown or hidden unless that is set.
        can_show = "show_needs_switch" not in target.reasoning.controls
    if settings.show is not None and not can_show:
        changes["show"] = None
        if settings.show and can_sum:
            changes["summary"] = settings.summary or "auto"
            ctx.note("value-respelled", path, as_summary)
        else:
            ctx.note("field-dropped", path, "whether thoughts are shown cannot be said", "info")
    if settings.summary is not None and not can_sum:
        changes["summary"] = None
        on = settings.enabled or settings.effort not in (None, "none")
        if on and can_show and settings.show is None:
            changes["show"] = True
            ctx.note("value-respelled", path, as_summary)
        else:
            ctx.note("field-dropped", path, "no choice of reasoning summaries", "info")
    return replace(settings, **changes) if changes else settings
