"""Tools and tool choice of Anthropic Messages, both ways."""

from typing import Any, Final, cast

from toolglot.context import Context
from toolglot.ir import FunctionTool, Json, ProviderTool, Request, Tool, ToolChoice
from toolglot.protocols.anthropic.parts import decode_cache, finish
from toolglot.protocols.anthropic.surface import NAME, SURFACE
from toolglot.wire.fields import Fields, merge
from toolglot.wire.tool_lists import drop_tool, list_decoder, list_encoder

_CHOICE: Final = {"auto": "auto", "any": "required", "none": "none", "tool": "tool"}
_CHOICE_FROM: Final = {mode: word for word, mode in _CHOICE.items()}

# --- tools ----------------------------------------------------------------------------------------


def _decode_tool(fields: Fields) -> Tool:
    kind = fields.peek("type")
    if kind is not None and kind != "custom":
        whole = fields.whole()
        return ProviderTool(protocol=NAME, type=fields.text("type"), value=whole)
    return FunctionTool(
        name=fields.text("name"),
        description=fields.maybe_text("description"),
        parameters=fields.maybe_object("input_schema"),
        strict=fields.maybe_bool("strict"),
        examples=_decode_examples(fields),
        deferred=fields.maybe_bool("defer_loading"),
        cache=decode_cache(fields),
        extras=fields.rest(),
    )


def _decode_examples(fields: Fields) -> tuple[Json, ...]:
    given = fields.peek("input_examples")
    if not given or not isinstance(given, list) or not all(type(each) is dict for each in given):
        return ()
    return tuple(fields.take("input_examples"))


def _encode_tool(tool: Tool, ctx: Context) -> Json | None:
    if isinstance(tool, ProviderTool) and tool.protocol == NAME:
        return tool.value
    if not isinstance(tool, FunctionTool):
        return drop_tool(tool, ctx)
    wire: Json = {"name": tool.name}
    if tool.description is not None:
        wire["description"] = tool.description
    if tool.parameters is not None:
        wire["input_schema"] = tool.parameters
    if tool.strict is not None:
        wire["strict"] = tool.strict
    if tool.examples:
        wire["input_examples"] = list(tool.examples)
    if tool.deferred is not None:
        wire["defer_loading"] = tool.deferred
    return finish(wire, tool)


decode_tools: Final = list_decoder(_decode_tool, NAME, SURFACE.minor)
encode_tools: Final = list_encoder(_encode_tool)

# --- tool choice ---------------------------------------------------------------------------------


def decode_choice(fields: Fields) -> tuple[ToolChoice | None, bool | None]:
    """The tool choice, and whether several calls may be made at once."""
    choice = fields.maybe_fields("tool_choice")
    if choice is None:
        return None, None
    word = choice.text("type")
    mode = _CHOICE.get(word)
    if mode is None:
        choice.fail("type", f"expected one of {', '.join(_CHOICE)}, got {word!r}")
    names = (choice.text("name"),) if mode == "tool" else ()
    single = choice.maybe_bool("disable_parallel_tool_use") if mode != "none" else None
    return (
        ToolChoice(mode=cast("Any", mode), names=names, extras=choice.rest()),
        None if single is None else not single,
    )


def encode_choice(body: Json, request: Request) -> None:
    """The reverse, into the body of a request."""
    choice, parallel = request.tool_choice, request.parallel_tool_calls
    if choice is None:
        if parallel is None:
            return
        choice = ToolChoice(mode="auto")
    wire: Json = {"type": _CHOICE_FROM[choice.mode]}
    if choice.mode == "tool" and choice.names:
        wire["name"] = choice.names[0]
    if parallel is not None and choice.mode != "none":
        wire["disable_parallel_tool_use"] = not parallel
    body["tool_choice"] = merge(wire, choice.extras, NAME)
