"""Tools, calls and results as text, for a model without tools of its own.

Whatever is rendered reads back as the same call. A call that a dialect has no text for, because it
contains the dialect's own marks or has a name that would mean something else there, is an
`InexpressibleError`, never another call.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from msgspec import Struct

from toolglot.dialects import literals
from toolglot.dialects.reader import Tools
from toolglot.dialects.table import DIALECTS
from toolglot.dialects.text import parse_text
from toolglot.dialects.writers import JsonWriter, NamedWriter, Unwritable, WantedCall
from toolglot.errors import DecodeError, InexpressibleError
from toolglot.ir import Json
from toolglot.wire import jsontext
from toolglot.wire.parts import mark_error

_NAMES: Final = ("name", "tool_name")
_ARGUMENTS: Final = ("arguments", "input", "args", "parameters")
_SCHEMAS: Final = ("parameters", "input_schema", "inputSchema")
_CONTENTS: Final = ("text", "content", "output")
_RESULT_IDS: Final = ("tool_call_id", "tool_use_id", "call_id", "id")
_IDS: Final = ("id", "call_id", "tool_call_id")
_SAMPLE: Final = (("tool_name", "value"), ("another_tool", "other value"))
_INTRODUCTION: Final = (
    "# Tools\n\nYou can call tools. They are described by JSON Schema, one on each line:"
)
_ONE: Final = "To call a tool, write its name and its arguments exactly in this form:"
_MANY: Final = "To call several tools at once:"
_AFTER: Final = (
    "Then stop. The results come with the next message. Never make up a result, and write a call "
    "only if you mean it to be made."
)


class RenderedResult(Struct, frozen=True):
    """What a tool answered, to be written as text."""

    text: str
    name: str = ""
    id: str = ""
    is_error: bool = False


# --- tools ----------------------------------------------------------------------------------------


def render_tools(tools: Iterable[Any], dialect: str, *, parallel: bool = True) -> str:
    """Instructions with which a model can call these tools in this dialect."""
    DIALECTS.find(dialect)
    lines = [jsontext.spaced(_declaration(tool)) for tool in tools]
    if not lines:
        return ""
    pieces = [_INTRODUCTION, "\n".join(("<tools>", *lines, "</tools>"))]
    pieces += [_ONE, _sample(1, dialect)]
    if parallel:
        pieces += [_MANY, _sample(2, dialect)]
    return "\n\n".join((*pieces, _AFTER))


def _sample(count: int, dialect: str) -> str:
    calls = [{"name": name, "arguments": {"parameter": value}} for name, value in _SAMPLE[:count]]
    return render_calls(calls, dialect, [call["name"] for call in calls])


def _declaration(tool: Any) -> Json:
    """A tool as chat APIs declare it, from any of the shapes that clients write."""
    if isinstance(tool, str):
        return {"type": "function", "function": {"name": tool}}
    inner = tool.get("function") if isinstance(tool, Mapping) else None
    given = inner if isinstance(inner, Mapping) else tool
    members = {
        "name": _member(given, _NAMES),
        "description": _member(given, ("description",)),
        "parameters": _member(given, _SCHEMAS),
    }
    if not isinstance(members["name"], str):
        raise DecodeError("tools", "a tool has no name")
    return {"type": "function", "function": {key: each for key, each in members.items() if each}}


def _member(value: Any, names: tuple[str, ...]) -> Any:
    """What a mapping or an object has under the first of these names that it has."""
    get = value.get if isinstance(value, Mapping) else partial(_attribute, value)
    return next((found for name in names if (found := get(name)) is not None), None)


def _attribute(value: Any, name: str) -> Any:
    return getattr(value, name, None)


# --- calls ----------------------------------------------------------------------------------------


def render_calls(calls: Iterable[Any], dialect: str, tools: Iterable[Any] | None = None) -> str:
    """These calls as a model of this dialect would write them, to be read with the same tools."""
    writer = DIALECTS.find(dialect).writer
    declared = None if tools is None else list(tools)
    schemas = Tools(declared)
    wanted = [_wanted(call, index, dialect, schemas) for index, call in enumerate(calls)]
    if not wanted:
        return ""
    reason = f"its text would not be read as {'these calls' if wanted[1:] else 'this call'}"
    try:
        for text in writer.write(wanted):
            if _reads_back(text, wanted, dialect, declared):
                return text
    except Unwritable as failure:
        reason = str(failure)
    raise InexpressibleError(dialect, wanted[0].name, reason)


def _wanted(call: Any, index: int, dialect: str, tools: Tools) -> WantedCall:
    name, given, call_id = _members(call)
    text = given if isinstance(given, str) else jsontext.spaced(given)
    try:
        arguments = jsontext.exact(text or "{}")
    except ValueError:
        arguments = None
    if not isinstance(arguments, dict):
        raise InexpressibleError(dialect, name, "its arguments are no JSON object")
    return WantedCall(name, arguments, text or "{}", call_id, index, tools.schema(name))


def _members(call: Any) -> tuple[str, Any, str]:
    """Name, arguments and id of a call in any of the shapes that APIs have."""
    inner = call.get("function") if isinstance(call, Mapping) else None
    given = inner if isinstance(inner, Mapping) else call
    name = _member(given, _NAMES)
    if not isinstance(name, str):
        raise DecodeError("calls", "a call has no name")
    arguments = _member(given, _ARGUMENTS)
    return name, {} if arguments is None else arguments, str(_member(call, _IDS) or "")


def _reads_back(
    text: str, wanted: Sequence[WantedCall], dialect: str, tools: list[Any] | None
) -> bool:
    parsed = parse_text(text, tools, dialect)
    return (
        len(parsed.calls) == len(wanted)
        and not parsed.content.strip()
        and not parsed.reasoning
        and all(
            read.name == call.name and literals.same(jsontext.exact(read.arguments), call.arguments)
            for read, call in zip(parsed.calls, wanted, strict=True)
        )
    )


# --- results --------------------------------------------------------------------------------------


def render_result(result: Any, dialect: str) -> str:
    """A result as text of the user: a mapping, or anything with `text`, `name` and `id`."""
    template = DIALECTS.find(dialect).result
    given = _result(result)
    opener, closer = template.open.format(name=given.name), template.close.format()
    mark = template.mark or closer.strip()
    if template.raw and not (mark and mark in given.text):
        return opener + (mark_error(given.text) if given.is_error else given.text) + closer
    return opener + _result_object(given, dialect, mark) + closer


def _result_object(result: RenderedResult, dialect: str, mark: str) -> str:
    value: Json = {"id": result.id} if result.id and has_ids(dialect) else {}
    value |= {"name": result.name} if result.name else {}
    value["content"] = result.text
    value |= {"is_error": True} if result.is_error else {}
    # A result must not seem to end where its text quotes the end of one.
    return jsontext.spaced(value).replace(mark, f"\\u{ord(mark[0]):04x}{mark[1:]}")


def has_ids(dialect: str) -> bool:
    """Whether calls of a dialect carry ids."""
    writer = DIALECTS[dialect].writer
    if isinstance(writer, JsonWriter):
        return bool(writer.id)
    return isinstance(writer, NamedWriter) and "{id}" in writer.template


def _result(result: Any) -> RenderedResult:
    return RenderedResult(
        text=_text(_member(result, _CONTENTS)),
        name=str(_member(result, _NAMES) or ""),
        id=str(_member(result, _RESULT_IDS) or ""),
        is_error=bool(_member(result, ("is_error",))),
    )


def _text(content: Any) -> str:
    if content is None:
        return ""
    return content if isinstance(content, str) else jsontext.text(content)
