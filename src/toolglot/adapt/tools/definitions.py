"""Tool definitions and tool choice."""

from operator import add, is_
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from toolglot.adapt.tools.hosted import accepts_own, searches_tools
from toolglot.context import Context
from toolglot.ir import (
    CustomTool,
    FunctionTool,
    Json,
    NamespaceTool,
    ProviderTool,
    ReasoningSettings,
    Request,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
)
from toolglot.schema.required import MARKERS, filter_required
from toolglot.schema.walk import schemas
from toolglot.surface import Surface
from toolglot.wire import jsontext
from toolglot.wire.tool_cache import by_text, recall

if TYPE_CHECKING:
    from toolglot.receipt import Severity


@by_text
def _filter_required(
    schema: Json,
    markers: tuple[str, ...],
    booleans: bool,  # noqa: FBT001 - a key of the cache
) -> tuple[Json, tuple[str, ...]]:
    return filter_required(schema, markers=markers, booleans=booleans)


EMPTY_SCHEMA: Final[Json] = {"type": "object", "properties": {}}


def adapt_tools(request: Request, ctx: Context) -> Request:
    """Convert every tool to a form that the target has; note those that have none."""
    tools = recall(_adapted, request.tools, ctx)
    return request if tools is request.tools else replace(request, tools=tools)


def _adapted(tools: tuple[Tool, ...], ctx: Context) -> tuple[Tool, ...]:
    if not tools:
        return tools
    source, target = ctx.surfaces
    placed = [
        (adapted, path)
        for index, tool in enumerate(tools)
        if (adapted := _adapt_tool(tool, path := ctx.tool_at(index), source, target, ctx))
    ]
    if len(placed) != len(tools):
        ctx.tool_paths = tuple(path for _, path in placed)
    if any(isinstance(tool, FunctionTool) and tool.deferred is not None for tool in tools):
        placed = _loaded(placed, target, ctx)
    silent = sum(isinstance(tool, FunctionTool) and tool.strict is None for tool in tools)
    if silent and target.tools.explicit_strict:
        ctx.note("strict-added", ctx.setting("tools"), f"{silent} of {len(tools)} left it out")
    return tuple(tool for tool, _ in placed)


def _loaded(
    placed: list[tuple[Tool, str]], target: Surface, ctx: Context
) -> list[tuple[Tool, str]]:
    """Tools that are declared at once, where no search would ever find those that wait for one."""
    if target.tools.defers and searches_tools([tool for tool, _ in placed], target):
        return placed
    loaded, source = list[tuple[Tool, str]](), ctx.surfaces[0]
    for each, path in placed:
        tool = each
        if isinstance(tool, FunctionTool) and tool.deferred is not None:
            if tool.deferred:
                where = f"{path}.{source.tools.member}defer_loading"
                ctx.note("field-minor", where, "nothing searches for tools; it is declared at once")
            tool = replace(tool, deferred=None)
        loaded.append((tool, path))
    return loaded


def describe_examples(tool: FunctionTool, path: str, ctx: Context) -> FunctionTool:
    """A tool whose examples are in its description."""
    examples = "\n".join(jsontext.encode(each).decode() for each in tool.examples)
    before = f"{tool.description}\n\n" if tool.description else ""
    ctx.note("examples-described", f"{path}.input_examples")
    described = f"{before}Examples of arguments:\n{examples}"
    return replace(tool, description=described, examples=())


def restrict_details(request: Request, ctx: Context) -> Request:
    """Functions without `strict` and without cache marks, where a provider accepts none."""
    _, target = ctx.surfaces
    tools = tuple(
        _bare(tool, ctx.tool_at(index), target, ctx) if isinstance(tool, FunctionTool) else tool
        for index, tool in enumerate(request.tools)
    )
    return request if all(map(is_, tools, request.tools)) else replace(request, tools=tools)


def require_schemas(request: Request, ctx: Context) -> Request:
    """Functions that take nothing, with a schema that says so, where a provider requires one."""
    if not ctx.surfaces[1].tools.needs_schema:
        return request
    tools = list(request.tools)
    for index, tool in enumerate(tools):
        if isinstance(tool, FunctionTool) and not tool.parameters:
            ctx.note("schema-default", ctx.tool_at(index))
            tools[index] = replace(tool, parameters=EMPTY_SCHEMA)
    return request if all(map(is_, tools, request.tools)) else replace(request, tools=tuple(tools))


def unify_strict(request: Request, ctx: Context) -> Request:
    """No strict functions where a provider wants all or none of them to be, and some are not."""
    if not ctx.surfaces[1].tools.same_strict:
        return request
    functions = [tool for tool in request.tools if isinstance(tool, FunctionTool)]
    if all(each.strict for each in functions) or not any(each.strict for each in functions):
        return request
    tools = list(request.tools)
    for index, tool in enumerate(tools):
        if isinstance(tool, FunctionTool) and tool.strict is not False:
            tools[index] = replace(tool, strict=False)
            if tool.strict:
                words = "all functions must be strict, or none"
                ctx.note("strict-dropped", f"{ctx.tool_at(index)}.strict", words)
    return replace(request, tools=tuple(tools))


def _bare(tool: FunctionTool, path: str, target: Surface, ctx: Context) -> FunctionTool:
    changes: dict[str, Any] = {}
    if tool.strict is not None and target.tools.strict_default is None:
        changes["strict"] = None
        severity: Severity | None = None if tool.strict else "info"
        source, _ = ctx.surfaces
        where = f"{path}.{source.tools.member}strict"
        ctx.note("field-dropped", where, f"{target.name} has no strict tools", severity)
    if tool.cache is not None and not target.cache.marks:
        changes["cache"] = None
        ctx.note("cache-dropped", path)
    return replace(tool, **changes) if changes else tool


def limit_strict(request: Request, ctx: Context) -> Request:
    """No more strict tools, and optional parameters and unions in them, than the target accepts."""
    _, target = ctx.surfaces
    most, limits = target.tools.most_strict, target.schema
    bounds = (most, limits.most_optional, limits.most_unions)
    if bounds == (None, None, None) or not any(map(_is_strict, request.tools)):
        return request
    tools, used = list(request.tools), (0, 0, 0)
    for index, tool in enumerate(tools):
        if not isinstance(tool, FunctionTool) or not tool.strict:
            continue
        inner = schemas(tool.parameters or {})
        more = (1, sum(map(_optional, inner)), sum(map(_unions, inner)))
        total = tuple(map(add, used, more))
        if all(bound is None or count <= bound for count, bound in zip(total, bounds, strict=True)):
            used = total
            continue
        words = (
            f"{target.name} accepts fewer strict tools, or fewer optional parameters or parameters "
            "of several types in them"
        )
        ctx.note("strict-dropped", f"{ctx.tool_at(index)}.strict", words)
        tools[index] = replace(tool, strict=False)
    return request if all(map(is_, tools, request.tools)) else replace(request, tools=tuple(tools))


def _is_strict(tool: Tool) -> bool:
    return isinstance(tool, FunctionTool) and bool(tool.strict)


def _optional(schema: Json) -> int:
    """How many properties of a schema need not be there."""
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict):
        return 0
    return sum(name not in (required if isinstance(required, list) else ()) for name in properties)


def _unions(schema: Json) -> int:
    """How many properties of a schema have one of several types."""
    properties = schema.get("properties")
    given = properties.values() if isinstance(properties, dict) else ()
    return sum(
        isinstance(each, dict) and ("anyOf" in each or isinstance(each.get("type"), list))
        for each in given
    )


def limit_tools(request: Request, ctx: Context) -> Request:
    """Declare no more tools than the target accepts: the first ones, and those that are chosen."""
    most, tools = ctx.surfaces[1].tools.most, request.tools
    if most is None or len(tools) <= most:
        return request
    chosen = request.tool_choice.names if request.tool_choice else ()
    order = sorted(range(len(tools)), key=lambda i: getattr(tools[i], "name", "") not in chosen)
    kept = sorted(order[:most])
    words = f"only {most} of {len(tools)} tools are declared: the provider accepts no more"
    ctx.note("tool-dropped", ctx.setting("tools"), words)
    ctx.tool_paths = tuple(ctx.tool_at(index) for index in kept)
    return replace(request, tools=tuple(tools[index] for index in kept))


def _adapt_tool(
    tool: Tool, path: str, source: Surface, target: Surface, ctx: Context
) -> Tool | None:
    if isinstance(tool, FunctionTool):
        return _adapt_function(tool, path, source, target, ctx)
    if _fits(tool, target):
        return tool
    name = tool.type if isinstance(tool, ProviderTool) else tool.name
    ctx.note("tool-dropped", path, f"{target.name} has no {_kind(tool)} tools: {name}")
    return None


def _fits(tool: CustomTool | NamespaceTool | ProviderTool, target: Surface) -> bool:
    if isinstance(tool, ProviderTool):
        return accepts_own(tool, target)
    return _kind(tool) in target.tools.kinds


def _kind(tool: Tool) -> str:
    return str(tool.__struct_config__.tag)


def _adapt_function(
    tool: FunctionTool, path: str, source: Surface, target: Surface, ctx: Context
) -> FunctionTool:
    options = ctx.options
    changes: dict[str, Any] = {}
    if tool.strict is None and target.tools.explicit_strict:
        changes["strict"] = False
    tool = _bare(tool, path, target, ctx)
    if tool.examples and not target.tools.examples:
        tool = describe_examples(tool, path, ctx)
    schema = tool.parameters
    if not schema:
        changes["parameters"] = EMPTY_SCHEMA
        ctx.note("schema-default", path)
    elif _wants_filter(tool, source, target, ctx):
        filtered, removed = _filter_required(
            schema,
            ctx,
            MARKERS if options.optional_markers is None else options.optional_markers,
            options.optional_booleans,
        )
        if removed:
            changes["parameters"] = filtered
            ctx.note("required-filtered", path, f"no longer required: {', '.join(removed)}")
    return replace(tool, **changes) if changes else tool


def _wants_filter(tool: FunctionTool, source: Surface, target: Surface, ctx: Context) -> bool:
    return (
        ctx.options.filter_required
        and source.tools.lists_all_required
        and target.tools.wants_true_required
        and tool.strict is not True
    )


def adapt_choice(request: Request, ctx: Context) -> Request:
    """Express which tools may be called in the form that the target supports."""
    choice = request.tool_choice
    _, target = ctx.surfaces
    if choice is None:
        if request.parallel_tool_calls is None or request.tools:
            return request
        ctx.note("field-dropped", ctx.setting("parallel_tool_calls"), "there are no tools", "info")
        return replace(request, parallel_tool_calls=None)
    path = ctx.setting("tool_choice")
    if not request.tools:
        ctx.note("field-dropped", path, "there are no tools to choose from", "info")
        return replace(request, tool_choice=None, parallel_tool_calls=None)
    adapted = choice if _is_own(choice, request, target) else _narrowed(choice, target, path, ctx)
    if adapted.mode in ("required", "tool") and target.tools.choices.isdisjoint(
        {adapted.mode, f"allowed.{adapted.mode}"}
    ):
        ctx.note("choice-mapped", path, f"{target.name} accepts no {adapted.mode} here; auto")
        adapted = ToolChoice(mode="auto")
    if adapted.mode in ("required", "tool") and _bars_force(request, target):
        if "switch" in target.reasoning.controls and _is_silent(request.reasoning):
            words = "it is off, since the model forces no tool while it reasons"
            ctx.note("default-added", ctx.setting("reasoning"), words)
            request = replace(request, reasoning=ReasoningSettings(enabled=False))
        else:
            ctx.note("choice-mapped", path, f"{target.name} forces no tool while it reasons; auto")
            adapted = ToolChoice(mode="auto")
    if adapted.mode == "none" and "none" not in target.tools.choices:
        request = _without_tools(request, path, ctx)
        if request.tool_choice is None:
            return request
    if adapted.mode == "none" and request.parallel_tool_calls is not None:
        ctx.note("field-minor", ctx.setting("parallel_tool_calls"), "no tool is called at all")
        request = replace(request, parallel_tool_calls=None)
    return request if adapted is choice else replace(request, tool_choice=adapted)


def _without_tools(request: Request, path: str, ctx: Context) -> Request:
    """No tool may be called, and the target cannot say so: none is declared, if that can be."""
    target, called = ctx.surfaces[1], _has_calls(request)
    if called and target.tools.needed_by_history:
        words = f"{target.name} cannot forbid calls, and those before need their tools; auto"
        ctx.note("choice-mapped", path, words)
        return replace(request, tool_choice=None, parallel_tool_calls=None)
    if called:
        return request
    words = "a tool cannot be forbidden here, so none is declared"
    ctx.note("choice-mapped", path, words, "info")
    ctx.note("tool-dropped", ctx.setting("tools"), words, "info")
    return replace(request, tools=(), tool_choice=None, parallel_tool_calls=None)


def _has_calls(request: Request) -> bool:
    return any(
        isinstance(part, (ToolCall, ToolResult))
        for message in request.messages
        for part in message.parts
    )


def declare_called_tools(request: Request, ctx: Context) -> Request:
    """The tools that were called before, for a target that takes no calls of undeclared ones."""
    if request.tools or not ctx.surfaces[1].tools.needed_by_history or not _has_calls(request):
        return request
    names = dict.fromkeys(
        part.name
        for message in request.messages
        for part in message.parts
        if isinstance(part, ToolCall)
    )
    words = "calls before need their tools, which the request does not declare"
    ctx.note("default-added", ctx.setting("tools"), words)
    tools = tuple(
        FunctionTool(name=name, parameters=EMPTY_SCHEMA) for name in names or ("unknown",)
    )
    return replace(request, tools=tools)


def _bars_force(request: Request, target: Surface) -> bool:
    settings = request.reasoning or ReasoningSettings()
    is_off = settings.enabled is False or settings.effort == "none"
    return {
        "never": False,
        "with_budget": settings.budget is not None and not (is_off or settings.adaptive),
        "when_on": settings.enabled is True or (settings.effort is not None and not is_off),
        "unless_off": not is_off,
    }[target.reasoning.bars_forced_tools]


def _is_silent(settings: ReasoningSettings | None) -> bool:
    """Whether nothing was asked of reasoning that turning it off would go against."""
    asked = settings is not None and (settings.enabled, settings.effort, settings.budget)
    return not asked or asked == (None, None, None)


def _is_own(choice: ToolChoice, request: Request, target: Surface) -> bool:
    """Whether a declared tool of the target's own is chosen."""
    return choice.kind == "provider" and any(
        isinstance(tool, ProviderTool)
        and tool.protocol == target.name
        and tool.type in choice.names
        for tool in request.tools
    )


def _narrowed(choice: ToolChoice, target: Surface, path: str, ctx: Context) -> ToolChoice:
    if choice.mode == "tool":
        if "tool" not in target.tools.choices:
            words = f"no single tool can be required: any one, not {', '.join(choice.names)}"
            ctx.note("choice-mapped", path, words)
            return ToolChoice(mode="required")
        if choice.kind in target.tools.kinds or choice.kind == "function":
            return choice
        ctx.note("choice-mapped", path, f"{target.name} cannot require a {choice.kind} tool")
        return ToolChoice(mode="required")
    if choice.names and target.tools.choices.isdisjoint({"allowed", f"allowed.{choice.mode}"}):
        if len(choice.names) == 1 and choice.mode == "required" and "tool" in target.tools.choices:
            return ToolChoice(mode="tool", names=choice.names)
        ctx.note(
            "choice-mapped",
            path,
            f"{target.name} cannot narrow the tools to {', '.join(choice.names)}",
        )
        return ToolChoice(mode=choice.mode)
    return choice
