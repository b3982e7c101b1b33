"""Tools of Ollama, both ways. It has no tool choice."""

from typing import Final

from toolglot.context import Context
from toolglot.ir import FunctionTool, Json, ProviderTool, Tool
from toolglot.protocols.ollama.surface import NAME, SURFACE
from toolglot.wire.fields import Fields, merge
from toolglot.wire.tool_lists import drop_tool, list_decoder, list_encoder


def _decode_tool(fields: Fields) -> Tool:
    kind = fields.peek("type")
    if kind is not None and kind != "function":
        whole = fields.whole()
        return ProviderTool(protocol=NAME, type=fields.text("type"), value=whole)
    if kind is None:
        fields.note("spelling-normalised", "type")
    if "type" in fields:
        fields.constant("type", kind)
    function = fields.fields("function")
    name = function.text("name")
    description = function.maybe_text("description")
    parameters = function.maybe_object("parameters")
    fields.absorb(function)
    return FunctionTool(
        name=name, description=description, parameters=parameters, extras=fields.rest()
    )


def _encode_tool(tool: Tool, ctx: Context) -> Json | None:
    if isinstance(tool, ProviderTool) and tool.protocol == NAME:
        return tool.value
    if not isinstance(tool, FunctionTool):
        return drop_tool(tool, ctx)
    function: Json = {"name": tool.name}
    if tool.description is not None:
        function["description"] = tool.description
    if tool.parameters is not None:
        function["parameters"] = tool.parameters
    return merge({"type": "function", "function": function}, tool.extras, NAME)


decode_tools: Final = list_decoder(_decode_tool, NAME, SURFACE.minor)
encode_tools: Final = list_encoder(_encode_tool)
