"""Calls written as text: whose they are, and which of them came twice."""

from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeAlias

from toolglot.adapt.tools.freeform import KEY, unwrap
from toolglot.context import Context
from toolglot.ir import (
    CallKind,
    CustomTool,
    FunctionTool,
    NamespaceTool,
    Tool,
    ToolCall,
    ToolResult,
)
from toolglot.wire import jsontext

_FREE: Final = {"type": "object", "properties": {KEY: {"type": "string"}}, "required": [KEY]}

# --- the tools ------------------------------------------------------------------------------------


class Declared:
    """The tools as the provider knows them: for the decoder, and what their calls are."""

    def __init__(self, ctx: Context) -> None:
        self.tools: list[FunctionTool] | None = None
        self._kinds: dict[str, tuple[CallKind, str | None]] = {}
        choice = ctx.request.tool_choice if ctx.request is not None else None
        if choice is not None and choice.mode == "none":
            self.tools = []
        elif ctx.declared is not None:
            self.tools = list(self._flat(ctx.declared))

    def _flat(self, tools: Iterable[Tool], namespace: str | None = None) -> Iterator[FunctionTool]:
        for tool in tools:
            if isinstance(tool, NamespaceTool):
                yield from self._flat(tool.tools, tool.name)
            elif isinstance(tool, FunctionTool):
                self._kinds[tool.name] = "function", namespace
                yield tool
            elif isinstance(tool, CustomTool):
                self._kinds[tool.name] = "custom", namespace
                yield FunctionTool(name=tool.name, parameters=_FREE)

    def call(self, name: str, arguments: str) -> ToolCall:
        """A call as the provider would have made it, but for its id."""
        kind, namespace = self._kinds.get(name, ("function", None))
        if kind == "custom":
            arguments = unwrap(arguments, name=name)
        return ToolCall(id="", name=name, arguments=arguments, type=kind, namespace=namespace)


# --- what is told twice ---------------------------------------------------------------------------

_Told: TypeAlias = tuple[str, Any]


class Twins:
    """The calls of one choice, by where they came from, to find those that came twice."""

    __slots__ = ("broken", "native", "promoted", "texts")

    def __init__(self) -> None:
        self.native: list[_Told] = []
        self.texts: list[_Told] = []
        self.promoted = 0
        self.broken = 0
        """Calls that had begun for the client and are none."""

    def may_repeat(self, name: str, *, text: bool = False) -> bool:
        """Whether a call of this tool came before from the other side."""
        return any(told[0] == name for told in (self.native if text else self.texts))

    def repeats(self, call: ToolCall, *, native: bool) -> bool:
        """Whether a call came before from the other side; each counts once."""
        others, own = (self.texts, self.native) if native else (self.native, self.texts)
        told = call.name, _value(call)
        if told in others:
            others.remove(told)
            return True
        own.append(told)
        return False


def _value(call: ToolCall) -> Any:
    try:
        return jsontext.peek(call.arguments) if call.arguments.strip() else {}
    except ValueError:
        return call.arguments


def known_ids(ctx: Context) -> set[str]:
    """The ids that the conversation knows already."""
    return {
        part.id
        for message in (ctx.request.messages if ctx.request is not None else ())
        for part in message.parts
        if isinstance(part, (ToolCall, ToolResult))
    }
