"""Sessions of Qwen Code: `~/.qwen/projects/FOLDER/chats/ID.jsonl`.

Lines as in Claude Code, with messages as in Gemini. Observed with Qwen Code 0.15.10 (2026-11-16).
"""

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.convert.format import Format, Rows
from toolglot.convert.identifiers import new_uuid, session_id, times_of
from toolglot.convert.protocol_rows import read_body, with_turns, write_body
from toolglot.convert.surfaces import written_down
from toolglot.convert.transcript import RecordedConversation, turn_of
from toolglot.errors import DecodeError
from toolglot.ir import Json
from toolglot.protocols import gemini

_SPOKEN: Final = ("user", "assistant", "tool_result")
_VERSION: Final = "0.15.10"
_FACTS: Final = {"id": "sessionId", "time": "timestamp", "folder": "cwd", "version": "version"}
_USAGE: Final = {
    "input": "promptTokenCount",
    "output": "candidatesTokenCount",
    "cache_read": "cachedContentTokenCount",
    "reasoning": "thoughtsTokenCount",
}


def recognise(row: Json) -> str:
    """A line with a message of parts."""
    message = row.get("message")
    spoken = "sessionId" in row and isinstance(message, dict) and "parts" in message
    return "lines have `sessionId` and messages of `parts`" if spoken else ""


def read(rows: Rows, ctx: Context) -> RecordedConversation:
    """A session."""
    lines = [row for row in rows if row.get("type") in _SPOKEN and isinstance(_of(row), dict)]
    if not lines:
        raise DecodeError("", "the session has no messages")
    others = len(rows) - len(lines)
    if others:
        ctx.note("field-minor", "type", f"{others} lines that only Qwen Code reads")
    contents = [{"role": _of(row).get("role"), "parts": _of(row).get("parts")} for row in lines]
    model = next((row["model"] for row in lines if row.get("model")), "")
    request = read_body({"model": model, "contents": contents}, gemini.NAME, ctx)
    first = lines[0]
    facts = {name: first[key] for name, key in _FACTS.items() if isinstance(first.get(key), str)}
    return RecordedConversation(
        request=with_turns(request, [_turn(row) for row in lines]),
        facts={**facts, "agent": "qwen-code"},
    )


def _of(row: Json) -> Json:
    message: Json = row.get("message") or {}
    return message


def _turn(row: Json) -> Json:
    told = row.get("usageMetadata") or {}
    usage = {name: told[key] for name, key in _USAGE.items() if told.get(key)}
    if "input" in usage:
        usage["input"] -= usage.get("cache_read", 0)
    if "output" in usage:
        usage["output"] += usage.get("reasoning", 0)
    turn = {"time": row.get("timestamp"), "id": row.get("uuid"), "usage": usage}
    return turn | ({"model": row["model"]} if row.get("model") else {})


def write(conversation: RecordedConversation, ctx: Context) -> list[Json]:
    """A session."""
    return list(_lines(conversation, ctx))


def _lines(conversation: RecordedConversation, ctx: Context) -> Iterator[Json]:
    facts = conversation.facts
    session = session_id(conversation, ctx)
    last: str | None = None
    times = times_of(conversation, ctx)
    for message, time in zip(conversation.messages, times, strict=True):
        turn = turn_of(message)
        alone = replace(conversation.request, messages=(message,), system=None, tools=())
        for wire in write_body(alone, gemini.NAME, ctx).get("contents", ()):
            uuid = new_uuid(ctx)
            kind = "assistant" if wire.get("role") == "model" else "user"
            if any("functionResponse" in part for part in wire.get("parts") or ()):
                kind = "tool_result"
            line: Json = {"uuid": uuid, "parentUuid": last, "sessionId": session}
            line |= {"timestamp": time, "type": kind, "cwd": facts.get("folder", "/")}
            line["version"] = facts.get("version", _VERSION)
            if kind == "assistant":
                line["model"] = turn.get("model") or conversation.request.model
            line["message"] = wire
            if turn.get("usage") and kind == "assistant":
                line["usageMetadata"] = _usage(turn["usage"])
            yield line
            last = uuid


def _usage(usage: Json) -> Json:
    prompt = usage.get("input", 0) + usage.get("cache_read", 0) + usage.get("cache_write", 0)
    thought = usage.get("reasoning", 0)
    output = usage.get("output", 0)
    return {
        "promptTokenCount": prompt,
        "cachedContentTokenCount": usage.get("cache_read", 0),
        "candidatesTokenCount": output - thought,
        "thoughtsTokenCount": thought,
        "totalTokenCount": prompt + output,
    }


FORMAT: Final = Format(
    name="qwen-code",
    summary="sessions of Qwen Code",
    reference="observed with Qwen Code 0.15.10 (2026-11-16)",
    surface=written_down(gemini.SURFACE, messages={"merges_turns": False, "alternate": False}),
    read=read,
    write=write,
    recognise=recognise,
    unit="file",
    paired=True,
    holds=frozenset({"model"}),
    facts=frozenset({*_FACTS, "agent"}),
    turn_facts=frozenset({"time", "model", "usage"}),
    client="qwen-code",
)
