"""What a request or response says, as a list of facts with the path of each, to see which
survive.
"""

import base64
import json
from collections.abc import Iterable, Iterator
from typing import Any

from toolglot import ir
from toolglot.context import Context
from toolglot.receipt import Note
from toolglot.surface import Surface

Fact = tuple[str, tuple[Any, ...]]
"""A path in the source and what is said there."""

_SETTINGS = tuple(
    field
    for field in ir.Request.__struct_fields__
    if field
    not in {
        "model",
        "messages",
        "system",
        "tools",
        "extras",
        "wire_form",
        "answer_form",
        "reasoning",
        "output",
        "tool_choice",
    }
)


def request_facts(request: ir.Request, ctx: Context) -> Iterator[Fact]:
    """Everything that a request says."""
    surface = ctx.source
    assert surface is not None
    yield "model", ("model", request.model)
    for field in _SETTINGS:
        value = getattr(request, field)
        if value is not None:
            yield surface.settings.get(field, field), (field, _plain(value))
    yield from _nested(request, surface)
    for index, tool in enumerate(request.tools):
        yield from _tool(tool, ctx.tool_at(index), surface.tools.member)
    if request.system is not None:
        for part in request.system.parts:
            yield from _part(part, surface.system.slot or "system")
    for index, message in enumerate(request.messages):
        for place, part in enumerate(message.parts):
            yield from _part(part, ctx.at_part(index, message, place), ctx.at(index))
    yield from leftovers(ctx)


def leftovers(ctx: Context) -> Iterator[Fact]:
    """What only the source's own protocol understands, without what goes without saying there."""
    implied = ctx.source.implied if ctx.source is not None else {}
    for where, _minor, rest in ctx._left:
        for key, value in rest.items():
            if value is not None and value not in ({}, []) and implied.get(key) != value:
                yield where.path(key), ("extra", key, _plain(value))


def _nested(request: ir.Request, surface: Surface) -> Iterator[Fact]:
    choice, reasoning, output = request.tool_choice, request.reasoning, request.output
    if choice is not None:
        yield surface.settings["tool_choice"], ("choice", choice.mode, choice.names)
    if reasoning is not None:
        for field in ("enabled", "adaptive", "effort", "budget", "show", "summary"):
            value = getattr(reasoning, field)
            if value is not None:
                yield surface.settings["reasoning"], ("reasoning", field, value)
    if output is not None:
        yield surface.settings["output"], ("output", output.kind, _plain(output.schema))


def _tool(tool: ir.Tool, path: str, member: str) -> Iterator[Fact]:
    if not isinstance(tool, ir.FunctionTool):
        yield path, ("tool", _plain(tool.value) if isinstance(tool, ir.ProviderTool) else tool.name)
        return
    yield path, ("tool", tool.name)
    yield path, ("description", tool.name, tool.description)
    yield path, ("parameters", tool.name, _plain(tool.parameters))
    yield f"{path}.{member}strict", ("strict", tool.name, bool(tool.strict))
    if tool.cache is not None:
        yield path, ("tool cache", tool.name)


def _part(part: ir.Part, path: str, message: str = "") -> Iterator[Fact]:
    if isinstance(part, ir.Text):
        yield path, ("text", part.text)
        for citation in part.citations:
            yield path, ("citation", citation.url, citation.title)
    elif isinstance(part, (ir.Image, ir.Document, ir.Audio)):
        yield path, ("media", _source(part.source))
    elif isinstance(part, ir.ToolCall):
        yield path, ("call", part.name, json_value(part.arguments))
        if not part.id_made:
            yield path, ("call id", part.id)
    elif isinstance(part, ir.ToolResult):
        if not part.id_made:
            yield path, ("result id", part.id)
        if part.is_error:
            yield path, ("error", "".join(p.text for p in part.parts if isinstance(p, ir.Text)))
        for inner in part.parts:
            yield from _part(inner, path, message)
    elif isinstance(part, ir.Reasoning):
        yield path, ("reasoning", part.text, part.summary, part.signature)
    elif isinstance(part, ir.Refusal):
        yield path, ("text", part.text)
    else:
        yield path, ("opaque", part.protocol, _plain(part.value))
    if getattr(part, "cache", None) is not None:
        yield path, ("cache", getattr(part, "text", "") or getattr(part, "id", path))


def _source(source: ir.Source) -> str:
    """What a medium is, however it is given."""
    if isinstance(source, ir.Inline):
        return source.data
    if isinstance(source, ir.PlainText):
        return base64.b64encode(source.text.encode()).decode()
    return source.url if isinstance(source, ir.Remote) else source.id


def response_facts(response: ir.Response, ctx: Context) -> Iterator[Fact]:
    """Everything that a response says."""
    yield "model", ("model", response.model)
    for choice in response.choices:
        for place, part in enumerate(choice.parts):
            yield from _part(part, f"{ctx.source.messages.content if ctx.source else ''}[{place}]")
        if choice.stop is not None:
            yield "stop", ("stop", choice.stop.kind)
    if response.usage is not None:
        for field in ("input", "cache_read", "cache_write", "output", "reasoning"):
            value = getattr(response.usage, field)
            if value:
                yield f"usage.{field}", ("usage", field, value)


def lost(before: Iterable[Fact], after: Iterable[Fact]) -> list[Fact]:
    """The facts that did not survive; texts may have been joined."""
    kept = [fact for _, fact in after]
    text = "\n".join(str(fact[1]) for fact in kept if fact[0] == "text")
    return [
        (path, fact)
        for path, fact in before
        if fact not in kept and not (fact[0] == "text" and str(fact[1]) in text)
    ]


WAY_BACK = {
    "reasoning-dropped": {"reasoning"},
    "part-dropped": {"media", "opaque", "text"},
    "part-replaced": {"media", "text"},
    "part-moved": {"error"},
    "default-added": {"error"},
    "text-joined": {"reasoning"},
    "cache-dropped": {"cache"},
    "citation-dropped": {"citation"},
    "name-aliased": {"call"},
    "id-aliased": {"call id", "result id"},
}
"""Notes of the way back speak of places in the other protocol; by code, the facts that they can
explain.
"""


def is_named(path: str, fact: tuple[Any, ...], notes: Iterable[Note], messages: str) -> bool:
    """Whether a note speaks of this path, of something in it, or of what it is in."""
    for note in notes:
        if note.path == f"{messages}[*]":
            if path.startswith(messages) and fact[0] in WAY_BACK.get(note.code, ()):
                return True
        elif note.path == messages:
            if path.startswith(messages) and note.code == "id-dropped" and fact[0].endswith(" id"):
                return True
        elif (
            note.path == path
            or path.startswith((f"{note.path}.", f"{note.path}["))
            or note.path.startswith((f"{path}.", f"{path}["))
        ):
            return True
    return False


def _within(inner: str, outer: str) -> bool:
    return inner.startswith((f"{outer}.", f"{outer}["))


def json_value(text: str) -> Any:
    """The value of arguments, or their text."""
    try:
        return _plain(json.loads(text or "{}"))
    except ValueError:
        return text


def _plain(value: Any) -> Any:
    return (
        json.dumps(value, sort_keys=True, default=repr)
        if isinstance(value, (dict, list, tuple))
        else (value if isinstance(value, (str, int, float, bool, type(None))) else repr(value))
    )
