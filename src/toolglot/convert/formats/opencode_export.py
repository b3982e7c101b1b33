"""Sessions of opencode, as `opencode export` prints them: `info` and `messages` of parts.

A call is a part of type `tool` with its input and output in `state`. Observed with opencode 1.18.33
(2026-11-16).
"""

from datetime import UTC, datetime
from typing import Any, Final

from toolglot.context import Context
from toolglot.convert.format import Format, Rows
from toolglot.convert.identifiers import times_of, write_time
from toolglot.convert.plain_turns import (
    PlainTurn,
    TurnReader,
    list_of,
    plain_turns,
    result_text,
)
from toolglot.convert.surfaces import of_text
from toolglot.convert.transcript import RecordedConversation
from toolglot.errors import DecodeError
from toolglot.ir import Document, Image, Inline, Json, Part, Reasoning, Remote, Text, ToolCall

_SECOND: Final = 1000
_STEPS: Final = frozenset({"step-start", "step-finish", "snapshot", "patch"})
"""Parts in which opencode keeps account."""
_VERSION: Final = "1.18.33"


def recognise(row: Json) -> str:
    """A document of a session."""
    messages = row.get("messages")
    if not isinstance(row.get("info"), dict) or not isinstance(messages, list):
        return ""
    has_parts = all(isinstance(m, dict) and {"info", "parts"} <= m.keys() for m in messages)
    return "it has `info`, and messages with `info` and `parts`" if has_parts else ""


def read(rows: Rows, ctx: Context) -> RecordedConversation:
    """A session."""
    (row,) = rows
    reader = TurnReader("messages", ctx)
    model = ""
    for index, message in enumerate(list_of(row, "messages")):
        info, parts = message.get("info"), message.get("parts")
        if not isinstance(info, dict) or not isinstance(parts, list):
            raise DecodeError(f"messages[{index}]", "expected `info` and `parts`")
        facts = _read_turn(info)
        if info.get("role") == "user":
            texts = [_read_part(part, ctx) for part in parts]
            reader.say("user", *texts, **facts)
            continue
        model = str(info.get("modelID") or model)
        _read_answer(parts, reader, {**facts, "model": info.get("modelID")}, ctx)
    info = row["info"]
    facts = {
        "id": info.get("id"),
        "title": info.get("title"),
        "folder": info.get("directory"),
        "version": info.get("version"),
        "time": _time((info.get("time") or {}).get("created")),
    }
    known = {key: value for key, value in facts.items() if isinstance(value, str) and value}
    return RecordedConversation(
        request=reader.finish(model=model), facts={**known, "agent": "opencode"}
    )


def _read_turn(info: Json) -> Json:
    tokens = info.get("tokens") or {}
    cache = tokens.get("cache") or {}
    usage = {
        "input": tokens.get("input"),
        "output": (tokens.get("output") or 0) + (tokens.get("reasoning") or 0),
        "reasoning": tokens.get("reasoning"),
        "cache_read": cache.get("read"),
        "cache_write": cache.get("write"),
    }
    return {
        "time": _time((info.get("time") or {}).get("created")),
        "id": info.get("id"),
        "usage": {name: count for name, count in usage.items() if count},
        "summary": info.get("summary") is True,
    }


def _time(milliseconds: Any) -> str | None:
    if not isinstance(milliseconds, (int, float)):
        return None
    return write_time(datetime.fromtimestamp(milliseconds / _SECOND, UTC))


def _read_answer(parts: list[Any], reader: TurnReader, facts: Json, ctx: Context) -> None:
    """Parts up to the results of calls are one answer; there may be several in a message."""
    said: list[Part | None] = []
    made: list[Json] = []
    for part in parts:
        if part.get("type") == "tool":
            state = part.get("state") or {}
            said.append(reader.call(part.get("tool"), state.get("input"), part.get("callID")))
            made.append(part)
        elif part.get("type") not in _STEPS:
            if made:
                _finish(said, made, reader, facts)
                said, made = [], []
            said.append(_read_part(part, ctx))
    _finish(said, made, reader, facts)


def _finish(said: list[Any], made: list[Json], reader: TurnReader, facts: Json) -> None:
    if said:
        reader.say("assistant", *said, **facts)
        # What is told of a message is told once.
        facts.pop("usage", None)
    for part in made:
        state = part.get("state") or {}
        failed = state.get("status") == "error"
        output = state.get("error") if failed else state.get("output")
        if output is not None:
            content: list[Part] = [Text(text=str(output))] if output else []
            content += filter(None, (_read_file(each) for each in state.get("attachments") or ()))
            error = True if failed else None
            reader.answer_with(tuple(content), part.get("tool"), part.get("callID"), is_error=error)


def _read_part(part: Json, ctx: Context) -> Part | None:
    kind = part.get("type")
    if kind == "text":
        return Text(text=str(part.get("text", "")))
    if kind == "reasoning":
        return Reasoning(text=str(part.get("text", ""))) if part.get("text") else None
    if kind == "file":
        return _read_file(part)
    if kind not in _STEPS:
        ctx.note("part-dropped", f"messages[].parts.{kind}", "only opencode reads it")
    return None


def _read_file(part: Json) -> Part:
    url, media_type = str(part.get("url")), str(part.get("mime", ""))
    head, mark, data = url.partition(";base64,")
    source = (
        Inline(media_type=head.removeprefix("data:"), data=data)
        if mark
        else Remote(url=url, media_type=media_type)
    )
    if media_type.startswith("image/"):
        return Image(source=source)
    return Document(source=source, name=part.get("filename"))


def write(conversation: RecordedConversation, ctx: Context) -> list[Json]:
    """A session that `opencode import` takes."""
    facts = conversation.facts
    session = facts.get("id", "")
    session = session if session.startswith("ses_") else ctx.new_id("ses_")
    times = times_of(conversation, ctx)
    messages: list[Json] = []
    asked = ""
    for message, time in zip(conversation.messages, times, strict=True):
        for turn in plain_turns(conversation.with_messages((message,)), ctx):
            if turn.role == "tool":
                _add_results(messages, turn, _milliseconds(time), ctx)
            else:
                wire = _write_turn(turn, _milliseconds(time), session, conversation, ctx)
                if wire["info"]["role"] == "user":
                    asked = wire["info"]["id"]
                else:
                    wire["info"]["parentID"] = asked or wire["info"]["id"]
                messages.append(wire)
    created = _milliseconds(times[0]) if times else 0
    updated = _milliseconds(times[-1]) if times else 0
    info: Json = {
        "id": session,
        "slug": session.removeprefix("ses_").lower(),
        "projectID": "global",
        "directory": facts.get("folder", "/"),
        "title": facts.get("title", "Converted session"),
        "version": facts.get("version", _VERSION) if facts.get("agent") == "opencode" else _VERSION,
        "time": {"created": created, "updated": updated},
    }
    return [{"info": info, "messages": messages}]


def _milliseconds(time: str) -> int:
    return round(datetime.fromisoformat(time).timestamp() * _SECOND)


def _write_turn(
    turn: PlainTurn, time: int, session: str, conversation: RecordedConversation, ctx: Context
) -> Json:
    own = conversation.facts.get("agent") == "opencode"
    identity = turn.facts.get("id") if own and "id" in turn.facts else _id("msg_", time, ctx)
    model = turn.facts.get("model") or conversation.request.model
    info: Json = {"id": identity, "sessionID": session, "time": {"created": time}}
    if turn.role == "assistant":
        usage = turn.facts.get("usage", {})
        info |= {"role": "assistant", "modelID": model, "providerID": "toolglot", "cost": 0}
        folder = conversation.facts.get("folder", "/")
        info |= {"mode": "build", "agent": "build", "path": {"cwd": folder, "root": folder}}
        info["finish"] = "tool-calls" if turn.calls else "stop"
        info["time"]["completed"] = time
        info["tokens"] = {
            "input": usage.get("input", 0),
            "output": usage.get("output", 0) - usage.get("reasoning", 0),
            "reasoning": usage.get("reasoning", 0),
            "cache": {"read": usage.get("cache_read", 0), "write": usage.get("cache_write", 0)},
        }
    else:
        info |= {"role": "user", "agent": "build"}
        info["model"] = {"providerID": "toolglot", "modelID": model}
    if turn.facts.get("summary"):
        info["summary"] = True
    parts: list[Json] = []
    if turn.thoughts:
        parts.append(
            {"type": "reasoning", "text": turn.thoughts, "time": {"start": time, "end": time}}
        )
    if turn.text:
        parts.append({"type": "text", "text": turn.text})
    parts += [{"type": "file", **_file(image)} for image in turn.images]
    parts += [_write_call(call, time) for call in turn.calls]
    for number, part in enumerate(parts):
        name = _id("prt_", time, ctx, number)
        part |= {"id": name, "messageID": identity, "sessionID": session}
    return {"info": info, "parts": parts}


def _id(prefix: str, time: int, ctx: Context, number: int = 0) -> str:
    """An id that follows those before it: opencode sorts by them."""
    return f"{prefix}{time:012x}{number:03x}{ctx.new_id('')[:11]}"


def _file(image: Image) -> Json:
    source = image.source
    if isinstance(source, Inline):
        url = f"data:{source.media_type};base64,{source.data}"
        return {"mime": source.media_type, "url": url}
    url = source.url if isinstance(source, Remote) else ""
    return {"mime": getattr(source, "media_type", None) or "image/png", "url": url}


def _write_call(call: ToolCall, time: int) -> Json:
    state = {"status": "running", "input": call.input, "time": {"start": time}}
    return {"type": "tool", "callID": call.id, "tool": call.name, "state": state}


def _add_results(messages: list[Json], turn: PlainTurn, time: int, ctx: Context) -> None:
    parts = [part for message in messages for part in message["parts"]]
    calls = {part["callID"]: part["state"] for part in parts if part["type"] == "tool"}
    for result in turn.results:
        state = calls.get(result.id)
        if state is None:
            ctx.note("result-unmatched", ctx.where(result), "it is left out", "unsupported")
            continue
        text = result_text(result, ctx, marked=False)
        state["time"] = {**state["time"], "end": time}
        if result.is_error:
            state |= {"status": "error", "error": text}
        else:
            state |= {"status": "completed", "output": text, "title": "", "metadata": {}}
            images = [part for part in result.parts if isinstance(part, Image)]
            if images:
                state["attachments"] = [{"type": "file", **_file(image)} for image in images]


FORMAT: Final = Format(
    name="opencode",
    summary="sessions of opencode, as `opencode export` prints them",
    reference="observed with opencode 1.18.33 (2026-11-16)",
    surface=of_text(
        "opencode", path="messages", content="parts", reasoning=True, model=True, pictures=True
    ),
    read=read,
    write=write,
    recognise=recognise,
    suffix=".json",
    paired=True,
    holds=frozenset({"model"}),
    facts=frozenset({"id", "time", "title", "folder", "agent", "version"}),
    turn_facts=frozenset({"time", "id", "model", "usage", "summary"}),
    client="opencode",
)
