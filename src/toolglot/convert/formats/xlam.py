"""xLAM and APIGen: `query`, `answers` and `tools`, the last two as the text of lists.

One question and the calls that answer it. Parameters have the types of Python, and say `optional`.
"""

from typing import Any, Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.convert.format import Format, Rows
from toolglot.convert.loose_schemas import flat_to_schema, schema_to_flat
from toolglot.convert.plain_turns import (
    TurnReader,
    as_call,
    declared,
    list_of,
    plain_turns,
    rest_of,
)
from toolglot.convert.surfaces import of_text
from toolglot.convert.transcript import RecordedConversation
from toolglot.errors import DecodeError
from toolglot.ir import FunctionTool, Json, Text, ToolCall
from toolglot.wire import jsontext

_KNOWN: Final = ("query", "answers", "tools", "id")


def recognise(row: Json) -> str:
    """A question and its answers."""
    return (
        "it has `query`, `answers` and `tools`"
        if {"query", "answers", "tools"} <= (row.keys())
        else ""
    )


def read(rows: Rows, ctx: Context) -> RecordedConversation:
    """A row."""
    (row,) = rows
    if not isinstance(row.get("query"), str):
        raise DecodeError("query", "expected a text")
    reader = TurnReader("answers", ctx)
    reader.say("user", Text(text=row["query"]))
    answers = [
        reader.call(each.get("name"), each.get("arguments"))
        for each in list_of(row, "answers")
        if isinstance(each, dict)
    ]
    reader.say("assistant", *answers)
    tools = tuple(_read_tool(tool) for tool in declared(row.get("tools"), "tools"))
    facts = {"id": str(row["id"])} if row.get("id") is not None else {}
    request = reader.finish(tools=tools)
    return RecordedConversation(request=request, facts=facts, metadata=rest_of(row, *_KNOWN))


def _read_tool(tool: FunctionTool) -> FunctionTool:
    given: Any = tool.parameters
    if not isinstance(given, dict) or isinstance(given.get("properties"), dict):
        return tool
    return replace(tool, parameters=flat_to_schema(given))


def write(conversation: RecordedConversation, ctx: Context) -> list[Json]:
    """A row: the last question before the first calls, and these."""
    question = ""
    calls: list[ToolCall] = []
    left = 0
    for turn in plain_turns(conversation, ctx):
        if turn.role == "user" and not calls:
            left += bool(question)
            question = turn.text
        elif turn.role == "assistant" and turn.calls and not calls:
            calls = turn.calls
            left += bool(turn.text.strip())
        else:
            left += 1
    if left:
        words = f"there is one question and its calls; {left} other texts and results are left out"
        ctx.note("part-dropped", ctx.surfaces[0].messages.path, words)
    row: Json = {"id": conversation.facts["id"]} if "id" in conversation.facts else {}
    row |= conversation.metadata
    row["query"] = question
    row["answers"] = jsontext.text([as_call(call) for call in calls])
    row["tools"] = jsontext.text(
        [
            _write_tool(tool, ctx.tool_at(index), ctx)
            for index, tool in enumerate(conversation.request.tools)
            if isinstance(tool, FunctionTool)
        ]
    )
    return [row]


def _write_tool(tool: FunctionTool, path: str, ctx: Context) -> Json:
    flat, whole = schema_to_flat(tool.parameters)
    if not whole:
        ctx.note("schema-loosened", path, "parameters have one type each, and nothing inside them")
    return {"name": tool.name, "description": tool.description or "", "parameters": flat}


FORMAT: Final = Format(
    name="xlam",
    summary="xLAM and APIGen: one `query`, its `answers`, `tools` with Python types",
    reference="https://huggingface.co/datasets/Salesforce/xlam-function-calling-60k (2026-11-16)",
    surface=of_text("xlam", path="answers"),
    read=read,
    write=write,
    recognise=recognise,
    ids=False,
    checked=True,
    holds=frozenset({"tools", "metadata"}),
    facts=frozenset({"id"}),
    aliases=("apigen",),
)
