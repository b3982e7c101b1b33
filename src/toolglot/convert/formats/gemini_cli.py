"""Chats of Gemini CLI: `~/.gemini/tmp/PROJECT/chats/session-TIME-ID.jsonl`.

A line about the chat, then one for each message of `user` and `gemini`, which have their calls with
the results, and what was thought as subject and description. A message that comes again replaces
the one with its id, `$set` changes what is known of the chat, and `$rewindTo` takes a message and
all after it back. Older versions had one document with `messages`. Read from
`ChatRecordingService` in the bundle of Gemini CLI 0.61.0 (2026-11-16).
"""

from typing import Any, Final

from toolglot.context import Context
from toolglot.convert.format import Format, Rows
from toolglot.convert.identifiers import new_uuid, session_id, times_of
from toolglot.convert.plain_turns import (
    PlainTurn,
    TurnReader,
    list_of,
    optional_text,
    plain_turns,
    result_text,
)
from toolglot.convert.surfaces import of_text
from toolglot.convert.transcript import RecordedConversation
from toolglot.digest import digest
from toolglot.errors import DecodeError
from toolglot.ir import Json, Reasoning
from toolglot.wire import jsontext

_TOKENS: Final = {"input": "input", "output": "output", "cache_read": "cached"}
_SHOWN: Final = ("info", "error", "warning")


def recognise(row: Json) -> str:
    """What the first line says of a chat."""
    has = {"sessionId", "projectHash"} <= row.keys()
    return "it begins with `sessionId` and `projectHash`" if has else ""


def _document(rows: Rows, ctx: Context) -> Json:
    """The chat as one document, whichever form it has."""
    about: Json = {}
    messages: dict[str, Any] = {}
    taken_back = 0
    for row in rows:
        if "projectHash" in row:
            about |= row
            messages |= {str(each.get("id")): each for each in row.get("messages") or ()}
        elif isinstance(row.get("$set"), dict):
            about |= row["$set"]
        elif "$rewindTo" in row:
            names = list(messages)
            place = names.index(row["$rewindTo"]) if row["$rewindTo"] in messages else 0
            for name in names[place:]:
                del messages[name]
            taken_back += len(names) - place
        elif isinstance(row.get("id"), str):
            messages[row["id"]] = row
    if taken_back:
        words = f"{taken_back} messages that were taken back"
        ctx.note("message-dropped", "messages", words, "lossy")
    if not about:
        raise DecodeError("", "expected a line with `sessionId` and `projectHash`")
    return {**about, "messages": list(messages.values())}


def read(rows: Rows, ctx: Context) -> RecordedConversation:
    """A chat."""
    row = _document(rows, ctx)
    reader = TurnReader("messages", ctx)
    model = ""
    for index, message in enumerate(list_of(row, "messages")):
        if not isinstance(message, dict):
            raise DecodeError(f"messages[{index}]", "expected an object")
        kind = message.get("type")
        facts = {"time": message.get("timestamp"), "id": message.get("id")}
        text = optional_text(_text(message.get("content")))
        if kind == "user":
            reader.say("user", text, **facts)
        elif kind == "gemini":
            model = message.get("model") or model
            _read_answer(message, text, reader, facts)
        elif kind in _SHOWN or kind is None:
            ctx.note("field-minor", f"messages[{index}]", "what the client showed")
        else:
            raise DecodeError(f"messages[{index}].type", f"expected user or gemini, got {kind!r}")
    facts = {"id": row.get("sessionId"), "time": row.get("startTime"), "title": row.get("summary")}
    known = {key: value for key, value in facts.items() if isinstance(value, str) and value}
    return RecordedConversation(
        request=reader.finish(model=model), facts={**known, "agent": "gemini-cli"}
    )


def _read_answer(message: Json, text: Any, reader: TurnReader, facts: Json) -> None:
    words = [
        Reasoning(text=_thought(each.get("subject"), each.get("description")))
        for each in message.get("thoughts") or ()
        if isinstance(each, dict)
    ]
    made = message.get("toolCalls") or ()
    calls = [reader.call(each.get("name"), each.get("args"), each.get("id")) for each in made]
    told = message.get("tokens") or {}
    usage = {name: told[key] for name, key in _TOKENS.items() if told.get(key)}
    if told.get("thoughts"):
        usage["reasoning"] = told["thoughts"]
        usage["output"] = usage.get("output", 0) + told["thoughts"]
    if "input" in usage:
        usage["input"] -= usage.get("cache_read", 0)
    more = {**facts, "usage": usage, "model": message.get("model")}
    reader.say("assistant", *words, text, *calls, **more)
    for each in made:
        if each.get("result") is not None:
            failed = True if each.get("status") == "error" else None
            content = optional_text(_result(each["result"]))
            parts = (content,) if content is not None else ()
            reader.answer_with(parts, each.get("name"), each.get("id"), is_error=failed)


def _thought(subject: Any, words: Any) -> str:
    return f"**{subject}** {words or ''}".strip() if subject else str(words or "")


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(each.get("text", "") if isinstance(each, dict) else each for each in content)
    return content if isinstance(content, str) else ""


def _result(result: Any) -> str:
    """The text of a result, which is a list of parts with one response."""
    parts = result if isinstance(result, list) else [result]
    texts = []
    for part in parts:
        given = part.get("functionResponse") if isinstance(part, dict) else None
        response = given.get("response") if isinstance(given, dict) else None
        if isinstance(response, dict) and response.keys() & {"output", "error"}:
            value = response.get("output", response.get("error"))
            texts.append(value if isinstance(value, str) else jsontext.text(value))
        else:
            texts.append(part if isinstance(part, str) else jsontext.text(part))
    return "\n".join(texts)


def write(conversation: RecordedConversation, ctx: Context) -> list[Json]:
    """A chat."""
    times = times_of(conversation, ctx)
    stamps = iter(times)
    messages: list[Json] = []
    for message in conversation.messages:
        alone = conversation.with_messages((message,))
        time = next(stamps)
        for turn in plain_turns(alone, ctx):
            if turn.role == "tool":
                _add_results(messages, turn, ctx)
            else:
                messages.append(_write_turn(turn, time, conversation, ctx))
    folder = conversation.facts.get("folder", "/")
    row: Json = {
        "sessionId": session_id(conversation, ctx),
        "projectHash": digest(folder.encode(), 32).hex(),
        "startTime": times[0] if times else "",
        "lastUpdated": times[-1] if times else "",
        "kind": "main",
    }
    title = conversation.facts.get("title")
    return [{**row, "summary": title} if title else row, *messages]


def _write_turn(
    turn: PlainTurn, time: str, conversation: RecordedConversation, ctx: Context
) -> Json:
    line: Json = {"id": turn.facts.get("id") or new_uuid(ctx), "timestamp": time}
    if turn.role != "assistant":
        return {**line, "type": "user", "content": turn.text}
    line |= {"type": "gemini", "content": turn.text}
    if turn.thoughts:
        subject, _, words = turn.thoughts.removeprefix("**").partition("** ")
        marked = turn.thoughts.startswith("**") and words
        thought = {"subject": subject if marked else "", "description": words if marked else ""}
        if not marked:
            thought["description"] = turn.thoughts
        line["thoughts"] = [{**thought, "timestamp": time}]
    usage = turn.facts.get("usage")
    if usage:
        line["tokens"] = _tokens(usage)
    line["model"] = turn.facts.get("model") or conversation.request.model
    if turn.calls:
        line["toolCalls"] = [
            {"id": c.id, "name": c.name, "args": c.input, "status": "success", "timestamp": time}
            for c in turn.calls
        ]
    return line


def _tokens(usage: Json) -> Json:
    prompt = usage.get("input", 0) + usage.get("cache_read", 0) + usage.get("cache_write", 0)
    thought = usage.get("reasoning", 0)
    output = usage.get("output", 0)
    return {
        "input": prompt,
        "output": output - thought,
        "cached": usage.get("cache_read", 0),
        "thoughts": thought,
        "tool": 0,
        "total": prompt + output,
    }


def _add_results(messages: list[Json], turn: PlainTurn, ctx: Context) -> None:
    """Results stand with their calls."""
    calls = {c["id"]: c for message in messages for c in message.get("toolCalls", ())}
    for result in turn.results:
        call = calls.get(result.id)
        text = result_text(result, ctx, marked=False)
        if call is None:
            ctx.note("result-unmatched", ctx.where(result), "it is left out", "unsupported")
            continue
        key = "error" if result.is_error else "output"
        call["status"] = "error" if result.is_error else "success"
        response = {"id": result.id, "name": call["name"], "response": {key: text}}
        call["result"] = [{"functionResponse": response}]


FORMAT: Final = Format(
    name="gemini-cli",
    summary="chats of Gemini CLI",
    reference="the bundle of Gemini CLI 0.61.0 (2026-11-16)",
    surface=of_text("gemini-cli", path="messages", reasoning=True, model=True),
    read=read,
    write=write,
    recognise=recognise,
    unit="file",
    holds=frozenset({"model"}),
    facts=frozenset({"id", "time", "title", "agent"}),
    turn_facts=frozenset({"time", "id", "model", "usage"}),
    client="gemini-cli",
)
