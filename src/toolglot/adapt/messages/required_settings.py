"""What a target requires: a token limit, and whether to stream."""

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import Request


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
    budget = request.reasoning.budget if request.reasoning else None
    if budget is not None:
        limit += budget
    ctx.note("default-added", "max_tokens", f"{target.name} requires a limit: {limit}")
    return replace(request, max_tokens=limit)
