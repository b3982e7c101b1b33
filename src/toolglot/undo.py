"""What adapting did to tools and ids of a request, to be undone in the calls of the answer.

A pass that gives a tool another name, shape or schema, or a call another id, records here how
to undo it. The answer's calls are then what the client declared. Since adapting is deterministic,
the same undo follows from the client's request alone; no server state is needed.
"""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from toolglot.ir import CallKind, Part, ToolCall


class Live(Protocol):
    """Undoes a change to arguments while they stream in."""

    def feed(self, text: str) -> str:
        """What these pieces of the provider's arguments mean to the client."""
        ...

    def close(self) -> str:
        """What is left at the end."""
        ...


class UndoStep(Struct, frozen=True, kw_only=True):
    """One change of one tool, seen from its result: what the tool was before it."""

    name: str
    namespace: str | None = None
    kind: CallKind | None = None
    arguments: Callable[[str], str] | None = None
    """The client's arguments from the provider's, as whole texts."""

    live: Callable[[], Live] | None = None
    """The same piece by piece, where that can be done."""

    odd: Callable[[str], str] | None = None
    """What is wrong with the provider's arguments, in words, if they have another form."""

    part: Callable[[ToolCall], Part] | None = None
    """The part of the client's protocol that replaces the call, if it has its own."""

    def undo(self, call: ToolCall) -> ToolCall:
        """The call as it would have been without this change."""
        return replace(
            call,
            name=self.name,
            namespace=self.namespace or call.namespace,
            type=self.kind or call.kind,
            arguments=self.arguments(call.arguments) if self.arguments else call.arguments,
        )


class Undo:
    """What adapting a request did, by the names and ids that the provider sees."""

    __slots__ = ("ids", "inexact", "tools")

    def __init__(self) -> None:
        self.tools: dict[str, tuple[UndoStep, ...]] = {}
        self.ids: dict[str, str] = {}
        self.inexact: tuple[str, ...] = ()
        """The tools whose schema allows more than the one that the client declared."""

    def __bool__(self) -> bool:
        return bool(self.tools or self.ids)

    @property
    def holds(self) -> bool:
        """Whether calls of some tool can be undone only when they are whole."""
        return any(
            step.part is not None or (step.arguments is not None and step.live is None)
            for steps in self.tools.values()
            for step in steps
        )

    def tool(self, after: str, step: UndoStep) -> None:
        """A tool is called `after` from now on; before, it was what the step says.

        A member of a namespace may share its name with other tools, whose steps are not its own.
        """
        before = self.tools.pop(step.name, ()) if step.namespace is None else ()
        self.tools[after] = (*before, step)

    def id(self, after: str, before: str) -> None:
        """A call has the id `after` for the provider."""
        self.ids[after] = before

    def steps(self, name: str) -> tuple[UndoStep, ...]:
        """What was done to the tool that has this name at the provider, latest first."""
        return self.tools.get(name, ())[::-1]

    def unchecked_tools(self) -> frozenset[tuple[str | None, str]]:
        """The namespaces and names, for the client, of tools of which the provider does not know
        all limits.
        """
        calls = (ToolCall(id="", name=name) for name in self.inexact)
        found = []
        for call in calls:
            for step in self.steps(call.name):
                call = replace(  # noqa: PLW2901
                    call, name=step.name, namespace=step.namespace or call.namespace
                )
            found.append((call.namespace, call.name))
        return frozenset(found)

    def call(self, call: ToolCall) -> ToolCall:
        """A provider's call as the client declared its tool."""
        for step in self.steps(call.name):
            call = step.undo(call)
        return replace(call, id=self.ids[call.id]) if call.id in self.ids else call

    def part(self, call: ToolCall) -> Part:
        """The same, or the part that replaces the call in the client's protocol."""
        make = next((step.part for step in self.steps(call.name) if step.part is not None), None)
        known = self.call(call)
        return make(known) if make is not None else known
