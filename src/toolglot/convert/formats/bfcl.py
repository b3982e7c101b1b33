"""Questions of the Berkeley Function Calling Leaderboard, with the calls that answer them."""

from typing import Any, Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.convert.format import Format, Rows
from toolglot.convert.loose_schemas import to_json_schema
from toolglot.convert.plain_turns import (
    TurnReader,
    declared,
    functions,
    list_of,
    optional_text,
    plain_turns,
    rest_of,
    system_text,
)
from toolglot.convert.surfaces import of_text
from toolglot.convert.transcript import RecordedConversation
from toolglot.errors import DecodeError
from toolglot.ir import Json, Role, ToolCall

_KNOWN: Final = ("id", "question", "function", "ground_truth")
_GORILLA: Final = {"object": "dict", "number": "float"}
_ROLES: Final[dict[str, Role]] = {"user": "user", "assistant": "assistant", "system": "system"}


def recognise(row: Json) -> str:
    """A question with functions."""
    has = isinstance(row.get("question"), list) and isinstance(row.get("function"), list)
    return "it has a `question` and its `function`" if has else ""


def read(rows: Rows, ctx: Context) -> RecordedConversation:
    """A row; of the answers that are allowed, the first ones."""
    (row,) = rows
    reader = TurnReader("question", ctx)
    for turn in list_of(row, "question"):
        for message in turn if isinstance(turn, list) else [turn]:
            role = _ROLES.get(str(message.get("role"))) if isinstance(message, dict) else None
            if role is None:
                raise DecodeError("question", "expected messages of system, user or assistant")
            reader.say(role, optional_text(message.get("content")))
    answers = row.get("ground_truth")
    if isinstance(answers, list) and answers and all(isinstance(each, dict) for each in answers):
        calls = [_read_call(each, reader, ctx) for each in answers]
        reader.say("assistant", *calls)
    tools = declared(row.get("function"), "function")
    tools = tuple(replace(tool, parameters=to_json_schema(tool.parameters)) for tool in tools)
    facts = {"id": row["id"]} if isinstance(row.get("id"), str) else {}
    request = reader.finish(tools=tools)
    return RecordedConversation(request=request, facts=facts, metadata=rest_of(row, *_KNOWN))


def _read_call(answer: Json, reader: TurnReader, ctx: Context) -> Any:
    name, allowed = next(iter(answer.items()))
    arguments: Json = {}
    several = 0
    for key, values in (allowed or {}).items():
        known = values if isinstance(values, list) else [values]
        several += len(known) > 1
        if known and known[0] != "":
            arguments[key] = known[0]
    if several:
        ctx.note("choices-dropped", "ground_truth", f"{name}: the first of the allowed values")
    return reader.call(name, arguments)


def write(conversation: RecordedConversation, ctx: Context) -> list[Json]:
    """A row: what the user says, turn by turn, and the calls of the last answer."""
    turns: list[list[Json]] = []
    if system := system_text(conversation, ctx):
        turns.append([{"role": "system", "content": system}])
    calls: list[ToolCall] = []
    left = 0
    for turn in plain_turns(conversation, ctx):
        left += len(calls)
        calls = []
        if turn.role in ("user", "system"):
            said = {"role": turn.role, "content": turn.text}
            if turns and turns[-1][-1]["role"] == "system":
                turns[-1].append(said)
            else:
                turns.append([said])
            continue
        calls = turn.calls
        left += bool(turn.text.strip()) + len(turn.results)
    if left:
        words = f"a question has no answers inside; {left} texts, calls and results are left out"
        ctx.note("part-dropped", ctx.surfaces[0].messages.path, words)
    row: Json = {"id": conversation.facts["id"]} if "id" in conversation.facts else {}
    row |= {**conversation.metadata, "question": turns}
    row["function"] = [_write_tool(tool) for tool in functions(conversation.request.tools)]
    if calls:
        row["ground_truth"] = [
            {call.name: {key: [value] for key, value in call.input.items()}} for call in calls
        ]
    return [row]


def _write_tool(tool: Json) -> Json:
    return {**tool, "parameters": _gorilla(tool["parameters"])}


def _gorilla(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    changed = dict(schema)
    if isinstance(schema.get("type"), str):
        changed["type"] = _GORILLA.get(schema["type"], schema["type"])
    if isinstance(schema.get("properties"), dict):
        changed["properties"] = {k: _gorilla(each) for k, each in schema["properties"].items()}
    if isinstance(schema.get("items"), dict):
        changed["items"] = _gorilla(schema["items"])
    return changed


FORMAT: Final = Format(
    name="bfcl",
    summary="questions of the Berkeley Function Calling Leaderboard",
    reference="https://github.com/ShishirPatil/gorilla (bfcl_eval/data, 2026-11-16)",
    surface=of_text("bfcl", path="question"),
    read=read,
    write=write,
    recognise=recognise,
    ids=False,
    checked=True,
    holds=frozenset({"system", "tools", "metadata"}),
    facts=frozenset({"id"}),
)
