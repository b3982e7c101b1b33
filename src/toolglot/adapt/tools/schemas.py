"""Schemas as the target takes them; arguments come back as the client declared them.

The target's surface says what its schemas may be: any JSON Schema or a subset of it, another one
where `strict` is asked for, which formats it knows. A tool's schema that is rewritten may differ in
its arguments (`"2"` for 2, null for what is not there); that is undone in the answer and done in
the history. Tools whose arguments do not differ are left to stream as they come.
"""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from toolglot.adapt.aliases import Aliases, all_fit, pattern
from toolglot.adapt.messages.described_output import describe_output
from toolglot.context import Context
from toolglot.ir import FunctionTool, Json, Message, OutputFormat, Request, Tool, ToolCall
from toolglot.schema.booleans import write_booleans
from toolglot.schema.convert import WRAPPED, Plan, Texts
from toolglot.schema.describe import Telling
from toolglot.schema.formats import describe_formats
from toolglot.schema.merge import References
from toolglot.schema.narrow import Narrowed, narrow
from toolglot.schema.openapi import from_openapi
from toolglot.schema.roots import is_object_root, object_root, rename_members
from toolglot.schema.spelled_out import spell_out
from toolglot.schema.subsets import SUBSETS
from toolglot.surface import Surface
from toolglot.undo import UndoStep
from toolglot.wire.tool_cache import by_text, recall


def narrow_schemas(request: Request, ctx: Context) -> Request:
    """Write schemas of tools and of output with the keywords that the target supports."""
    if not request.tools and (request.output is None or request.output.schema is None):
        return request
    adapted = recall(_adapt_tools, request.tools, ctx)
    if adapted is ctx.known:
        ctx.known = adapted.tools
    changes: dict[str, Any] = {}
    if adapted.tools is not request.tools:
        changes["tools"] = adapted.tools
    for name, texts in adapted.texts.items():
        ctx.undo.tool(name, UndoStep(name=name, arguments=texts.widen))
    ctx.undo.inexact = adapted.inexact
    output = request.output
    if output is not None and output.schema is not None:
        other = _Schemas(ctx).output(output, output.schema)
        if other is None:
            words = f"{ctx.surfaces[1].name} has no form of this schema; a text asks for it"
            request = describe_output(request, ctx, words)
        elif other is not output:
            changes["output"] = other
    if adapted.texts:
        changes["messages"] = tuple(_message(each, adapted.texts) for each in request.messages)
    ctx.schema_texts.clear()
    return replace(request, **changes) if changes else request


class _Tools(Struct, frozen=True):
    """Tools for the target, and how the arguments of some of them are converted."""

    tools: tuple[Tool, ...]
    texts: dict[str, Texts]
    inexact: tuple[str, ...]
    """The tools whose schema allows more than the client's."""


def _adapt_tools(tools: tuple[Tool, ...], ctx: Context) -> _Tools:
    work = _Schemas(ctx)
    adapted = tuple(
        work.tool(tool, index) if isinstance(tool, FunctionTool) and tool.parameters else tool
        for index, tool in enumerate(tools)
    )
    made = adapted if _differ(adapted, tools) else tools
    return _Tools(made, work.texts, tuple(work.inexact))


def _differ(new: tuple[Tool, ...], old: tuple[Tool, ...]) -> bool:
    return any(one is not two for one, two in zip(new, old, strict=True))


# --- the cache of schemas -------------------------------------------------------------------------


@by_text
def _narrow(schema: Json, subset: str, tool: bool) -> tuple[Json, Narrowed | None]:  # noqa: FBT001
    """The schema in a subset, with what was done to it; None if that is not possible."""
    narrowed = narrow(schema, SUBSETS[subset], tool=tool)
    return (schema, None) if narrowed is None else (narrowed.schema, replace(narrowed, schema={}))


@by_text
def _is_plain(
    schema: Json,
    formats: frozenset[str] | None,
    needs_object: bool,  # noqa: FBT001
    booleans: bool,  # noqa: FBT001
    spelled_out: bool,  # noqa: FBT001
) -> tuple[Json, bool]:
    """Whether a target that accepts all of JSON Schema accepts a schema unchanged."""
    if spelled_out and spell_out(schema)[1]:
        return schema, False
    if not booleans and write_booleans(schema)[1]:
        return schema, False
    if needs_object and not is_object_root(schema):
        return schema, False
    return schema, formats is None or describe_formats(schema, formats)[0] is schema


# --- tools and output -----------------------------------------------------------------------------


class _Adapted(Struct, frozen=True):
    """A schema for the target, and how arguments differ."""

    schema: Json
    plan: Plan | None = None
    inexact: bool = False


class _Schemas:
    __slots__ = ("_ctx", "_source", "_subset", "_target", "inexact", "texts")

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._source, self._target = ctx.surfaces
        self._subset = ctx.options.schema_dialect or self._target.schema.tools
        self.texts: dict[str, Texts] = {}
        """By tool, how arguments in the history are converted."""
        self.inexact: list[str] = []

    def tool(self, tool: FunctionTool, index: int) -> FunctionTool:
        schema = self._read(tool.parameters or {}, index)
        adapted = self._strict(schema, index) if tool.strict else None
        strict = tool.strict and adapted is not None
        if adapted is None:
            adapted = self._lenient(schema, index)
        adapted = self._named(adapted, index)
        if adapted.plan is not None:
            self.texts[tool.name] = Texts(adapted.plan)
        if adapted.inexact:
            self.inexact.append(tool.name)
        if strict is tool.strict and adapted.schema is tool.parameters:
            return tool
        return replace(tool, parameters=adapted.schema, strict=strict)

    def _read(self, schema: Json, index: int) -> Json:
        if not self._source.schema.openapi:
            return schema
        read = from_openapi(schema)
        if read is not schema:
            self._ctx.note("schema-narrowed", self._ctx.tool_at(index), "OpenAPI as JSON Schema")
        return read

    def _strict(self, schema: Json, index: int) -> _Adapted | None:
        """The schema for a strict tool; None if there is none, or none that has all its limits."""
        subset = self._target.schema.strict
        if not subset:
            return _Adapted(schema)
        path = self._ctx.tool_at(index)
        _, narrowed = _narrow(schema, self._ctx, subset, True)  # noqa: FBT003
        if narrowed is not None and not narrowed.loosened:
            return self._narrowed(schema, subset, path, tool=True)
        what = "this schema" if narrowed is None else ", ".join(narrowed.loosened)
        words = f"{self._target.name} cannot be strict about {what}"
        self._ctx.note("strict-dropped", f"{path}.strict", words)
        return None

    def _lenient(self, schema: Json, index: int) -> _Adapted:
        """The schema for a tool that is not strict."""
        target = self._target
        if not self._subset:
            accepted = target.schema
            _, plain = _is_plain(
                schema,
                self._ctx,
                accepted.formats,
                accepted.object_root,
                accepted.booleans,
                accepted.spelled_out,
            )
            if plain:
                return _Adapted(schema)
        path = self._ctx.tool_at(index)
        if self._subset:
            narrowed = self._narrowed(schema, self._subset, path, tool=True)
            if narrowed is not None:
                return narrowed
            self._ctx.note("schema-refused", path)
        adapted = _Adapted(schema)
        if target.schema.object_root and not is_object_root(schema):
            adapted = self._rooted(schema, path)
        made = self._known_formats(adapted.schema, path)
        if not target.schema.booleans:
            made, count = write_booleans(made)
            if count:
                self._ctx.note("schema-narrowed", path, f"{count} booleans written as objects")
        if target.schema.spelled_out:
            made, count = spell_out(made)
            if count:
                words = f"{count} empty `properties` or `items` written out"
                self._ctx.note("schema-narrowed", path, words)
        return _Adapted(made, adapted.plan, adapted.inexact)

    def _named(self, adapted: _Adapted, index: int) -> _Adapted:
        """Parameters with names that the target takes, which are undone in the answer."""
        rule, members = self._target.schema.member_rule, adapted.schema.get("properties")
        if rule is None or type(members) is not dict or all_fit(members, rule):
            return adapted
        aliases = Aliases(rule, {name for name in members if all_fit((name,), rule)})
        fitting = pattern(rule).fullmatch
        renamed = {name: aliases.of(name) for name in members if not fitting(name)}
        told = ", ".join(f"{old} is {new}" for old, new in renamed.items())
        self._ctx.note("schema-narrowed", self._ctx.tool_at(index), f"parameters renamed: {told}")
        plan = adapted.plan or Plan()
        plan = plan.with_names(renamed)
        return _Adapted(rename_members(adapted.schema, renamed), plan, adapted.inexact)

    def _narrowed(self, schema: Json, subset: str, path: str, *, tool: bool) -> _Adapted | None:
        """The schema in a subset, with notes of what was done to it."""
        made, narrowed = _narrow(schema, self._ctx, subset, tool)
        if narrowed is None:
            return None
        if narrowed.rewritten:
            words = f"rewritten: {', '.join(narrowed.rewritten)}"
            self._ctx.note("schema-narrowed", path, words)
        if narrowed.described:
            self._ctx.note("schema-described", path, f"in descriptions: {narrowed.places}")
        if narrowed.dropped:
            code = "schema-loosened" if narrowed.lossy else "schema-narrowed"
            self._ctx.note(code, path, f"dropped: {', '.join(narrowed.dropped)}")
        return _Adapted(made, narrowed.plan, narrowed.inexact)

    def _rooted(self, schema: Json, path: str) -> _Adapted:
        root = object_root(schema, References(schema))
        words = f"an object at the top: {', '.join(root.rewritten)}"
        made, told = Telling().describe(root.schema, root.lost)
        if told:
            self._ctx.note("schema-described", path, f"in the description: {', '.join(told)}")
        whole = root.lost.keys() <= set(told) and not root.cut
        self._ctx.note("schema-narrowed" if whole else "schema-loosened", path, words)
        if not root.wrapped:
            return _Adapted(made, inexact=root.lossy)
        plan = Plan()
        plan.wrap = True
        plan.order = (WRAPPED,)
        return _Adapted(made, plan.done())

    def _known_formats(self, schema: Json, path: str) -> Json:
        known = self._target.schema.formats
        if known is None:
            return schema
        schema, dropped = describe_formats(schema, known)
        if dropped:
            words = f"{self._target.name} has no {', '.join(dropped)}; the description tells it"
            self._ctx.note("format-dropped", path, words)
        return schema

    def output(self, output: OutputFormat, schema: Json) -> OutputFormat | None:
        """Structured output; None: the target cannot be asked for it. It reaches the client as it
        comes, so nothing may differ in it.
        """
        path, target = self._ctx.setting("output"), self._target
        adapted = from_openapi(schema) if self._source.schema.openapi else schema
        if adapted is not schema:
            self._ctx.note("schema-narrowed", path, "OpenAPI as JSON Schema")
        strict = output.strict
        subset = _output_subset(target, self._ctx.options.schema_dialect, strict=bool(strict))
        if subset:
            narrowed = self._narrowed(adapted, subset, path, tool=False)
            if narrowed is not None:
                adapted = narrowed.schema
            elif strict and "output_strict" in target.settings:
                strict = False
                words = f"{target.name} cannot be strict about this schema"
                self._ctx.note("strict-dropped", path, words)
            else:
                return None
        if target.schema.output_object and not is_object_root(adapted):
            return None
        if adapted is schema and strict is output.strict:
            return output
        return replace(output, schema=adapted, strict=strict)


def _output_subset(target: Surface, chosen: str | None, *, strict: bool) -> str:
    return chosen or (target.schema.strict if strict else "") or target.schema.output


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
