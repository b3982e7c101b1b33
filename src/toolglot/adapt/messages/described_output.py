"""Output in a form that the target cannot be asked for: a text asks for it."""

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import Message, OutputFormat, Part, Request, Text
from toolglot.schema.roots import is_object_root
from toolglot.wire import jsontext


def describe_output(request: Request, ctx: Context, why: str) -> Request:
    """The request with its output format in the system text, and JSON asked for where that can be.

    Nothing enforces it then, which the note says.
    """
    output = request.output
    if output is None or output.kind == "text":
        return request
    _, target = ctx.surfaces
    schema = output.schema
    asks_json = (
        output.kind == "schema"
        and "json" in target.outputs
        and (target.tools.outputs is None or "json" in target.tools.outputs or not request.tools)
        and (schema is None or is_object_root(schema))
    )
    ctx.note("output-described", ctx.setting("output"), why)
    text = "Your final answer is JSON and nothing else: no words around it and no code fences."
    if schema is not None:
        text += f" It conforms to this JSON Schema:\n{jsontext.text(schema)}"
    kept = OutputFormat(kind="json") if asks_json else None
    return _with_system(replace(request, output=kept), Text(text=text))


def _with_system(request: Request, text: Text) -> Request:
    first = request.messages[0] if request.messages else None
    if request.system is None and first is not None and first.role in ("system", "developer"):
        lead = replace(first, parts=_behind(first, text))
        return replace(request, messages=(lead, *request.messages[1:]))
    system = request.system or Message(role="system", parts=())
    return replace(request, system=replace(system, parts=_behind(system, text)))


def _behind(message: Message, text: Text) -> tuple[Part, ...]:
    """The parts of a message and one more text; joined to a lone one, which many servers want."""
    parts = message.parts
    if len(parts) == 1 and type(parts[0]) is Text and parts[0].cache is None:
        return (replace(parts[0], text=f"{parts[0].text}\n\n{text.text}"),)
    return (*parts, text)
