"""Lists of tools, which protocols decode and encode one tool at a time."""

from collections.abc import Callable
from typing import Any

from toolglot.context import Context
from toolglot.ir import Json, Tool
from toolglot.wire.fields import Fields, Home


def list_decoder(
    decode: Callable[[Fields], Tool], name: str, minor: frozenset[str]
) -> Callable[[list[Any], Context], tuple[Tool, ...]]:
    """What decodes the list of tools of a protocol, in a form that `tool_cache.recall` takes."""

    def decode_list(tools: list[Any], ctx: Context) -> tuple[Tool, ...]:
        fields = Fields({"tools": tools}, Home(ctx, name, minor))
        return tuple(map(decode, fields.each("tools")))

    return decode_list


def list_encoder(
    encode: Callable[[Tool, Context], Json | None],
) -> Callable[[tuple[Tool, ...], Context], list[Json]]:
    """The reverse; a tool that has no form is left out."""

    def encode_list(tools: tuple[Tool, ...], ctx: Context) -> list[Json]:
        return [wire for tool in tools if (wire := encode(tool, ctx)) is not None]

    return encode_list


def drop_tool(tool: Tool, ctx: Context) -> Json | None:
    """None: leave out a tool that has no form in the target, with a note."""
    ctx.note("tool-dropped", "tools", f"there is no {tool.__struct_config__.tag} tool here")
    return None
