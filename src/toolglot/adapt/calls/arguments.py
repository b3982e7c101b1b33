"""Calls: arguments that are one JSON text, and made-up ids that look like the target's own."""

from typing import Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import ToolCall
from toolglot.surface import Surface
from toolglot.wire import jsontext

_PREFIX: Final = "call_"
"""How decoders begin the ids that they make up."""


def made_id(call: ToolCall, target: Surface) -> str:
    """The id of a call; one that had to be made up begins as the ids of the target do."""
    if not call.id_made or not call.id.startswith(_PREFIX):
        return call.id
    return target.call_prefix + call.id.removeprefix(_PREFIX)


def normalise(call: ToolCall, path: str, ctx: Context) -> ToolCall:
    """A call whose arguments are one JSON text."""
    if call.kind != "function":
        return call
    text = call.arguments
    if text[:1] == "{":
        return call
    stripped = text.strip()
    if stripped in ("", "null"):
        ctx.note("arguments-normalised", path, f"{call.name} has no arguments: {{}}")
        return replace(call, arguments="{}")
    if stripped[0] == '"':
        inner = _unquoted(stripped)
        if inner is not None:
            ctx.note(
                "arguments-normalised", path, f"the arguments of {call.name} were encoded twice"
            )
            return replace(call, arguments=inner)
    return call


def _unquoted(text: str) -> str | None:
    """The JSON object inside a JSON string, if that is what it is."""
    try:
        inner = jsontext.peek(text)
        if (
            isinstance(inner, str)
            and inner.lstrip()[:1] == "{"
            and isinstance(jsontext.peek(inner), dict)
        ):
            return inner
    except ValueError:
        pass
    return None
