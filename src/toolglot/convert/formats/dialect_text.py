"""Chat messages that are texts alone, with calls as models of some dialect write them.

`text:hermes`, `text:qwen3_coder` and so on, for each dialect: `messages` of `role` and `content`.
The tools stand in `tools`, and are described in the system text when it is written; results are in
messages of the role `tool`, as the dialect gives them to its models.
"""

from functools import cache, partial
from typing import Any, Final

from toolglot.context import Context
from toolglot.convert.format import Format, Rows
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
from toolglot.dialects.rendering import render_result, render_tools
from toolglot.dialects.table import DIALECTS
from toolglot.errors import DecodeError
from toolglot.ir import Json

PREFIX: Final = "text:"
_KNOWN: Final = ("messages", "tools")


@cache
def dialect_format(dialect: str) -> Format:
    """The format of a dialect."""
    DIALECTS.find(dialect)
    name = PREFIX + dialect
    return Format(
        name=name,
        summary=f"chat messages of text, with calls in the dialect {dialect}",
        reference="docs/dialects.md",
        surface=of_text(name, path="messages", reasoning=True, later=True),
        read=partial(read, dialect=dialect),
        write=partial(write, dialect=dialect),
        recognise=_never,
        ids=False,
        checked=True,
        holds=frozenset({"system", "tools", "metadata"}),
    )


def _never(_row: Json) -> str:
    """Which dialect a text is in cannot be told from one without calls: it has to be named."""
    return ""


def read(rows: Rows, ctx: Context, *, dialect: str) -> RecordedConversation:
    """A row."""
    (row,) = rows
    reader = TurnReader("messages", ctx)
    tools = declared(row.get("tools"), "tools")
    described = _described(tools, dialect)
    system: str | None = None
    for index, message in enumerate(list_of(row, "messages")):
        role, text = message.get("role"), message.get("content")
        if not isinstance(text, str):
            raise DecodeError(f"messages[{index}].content", "expected a text")
        if role == "assistant":
            reader.say("assistant", *read_answer(text, dialect, tools, reader))
        elif role == "tool":
            for each in _split_results(text, dialect):
                reader.answer(each, message.get("name"))
        elif role == "system" and index == 0:
            system = text.removesuffix(described).rstrip("\n") if described else text
        elif role in ("user", "system"):
            reader.say("user" if role == "user" else "system", optional_text(text))
        else:
            raise DecodeError(f"messages[{index}].role", f"nobody is called {role!r}")
    request = reader.finish(system=system or None, tools=tools)
    return RecordedConversation(request=request, metadata=rest_of(row, *_KNOWN))


def _described(tools: Any, dialect: str) -> str:
    listed = list(functions(tools))
    return render_tools(listed, dialect) if listed else ""


def _split_results(text: str, dialect: str) -> list[str]:
    """The result as it was before the dialect's marks were put around it."""
    template = DIALECTS.find(dialect).result
    opener, closer = template.open, template.close.format()
    if "{name}" in opener or not template.raw:
        return [text]
    inside = text.startswith(opener) and text.endswith(closer)
    return [text[len(opener) : len(text) - len(closer)]] if inside else [text]


def write(conversation: RecordedConversation, ctx: Context, *, dialect: str) -> list[Json]:
    """A row."""
    tools = conversation.request.tools
    texts = (system_text(conversation, ctx), _described(tools, dialect))
    system = "\n\n".join(filter(None, texts))
    messages: list[Json] = [{"role": "system", "content": system}] if system else []
    for turn in plain_turns(conversation, ctx):
        messages += _write_turn(turn, conversation, ctx, dialect)
    row: Json = {**conversation.metadata, "messages": messages}
    listed = [{"type": "function", "function": each} for each in functions(tools)]
    return [{**row, "tools": listed} if listed else row]


def _write_turn(
    turn: PlainTurn, conversation: RecordedConversation, ctx: Context, dialect: str
) -> list[Json]:
    if turn.role == "assistant":
        text = write_answer(turn, dialect, conversation.request.tools)
        return [{"role": "assistant", "content": text}]
    if turn.role != "tool":
        return [{"role": turn.role, "content": turn.text}]
    return [
        {
            "role": "tool",
            **({"name": each.name} if each.name else {}),
            "content": _result(each, ctx, dialect),
        }
        for each in turn.results
    ]


def _result(result: Any, ctx: Context, dialect: str) -> str:
    template = DIALECTS.find(dialect).result
    text = result_text(result, ctx)
    if "{name}" in template.open or not template.raw:
        # Such a template says more than the text, and could not be read back exactly.
        return text
    return render_result({"text": text, "name": result.name or ""}, dialect)
