"""What became of a tool call, in one word and a sentence.

    for verdict in check_call(given, written=written, tools=request.tools, notes=notes):
        print(verdict.kind, verdict.sentence)

A call is judged by what the model wrote, what the client got, the tools that were declared, and
the notes of the receipt that are about it. What only the rest of a conversation tells, `repeated`
and `unanswered` say. The gravest verdict counts: `gravest` finds it.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, TypeAlias, get_args

from msgspec import Struct

from toolglot.adapt.calls.validate import validate_arguments
from toolglot.errors import MissingExtraError
from toolglot.ir import FunctionTool, NamespaceTool, ProviderTool, Tool, ToolCall
from toolglot.receipt import CATALOGUE, Note
from toolglot.schema.conform import SchemaError

VerdictKind: TypeAlias = Literal[
    "unknown", "mismatch", "withheld", "unanswered", "repeated", "repaired", "open", "valid"
]
VERDICTS: Final[tuple[VerdictKind, ...]] = get_args(VerdictKind)
"""The gravest first."""

REPAIRS: Final = frozenset(
    {
        "answer-mended",
        "arguments-normalised",
        "arguments-repaired",
        "arguments-sanitised",
        "arguments-unwrapped",
        "call-promoted",
        "name-made",
        "stream-mended",
    }
)
"""Codes of notes that say that a call was changed to what it should be."""
_MISMATCHES: Final = frozenset({"arguments-invalid", "arguments-mismatch", "call-invalid"})
_MOST_NAMES: Final = 6
_MOST_PROBLEMS: Final = 3


class Verdict(Struct, frozen=True):
    """One thing to be said about a call."""

    kind: VerdictKind
    sentence: str


def gravest(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict that counts."""
    return min(verdicts, key=lambda each: VERDICTS.index(each.kind))


def check_call(
    given: ToolCall | None,
    *,
    written: ToolCall | None = None,
    tools: Sequence[Tool] = (),
    notes: Sequence[Note] = (),
) -> tuple[Verdict, ...]:
    """All that is to be said of a call as the client got it, the gravest first.

    `written` is the call as the model wrote it, and `tools` are those that the client declared.
    """
    if given is None:
        return (Verdict("withheld", _why(notes, "the model made this call; the client got none")),)
    found = list(_against_tools(given, tools))
    found += (Verdict("mismatch", _told(note)) for note in notes if note.code in _MISMATCHES)
    repairs = [note for note in notes if note.code in REPAIRS]
    if repairs:
        found.append(Verdict("repaired", "; ".join(dict.fromkeys(map(_told, repairs)))))
    if not found:
        found.append(Verdict("valid", _valid(given, written)))
    return tuple(sorted(found, key=lambda each: VERDICTS.index(each.kind)))


def repeated(times: int) -> Verdict:
    """The same call with the same arguments was made so many times in a row."""
    return Verdict("repeated", f"the same call with the same arguments, {times} times in a row")


def unanswered(call: ToolCall) -> Verdict:
    """The conversation went on without the result of a call."""
    return Verdict("unanswered", f"the conversation went on without a result of {call.name}")


def still_open(call: ToolCall) -> Verdict:
    """Nobody asked again since the call was made."""
    return Verdict("open", f"the client has not sent a result of {call.name} yet")


def find_tool(call: ToolCall, tools: Iterable[Tool]) -> Tool | None:
    """The tool that a call is for."""
    for name, tool in _named(tools):
        if name in (call.name, f"{call.namespace}.{call.name}"):
            return tool
    return None


def tool_names(tools: Iterable[Tool]) -> Iterator[str]:
    """The names under which tools can be called."""
    return (name for name, _ in _named(tools))


def _named(tools: Iterable[Tool], prefix: str = "") -> Iterator[tuple[str, Tool]]:
    for tool in tools:
        if isinstance(tool, NamespaceTool):
            yield from _named(tool.tools, f"{tool.name}.")
        elif isinstance(tool, ProviderTool):
            yield str(tool.value.get("name") or tool.type), tool
            yield tool.type, tool
        else:
            yield prefix + tool.name, tool


def _against_tools(call: ToolCall, tools: Sequence[Tool]) -> Iterator[Verdict]:
    tool = find_tool(call, tools)
    if tool is None:
        yield Verdict("unknown", _unknown(call, tools))
        return
    if isinstance(tool, FunctionTool) and call.type == "function":
        problems = _problems(tool, call)
        if problems:
            yield Verdict("mismatch", "; ".join(problems[:_MOST_PROBLEMS]))


def _problems(tool: FunctionTool, call: ToolCall) -> list[str]:
    try:
        return [str(each) for each in validate_arguments(tool, call.arguments)]
    except (MissingExtraError, SchemaError):
        # Whether they are JSON can be said without the extra.
        return [str(each) for each in validate_arguments(None, call.arguments)]


def _unknown(call: ToolCall, tools: Sequence[Tool]) -> str:
    names = list(dict.fromkeys(tool_names(tools)))
    if not names:
        return f"{call.name} was called, and the request declares no tools"
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"no tool is called {call.name}; declared are {', '.join(names[:_MOST_NAMES])}{more}"


def _valid(given: ToolCall, written: ToolCall | None) -> str:
    what = "the input is free text" if given.type == "custom" else "the arguments fit the schema"
    if written is None or written.arguments == given.arguments:
        return f"{what}, as the model wrote them" if given.type != "custom" else what
    return what


def _why(notes: Sequence[Note], otherwise: str) -> str:
    return "; ".join(dict.fromkeys(map(_told, notes))) or otherwise


def _told(note: Note) -> str:
    """What a note says, with what its code means where it does not say that itself."""
    known = CATALOGUE.get(note.code)
    meaning = known.meaning if known is not None else note.code
    return f"{meaning}: {note.message}" if note.message not in ("", meaning) else meaning
