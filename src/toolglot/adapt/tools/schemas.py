"""Schemas as the target takes them; arguments come back as the client declared them.

The target's surface says what its schemas may be: any JSON Schema or a dialect of it, another
one where `strict` is asked for, which formats it knows. A tool's schema that is rewritten may
differ in its arguments (`"2"` for 2, null for what is not there); that is undone in the answer
and done in the history. Tools whose arguments do not differ are left to stream as they come.
"""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import FunctionTool, Json, Message, OutputFormat, Request, Tool, ToolCall
from toolglot.schema.cache import by_text
from toolglot.schema.convert import WRAPPED, Plan, Texts
from toolglot.schema.formats import drop_formats
from toolglot.schema.merge import References
from toolglot.schema.narrow import Narrowed, narrow
from toolglot.schema.openapi import from_openapi
from toolglot.schema.roots import is_object_root, object_root
from toolglot.schema.subsets import DIALECTS
from toolglot.surface import Surface
from toolglot.undo import Step
from toolglot.wire.tool_cache import recall


def narrow_schemas(request: Request, ctx: Context) -> Request:
    """Write schemas of tools and of output in the words that the target understands."""
    if not request.tools and (request.output is None or request.output.schema is None):
        return request
    told = recall(_tell_tools, request.tools, ctx)
    if told is ctx.known:
        ctx.known = told.tools
    changes: dict[str, Any] = {}
    if told.tools is not request.tools:
        changes["tools"] = told.tools
    for name, texts in told.texts.items():
        ctx.undo.tool(name, Step(name=name, arguments=texts.widen))
    output = request.output
    if output is not None and output.schema is not None:
        other = _Schemas(ctx).output(output, output.schema)
        if other is not output:
            changes["output"] = other
    if told.texts:
        changes["messages"] = tuple(_message(each, told.texts) for each in request.messages)
    return replace(request, **changes) if changes else request


class _Tools(Struct, frozen=True):
    """Tools for the target, and how the arguments of some of them are told."""

    tools: tuple[Tool, ...]
    texts: dict[str, Texts]


def _tell_tools(tools: tuple[Tool, ...], ctx: Context) -> _Tools:
    work = _Schemas(ctx)
    told = tuple(
        work.tool(tool, index) if isinstance(tool, FunctionTool) and tool.parameters else tool
        for index, tool in enumerate(tools)
    )
    return _Tools(told if _differ(told, tools) else tools, work.texts)


def _differ(new: tuple[Tool, ...], old: tuple[Tool, ...]) -> bool:
    return any(one is not two for one, two in zip(new, old, strict=True))


class _Told(Struct, frozen=True):
    """A schema for the target, and how arguments differ."""

    schema: Json
    plan: Plan | None = None


class _Schemas:
    __slots__ = ("_ctx", "_dialect", "_source", "_target", "texts")

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._source, self._target = ctx.surfaces
        self._dialect = ctx.options.schema_dialect or self._target.schema
        self.texts: dict[str, Texts] = {}
        """By tool, how arguments in the history are told."""

    # --- tools -----------------------------------------------------------------------------------

    def tool(self, tool: FunctionTool, index: int) -> FunctionTool:
        schema = self._read(tool.parameters or {}, index)
        told = self._strict(schema, index) if tool.strict else None
        strict = tool.strict and told is not None
        if told is None:
            told = self._told(schema, index)
        if told.plan is not None:
            self.texts[tool.name] = Texts(told.plan)
        if strict is tool.strict and told.schema is tool.parameters:
            return tool
        return replace(tool, parameters=told.schema, strict=strict)

    def _read(self, schema: Json, index: int) -> Json:
        if not self._source.openapi_schemas:
            return schema
        read = from_openapi(schema)
        if read is not schema:
            self._ctx.note("schema-narrowed", self._ctx.tool_at(index), "OpenAPI as JSON Schema")
        return read

    def _strict(self, schema: Json, index: int) -> _Told | None:
        """The schema for a strict tool; None if there is none."""
        if not self._target.strict_schema:
            return _Told(schema)
        path = self._ctx.tool_at(index)
        narrowed = narrow(schema, DIALECTS[self._target.strict_schema])
        if narrowed is None:
            words = f"{self._target.name} cannot be strict about this schema"
            self._ctx.note("strict-dropped", f"{path}.strict", words)
            return None
        self._note(narrowed, path)
        return _Told(narrowed.schema, narrowed.plan)

    def _told(self, schema: Json, index: int) -> _Told:
        target = self._target
        if not self._dialect and _is_plain(schema, target.schema_formats, target.object_schemas):
            return _Told(schema)
        path = self._ctx.tool_at(index)
        if self._dialect:
            narrowed = narrow(schema, DIALECTS[self._dialect])
            if narrowed is not None:
                self._note(narrowed, path)
                return _Told(narrowed.schema, narrowed.plan)
            self._ctx.note("schema-refused", path)
        told = _Told(schema)
        if target.object_schemas and not is_object_root(schema):
            told = self._rooted(schema, path)
        return _Told(self._known_formats(told.schema, path), told.plan)

    def _rooted(self, schema: Json, path: str) -> _Told:
        root = object_root(schema, References(schema))
        words = f"an object at the top: {', '.join(root.rewritten)}"
        self._ctx.note("schema-loosened" if root.lossy else "schema-narrowed", path, words)
        if not root.wrapped:
            return _Told(root.schema)
        plan = Plan()
        plan.wrap = True
        plan.order = (WRAPPED,)
        return _Told(root.schema, plan.done())

    def _known_formats(self, schema: Json, path: str) -> Json:
        known = self._target.schema_formats
        if known is None:
            return schema
        schema, dropped = drop_formats(schema, known)
        if dropped:
            self._ctx.note(
                "format-dropped", path, f"{self._target.name} has no {', '.join(dropped)}"
            )
        return schema

    def _note(self, narrowed: Narrowed, path: str) -> None:
        if narrowed.rewritten:
            self._ctx.note(
                "schema-narrowed", path, f"said otherwise: {', '.join(narrowed.rewritten)}"
            )
        if narrowed.dropped:
            code = "schema-loosened" if narrowed.lossy else "schema-narrowed"
            self._ctx.note(code, path, f"not said: {', '.join(narrowed.dropped)}")

    # --- output ----------------------------------------------------------------------------------

    def output(self, output: OutputFormat, schema: Json) -> OutputFormat:
        """Structured output. It reaches the client as it comes, so nothing may differ in it."""
        path, target = self._ctx.setting("output"), self._target
        read = from_openapi(schema) if self._source.openapi_schemas else schema
        if read is not schema:
            self._ctx.note("schema-narrowed", path, "OpenAPI as JSON Schema")
        strict = output.strict
        dialect = _output_dialect(target, self._ctx.options.schema_dialect, strict=bool(strict))
        told = read
        if dialect:
            narrowed = narrow(read, DIALECTS[dialect], tool=False)
            if narrowed is not None:
                self._note(narrowed, path)
                told = narrowed.schema
            elif strict and "output_strict" in target.settings:
                strict = False
                words = f"{target.name} cannot be strict about this schema"
                self._ctx.note("strict-dropped", path, words)
            else:
                self._ctx.note("schema-refused", path)
        if told is schema and strict is output.strict:
            return output
        return replace(output, schema=told, strict=strict)


@by_text
def _is_plain(schema: Json, known: frozenset[str] | None, rooted: bool) -> bool:  # noqa: FBT001
    """Whether a target without a dialect takes a schema as it is."""
    if rooted and not is_object_root(schema):
        return False
    return known is None or drop_formats(schema, known)[0] is schema


def _output_dialect(target: Surface, chosen: str | None, *, strict: bool) -> str:
    return chosen or (target.strict_schema if strict else "") or target.output_schema


# --- history -------------------------------------------------------------------------------------


def _message(message: Message, texts: dict[str, Texts]) -> Message:
    if not any(isinstance(part, ToolCall) and part.name in texts for part in message.parts):
        return message
    return replace(
        message,
        parts=tuple(
            replace(part, arguments=texts[part.name].send(part.arguments))
            if isinstance(part, ToolCall) and part.kind == "function" and part.name in texts
            else part
            for part in message.parts
        ),
    )
