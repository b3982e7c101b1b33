"""Hermes function calling: ShareGPT with tools, calls and results between marks in the text."""

import re
from typing import Any, Final

from toolglot.context import Context
from toolglot.convert.format import Format, Rows
from toolglot.convert.formats.sharegpt import speech
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

_DIALECT: Final = "hermes"
_KNOWN: Final = ("conversations", "tools")
_TOOLS: Final = re.compile(r"<tools>\s*([\[{].*?[\]}])\s*</tools>", re.DOTALL)
_RESULT: Final = re.compile(r"<tool_response>\s*(.*?)\s*</tool_response>", re.DOTALL)
_BEGINS: Final = "You are a function calling AI model."
_ENDS: Final = ("</tool_call>", "</tools>")
_PROMPT: Final = (
    _BEGINS + " You are provided with function signatures within <tools></tools> XML tags. You may "
    "call one or more functions to assist with the user query. Don't make assumptions about what "
    "values to plug into functions.\n<tools>\n{tools}\n</tools>\nFor each function call return a "
    "JSON object with the function name and its arguments within <tool_call></tool_call> XML tags "
    'as follows:\n<tool_call>\n{{"name": <function-name>, "arguments": <args-dict>}}\n</tool_call>'
)
"""The prompt by which the models were trained (https://github.com/NousResearch/
Hermes-Function-Calling, 2026-11-16)."""


def recognise(row: Json) -> str:
    """ShareGPT in which a text has the marks of calls or tools."""
    turns = row.get("conversations")
    if not isinstance(turns, list):
        return ""
    for turn in turns:
        value = turn.get("value") if isinstance(turn, dict) and "from" in turn else None
        if isinstance(value, str) and ("<tool_call>" in value or "<tools>" in value):
            return "its conversations have <tools> or <tool_call> in the text"
    return ""


def read(rows: Rows, ctx: Context) -> RecordedConversation:
    """A row."""
    (row,) = rows
    reader = TurnReader("conversations", ctx)
    turns = list_of(row, "conversations")
    tools = declared(row.get("tools"), "tools")
    system: str | None = None
    for index, turn in enumerate(turns):
        speaker, value = speech(turn, f"conversations[{index}]")
        if speaker == "system" and index == 0:
            system, tools = _read_system(value, tools, ctx)
        elif speaker == "result":
            _read_results(value, reader)
        elif speaker in ("assistant", "call"):
            reader.say("assistant", *read_answer(value, _DIALECT, tools, reader))
        else:
            reader.say("system" if speaker == "system" else "user", optional_text(value))
    request = reader.finish(system=system, tools=tools)
    return RecordedConversation(request=request, metadata=rest_of(row, *_KNOWN))


def _read_system(
    text: str, tools: tuple[FunctionTool, ...], ctx: Context
) -> tuple[str, tuple[FunctionTool, ...]]:
    """The system text without the description of tools, and the tools."""
    match = _TOOLS.search(text)
    if match is None:
        return text, tools
    try:
        found = tools or declared(_listed(match[1]), "conversations[0].value")
    except ValueError:
        return text, tools
    start = text.find(_BEGINS)
    if not 0 <= start < match.start():
        return text, found
    ends = (text.rfind(mark) + len(mark) for mark in _ENDS if mark in text)
    end = max(ends, default=match.end())
    ctx.note("marks-dropped", "conversations[0].value", "the description of tools became tools")
    return "\n\n".join(filter(None, (text[:start].strip(), text[end:].strip()))), found


def _listed(text: str) -> Any:
    """A list, or one object on each line."""
    if text.startswith("["):
        return jsontext.decode(text)
    return [jsontext.decode(line) for line in text.splitlines() if line.strip()]


def _read_results(value: str, reader: TurnReader) -> None:
    for text in _RESULT.findall(value) or [value]:
        name = None
        try:
            given = jsontext.exact(text)
        except ValueError:
            given = None
        if isinstance(given, dict) and "content" in given and given.keys() <= {"name", "content"}:
            name, content = given.get("name"), given["content"]
            text = content if isinstance(content, str) else jsontext.text(content)  # noqa: PLW2901
        reader.answer(text, name if isinstance(name, str) else None)


def write(conversation: RecordedConversation, ctx: Context) -> list[Json]:
    """A row."""
    tools = [{"type": "function", "function": each} for each in _functions(conversation)]
    texts = [system_text(conversation, ctx)]
    if tools and not _TOOLS.search(texts[0]):
        texts.append(_PROMPT.format(tools=jsontext.text(tools)))
    system = "\n\n".join(filter(None, texts))
    turns = [{"from": "system", "value": system}] if system else []
    turns += [_write_turn(turn, conversation, ctx) for turn in plain_turns(conversation, ctx)]
    return [{**conversation.metadata, "conversations": turns}]


def _functions(conversation: RecordedConversation) -> list[Json]:
    return list(functions(conversation.request.tools))


def _write_turn(turn: PlainTurn, conversation: RecordedConversation, ctx: Context) -> Json:
    if turn.role == "tool":
        texts = [
            _write_result(result.name or _called(conversation, result.id), result_text(result, ctx))
            for result in turn.results
        ]
        return {"from": "tool", "value": "\n".join(texts)}
    if turn.role != "assistant":
        return {"from": "human" if turn.role == "user" else "system", "value": turn.text}
    return {"from": "gpt", "value": write_answer(turn, _DIALECT, conversation.request.tools)}


def _write_result(name: str, text: str) -> str:
    value = jsontext.text({"name": name, "content": text}).replace("</tool", "<\\/tool")
    return f"<tool_response>\n{value}\n</tool_response>"


def _called(conversation: RecordedConversation, call_id: str) -> str:
    """The name of the tool whose call has that id."""
    calls = (part for message in conversation.messages for part in message.parts)
    return next((getattr(each, "name", "") for each in calls if _is_call(each, call_id)), "")


def _is_call(part: Any, call_id: str) -> bool:
    return getattr(part, "arguments", None) is not None and part.id == call_id


FORMAT: Final = Format(
    name="hermes",
    summary="Hermes function calling: ShareGPT with `<tools>`, `<tool_call>`, `<tool_response>`",
    reference="https://huggingface.co/NousResearch (hermes-function-calling-v1, 2026-11-16)",
    surface=of_text(
        "hermes-function-calling", path="conversations", content="value", reasoning=True
    ),
    read=read,
    write=write,
    recognise=recognise,
    ids=False,
    checked=True,
    holds=frozenset({"system", "tools", "metadata"}),
    aliases=("hermes-function-calling",),
)
