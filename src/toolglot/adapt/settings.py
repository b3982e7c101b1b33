"""Settings of a request: what the target cannot express is taken out and named."""

from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from toolglot.adapt.surfaces import surfaces
from toolglot.context import Context
from toolglot.ir import OutputFormat, ReasoningSettings, Request, Text
from toolglot.surface import Surface

if TYPE_CHECKING:
    from toolglot.receipt import Severity

_HANDLED: Final = frozenset({"model", "messages", "system", "tools", "extras", "spelling"})
_SETTINGS: Final = tuple(name for name in Request.__struct_fields__ if name not in _HANDLED)

_WITHOUT_EFFECT: Final = frozenset(
    {("parallel_tool_calls", True), ("n", 1), ("stream", False), ("store", False)}
)
"""Settings that only repeat what is the rule where they cannot be said."""


def drop_settings(request: Request, ctx: Context) -> Request:
    """Take out the settings that the target does not have."""
    _, target = surfaces(ctx)
    changes: dict[str, Any] = {}
    for field in _SETTINGS:
        value = getattr(request, field)
        if value is not None and field not in target.settings:
            changes[field] = None
            harmless = (
                (field, value) in _WITHOUT_EFFECT if isinstance(value, (bool, int)) else False
            )
            ctx.note(
                "field-dropped",
                ctx.setting(field),
                f"{target.name} has no {field}",
                "info" if harmless or field == "include_usage" else None,
            )
    return replace(request, **changes) if changes else request


# --- reasoning: a switch, an effort or a budget
# ------------------------------------------------------

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


def adapt_reasoning(request: Request, ctx: Context) -> Request:
    """Ask for reasoning in the way that the target understands."""
    settings = request.reasoning
    if settings is None:
        return request
    _, target = surfaces(ctx)
    if target.reasoning_bars_prefill and settings.enabled is not False and _is_prefilled(request):
        note = "the answer is begun already, which reasoning forbids; it is off"
        ctx.note("prefill-changed", ctx.setting("reasoning"), note)
        return replace(request, reasoning=ReasoningSettings(enabled=False))
    if settings.enabled is False and settings.effort not in (None, "none"):
        ctx.note(
            "field-dropped", ctx.setting("reasoning"), "reasoning is off, so no effort", "info"
        )
        settings = replace(settings, effort=None)
    adapted = _switch(_amount(settings, request, target, ctx), target, ctx)
    if adapted.summary is not None and "summary" not in target.reasoning:
        ctx.note(
            "field-dropped", ctx.setting("reasoning"), "no choice of reasoning summaries", "info"
        )
        adapted = replace(adapted, summary=None)
    if adapted == ReasoningSettings():
        return replace(request, reasoning=None)
    return request if adapted is request.reasoning else replace(request, reasoning=adapted)


def _is_prefilled(request: Request) -> bool:
    last = request.messages[-1] if request.messages else None
    return (
        last is not None
        and last.role == "assistant"
        and all(isinstance(p, Text) for p in last.parts)
    )


def _amount(
    settings: ReasoningSettings, request: Request, target: Surface, ctx: Context
) -> ReasoningSettings:
    path = ctx.setting("reasoning")
    effort, budget = settings.effort, settings.budget
    if budget is not None and "budget" not in target.reasoning:
        if effort is None and "effort" in target.reasoning:
            effort = nearest_effort(effort_of(budget), target.efforts)
            ctx.note(
                "value-mapped", path, f"a budget of {budget} tokens is told as effort {effort}"
            )
        else:
            ctx.note(
                "field-dropped",
                path,
                f"{target.name} has no reasoning budget",
                None if effort is None else "info",
            )
        budget = None
    if budget is not None and request.max_tokens is not None and budget >= request.max_tokens:
        budget = max(request.max_tokens - 1, 0)
        ctx.note("value-mapped", path, f"the budget is cut to {budget}, below the token limit")
    if effort is not None:
        effort, budget = _effort(effort, budget, settings, target, ctx)
    if (effort, budget) == (settings.effort, settings.budget):
        return settings
    return replace(settings, effort=effort, budget=budget)


def _effort(
    effort: str, budget: int | None, settings: ReasoningSettings, target: Surface, ctx: Context
) -> tuple[str | None, int | None]:
    path = ctx.setting("reasoning")
    if "effort" in target.reasoning:
        if effort not in target.efforts and effort != "none":
            effort, word = nearest_effort(effort, target.efforts), effort
            ctx.note("value-mapped", path, f"effort {word} is told as {effort}")
        return (None if effort == "none" and effort not in target.efforts else effort), budget
    if "budget" in target.reasoning and budget is None and settings.enabled is not False:
        budget = budget_of(effort)
        ctx.note("value-mapped", path, f"effort {effort} is told as a budget of {budget} tokens")
    elif budget is None and effort != "none":
        ctx.note(
            "value-mapped", path, f"{target.name} knows no effort; reasoning is only switched on"
        )
    return None, budget


def _switch(settings: ReasoningSettings, target: Surface, ctx: Context) -> ReasoningSettings:
    path = ctx.setting("reasoning")
    changes: dict[str, Any] = {}
    if (
        settings.enabled is None
        and settings.effort is not None
        and "effort_needs_switch" in target.reasoning
    ):
        changes["enabled"] = True
    if settings.adaptive and "adaptive" not in target.reasoning:
        changes["adaptive"] = None
        if settings.effort is None:
            ctx.note(
                "value-mapped", path, "adaptive reasoning is left to the model's default", "info"
            )
    if settings.enabled is not None and "switch" not in target.reasoning:
        changes["enabled"] = None
        if not settings.enabled and "none" in target.efforts:
            changes["effort"] = "none"
        elif not settings.enabled or (settings.effort is None and not settings.adaptive):
            ctx.note("field-dropped", path, f"{target.name} has no switch for reasoning")
    if settings.show is not None and "show" not in target.reasoning:
        changes["show"] = None
        ctx.note("field-dropped", path, "whether thoughts are shown cannot be said", "info")
    return replace(settings, **changes) if changes else settings


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
    """The effort among the known ones that is nearest; the lower of two."""
    if effort in known or effort not in _SCALE or not known:
        return effort if effort in known or not known else "medium"
    wanted = _SCALE.index(effort)
    return min(known, key=lambda each: (abs(_SCALE.index(each) - wanted), _SCALE.index(each)))


# --- structured output
# -------------------------------------------------------------------------------


def adapt_output(request: Request, ctx: Context) -> Request:
    """Ask for structured output in the way that the target understands."""
    output = request.output
    if output is None:
        return request
    _, target = surfaces(ctx)
    path = ctx.setting("output")
    if output.kind not in target.outputs:
        severity: Severity | None = "info" if output.kind == "text" else None
        words = f"{target.name} cannot be asked for {output.kind} output"
        ctx.note("field-dropped", path, words, severity)
        return replace(request, output=None)
    return (
        replace(request, output=_named(output, target, ctx)) if output.kind == "schema" else request
    )


def _named(output: OutputFormat, target: Surface, ctx: Context) -> OutputFormat:
    if output.name is None and "output_name" in target.settings:
        ctx.note("default-added", ctx.setting("output"), "the schema is named `response`")
        output = replace(output, name="response")
    for field in ("name", "description", "strict"):
        if getattr(output, field) is not None and f"output_{field}" not in target.settings:
            code = "field-minor" if field == "name" else "field-dropped"
            ctx.note(
                code,
                f"{ctx.setting('output')}.{field}",
                f"the schema's {field} cannot be said",
                "info",
            )
            output = replace(output, **{field: None})
    return output
