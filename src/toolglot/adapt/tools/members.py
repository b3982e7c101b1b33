"""Members of a tool that only its own protocol has, where a provider of it accepts fewer."""

from operator import is_

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import FunctionTool, Request, Tool


def restrict_members(request: Request, ctx: Context) -> Request:
    """Remove what a provider does not accept beside name, description and schema."""
    _, target = ctx.surfaces
    accepted = target.tools.members
    if accepted is None:
        return request
    tools = tuple(
        _bare(tool, ctx.tool_at(index), accepted, ctx) if isinstance(tool, FunctionTool) else tool
        for index, tool in enumerate(request.tools)
    )
    return request if all(map(is_, tools, request.tools)) else replace(request, tools=tools)


def _bare(tool: FunctionTool, path: str, accepted: frozenset[str], ctx: Context) -> Tool:
    name = ctx.surfaces[1].name
    own = tool.extras.get(name, {})
    refused = [key for key in own if key not in accepted and key != "type"]
    if not refused:
        return tool
    for key in refused:
        ctx.note("field-dropped", f"{path}.{key}", f"the provider accepts no {key} of a tool")
    kept = {key: value for key, value in own.items() if key not in refused}
    return replace(tool, extras={**tool.extras, name: kept})
