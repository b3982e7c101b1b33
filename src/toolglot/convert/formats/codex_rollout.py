"""Sessions of Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-TIME-ID.jsonl`.

Every line is `{timestamp, type, payload}`: the session and its model (`session_meta`,
`turn_context`), items of the Responses API (`response_item`), what was shown (`event_msg`), and
`compacted` where a summary took the place of what was said before. Observed with Codex 0.166.0
(2026-11-16).
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.convert.format import Format, Rows
from toolglot.convert.identifiers import session_id, times_of
from toolglot.convert.plain_turns import system_text
from toolglot.convert.protocol_rows import read_body, with_turns, write_body
from toolglot.convert.surfaces import written_down
from toolglot.convert.transcript import RecordedConversation, turn_of, with_turn
from toolglot.errors import DecodeError
from toolglot.ir import Json, Message, Text, ToolResult
from toolglot.protocols import openai_responses

_TYPES: Final = frozenset(
    {"session_meta", "turn_context", "response_item", "event_msg", "compacted", "world_state"}
)
_VERSION: Final = "0.166.0"
_OURS: Final = ("internal_chat_message_metadata_passthrough", "metadata", "phase")
"""Members of items that only the client reads."""
_SCENE: Final = ("<environment_context>", "<user_instructions>", "# AGENTS.md instructions")
"""How messages begin by which the client sets the scene."""
_USAGE: Final = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cached_input_tokens",
    "cache_write": "cache_write_input_tokens",
    "reasoning": "reasoning_output_tokens",
}


def recognise(row: Json) -> str:
    """A line of a rollout."""
    is_line = row.get("type") in _TYPES and "timestamp" in row and "payload" in row
    return "lines are `timestamp`, `type`, `payload` of Codex" if is_line else ""


# --- reading --------------------------------------------------------------------------------------


def read(rows: Rows, ctx: Context) -> RecordedConversation:
    """A session."""
    found = _Lines()
    for row in rows:
        payload, take = row.get("payload"), _TAKERS.get(str(row.get("type")))
        if take is not None and isinstance(payload, dict):
            take(found, payload, row.get("timestamp"))
    if not found.items:
        raise DecodeError("", "the session has no messages")
    _note_others(rows, ctx)
    body: Json = {"model": found.model, "input": found.items}
    if instructions := _instructions(found.meta):
        body["instructions"] = instructions
    request = read_body(body, openai_responses.NAME, ctx)
    facts = found.facts
    if len(request.messages) != len(facts):
        pairs = zip(found.items, facts, strict=True)
        facts = [fact for item, fact in pairs if item.get("type") != "additional_tools"]
    request = with_turns(request, facts)
    if not ctx.in_protocol:
        request = replace(request, messages=tuple(_joined(request.messages)))
    return RecordedConversation(request=request, facts=_facts(found.meta))


class _Lines:
    """What the lines of a session say."""

    def __init__(self) -> None:
        self.items: list[Json] = []
        self.facts: list[Json] = []
        self.meta: Json = {}
        self.model = ""

    def session(self, payload: Json, _time: Any) -> None:
        """Which session it is; of several, as after a fork, the first."""
        self.meta = self.meta or payload

    def context(self, payload: Json, _time: Any) -> None:
        """Which model is asked from here on."""
        self.model = payload.get("model") or self.model

    def item(self, payload: Json, time: Any) -> None:
        """An item of the Responses API."""
        self.items.append({key: each for key, each in payload.items() if key not in _OURS})
        self.facts.append(_turn(payload, time, self.model))

    def compacted(self, payload: Json, time: Any) -> None:
        """A summary in place of what was said before."""
        self.items.append(_summary(payload))
        self.facts.append({"time": time, "summary": True})

    def event(self, payload: Json, _time: Any) -> None:
        """What was shown, of which only the tokens are new."""
        if payload.get("type") == "token_count":
            _count(self.facts, payload)


_TAKERS: Final[dict[str, Callable[[_Lines, Json, Any], None]]] = {
    "session_meta": _Lines.session,
    "turn_context": _Lines.context,
    "response_item": _Lines.item,
    "compacted": _Lines.compacted,
    "event_msg": _Lines.event,
}


def _summary(payload: Json) -> Json:
    text = {"type": "input_text", "text": str(payload.get("message") or "")}
    return {"type": "message", "role": "user", "content": [text]}


def _turn(item: Json, time: Any, model: str) -> Json:
    turn: Json = {"time": time}
    if item.get("type") == "message" and item.get("role") != "assistant":
        content = item.get("content")
        first = content[0] if isinstance(content, list) and content else {}
        words = first.get("text") if isinstance(first, dict) else content
        is_scene = isinstance(words, str) and words.startswith(_SCENE)
        return turn | {"context": item.get("role") != "user" or is_scene}
    if item.get("type") in ("message", "reasoning", "function_call", "custom_tool_call"):
        turn["model"] = model
    return turn


def _count(facts: list[Json], payload: Json) -> None:
    """Tokens are told after an answer; they are those of its first item."""
    info = payload.get("info")
    last = info.get("last_token_usage") if isinstance(info, dict) else None
    if not isinstance(last, dict):
        return
    counts = {name: last[key] for name, key in _USAGE.items() if last.get(key)}
    if "input" in counts:
        # All input is told, cached or not.
        fresh = counts["input"] - counts.get("cache_read", 0) - counts.get("cache_write", 0)
        counts["input"] = max(fresh, 0)
    said = [fact for fact in facts if fact.get("model")]
    first = None
    for fact in reversed(said):
        if "usage" in fact:
            break
        first = fact
    if first is not None:
        first["usage"] = counts


def _instructions(meta: Json) -> str:
    given = meta.get("base_instructions") or meta.get("instructions")
    text = given.get("text") if isinstance(given, dict) else given
    return text if isinstance(text, str) else ""


def _facts(meta: Json) -> dict[str, str]:
    git = meta.get("git") if isinstance(meta.get("git"), dict) else {}
    facts = {
        "id": meta.get("id"),
        "time": meta.get("timestamp"),
        "folder": meta.get("cwd"),
        "branch": git.get("branch") if git else None,
        "agent": "codex",
        "version": meta.get("cli_version"),
    }
    return {key: value for key, value in facts.items() if isinstance(value, str) and value}


def _note_others(rows: Rows, ctx: Context) -> None:
    counts: dict[str, int] = {}
    for row in rows:
        kind = str(row.get("type"))
        if kind not in ("session_meta", "turn_context", "response_item", "compacted"):
            counts[kind] = counts.get(kind, 0) + 1
    for kind, count in counts.items():
        ctx.note("field-minor", kind, f"{count} lines that only Codex reads")


def _joined(messages: tuple[Message, ...]) -> Iterator[Message]:
    """The items of one answer, or the results after it, as one message."""
    run: list[Message] = []
    for message in messages:
        if run and _belongs(run[-1], message):
            run.append(message)
            continue
        if run:
            yield _one(run)
        run = [message]
    if run:
        yield _one(run)


def _belongs(last: Message, message: Message) -> bool:
    if last.role != message.role:
        return False
    if message.role == "assistant":
        return True
    return all(isinstance(part, ToolResult) for part in (*last.parts, *message.parts))


def _one(run: list[Message]) -> Message:
    first, *rest = run
    if not rest:
        return first
    parts = tuple(part for message in run for part in message.parts)
    known: Json = {}
    for message in reversed(run):
        known |= turn_of(message)
    return with_turn(Message(role=first.role, parts=parts), **known)


# --- writing --------------------------------------------------------------------------------------


def write(conversation: RecordedConversation, ctx: Context) -> list[Json]:
    """A session that `codex resume` continues."""
    session = session_id(conversation, ctx)
    facts, request = conversation.facts, conversation.request
    times = times_of(conversation, ctx)
    start = times[0] if times else ""
    meta: Json = {
        "id": session,
        "timestamp": start,
        "cwd": facts.get("folder", "/"),
        "originator": "toolglot",
        "cli_version": facts.get("version", _VERSION) if _is_own(facts) else _VERSION,
        "source": "cli",
    }
    if text := system_text(conversation, ctx):
        meta["base_instructions"] = {"text": text}
    if "branch" in facts:
        meta["git"] = {"branch": facts["branch"]}
    lines = [_line("session_meta", start, meta)]
    context: Json = {"cwd": meta["cwd"], "approval_policy": "on-request"}
    context |= {"sandbox_policy": {"type": "read-only"}, "model": request.model, "summary": "auto"}
    lines.append(_line("turn_context", start, context))
    for message, time in zip(conversation.messages, times, strict=True):
        lines += _lines(conversation, message, time, ctx)
    return lines


def _is_own(facts: Mapping[str, str]) -> bool:
    return facts.get("agent") == "codex"


def _line(kind: str, time: str, payload: Json) -> Json:
    return {"timestamp": time, "type": kind, "payload": payload}


def _lines(
    conversation: RecordedConversation, message: Message, time: str, ctx: Context
) -> Iterator[Json]:
    turn = turn_of(message)
    words = "\n".join(part.text for part in message.parts if isinstance(part, Text))
    if turn.get("summary"):
        yield _line("compacted", time, {"message": words})
        return
    alone = replace(
        conversation.request, messages=(message,), system=None, tools=(), store=False, model=""
    )
    for item in write_body(alone, openai_responses.NAME, ctx).get("input", ()):
        yield _line("response_item", time, item)
    if words and message.role in _SHOWN and not turn.get("context"):
        yield _line("event_msg", time, {"type": _SHOWN[message.role], "message": words})
    if turn.get("usage"):
        yield _line("event_msg", time, _token_count(turn["usage"]))


_SHOWN: Final = {"user": "user_message", "assistant": "agent_message"}


def _token_count(usage: Json) -> Json:
    counts = {key: usage.get(name, 0) for name, key in _USAGE.items()}
    cached = counts["cached_input_tokens"] + counts["cache_write_input_tokens"]
    counts["input_tokens"] += cached
    counts["total_tokens"] = counts["input_tokens"] + counts["output_tokens"]
    info = {"total_token_usage": counts, "last_token_usage": counts}
    return {"type": "token_count", "info": info, "rate_limits": None}


FORMAT: Final = Format(
    name="codex",
    summary="rollouts of Codex, with compaction",
    reference="observed with Codex 0.166.0 (2026-11-16)",
    surface=written_down(openai_responses.SURFACE),
    read=read,
    write=write,
    recognise=recognise,
    unit="file",
    paired=True,
    holds=frozenset({"system", "model"}),
    facts=frozenset({"id", "time", "folder", "branch", "agent", "version"}),
    turn_facts=frozenset({"time", "usage", "summary", "context", "model"}),
    client="codex",
    aliases=("codex-rollout",),
)
