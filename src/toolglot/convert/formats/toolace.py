"""ToolACE: functions in the `system` text, calls as `[name(argument="value")]`."""

import re
from typing import Any, Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.convert.format import Format, Rows
from toolglot.convert.formats.sharegpt import speech
from toolglot.convert.loose_schemas import to_json_schema
from toolglot.convert.plain_turns import (
    PlainTurn,
    TurnReader,
    declared,
    functions,
    list_of,
    optional_text,
    plain_turns,
    rest_of,
    result_text,
    system_text,
)
from toolglot.convert.surfaces import of_text
from toolglot.convert.transcript import RecordedConversation
from toolglot.convert.written_calls import read_answer, write_answer
from toolglot.ir import FunctionTool, Json
from toolglot.wire import jsontext

_DIALECT: Final = "pythonic"
_KNOWN: Final = ("system", "conversations")
_FUNCTIONS: Final = re.compile(
    r"(?:Here is|Below is) a list of functions in JSON format that you can invoke[.:]?\s*(\[.*\])",
    re.DOTALL,
)
_BEGINS: Final = "You are an expert in composing functions."
_ENDS: Final = "NO other text MUST be included."
_PROMPT: Final = (
    _BEGINS + " You are given a question and a set of possible "
    "functions. Based on the question, you will need to make one or more function/tool calls to "
    "achieve the purpose.\nIf none of the function can be used, point it out. If the given "
    "question lacks the parameters required by the function, also point it out.\nYou should only "
    "return the function call in tools call sections.\n"
    "Here is a list of functions in JSON format that you can invoke:\n{tools}\n"
    "Should you decide to return the function call(s). Put it in the format of "
    "[func1(params_name=params_value, params_name2=params_value2...), func2(params)]\n" + _ENDS
)


def recognise(row: Json) -> str:
    """Functions in the system text."""
    system = row.get("system")
    named = isinstance(system, str) and isinstance(row.get("conversations"), list)
    return "its system text lists functions" if named and _FUNCTIONS.search(str(system)) else ""


def read(rows: Rows, ctx: Context) -> RecordedConversation:
    """A row."""
    (row,) = rows
    system, tools = _read_system(str(row.get("system") or ""), ctx)
    reader = TurnReader("conversations", ctx)
    for index, turn in enumerate(list_of(row, "conversations")):
        speaker, value = speech(turn, f"conversations[{index}]")
        if speaker == "result":
            _read_results(value, reader)
        elif speaker in ("assistant", "call"):
            reader.say("assistant", *read_answer(value, _DIALECT, tools, reader))
        else:
            reader.say("user" if speaker == "user" else "system", optional_text(value))
    request = reader.finish(system=system, tools=tools)
    return RecordedConversation(request=request, metadata=rest_of(row, *_KNOWN))


def _read_system(text: str, ctx: Context) -> tuple[str, tuple[FunctionTool, ...]]:
    match = _FUNCTIONS.search(text)
    if match is None:
        return text, ()
    end = _end_of_list(match[1])
    tools = tuple(_read_tool(tool) for tool in declared(match[1][:end], "system"))
    start, stop = text.find(_BEGINS), text.rfind(_ENDS)
    if not 0 <= start < match.start() < stop:
        return text, tools
    ctx.note("marks-dropped", "system", "the description of functions became tools")
    rest = text[stop + len(_ENDS) :]
    return "\n\n".join(filter(None, (text[:start].strip(), rest.strip()))), tools


def _end_of_list(text: str) -> int:
    """Where the list that a text begins with ends."""
    end = len(text)
    while end > 0:
        try:
            jsontext.peek(text[:end])
        except ValueError:
            end = text.rfind("]", 0, end - 1) + 1
        else:
            return end
    return len(text)


def _read_tool(tool: FunctionTool) -> FunctionTool:
    return replace(tool, parameters=to_json_schema(tool.parameters))


def _read_results(value: str, reader: TurnReader) -> None:
    try:
        given = jsontext.exact(value)
    except ValueError:
        given = None
    results = given if isinstance(given, list) else []
    if results and all(isinstance(each, dict) and "results" in each for each in results):
        for each in results:
            content = each["results"]
            text = content if isinstance(content, str) else jsontext.text(content)
            reader.answer(text, each.get("name"))
    else:
        reader.answer(value)


def write(conversation: RecordedConversation, ctx: Context) -> list[Json]:
    """A row."""
    tools = list(functions(conversation.request.tools))
    system = system_text(conversation, ctx)
    if tools and not _FUNCTIONS.search(system):
        if system:
            ctx.note("text-joined", ctx.setting("system"), "the functions follow the system text")
        prompt = _PROMPT.format(tools=jsontext.text(tools))
        system = "\n\n".join(filter(None, (system, prompt)))
    turns = [_write_turn(turn, conversation, ctx) for turn in plain_turns(conversation, ctx)]
    return [{**conversation.metadata, "system": system, "conversations": turns}]


def _write_turn(turn: PlainTurn, conversation: RecordedConversation, ctx: Context) -> Json:
    if turn.role == "tool":
        results: list[Any] = [
            {"name": result.name or "", "results": result_text(result, ctx)}
            for result in turn.results
        ]
        return {"from": "tool", "value": jsontext.text(results)}
    if turn.role != "assistant":
        return {"from": turn.role, "value": turn.text}
    if turn.calls and turn.text.strip():
        words = "a turn with calls has no text beside them"
        ctx.note("part-dropped", ctx.where(turn.calls[0]), words)
        turn.text = ""
    return {"from": "assistant", "value": write_answer(turn, _DIALECT, conversation.request.tools)}


FORMAT: Final = Format(
    name="toolace",
    summary="ToolACE: functions in the system text, calls as `[name(a=1)]`",
    reference="https://huggingface.co/datasets/Team-ACE/ToolACE (2026-11-16)",
    surface=of_text("toolace", path="conversations", content="value"),
    read=read,
    write=write,
    recognise=recognise,
    ids=False,
    checked=True,
    holds=frozenset({"system", "tools", "metadata"}),
)
