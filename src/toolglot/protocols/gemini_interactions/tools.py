"""Tools and tool choice of Gemini Interactions, both ways."""

from typing import Any, Final, Literal

from toolglot.context import Context
from toolglot.ir import FunctionTool, Json, ProviderTool, Tool, ToolChoice
from toolglot.protocols.gemini_interactions.parts import variants_of, with_variants
from toolglot.protocols.gemini_interactions.surface import NAME, SURFACE
from toolglot.wire.fields import Fields, merge
from toolglot.wire.tool_lists import drop_tool, list_decoder, list_encoder

_CHOICE: Final[dict[str, Literal["auto", "required", "none"]]] = {
    "auto": "auto",
    "validated": "auto",
    "any": "required",
    "none": "none",
}
_CHOICE_FROM: Final = {"auto": "auto", "required": "any", "none": "none", "tool": "any"}

# --- tools ----------------------------------------------------------------------------------------


def _decode_tool(fields: Fields) -> Tool:
    if fields.peek("type") != "function":
        whole = fields.whole()
        return ProviderTool(protocol=NAME, type=fields.text("type"), value=whole)
    fields.constant("type", "function")
    return FunctionTool(
        name=fields.text("name"),
        description=fields.maybe_text("description"),
        parameters=fields.maybe_object("parameters"),
        extras=fields.rest(),
    )


def _encode_tool(tool: Tool, ctx: Context) -> Json | None:
    if isinstance(tool, ProviderTool) and tool.protocol == NAME:
        return tool.value
    if not isinstance(tool, FunctionTool):
        return drop_tool(tool, ctx)
    wire: Json = {"type": "function", "name": tool.name}
    if tool.description is not None:
        wire["description"] = tool.description
    if tool.parameters is not None:
        wire["parameters"] = tool.parameters
    return merge(wire, tool.extras, NAME)


decode_tools: Final = list_decoder(_decode_tool, NAME, SURFACE.minor)
encode_tools: Final = list_encoder(_encode_tool)

# --- tool choice ----------------------------------------------------------------------------------


def decode_choice(config: Fields) -> ToolChoice | None:
    """Which tools may or must be called; what is unknown stays among the rest."""
    value = config.peek("tool_choice")
    if type(value) is str and value in _CHOICE:
        config.text("tool_choice")
        _note_validated(config, value, "tool_choice")
        choice = ToolChoice(mode=_CHOICE[value])
        return choice if encode_choice(choice) == value else _respelled(choice, value)
    allowed = value.get("allowed_tools") if isinstance(value, dict) else None
    mode = allowed.get("mode", "auto") if isinstance(allowed, dict) else None
    if type(mode) is not str or mode not in _CHOICE:
        return None
    outer = config.fields("tool_choice")
    inner = outer.fields("allowed_tools")
    _note_validated(inner, mode, "mode")
    choice = _decode_allowed(inner, mode)
    outer.absorb(inner)
    rest = outer.rest()
    return (
        choice
        if not rest
        else ToolChoice(mode=choice.mode, names=choice.names, extras={**choice.extras, **rest})
    )


def _decode_allowed(inner: Fields, mode: str) -> ToolChoice:
    given = inner.take("mode")
    names = inner.maybe_texts("tools") or ()
    meant = _CHOICE[mode]
    single = meant == "required" and len(names) == 1
    choice = ToolChoice(mode="tool" if single else meant, names=names)
    if names and _mode_word(choice) == given:
        return choice
    variants: Json = {"mode": given, "listed": True}
    return ToolChoice(mode=choice.mode, names=names, extras=with_variants({}, variants))


def _respelled(choice: ToolChoice, word: str) -> ToolChoice:
    return ToolChoice(mode=choice.mode, extras=with_variants({}, {"mode": word}))


def _note_validated(fields: Fields, mode: str, key: str) -> None:
    if mode == "validated" and not fields.document.ctx.in_protocol:
        fields.note("choice-mapped", key, "that calls match their schemas is not promised")


def encode_choice(choice: ToolChoice) -> Any:
    """The reverse: a word where no tool is named."""
    variants = variants_of(choice)
    word = variants["mode"] if "mode" in variants else _mode_word(choice)
    if not choice.names and "listed" not in variants and NAME not in choice.extras:
        return word
    allowed: Json = {} if word is None else {"mode": word}
    if choice.names:
        allowed["tools"] = list(choice.names)
    return merge({"allowed_tools": allowed}, choice.extras, NAME)


def _mode_word(choice: ToolChoice) -> str:
    # As in `generateContent`, `auto` says nothing beside names; `validated` is the same with them.
    return "validated" if choice.mode == "auto" and choice.names else _CHOICE_FROM[choice.mode]
