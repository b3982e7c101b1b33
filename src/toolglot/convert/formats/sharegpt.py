"""ShareGPT as LLaMA-Factory reads it, which is also how APIGen-MT is published.

`conversations` of `{from, value}`: `human` and `observation` in turn with `gpt` and
`function_call`, beside them `system` and `tools` as the text of a list. A call is the JSON of
`{name, arguments}`, several are a list. Reasoning stands between `<think>` marks.
"""

import re
from collections.abc import Iterator
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
from toolglot.errors import DecodeError
from toolglot.ir import Json
from toolglot.wire import jsontext

_SPEAKERS: Final = {
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "assistant": "assistant",
    "model": "assistant",
    "chatgpt": "assistant",
    "bing": "assistant",
    "system": "system",
    "function_call": "call",
    "tool_call": "call",
    "observation": "result",
    "function_response": "result",
    "tool": "result",
    "tool_response": "result",
}
_THOUGHT: Final = re.compile(r"\s*<think>\n?(.*?)\n?</think>\s*", re.DOTALL)
_KNOWN: Final = ("conversations", "system", "tools")


def recognise(row: Json) -> str:
    """Conversations of `from` and `value`, without Hermes' marks."""
    turns = row.get("conversations")
    if not isinstance(turns, list) or not turns:
        return ""
    if not all(isinstance(turn, dict) and {"from", "value"} <= turn.keys() for turn in turns):
        return ""
    return "its conversations are of `from` and `value`"


def read(rows: Rows, ctx: Context) -> RecordedConversation:
    """A row."""
    (row,) = rows
    reader = TurnReader("conversations", ctx)
    system = row.get("system") or None
    for index, turn in enumerate(list_of(row, "conversations")):
        where = f"conversations[{index}]"
        speaker, value = speech(turn, where)
        if speaker == "system" and index == 0 and system is None:
            system = value
        elif speaker == "system":
            reader.say("system", optional_text(value))
        elif speaker == "user":
            reader.say("user", optional_text(value))
        elif speaker == "result":
            _read_results(value, reader)
        else:
            _read_answer(value, reader, where, called=speaker == "call")
    tools = declared(row.get("tools"), "tools")
    request = reader.finish(system=system, tools=tools)
    return RecordedConversation(request=request, metadata=rest_of(row, *_KNOWN))


def speech(turn: Any, where: str) -> tuple[str, str]:
    """Who speaks, and what."""
    word, value = turn.get("from"), turn.get("value")
    if word not in _SPEAKERS:
        raise DecodeError(f"{where}.from", f"nobody is called {word!r}")
    if not isinstance(value, str):
        raise DecodeError(f"{where}.value", "expected a text")
    return _SPEAKERS[word], value


def split_thought(text: str) -> tuple[str, str]:
    """What stands between marks of reasoning in front of a text, and the text."""
    match = _THOUGHT.match(text)
    return (match[1], text[match.end() :]) if match else ("", text)


def _read_answer(value: str, reader: TurnReader, where: str, *, called: bool) -> None:
    words, text = split_thought(value)
    if not called:
        reader.say("assistant", *thoughts(words), optional_text(text))
        return
    try:
        given = jsontext.exact(text)
    except ValueError as error:
        raise DecodeError(f"{where}.value", f"the call is no JSON: {error}") from None
    calls = [_read_call(each, reader, where) for each in _listed(given)]
    reader.say("assistant", *thoughts(words), *calls)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _read_call(value: Any, reader: TurnReader, where: str) -> Any:
    if not isinstance(value, dict):
        raise DecodeError(f"{where}.value", "a call is an object")
    return reader.call(value.get("name"), value.get("arguments"))


def _read_results(value: str, reader: TurnReader) -> None:
    """One result, or the list of all of them where several calls wait."""
    several = reader.waiting
    if several > 1:
        try:
            given = jsontext.exact(value)
        except ValueError:
            given = None
        if isinstance(given, list) and len(given) == several:
            for each in given:
                reader.answer(each if isinstance(each, str) else jsontext.text(each))
            return
    reader.answer(value)


def write(conversation: RecordedConversation, ctx: Context) -> list[Json]:
    """A row."""
    turns = [
        {"from": speaker, "value": value}
        for turn in plain_turns(conversation, ctx)
        for speaker, value in _write_turn(turn, ctx)
    ]
    row: Json = {**conversation.metadata, "conversations": turns}
    if system := system_text(conversation, ctx):
        row["system"] = system
    if tools := list(functions(conversation.request.tools)):
        row["tools"] = jsontext.text(tools)
    return [row]


def _write_turn(turn: PlainTurn, ctx: Context) -> Iterator[tuple[str, str]]:
    if turn.role == "tool":
        texts = [result_text(result, ctx) for result in turn.results]
        if len(texts) > 1:
            ctx.note("text-joined", ctx.where(turn.results[0]), f"{len(texts)} results as a list")
        yield "observation", jsontext.text(texts) if len(texts) > 1 else texts[0]
        return
    head = f"<think>\n{turn.thoughts}\n</think>\n\n" if turn.thoughts else ""
    if not turn.calls:
        speaker = {"assistant": "gpt", "user": "human"}.get(turn.role, "system")
        yield speaker, head + turn.text
        return
    if turn.text.strip():
        words = "a turn with calls has no text beside them"
        ctx.note("part-dropped", ctx.where(turn.calls[0]), words)
    calls = [as_call(call) for call in turn.calls]
    yield "function_call", head + jsontext.text(calls if len(calls) > 1 else calls[0])


FORMAT: Final = Format(
    name="sharegpt",
    summary="ShareGPT (LLaMA-Factory, APIGen-MT): turns of `human`, `gpt`, `function_call`",
    reference="https://github.com/hiyouga/LLaMA-Factory/blob/main/data/README.md (2026-11-16)",
    surface=of_text("sharegpt", path="conversations", content="value", reasoning=True),
    read=read,
    write=write,
    recognise=recognise,
    ids=False,
    checked=True,
    holds=frozenset({"system", "tools", "metadata"}),
    aliases=("apigen-mt", "llama-factory"),
)
