"""Glaive function calling v2: a `system` text with the functions and a `chat` in one text."""

import re
from typing import Any, Final

from toolglot.context import Context
from toolglot.convert.format import Format, Rows
from toolglot.convert.plain_turns import (
    PlainTurn,
    TurnReader,
    declared,
    functions,
    optional_text,
    plain_turns,
    rest_of,
    result_text,
    system_text,
)
from toolglot.convert.surfaces import of_text
from toolglot.convert.transcript import RecordedConversation
from toolglot.errors import DecodeError
from toolglot.ir import FunctionTool, Json, Part, ToolCall
from toolglot.wire import jsontext

_KNOWN: Final = ("system", "chat")
_INTRODUCTION: Final = (
    "You are a helpful assistant with access to the following functions. Use them if required -"
)
_SPEAKERS: Final = re.compile(r"(?:^|\n\n\n?)(USER|ASSISTANT|A|FUNCTION RESPONSE): ?")
_CALL: Final = "<functioncall>"
_END: Final = "<|endoftext|>"
_ARGUMENTS: Final = re.compile(
    r'\{\s*"name"\s*:\s*"([^"]*)"\s*(?:,\s*"arguments"\s*:\s*\'(.*)\'\s*)?\}\s*', re.DOTALL
)


def recognise(row: Json) -> str:
    """A chat in one text."""
    chat = row.get("chat")
    named = isinstance(chat, str) and isinstance(row.get("system"), str)
    return "it has a `chat` in one text" if named and "USER:" in str(chat) else ""


def read(rows: Rows, ctx: Context) -> RecordedConversation:
    """A row."""
    (row,) = rows
    system, tools = _read_system(row.get("system"))
    reader = TurnReader("chat", ctx)
    pieces = _SPEAKERS.split("\n\n" + str(row.get("chat", "")).strip())
    if pieces[0].strip():
        raise DecodeError("chat", "expected USER: at its beginning")
    for speaker, text in zip(pieces[1::2], pieces[2::2], strict=True):
        words = text.replace(_END, "").strip()
        if speaker == "USER":
            reader.say("user", optional_text(words))
        elif speaker == "FUNCTION RESPONSE":
            reader.answer(words)
        else:
            reader.say("assistant", *_read_answer(words, reader))
    request = reader.finish(system=system, tools=tools)
    return RecordedConversation(request=request, metadata=rest_of(row, *_KNOWN))


def _read_system(text: Any) -> tuple[str, tuple[FunctionTool, ...]]:
    words = str(text or "").removeprefix("SYSTEM: ").strip()
    before, mark, after = words.partition(_INTRODUCTION)
    if not mark:
        return words, ()
    values = list(_values(after))
    return before.strip(), declared(values, "system")


def _values(text: str) -> Any:
    """Objects that follow each other."""
    depth = start = 0
    quoted = escaped = False
    for index, char in enumerate(text):
        if quoted:
            quoted = escaped or char != '"'
            escaped = char == "\\" and not escaped
        elif char == '"':
            quoted = True
        elif char == "{":
            start = index if depth == 0 else start
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                yield jsontext.decode(text[start : index + 1])


def _read_answer(text: str, reader: TurnReader) -> list[Part | None]:
    before, mark, after = text.partition(_CALL)
    if not mark:
        return [optional_text(text)]
    return [
        optional_text(before.strip()),
        *(_read_call(each, reader) for each in after.split(_CALL)),
    ]


def _read_call(text: str, reader: TurnReader) -> ToolCall:
    """A call; its arguments are JSON between single quotes, or an object."""
    match = _ARGUMENTS.fullmatch(text.strip())
    if match is not None:
        return reader.call(match[1], (match[2] or "{}").replace("\\'", "'"))
    value = jsontext.decode(text.strip())
    if not isinstance(value, dict):
        raise DecodeError("chat", "a call is an object")
    return reader.call(value.get("name"), value.get("arguments"))


def write(conversation: RecordedConversation, ctx: Context) -> list[Json]:
    """A row."""
    tools = [jsontext.pretty(each).decode() for each in functions(conversation.request.tools)]
    system = system_text(conversation, ctx)
    if tools:
        system = "\n\n".join(filter(None, (system, "\n".join((_INTRODUCTION, "\n\n".join(tools))))))
    chat = "\n\n\n".join(_write_turn(turn, ctx) for turn in plain_turns(conversation, ctx))
    return [{**conversation.metadata, "system": f"SYSTEM: {system}", "chat": chat + "\n\n\n"}]


def _write_turn(turn: PlainTurn, ctx: Context) -> str:
    if turn.role == "tool":
        texts = [result_text(result, ctx) for result in turn.results]
        return "\n\n\n".join(f"FUNCTION RESPONSE: {text}" for text in texts)
    if turn.role != "assistant":
        return f"USER: {turn.text}"
    calls = [f"{_CALL} {_write_call(call)}" for call in turn.calls]
    return f"ASSISTANT: {' '.join(filter(None, (turn.text, *calls)))} {_END}"


def _write_call(call: ToolCall) -> str:
    arguments = jsontext.text(call.input).replace("'", "\\'")
    return f'{{"name": {jsontext.text(call.name)}, "arguments": \'{arguments}\'}}'


FORMAT: Final = Format(
    name="glaive",
    summary="Glaive function calling v2: `system` with functions, `chat` in one text",
    reference="https://huggingface.co/datasets/glaiveai/glaive-function-calling-v2 (2026-11-16)",
    surface=of_text("glaive", path="chat"),
    read=read,
    write=write,
    recognise=recognise,
    ids=False,
    checked=True,
    holds=frozenset({"system", "tools", "metadata"}),
    aliases=("glaive-v2",),
)
