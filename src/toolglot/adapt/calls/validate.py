"""Calls in answers: checked against the tools that the client declared, repaired if it asks for it.

Off by default: then a call arrives as the model made it, and only calls of tools whose limits the
provider could not be told with keywords are checked. A bad call never harms the others, and is
never dropped: what cannot be repaired is delivered as it came, with a note.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from toolglot.adapt.calls.repair import from_xml, repair_arguments
from toolglot.adapt.calls.sanitize import sanitize_arguments, sanitize_text
from toolglot.context import Context, Options
from toolglot.digest import digest
from toolglot.errors import MissingExtraError
from toolglot.events import (
    Event,
    Failed,
    Finished,
    Growing,
    PartDelta,
    PartEnded,
    PartStarted,
)
from toolglot.ir import (
    FunctionTool,
    Json,
    NamespaceTool,
    ProviderTool,
    Tool,
    ToolCall,
)
from toolglot.schema.conform import Checker, Problem, SchemaError, checker, optional
from toolglot.wire import jsontext

NO_NAME: Final = "tool call missing name"
_SCHEMA_KEYS: Final = ("input_schema", "parameters", "parametersJsonSchema")
_TOLD: Final = 3
"""Problems of one call that a note names."""


# --- as a library ---------------------------------------------------------------------------------


def validate_arguments(tool: Tool | Json | None, arguments: Any) -> list[Problem]:
    """What is wrong with arguments, as JSON text or as a value, for a tool or a schema.

    A tool may be the definition of any protocol. None: there is nothing to conform to but JSON.
    """
    if isinstance(arguments, str):
        try:
            arguments = jsontext.peek(arguments) if arguments.strip() else {}
        except ValueError as error:
            return [Problem("", f"not JSON: {error}")]
    schema = _schema_of(tool)
    return checker(schema).problems(arguments) if schema else []


def _schema_of(tool: Tool | Json | None) -> Json | None:
    if isinstance(tool, FunctionTool):
        return tool.parameters
    if not isinstance(tool, dict):
        return None
    inner = tool.get("function")
    holder = inner if isinstance(inner, dict) else tool
    for key in _SCHEMA_KEYS:
        if isinstance(holder.get(key), dict):
            found: Json = holder[key]
            return found
    return None if "name" in holder and isinstance(holder["name"], str) else holder


_Call = TypeVar("_Call", bound=Struct)


def validate_tool_calls(
    calls: Sequence[_Call], tools: Iterable[Tool | Json] = ()
) -> list[tuple[_Call, list[Problem]]]:
    """Each call as it can be used, and what is wrong with it.

    A call without an id gets one. Arguments that are only there as raw input are read as JSON, then
    as XML. A call that cannot be read stays as it is, beside the others.
    """
    by_name = {_name_of(tool): tool for tool in tools}
    taken = {str(getattr(call, "id", "")) for call in calls}
    return [_checked(call, by_name, taken) for call in calls]


def _checked(
    given: _Call, tools: Mapping[str, Tool | Json], taken: set[str]
) -> tuple[_Call, list[Problem]]:
    call: Any = given
    problems: list[Problem] = []
    if not call.id:
        call = replace(call, id=new_call_id(call, taken))
        taken.add(call.id)
    if not call.name:
        problems.append(Problem("name", NO_NAME))
    raw = getattr(call, "raw_input", "")
    if raw and call.arguments in ("", "{}"):
        text, why = read_raw_input(raw)
        call = replace(call, arguments=text)
        if why:
            problems.append(Problem("arguments", why))
    elif not call.arguments.strip():
        call = replace(call, arguments="{}")
    if not problems:
        problems += validate_arguments(tools.get(call.name), call.arguments)
        if tools and call.name not in tools:
            problems.append(Problem("name", _no_tool(call.name)))
    return call, problems


UNREADABLE: Final = "failed to parse tool arguments: {}"


def read_raw_input(raw: str) -> tuple[str, str]:
    """The arguments in what a model wrote, as JSON, then as XML, and why there are none."""
    text = raw.strip()
    try:
        value = jsontext.peek(text)
    except ValueError as error:
        value = from_xml(text)
        if value is None:
            return "{}", UNREADABLE.format(error)
        return jsontext.text(value), ""
    if not isinstance(value, dict):
        return "{}", UNREADABLE.format("it is no JSON object")
    return text, ""


def new_call_id(call: Any, taken: Container[str]) -> str:
    """An id that follows from the call, and that none of `taken` is."""
    written = f"{call.name} {call.arguments} {getattr(call, 'raw_input', '')}"
    count = 0
    while True:
        seed = f"{count} {written}".encode("utf-8", "surrogatepass")
        made = "call_" + digest(seed, 12).hex()
        if made not in taken:
            return made
        count += 1


def _name_of(tool: Tool | Json) -> str:
    if not isinstance(tool, dict):
        return tool.type if isinstance(tool, ProviderTool) else tool.name
    inner = tool.get("function")
    return str((inner if isinstance(inner, dict) else tool).get("name", ""))


def _no_tool(name: str) -> str:
    return f"there is no tool {name!r}"


# --- the tools of a request -----------------------------------------------------------------------


class _Tools:
    """The declared tools by name, with what checks each of them."""

    def __init__(self, tools: tuple[Tool, ...]) -> None:
        self._tools = dict(_by_name(tools))
        self._checkers: dict[str, Checker | SchemaError | None] = {}

    def __bool__(self) -> bool:
        return bool(self._tools)

    def get(self, call: ToolCall) -> Tool | None:
        """The tool that a call means."""
        key = (call.namespace, call.name)
        return self._tools.get(key) or self._tools.get((None, call.name))

    def checker(self, tool: Tool | None) -> Checker | SchemaError | None:
        """What checks the arguments of a tool; the error, if its schema cannot be read."""
        if not isinstance(tool, FunctionTool) or not tool.parameters:
            return None
        if tool.name not in self._checkers:
            try:
                self._checkers[tool.name] = checker(tool.parameters)
            except SchemaError as error:
                self._checkers[tool.name] = error
        return self._checkers[tool.name]


def _by_name(
    tools: tuple[Tool, ...], namespace: str | None = None
) -> Iterator[tuple[tuple[str | None, str], Tool]]:
    for tool in tools:
        if isinstance(tool, NamespaceTool):
            yield from _by_name(tool.tools, tool.name)
        elif isinstance(tool, ProviderTool):
            yield (None, str(tool.value.get("name", tool.type))), tool
        else:
            yield (namespace, tool.name), tool


# --- one call -------------------------------------------------------------------------------------


def asks(options: Options) -> bool:
    """Whether anything is asked for that concerns calls in answers."""
    return options.validate != "off" or options.sanitize != "off" or options.max_calls is not None


def changes(options: Options) -> bool:
    """Whether calls may leave otherwise than they came."""
    return (
        options.validate == "repair"
        or options.sanitize != "off"
        or (options.max_calls is not None and options.max_calls_policy == "queue")
    )


def limit_of(ctx: Context) -> int | None:
    """How many calls the client takes in one answer."""
    single = ctx.request is not None and ctx.request.parallel_tool_calls is False
    most = ctx.options.max_calls
    return (1 if most is None else min(1, most)) if single else most


class _Checks:
    """Checks calls, one after the other, as the options say."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._policy = ctx.options.validate
        self._mode = ctx.options.sanitize
        self._tools = _Tools(ctx.request.tools if ctx.request is not None else ())
        self._unchecked = ctx.undo.unchecked_tools() if ctx.undo.inexact else frozenset()
        if self._policy != "off":
            optional("jsonschema_rs")
        if self._policy == "repair":
            optional("json_repair")
        self.limit = limit_of(ctx)
        self.queues = ctx.options.max_calls_policy == "queue"
        self.repaired = False
        """Whether the last call that was looked at had to be repaired, and could be."""

    def call(
        self, call: ToolCall, path: str, *, truncated: bool = False, delivered: bool = False
    ) -> ToolCall:
        """A call as the client gets it; the same one if there is nothing to change, or if it was
        `delivered` already.
        """
        self.repaired = False
        if self._policy != "off":
            call = self._validated(call, path, truncated=truncated)
        elif (call.namespace, call.name) in self._unchecked and not truncated:
            call = self._limited(call, path, delivered=delivered)
        return call if self._mode == "off" else self._sanitised(call, path)

    def _limited(self, call: ToolCall, path: str, *, delivered: bool) -> ToolCall:
        """A call of a tool of which the provider did not know all limits."""
        try:
            problems = self._problems(call, path)
        except MissingExtraError as error:
            self._ctx.note("arguments-unchecked", path, f"{call.name}: {error}")
            return call
        if not problems:
            return call
        tool = self._tools.get(call)
        schema = tool.parameters if isinstance(tool, FunctionTool) else None
        repair = None
        if not delivered and schema is not None and not _is_broken(call):
            repair = repair_arguments(call.arguments, schema, guess=False)
        if repair is None:
            self._ctx.note("arguments-mismatch", path, _describe(call, problems))
            return call
        self._ctx.note("arguments-repaired", path, f"{call.name}: {'; '.join(repair.how)}")
        return replace(call, arguments=repair.arguments)

    def exceeds(self, number: int) -> bool:
        """Whether the `number`th call of an answer is one too many."""
        return self.limit is not None and number > self.limit

    def over(self, number: int, call: ToolCall, path: str) -> bool:
        """The same; the note is written then."""
        if not self.exceeds(number):
            return False
        what = "held back for a later turn" if self.queues else "delivered all the same"
        self._ctx.note(
            "calls-over-limit",
            path,
            f"{call.name} is call {number} of an answer that may have {self.limit}: {what}",
        )
        return True

    def queue(self, call: ToolCall) -> None:
        """Hold a call back."""
        self._ctx.queued = (*self._ctx.queued, call)

    def _validated(self, call: ToolCall, path: str, *, truncated: bool) -> ToolCall:
        if not call.id and self._policy == "repair":
            self._ctx.note("id-made", path, f"{call.name} has no id")
            prefix = self._ctx.target.calls.made_up_prefix if self._ctx.target else "call_"
            call = replace(call, id=self._ctx.new_id(prefix), id_made=True)
        problems = self._problems(call, path)
        if not problems:
            return call
        if self._policy == "repair":
            return self._repaired(call, problems, path, truncated=truncated)
        code = "call-invalid" if self._policy == "retry" else "arguments-mismatch"
        self._ctx.note(code, path, _describe(call, problems))
        return call

    def _problems(self, call: ToolCall, path: str) -> list[Problem]:
        if not call.name:
            return [Problem("", NO_NAME)]
        tool = self._tools.get(call)
        if self._tools and tool is None:
            return [Problem("", _no_tool(call.name))]
        if call.kind != "function":
            return []
        try:
            value = jsontext.peek(call.arguments) if call.arguments.strip() else {}
        except ValueError as error:
            return [Problem("", f"not JSON: {error}")]
        checking = self._tools.checker(tool)
        if isinstance(checking, SchemaError):
            self._ctx.note("arguments-unchecked", path, f"the schema of {call.name}: {checking}")
            return []
        # No arguments at all are written in many ways.
        return checking.problems({} if value is None else value) if checking else []

    def _repaired(
        self, call: ToolCall, problems: list[Problem], path: str, *, truncated: bool
    ) -> ToolCall:
        tool = self._tools.get(call)
        known = call.name and (tool is not None or not self._tools)
        schema = tool.parameters if isinstance(tool, FunctionTool) else None
        repair = repair_arguments(call.arguments, schema) if known else None
        if repair is None:
            self._ctx.note("arguments-mismatch", path, f"invalid: {_describe(call, problems)}")
            return call
        message = f"{call.name}: {'; '.join(repair.how)}"
        lossy = repair.lossy or truncated
        self._ctx.note("arguments-repaired", path, message, "lossy" if lossy else "info")
        self.repaired = True
        return replace(call, arguments=repair.arguments)

    def _sanitised(self, call: ToolCall, path: str) -> ToolCall:
        clean = sanitize_arguments if call.kind == "function" else sanitize_text
        text, count = clean(call.arguments, self._mode)
        if not count:
            return call
        message = f"{count} control characters in the arguments of {call.name}"
        self._ctx.note("arguments-sanitised", path, message)
        return replace(call, arguments=text)


def _describe(call: ToolCall, problems: list[Problem]) -> str:
    words = "; ".join(map(str, problems[:_TOLD]))
    more = f"; and {len(problems) - _TOLD} more" if len(problems) > _TOLD else ""
    return f"{call.name or 'a call'}: {words}{more}"


# --- answers --------------------------------------------------------------------------------------


def _is_broken(call: ToolCall) -> bool:
    if call.kind != "function":
        return False
    try:
        jsontext.peek(call.arguments)
    except ValueError:
        return True
    return False


class CheckCalls:
    """Checks, repairs and counts the calls of an answer as the options say.

    Expects one open part at a time if calls are to be changed. A call that may change is held until
    it is complete; else it is passed on as it comes and checked at its end. A call that broke off
    is held, with all that follows, until it is known whether the answer ended or failed: only then
    may it be repaired.
    """

    __slots__ = (
        "_checks", "_counts", "_ctx", "_held", "_holds", "_late", "_next", "_numbers", "_out",
        "_seen",
    )  # fmt: skip

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._checks = _Checks(ctx)
        self._holds = ctx.options.validate == "repair" or ctx.options.sanitize != "off"
        self._held: dict[int, Growing] = {}
        """Calls that wait for their end."""
        self._seen: dict[int, Growing] = {}
        """Calls that were passed on already, to be checked when they are complete."""
        self._late: list[Event] = []
        self._counts: dict[int, int] = {}
        """How many calls each choice has so far."""
        self._numbers: dict[int, int] = {}
        """Which of the calls of its choice an open one is."""
        self._out: dict[int, int] = {}
        self._next = 0

    def feed(self, event: Event) -> Sequence[Event]:
        if self._late:
            return self._behind(event)
        if isinstance(event, PartDelta):
            return self._delta(event)
        if isinstance(event, PartStarted):
            return self._start(event)
        return self._end(event) if isinstance(event, PartEnded) else (event,)

    def _start(self, event: PartStarted) -> Sequence[Event]:
        if isinstance(event.part, ToolCall):
            number = self._counts[event.choice] = self._counts.get(event.choice, 0) + 1
            self._numbers[event.index] = number
            if event.whole:
                self._held[event.index] = Growing(event)
                return self._release(PartEnded(event.index))
            if self._holds or (self._checks.exceeds(number) and self._checks.queues):
                self._held[event.index] = Growing(event)
                return ()
            self._seen[event.index] = Growing(event)
        return (replace(event, index=self._number(event.index)),)

    def _number(self, index: int) -> int:
        number = self._out[index] = self._next
        self._next += 1
        if number != index:
            self._ctx.is_renumbered = True
        return number

    def _delta(self, event: PartDelta) -> Sequence[Event]:
        index = event.index
        if index in self._held:
            self._held[index].add(event)
            return ()
        if index in self._seen:
            self._seen[index].add(event)
        number = self._out[index]
        return (event if number == index else replace(event, index=number),)

    def _end(self, event: PartEnded) -> Sequence[Event]:
        index = event.index
        if index not in self._held:
            seen = self._seen.pop(index, None)
            if seen is not None:
                self._count(self._checked(seen, event, delivered=True), event)
            return (replace(event, index=self._out.pop(index)),)
        if event.incomplete:
            self._late.append(event)
            return ()
        return self._release(event)

    def _behind(self, event: Event) -> Sequence[Event]:
        """Whatever follows a call that broke off waits for the end of the answer."""
        if not isinstance(event, (Finished, Failed)):
            self._late.append(event)
            return ()
        late, self._late = self._late, []
        return [*self._released(late, ended=isinstance(event, Finished)), event]

    def _released(self, late: list[Event], *, ended: bool) -> Iterator[Event]:
        for event in late:
            if isinstance(event, PartEnded) and event.index in self._held:
                yield from self._release(event, ended=ended)
            else:
                yield from self.feed(event)

    def _release(self, event: PartEnded, *, ended: bool = True) -> Sequence[Event]:
        growing = self._held.pop(event.index)
        call: Any = self._checked(growing, event) if ended else growing.finish()
        incomplete = event.incomplete and not (ended and self._checks.repaired)
        broken = incomplete or (self._is_cut(event) and _is_broken(call))
        if self._count(call, event) and self._checks.queues and not broken:
            self._checks.queue(call)
            return ()
        return growing.events(self._number(event.index), call, incomplete=incomplete)

    def _count(self, call: ToolCall, event: PartEnded) -> bool:
        """Whether a call is one too many; the note is written then."""
        path = self._ctx.part_at(event.index)
        return self._checks.over(self._numbers.pop(event.index), call, path)

    def _checked(self, growing: Growing, event: PartEnded, *, delivered: bool = False) -> Any:
        part: Any = growing.finish()
        if self._ctx.options.validate == "off" and not self._holds and not self._ctx.undo.inexact:
            return part
        truncated = event.incomplete or self._is_cut(event)
        delivered = delivered or (self._ctx.whole is None and self._ctx.in_protocol)
        path = self._ctx.part_at(event.index)
        return self._checks.call(part, path, truncated=truncated, delivered=delivered)

    def _is_cut(self, event: PartEnded) -> bool:
        return self._ctx.whole is not None and self._ctx.whole.cut(event.index)
