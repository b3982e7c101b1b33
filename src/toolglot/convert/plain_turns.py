"""Turns of formats that keep texts, calls and results apart, both ways."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from toolglot.adapt.messages.turns import flat_parts
from toolglot.context import Context
from toolglot.convert.transcript import RecordedConversation, turn_of, with_turn
from toolglot.errors import DecodeError
from toolglot.ir import (
    FunctionTool,
    Image,
    Json,
    Message,
    Part,
    Reasoning,
    Request,
    Role,
    Text,
    Tool,
    ToolCall,
    ToolResult,
)
from toolglot.wire import jsontext
from toolglot.wire.parts import arguments_text, mark_error


@dataclass(kw_only=True)
class PlainTurn:
    """One message, its parts by kind."""

    role: str
    """Of the interlingua, or `tool` for results."""
    text: str = ""
    thoughts: str = ""
    states: list[str] = field(default_factory=list)
    """Sealed reasoning state."""
    calls: list[ToolCall] = field(default_factory=list)
    results: list[ToolResult] = field(default_factory=list)
    images: list[Image] = field(default_factory=list)
    facts: Json = field(default_factory=dict)


# --- writing --------------------------------------------------------------------------------------


def plain_turns(conversation: RecordedConversation, ctx: Context) -> Iterator[PlainTurn]:
    """The messages of an adapted conversation; results stand apart from what the user says, and
    those that follow each other are one turn.
    """
    waiting: PlainTurn | None = None
    for turn in _turns(conversation, ctx):
        if turn.role != "tool":
            if waiting is not None:
                yield waiting
                waiting = None
            yield turn
        elif waiting is not None:
            waiting.results += turn.results
        else:
            waiting = turn
    if waiting is not None:
        yield waiting


def _turns(conversation: RecordedConversation, ctx: Context) -> Iterator[PlainTurn]:
    for message in conversation.messages:
        where = ctx.where_turn(message)
        results = [part for part in message.parts if isinstance(part, ToolResult)]
        others: tuple[Part, ...] = tuple(p for p in message.parts if not isinstance(p, ToolResult))
        if message.role == "assistant":
            others = flat_parts(others, ctx, where)
        if results:
            yield PlainTurn(role="tool", results=results, facts=turn_of(message))
        if others or not results:
            yield _turn(message, others, ctx, where)


def _turn(message: Message, parts: tuple[Part, ...], ctx: Context, where: str) -> PlainTurn:
    turn = PlainTurn(role=message.role, facts=turn_of(message))
    texts: list[str] = []
    thought: list[str] = []
    for part in parts:
        if isinstance(part, Text):
            texts.append(part.text)
        elif isinstance(part, Reasoning):
            words = part.text or "\n\n".join(part.summary)
            thought += [words] if words else []
            turn.states += [part.signature] if part.signature else []
        elif isinstance(part, ToolCall):
            turn.calls.append(part)
        elif isinstance(part, Image):
            turn.images.append(part)
        else:
            ctx.note("part-dropped", where, f"there is no place for a {type(part).__name__} here")
    if len(texts) > 1 and message.role != "assistant":
        ctx.note("text-joined", where, f"{len(texts)} texts joined into one")
    if len(thought) > 1:
        ctx.note("text-joined", where, f"{len(thought)} thoughts joined into one")
    turn.text = "\n\n".join(texts)
    turn.thoughts = "\n\n".join(thought)
    return turn


def result_text(result: ToolResult, ctx: Context, *, marked: bool = True) -> str:
    """The text of a result; that the call failed is marked in it, if nothing else can say so."""
    texts = [part.text for part in result.parts if isinstance(part, Text)]
    if len(texts) > 1:
        ctx.note("text-joined", ctx.where(result), f"{len(texts)} texts joined into one")
    text = "\n".join(texts)
    if marked and result.is_error:
        ctx.note("error-marked", ctx.where(result))
        return mark_error(text)
    return text


def system_text(conversation: RecordedConversation, ctx: Context) -> str:
    """The system text in its place."""
    system = conversation.request.system
    texts = [part.text for part in system.parts if isinstance(part, Text)] if system else []
    if len(texts) > 1:
        ctx.note("text-joined", ctx.setting("system"), f"{len(texts)} texts joined into one")
    return "\n\n".join(texts)


def functions(tools: Iterable[Tool]) -> Iterator[Json]:
    """Tools as name, description and parameters."""
    for tool in tools:
        if isinstance(tool, FunctionTool):
            declared: Json = {"name": tool.name}
            if tool.description is not None:
                declared["description"] = tool.description
            declared["parameters"] = tool.parameters or {"type": "object", "properties": {}}
            yield declared


def as_call(call: ToolCall) -> Json:
    """A call as name and arguments."""
    return {"name": call.name, "arguments": call.input}


# --- reading --------------------------------------------------------------------------------------


class TurnReader:
    """Collects messages; calls without ids get some, and results find their calls by order."""

    def __init__(self, path: str, ctx: Context) -> None:
        self._path, self._ctx = path, ctx
        self._messages: list[Message] = []
        self._waiting: list[ToolCall] = []
        self._made = 0

    def say(self, role: Role, *parts: Part | None, **facts: Any) -> None:
        """A message of these parts, of which some may be missing."""
        given = tuple(part for part in parts if part is not None)
        if role == "assistant":
            self._waiting = [part for part in given if isinstance(part, ToolCall)]
        self._messages.append(with_turn(Message(role=role, parts=given), **facts))

    def call(self, name: Any, arguments: Any, call_id: str | None = None) -> ToolCall:
        """A call to be said; arguments may be text or a value."""
        if not isinstance(name, str) or not name:
            raise DecodeError(self._where(), "a call has no name")
        text = arguments if isinstance(arguments, str) else arguments_text(arguments or {})
        if call_id:
            return ToolCall(id=call_id, name=name, arguments=text)
        self._made += 1
        return ToolCall(id=f"call_{self._made}", name=name, arguments=text, id_made=True)

    def answer(
        self, text: str, name: str | None = None, call_id: str | None = None, **facts: Any
    ) -> None:
        """The result of a call that waits: the one with that id, else of that name, else the
        first.
        """
        self.answer_with((Text(text=text),), name, call_id, **facts)

    def answer_with(
        self,
        parts: tuple[Part, ...],
        name: str | None = None,
        call_id: str | None = None,
        *,
        is_error: bool | None = None,
        **facts: Any,
    ) -> None:
        """The same for a result of several parts."""
        call = self._answered(name, call_id)
        if call is None and call_id is None:
            self._made += 1
            self._ctx.note("result-unmatched", self._where())
        result = ToolResult(
            id=call.id if call else call_id or f"call_{self._made}",
            name=name or (call.name if call else None),
            parts=parts,
            is_error=is_error,
            id_made=call.id_made if call else call_id is None,
        )
        last = self._messages[-1] if self._messages else None
        if last is not None and last.parts and isinstance(last.parts[-1], ToolResult):
            together = Message(role="user", parts=(*last.parts, result), extras=last.extras)
            self._messages[-1] = together
        else:
            self._messages.append(with_turn(Message(role="user", parts=(result,)), **facts))

    def _answered(self, name: str | None, call_id: str | None) -> ToolCall | None:
        waiting = self._waiting
        if call_id is not None:
            found = next((call for call in waiting if call.id == call_id), None)
        else:
            named = (call for call in waiting if name is not None and call.name == name)
            found = next(named, waiting[0] if waiting else None)
        if found is not None:
            waiting.remove(found)
        return found

    @property
    def waiting(self) -> int:
        """How many calls of the last message have no result yet."""
        return len(self._waiting)

    def finish(
        self, *, system: str | None = None, tools: tuple[Tool, ...] = (), model: str = ""
    ) -> Request:
        """The request of all messages."""
        if self._made:
            self._ctx.note("id-made", self._path, f"{self._made} calls have no ids here")
        parts = (Text(text=system),) if system else ()
        return Request(
            model=model,
            messages=tuple(self._messages),
            system=Message(role="system", parts=parts) if parts else None,
            tools=tools,
        )

    def _where(self) -> str:
        return f"{self._path}[{len(self._messages)}]"


def declared(value: Any, path: str) -> tuple[FunctionTool, ...]:
    """Tools from a list, or from the text of one, in any of the usual shapes."""
    if isinstance(value, str):
        value = jsontext.decode(value) if value.strip() else []
    if isinstance(value, dict):
        value = [value]
    if value is None:
        return ()
    if not isinstance(value, list):
        raise DecodeError(path, "expected a list of tools")
    return tuple(_declared(each, f"{path}[{index}]") for index, each in enumerate(value))


def _declared(value: Any, path: str) -> FunctionTool:
    if isinstance(value, str):
        value = jsontext.decode(value)
    inner = value.get("function") if isinstance(value, dict) else None
    given = inner if isinstance(inner, dict) else value
    if not isinstance(given, dict) or not isinstance(given.get("name"), str):
        raise DecodeError(path, "a tool has no name")
    schema = next((given[key] for key in _SCHEMAS if isinstance(given.get(key), dict)), None)
    words = given.get("description")
    strict = given.get("strict")
    return FunctionTool(
        name=given["name"],
        description=words if isinstance(words, str) else None,
        parameters=schema,
        strict=strict if isinstance(strict, bool) else None,
    )


_SCHEMAS = ("parameters", "input_schema", "inputSchema")


def optional_text(text: Any) -> Text | None:
    """A text, unless there is none."""
    return Text(text=text) if isinstance(text, str) and text else None


def thoughts(text: Any, states: Any = None) -> tuple[Reasoning, ...]:
    """Reasoning in words, if there is any, with the states that were sealed beside it."""
    known = [each for each in states if isinstance(each, str)] if isinstance(states, list) else []
    words = text if isinstance(text, str) else ""
    if not known:
        return (Reasoning(text=words),) if words else ()
    first, *rest = known
    return (Reasoning(text=words, signature=first), *(Reasoning(signature=each) for each in rest))


def list_of(row: Json, key: str) -> list[Any]:
    """A member that must be a list; a text may hold the JSON of one, as some tables have it."""
    value = row.get(key)
    if isinstance(value, str):
        value = jsontext.decode(value)
    if not isinstance(value, list):
        raise DecodeError(key, "expected a list")
    return value


def rest_of(row: Json, *known: str) -> Json:
    """The columns that a format does not have itself."""
    return {key: value for key, value in row.items() if key not in known and value is not None}
