"""Settings of a request: what the target cannot express is removed, with a note."""

from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import OutputFormat, Request, ToolChoice
from toolglot.surface import Surface

if TYPE_CHECKING:
    from toolglot.receipt import Severity

_HANDLED: Final = frozenset(
    {"model", "messages", "system", "tools", "extras", "wire_form", "answer_form"}
)
_SETTINGS: Final = tuple(name for name in Request.__struct_fields__ if name not in _HANDLED)

_WITHOUT_EFFECT: Final = frozenset(
    {("parallel_tool_calls", True), ("n", 1), ("stream", False), ("store", False)}
)
"""Values that are the default wherever the setting does not exist."""

_CACHING: Final = frozenset({"cache_key", "cache_retention"})


def drop_settings(request: Request, ctx: Context) -> Request:
    """Remove the settings that the target does not have."""
    _, target = ctx.surfaces
    changes: dict[str, Any] = {}
    for field in _SETTINGS:
        value = getattr(request, field)
        refused = field in target.sampling.dropped
        if value is not None and (refused or field not in target.settings):
            changes[field] = None
            harmless = _has_no_effect(field, value)
            ctx.note(
                "cache-dropped" if field in _CACHING else "field-dropped",
                ctx.setting(field),
                f"the model accepts no {field}" if refused else f"{target.name} has no {field}",
                "info" if harmless or field == "include_usage" else None,
            )
    own = request.extras.get(target.name, {})
    refused_keys = [key for key in own if key in target.sampling.dropped]
    if refused_keys:
        for key in refused_keys:
            ctx.note("field-dropped", key, f"the model accepts no {key}")
        kept = {key: value for key, value in own.items() if key not in refused_keys}
        changes["extras"] = {**request.extras, target.name: kept}
    return replace(request, **changes) if changes else request


def _has_no_effect(field: str, value: object) -> bool:
    if isinstance(value, ToolChoice):
        return value.mode == "auto" and not value.names
    return isinstance(value, (bool, int)) and (field, value) in _WITHOUT_EFFECT


# --- what reasoning forbids -----------------------------------------------------------------------

_SAMPLING: Final = ("temperature", "top_p", "top_k")


def adapt_sampling(request: Request, ctx: Context) -> Request:
    """Remove sampling settings that the target does not allow while it reasons."""
    target, settings = ctx.surfaces[1], request.reasoning
    if not target.reasoning.bars_sampling or settings is None or not settings.enabled:
        return request
    changes: dict[str, Any] = {}
    for field in _SAMPLING:
        value = getattr(request, field)
        if value is not None:
            changes[field] = None
            words = f"{target.name} does not allow {field} while it reasons"
            usual = field == "temperature" and value == 1
            ctx.note("field-dropped", ctx.setting(field), words, "info" if usual else "lossy")
    return replace(request, **changes) if changes else request


def bound_temperature(request: Request, ctx: Context) -> Request:
    """A temperature that the target accepts."""
    allowed, value = ctx.surfaces[1].sampling.temperature, request.temperature
    if allowed is None or value is None or allowed[0] <= value <= allowed[1]:
        return request
    nearest = min(max(value, allowed[0]), allowed[1])
    words = f"the temperature is {nearest:g}: the model accepts {allowed[0]:g} to {allowed[1]:g}"
    ctx.note("value-mapped", ctx.setting("temperature"), words)
    return replace(request, temperature=nearest)


# --- structured output ----------------------------------------------------------------------------


def adapt_output(request: Request, ctx: Context) -> Request:
    """Request structured output in the form that the target supports."""
    output = request.output
    if output is None:
        return request
    _, target = ctx.surfaces
    path = ctx.setting("output")
    if output.kind not in target.outputs:
        severity: Severity | None = "info" if output.kind == "text" else None
        words = f"{target.name} does not support {output.kind} output"
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
                f"{target.name} has no {field} for a schema",
                "info",
            )
            output = replace(output, **{field: None})
    return output
