"""Calls and results: every call answered once, every result after its call, in a place the target
accepts.

Providers refuse a history in which a call has no result or a result no call. Clients produce such
histories when they trim, cancel or branch. Each repair is a note; nothing is deleted without one.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from toolglot.context import Context
from toolglot.ir import Message, Part, Request, Text, ToolCall, ToolResult

UNANSWERED = "No result was recorded for this call."


def pair_results(request: Request, ctx: Context) -> Request:
    """Answer every call once and drop no result."""
    _, target = ctx.surfaces
    look = _Look(request.messages)
    if look.names and target.calls.matched_by == "name":
        where = ctx.source.messages.path if ctx.source else ""
        ctx.note("id-dropped", where, f"{len(look.names)} calls and their results")
    return _paired(request, look, ctx, in_order=target.calls.results_in_order)


def pair_in_order(request: Request, ctx: Context) -> Request:
    """The same, with results in the order of their calls, each with the name of its tool."""
    return _paired(request, _Look(request.messages), ctx, in_order=True)


def _paired(request: Request, look: "_Look", ctx: Context, *, in_order: bool) -> Request:
    if look.paired and (look.orderly or not in_order):
        return _with_names(request) if in_order else request
    ctx.place(request.messages)
    paired = _Pairing(ctx, in_order=in_order)
    return replace(request, messages=tuple(paired.messages(request.messages)))


class _Look:
    """A quick look at the calls of a history, which is nearly always as it should be.

    `paired`: each is answered once, at once and before anything else; `orderly`: in their order.
    """

    def __init__(self, messages: tuple[Message, ...]) -> None:
        self.names: dict[str, str] = {}
        self.paired = self.orderly = True
        self._waiting: dict[str, str] = {}
        answering = False
        for message in messages:
            if message.role == "assistant":
                self.paired = self.paired and not (self._waiting and answering)
                self._ask(message)
            else:
                self._answer(message)
            answering = message.role != "assistant"
        self.paired = self.paired and not (self._waiting and answering)

    def _ask(self, message: Message) -> None:
        for part in message.parts:
            if type(part) is ToolCall:
                self._waiting[part.id] = self.names[part.id] = part.name

    def _answer(self, message: Message) -> None:
        waiting = self._waiting
        for part in message.parts:
            if type(part) is not ToolResult:
                self.paired = self.paired and not waiting
            elif part.id in waiting:
                self.orderly = self.orderly and part.id == next(iter(waiting))
                del waiting[part.id]
            else:
                self.paired = False


def _with_names(request: Request) -> Request:
    """Every result says the name of its tool: of the call that is open when the result comes, since
    ids may be used again.
    """
    names: dict[str, str] = {}
    messages: list[Message] = []
    for message in request.messages:
        if message.role == "assistant":
            names.update({part.id: part.name for part in message.parts if type(part) is ToolCall})
        elif any(type(part) is ToolResult and part.name is None for part in message.parts):
            parts = tuple(_named(part, names) for part in message.parts)
            message = replace(message, parts=parts)  # noqa: PLW2901 - the one with names
        messages.append(message)
    return replace(request, messages=tuple(messages))


def _named(part: Part, names: dict[str, str]) -> Part:
    if type(part) is ToolResult and part.name is None:
        return replace(part, name=names[part.id])
    return part


class _Pairing:
    def __init__(self, ctx: Context, *, in_order: bool) -> None:
        self._ctx = ctx
        self._in_order = in_order
        self._seen: dict[str, ToolCall] = {}

    def messages(self, messages: tuple[Message, ...]) -> Iterator[Message]:
        """The conversation turn by turn: what the assistant says, then what answers it."""
        index = 0
        while index < len(messages):
            calls: dict[str, ToolCall] = {}
            while index < len(messages) and messages[index].role == "assistant":
                calls |= {p.id: p for p in messages[index].parts if isinstance(p, ToolCall)}
                yield messages[index]
                index += 1
            first = index
            while index < len(messages) and messages[index].role != "assistant":
                index += 1
            self._seen |= calls
            if index > first:
                yield from self._answers(messages[first:index], calls)

    def _answers(self, run: tuple[Message, ...], calls: dict[str, ToolCall]) -> Iterator[Message]:
        results, changed = self._collect(run, calls)
        missing = [call for call in calls.values() if call.id not in results]
        for call in missing:
            self._ctx.note(
                "call-unanswered", self._ctx.where(call), f"{call.name} ({call.id}) has no result"
            )
            text = Text(text=UNANSWERED)
            results[call.id] = ToolResult(
                id=call.id,
                name=call.name,
                parts=(text,),
                is_error=True,
                kind=call.kind,
                id_made=call.id_made,
            )
        if self._in_order and list(results) != (
            ordered := [each for each in calls if each in results]
        ):
            where = self._ctx.where_turn(run[0])
            self._ctx.note("results-reordered", where, "results follow the order of their calls")
            results = {each: results[each] for each in ordered}
            changed = True
        if not (changed or missing) and _results_lead(run):
            yield from run
            return
        if results:
            yield Message(role="user", parts=tuple(results.values()))
        for message in run:
            others = tuple(self._others(message, results))
            if others:
                yield replace(message, parts=others)

    def _collect(
        self, run: tuple[Message, ...], calls: dict[str, ToolCall]
    ) -> tuple[dict[str, ToolResult], bool]:
        """The results of these calls by id; the last of several counts."""
        results: dict[str, ToolResult] = {}
        changed = False
        for message in run:
            for part in message.parts:
                if not isinstance(part, ToolResult):
                    continue
                if part.id not in calls:
                    changed = True
                    continue
                if part.id in results:
                    changed = True
                    where = self._ctx.where(results[part.id])
                    self._ctx.note(
                        "result-unmatched", where, f"{part.id} is answered twice; the last counts"
                    )
                results[part.id] = self._named(part, calls[part.id])
                changed = changed or results[part.id] is not part
        return results, changed

    def _named(self, result: ToolResult, call: ToolCall) -> ToolResult:
        if result.name is None and self._in_order:
            return replace(result, name=call.name)
        return result

    def _others(self, message: Message, results: dict[str, ToolResult]) -> Iterator[Part]:
        for part in message.parts:
            if not isinstance(part, ToolResult):
                yield part
            elif part.id not in results:
                known = self._seen.get(part.id)
                name = part.name or (known.name if known else "unknown tool")
                words = f"there is no call {part.id} before it"
                self._ctx.note("result-unmatched", self._ctx.where(part), words)
                yield Text(text=f"[result of {name}, call {part.id}]")
                yield from part.parts


def _results_lead(run: tuple[Message, ...]) -> bool:
    """Whether no result stands behind anything else."""
    kinds = [isinstance(part, ToolResult) for message in run for part in message.parts]
    return kinds == sorted(kinds, reverse=True)
