"""Arguments of calls: one JSON text each."""

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import ToolCall
from toolglot.wire import jsontext


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
