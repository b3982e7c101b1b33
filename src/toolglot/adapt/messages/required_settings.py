"""What a target requires: a token limit, and whether to stream."""

from msgspec.structs import replace

from toolglot.adapt.reasoning.effort import budget_of
from toolglot.context import DEFAULT_LIMIT, Context
from toolglot.ir import ReasoningSettings, Request


def require_stream(request: Request, ctx: Context) -> Request:
    """Write `stream` explicitly where the target's default differs."""
    source, target = ctx.surfaces
    if request.stream is not None or source.stream.by_default == target.stream.by_default:
        return request
    ctx.note(
        "default-added",
        "stream",
        f"the default of {target.name} is {target.stream.by_default}",
    )
    return replace(request, stream=source.stream.by_default)


def require_limits(request: Request, ctx: Context) -> Request:
    """Give a token limit to a target that requires one."""
    _, target = ctx.surfaces
    if request.max_tokens is not None or not target.requires_max_tokens:
        return request
    limit = ctx.options.max_tokens
    settings = request.reasoning or ReasoningSettings()
    if settings.budget is not None:
        limit += settings.budget
    elif limit == DEFAULT_LIMIT and settings.enabled is not False and settings.effort is not None:
        # Nothing is known of the model, and what it thinks counts.
        limit += budget_of(settings.effort)
    ctx.note("default-added", "max_tokens", f"{target.name} requires a limit: {limit}")
    return replace(request, max_tokens=limit)


def drop_zero_limit(request: Request, ctx: Context) -> Request:
    """Leave out a limit of 0, by which clients mean that there is none."""
    source, _ = ctx.surfaces
    if request.max_tokens is None or request.max_tokens > 0 or source.limits.zero_counts:
        return request
    words = f"a limit of {request.max_tokens} means that there is none"
    ctx.note("field-dropped", ctx.setting("max_tokens"), words, "info")
    return replace(request, max_tokens=None)


def bound_limits(request: Request, ctx: Context) -> Request:
    """Raise or lower the token limit to what the target accepts."""
    limits, wanted = ctx.surfaces[1].limits, request.max_tokens
    if wanted is None:
        return request
    limit, path = wanted, ctx.setting("max_tokens")
    if limits.least is not None and limit < limits.least:
        limit = limits.least
        ctx.note("value-mapped", path, f"the least limit is {limit}")
    if limits.most is not None and limit > limits.most:
        limit = limits.most
        ctx.note("value-mapped", path, f"the highest limit is {limit}")
    if limits.most_whole is not None and not request.stream and limit > limits.most_whole:
        limit = limits.most_whole
        ctx.note("value-mapped", path, f"the highest limit without streaming is {limit}")
    return request if limit == wanted else replace(request, max_tokens=limit)
