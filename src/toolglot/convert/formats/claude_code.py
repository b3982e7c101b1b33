"""Sessions of Claude Code: `~/.claude/projects/FOLDER/ID.jsonl`.

One line for each message of the user and for each block of an answer, which share a message id.
Lines point to the one before by `parentUuid`, so that a session is a tree: what the user took back
is a branch that nothing leads to. Lines of sub-agents have `isSidechain`. Observed with Claude Code
2.1.197 (2026-11-16).
"""

from collections.abc import Iterator
from typing import Any, Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.convert.format import Format, Rows
from toolglot.convert.identifiers import new_uuid, session_id, times_of
from toolglot.convert.protocol_rows import read_body, with_turns, write_body
from toolglot.convert.surfaces import written_down
from toolglot.convert.transcript import RecordedConversation, turn_of
from toolglot.errors import DecodeError
from toolglot.ir import Json, Message
from toolglot.protocols import anthropic

_SPOKEN: Final = ("user", "assistant")
_VERSION: Final = "2.1.197"
_SYNTHETIC: Final = "<synthetic>"
"""The model of what the client itself says in place of an answer."""
_FACTS: Final = {
    "id": "sessionId",
    "time": "timestamp",
    "folder": "cwd",
    "branch": "gitBranch",
    "version": "version",
}
_USAGE: Final = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_input_tokens",
    "cache_write": "cache_creation_input_tokens",
}


def recognise(row: Json) -> str:
    """A line of a session."""
    if "sessionId" not in row:
        return ""
    if row.get("type") in _SPOKEN and isinstance(row.get("message"), dict):
        return "" if "parts" in row["message"] else "lines have `sessionId` and a `message`"
    named = row.get("type") in ("queue-operation", "summary", "last-prompt", "mode")
    return "lines have `sessionId` and the types of Claude Code" if named else ""


# --- reading --------------------------------------------------------------------------------------


def read(rows: Rows, ctx: Context) -> RecordedConversation:
    """A session with the conversations of its sub-agents."""
    spoken = [row for row in rows if row.get("type") in _SPOKEN and "message" in row]
    if not spoken:
        raise DecodeError("", "the session has no messages")
    main = [row for row in spoken if not row.get("isSidechain")] or spoken
    sides: dict[str, list[Json]] = {}
    for row in spoken if main is not spoken else ():
        if row.get("isSidechain"):
            sides.setdefault(str(row.get("agentId") or row.get("sessionId")), []).append(row)
    _note_others(rows, ctx)
    found = _read_lines(_on_branch(main, rows, ctx), ctx)
    title = next((row["summary"] for row in rows if row.get("type") == "summary"), None)
    facts = dict(found.facts) | {"agent": "claude-code"} | ({"title": title} if title else {})
    others = tuple(_read_side(name, each, ctx) for name, each in sides.items())
    return replace(found, facts=facts, sides=others)


def _read_side(name: str, rows: list[Json], ctx: Context) -> RecordedConversation:
    side = _read_lines(rows, ctx)
    return replace(side, facts={**side.facts, "id": name, "agent": "claude-code"})


def _note_others(rows: Rows, ctx: Context) -> None:
    """Note the lines that are no messages: what the client keeps for itself."""
    counts: dict[str, int] = {}
    for row in rows:
        kind = str(row.get("type"))
        if kind not in (*_SPOKEN, "summary"):
            counts[kind] = counts.get(kind, 0) + 1
    for kind, count in counts.items():
        ctx.note("field-minor", kind, f"{count} lines that only Claude Code reads")


def _on_branch(lines: list[Json], rows: Rows, ctx: Context) -> list[Json]:
    """The lines without those that the user took back."""
    parents = {row["uuid"]: _parent(row) for row in rows if isinstance(row.get("uuid"), str)}
    prompts = {row["uuid"] for row in lines if _is_prompt(row) and "uuid" in row}
    last = _prompt_of(lines[-1].get("uuid"), parents, prompts)
    chain = {last}
    while last is not None:
        last = _prompt_of(parents.get(last), parents, prompts)
        chain.add(last)
    kept = [row for row in lines if _prompt_of(row.get("uuid"), parents, prompts) in chain]
    if len(kept) < len(lines):
        taken = len(lines) - len(kept)
        ctx.note("message-dropped", "", f"{taken} lines of branches that were taken back", "lossy")
    return kept


def _prompt_of(uuid: Any, parents: dict[str, Any], prompts: set[Any]) -> str | None:
    """The nearest prompt at or before a line; None: there is none."""
    seen = 0
    while uuid is not None and uuid not in prompts and seen <= len(parents):
        uuid, seen = parents.get(uuid), seen + 1
    return uuid if uuid in prompts else None


def _parent(row: Json) -> Any:
    return row.get("parentUuid") or row.get("logicalParentUuid")


def _is_prompt(row: Json) -> bool:
    return row.get("type") == "user" and not _is_result(row)


def _is_result(row: Json) -> bool:
    content = row["message"].get("content")
    return isinstance(content, list) and any(
        isinstance(part, dict) and part.get("type") == "tool_result" for part in content
    )


def _read_lines(lines: list[Json], ctx: Context) -> RecordedConversation:
    messages: list[Json] = []
    facts: list[Json] = []
    places: dict[str, int] = {}
    for row in lines:
        message = row["message"]
        if message.get("model") == _SYNTHETIC:
            ctx.note("message-dropped", "", "what the client said in place of an answer")
            continue
        wire = {"role": message.get("role"), "content": message.get("content")}
        place = places.get(message.get("id") or "")
        if wire["role"] == "assistant" and place is not None:
            messages[place]["content"] = [*messages[place]["content"], *wire["content"]]
            continue
        if _is_result(row) and messages and messages[-1]["role"] == "user" and facts[-1]["result"]:
            messages[-1]["content"] = [*messages[-1]["content"], *wire["content"]]
            continue
        if wire["role"] == "assistant" and isinstance(message.get("id"), str):
            places[message["id"]] = len(messages)
        messages.append(wire)
        facts.append({**_turn(row), "result": _is_result(row)})
    for fact in facts:
        del fact["result"]
    model = next((fact["model"] for fact in facts if fact.get("model")), "")
    request = read_body({"model": model, "messages": messages}, anthropic.NAME, ctx)
    first = lines[0]
    known = {name: first[key] for name, key in _FACTS.items() if isinstance(first.get(key), str)}
    return RecordedConversation(request=with_turns(request, facts), facts=known)


def _turn(row: Json) -> Json:
    message = row["message"]
    turn: Json = {"time": row.get("timestamp"), "context": bool(row.get("isMeta"))}
    if row.get("type") == "assistant":
        usage = message.get("usage") or {}
        counts = {name: usage[key] for name, key in _USAGE.items() if usage.get(key)}
        turn |= {"id": message.get("id"), "model": message.get("model"), "usage": counts}
    return turn | ({"summary": True} if row.get("isCompactSummary") else {})


# --- writing --------------------------------------------------------------------------------------


def write(conversation: RecordedConversation, ctx: Context) -> list[Json]:
    """A session that `claude --resume` continues."""
    session = session_id(conversation, ctx)
    lines = list(_lines(conversation, session, ctx, {}))
    for side in conversation.sides:
        marks = {"isSidechain": True, "agentId": side.facts.get("id") or new_uuid(ctx)}
        lines += _lines(side, session, ctx, marks)
    title = conversation.facts.get("title")
    if title and lines:
        lines.append({"type": "summary", "summary": title, "leafUuid": lines[-1]["uuid"]})
    return lines


def _lines(
    conversation: RecordedConversation, session: str, ctx: Context, marks: Json
) -> Iterator[Json]:
    facts = conversation.facts
    same: Json = {
        "isSidechain": False,
        "userType": "external",
        "cwd": facts.get("folder", "/"),
        "sessionId": session,
        "version": facts.get("version", _VERSION),
        "gitBranch": facts.get("branch", ""),
    } | marks
    last: str | None = None
    times = times_of(conversation, ctx)
    for message, time in zip(conversation.messages, times, strict=True):
        for line in _message_lines(conversation, message, ctx):
            uuid = new_uuid(ctx)
            before: Json = {"parentUuid": last}
            if line.get("subtype") == "compact_boundary":
                before = {"parentUuid": None, "logicalParentUuid": last}
            yield {**before, **same, **line, "uuid": uuid, "timestamp": time}
            last = uuid


def _message_lines(
    conversation: RecordedConversation, message: Message, ctx: Context
) -> Iterator[Json]:
    turn = turn_of(message)
    for wire in _wires(conversation, message, ctx):
        if wire["role"] == "user":
            line: Json = {"type": "user", "message": wire}
            if turn.get("summary"):
                boundary = {"type": "system", "subtype": "compact_boundary"}
                yield {**boundary, "content": "RecordedConversation compacted", "isMeta": False}
                line |= {"isCompactSummary": True}
            yield line | ({"isMeta": True} if turn.get("context") else {})
            continue
        called = any(block.get("type") == "tool_use" for block in wire["content"])
        head = {
            "id": turn.get("id") or ctx.new_id("msg_"),
            "type": "message",
            "role": "assistant",
            "model": turn.get("model") or conversation.request.model or _SYNTHETIC[1:-1],
        }
        tail = {
            "stop_reason": "tool_use" if called else "end_turn",
            "stop_sequence": None,
            "usage": {key: turn.get("usage", {}).get(name, 0) for name, key in _USAGE.items()},
        }
        for block in wire["content"]:
            yield {"type": "assistant", "message": {**head, "content": [block], **tail}}


def _wires(conversation: RecordedConversation, message: Message, ctx: Context) -> Iterator[Json]:
    alone = replace(conversation.request, messages=(message,), system=None, tools=())
    for wire in write_body(alone, anthropic.NAME, ctx).get("messages", ()):
        content = wire["content"]
        if wire["role"] == "assistant" and isinstance(content, str):
            content = [{"type": "text", "text": content}]
        if wire["role"] == "system":
            ctx.note("role-changed", ctx.where_turn(message), "system text is the user's here")
            wire = {**wire, "role": "user"}  # noqa: PLW2901 - the one with another role
        yield {**wire, "content": content}


FORMAT: Final = Format(
    name="claude-code",
    summary="sessions of Claude Code, with sub-agents and compaction",
    reference="observed with Claude Code 2.1.197 (2026-11-16)",
    surface=written_down(anthropic.SURFACE, messages={"merges_turns": False, "alternate": False}),
    read=read,
    write=write,
    recognise=recognise,
    unit="file",
    paired=True,
    holds=frozenset({"model", "sides"}),
    facts=frozenset({*_FACTS, "agent", "title"}),
    turn_facts=frozenset({"time", "id", "model", "usage", "summary", "context"}),
    client="claude-code",
)
