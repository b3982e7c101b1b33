"""OpenInference spans: messages in flat attributes, `llm.input_messages.0.message.role`."""

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
    result_text,
    system_text,
)
from toolglot.convert.surfaces import of_text
from toolglot.convert.transcript import RecordedConversation
from toolglot.errors import DecodeError
from toolglot.ir import Json
from toolglot.wire import jsontext

_INPUT: Final = "llm.input_messages"
_OUTPUT: Final = "llm.output_messages"
_TOOLS: Final = "llm.tools"
_MODEL: Final = "llm.model_name"
_SESSION: Final = "session.id"
_KNOWN: Final = (_INPUT, _OUTPUT, _TOOLS, _MODEL, _SESSION)
_KIND: Final = "openinference.span.kind"


def recognise(row: Json) -> str:
    """A span, or its attributes."""
    named = any(key.startswith((_INPUT, _OUTPUT)) for key in _flat(row))
    return f"it has `{_INPUT}`" if named else ""


def _flat(row: Json) -> Json:
    given = row.get("attributes", row)
    return given if isinstance(given, dict) else row


def _nested(flat: Json, prefix: str) -> list[Any]:
    """What attributes say under a prefix, as a list of objects."""
    root: Json = {}
    start = prefix + "."
    for key, value in flat.items():
        if key == prefix and isinstance(value, list):
            return value
        if not key.startswith(start):
            continue
        here = root
        *steps, last = key[len(start) :].split(".")
        for step in steps:
            here = here.setdefault(step, {})
            if not isinstance(here, dict):
                raise DecodeError(key, "an attribute stands for a value and for a group")
        here[last] = value
    return _as_list(root)


def _as_list(value: Json) -> list[Any]:
    numbered = [(int(key), each) for key, each in value.items() if key.isdecimal()]
    return [each for _, each in sorted(numbered, key=lambda pair: pair[0])]


def read(rows: Rows, ctx: Context) -> RecordedConversation:
    """A span."""
    (row,) = rows
    flat = _flat(row)
    reader = TurnReader(_INPUT, ctx)
    system: str | None = None
    messages = [*_nested(flat, _INPUT), *_nested(flat, _OUTPUT)[:1]]
    for index, each in enumerate(messages):
        message = each.get("message", {}) if isinstance(each, dict) else {}
        role, text = message.get("role"), _text(message)
        if role == "system" and index == 0:
            system = text
        elif role in ("tool", "function"):
            reader.answer(text, message.get("name"), message.get("tool_call_id"))
        elif role in ("assistant", "model"):
            calls = [_read_call(call, reader) for call in _as_list(message.get("tool_calls", {}))]
            reader.say("assistant", optional_text(text), *calls)
        else:
            reader.say("system" if role == "system" else "user", optional_text(text))
    schemas = [
        (each.get("tool") or {}).get("json_schema")
        for each in _nested(flat, _TOOLS)
        if isinstance(each, dict)
    ]
    tools = declared([each for each in schemas if each], _TOOLS)
    request = reader.finish(system=system, tools=tools, model=str(flat.get(_MODEL) or ""))
    facts = {"id": flat[_SESSION]} if isinstance(flat.get(_SESSION), str) else {}
    rest = {k: v for k, v in flat.items() if not k.startswith(_KNOWN) and k != _KIND}
    return RecordedConversation(request=request, facts=facts, metadata=rest)


def _text(message: Json) -> str:
    contents = _as_list(message.get("contents", {}))
    texts = [
        (each.get("message_content") or {}).get("text", "")
        for each in contents
        if isinstance(each, dict)
    ]
    return str(message.get("content") or "") or "".join(map(str, texts))


def _read_call(value: Any, reader: TurnReader) -> Any:
    call = value.get("tool_call", {}) if isinstance(value, dict) else {}
    function = call.get("function", {})
    return reader.call(function.get("name"), function.get("arguments"), call.get("id"))


def write(conversation: RecordedConversation, ctx: Context) -> list[Json]:
    """The attributes of a span: all messages but the last are input, if that is the model's."""
    turns = list(plain_turns(conversation, ctx))
    row: Json = {_KIND: "LLM", **conversation.metadata}
    if conversation.request.model:
        row[_MODEL] = conversation.request.model
    if "id" in conversation.facts:
        row[_SESSION] = conversation.facts["id"]
    answer = turns.pop() if turns and turns[-1].role == "assistant" else None
    number = 0
    if system := system_text(conversation, ctx):
        row |= {f"{_INPUT}.0.message.role": "system", f"{_INPUT}.0.message.content": system}
        number = 1
    for turn in turns:
        for message in _messages(turn, ctx):
            row |= {f"{_INPUT}.{number}.message.{key}": each for key, each in message.items()}
            number += 1
    for message in _messages(answer, ctx) if answer is not None else ():
        row |= {f"{_OUTPUT}.0.message.{key}": each for key, each in message.items()}
    for index, tool in enumerate(functions(conversation.request.tools)):
        schema = {"type": "function", "function": tool}
        row[f"{_TOOLS}.{index}.tool.json_schema"] = jsontext.text(schema)
    return [row]


def _messages(turn: PlainTurn, ctx: Context) -> list[Json]:
    if turn.role == "tool":
        return [
            {"role": "tool", "content": result_text(result, ctx), "tool_call_id": result.id}
            | ({"name": result.name} if result.name else {})
            for result in turn.results
        ]
    message: Json = {"role": turn.role}
    if turn.text or not turn.calls:
        message["content"] = turn.text
    for index, call in enumerate(turn.calls):
        start = f"tool_calls.{index}.tool_call"
        message |= {
            f"{start}.id": call.id,
            f"{start}.function.name": call.name,
            f"{start}.function.arguments": call.arguments,
        }
    return [message]


FORMAT: Final = Format(
    name="openinference",
    summary="OpenInference spans (Arize Phoenix): messages in flat attributes",
    reference="https://github.com/Arize-ai/openinference, semantic_conventions.md (2026-11-16)",
    surface=of_text("openinference", path=_INPUT, later=True, model=True),
    read=read,
    write=write,
    recognise=recognise,
    holds=frozenset({"system", "tools", "model", "metadata"}),
    facts=frozenset({"id"}),
    aliases=("phoenix",),
)
