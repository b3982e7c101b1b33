"""Lists of tools, which protocols decode and encode one tool at a time."""

from collections.abc import Callable
from typing import Any

from toolglot.context import Context
from toolglot.ir import Json, Tool
from toolglot.wire.fields import Fields, WireDocument
from toolglot.wire.tool_cache import recall


def list_decoder(
    decode: Callable[[Fields], Tool], name: str, minor: frozenset[str]
) -> Callable[[Fields], tuple[Tool, ...]]:
    """What decodes the member `tools` of a request, one tool at a time."""

    def decode_list(tools: list[Any], ctx: Context) -> tuple[Tool, ...]:
        fields = Fields({"tools": tools}, WireDocument(ctx, name, minor))
        return tuple(map(decode, fields.each("tools")))

    def decode_tools(request: Fields) -> tuple[Tool, ...]:
        return recall(decode_list, request.maybe_list("tools") or [], request.document.ctx)

    return decode_tools


def list_encoder(
    encode: Callable[[Tool, Context], Json | None],
) -> Callable[[tuple[Tool, ...], Context], list[Json]]:
    """The reverse; a tool that has no form is left out."""

    def encode_list(tools: tuple[Tool, ...], ctx: Context) -> list[Json]:
        return [wire for tool in tools if (wire := encode(tool, ctx)) is not None]

    def encode_tools(tools: tuple[Tool, ...], ctx: Context) -> list[Json]:
        return recall(encode_list, tools, ctx)

    return encode_tools


def drop_tool(tool: Tool, ctx: Context) -> Json | None:
    """None: leave out a tool that has no form in the target, with a note."""
    ctx.note("tool-dropped", "tools", f"there is no {tool.__struct_config__.tag} tool here")
    return None
