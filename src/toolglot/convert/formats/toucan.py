"""Toucan: `messages` as the text of a list, with turns of `tool_call` and `tool_response`."""

from typing import Any, Final

from toolglot.context import Context
from toolglot.convert.format import Format, Rows
from toolglot.convert.plain_turns import (
    PlainTurn,
    TurnReader,
    as_call,
    declared,
    functions,
    list_of,
    optional_text,
    plain_turns,
    rest_of,
    result_text,
    system_text,
    thoughts,
)
from toolglot.convert.surfaces import of_text
from toolglot.convert.transcript import RecordedConversation
from toolglot.dialects import literals
from toolglot.errors import DecodeError
from toolglot.ir import Json
from toolglot.wire import jsontext

_KNOWN: Final = ("uuid", "messages", "tools", "available_tools")
_OWN: Final = ("tool_call", "tool_response")


def recognise(row: Json) -> str:
    """Messages in a text, beside the tools that were available."""
    named = isinstance(row.get("messages"), str) and (
        "available_tools" in row or '"tool_call"' in row["messages"]
    )
    return "its `messages` are the text of a list with turns of tool_call" if named else ""


def read(rows: Rows, ctx: Context) -> RecordedConversation:
    """A row."""
    (row,) = rows
    reader = TurnReader("messages", ctx)
    system: str | None = None
    pending: list[Any] = []
    for index, message in enumerate(list_of(row, "messages")):
        if not isinstance(message, dict):
            raise DecodeError(f"messages[{index}]", "expected an object")
        role, content = message.get("role"), message.get("content")
        call = message.get("function_call")
        if role == "tool_call" or (role == "assistant" and isinstance(call, dict)):
            words = thoughts(message.get("reasoning_content"))
            text = optional_text(content) if role == "assistant" else None
            pending += [*words, *filter(None, (text,)), _read_call(call or content, reader, index)]
            continue
        if pending:
            reader.say("assistant", *pending)
            pending = []
        if role == "system" and index == 0:
            system = str(content or "")
        elif role in ("tool_response", "function", "tool"):
            reader.answer(_text(content), message.get("name"))
        elif role == "assistant":
            words = thoughts(message.get("reasoning_content"))
            reader.say("assistant", *words, optional_text(content))
        elif role in ("user", "system"):
            reader.say("user" if role == "user" else "system", optional_text(content))
        else:
            raise DecodeError(f"messages[{index}].role", f"nobody is called {role!r}")
    if pending:
        reader.say("assistant", *pending)
    tools = declared(row.get("tools") or row.get("available_tools"), "tools")
    facts = {"id": row["uuid"]} if isinstance(row.get("uuid"), str) else {}
    request = reader.finish(system=system, tools=tools)
    return RecordedConversation(request=request, facts=facts, metadata=rest_of(row, *_KNOWN))


def _read_call(value: Any, reader: TurnReader, index: int) -> Any:
    """A call: an object, its JSON, or what Python prints of one."""
    if isinstance(value, str):
        try:
            value = jsontext.exact(value)
        except ValueError:
            value = literals.lenient(value)
    if not isinstance(value, dict):
        raise DecodeError(f"messages[{index}]", "a call is an object")
    return reader.call(value.get("name"), value.get("arguments"))


def _text(content: Any) -> str:
    return content if isinstance(content, str) else jsontext.text(content)


def write(conversation: RecordedConversation, ctx: Context) -> list[Json]:
    """A row."""
    messages: list[Json] = []
    if system := system_text(conversation, ctx):
        messages.append({"role": "system", "content": system})
    for turn in plain_turns(conversation, ctx):
        messages += _write_turn(turn, ctx)
    row: Json = {"uuid": conversation.facts["id"]} if "id" in conversation.facts else {}
    row |= {**conversation.metadata, "messages": jsontext.text(messages)}
    tools = [{"type": "function", "function": f} for f in functions(conversation.request.tools)]
    row["available_tools"] = jsontext.text(tools)
    return [row]


def _write_turn(turn: PlainTurn, ctx: Context) -> list[Json]:
    if turn.role == "tool":
        return [
            {"role": "tool_response", "content": result_text(result, ctx)}
            | ({"name": result.name} if result.name else {})
            for result in turn.results
        ]
    head: Json = {"reasoning_content": turn.thoughts} if turn.thoughts else {}
    if not turn.calls:
        return [{"role": turn.role, "content": turn.text, **head}]
    first: list[Json] = []
    if turn.text or head:
        first = [{"role": "assistant", "content": turn.text, **head}]
        if turn.text:
            ctx.note("part-moved", ctx.where(turn.calls[0]), "its text is a turn of its own")
    calls = [{"role": "tool_call", "content": jsontext.text(as_call(c))} for c in turn.calls]
    return [*first, *calls]


FORMAT: Final = Format(
    name="toucan",
    summary="Toucan-1.5M: `messages` as text, with turns of `tool_call` and `tool_response`",
    reference="https://huggingface.co/datasets/Agent-Ark/Toucan-1.5M (2026-11-16)",
    surface=of_text("toucan", path="messages", reasoning=True),
    read=read,
    write=write,
    recognise=recognise,
    ids=False,
    checked=True,
    holds=frozenset({"system", "tools", "metadata"}),
    facts=frozenset({"id"}),
)
