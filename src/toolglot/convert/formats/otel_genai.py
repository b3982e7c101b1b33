"""OpenTelemetry's messages of generative AI: spans with `gen_ai.input.messages` and the like.

A span has the messages that were asked, those that were answered, the system text and the tools, as
values or as their JSON (semantic conventions 1.41).
"""

from typing import Any, Final

from toolglot.context import Context
from toolglot.convert.format import Format, Rows
from toolglot.convert.plain_turns import (
    PlainTurn,
    TurnReader,
    declared,
    functions,
    plain_turns,
    rest_of,
    result_text,
    system_text,
)
from toolglot.convert.surfaces import of_text
from toolglot.convert.transcript import RecordedConversation
from toolglot.errors import DecodeError
from toolglot.ir import Image, Inline, Json, Part, Reasoning, Remote, Text
from toolglot.wire import jsontext

_INPUT: Final = "gen_ai.input.messages"
_OUTPUT: Final = "gen_ai.output.messages"
_SYSTEM: Final = "gen_ai.system_instructions"
_TOOLS: Final = "gen_ai.tool.definitions"
_MODEL: Final = "gen_ai.request.model"
_ID: Final = "gen_ai.conversation.id"
_AGENT: Final = "gen_ai.agent.name"
_USAGE: Final = {
    "input": "gen_ai.usage.input_tokens",
    "output": "gen_ai.usage.output_tokens",
    "cache_read": "gen_ai.usage.cache_read.input_tokens",
    "cache_write": "gen_ai.usage.cache_creation.input_tokens",
}
_KNOWN: Final = (_INPUT, _OUTPUT, _SYSTEM, _TOOLS, _MODEL, _ID, _AGENT, *_USAGE.values())


def recognise(row: Json) -> str:
    """A span, or its attributes."""
    given = _attributes(row)
    named = next((key for key in (_INPUT, _OUTPUT) if key in given), None)
    return f"it has `{named}`" if named else ""


def _attributes(row: Json) -> Json:
    """The attributes of a span: by name, or as OTLP lists them."""
    given = row.get("attributes", row)
    if isinstance(given, list):
        pairs = ((each.get("key"), each.get("value")) for each in given if isinstance(each, dict))
        return {str(key): _plain(value) for key, value in pairs}
    return given if isinstance(given, dict) else row


def _plain(value: Any) -> Any:
    """A value of OTLP, which says its type."""
    return next(iter(value.values()), None) if isinstance(value, dict) else value


def _listed(given: Json, key: str) -> list[Any]:
    value = given.get(key)
    if isinstance(value, str):
        value = jsontext.decode(value)
    if value is not None and not isinstance(value, list):
        raise DecodeError(key, "expected a list")
    return value or []


def read(rows: Rows, ctx: Context) -> RecordedConversation:
    """A span."""
    (row,) = rows
    given = _attributes(row)
    reader = TurnReader(_INPUT, ctx)
    usage = {name: int(given[key]) for name, key in _USAGE.items() if given.get(key)}
    if "input" in usage:
        cached = usage.get("cache_read", 0) + usage.get("cache_write", 0)
        usage["input"] = max(usage["input"] - cached, 0)
    answers = _listed(given, _OUTPUT)
    for message in _listed(given, _INPUT):
        _read_message(message, reader, {})
    for message in answers[:1]:
        _read_message(message, reader, {"usage": usage})
    if len(answers) > 1:
        ctx.note("choices-dropped", _OUTPUT, f"{len(answers) - 1} more answers")
    system = "\n\n".join(
        str(part.get("content", "")) for part in _listed(given, _SYSTEM) if isinstance(part, dict)
    )
    request = reader.finish(
        system=system or None,
        tools=declared(given.get(_TOOLS), _TOOLS),
        model=str(given.get(_MODEL) or ""),
    )
    facts = {"id": given.get(_ID), "agent": given.get(_AGENT)}
    known = {key: value for key, value in facts.items() if isinstance(value, str) and value}
    return RecordedConversation(request=request, facts=known, metadata=rest_of(given, *_KNOWN))


def _read_message(message: Any, reader: TurnReader, facts: Json) -> None:
    if not isinstance(message, dict):
        raise DecodeError(_INPUT, "expected messages")
    role, parts = message.get("role"), message.get("parts") or []
    for part in parts:
        if part.get("type") == "tool_call_response":
            response = part.get("response", part.get("result"))
            text = response if isinstance(response, str) else jsontext.text(response)
            reader.answer(text, None, part.get("id"))
    others = [part for part in parts if part.get("type") != "tool_call_response"]
    if not others:
        return
    said = [_read_part(part, reader) for part in others]
    if role == "assistant":
        reader.say("assistant", *said, **facts)
    else:
        reader.say("system" if role == "system" else "user", *said)


def _read_part(part: Json, reader: TurnReader) -> Part | None:
    kind, content = part.get("type"), part.get("content")
    if kind == "tool_call":
        return reader.call(part.get("name"), part.get("arguments"), part.get("id"))
    if kind == "reasoning":
        return Reasoning(text=str(content or ""))
    if kind == "blob" and part.get("modality") == "image":
        return Image(source=Inline(media_type=str(part.get("mime_type")), data=str(content)))
    if kind == "uri" and part.get("modality") == "image":
        return Image(source=Remote(url=str(part.get("uri")), media_type=part.get("mime_type")))
    if kind == "text":
        return Text(text=str(content or ""))
    raise DecodeError(_INPUT, f"no part is called {kind!r}")


def write(conversation: RecordedConversation, ctx: Context) -> list[Json]:
    """The attributes of a span: all messages but the last are input, if that is the model's."""
    turns = list(plain_turns(conversation, ctx))
    answer = turns.pop() if turns and turns[-1].role == "assistant" else None
    facts, request = conversation.facts, conversation.request
    row: Json = {**conversation.metadata}
    row |= {_ID: facts["id"]} if "id" in facts else {}
    row |= {_AGENT: facts["agent"]} if "agent" in facts else {}
    row |= {_MODEL: request.model} if request.model else {}
    if system := system_text(conversation, ctx):
        row[_SYSTEM] = [{"type": "text", "content": system}]
    row[_INPUT] = [_write_turn(turn, ctx) for turn in turns]
    if answer is not None:
        reason = "tool_call" if answer.calls else "stop"
        row[_OUTPUT] = [{**_write_turn(answer, ctx), "finish_reason": reason}]
        usage = answer.facts.get("usage", {})
        row |= {key: usage[name] for name, key in _USAGE.items() if name in usage}
        cached = usage.get("cache_read", 0) + usage.get("cache_write", 0)
        if cached:
            row[_USAGE["input"]] = usage.get("input", 0) + cached
    if tools := list(functions(request.tools)):
        row[_TOOLS] = [{"type": "function", **tool} for tool in tools]
    return [row]


def _write_turn(turn: PlainTurn, ctx: Context) -> Json:
    parts: list[Json] = []
    if turn.role == "tool":
        for result in turn.results:
            text = result_text(result, ctx)
            parts.append({"type": "tool_call_response", "id": result.id, "response": text})
        return {"role": "tool", "parts": parts}
    if turn.thoughts:
        parts.append({"type": "reasoning", "content": turn.thoughts})
    if turn.text:
        parts.append({"type": "text", "content": turn.text})
    parts += [_write_image(image) for image in turn.images]
    parts += [
        {"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.input}
        for call in turn.calls
    ]
    return {"role": turn.role, "parts": parts}


def _write_image(image: Image) -> Json:
    source = image.source
    if isinstance(source, Inline):
        about: Json = {"type": "blob", "modality": "image", "mime_type": source.media_type}
        return {**about, "content": source.data}
    url = source.url if isinstance(source, Remote) else ""
    return {"type": "uri", "modality": "image", "uri": url}


FORMAT: Final = Format(
    name="otel",
    summary="OpenTelemetry spans of generative AI: `gen_ai.input.messages` and the like",
    reference="https://opentelemetry.io/docs/specs/semconv/gen-ai/ (2026-11-16)",
    surface=of_text(
        "otel", path=_INPUT, content="parts", reasoning=True, later=True, pictures=True, model=True
    ),
    read=read,
    write=write,
    recognise=recognise,
    holds=frozenset({"system", "tools", "model", "metadata"}),
    facts=frozenset({"id", "agent"}),
    aliases=("otel-genai",),
)
