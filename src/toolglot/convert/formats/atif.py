"""ATIF, the Agent Trajectory Interchange Format of Harbor, version 1.8.

A document of `steps` by `system`, `user` and `agent`; an agent's step has its calls and what they
gave (`observation`). Its `extra` keeps what the format has no place for: the state of reasoning,
and which calls failed.
"""

from collections.abc import Iterator
from typing import Any, Final

from toolglot.context import Context
from toolglot.convert.format import Format, Rows
from toolglot.convert.plain_turns import (
    PlainTurn,
    TurnReader,
    declared,
    functions,
    list_of,
    plain_turns,
    result_text,
    system_text,
    thoughts,
)
from toolglot.convert.surfaces import of_text
from toolglot.convert.transcript import RecordedConversation
from toolglot.errors import DecodeError
from toolglot.ir import Image, Inline, Json, Part, Remote, Text, ToolResult

_VERSION: Final = "ATIF-v1.8"
_STATE, _FAILED, _SUMMARY, _CONTEXT, _ID = KEPT = (
    "toolglot_reasoning_state",
    "toolglot_failed_calls",
    "toolglot_summary",
    "toolglot_context",
    "message_id",
)
"""Members of a step's `extra`."""
_METRICS: Final = {"output": "completion_tokens", "cache_read": "cached_tokens"}
_MORE: Final = {"cache_write": "cache_creation_tokens", "reasoning": "reasoning_tokens"}
_FACTS: Final = {"title": "title", "folder": "cwd", "branch": "git_branch", "time": "started_at"}


def recognise(row: Json) -> str:
    """A document that names its version."""
    version = row.get("schema_version")
    named = isinstance(version, str) and version.startswith("ATIF-") and "steps" in row
    return f"its `schema_version` is {version}" if named else ""


# --- reading --------------------------------------------------------------------------------------


def read(rows: Rows, ctx: Context) -> RecordedConversation:
    """A document."""
    (row,) = rows
    agent = row.get("agent")
    if not isinstance(agent, dict):
        raise DecodeError("agent", "expected an object")
    reader = TurnReader("steps", ctx)
    system: str | None = None
    for index, step in enumerate(list_of(row, "steps")):
        if not isinstance(step, dict):
            raise DecodeError(f"steps[{index}]", "expected an object")
        text = step.get("message")
        if index == 0 and step.get("source") == "system" and isinstance(text, str):
            system = text
        else:
            _read_step(step, reader, f"steps[{index}]")
    request = reader.finish(
        system=system,
        tools=declared(agent.get("tool_definitions"), "agent.tool_definitions"),
        model=agent.get("model_name") or "",
    )
    extra = row.get("extra") if isinstance(row.get("extra"), dict) else {}
    extra = dict(extra or {})
    facts = {"id": row.get("session_id"), "agent": agent.get("name"), "version": _version(agent)}
    facts |= {name: extra.pop(key, None) for name, key in _FACTS.items()}
    sides = tuple(read([side], ctx) for side in row.get("subagent_trajectories") or ())
    for key in ("notes", "continued_trajectory_ref"):
        if row.get(key):
            ctx.note("field-minor", key)
    return RecordedConversation(
        request=request,
        facts={key: value for key, value in facts.items() if isinstance(value, str) and value},
        metadata=extra,
        sides=sides,
    )


def _version(agent: Json) -> str | None:
    version = agent.get("version")
    return version if version != "unknown" else None


def _read_step(step: Json, reader: TurnReader, where: str) -> None:
    source = step.get("source")
    extra = step.get("extra") if isinstance(step.get("extra"), dict) else {}
    extra = extra or {}
    facts: Json = {
        "time": step.get("timestamp"),
        "id": extra.get(_ID),
        "summary": extra.get(_SUMMARY),
        "context": extra.get(_CONTEXT),
    }
    parts = _read_content(step.get("message"))
    if source in ("user", "system"):
        reader.say("user" if source == "user" else "system", *parts, **facts)
    elif source == "agent":
        calls = [
            reader.call(call.get("function_name"), call.get("arguments"), call.get("tool_call_id"))
            for call in step.get("tool_calls") or ()
        ]
        words = thoughts(step.get("reasoning_content"), extra.get(_STATE))
        usage = _read_metrics(step.get("metrics"))
        model = step.get("model_name")
        reader.say("assistant", *words, *parts, *calls, **facts, usage=usage, model=model)
    else:
        raise DecodeError(f"{where}.source", f"expected system, user or agent, got {source!r}")
    observation = step.get("observation")
    failed = extra.get(_FAILED) or ()
    for result in observation.get("results") or () if isinstance(observation, dict) else ():
        call_id = result.get("source_call_id")
        error = True if call_id in failed else None
        content = _read_content(result.get("content"))
        reader.answer_with(content, None, call_id, is_error=error)


def _read_content(content: Any) -> tuple[Part, ...]:
    if not isinstance(content, list):
        return (Text(text=content),) if isinstance(content, str) and content else ()
    return tuple(_read_part(part) for part in content)


def _read_part(part: Json) -> Part:
    source = part.get("source")
    if part.get("type") == "image" and isinstance(source, dict):
        path, media_type = str(source.get("path")), source.get("media_type")
        head, _, data = path.partition(";base64,")
        if head.startswith("data:"):
            return Image(source=Inline(media_type=head.removeprefix("data:"), data=data))
        return Image(source=Remote(url=path, media_type=media_type))
    return Text(text=str(part.get("text", "")))


def _read_metrics(metrics: Any) -> Json:
    if not isinstance(metrics, dict):
        return {}
    more: Json = metrics["extra"] if isinstance(metrics.get("extra"), dict) else {}
    usage = {name: metrics[key] for name, key in _METRICS.items() if metrics.get(key)}
    usage |= {name: more[key] for name, key in _MORE.items() if more.get(key)}
    if metrics.get("prompt_tokens") is not None:
        cached = usage.get("cache_read", 0) + usage.get("cache_write", 0)
        usage["input"] = max(metrics["prompt_tokens"] - cached, 0)
    return {name: count for name, count in usage.items() if count}


# --- writing --------------------------------------------------------------------------------------


def write(conversation: RecordedConversation, ctx: Context) -> list[Json]:
    """A document."""
    facts, request = conversation.facts, conversation.request
    agent: Json = {
        "name": facts.get("agent") or "unknown",
        "version": facts.get("version") or "unknown",
    }
    if request.model:
        agent["model_name"] = request.model
    tools = [{"type": "function", "function": each} for each in functions(request.tools)]
    if tools:
        agent["tool_definitions"] = tools
    session = facts.get("id") or ctx.new_id("session-")
    row: Json = {"schema_version": _VERSION, "session_id": session, "agent": agent}
    row["steps"] = steps = [
        {"step_id": number, **step} for number, step in enumerate(_steps(conversation, ctx), 1)
    ]
    metrics = [step["metrics"] for step in steps if "metrics" in step]
    row["final_metrics"] = {
        "total_prompt_tokens": sum(each.get("prompt_tokens", 0) for each in metrics),
        "total_completion_tokens": sum(each.get("completion_tokens", 0) for each in metrics),
        "total_cached_tokens": sum(each.get("cached_tokens", 0) for each in metrics),
        "total_steps": len(steps),
    }
    extra = {key: facts[name] for name, key in _FACTS.items() if name in facts}
    if extra or conversation.metadata:
        row["extra"] = {**conversation.metadata, **extra}
    if conversation.sides:
        row["subagent_trajectories"] = [
            {"trajectory_id": f"{session}-{number}", **document}
            for number, side in enumerate(conversation.sides, 1)
            for document in write(side, ctx)
        ]
    return [row]


def _steps(conversation: RecordedConversation, ctx: Context) -> Iterator[Json]:
    if system := system_text(conversation, ctx):
        yield {"source": "system", "message": system}
    waiting: Json | None = None
    for turn in plain_turns(conversation, ctx):
        if turn.role == "tool":
            step = waiting or {"source": "system", "message": ""}
            _observe(step, turn, ctx)
            yield step
            waiting = None
            continue
        if waiting is not None:
            yield waiting
        waiting = _step(turn)
        if turn.role != "assistant":
            yield waiting
            waiting = None
    if waiting is not None:
        yield waiting


def _step(turn: PlainTurn) -> Json:
    facts = turn.facts
    step: Json = {"timestamp": facts["time"]} if "time" in facts else {}
    step["source"] = {"assistant": "agent", "user": "user"}.get(turn.role, "system")
    if facts.get("model") and turn.role == "assistant":
        step["model_name"] = facts["model"]
    step["message"] = _content(turn.text, turn.images)
    if turn.thoughts:
        step["reasoning_content"] = turn.thoughts
    if turn.calls:
        step["tool_calls"] = [
            {"tool_call_id": call.id, "function_name": call.name, "arguments": call.input}
            for call in turn.calls
        ]
    if facts.get("usage") and turn.role == "assistant":
        step["metrics"] = _metrics(facts["usage"])
    extra = {_STATE: turn.states} if turn.states else {}
    for name, key in (("id", _ID), ("summary", _SUMMARY), ("context", _CONTEXT)):
        extra |= {key: facts[name]} if facts.get(name) else {}
    if extra:
        step["extra"] = extra
    return step


def _metrics(usage: Json) -> Json:
    prompt = sum(usage.get(name, 0) for name in ("input", "cache_read", "cache_write"))
    metrics: Json = {"prompt_tokens": prompt} if prompt else {}
    metrics |= {key: usage[name] for name, key in _METRICS.items() if name in usage}
    more = {key: usage[name] for name, key in _MORE.items() if name in usage}
    return metrics | ({"extra": more} if more else {})


def _observe(step: Json, turn: PlainTurn, ctx: Context) -> None:
    """Add results to the step of their calls."""
    step["observation"] = {
        "results": [
            {"source_call_id": result.id, "content": _result_content(result, ctx)}
            for result in turn.results
        ]
    }
    failed = [result.id for result in turn.results if result.is_error]
    if failed:
        step["extra"] = {**step.get("extra", {}), _FAILED: failed}


def _result_content(result: ToolResult, ctx: Context) -> Any:
    images = [part for part in result.parts if isinstance(part, Image)]
    return _content(result_text(result, ctx, marked=False), images)


def _content(text: str, images: list[Image]) -> Any:
    if not images:
        return text
    parts: list[Json] = [{"type": "text", "text": text}] if text else []
    return [*parts, *({"type": "image", "source": _source(image)} for image in images)]


def _source(image: Image) -> Json:
    source = image.source
    if isinstance(source, Inline):
        path = f"data:{source.media_type};base64,{source.data}"
        return {"media_type": source.media_type, "path": path}
    url = source.url if isinstance(source, Remote) else ""
    return {"media_type": getattr(source, "media_type", None) or "image/png", "path": url}


FORMAT: Final = Format(
    name="atif",
    summary="ATIF v1.8, the trajectories of Harbor and Terminal-Bench",
    reference="https://harborframework.com/docs/trajectory-format, Harbor 0.25.0 (2026-11-16)",
    surface=of_text(
        "atif",
        path="steps",
        content="message",
        reasoning=True,
        later=True,
        pictures=True,
        model=True,
    ),
    read=read,
    write=write,
    recognise=recognise,
    suffix=".json",
    seals=True,
    holds=frozenset({"system", "tools", "model", "metadata", "sides"}),
    facts=frozenset({"id", "agent", "version", *_FACTS}),
    turn_facts=frozenset({"time", "id", "model", "usage", "summary", "context"}),
    aliases=("harbor",),
)
